"""Chunks: their size, and that operations keep them from growing."""

from math import prod

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.backends.dask import DaskBackend
from array_api_nx.backends.dask.layers import Grid
from tests.backends.dask.programs import CHUNK, LARGE, SMALL, assert_equal, numbers, on_dask
from tests.support.refusals import refused


def largest(x):
    """The bytes of the largest chunk of `x`."""
    array = x._device.backend.array(x._handle)
    return prod(map(max, array.chunks)) * int(array.dtype.itemsize)


@pytest.mark.parametrize(("given", "limit"), [("64MiB", 2**26), ("1kB", 1000), (5000, 5000)])
def test_the_option(given, limit):
    backend = DaskBackend(given)
    assert backend.runtime_info()["chunks"] == limit
    sizes = backend.grid.chunks((10**5, 10**4), np.dtype(float))
    assert limit / 4 <= prod(map(max, sizes)) * 8 <= limit


def test_the_default_is_a_setting_of_dask():
    import dask

    with dask.config.set({"array.chunk-size": "1MiB"}):
        assert Grid(None).limit == 2**20


def test_sizes_that_are_none():
    refused(ValueError, "give a size like '64MiB'", DaskBackend, 0)
    refused(ValueError, "nonsense", DaskBackend, "nonsense")


@pytest.mark.parametrize("size", ["1", "200", "1kB", "64MiB", "1.5 GB", ".5GiB", "1e6", "128m"])
def test_sizes_in_names_of_devices(size):
    assert xp.Device(f"dask:chunks={size}").name == f"dask:chunks={size}"
    assert Grid(size).limit >= 1


@pytest.mark.parametrize("size", ["", "abc", "-1", "0", "0.0MB", "64XB", "1e-3", "auto"])
def test_names_of_devices_without_a_size(size):
    with pytest.raises(ValueError, match=rf"no device .*a size, such as chunks=64MiB.*{size!r}"):
        xp.Device("dask", chunks=size)


def test_results_that_do_not_fit_are_refused_before_they_are_computed():
    x = xp.zeros(1 << 41, device="dask")
    for ask in (np.asarray, xp.evaluate, lambda x: x.to_device("cpu")):
        refused(MemoryError, r"for 16.00 TiB, .*take parts .*x\[start:stop\]", ask, x)
    assert np.asarray(x[5:8]).tolist() == [0.0] * 3


def test_results_that_are_larger_than_what_they_are_made_of():
    x, y = on_dask(numbers(40)), on_dask(numbers(30))
    for result, expected in (
        (x[:, None] + y[None, :], numbers(40)[:, None] + numbers(30)),
        (xp.linalg.outer(x, y), np.outer(numbers(40), numbers(30))),
        (x[:, None] @ y[None, :], np.outer(numbers(40), numbers(30))),
        (xp.repeat(x, 25), np.repeat(numbers(40), 25)),
        (xp.broadcast_to(x, (50, 40)) * 1.0, np.broadcast_to(numbers(40), (50, 40))),
        (xp.take(x, on_dask(np.arange(400) % 40)), numbers(40)[np.arange(400) % 40]),
        (xp.concat([x] * 20), np.concatenate([numbers(40)] * 20)),
        (xp.eye(40, device=SMALL), np.eye(40)),
    ):
        assert largest(result) <= 2 * CHUNK
        assert_equal(result, expected)


def test_matrix_products_are_cut_along_all_axes():
    a, b = numbers(3, 20, 30), numbers(30, 25)
    x = on_dask(a) @ on_dask(b)
    assert largest(x) <= 2 * CHUNK
    assert_equal(x, a @ b)


def test_chunks_without_elements_do_no_harm():
    a = numbers(60)
    x = on_dask(a)
    chosen = x[(x > 40) | (x < -45)]
    expected = a[(a > 40) | (a < -45)]
    assert float(xp.max(chosen)) == expected.max()
    assert int(xp.argmin(chosen)) == expected.argmin()
    assert_equal(xp.cumulative_sum(chosen), expected.cumsum())
    assert float(xp.var(chosen)) == pytest.approx(expected.var())


def test_the_mean_of_many_numbers_of_low_precision():
    # float32 cannot count that far.
    x = xp.full((2**11 + 1, 2**13), 0.5, dtype=xp.float32, device=LARGE)
    assert float(xp.mean(x)) == 0.5


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
@pytest.mark.parametrize(("rows", "columns"), [(100, 3), (200, 2), (57, 1), (1000, 3)])
def test_decompositions_of_tall_matrices(dtype, rows, columns):
    rng = np.random.default_rng(7)
    a = rng.standard_normal((rows, columns)).astype(dtype)
    if dtype == "complex128":
        a = a + 1j * rng.standard_normal(a.shape)
    tolerance = 1e-4 if dtype == "float32" else 1e-10
    identity = np.eye(columns)
    x = on_dask(a)
    q, r = xp.linalg.qr(x)
    u, s, vh = xp.linalg.svd(x, full_matrices=False)
    assert [part.shape for part in (q, u)] == [(rows, columns)] * 2
    q, r, u, s, vh = [np.asarray(part) for part in (q, r, u, s, vh)]
    np.testing.assert_allclose(q @ r, a, atol=tolerance)
    np.testing.assert_allclose(np.conj(q.T) @ q, identity, atol=tolerance)
    np.testing.assert_array_equal(r, np.triu(r))
    np.testing.assert_allclose((u * s) @ vh, a, atol=tolerance)
    np.testing.assert_allclose(np.conj(u.T) @ u, identity, atol=tolerance)
    expected = np.linalg.svd(a, compute_uv=False)
    np.testing.assert_allclose(s, expected, rtol=tolerance)
    np.testing.assert_allclose(np.asarray(xp.linalg.svdvals(x)), expected, rtol=tolerance)
    u, s, vh = [np.asarray(part) for part in xp.linalg.svd(x.T, full_matrices=False)]
    np.testing.assert_allclose((u * s) @ vh, a.T, atol=tolerance)


def test_tall_matrices_stay_in_blocks_of_rows():
    q, r = xp.linalg.qr(on_dask(numbers(300, 2)))
    assert largest(q) <= CHUNK
    assert r.shape == (2, 2)
