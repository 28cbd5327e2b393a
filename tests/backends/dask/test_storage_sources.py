"""Where elements come from: mapped files, Zarr, other Dask arrays, ranges, and memory."""

from math import prod

import dask.array as da
import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.backends.dask import storage
from tests.backends.dask.programs import (
    CHUNK,
    LARGE,
    SMALL,
    assert_equal,
    nothing_computed,
    numbers,
    on_dask,
)
from tests.support.refusals import refused


@pytest.fixture
def reads(monkeypatch):
    """The bytes of each piece that is read from a file."""
    sizes = []
    read = storage._read

    def counted(path, offset, dtype, *rest):
        chunk = read(path, offset, dtype, *rest)
        sizes.append(chunk.nbytes)
        return chunk

    monkeypatch.setattr(storage, "_read", counted)
    return sizes


@pytest.fixture
def path(tmp_path):
    np.save(tmp_path / "numbers.npy", numbers(60, 9))
    return tmp_path / "numbers.npy"


def test_a_mapped_file_is_read_chunk_by_chunk_when_it_is_needed(path, reads):
    with nothing_computed():
        x = xp.asarray(np.load(path, mmap_mode="r"), device=SMALL)
        y = (x - xp.mean(x, axis=0)) / xp.std(x, axis=0)
    assert reads == []
    assert x.shape == (60, 9)
    row = x[3, :]
    assert_equal(row, numbers(60, 9)[3])
    assert 0 < sum(reads) < 9 * CHUNK
    a = numbers(60, 9)
    assert_equal(y, (a - a.mean(axis=0)) / a.std(axis=0))
    assert max(reads) <= CHUNK


@pytest.mark.parametrize(
    "key",
    [
        np.s_[:, :], np.s_[5:, ::2], np.s_[::-1, 3:], np.s_[::-2, ::-3], np.s_[7], np.s_[4:4],
        np.s_[3:4, 2:3],
    ],
)  # fmt: skip
@pytest.mark.parametrize("order", ["C", "F"])
def test_parts_of_mapped_files_in_any_order(tmp_path, reads, key, order):
    values = np.asarray(numbers(30, 11), order=order)
    np.save(tmp_path / "x.npy", values)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")[key]
    x = xp.asarray(mapped, device=SMALL)
    assert reads == []
    assert_equal(x, values[key])
    assert sum(reads) <= max(1, prod(mapped.shape)) * 8


def test_a_mapped_file_without_a_header(tmp_path):
    numbers(50).astype(np.int16).tofile(tmp_path / "x")
    mapped = np.memmap(tmp_path / "x", np.int16, "r", offset=20)
    assert_equal(xp.asarray(mapped, device=SMALL), numbers(50).astype(np.int16)[10:])


@pytest.mark.parametrize("mode", ["r", "r+"])
def test_a_mapped_file_is_not_written(path, mode):
    mapped = np.load(path, mmap_mode=mode)
    x = xp.asarray(mapped, device=SMALL)
    with pytest.raises(ValueError, match="read from a mapped file"):
        x[0, 0] = 1.0
    copied = xp.asarray(mapped, device=SMALL, copy=True)
    copied[0, 0] = 100.0
    assert float(copied[0, 0]) == 100.0
    np.testing.assert_array_equal(np.load(path), numbers(60, 9))


def test_memory_that_others_can_write_is_copied():
    values = numbers(10)
    x = xp.asarray(values, device=SMALL)
    y = x + 1
    values[...] = 0.0
    assert_equal(y, numbers(10) + 1)
    values.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        xp.asarray(values, device=SMALL)[0] = 1.0


def adopted(array):
    """A Dask array as ours, with what `asarray` calls."""
    backend = SMALL.backend
    handle = backend.from_native(array)
    like = on_dask(0.0)
    like._handle, like._dtype = handle, backend.dtype(handle)
    return like


def test_dask_arrays_come_in_without_being_computed():
    with nothing_computed():
        source = da.from_array(numbers(40, 5), chunks=(7, 5)) * 2
        x = adopted(source)
        y = xp.sum(x + 1, axis=0)
        x[0, :] = 0.0
    assert_equal(y, (numbers(40, 5) * 2 + 1).sum(axis=0))
    np.testing.assert_array_equal(source.compute(), numbers(40, 5) * 2)


def test_dask_arrays_of_unknown_size_get_one():
    source = da.from_array(numbers(40), chunks=7)
    x = adopted(source[source > 10])
    assert x.shape == (int((numbers(40) > 10).sum()),)
    assert "the sizes of chunks, which Dask did not know" in repr(xp.explain(x))
    assert_equal(x, numbers(40)[numbers(40) > 10])


def test_dask_arrays_that_do_not_fit_are_refused():
    refused(TypeError, "no dtype for", adopted, da.from_array(np.asarray(["a", "b"])))
    masked = da.ma.masked_equal(da.from_array(numbers(5)), 3)
    refused(TypeError, "map_blocks", adopted, masked)


def test_zarr_arrays(tmp_path):
    zarr = pytest.importorskip("zarr")
    zarr.save(str(tmp_path / "x.zarr"), numbers(30, 4))
    with nothing_computed():
        x = adopted(da.from_zarr(str(tmp_path / "x.zarr")))
        total = xp.sum(x * 2)
    assert float(total) == numbers(30, 4).sum() * 2


@pytest.mark.parametrize(
    ("arguments", "dtype"),
    [
        ((1000,), None), ((0.1, 7.3, 0.01), None), ((0.1, 7.3, 0.01), xp.float32),
        ((50, -50, -3), xp.int16), ((250, 10, -1), xp.uint8), ((2**62, 2**62 + 100), None),
        ((2**63, 2**63 + 90), xp.uint64), ((-5.5, 40.0), xp.complex64),
    ],
)  # fmt: skip
def test_ranges_have_the_bits_of_the_cpu(arguments, dtype):
    x = xp.arange(*arguments, dtype=dtype, device=SMALL)
    expected = np.asarray(xp.arange(*arguments, dtype=dtype))
    assert x.dtype.name == expected.dtype.name
    np.testing.assert_array_equal(np.asarray(x), expected)


def test_what_is_filled_takes_no_memory_before_it_is_used():
    huge = xp.ones((10**6, 10**5), device=LARGE)
    assert xp.explain(huge).nbytes == 8 * 10**11
    assert float(huge[5, 5]) == 1.0
