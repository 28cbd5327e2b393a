"""NumPy's functions on arrays of the face: those of this package first, else NumPy's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import WRAPPER_ASSIGNMENTS, partial, update_wrapper
from inspect import unwrap
from math import prod
from types import FunctionType, MethodType
from typing import Any, Final, cast

import numpy

from ..config import config_context
from ..frontend.array import Array
from ..frontend.inspection import namespace
from ..frontend.numpy_functions import known_functions
from .adoption import as_faces, as_standards, by_numpy, scalar
from .arrays import ndarray
from .differences import KEEPS_ORDER, REFUSED, has_special_elements
from .fronts import FUNCTIONS, fronted
from .thresholds import ANY, EDGES_GIVEN, most_for_numpy

REFUSALS: Final = (TypeError, ValueError, IndexError, OverflowError, AttributeError)
"""What our functions raise for arguments that NumPy may take: then NumPy computes, or raises."""

_ARRAYS_WITHOUT_AXES: Final = """
astype atleast_1d atleast_2d atleast_3d broadcast_to empty_like expand_dims full_like imag isin
matrix_transpose meshgrid moveaxis ones_like permute_dims ravel real repeat reshape roll select
squeeze stack swapaxes tensordot tile transpose tril triu where zeros_like
"""
"""Functions whose results without axes are arrays; those of others are scalars."""


_NUMPYS: Final = """
argpartition partition linalg.cholesky linalg.det linalg.eigh linalg.eigvalsh linalg.slogdet
linalg.solve can_cast histogram2d histogramdd unique_all unique_counts unique_inverse unique_values
allclose array_equal corrcoef cov gradient isclose meshgrid pad trapezoid fft.fftshift fft.ifftshift
"""
"""Functions of ours that are not used where C declines: partitions, which are slower; those that
call LAPACK through NumPy; those whose results have other classes, dtypes or orders; and those that
NumPy's code computes in no more time on arrays of the face (rebound.py)."""


def ours(x: Any) -> list[Any]:
    """The arrays of the face among the arguments of a call, or in one of its lists."""
    kind = type(x)
    if kind is ndarray:
        return [x]
    return [a for each in x for a in ours(each)] if kind is tuple or kind is list else []


_NUMPYS_PARAMETERS: Final = (
    *("append", "copy", "initial", "optimize", "order", "out", "prepend", "s", "subok", "where"),
)
"""A call that gives one of these parameters is NumPy's: ours mean something else by them, or lack
them."""

_ARRAYS: Final = (ndarray, Array, numpy.ndarray)
_PLAIN: Final = frozenset([*_ARRAYS, bool, int, float, complex, str, tuple, list, numpy.float64])


def is_ours(
    name: str, args: tuple[Any, ...], named: dict[str, Any], *, broadcasts: bool = False
) -> bool:
    """Whether a function of this package computes a call of NumPy's function of a name.

    NumPy computes arrays without elements, for which it has warnings and errors of its own, and
    small arrays, for which it takes less time. Subclasses of its arrays and arrays of other
    libraries choose the result themselves.
    """
    given = ours(args)
    if not given or any([named.get(x) is not None for x in _NUMPYS_PARAMETERS]):
        return False
    most = most_for_numpy(name)
    if name == "histogram" and ours((named.get("bins", args[1:2]),)):
        most = EDGES_GIVEN
    if not any([is_elsewhere(x) or x.size > most for x in given]) and not (
        broadcasts and _are_many(given, most)
    ):
        return False
    refused = REFUSED.get(name, ())
    if any([not x.size or x.dtype in refused for x in given]) or has_special_elements(name, args):
        return False
    by_rows = name in KEEPS_ORDER or name == "select"  # whose results NumPy lays out row by row
    if by_rows and not all([x.flags.c_contiguous for x in given]):
        return False
    return not _has_foreign(_classes(args))


_FUNCTIONS_GIVEN: Final = {FunctionType, MethodType, partial}

_MOST_ITEMS: Final = 32  # of a list that may have arrays; longer ones have numbers


def _classes(args: Sequence[Any]) -> set[type]:
    """The classes of arguments, and of the items of lists among them."""
    found = {*map(type, args)}
    if tuple in found or list in found:
        for x in args:
            if type(x) is tuple or type(x) is list:
                found |= _classes(x[:_MOST_ITEMS])
    return found


def _has_foreign(classes: set[type]) -> bool:
    """Whether one of the classes computes NumPy's functions itself."""
    return not classes <= _PLAIN and any(
        [hasattr(each, "__array_function__") for each in classes - _PLAIN]
    )


class _Unbound(partial):  # type: ignore[type-arg]
    """A function that does not bind to instances, as NumPy's functions in C do not."""

    def __reduce__(self) -> str:
        return str(vars(self)["__qualname__"])

    def __repr__(self) -> str:
        return repr(vars(self)["__wrapped__"])


_PRESENTED: Final = (*WRAPPER_ASSIGNMENTS, "__signature__", "__text_signature__")


def like(numpys: Any, call: Callable[..., Any]) -> Callable[..., Any]:
    """`call` with the name, the docstring and the signature of NumPy's function. It binds to
    instances if that does."""
    presented = call if hasattr(numpys, "__get__") else _Unbound(call)
    function: Any = update_wrapper(presented, numpys, assigned=_PRESENTED, updated=())
    name = getattr(numpys, "__name__", type(numpys).__name__)
    function.__qualname__ = getattr(numpys, "__qualname__", name)
    return cast("Callable[..., Any]", function)


def function_of(
    numpys: Callable[..., Any], path: str = "", again: Callable[..., Any] | None = None
) -> Callable[..., Any]:
    """The face's function for one of NumPy's, whose path there is `path`.

    `again` is its code on arrays of the face, if that is to run in place of NumPy's function.
    """
    name, own = _own(numpys)
    if own is not None and path not in KEEPS_ORDER:
        function = _by_ours(numpys, name, own, path, again)
    else:
        function = _by_numpys(numpys, again)
    if again is None:
        most = ANY if own is None else most_for_numpy(path)
        function = fronted(function, numpys, FUNCTIONS.get(path), name=path, most=most)
    elif unwrap(numpys) is not numpys:
        # NumPy computes where there is no array of the face, however few elements that has.
        function = fronted(function, numpys, FUNCTIONS.get(path), name=path, most=-1)
    return named(function, path)


def _are_many(arrays: list[Any], most: int) -> bool:
    """Whether arrays are broadcast to more elements than NumPy computes."""
    shapes = {x.shape for x in arrays}
    if len(shapes) == 1:
        return False
    try:
        return prod(numpy.broadcast_shapes(*shapes)) > most
    except ValueError:
        return False


def is_elsewhere(x: Any) -> bool:
    """Whether an array of the face is on another device than `cpu`."""
    return bool(x._device.name != "cpu")


def _own(numpys: Any) -> tuple[str, Callable[..., Any] | None]:
    """The name of a function of ours that is NumPy's, and the function; None if there is none."""
    name, own = known_functions().get(numpys, ("", None))
    return name, None if name in _NUMPYS.split() else own


def is_own(numpys: Any) -> bool:
    """Whether a function of ours computes what NumPy's does."""
    return _own(numpys)[1] is not None


def named(function: Callable[..., Any], path: str) -> Callable[..., Any]:
    """The function, as one of the face's module that has it, where pickles find it."""
    module, _, name = path.rpartition(".")
    function.__module__ = f"array_api_nx.numpy.{module}" if module else "array_api_nx.numpy"
    if name:  # numpy.random.rand has the name RandomState.rand
        function.__qualname__ = name
    return function


def _elsewhere(given: Sequence[Any]) -> Any:
    """The device of the first array that is not on `cpu`, or None."""
    for x in given:
        if type(x) is ndarray and is_elsewhere(x):
            return x.device
    return None


def _by_numpys(numpys: Callable[..., Any], again: Callable[..., Any] | None) -> Callable[..., Any]:
    # NumPy's functions that take no arrays, such as bartlett, leave no call to other classes.
    always = unwrap(numpys) is numpys

    def call(*args: Any, **named: Any) -> Any:
        if again is not None:
            given = (*args, *named.values()) if named else args
            classes = _classes(given)
            if (always or ndarray in classes) and not _has_foreign(classes):
                try:
                    device = _elsewhere(given)
                    if device is None:
                        return as_faces(again(*args, **named))
                    with config_context(default_device=device):  # where it makes new arrays
                        return as_faces(again(*args, **named))
                except Exception:
                    # NumPy raises its own. Functions that were given would be called once more.
                    if classes & _FUNCTIONS_GIVEN:
                        raise
        return by_numpy(numpys, *args, **named)

    return like(numpys, call)


def _by_ours(
    numpys: Callable[..., Any],
    name: str,
    own: Callable[..., Any],
    path: str,
    again: Callable[..., Any] | None,
) -> Callable[..., Any]:
    convert = as_faces if name in _ARRAYS_WITHOUT_AXES.split() else scalar
    xp = namespace(None)
    otherwise = _by_numpys(numpys, again)
    most = most_for_numpy(path)

    def call(*args: Any, **named: Any) -> Any:
        is_small = again is not None and args and type(args[0]) is ndarray and args[0].size <= most
        if not is_small and is_ours(path, args, named):
            try:
                return convert(own(xp, *as_standards(args), **as_standards(named)))
            except REFUSALS:
                pass
        return otherwise(*args, **named)

    return like(numpys, call)
