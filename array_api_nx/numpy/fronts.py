"""Which calls of the face C answers itself: a row for each function of NumPy's, and each method.

A row says which C implementation computes the function, under which parameters, in the order of the
implementation's; a parameter that NumPy lacks is named ``-``, so that no call has it. An ``out`` at
the end is one that calls may give by its place; by its name every call may give one. Names that are
the implementation's own ones have no parameters in the row.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, update_wrapper
from typing import Any, Final

import numpy

from ..native import native
from .differences import KEEPS_ORDER, REFUSED
from .thresholds import ANY

_REDUCED: Final = "axis=, *, keepdims="

_FUNCTIONS: Final = f"""
    sum         sum         a, {_REDUCED}, dtype=
    prod        prod        a, {_REDUCED}, dtype=
    max         max         a, {_REDUCED}
    amax        max         a, {_REDUCED}
    min         min         a, {_REDUCED}
    amin        min         a, {_REDUCED}
    ptp         ptp         a, {_REDUCED}
    any         any         a, {_REDUCED}
    all         all         a, {_REDUCED}
    mean        mean        a, {_REDUCED}
    std         std         a, {_REDUCED}, ddof=
    var         var         a, {_REDUCED}, ddof=
    count_nonzero count_nonzero a, {_REDUCED}
    median      median      a, {_REDUCED}
    nanmedian   nanmedian   a, {_REDUCED}
    quantile    quantile    a, q, axis=, *, method=, keepdims=
    nansum      nansum      a, {_REDUCED}, dtype=
    nanprod     nanprod     a, {_REDUCED}, dtype=
    nanmax      nanmax      a, {_REDUCED}
    nanmin      nanmin      a, {_REDUCED}
    nanmean     nanmean     a, {_REDUCED}
    nanstd      nanstd      a, {_REDUCED}, ddof=
    nanvar      nanvar      a, {_REDUCED}, ddof=
    nanargmax   nanargmax   a, {_REDUCED}
    nanargmin   nanargmin   a, {_REDUCED}
    nancumsum   nancumsum   a, axis=, dtype=, *, -=
    nancumprod  nancumprod  a, axis=, dtype=, *, -=
    nanquantile nanquantile a, q, axis=, *, method=, keepdims=
    percentile  percentile  a, q, axis=, *, method=, keepdims=
    nanpercentile nanpercentile a, q, axis=, *, method=, keepdims=
    argmax      argmax_of_any a, {_REDUCED}
    argmin      argmin_of_any a, {_REDUCED}
    cumsum      cumulative_sum  a, axis=, dtype=, *, -=
    cumprod     cumulative_prod a, axis=, dtype=, *, -=
    sort        unstable_sort a, axis=, *, -=, stable=
    argsort     unstable_argsort a, axis=, *, -=, stable=
    searchsorted searchsorted a, v, side=, sorter=
    take        take        a, indices, axis=, out=
    take_along_axis take_along_axis arr, indices, axis=
    nonzero     nonzero     a
    clip        clip        a, a_min, a_max, out=
    dot         dot         a, b, out=
    inner       inner       a, b, /
    interp      interp_of_any x, xp, fp, left=, right=, period=
    einsum      einsum
    vdot        vdot        a, b, /
    diff        diff        a, *, axis=
    append      append      arr, values, axis=
    concatenate concat      arrays, /, axis=
    concat      concat      arrays, /, axis=
    stack       stack       arrays, axis=
    hstack      hstack      tup
    vstack      vstack      tup
    dstack      dstack      tup
    column_stack column_stack tup
    triu        triu        m, k=
    tril        tril        m, k=
    linalg.cholesky cholesky a, /, *, upper=
    linalg.solve solve      a, b
    flip        flip        m, axis=
    linalg.det  det         a
    linalg.eigh eigh_of_numpy a
    linalg.eigvalsh eigvalsh a
    linalg.slogdet slogdet_of_numpy a
    linalg.svd  svd_of_numpy a, full_matrices=
    linalg.svdvals svdvals  x, /
    linalg.inv  inv         a
    linalg.norm norm        x, ord=, axis=, keepdims=
    linalg.matrix_norm matrix_norm x, /, *, keepdims=, ord=
    linalg.vector_norm vector_norm x, /, *, ord=, axis=, keepdims=
    linalg.matmul matmul    x1, x2, /
    linalg.outer outer      x1, x2, /
    fft.fft     fft         a, n=, axis=, norm=
    fft.ifft    ifft        a, n=, axis=, norm=
    fft.rfft    rfft        a, n=, axis=, norm=
    fft.irfft   irfft       a, n=, axis=, norm=
    fft.fftn    fftn        a, s=, axes=, norm=
    fft.ifftn   ifftn       a, s=, axes=, norm=
    fft.rfftn   rfftn       a, s=, axes=, norm=
    fft.irfftn  irfftn      a, s=, axes=, norm=
    fft.fft2    fft2        a, s=, axes=, norm=
    fft.ifft2   ifft2       a, s=, axes=, norm=
    fft.rfft2   rfft2       a, s=, axes=, norm=
    fft.irfft2  irfft2      a, s=, axes=, norm=
    round       round_decimals a, decimals=, out=
    around      round_decimals a, decimals=, out=
    outer       outer       a, b, out=
"""

# Of these, results without axes are arrays.
_ARRAYS: Final = """
    array       array       object, dtype=, *, device=, copy=, order=, subok=, ndmin=
    asarray     asarray     a, dtype=, *, device=, copy=, order=
    asanyarray  asarray     a, dtype=, *, device=, copy=, order=
    zeros       zeros       shape, dtype=, *, device=
    ones        ones        shape, dtype=, *, device=
    empty       empty       shape, dtype=, *, device=
    full        full        shape, fill_value, dtype=, *, device=
    zeros_like  zeros_in_order a, dtype=, *, device=
    ones_like   ones_in_order a, dtype=, *, device=
    empty_like  empty_in_order prototype, /, dtype=, *, device=
    full_like   full_in_order a, fill_value, dtype=, *, device=
    arange      arange      start, /, stop=, step=, dtype=, *, device=
    linspace    linspace    start, stop, num, *, dtype=, device=, endpoint=
    eye         eye         N, M=, k=, dtype=, *, device=
    copy        copy_in_order a, order=
    identity    eye         n, *, -=, -=, dtype=, device=
    diag        diagonal_matrix v, k=
    isin        isin        element, test_elements, *, invert=
    where       where       condition, x=, y=, /
    ravel       ravel       a
    reshape     reshape     a, /, shape, *, copy=
    transpose   transpose   a, axes=
    repeat      repeat      a, repeats, axis=
    tile        tile        A, reps
    tensordot   tensordot_of_any a, b, axes=
    roll        roll        a, shift, axis=
    broadcast_to broadcast_to array, shape
    expand_dims expand_dims a, axis
    moveaxis    moveaxis    a, source, destination
    squeeze     squeeze     a, axis=
    swapaxes    swapaxes    a, axis1, axis2
    convolve    convolve    a, v, mode=
    correlate   correlate   a, v, mode=
    copyto      copyto      dst, src, *, where=
    meshgrid    meshgrid_copies x1, x2, x3=, /, *, indexing=, sparse=, copy=
    pad         pad_copies  array, pad_width, mode=, *, constant_values=
    place       place       arr, mask, vals
    putmask     putmask     a, mask, values
    from_dlpack from_dlpack x, /, *, device=, copy=
    flipud      flipud      m
    fliplr      fliplr      m
    ascontiguousarray ascontiguousarray a, dtype=
    atleast_1d  atleast_1d
    atleast_2d  atleast_2d
    atleast_3d  atleast_3d
"""

# Methods with the parameters of the function of the same name.
_AS_FUNCTIONS: Final = """
all any argmax argmin argsort cumprod cumsum dot max mean min nonzero prod repeat searchsorted
squeeze std sum swapaxes take var
"""

_METHODS: Final = """
    round       round_decimals self, decimals=, out=
    item        item
    tolist      tolist
    conj        conjugate
    conjugate   conjugate
    clip        clip        self, min=, max=, out=
    __array_ufunc__ __array_ufunc__ *
"""

_METHODS_WITH_ARRAYS: Final = """
    __array__   __array__   self, dtype=, copy=
    astype      astype      self, dtype, *, copy=, -=
    copy        copy        self, order=
    reshape     reshape_to
    transpose   transpose_to
    fill        fill
    ravel       ravel
    flatten     flatten
    view        view
    __dlpack__  __dlpack__  self, /, *, stream=, max_version=, dl_device=, copy=
    __contains__ contains   self, key, /
    sort        sort_in_place self, axis=, *, -=, stable=
"""


def _rows(*tables: str) -> dict[str, tuple[str, str, bool]]:
    """By name: the implementation, its parameters, and whether it gives scalars, as the first
    table's do."""
    rows: dict[str, tuple[str, str, bool]] = {}
    for table in tables:
        for line in table.strip().splitlines():
            name, implementation, *parameters = line.split(maxsplit=2)
            rows[name] = implementation, "".join(parameters), table is tables[0]
    return rows


FUNCTIONS: Final = _rows(_FUNCTIONS, _ARRAYS)
METHODS: Final = _rows(_METHODS, _METHODS_WITH_ARRAYS)
for _name in _AS_FUNCTIONS.split():
    _implementation, _parameters, _gives_scalars = FUNCTIONS[_name]
    METHODS[_name] = _implementation, f"self{_parameters.removeprefix('a')}", _gives_scalars


# Parameters whose argument may be a list in place of an array; `_SEQUENCES` are those whose
# argument is a list of arrays, where a list may stand for each array.
_OPERANDS: Final = """
A a a_max a_min arr array b condition element fp indices m max min test_elements v x x1 x2 xp y
"""
_SEQUENCES: Final = "arrays tup"
# Functions of KEEPS_ORDER whose results C lays out as NumPy does, or leaves to it.
_OF_ANY_ORDER: Final = ("astype", "empty_like", "full_like", "ones_like", "ravel", "zeros_like")
# Functions that take no lists, copy them as other arguments say, or go over the arrays in them.
_OF_NO_LISTS: Final = """
array asarray asanyarray from_dlpack place putmask take_along_axis
add.reduce logical_and.reduce logical_or.reduce maximum.reduce minimum.reduce
"""


_REDUCTIONS: Final = "sum prod max amax min amin any all mean std var"
_JOINS: Final = "concatenate concat stack hstack vstack"
_LIKE: Final = "zeros_like ones_like empty_like full_like"
_DEFAULTS: Final = {
    ("out", None): f"{_REDUCTIONS} argmax argmin cumsum cumprod take clip dot round around",
    ("where", True): _REDUCTIONS,
    ("mode", "raise"): "take",
    ("order", None): "sort argsort",
    ("kind", None): "sort argsort isin",
    ("order", "C"): "zeros ones empty full eye reshape ravel flatten",
    ("order", "K"): f"{_LIKE} astype",
    ("subok", True): f"{_LIKE} astype",
    ("casting", "unsafe"): "astype",
    ("casting", "same_kind"): f"{_JOINS} copyto",
    ("dtype", None): f"{_JOINS} mean std var",
}
"""Parameters that the implementations lack, and the values by which a call asks for nothing."""
_OF_UFUNCS: Final[dict[str, Any]] = {
    **{"out": None, "where": True, "subok": True, "dtype": None},
    **{"order": "K", "casting": "same_kind"},
}


@cache
def _defaults(name: str) -> dict[str, Any]:
    return {key: value for (key, value), names in _DEFAULTS.items() if name in names.split()}


# Functions of NumPy that call the method of their name, with the arguments as they are.
_OF_METHODS: Final = """
argmax argmin argpartition argsort diagonal nonzero put ravel repeat searchsorted squeeze
swapaxes take trace
"""
_DISPATCHED: Final = type(numpy.sum)


def _direct(numpys: Any) -> Any:
    """What a function of NumPy calls in the end, unless it asks the classes of the arguments."""
    if type(numpys) is not _DISPATCHED or numpys.__name__ in ("choose", "select"):
        return None  # these two step through their second argument
    if numpys.__name__ in _OF_METHODS.split() and numpys.__module__ == "numpy":
        return getattr(numpy.ndarray, numpys.__name__)
    return getattr(numpys, "__wrapped__", None)


@cache
def _places(parameters: str, names: str) -> int:
    """The bits of the places of parameters that have one of the names."""
    given = [each.strip(" =") for each in parameters.split(",") if each.strip() not in ("*", "/")]
    return sum([1 << i for i, each in enumerate(given) if each in names.split()])


def fronted(
    function: Callable[..., Any],
    numpys: Callable[..., Any] | None,
    row: tuple[str, str, bool] | None = None,
    *,
    name: str = "",
    most: int = ANY,
) -> Callable[..., Any]:
    """A function or a method with C in front of it, which answers as the row says, or asks NumPy.

    Parameters
    ----------
    function : callable
        It is called where neither does.
    numpys : callable or None
        NumPy's function; None if C is not to ask it.
    row : tuple, optional
        One of `FUNCTIONS` or `METHODS`.
    name : str, optional
        Its name in the tables of differences.py.
    most : int, optional
        The most elements of an array that NumPy computes, since `function` computes more faster.
    """
    if native is None:
        return function
    implementation, given, gives_scalars = row or ("", "", False)
    parameters = given.removesuffix(", out=")
    arrays = parameters if name not in _OF_NO_LISTS.split() else ""
    lists = _places(arrays, _OPERANDS), _places(arrays, _SEQUENCES)
    other_order = [None] if name in KEEPS_ORDER and name not in _OF_ANY_ORDER else []
    refused = (*REFUSED.get(name, ()), *other_order)
    defaults = _OF_UFUNCS if isinstance(numpys, numpy.ufunc) else _defaults(name)
    front = native.front_face(
        *(function, numpys, _direct(numpys), implementation, parameters, defaults),
        *(lists, parameters != given, gives_scalars, most, refused),
    )
    return update_wrapper(front, function)
