"""Ufuncs of NumPy and of other libraries on our arrays: `extra.apply_ufunc`, and NumPy's protocol.

A ufunc of NumPy that is a function of the standard is that function. Any other one is computed by
its own loops, in the dtypes to which NumPy's promotion leads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final, TypeAlias

import numpy as np

from ..contract.ufuncs import UfuncLoop, ufunc_loop
from ..core import dtypes as d
from ..core.dtypes import CANONICAL, SCALAR_PROMOTION, DType
from ..core.shape import broadcast_shapes, check_shape
from ..device import Device, available
from ..native import native, with_native
from ..primitives import table as p
from ..primitives.table import Primitive
from . import elementwise, interop, linear_algebra, statistical, utility
from .annotations import Foreign
from .array import Array, wrap
from .indexing import written
from .operands import (
    ArrayOrScalar,
    as_array,
    beside,
    cast,
    check_writable,
    common_device,
    placed_operands,
    refuses_numpy,
    unary_operand,
)
from .scalars import SCALARS, check_scalar, scalar_type

Function: TypeAlias = Callable[..., Array]
Results: TypeAlias = "Array | tuple[Array, ...]"
Kinds: TypeAlias = "tuple[Foreign, ...]"
"""What decides which loop is meant: the dtypes of arrays, and the types of Python scalars."""


@with_native
def apply_ufunc(ufunc: np.ufunc, /, *operands: ArrayOrScalar) -> Array | tuple[Array, ...]:
    """A ufunc of NumPy or of another library, element by element on arrays of any device.

    A ufunc of NumPy that is a function of the standard is computed as that function. Other ones,
    such as those of ``scipy.special`` or of Numba's ``vectorize``, are computed by their own loops.
    Calling the ufunc itself, as in ``numpy.exp(x)``, does the same.

    ufunc (numpy.ufunc): It works element by element; or an object whose attribute ``ufunc`` is such
        a ufunc.
    *operands (Array, bool, int, float or complex): As many as the ufunc takes, of which at least
        one is an array. They are broadcast against each other, and promoted as the ufunc promotes
        NumPy arrays; Python scalars never widen.
    Returns: A new array for each output of the ufunc, on the device of the operands; a tuple if the
        ufunc has several outputs.
    TypeError: If an operand is neither array nor scalar, or the ufunc has no loop for the dtypes,
        or one that takes or gives a dtype that the standard lacks.
    ValueError: If shapes do not agree, or the arrays are on different devices.

    >>> import numpy as np
    >>> import array_api_nx as xp
    >>> xp.extra.apply_ufunc(np.cbrt, xp.asarray([1.0, 8.0]))
    Array([1., 2.], dtype=float64)
    """
    compiler = None
    if not isinstance(ufunc, np.ufunc):
        compiler, ufunc = ufunc, _ufunc_of(ufunc)
    if ufunc.signature is not None:
        function = _STANDARD_GENERALISED.get(ufunc)
        if function is None:
            raise TypeError(
                f"{ufunc.__name__} is a generalised ufunc, which does not work element by "
                f"element; call it on NumPy arrays: {ufunc.__name__}(numpy.asarray(x), ...)"
            )
        return function(*operands)
    if len(operands) != ufunc.nin:
        raise TypeError(
            f"{ufunc.__name__} takes {ufunc.nin} operands, not {len(operands)}; outputs are "
            "returned"
        )
    kinds: list[Foreign] = []
    device = None
    for x in operands:
        if type(x) is Array:
            if device is not None and device is not x._device:
                return _mixed(ufunc, compiler, operands)
            device = x._device
            kinds.append(x._dtype)
        elif type(x) in SCALARS:
            kinds.append(type(x))
        else:
            return _mixed(ufunc, compiler, operands)
    if device is None:
        return _mixed(ufunc, compiler, operands)
    return _computed(ufunc, compiler, operands, tuple(kinds), device)


def _loop_for_native(ufunc: np.ufunc, kinds: Kinds) -> tuple[object, ...] | None:
    """The loop of the compiled callable of `apply_ufunc`, for arrays on device cpu and
    scalars: what `loop_for_native` of that backend says. None if Python is to compute it."""
    # Loaded when there are arrays of that device.
    from ..backends.cpu.engine import loops

    if ufunc.signature is not None or ufunc is np.power:
        return None
    try:
        chosen = _choose(ufunc, kinds)
    except TypeError:
        return None
    if type(chosen) is not UfuncLoop:
        # With scalars the compiled callable of the function itself promotes them.
        (dtype, *_) = kinds
        if not isinstance(dtype, np.dtype) or len({*kinds}) > 1:
            return None
        return loops.loop_for_native(_STANDARD[ufunc][0], dtype)
    loop = loops.of_ufunc(chosen) if len({*chosen.inputs}) == 1 else None
    if loop is None:
        return None
    return loops.ufunc_loop_for_native(loop, chosen.inputs[0], chosen.output)


def _mixed(ufunc: np.ufunc, compiler: Foreign, operands: tuple[Foreign, ...]) -> Results:
    """The rest of `apply_ufunc`: NumPy scalars, symbolic sizes, errors."""
    convert = unary_operand if len(operands) == 1 else as_array
    values, device = placed_operands(operands, convert)
    kinds = tuple([x._dtype if type(x) is Array else scalar_type(x) for x in values])
    return _computed(ufunc, compiler, values, kinds, device)


def _computed(
    ufunc: np.ufunc, compiler: Foreign, values: Sequence[Foreign], kinds: Kinds, device: Device
) -> Results:
    """The results of the ufunc for arrays on one device and scalars."""
    if compiler is not None:
        _compile(compiler, ufunc, kinds)
    chosen = _choose(ufunc, kinds)
    if type(chosen) is not UfuncLoop:
        return chosen(*values)
    if device.missing:
        chosen = _available(chosen, ufunc, kinds, device)
    handles = [
        (x if x._dtype is dtype else cast(x, dtype))._handle
        if type(x) is Array
        else check_scalar(x, dtype)
        for x, dtype in zip(values, chosen.inputs, strict=True)
    ]
    backend = device.backend
    try:
        if len(chosen.outputs) == 1:
            return wrap(backend.apply(chosen, *handles), chosen.outputs[0], device)
        results = backend.apply_multiple(chosen, *handles)
    except ValueError:
        check_shape(broadcast_shapes(*[x.shape for x in values if type(x) is Array]))
        raise
    return tuple(
        [wrap(handle, dtype, device) for handle, dtype in zip(results, chosen.outputs, strict=True)]
    )


def _available(chosen: UfuncLoop, ufunc: np.ufunc, kinds: Kinds, device: Device) -> UfuncLoop:
    """The loop `chosen`, or that for the device's floating-point dtype in place of integers.

    TypeError: If the device has not all its dtypes.
    """
    if not device.missing.isdisjoint((*chosen.inputs, *chosen.outputs)):
        chosen = _resolve(ufunc, tuple([_floating(kind, device) for kind in kinds]))
    for dtype in (*chosen.inputs, *chosen.outputs):
        available(dtype, device)
    return chosen


def _floating(kind: type | DType, device: Device) -> type | DType:
    """A kind of operand in place of one whose loop gives dtypes that are missing."""
    return device.real if kind in d.INTEGRAL or kind is d.bool else kind


def _ufunc_of(obj: Foreign) -> np.ufunc:
    """The ufunc that an object such as those of Numba's ``vectorize`` has inside."""
    ufunc = getattr(obj, "ufunc", None)
    if isinstance(ufunc, np.ufunc):
        return ufunc
    raise TypeError(
        f"apply_ufunc takes a ufunc, such as those of NumPy and scipy.special, not {obj!r}; call "
        "functions on arrays directly"
    )


def _compile(compiler: Foreign, ufunc: np.ufunc, kinds: Kinds) -> None:
    """Have the object around a ufunc make the loop for these dtypes, if there is none yet."""
    if ufunc not in _STANDARD:
        compiler(*[np.ones(1, kind) if isinstance(kind, np.dtype) else kind(1) for kind in kinds])


# ---------------------------------------------------------------------- which loop is meant


@lru_cache(maxsize=2048)
def _choose(ufunc: np.ufunc, kinds: Kinds) -> Function | UfuncLoop:
    """The function of the standard that a ufunc is on these operands, or its own loop.

    TypeError: If there is no loop, or one whose dtypes the standard lacks.
    """
    primitive, function = _STANDARD.get(ufunc, (None, None))
    if primitive is None or function is None:
        return _resolve(ufunc, kinds)
    dtype = d.promote(*[kind for kind in kinds if isinstance(kind, np.dtype)])
    for kind in kinds:
        if not isinstance(kind, np.dtype):
            dtype = SCALAR_PROMOTION[dtype, kind]
    if primitive.operator and ufunc.nin == 2:
        # Operators with a NumPy scalar on the left come here, and mean the same as reflected ones.
        return function
    compute = dtype if dtype in primitive.results else primitive.cast_first.get(dtype)
    try:
        loop = _resolve(ufunc, kinds)
    except TypeError:
        # The function says what it refuses.
        return function
    agrees = compute is not None and (
        set(loop.inputs) == {compute} and loop.outputs == (primitive.results[compute],)
    )
    return function if agrees else loop


def _resolve(ufunc: np.ufunc, kinds: Kinds) -> UfuncLoop:
    """The loop that NumPy's promotion leads to; TypeError if there is none that we can call."""
    known = [_WEAK.get(kind, kind) for kind in kinds]
    names = " and ".join([getattr(kind, "__name__", str(kind)) for kind in kinds])
    try:
        resolved = ufunc.resolve_dtypes((*known, *[None] * ufunc.nout))
        if not {*d.ADDED}.isdisjoint({*known} - {*resolved}):
            # Few ufuncs but NumPy's have loops of these dtypes, and NumPy takes the widest instead.
            known = [d.COMPUTED_IN[x] if x in d.ADDED else x for x in known]
            resolved = ufunc.resolve_dtypes((*known, *[None] * ufunc.nout))
    except TypeError as error:
        raise TypeError(
            f"{ufunc.__name__} has no loop for {names}; convert the operands with astype"
        ) from error
    ours = [CANONICAL.get(dtype) for dtype in resolved]
    for dtype, found in zip(resolved, ours, strict=True):
        if found is None:
            raise TypeError(
                f"{ufunc.__name__} of {names} takes or gives {dtype}, which the standard lacks; "
                "convert the operands with astype to float32 or float64, or call it on NumPy "
                f"arrays: {ufunc.__name__}(numpy.asarray(x), ...)"
            )
    dtypes: list[DType] = [dtype for dtype in ours if dtype is not None]
    return ufunc_loop(ufunc, tuple(dtypes[: ufunc.nin]), tuple(dtypes[ufunc.nin :]))


_WEAK: Final = {bool: np.dtype(bool)}


_STANDARD: Final[dict[np.ufunc, tuple[Primitive, Function]]] = {
    ufunc: (op, getattr(elementwise, op.name))
    for ufunc, op in p.ufuncs().items()
    if hasattr(elementwise, op.name)
}
"""Ufuncs that are functions of the standard, with the primitive that these lead to."""

_STANDARD_GENERALISED: Final[dict[np.ufunc, Function]] = {
    np.matmul: linear_algebra.matmul_operator,
    np.vecdot: linear_algebra.vecdot,
}


if native is not None:
    _operators: dict[np.ufunc, Primitive | None] = {
        ufunc: op for ufunc, (op, _) in _STANDARD.items() if op.operator and ufunc.nin == 2
    }
    native.set_ufuncs(_loop_for_native, {**_operators, np.matmul: None})


# ---------------------------------------------------------------------- NumPy's protocol


def array_ufunc(
    ufunc: np.ufunc, method: str, inputs: tuple[Foreign, ...], options: dict[str, Foreign]
) -> Foreign:
    """`Array.__array_ufunc__`: see there."""
    if method == "__call__" and not options and ufunc.signature is None:
        for x in inputs:
            if type(x) is not Array and type(x) not in SCALARS and not _is_numpys(x):
                break
        else:
            return apply_ufunc(ufunc, *inputs)
    others = [*inputs, *options.get("out", ())]
    if any([_has_an_opinion(x) for x in others]):
        return NotImplemented
    # NumPy makes 0-d arrays of its scalars before it compares them.
    inputs = tuple([x[()] if type(x) is np.ndarray and x.ndim == 0 else x for x in inputs])
    if method != "__call__":
        return _method(ufunc, method, inputs, options)
    if ufunc.signature is not None and ufunc not in _STANDARD_GENERALISED:
        return _by_numpy(ufunc, method, inputs, options)
    out = options.pop("out", None)
    refused = refuses_numpy() and any([isinstance(x, np.ndarray) for x in inputs])
    if out is not None and not refused and not any([type(x) is Array for x in out]):
        # Results that are wanted in NumPy's memory are computed by NumPy.
        return _by_numpy(ufunc, method, inputs, {"out": out, **options})
    if options and not refused:
        raise TypeError(
            f"{ufunc.__name__} of array_api_nx arrays takes no {' and '.join(sorted(options))}; "
            "use xp.where(...) on the result for where=, x.astype first for dtype=, or call it on "
            f"NumPy arrays: {ufunc.__name__}(numpy.asarray(x), ...)"
        )
    result = apply_ufunc(ufunc, *inputs)
    if out is None:
        return result
    results = result if isinstance(result, tuple) else (result,)
    filled = [
        written(ufunc.__name__, target, new) for target, new in zip(out, results, strict=True)
    ]
    return filled[0] if len(filled) == 1 else tuple(filled)


def _is_numpys(x: object) -> bool:
    """Whether `x` is an ndarray with axes: NumPy makes those without axes of its scalars."""
    return type(x) is np.ndarray and x.ndim > 0


def _has_an_opinion(x: object) -> bool:
    """Whether `x` is of a class, other than NumPy's and ours, that answers calls of ufuncs."""
    if type(x) is Array or isinstance(x, np.generic):
        return False
    answer = getattr(type(x), "__array_ufunc__", np.ndarray.__array_ufunc__)
    return answer is not np.ndarray.__array_ufunc__


_REDUCTIONS: Final[dict[np.ufunc, Function]] = {
    getattr(np, op.by.numpy[0]): getattr(utility if op in (p.ANY, p.ALL) else statistical, op.name)
    for op in p.of_family("reduce")
    if op.by is not None
}


def _method(
    ufunc: np.ufunc, method: str, inputs: tuple[Foreign, ...], options: dict[str, Foreign]
) -> Foreign:
    """The ufunc's `reduce`, `accumulate`, `outer`, `reduceat` or `at`."""
    function = _REDUCTIONS.get(ufunc)
    if method == "reduce" and function is not None and type(inputs[0]) is Array:
        rest = {
            name: value for name, value in options.items() if value is not None and name != "axis"
        }
        if set(rest) <= {"keepdims"}:
            axis = options.get("axis", 0)
            return function(inputs[0], axis=axis, keepdims=bool(rest.get("keepdims", False)))
    return _by_numpy(ufunc, method, inputs, options)


def _by_numpy(
    ufunc: np.ufunc, method: str, inputs: tuple[Foreign, ...], options: dict[str, Foreign]
) -> Foreign:
    """The results of NumPy, on the device of the arrays."""
    arrays = [x for x in inputs if type(x) is Array]
    out = options.get("out")
    if any([type(x) is Array for x in out or ()]) or not arrays:
        raise TypeError(
            f"{ufunc.__name__}.{method} does not write to array_api_nx arrays; leave out= out"
        )
    device = common_device([x._device for x in arrays])
    if method == "at" and type(inputs[0]) is Array:
        target = inputs[0]
        check_writable(target)
        inputs = tuple([beside(target, x) if type(x) is Array else x for x in inputs])
        device = target._device
        if not device.backend.shares_host:
            raise TypeError(
                f"{ufunc.__name__}.at cannot write to the memory of device {device}; move the "
                "array with to_device('cpu') first"
            )
    values = [interop.to_numpy(x) if type(x) is Array else x for x in inputs]
    options = {name: interop.to_numpy(x) if type(x) is Array else x for name, x in options.items()}
    result = getattr(ufunc, method)(*values, **options)
    if out is not None or result is None:
        return result
    if type(result) is tuple:
        return tuple([_adopted(x, device) for x in result])
    return _adopted(result, device)


def _adopted(x: Foreign, device: Foreign) -> Foreign:
    """An array of NumPy without other owners as ours, if the standard has its dtype."""
    array = np.asarray(x)
    if array.dtype not in CANONICAL:
        return x
    return interop.from_numpy(array, None, device, None, lent=False)
