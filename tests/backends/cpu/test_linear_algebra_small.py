"""Inverses of small matrices that the extension computes equal NumPy's to rounding."""

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.backends.cpu.linear_algebra import invert_into
from array_api_nx.native import native
from tests.support.programs import needs_extension
from tests.support.refusals import refused

SIZES = range(2, 6)
COUNT = 400


def _matrices(size, dtype):
    """Stacks of matrices that have inverses, of several kinds."""
    rng = np.random.default_rng(size)
    shape = COUNT, size, size
    numbers = rng.standard_normal(shape)
    yield numbers.astype(dtype)
    yield (numbers * 10.0 ** rng.integers(-9, 9, (COUNT, 1, 1))).astype(dtype)
    yield (numbers * 10.0 ** rng.integers(-9, 9, (COUNT, 1, size))).astype(dtype)
    integers = rng.integers(-2, 3, shape).astype(float)  # several may be the pivot
    for some in (integers, np.triu(integers), np.tril(integers), np.copysign(integers, -1.0)):
        yield some[np.abs(np.linalg.det(some)) > 0.5].astype(dtype)
    yield np.eye(size, dtype=dtype)[np.argsort(rng.random((COUNT, size)))]


def inverses(matrices):
    """The extension's inverses; None if it leaves them to LAPACK."""
    result = np.empty(matrices.shape, matrices.dtype)
    return result if invert_into(matrices, result) else None


def _same(found, expected, matrices):
    """Whether both are the inverses to rounding, as far as the matrices determine them."""
    assert found is not None
    norm = np.linalg.norm(expected, axis=(-2, -1), keepdims=True)
    condition = norm * np.linalg.norm(matrices.astype(float), axis=(-2, -1), keepdims=True)
    # Columns of matrices in single precision are rounded after they are computed in double.
    bound = 99 * norm * (condition * np.finfo(float).eps + np.finfo(matrices.dtype).eps)
    return found.shape == expected.shape and bool(np.all(np.abs(found - expected) <= bound))


@pytest.fixture(params=SIZES)
def size(request):
    return int(request.param)


@needs_extension
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_inverses_are_numpys(size, dtype):
    for matrices in _matrices(size, dtype):
        assert len(matrices) > 5
        assert _same(inverses(matrices), np.linalg.inv(matrices), matrices)


@needs_extension
def test_matrices_may_lie_anyhow(size):
    x = np.random.default_rng(0).standard_normal((6, 4, size, size))
    padded = np.zeros((6, 4, 2 * size, 3 * size))
    padded[..., ::2, ::3] = x
    for each in (x, x.mT, x[::-2], x[0, 0], padded[..., ::2, ::3], np.broadcast_to(x[0], x.shape)):
        assert _same(inverses(each), np.linalg.inv(each), each)
    nothing = inverses(x[:, :0])
    assert nothing is not None
    assert nothing.shape == x[:, :0].shape
    misaligned = np.zeros(x.nbytes + 1, np.uint8)[1:].view(np.float64).reshape(x.shape)
    assert inverses(misaligned) is None


@needs_extension
def test_threads_change_no_bit(size):
    x = np.random.default_rng(0).standard_normal((30_000, size, size))
    with xp.config_context(num_threads=1):
        expected = inverses(x)
    assert _same(expected, np.linalg.inv(x), x)
    with xp.config_context(num_threads=3):
        np.testing.assert_array_equal(inverses(x), expected)


@needs_extension
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_what_is_left_to_numpy(size, dtype):
    x = np.random.default_rng(0).standard_normal((9, size, size)).astype(dtype)
    limits = np.finfo(dtype)
    for special in (np.nan, np.inf, limits.max, limits.smallest_subnormal):
        odd = x.copy()
        odd[3] *= 0
        odd[3] += np.eye(size, dtype=dtype) * special
        with np.errstate(all="ignore"):
            expected = np.linalg.inv(odd)
            np.testing.assert_array_equal(xp.linalg.inv(xp.asarray(odd)), expected)
    for singular in (np.zeros((size, size), dtype), np.ones((size, size), dtype)):
        odd = x.copy()
        odd[8] = singular
        assert inverses(odd) is None
        refused(np.linalg.LinAlgError, r"[Ss]ingular", xp.linalg.inv, xp.asarray(odd))


@needs_extension
@pytest.mark.parametrize("place", [0, 70_000, -1])
def test_one_singular_matrix_among_many(size, place):
    x = np.random.default_rng(0).standard_normal((100_000, size, size))
    x[place] = 0.0
    for threads in (1, 3):
        with xp.config_context(num_threads=threads):
            assert inverses(x) is None


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(("value", "error"), [(3e38, "underflow"), (1e-40, "overflow")])
def test_errors_of_single_precision_are_reported(value, error, compiled):
    function = xp.compile(xp.linalg.inv) if compiled else xp.linalg.inv
    numbers = np.eye(2, dtype=np.float32)[None] * np.float32(value)
    with np.errstate(all="ignore"):
        expected = np.linalg.inv(numbers)
    x = xp.asarray(numbers)
    with np.errstate(all="warn"), pytest.warns(RuntimeWarning, match=f"{error} encountered"):
        np.testing.assert_array_equal(np.asarray(function(x)), expected)
    with np.errstate(all="raise"), pytest.raises(FloatingPointError, match=error):
        function(x)


@needs_extension
def test_subnormal_pivots_are_left_to_numpy(size):
    """LAPACK divides by them. Their reciprocals are finite here, but have few bits."""
    x = np.zeros((COUNT, size, size))
    x[:] = np.eye(size)
    x[:, :, 0] *= 8e-309
    x[:, 1, 0] = np.random.default_rng(0).uniform(1e-309, 7e-309, COUNT)
    assert inverses(x) is None
    np.testing.assert_array_equal(np.asarray(xp.linalg.inv(xp.asarray(x))), np.linalg.inv(x))


@needs_extension
def test_nearly_singular_matrices_are_left_to_numpy(size):
    """Rounding decides whether a pivot becomes 0, and so whether there is an error."""
    x = np.arange(1.0, size * size + 1).reshape(size, size)
    x[-1] = x[:-1].sum(0) * (1 + 1e-15)
    assert inverses(x) is None
    scaled = np.eye(size) * 10.0 ** -np.arange(0, 4 * size, 4)
    assert _same(inverses(scaled), np.linalg.inv(scaled), scaled)


@needs_extension
def test_other_matrices_are_left_to_numpy():
    for other in (np.ones((3, 1, 1)), np.eye(6), np.eye(3, dtype=complex), np.eye(3, dtype=int)):
        assert inverses(other) is None


def test_public_functions_agree_with_numpy():
    inverse = xp.compile(xp.linalg.inv)
    for size in (1, *SIZES, 6):
        for dtype in ("float64", "float32"):
            x = np.random.default_rng(size).standard_normal((7, size, size)).astype(dtype)
            for function in (xp.linalg.inv, inverse, inverse):
                found = np.asarray(function(xp.asarray(x)))
                assert _same(found, np.linalg.inv(x), x)
                np.testing.assert_array_equal(found, np.asarray(xp.linalg.inv(xp.asarray(x))))


def test_a_compiled_function_finds_singular_matrices():
    function = xp.compile(lambda x: xp.linalg.inv(x + 0.0))
    x = xp.asarray([[[1.0, 2.0], [3.0, 5.0]], [[2.0, 1.0], [1.0, 3.0]]])
    expected = np.asarray(function(x))
    singular = xp.asarray([[[1.0, 2.0], [3.0, 5.0]], [[1.0, 2.0], [2.0, 4.0]]])
    refused(np.linalg.LinAlgError, None, function, singular)
    np.testing.assert_array_equal(np.asarray(function(x)), expected)


@needs_extension
def test_bad_arguments_of_the_extension():
    x = np.eye(3)[None]
    for matrices, result in [
        (x[0], np.empty((3, 3))),
        (x, np.empty((2, 3, 3))),
        (x, np.empty((1, 3, 3), np.float32)),
        (x, np.empty((1, 3, 3)).mT),
    ]:
        refused(ValueError, "invert takes a stack", native.invert, matrices, result)
