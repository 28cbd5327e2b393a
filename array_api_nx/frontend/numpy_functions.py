"""NumPy's functions on our arrays: which of them are functions of this package.

NumPy asks `Array.__array_function__` before it computes. A function in one of the tables below
gives arrays of this package, on their device. Any other one gets NumPy's arrays, and so does a call
whose arguments the function here does not take: the result is NumPy's.

So it is where SciPy and scikit-learn call NumPy's functions: the lines that follow rely on NumPy's
arrays. They read attributes (`toeplitz`), hand the arrays to compiled code (`shapiro`), or exchange
elements by ``x[i], x[j] = x[j], x[i]`` (`orthogonal_mp`), where elements of ours are views.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Final, TypeAlias

import numpy as np

from ..contract.callers import is_consumer
from . import interop
from .annotations import Foreign
from .array import Array
from .inspection import namespace

Function: TypeAlias = Callable[..., Foreign]
Named: TypeAlias = dict[str, Foreign]

# Functions that NumPy and this package have. NumPy's parameters are taken where the function here
# has them, by position or under the same name; others must have their defaults.
_SAME: Final = """
allclose argpartition array_equal astype atleast_1d atleast_2d atleast_3d broadcast_to convolve
corrcoef count_nonzero cov cumprod cumsum cumulative_prod cumulative_sum diag diagonal diff
expand_dims flip full_like gradient histogram histogram2d histogramdd interp isclose isin
matrix_transpose median meshgrid moveaxis nan_to_num nanargmax nanargmin nancumprod nancumsum nanmax
nanmean nanmedian nanmin nanprod nanquantile nanstd nansum nanvar nonzero ones_like pad partition
quantile repeat roll roots sinc stack take_along_axis tensordot tile trapezoid tril triu unique_all
unique_counts unique_inverse unique_values unstack zeros_like fft.fft fft.fftn fft.fftshift fft.hfft
fft.ifft fft.ifftn fft.ifftshift fft.ihfft fft.irfft fft.irfftn fft.rfft fft.rfftn linalg.cholesky
linalg.cross linalg.det linalg.diagonal linalg.eigh linalg.eigvalsh linalg.inv linalg.matmul
linalg.matrix_norm linalg.matrix_power linalg.matrix_rank linalg.matrix_transpose linalg.norm
linalg.outer linalg.slogdet linalg.solve linalg.svd linalg.svdvals linalg.tensordot linalg.trace
linalg.vecdot linalg.vector_norm
"""

# NumPy's functions that are methods of arrays here, with the same parameters.
_METHODS: Final = """
all any argmax argmin argsort max mean min prod ravel round squeeze std sum var
"""
_OTHER_NAMES: Final = {"amax": "max", "amin": "min", "around": "round"}


# ---------------------------------------------------------------------- with a meaning of their own


def _angle(xp: Foreign, z: Foreign, deg: bool = False) -> Foreign:
    if not xp.isdtype(z.dtype, ("real floating", "complex floating")):
        raise TypeError("NumPy's dtype of the angles of integers depends on these")
    is_complex = xp.isdtype(z.dtype, "complex floating")
    angles = xp.atan2(xp.imag(z), xp.real(z)) if is_complex else xp.atan2(0.0, z)
    return angles * (180 / np.pi) if deg else angles


def _bincount(xp: Foreign, x: Foreign, /, weights: Foreign = None, minlength: int = 0) -> Foreign:
    if weights is not None:
        weights = xp.astype(xp.asarray(weights), xp.float64, copy=False)
    return xp.extra.bincount(x, weights, minlength)


def _clip(
    xp: Foreign,
    a: Foreign,
    *limits: Foreign,
    a_min: Foreign = None,
    a_max: Foreign = None,
    min: Foreign = None,
    max: Foreign = None,
) -> Foreign:
    if limits:
        a_min, a_max = limits  # one alone is an error
    return xp.clip(a, a_min if min is None else min, a_max if max is None else max)


def _dot(xp: Foreign, a: Foreign, b: Foreign) -> Foreign:
    a, b = xp.asarray(a), xp.asarray(b)
    if not a.ndim or not b.ndim:
        return a * b
    if a.ndim <= 2 and b.ndim <= 2:
        return xp.matmul(a, b)
    return xp.tensordot(a, b, axes=((a.ndim - 1,), (max(b.ndim - 2, 0),)))


def _inner(xp: Foreign, a: Foreign, b: Foreign) -> Foreign:
    a, b = xp.asarray(a), xp.asarray(b)
    if not a.ndim or not b.ndim:
        return a * b
    return xp.tensordot(a, b, axes=((a.ndim - 1,), (b.ndim - 1,)))


def _lexsort(xp: Foreign, keys: Foreign, axis: int = -1) -> Foreign:
    """The order by the last of the keys, where these are equal by the one before, and so on."""
    first, *others = keys
    if any([key.shape != first.shape for key in others]):
        raise ValueError("all keys need the same shape")
    order = xp.argsort(first, axis=axis)
    for key in others:
        found = xp.argsort(xp.take_along_axis(key, order, axis=axis), axis=axis)
        order = xp.take_along_axis(order, found, axis=axis)
    return order


def _percentile(name: str) -> Function:
    """NumPy's `percentile` or `nanpercentile`, by the function here with quantiles."""

    def percentile(
        xp: Foreign,
        a: Foreign,
        q: Foreign,
        axis: Foreign = None,
        *,
        method: str = "linear",
        keepdims: bool = False,
    ) -> Foreign:
        # The quotient of a Python number is one, so that the result has the dtype of `a`.
        q = q / 100 if type(q) in (int, float) else np.true_divide(np.asarray(q), 100)
        return getattr(xp.extra, name)(a, q, axis, method=method, keepdims=keepdims)

    return percentile


def _select(xp: Foreign, condlist: Foreign, choicelist: Foreign, default: Foreign = 0) -> Foreign:
    """The elements of the first choice whose condition is true."""
    if type(condlist) is not list or type(choicelist) is not list:
        raise TypeError("of an array each element would be a condition")
    dtype = np.result_type(*_dtypes([*choicelist, default]))
    found = xp.asarray(default, dtype=dtype)
    for condition, choice in [*zip(condlist, choicelist, strict=True)][::-1]:
        found = xp.where(condition, choice, found)
    return found


def _sort(
    xp: Foreign,
    a: Foreign,
    axis: int | None = -1,
    kind: str | None = None,
    *,
    stable: bool | None = None,
) -> Foreign:
    if kind not in (None, "quicksort", "mergesort", "heapsort", "stable"):
        raise TypeError("NumPy knows whether it has such a kind")
    return xp.sort(xp.reshape(a, (-1,))) if axis is None else xp.sort(a, axis=axis)


def _swapaxes(xp: Foreign, a: Foreign, axis1: int, axis2: int) -> Foreign:
    order = list(range(a.ndim))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return xp.permute_dims(a, tuple(order))


def _take(xp: Foreign, a: Foreign, indices: Foreign, axis: int | None = None) -> Foreign:
    if axis is None:
        a, axis = xp.reshape(a, (-1,)), 0
    if np.asarray(indices).dtype.kind == "b" or not -a.ndim <= axis < a.ndim:
        raise TypeError("of bools NumPy makes the indices 0 and 1; and it raises AxisError")
    # As an index, which may have any number of axes.
    return a[(*(slice(None),) * (axis % a.ndim), indices)]


def _trace(xp: Foreign, a: Foreign, offset: int = 0) -> Foreign:
    if a.ndim != 2:
        raise TypeError("of stacks NumPy takes the first two axes, and the standard the last")
    return xp.linalg.trace(a, offset=offset)


def _stacked(before: int, axis: int) -> Function:
    """NumPy's `vstack`, `hstack` and so on: arrays of at least `before` axes, joined along one."""

    def stacked(xp: Foreign, tup: Iterable[Foreign]) -> Foreign:
        raised = getattr(xp.extra, f"atleast_{before}d")
        arrays = [raised(x) for x in tup]
        return xp.concat(arrays, axis=0 if arrays[0].ndim == 1 else axis)

    return stacked


def _over_two_axes(name: str) -> Function:
    """NumPy's `fft2` and the like, by the function here that transforms over any axes."""

    def transform(
        xp: Foreign,
        a: Foreign,
        s: Foreign = None,
        axes: Foreign = (-2, -1),
        norm: Foreign = None,
    ) -> Foreign:
        return getattr(xp.fft, name)(a, s=s, axes=axes, norm=norm or "backward")

    return transform


# These ask what an argument is, and read no elements.


def _dtypes(arguments: Iterable[Foreign]) -> list[Foreign]:
    return [x.dtype if type(x) is Array else x for x in arguments]


def _size(xp: Foreign, a: Array, axis: Foreign = None) -> int:
    axes = range(a.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    size = 1
    for each in axes:
        size *= a.shape[each]
    return size


_OWN: Final[dict[str, Function]] = {
    "angle": _angle,
    "bincount": _bincount,
    "can_cast": lambda xp, *args, **named: np.can_cast(*_dtypes(args), **named),
    "clip": _clip,
    **dict.fromkeys(
        ("concat", "concatenate"), lambda xp, arrays, /, axis=0: xp.concat(arrays, axis=axis)
    ),
    "dot": _dot,
    "dstack": _stacked(3, 2),
    "einsum": lambda xp, *operands, optimize=True: xp.extra.einsum(
        *operands, optimize=optimize or True
    ),
    "empty_like": lambda xp, prototype, /, dtype=None: xp.empty_like(prototype, dtype=dtype),
    **{f"fft.{name}2": _over_two_axes(f"{name}n") for name in ("fft", "ifft", "irfft", "rfft")},
    "hstack": _stacked(1, 1),
    "imag": lambda xp, val: val.imag,
    "inner": _inner,
    "iscomplexobj": lambda xp, x: xp.isdtype(x.dtype, "complex floating"),
    "isrealobj": lambda xp, x: not xp.isdtype(x.dtype, "complex floating"),
    "lexsort": _lexsort,
    "nanpercentile": _percentile("nanquantile"),
    "ndim": lambda xp, a: a.ndim,
    "outer": lambda xp, a, b: xp.linalg.outer(xp.reshape(a, (-1,)), xp.reshape(b, (-1,))),
    "percentile": _percentile("quantile"),
    "real": lambda xp, val: val.real,
    "result_type": lambda xp, *args: np.result_type(*_dtypes(args)),
    # Of the next two, the methods also take axes and sizes as several arguments.
    "permute_dims": lambda xp, a, axes=None: _method("transpose")(xp, a, axes),  # or transpose
    "reshape": lambda xp, a, /, shape, **named: _method("reshape")(xp, a, shape, **named),
    "select": _select,
    "searchsorted": lambda xp, a, v, side="left", sorter=None: xp.searchsorted(
        a, v, side=side, sorter=sorter
    ),
    "shape": lambda xp, a: a.shape,
    "size": _size,
    "sort": _sort,
    "swapaxes": _swapaxes,
    "take": _take,
    "trace": _trace,
    "vdot": lambda xp, a, b, /: xp.vecdot(xp.reshape(a, (-1,)), xp.reshape(b, (-1,))),
    "vstack": _stacked(2, 0),
    "where": lambda xp, condition, *choices: xp.where(condition, *choices),
}


# ---------------------------------------------------------------------- the protocol


class _Taken:
    """A function of NumPy's, by that of the same name here."""

    def __init__(self, function: Foreign, own: Foreign) -> None:
        self.own = own
        self.signature = inspect.signature(function)
        parameters = inspect.signature(own).parameters
        self.taken = parameters.keys() - {"device"}
        self.positional = sum([x.kind is x.POSITIONAL_ONLY for x in parameters.values()])

    def __call__(self, xp: Foreign, *args: Foreign, **named: Foreign) -> Foreign:
        bound = self.signature.bind(*args, **named).arguments
        parameters = self.signature.parameters
        given: list[Foreign] = []
        rest: Named = {}
        for name, value in bound.items():
            parameter = parameters[name]
            if parameter.kind is parameter.VAR_KEYWORD:
                rest.update(value)
            elif parameter.kind is parameter.VAR_POSITIONAL:
                given += value
            elif len(given) < self.positional:
                given.append(value)
            elif value is not parameter.default:
                rest[name] = value
        if not rest.keys() <= self.taken:
            raise TypeError
        return self.own(*given, **rest)


def _method(name: str) -> Function:
    def method(xp: Foreign, x: Foreign, *args: Foreign, **named: Foreign) -> Foreign:
        if type(x) is not Array:
            raise TypeError
        return getattr(x, name)(*args, **named)

    return method


@cache
def known_functions() -> Mapping[Foreign, tuple[str, Function]]:
    """NumPy's functions that are functions here: names in NumPy, and the functions here."""
    xp = namespace(None)
    found: dict[str, Function] = dict(_OWN)
    for name in (*_METHODS.split(), *_OTHER_NAMES):
        found[name] = _method(_OTHER_NAMES.get(name, name))
    for name in _SAME.split():
        function = _named(np, name)
        if function is not None:
            own = _named(xp.extra if name in xp.extra.__all__ else xp, name)
            found[name] = _Taken(function, own)
    # Not every NumPy has each of them.
    functions = {_named(np, name): (name, function) for name, function in found.items()}
    functions.pop(None, None)
    return functions


def _named(module: Foreign, name: str) -> Foreign:
    """The object in a module under a name with dots; None if there is none."""
    for part in name.split("."):
        module = getattr(module, part, None)
    return module


def array_function(
    function: Foreign, types: Iterable[type], args: tuple[Foreign, ...], named: Named
) -> Foreign:
    """`Array.__array_function__`: see there."""
    is_plain = True
    for kind in types:
        if kind is not Array and kind is not np.ndarray:
            # Masked arrays and matrices mean more than their elements.
            is_plain = False
            if not issubclass(kind, np.ndarray):
                return NotImplemented
    _, own = known_functions().get(function, ("", None))
    refusal: Exception | None = None
    if own is not None and is_plain and not is_consumer():
        try:
            return own(namespace(None), *args, **named)
        except (TypeError, ValueError) as error:
            refusal = error
    try:
        args, named = _as_numpy(args), _as_numpy(named)
    except TypeError:
        # On another device NumPy has no answer, either.
        if refusal is not None and str(refusal):
            raise refusal from None
        raise
    return function(*args, **named)


def _as_numpy(x: Foreign) -> Foreign:
    """`x` with NumPy's arrays in place of ours, in containers too."""
    if type(x) is Array:
        return interop.to_numpy(x)
    if type(x) in (list, tuple):
        return type(x)([_as_numpy(each) for each in x])
    if type(x) is dict:
        return {name: _as_numpy(each) for name, each in x.items()}
    return x
