"""The extension's products of small matrices, which equal NumPy's to rounding."""

from functools import reduce
from itertools import product
from operator import or_

import numpy as np
import pytest

from array_api_nx.native import native
from tests.support.refusals import refused

pytestmark = pytest.mark.skipif(native is None, reason="there is no extension")

SIZES = [1, 2, 3, 4, 5, 7, 8, 9]
COUNT = 5


def _layouts(rng, rows, columns, dtype):
    """Stacks of matrices in every order and with every kind of gap, with special values."""
    x = rng.standard_normal((COUNT, rows, columns)).astype(dtype)
    for i, special in enumerate((np.inf, -0.0, np.nan, 1e10, 0.0)):
        x.flat[i :: 41 + i] = special
    yield x
    yield np.ascontiguousarray(x.mT).mT
    yield np.broadcast_to(x[0], x.shape)
    yield x[0]
    yield x[::-1]
    yield x[:, ::-1]
    spacious = np.zeros((COUNT, 2 * rows, 2 * columns), dtype)
    spacious[:, :rows, :columns] = x
    yield spacious[:, :rows, :columns]
    spacious[:, ::2, ::2] = x
    yield spacious[:, ::2, ::2]


def _assert_rounded(found, expected, x, y):
    """The same to rounding of each product and each sum."""
    with np.errstate(all="ignore"):
        bound = 2 * x.shape[-1] * np.finfo(x.dtype).eps * np.matmul(np.abs(x), np.abs(y))
        rounded = np.abs(found - expected) <= bound
    np.testing.assert_array_equal(np.where(rounded, 0, found), np.where(rounded, 0, expected))


def _with_flags(function, *operands):
    met = [0]
    with np.errstate(all="call", call=lambda _, flags: met.append(flags)):
        return function(*operands), reduce(or_, met)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_results_and_warnings_are_numpys(dtype):
    rng = np.random.default_rng(1)
    for rows, inner, columns in product(SIZES, repeat=3):
        left = list(_layouts(rng, rows, inner, dtype))
        right = list(_layouts(rng, inner, columns, dtype))
        for i, x in enumerate(left):
            y = right[(i + rows + inner + columns) % len(right)]
            expected, expected_flags = _with_flags(np.matmul, x, y)
            found, flags = _with_flags(native.matmul, x, y)
            assert found.strides == expected.strides
            _assert_rounded(found, expected, x, y)
            # BLAS may fill vectors up with zeros, and so multiply infinity by 0. It adds in another
            # order, and so may meet NaN before an infinity in the same sum.
            assert flags & ~expected_flags == 0 or not np.isfinite(found).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_products_with_the_transpose_are_numpys(dtype):
    x = np.random.default_rng(2).standard_normal((COUNT, 4, 4)).astype(dtype)
    for left, right in ((x, x.mT), (x.mT, x), (x, x)):
        _assert_rounded(native.matmul(left, right), np.matmul(left, right), left, right)
    square = native.matmul(x, x.mT)
    assert np.array_equal(square, square.mT)


def test_other_dtypes_and_results_are_numpys():
    rng = np.random.default_rng(3)
    for dtype in ("int64", "uint8", "complex64", "complex128", "bool"):
        x = rng.integers(0, 9, (COUNT, 3, 4)).astype(dtype)
        y = rng.integers(0, 9, (COUNT, 4, 2)).astype(dtype)
        assert np.array_equal(native.matmul(x, y), np.matmul(x, y))
    x, y = rng.random((COUNT, 3, 4)), rng.random((COUNT, 4, 2))
    target, expected = np.zeros((2, COUNT, 2, 3)).swapaxes(2, 3)
    native.matmul(x, y, target)
    np.matmul(x, y, expected)
    _assert_rounded(target, expected, x, y)
    refused(ValueError, "matmul", native.matmul, x, x)


def test_it_tells_what_it_computes():
    dtype = np.dtype("float64")
    for sizes in ((1, 4, 4), (4, 1, 4), (4, 4, 1), (1, 1, 1), (8, 8, 8)):
        assert native.computes_product(dtype, *sizes)
    for sizes in ((9, 4, 4), (4, 9, 4), (4, 4, 9), (0, 4, 4)):
        assert not native.computes_product(dtype, *sizes)
    assert not native.computes_product(np.dtype("int64"), 4, 4, 4)
    refused(TypeError, None, native.computes_product, "float64", 4, 4, 4)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_bits_do_not_depend_on_the_layout_or_on_the_stack(dtype):
    """So calls at once, deferred and compiled have the same."""
    rng = np.random.default_rng(4)
    x, y = [rng.standard_normal((COUNT, 5, 5)).astype(dtype) for _ in range(2)]
    expected = native.matmul(x, y)
    for left in (x, np.ascontiguousarray(x.mT).mT):
        for right in (y, np.ascontiguousarray(y.mT).mT):
            assert native.matmul(left, right).tobytes() == expected.tobytes()
    for i in range(COUNT):
        assert native.matmul(x[i], y[i]).tobytes() == expected[i].tobytes()


@pytest.mark.parametrize("size", [2, 4, 12])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_a_result_in_the_place_of_an_operand(size, dtype):
    assert native is not None
    rng = np.random.default_rng(2)
    x, y = [rng.integers(-9, 9, (6, size, size)).astype(dtype) for _ in range(2)]
    places = [
        lambda z: (z, z, z), lambda z: (z, y, z), lambda z: (y, z, z), lambda z: (z.mT, z, z),
        lambda z: (z[1:], y[1:], z[:-1]), lambda z: (z[::-1], z, z), lambda z: (z[0], z, z),
    ]  # fmt: skip
    for place in places:
        left, right, out = place(x.copy())
        expected = np.matmul(left.copy(), right.copy())
        native.matmul(left, right, out=out)
        np.testing.assert_array_equal(out, expected)
