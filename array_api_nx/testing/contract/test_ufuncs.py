"""The contract's section "element by element": ufuncs that are no primitives."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from ...contract.backend import Backend
from ...contract.numpy_dtypes import NDArray
from ...contract.ufuncs import UfuncLoop, ufunc_loop
from ...core import dtypes as d
from ...core.dtypes import DType
from .layouts import SHAPE, case, cases, check, in_layouts, row_major, small, spread


def _same(ufunc: np.ufunc, dtype: DType) -> UfuncLoop:
    return ufunc_loop(ufunc, (dtype,) * ufunc.nin, (dtype,) * ufunc.nout)


# Ufuncs that compute every bit, so that any engine's function of the same meaning gives it.
UNARY = [_same(np.fabs, dtype) for dtype in d.REAL_FLOATING]
BINARY = [
    *[_same(np.gcd, dtype) for dtype in d.INTEGRAL],
    *[_same(np.float_power, dtype) for dtype in (d.float64, d.complex128)],
    *[_same(np.copysign, dtype) for dtype in d.REAL_FLOATING],
    ufunc_loop(np.ldexp, (d.float64, d.int32), (d.float64,)),
    ufunc_loop(np.equal, (d.int64, d.uint64), (d.bool,)),
]
MULTIPLE = [
    *[ufunc_loop(np.frexp, (dtype,), (dtype, d.int32)) for dtype in d.REAL_FLOATING],
    *[_same(np.modf, dtype) for dtype in d.REAL_FLOATING],
]


def _oracle(op: UfuncLoop, *arrays: NDArray | float) -> NDArray | tuple[NDArray, ...]:
    with np.errstate(all="ignore"):
        result: NDArray | tuple[NDArray, ...] = op.ufunc(*arrays)
    return result


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("op", UNARY, ids=repr)
def test_apply(backend: Backend, op: UfuncLoop) -> None:
    for x in cases(backend, op.inputs[0]):
        result = backend.apply(op, x.handle)
        check(backend, result, _oracle(op, x.oracle), x.handle, hint=x.layout)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("op", BINARY, ids=repr)
def test_apply_to_two_operands(backend: Backend, op: UfuncLoop) -> None:
    one, two = op.inputs
    lefts = in_layouts(backend, spread(small(one, (25,)), SHAPE))
    rights = in_layouts(backend, spread(small(two, (25,), 3), SHAPE))
    for i, x1 in enumerate(lefts):
        x2 = rights[(7 * i + 2) % len(rights)]
        expected = _oracle(op, x1.oracle, x2.oracle)
        result = backend.apply(op, x1.handle, x2.handle)
        hint = x1.layout, x2.layout
        check(backend, result, expected, x1.handle, x2.handle, ulp=1, hint=hint)


def test_apply_broadcasts_and_takes_scalars(backend: Backend) -> None:
    op = ufunc_loop(np.ldexp, (d.float32, d.int32), (d.float32,))
    x = case(backend, row_major, small(d.float32, (3, 4)))
    column = case(backend, row_major, np.asarray([[1], [-2], [3]], np.int32))
    expected = np.ldexp(x.oracle, column.oracle)
    check(backend, backend.apply(op, x.handle, column.handle), expected, x.handle)
    check(backend, backend.apply(op, x.handle, 2), x.oracle * np.float32(4), x.handle)
    doubled = np.exp2(column.oracle.astype(np.float32)) * np.float32(0.5)
    check(backend, backend.apply(op, 0.5, column.handle), doubled, column.handle)
    with pytest.raises(ValueError, match="broadcast"):
        backend.apply(op, x.handle, case(backend, row_major, np.ones(3, np.int32)).handle)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("op", MULTIPLE, ids=repr)
def test_apply_multiple(backend: Backend, op: UfuncLoop) -> None:
    for x in cases(backend, op.inputs[0]):
        finite = np.where(np.isfinite(x.oracle), x.oracle, 1)
        y = case(backend, row_major, finite.astype(x.oracle.dtype))
        expected = _oracle(op, y.oracle)
        results = backend.apply_multiple(op, y.handle)
        assert type(results) is tuple
        for i, (result, right) in enumerate(zip(results, expected, strict=True)):
            check(backend, result, right, y.handle)
            check(backend, backend.apply(op.only(i), y.handle), right, y.handle)


def test_apply_is_told_the_same_ufunc_by_whoever_unpickles_it() -> None:
    op = ufunc_loop(np.frexp, (d.float64,), (d.float64, d.int32))
    assert pickle.loads(pickle.dumps(op)) is op
    assert pickle.loads(pickle.dumps(op.only(1))) is op.only(1)
    assert (op.output, op.only(1).output) == (d.float64, d.int32)
