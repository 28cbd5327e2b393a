"""Inverses of small matrices that the extension computes have the bits of NumPy's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.backends.cpu.engine import small_inverses
from array_api_nx.backends.cpu.engine.small_inverses import inverses
from array_api_nx.native import native
from tests.support.programs import needs_extension

NDArray = np.ndarray[Any, Any]

SIZES = range(2, 6)
COUNT = 400


def _matrices(size: int, dtype: str) -> Iterator[NDArray]:
    """Stacks of matrices that have inverses, of several kinds."""
    rng = np.random.default_rng(size)
    shape = COUNT, size, size
    numbers = rng.standard_normal(shape)
    yield numbers.astype(dtype)
    yield (numbers * 10.0 ** rng.integers(-9, 9, (COUNT, 1, 1))).astype(dtype)
    yield (numbers * 10.0 ** rng.integers(-9, 9, (COUNT, 1, size))).astype(dtype)
    integers = rng.integers(-2, 3, shape).astype(float)  # of which several may be the pivot
    for some in (integers, np.triu(integers), np.tril(integers), np.copysign(integers, -1.0)):
        yield some[np.abs(np.linalg.det(some)) > 0.5].astype(dtype)
    yield np.eye(size, dtype=dtype)[np.argsort(rng.random((COUNT, size)))]


def _same(found: NDArray | None, expected: NDArray) -> bool:
    """Whether both have the same bits; whatever they are, if the extension has another LAPACK's."""
    assert found is not None
    return found.shape == expected.shape and found.tobytes() == expected.tobytes()


@pytest.fixture(params=SIZES)
def size(request: pytest.FixtureRequest) -> int:
    """The sizes of which the extension has the bits of the LAPACK at hand."""
    if native is not None and small_inverses._is_fused(request.param) is None:
        pytest.skip("this LAPACK computes in another order")
    return int(request.param)


@needs_extension
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_bits_are_numpys(size: int, dtype: str) -> None:
    for matrices in _matrices(size, dtype):
        assert len(matrices) > 5
        assert _same(inverses(matrices), np.linalg.inv(matrices))


@needs_extension
def test_matrices_may_lie_anyhow(size: int) -> None:
    x = np.random.default_rng(0).standard_normal((6, 4, size, size))
    padded = np.zeros((6, 4, 2 * size, 3 * size))
    padded[..., ::2, ::3] = x
    for each in (x, x.mT, x[::-2], x[0, 0], padded[..., ::2, ::3], np.broadcast_to(x[0], x.shape)):
        assert _same(inverses(each), np.linalg.inv(each))
    assert _same(inverses(x[:, :0]), x[:, :0])
    misaligned = np.zeros(x.nbytes + 1, np.uint8)[1:].view(np.float64).reshape(x.shape)
    assert inverses(misaligned) is None


@needs_extension
def test_threads_change_no_bit(size: int) -> None:
    x = np.random.default_rng(0).standard_normal((30_000, size, size))
    for threads in (1, 3):
        with xp.config_context(num_threads=threads):
            assert _same(inverses(x), np.linalg.inv(x))


@needs_extension
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_what_is_left_to_numpy(size: int, dtype: str) -> None:
    """Matrices without an inverse, or with numbers at the limits of the dtype."""
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
        with pytest.raises(np.linalg.LinAlgError, match=r"[Ss]ingular"):
            xp.linalg.inv(xp.asarray(odd))


@needs_extension
@pytest.mark.parametrize("place", [0, 70_000, -1])
def test_one_singular_matrix_among_many(size: int, place: int) -> None:
    """Each thread finds it, whichever slice it is in."""
    x = np.random.default_rng(0).standard_normal((100_000, size, size))
    x[place] = 0.0
    for threads in (1, 3):
        with xp.config_context(num_threads=threads):
            assert inverses(x) is None


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(("value", "error"), [(3e38, "underflow"), (1e-40, "overflow")])
def test_errors_of_single_precision_are_reported(value: float, error: str, compiled: bool) -> None:
    function = xp.compile(xp.linalg.inv) if compiled else xp.linalg.inv
    numbers = np.eye(2, dtype=np.float32)[None] * np.float32(value)
    with np.errstate(all="ignore"):
        expected = np.linalg.inv(numbers)
    x = xp.asarray(numbers)
    with np.errstate(all="warn"), pytest.warns(RuntimeWarning, match=f"{error} encountered"):
        assert _same(np.asarray(function(x)), expected)
    with np.errstate(all="raise"), pytest.raises(FloatingPointError, match=error):
        function(x)


@needs_extension
def test_subnormal_pivots_are_left_to_numpy(size: int) -> None:
    """LAPACK divides by them. Their reciprocals are finite here, but have few bits."""
    x = np.zeros((COUNT, size, size))
    x[:] = np.eye(size)
    x[:, :, 0] *= 8e-309
    x[:, 1, 0] = np.random.default_rng(0).uniform(1e-309, 7e-309, COUNT)
    assert inverses(x) is None
    assert _same(np.asarray(xp.linalg.inv(xp.asarray(x))), np.linalg.inv(x))


@needs_extension
def test_other_matrices_are_left_to_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    for other in (np.ones((3, 1, 1)), np.eye(6), np.eye(3, dtype=complex), np.eye(3, dtype=">f8")):
        assert inverses(other) is None
    # A LAPACK that computes in another order than the extension.
    monkeypatch.setattr(small_inverses, "_is_fused", lambda size: None)
    x = np.random.default_rng(0).standard_normal((5, 3, 3))
    assert inverses(x) is None
    assert _same(np.asarray(xp.linalg.inv(xp.asarray(x))), np.linalg.inv(x))


def test_public_functions_agree_with_numpy() -> None:
    inverse = xp.compile(xp.linalg.inv)
    for size in (1, *SIZES, 6):
        for dtype in ("float64", "float32"):
            x = np.random.default_rng(size).standard_normal((7, size, size)).astype(dtype)
            for function in (xp.linalg.inv, inverse, inverse):
                found = function(xp.asarray(x))
                assert _same(np.asarray(found), np.linalg.inv(x))


def test_a_compiled_function_finds_singular_matrices() -> None:
    function = xp.compile(lambda x: xp.linalg.inv(x + 0.0))
    x = xp.asarray([[[1.0, 2.0], [3.0, 5.0]], [[2.0, 1.0], [1.0, 3.0]]])
    expected = np.asarray(function(x))
    singular = xp.asarray([[[1.0, 2.0], [3.0, 5.0]], [[1.0, 2.0], [2.0, 4.0]]])
    with pytest.raises(np.linalg.LinAlgError):
        function(singular)
    assert _same(np.asarray(function(x)), expected)


@needs_extension
def test_bad_arguments_of_the_extension() -> None:
    x = np.eye(3)[None]
    for matrices, result in [
        (x[0], np.empty((3, 3))),
        (np.eye(6)[None], np.empty((1, 6, 6))),
        (x, np.empty((2, 3, 3))),
        (x, np.empty((1, 3, 3), np.float32)),
        (x, np.empty((1, 3, 3)).mT),
        (x.astype(">f8"), np.empty((1, 3, 3))),
        (x.astype(int), np.empty((1, 3, 3), int)),
    ]:
        with pytest.raises(ValueError, match="invert takes a stack"):
            native.invert(matrices, result, True)
