"""A call or more of every compiled callable, so that tests can go through all of them.

C answers each. The tests look whether they leave anything behind, and whether they survive a
lack of memory.
"""

import sys
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np

import array_api_nx as xp
import array_api_nx.numpy as face
from array_api_nx.frontend import dispatch, elementwise, operands
from array_api_nx.primitives import table as p
from tests.support import implementations

__all__ = ["EXAMPLES", "all_but_elementwise"]

X: Final = xp.asarray([[1.0, -2.0, 3.0], [0.0, 5.0, 6.0]], copy=True)
ODD: Final = xp.asarray(np.arange(24.0).reshape(4, 6), copy=True)[::2, ::2]
ROW: Final = xp.asarray([4.0, 1.0, 2.0, 2.0], copy=True)
NDARRAY: Final = np.arange(6.0).reshape(2, 3)
INTS: Final = xp.asarray([2, 0, 1], copy=True)
FACE: Final = face.array([[1.0, -2.0, 3.0], [0.0, 5.0, 6.0]])
SQUARE: Final = face.array([[2.0, 1.0], [1.0, 3.0]])
TABLE: Final = xp.asarray([[1, 0, 2], [0, 0, 1]], copy=True)
MASK: Final = xp.asarray([[True, False, True], [False, False, True]], copy=True)

_REDUCTIONS: Final = (
    *[xp.all, xp.any, xp.count_nonzero, xp.max, xp.mean, xp.min, xp.prod, xp.std, xp.sum, xp.var],
    *[xp.argmax, xp.argmin],
)

_TRANSFORMS: Final = "fft ifft rfft irfft fftn ifftn rfftn irfftn fft2 ifft2 rfft2 irfft2"

EXAMPLES: Final[dict[str, list[Callable[[], Any]]]] = {
    **{name: [partial(getattr(face.fft, name), FACE)] for name in _TRANSFORMS.split()},
    "array": [lambda: face.array(FACE), lambda: face.array([1.0, 2.0])],
    "cholesky": [lambda: face.linalg.cholesky(SQUARE)],
    "column_stack": [lambda: face.column_stack([FACE[0], FACE[1]])],
    "det": [lambda: face.linalg.det(SQUARE)],
    "dstack": [lambda: face.dstack([FACE, FACE])],
    "fill": [lambda: FACE.fill(2.0)],
    "flatten": [lambda: FACE.flatten(), lambda: FACE.T.flatten()],
    "hstack": [lambda: face.hstack([FACE, FACE]), lambda: face.hstack([FACE[0], FACE[1]])],
    "matrix_norm": [
        lambda: face.linalg.matrix_norm(FACE),
        lambda: xp.linalg.matrix_norm(TABLE * 1.0),
    ],
    "norm": [lambda: face.linalg.norm(FACE, axis=1)],
    "outer": [lambda: face.outer(FACE[0], FACE[1])],
    "ptp": [lambda: face.ptp(FACE, axis=1)],
    "ravel": [lambda: FACE.ravel()],
    "reshape_to": [lambda: FACE.reshape(3, 2), lambda: FACE.reshape((6,))],
    "solve": [
        lambda: face.linalg.solve(SQUARE, SQUARE[0]),
        lambda: face.linalg.solve(SQUARE, SQUARE.T),
    ],
    "swapaxes": [lambda: face.swapaxes(FACE, 0, 1)],
    "transpose": [lambda: face.transpose(FACE), lambda: face.transpose(FACE, (1, 0))],
    "transpose_to": [lambda: FACE.transpose(), lambda: FACE.transpose(1, 0)],
    "tril": [lambda: face.tril(FACE)],
    "unstable_argsort": [lambda: face.argsort(FACE), lambda: FACE.argsort(0)],
    "unstable_sort": [lambda: face.sort(FACE), lambda: face.sort(FACE, axis=0)],
    "triu": [lambda: face.triu(FACE, 1), lambda: face.triu(FACE.T)],
    "vector_norm": [lambda: xp.linalg.vector_norm(TABLE * 1.0, axis=1)],
    "vstack": [lambda: face.vstack([FACE, FACE]), lambda: face.vstack([FACE[0], FACE[1]])],
    **{
        function.__name__: [
            lambda function=function: function(X),
            lambda function=function: function(ODD, axis=0),
            lambda function=function: function(X, axis=1, keepdims=True),
        ]
        for function in _REDUCTIONS
    },
    **{
        function.__name__: [
            lambda function=function: function(X, axis=0),
            lambda function=function: function(ODD, axis=-1),
        ]
        for function in (xp.sort, xp.argsort, xp.cumulative_sum, xp.cumulative_prod, xp.diff)
    },
    **{
        function.__name__: [lambda function=function: function(ROW)]
        for function in (xp.unique_all, xp.unique_counts, xp.unique_inverse, xp.unique_values)
    },
    **{
        function.__name__: [lambda function=function: function((2, 3), dtype=xp.int32)]
        for function in (xp.empty, xp.ones, xp.zeros)
    },
    **{
        function.__name__: [lambda function=function: function(X)]
        for function in (xp.empty_like, xp.ones_like, xp.zeros_like, xp.matrix_transpose)
    },
    "__dlpack__": [lambda: np.from_dlpack(X), lambda: np.from_dlpack(ODD)],
    "__dlpack_device__": [lambda: X.__dlpack_device__()],
    **{
        f"{function.__name__}.accumulate": [
            lambda function=function: function.accumulate(FACE),
            lambda function=function: function.accumulate(FACE, axis=1),
        ]
        for function in (face.add, face.multiply, face.maximum, face.minimum)
    },
    **{
        f"{function.__name__}.reduce": [
            lambda function=function: function.reduce(FACE, axis=1),
            lambda function=function: function.reduce([FACE, FACE]),
        ]
        for function in (face.add, face.maximum, face.minimum)
    },
    "logical_and.reduce": [lambda: face.logical_and.reduce([FACE > 2, FACE < 4])],
    "logical_or.reduce": [lambda: face.logical_or.reduce(FACE > 2, axis=0)],
    "meshgrid_copies": [lambda: face.meshgrid(FACE[0], FACE[1])],
    "pad_copies": [lambda: face.pad(FACE, (1, 0)), lambda: face.pad(FACE, (1, 0), "edge")],
    "copyto": [lambda: face.copyto(face.zeros((2, 2)), 1.0, where=face.ones((2, 2), dtype=bool))],
    "place": [lambda: face.place(face.zeros(3), face.asarray([True, False, True]), [2.0])],
    "putmask": [lambda: face.putmask(face.zeros(2), face.asarray([True, False]), face.ones(2))],
    "apply_ufunc": [
        lambda: xp.extra.apply_ufunc(np.cbrt, X),
        lambda: xp.extra.apply_ufunc(np.fmax, X, ODD),
        lambda: xp.extra.apply_ufunc(np.exp, INTS),
    ],
    "arange": [lambda: xp.arange(10), lambda: xp.arange(1.0, 2.0, 0.25)],
    "asarray": [
        lambda: xp.asarray(2.0),
        lambda: xp.asarray(np.float64(2.0)),
        lambda: xp.asarray([1, 2, 3]),
        lambda: xp.asarray([np.float32(1), np.float32(2)]),
        lambda: xp.asarray(X, copy=True),
    ],
    "astype": [lambda: xp.astype(X, xp.float32), lambda: xp.astype(X, xp.float64)],
    "binary": [lambda: dispatch.binary(p.ADD, X, X)],
    "broadcast_arrays": [lambda: xp.broadcast_arrays(X, INTS)],
    "broadcast_to": [lambda: xp.broadcast_to(X, (2, 2, 3))],
    "can_cast": [lambda: xp.can_cast(xp.int8, xp.float32)],
    "cast": [lambda: operands.cast(INTS, xp.float64)],
    "concat": [lambda: xp.concat([X, X]), lambda: xp.concat([X, X], axis=1)],
    "diagonal": [lambda: xp.linalg.diagonal(X, offset=1)],
    "diagonal_matrix": [lambda: face.diag(FACE[0], 1), lambda: face.diag(FACE)],
    "evaluate": [lambda: xp.evaluate(X)],
    "expand_dims": [lambda: xp.expand_dims(X, axis=1)],
    "eye": [lambda: xp.eye(3, k=1)],
    "convolve": [lambda: xp.extra.convolve(ROW, ROW), lambda: face.convolve(FACE[0], FACE[1])],
    "correlate": [lambda: face.correlate(FACE[0], FACE[1], "full")],
    "dot": [lambda: face.dot(FACE, FACE.T)],
    "flip": [lambda: xp.flip(X)],
    "from_dlpack": [lambda: xp.from_dlpack(NDARRAY), lambda: xp.from_dlpack(X)],
    "full": [lambda: xp.full((2, 3), 4.0)],
    "full_like": [lambda: xp.full_like(X, 2.0)],
    **{
        name: [lambda name=name: getattr(xp.linalg, name)(xp.asarray([[2.0, 1.0], [1.0, 3.0]]))]
        for name in ("eigh", "eigvalsh", "slogdet", "svd", "svdvals")
    },
    "inv": [
        lambda: xp.linalg.inv(xp.asarray([[2.0, 1.0], [1.0, 3.0]])),
        lambda: xp.linalg.inv(xp.asarray([[2.0, 1.0j], [1.0, 3.0]])),
    ],
    "isdtype": [lambda: xp.isdtype(xp.int8, ("bool", "integral"))],
    "interp": [lambda: xp.extra.interp(ODD, ROW, ROW), lambda: face.interp(1.5, FACE[0], INTS)],
    "isin": [lambda: xp.isin(X, ROW), lambda: xp.isin(ODD, ROW, invert=True)],
    "linspace": [lambda: xp.linspace(0.0, 1.0, 5)],
    "matmul": [lambda: xp.matmul(X, X.T), lambda: xp.matmul(ODD, INTS * 1.0)],
    "median": [lambda: xp.extra.median(X), lambda: face.median(FACE, axis=0)],
    "moveaxis": [lambda: xp.moveaxis(X, 0, 1)],
    "nanargmax": [lambda: face.nanargmax(FACE), lambda: face.nanargmax(FACE, axis=0)],
    "nanargmin": [lambda: face.nanargmin(FACE), lambda: face.nanargmin(FACE, axis=0)],
    "nancumprod": [lambda: face.nancumprod(FACE[0]), lambda: face.nancumprod(FACE, axis=0)],
    "nancumsum": [lambda: face.nancumsum(FACE[0]), lambda: face.nancumsum(FACE, axis=0)],
    "nanmax": [lambda: face.nanmax(FACE), lambda: face.nanmax(FACE, axis=0)],
    "nanmean": [lambda: face.nanmean(FACE), lambda: face.nanmean(FACE, axis=0)],
    "nanmedian": [lambda: face.nanmedian(FACE)],
    "nanmin": [lambda: face.nanmin(FACE), lambda: face.nanmin(FACE, axis=0)],
    "nanpercentile": [lambda: face.nanpercentile(FACE, 25)],
    "nanprod": [lambda: face.nanprod(FACE), lambda: face.nanprod(FACE, axis=0)],
    "nanquantile": [lambda: face.nanquantile(FACE, 0.25, axis=0)],
    "nanstd": [lambda: face.nanstd(FACE), lambda: face.nanstd(FACE, axis=0)],
    "nansum": [lambda: face.nansum(FACE), lambda: face.nansum(FACE, axis=0)],
    "nanvar": [lambda: face.nanvar(FACE), lambda: face.nanvar(FACE, axis=0)],
    "nonzero": [lambda: xp.nonzero(X)],
    "percentile": [lambda: face.percentile(FACE, [25, 75.0])],
    "permute_dims": [lambda: xp.permute_dims(X, (1, 0))],
    "repeat": [lambda: xp.repeat(X, 2, axis=1)],
    "reshape": [lambda: xp.reshape(X, (3, 2)), lambda: xp.reshape(X.T, (-1,))],
    "result_type": [lambda: xp.result_type(X, INTS, 1.0)],
    "roll": [lambda: xp.roll(X, 1, axis=0)],
    "partition": [lambda: xp.extra.partition(X, 1), lambda: xp.extra.partition(INTS, 0, 0)],
    "quantile": [lambda: xp.extra.quantile(X, 0.5), lambda: face.quantile(FACE, (0.25, 0.5))],
    "argpartition": [lambda: xp.extra.argpartition(X, 1)],
    "searchsorted": [lambda: xp.searchsorted(INTS, INTS), lambda: xp.searchsorted(INTS, 1)],
    "squeeze": [lambda: xp.squeeze(X[None], 0)],
    "stack": [lambda: xp.stack([X, ODD], axis=1)],
    "take": [lambda: xp.take(X, INTS, axis=1)],
    "take_along_axis": [lambda: xp.take_along_axis(X, TABLE, axis=1)],
    "tensordot_of_any": [lambda: face.tensordot(FACE, FACE, axes=([0, 1], [0, 1]))],
    "tensordot": [lambda: xp.tensordot(X, X.T, axes=1)],
    "tile": [lambda: xp.tile(X, (2, 1))],
    "unary": [lambda: dispatch.unary(p.NEGATIVE, X)],
    "unstack": [lambda: xp.unstack(X, axis=1)],
    "vecdot": [lambda: xp.vecdot(X, X)],
    "where": [lambda: xp.where(MASK, X, 0.0), lambda: xp.where(MASK, X, ODD)],
    "Array.__getitem__": [
        lambda: X[0, 0],
        lambda: X[..., ::2],
        lambda: X[None, 1],
        lambda: X[MASK],
        lambda: X[:, INTS],
        lambda: X[TABLE[0, :2] % 2, TABLE[0, :2]],
    ],
    "Array.__iter__": [lambda: list(X)],
}


def all_but_elementwise() -> set[str]:
    """The names of the functions of the standard's namespace whose calls C answers, but for those
    of the chapter of elementwise functions. NumPy's names have a table of their own."""
    # Lists, because looking at a function may import a module, and importing may add names to one.
    return {
        value.__name__
        for name, module in list(sys.modules.items())
        if name.startswith("array_api_nx.") and not name.startswith("array_api_nx.numpy")
        for value in list(vars(module).values())
        if type(value) is type(xp.add) and getattr(elementwise, value.__name__, None) is not value
        if implementations.has_implementation(value)
    }
