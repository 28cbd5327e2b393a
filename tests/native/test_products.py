"""Products of matrices and vectors in C against the Python functions."""

import operator
from math import isqrt

import numpy as np
import pytest

import array_api_nx as xp
import array_api_nx.numpy as face
from array_api_nx.backends.cpu.policy import LARGE
from array_api_nx.native import native
from tests.support.alike import DTYPES, compare
from tests.support.implementations import is_answered_in_c, random_array
from tests.support.sizes import AT_ONCE

pytestmark = pytest.mark.skipif(native is None, reason="there is no extension")

SIZES = [1, 1, 2, 3, 4, 7, 16, 33]


def _finite(rng, dtype, shape):
    """Numbers whose sums round, in any layout."""
    x = random_array(rng, dtype, shape)
    if rng.random() < 0.2 or x.dtype == xp.bool:
        return x
    with np.errstate(all="ignore"):
        finite = xp.where(xp.abs(x) < 10, x, xp.zeros_like(x))
    kind = rng.integers(3)
    if kind == 0 and x.ndim == 2:
        return xp.asarray(np.asfortranarray(np.asarray(finite)))
    if kind == 1 and x.ndim == 2:
        wide = xp.concat([finite, finite], axis=1)
        return (
            wide[:, : shape[1]]
            if rng.random() < 0.5
            else wide[:, ::2]
            if shape[1] % 2 == 0
            else finite
        )
    return finite


def _shapes(rng):
    n, k, m = (int(rng.choice(SIZES)) for _ in range(3))
    kind = rng.integers(8)
    if kind == 0:
        return (k,), (k, m)
    if kind == 1:
        return (n, k), (k,)
    if kind == 2:
        return (k,), (k,)
    return (n, k), (k if kind > 3 or rng.random() < 0.8 else k + 1, m)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("errors", ["warn", "raise"])
def test_matmul(dtype, errors):
    rng = np.random.default_rng(DTYPES.index(dtype))
    for _ in range(40):
        shape1, shape2 = _shapes(rng)
        x1, x2 = _finite(rng, dtype, shape1), _finite(rng, dtype, shape2)
        if rng.random() < 0.1:
            x2 = xp.astype(x2, xp.complex64 if dtype.startswith("complex") else xp.float32)
        with np.errstate(all=errors):
            compare(xp.matmul, x1, x2)
            compare(operator.matmul, x1, x2)
            compare(xp.tensordot, x1, x2, axes=int(rng.integers(3)))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128", "int64"])
def test_stacks(dtype):
    """Broadcast to each other, of any layout, small and less small."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        n, k, m = (int(rng.choice([1, 2, 3, 8, 9, 20])) for _ in range(3))
        stack = rng.choice([1, 2, 3, 5], int(rng.integers(1, 4))).tolist()
        operands = []
        for rows, columns in ((n, k), (k, m)):
            own = stack[int(rng.integers(len(stack) + 1)) :] if rng.random() < 0.4 else stack
            shape = [*[1 if rng.random() < 0.2 else size for size in own], rows, columns]
            order = rng.permutation(len(shape)) if rng.random() < 0.5 else np.arange(len(shape))
            x = rng.integers(-3, 4, np.asarray(shape)[order]).astype(dtype)
            x = x.transpose(np.argsort(order))
            operands.append(x[..., ::-1] if rng.random() < 0.2 else x)
        x, y = operands
        compare(operator.matmul, *map(xp.asarray, (x, y)))
        assert np.array_equal(np.asarray(xp.asarray(x) @ xp.asarray(y)), x @ y)
    x = xp.asarray(rng.standard_normal((4, 3, 3)).astype(dtype))
    assert is_answered_in_c(operator.matmul, x, x)
    compare(operator.matmul, x, xp.ones((3, 3, 3), dtype=x.dtype))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128", "int32"])
def test_many_elements(dtype):
    """Around 4,096 elements, from which other threads run meanwhile, and 32,768."""
    rng = np.random.default_rng(1)
    for n, k, m in ((64, 64, 64), (65, 64, 3), (569, 30, 1), (3, 4097, 2), (128, 256, 5)):
        x, y = _finite(rng, dtype, (n, k)), _finite(rng, dtype, (k, m))
        with np.errstate(all="ignore"):
            # The smaller of the two: the other one of 3 rows of 4,097 has 16 million elements.
            own = (x.T, y if n == k else x) if n * 16 > k else (x, x.T)
            for first, second in ((x, y), (x, y[:, 0]), (y.T, x.T), own):
                compare(operator.matmul, first, second)
            compare(xp.vecdot, x, xp.flip(x))
            compare(xp.vecdot, x, x)
    for size in (4096, 4097, AT_ONCE, AT_ONCE + 1):
        x = _finite(rng, dtype, (size,))
        with np.errstate(all="ignore"):
            compare(operator.matmul, x, x)
            compare(xp.vecdot, x, x)


def test_products_raise_what_errstate_asks_for():
    x = xp.full((100, 100), 1e300)
    with np.errstate(all="raise"):
        compare(operator.matmul, x, x)
        compare(xp.vecdot, x, x)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128", "int32"])
def test_a_matrix_with_its_transpose(dtype):
    """NumPy has BLAS compute one triangle."""
    rng = np.random.default_rng(0)
    for n in (1, 2, 3, 8, 40):
        for m in (1, 2, 5, 30):
            x = _finite(rng, dtype, (n, m))
            for y in (x.T, xp.asarray(x, copy=True).T, x):
                compare(operator.matmul, x, y)
                compare(operator.matmul, y, x)


@pytest.mark.parametrize("dtype", DTYPES)
def test_vecdot(dtype):
    rng = np.random.default_rng(DTYPES.index(dtype))
    for _ in range(50):
        shape = tuple(rng.choice(SIZES, int(rng.integers(0, 4))).tolist())
        other = (
            shape if rng.random() < 0.8 else tuple([1 if rng.random() < 0.5 else n for n in shape])
        )
        x1, x2 = _finite(rng, dtype, shape), _finite(rng, dtype, other)
        compare(xp.vecdot, x1, x2)
        compare(xp.vecdot, x1, x2, axis=int(rng.integers(-4, 4)))


def test_sizes():
    x = xp.ones((64, 64))
    compare(operator.matmul, x, x)
    x = xp.ones((65, 64))
    compare(operator.matmul, x, x.T)
    column, row = xp.ones((4000, 1)), xp.ones((1, 4000))
    assert (column @ row).shape == (4000, 4000)
    compare(operator.matmul, row, column)
    compare(xp.vecdot, xp.ones(20000), xp.ones(20000))
    for shape1, shape2 in [((0, 3), (3, 2)), ((2, 0), (0, 3)), ((0,), (0,)), ((3, 0), (0,))]:
        compare(xp.matmul, xp.ones(shape1), xp.ones(shape2))
        compare(xp.tensordot, xp.ones(shape1), xp.ones(shape2), axes=1)
        compare(xp.vecdot, xp.ones(shape1), xp.ones(shape1))


def test_arguments():
    x, vector, scalar = xp.ones((3, 3)), xp.ones(3), xp.asarray(1.0)
    stack = xp.ones((2, 3, 3))
    for other in (
        scalar,
        2.0,
        1j,
        True,
        np.ones((3, 3)),
        [[1.0]],
        stack,
        xp.ones((3, 3), dtype=xp.int8),
    ):
        for call in (xp.matmul, operator.matmul, xp.vecdot):
            compare(call, x, other)
            compare(call, other, vector)
    for call in (xp.matmul, xp.vecdot, xp.tensordot):
        compare(call)
        compare(call, x)
        compare(call, x, x, x)
        compare(call, x, x2=x)
    for axes in (0, 1, 2, 3, -1, True, 1.0, "a", ((1,), (0,)), None, 2**70):
        compare(xp.tensordot, x, x, axes=axes)
        compare(xp.vecdot, x, x, axis=axes)
    compare(xp.tensordot, x, x)


def test_floating_point_errors():
    large = xp.full((3, 3), 1e308)
    mixed = xp.asarray([[np.inf, -np.inf, 1.0]] * 3)
    for errors in ("warn", "raise", "ignore"):
        with np.errstate(all=errors):
            compare(operator.matmul, large, large)
            compare(operator.matmul, mixed, xp.zeros((3, 3)))
            compare(xp.vecdot, large, large)
            compare(xp.vecdot, mixed, xp.ones((3, 3)))


def test_results_of_any_size_are_computed_in_c():
    side = isqrt(LARGE)
    for size in (side, side + 1):
        column = xp.ones((size, 1))
        assert is_answered_in_c(xp.matmul, column, column.T)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128", "int64"])
def test_inv(dtype):
    rng = np.random.default_rng(8)
    for shape in ((3, 3), (2, 4, 5, 5), (7, 7), (1, 1), (0, 2, 2), (2, 3), (3,)):
        for _ in range(5):
            compare(xp.linalg.inv, random_array(rng, dtype, shape))
    for singular in (np.zeros((2, 2), dtype), np.stack([np.eye(2), np.ones((2, 2))]).astype(dtype)):
        compare(xp.linalg.inv, xp.asarray(singular))
    assert is_answered_in_c(xp.linalg.inv, xp.asarray(np.eye(3) + 1))


@pytest.mark.parametrize("dtype", ["int8", "float32", "float64", "complex128"])
@pytest.mark.parametrize(("rows", "columns"), [(1, 5), (5, 1), (30, 7), (700, 800)])
def test_products_over_one_index(dtype, rows, columns):
    """Each element is one product, for which no library is asked."""
    rng = np.random.default_rng(0)
    x, y = (rng.integers(-9, 9, size).astype(dtype) for size in (rows, columns))
    for first, second in ((x[:, None], y[None]), (x[::-1, None], np.asfortranarray(y[None, ::-1]))):
        found = xp.asarray(first) @ xp.asarray(second)
        assert found.dtype == dtype
        assert np.array_equal(np.asarray(found), first @ second)


@pytest.mark.parametrize("size", [1, 2, 9, 40, 300])
def test_products_of_booleans_in_the_face_are_numpys(size):
    rng = np.random.default_rng(size)
    for share in (0.02, 0.5, 1.0):
        x = rng.random((size, size)) < share
        y = rng.random((3, size, 2)) < share
        layouts = (x, x.T, x[::-1, ::-1], np.broadcast_to(x[0], x.shape), x[:, : size // 2 + 1])
        for a in layouts:
            for b in (a.T, a[0], a[:, 0], np.stack([a, a]).swapaxes(1, 2)):
                expected = a @ b if a.shape[-1] == b.shape[-2 if b.ndim > 1 else 0] else None
                if expected is None:
                    with pytest.raises(ValueError, match="matmul"):
                        face.asarray(a) @ face.asarray(b)
                    continue
                found = face.asarray(a) @ face.asarray(b)
                assert np.asarray(found).dtype == bool
                assert found.shape == expected.shape
                assert np.array_equal(np.asarray(found), expected)
        assert np.array_equal(np.asarray(face.asarray(x) @ face.asarray(y)), x @ y)
        number = face.asarray(x[0]) @ face.asarray(x[0])
        assert type(number) is np.bool
        assert number == x[0] @ x[0]


CONTRACTIONS = [
    ((4, 3, 5), (2, 3, 5), ([1, 2], [1, 2])),
    ((4, 3, 5), (5, 3, 2), ([2, 1], [0, 1])),
    ((4, 3, 5), (5, 2, 6), 1),
    ((4, 3, 5), (3, 5), 2),
    ((4, 3), (5,), 0),
    ((3, 3), (3, 3), ([0, 1], [1, 0])),
    ((3, 4), (3, 5), (0, 0)),
    ((2, 3, 4), (4, 2), ((-1, 0), (0, -1))),
    ((), (3, 2), ([], [])),
]


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128", "int32"])
@pytest.mark.parametrize(("first", "second", "axes"), CONTRACTIONS)
@pytest.mark.parametrize("reverse", [False, True])
def test_tensordot_over_any_axes(first, second, axes, reverse, dtype):
    """With NumPy's result in rows, also of arrays whose axes lie in another order."""
    rng = np.random.default_rng(8)
    x, y = [(rng.standard_normal(shape) * 9).astype(dtype) for shape in (first, second)]
    ours = [face.array(each) for each in (x, y)]
    if reverse:
        x, y = [np.ascontiguousarray(each.T).T for each in (x, y)]
        ours = [face.array(each.T).T for each in (x, y)]
    expected = np.tensordot(x, y, axes)
    found = np.asarray(face.tensordot(*ours, axes=axes))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-4)
    assert found.dtype == expected.dtype
    assert found.strides == expected.strides


MISFITS = [([0, 0], [0, 1]), ([0, 1], [1, 1]), ([0], [0, 1]), 3, ([0], [0])]


@pytest.mark.parametrize("axes", MISFITS)
def test_axes_that_do_not_fit_are_refused(axes):
    x, y = np.ones((2, 3)), np.ones((3, 3))
    with pytest.raises(Exception) as numpys:  # noqa: PT011
        np.tensordot(x, y, axes)
    with pytest.raises(numpys.type):
        face.tensordot(face.array(x), face.array(y), axes)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_dot_of_views_that_blas_cannot_read_has_numpys_bits(dtype):
    rng = np.random.default_rng(5)
    x = rng.normal(size=(137, 3)).astype(dtype)
    views = [
        lambda x: (x[::-1, 0], x[:, 1]),
        lambda x: (x[:, 0], x[::-2, 1].repeat(2)[:137]),
        lambda x: (x[::-1, 0], x[::-1]),
        lambda x: (x[::-1].T, x[:, 2]),
        lambda x: (x.T[:, ::-1], x[::-1]),
        lambda x: (type(x)((137,), x.dtype, x, strides=(0,)), x[:, 1]),
    ]
    for view in views:
        expected = np.dot(*view(x))
        found = np.asarray(face.dot(*view(face.array(x))))
        assert found.tobytes() == np.asarray(expected).tobytes()
        if np.ndim(expected) == 0:
            assert face.inner(*view(face.array(x))) == expected
            assert face.vdot(*view(face.array(x))) == np.vdot(*view(x))
