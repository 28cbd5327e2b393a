"""Ufuncs of NumPy and SciPy in C against the Python function."""

import gc
import weakref
from contextlib import suppress
from inspect import unwrap

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.native import native
from tests.support import implementations
from tests.support.alike import DTYPES, compare
from tests.support.implementations import random_array
from tests.support.refusals import refused
from tests.support.sizes import AT_ONCE, MIDDLE

pytestmark = implementations.needs_native

apply_ufunc = xp.extra.apply_ufunc

NUMPYS = [
    found
    for name in sorted(dir(np))
    if isinstance(found := getattr(np, name), np.ufunc) and found.nin <= 2 and found.nout == 1
]
SCIPYS = ["cbrt", "erf", "erfinv", "expit", "gammaln", "j0", "log_ndtr", "ndtri", "psi", "xlogy"]


def _shape(rng):
    return tuple([int(n) for n in rng.integers(0, 6, int(rng.integers(0, 4)))])


def _check(ufunc, rng, dtype, *, scalars=True):
    shape = _shape(rng)
    x = random_array(rng, dtype, shape)
    if ufunc.nin == 1:
        compare(apply_ufunc, ufunc, x)
        return
    y = random_array(rng, dtype if rng.random() < 0.8 else "float32", shape)
    compare(apply_ufunc, ufunc, x, y)
    compare(apply_ufunc, ufunc, x, y[..., :1] if shape else y)
    for scalar in (2, 2.5, True, 1j, -1, 2**40, 1e300) if scalars else ():
        compare(apply_ufunc, ufunc, x, scalar)
        compare(apply_ufunc, ufunc, scalar, x)


@pytest.mark.parametrize("ufunc", NUMPYS, ids=lambda ufunc: ufunc.__name__)
def test_of_numpy(ufunc):
    rng = np.random.default_rng(0)
    for dtype in DTYPES:
        for turn in range(3):
            _check(ufunc, rng, dtype, scalars=turn == 0)
    # Numbers without special values, for which fewer are declined.
    x = xp.asarray(rng.random((3, 4)) + 0.5, copy=True)
    compare(apply_ufunc, ufunc, *[x] * ufunc.nin)
    compare(apply_ufunc, ufunc, *[x.T] * ufunc.nin)


@pytest.mark.parametrize("name", SCIPYS)
def test_of_scipy(name):
    special = pytest.importorskip("scipy.special")
    ufunc = unwrap(getattr(special, name))
    rng = np.random.default_rng(SCIPYS.index(name))
    for dtype in ("float32", "float64", "int32", "bool", "complex128"):
        for _ in range(15):
            _check(ufunc, rng, dtype)
    x = xp.asarray(rng.random((3, 4)) / 2 + 0.25, copy=True)
    assert implementations.is_answered_in_c(apply_ufunc, ufunc, *[x] * ufunc.nin)


@pytest.mark.parametrize("name", ["betainc", "fdtr", "gdtr", "hyp2f1", "voigt_profile"])
def test_of_several_operands(name):
    special = pytest.importorskip("scipy.special")
    ufunc = unwrap(getattr(special, name))
    rng = np.random.default_rng(3)

    def numbers(dtype, shape):
        # Of special values SciPy's series may take for ever.
        values = (rng.random(shape[::-1]) * 3 + 0.1).astype(dtype)
        return xp.permute_dims(xp.asarray(values, copy=True), tuple(range(len(shape)))[::-1])

    for dtype in ("float32", "float64", "int32"):
        for _ in range(10):
            shape = _shape(rng)
            operands = [numbers(dtype, shape) for _ in range(ufunc.nin)]
            for other in (
                *(numbers(dtype, shape[-1:]), float(rng.random()), int(rng.integers(5))),
                *(numbers("float64", shape), np.float32(0.5)),
            ):
                compare(apply_ufunc, ufunc, *operands)
                operands[rng.integers(ufunc.nin)] = other
    x = xp.asarray(rng.random((3, 4)) / 2 + 0.25, copy=True)
    assert implementations.is_answered_in_c(apply_ufunc, ufunc, *[x] * ufunc.nin)
    assert implementations.is_answered_in_c(apply_ufunc, ufunc, 0.5, *[x] * (ufunc.nin - 1))
    assert implementations.is_answered_in_c(apply_ufunc, ufunc, *[0.5] * (ufunc.nin - 1), x[0])


def test_scalars_are_answered_in_c():
    x = xp.asarray([[1.0, 2.0], [3.0, 4.0]], copy=True)
    narrow = xp.astype(x, xp.float32)
    for operands in ((x, 2.5), (2.5, x.T), (x[:, 1], 2), (3, x), (narrow, 2.5), (2, narrow)):
        assert implementations.is_answered_in_c(apply_ufunc, np.fmax, *operands)
    for operands in ((x, True), (x, 1j), (narrow, 1e300), (narrow, np.float64(2))):
        assert not implementations.is_answered_in_c(apply_ufunc, np.fmax, *operands)


NUMPY_SCALARS = [
    *[np.dtype(dtype).type(number) for dtype in DTYPES for number in (0, 1, 3)],
    *[
        np.int8(-128),
        np.uint64(2**64 - 1),
        np.int64(-(2**63)),
        np.float64(1e300),
        np.float32(np.nan),
    ],
    *[np.float16(1), np.longlong(2), np.longdouble(1)],
]


@pytest.mark.parametrize("dtype", DTYPES)
def test_numpy_scalars_are_operands_as_in_python(dtype):
    for x in (xp.asarray([0, 1, 3], dtype=getattr(xp, dtype)), xp.ones((), dtype=dtype)):
        for scalar in NUMPY_SCALARS:
            for function in (
                xp.add,
                xp.divide,
                xp.less,
                xp.equal,
                xp.maximum,
                xp.bitwise_and,
                xp.pow,
            ):
                compare(function, x, scalar)
                compare(function, scalar, x)
            compare(xp.where, x != x, x, scalar)
            compare(apply_ufunc, np.multiply, scalar, x)
            compare(apply_ufunc, np.hypot, x, scalar)


def test_numpy_scalars_are_answered_in_c():
    x, two = xp.asarray([1.0, 2.0, 3.0]), np.float64(2)
    for function in (xp.multiply, xp.greater, xp.maximum):
        assert implementations.is_answered_in_c(function, x, two)
        assert implementations.is_answered_in_c(function, two, x)
    assert implementations.is_answered_in_c(xp.sqrt, two)
    assert implementations.is_answered_in_c(xp.where, x > two, x, two)
    assert implementations.is_answered_in_c(xp.clip, x, two, two)
    assert implementations.is_answered_in_c(apply_ufunc, np.multiply, np.int8(2), x)
    assert implementations.is_answered_in_c(apply_ufunc, np.matmul, x, x)


def test_operands_that_broadcast_to_many_elements_are_left_to_python():
    # The limit is 3 us of work on one thread, in which no loop of SciPy's may run.
    special = pytest.importorskip("scipy.special")
    ufunc = unwrap(special.xlogy)
    x = xp.asarray(np.linspace(0.1, 1, 200), copy=True)
    assert implementations.is_answered_in_c(apply_ufunc, ufunc, x[:, None][:10], x[:10])
    assert not implementations.is_answered_in_c(apply_ufunc, ufunc, x[:, None], x)
    compare(apply_ufunc, ufunc, x[:, None], x)


@pytest.mark.parametrize("errors", ["warn", "raise"])
def test_floating_point_errors(errors):
    x = xp.asarray([0.0, -1.0, 1e300, 2.0])
    for ufunc in (np.log, np.exp2, np.float_power, np.divide, np.fmod):
        with np.errstate(all=errors):
            compare(apply_ufunc, ufunc, *[x] * ufunc.nin)


def test_many_elements():
    rng = np.random.default_rng(1)
    for size in (1000, 10_000, AT_ONCE, AT_ONCE + 1):
        x = xp.asarray(rng.random(size), copy=True)
        for ufunc in (np.cbrt, np.exp, np.fmax):
            compare(apply_ufunc, ufunc, *[x] * ufunc.nin)
            compare(apply_ufunc, ufunc, *[x[::2]] * ufunc.nin)


def test_many_elements_of_scipy():
    special = pytest.importorskip("scipy.special")
    rng = np.random.default_rng(2)
    for name in ("erf", "gammaln", "xlogy"):
        ufunc = unwrap(getattr(special, name))
        for size in (300, 301, 20_000, AT_ONCE, AT_ONCE + 1):
            x = xp.asarray(rng.random(size) + 0.5, copy=True)
            compare(apply_ufunc, ufunc, *[x] * ufunc.nin)
            compare(apply_ufunc, ufunc, *[x[::2]] * ufunc.nin)
            assert implementations.is_answered_in_c(apply_ufunc, ufunc, *[x] * ufunc.nin) == (
                size <= AT_ONCE
            )
    x = xp.asarray(rng.random(40), copy=True)
    compare(apply_ufunc, unwrap(special.xlogy), x, x[:, None])


def test_errors_of_special_functions_are_raised_from_loops():
    special = pytest.importorskip("scipy.special")
    x = xp.asarray([1.0, -1.0])
    ufunc = unwrap(special.gammaln)
    with special.errstate(all="raise"), pytest.raises(special.SpecialFunctionError):
        apply_ufunc(ufunc, xp.asarray([1.0, -0.0]))
    for size in (1000, MIDDLE):
        with special.errstate(all="raise"), pytest.raises(special.SpecialFunctionError):
            apply_ufunc(ufunc, xp.zeros(size))
    assert float(apply_ufunc(ufunc, x)[0]) == 0.0


def test_bad_arguments():
    x = xp.asarray([1.0, 2.0])
    for arguments in (
        *[(), (np.exp,), (np.exp, x, x), (np.add, x), (np.add, x, np.ones(2)), (np.exp, [1.0])],
        *[(len, x), (np.frompyfunc(abs, 1, 1), x), (np.modf, x), (np.matmul, x, x)],
        *[(np.add, x, xp.ones(3)), (np.exp, None), (None, x), (np.invert, x), (np.ldexp, x, x)],
    ):
        compare(apply_ufunc, *arguments)
    refused(TypeError, None, apply_ufunc, np.exp, x=x)
    assert native is not None


def test_ufuncs_of_python_functions_are_not_kept():
    def same(x):
        return x

    alive = weakref.ref(same)
    with suppress(TypeError):  # it gives objects
        np.frompyfunc(same, 1, 1)(xp.asarray([1.0]))
    del same
    gc.collect()
    assert alive() is None
