"""Memory that others made, with its elements at odd addresses or at odd distances."""

import pickle
from collections.abc import Callable
from multiprocessing import shared_memory

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.contract.numpy_dtypes import NDArray, is_aligned, suitable
from array_api_nx.core import dtypes as d
from tests.support.arrays import DLPackAlone, InterfaceAlone
from tests.support.programs import deferring
from tests.support.refusals import refused
from tests.support.tables import for_each

DTYPES = [dtype.name for dtype in d.NUMPYS]
WIDE = [name for name in DTYPES if np.dtype(name).itemsize > 1]
SHIFTS = range(1, 8)
N = 11

Make = Callable[[str, int], NDArray]


def numbers(dtype, n=N):
    return (np.arange(n) * 3 % 7).astype(dtype)


def shifted(dtype, shift, n=N):
    """Numbers that begin `shift` bytes behind a multiple of 16."""
    values = numbers(dtype, n)
    block = np.zeros(values.nbytes + 32, np.uint8)
    start = -block.ctypes.data % 16 + shift
    result = block[start : start + values.nbytes].view(values.dtype)
    result[...] = values
    return result


def records(dtype, shift, n=N):
    """Numbers that follow `shift` bytes each: they are no whole elements apart."""
    block = np.zeros(n, [("bytes", f"V{shift}"), ("number", dtype)])
    block["number"] = numbers(dtype, n)
    return block["number"]


def padded(dtype, shift, n=N):
    """The same with the bytes behind: the first element is aligned."""
    block = np.zeros(n, [("number", dtype), ("bytes", f"V{shift}")])
    block["number"] = numbers(dtype, n)
    return block["number"]


def backwards(dtype, shift, n=N):
    return padded(dtype, shift, n)[::-1]


def swapped(dtype, shift, n=N):
    values = shifted(dtype, shift, n)
    return values.byteswap(inplace=True).view(values.dtype.newbyteorder())


def read_only(dtype, shift, n=N):
    values = shifted(dtype, shift, n)
    values.flags.writeable = False
    return values


MAKES = [shifted, records, padded, backwards, swapped, read_only]


def pickled(a, device):
    """Through protocol 5, whose buffers the reader allocates where it likes."""
    buffers = []
    data = pickle.dumps(xp.asarray(a, device=device), protocol=5, buffer_callback=buffers.append)
    moved = []
    for buffer in buffers:
        raw = bytearray(b"x" + buffer.raw().tobytes())
        moved.append(memoryview(raw)[1:])
    found = pickle.loads(data, buffers=moved)
    return found


def from_shared_memory(a, device):
    block = shared_memory.SharedMemory(create=True, size=a.nbytes + 1)
    try:
        there = np.ndarray(a.shape, a.dtype, block.buf, 1)
        there[...] = a
        x = xp.asarray(there, device=device)
        del there
        return xp.asarray(x, copy=True)
    finally:
        del x
        block.close()
        block.unlink()


def mapped(a, device, path):
    path.write_bytes(b"x" + a.tobytes())
    return xp.asarray(np.memmap(path, a.dtype, "r", 1, a.shape), device=device)


def of_frombuffer(a, device):
    return xp.asarray(np.frombuffer(b"xyz" + a.tobytes(), a.dtype, offset=3), device=device)


def of_torch(a, device):
    torch = pytest.importorskip("torch")
    tensor = torch.from_numpy(a)
    assert tensor.data_ptr() == a.ctypes.data
    return xp.asarray(tensor).to_device(device)


ENTRIES = {
    "asarray": lambda a, device: xp.asarray(a, device=device),
    "a copy": lambda a, device: xp.asarray(a, device=device, copy=True),
    "a list of rows": lambda a, device: xp.asarray([a, a], device=device)[1],
    "from_dlpack": lambda a, device: xp.from_dlpack(a, device=device),
    "an object with DLPack": lambda a, device: xp.asarray(DLPackAlone(a), device=device),
    "from_dlpack of an object": lambda a, device: xp.from_dlpack(DLPackAlone(a), device=device),
    "the array interface": lambda a, device: xp.asarray(InterfaceAlone(a), device=device),
    "a buffer": lambda a, device: xp.asarray(memoryview(a), device=device),
    "pickle": pickled,
    "shared memory": from_shared_memory,
    "frombuffer": of_frombuffer,
    "a tensor of PyTorch": of_torch,
}
# DLPack and PyTorch have no distances between elements, and DLPack no byte order.
ELEMENTS_APART = ["asarray", "a copy", "a list of rows", "the array interface", "pickle"]


def cases():
    for entry in ENTRIES:
        for make in MAKES:
            if entry in ELEMENTS_APART or make is shifted:
                for dtype in DTYPES:
                    yield from [(entry, make, dtype, shift) for shift in SHIFTS]


def assert_computes(x, expected):
    """Loops of each family give the same for `x` as for `expected`."""
    exact = np.testing.assert_array_equal
    exact(np.asarray(x), expected)
    exact(np.asarray(xp.where(x == x, x, x)), expected)
    exact(np.asarray(xp.flip(x)[1:]), expected[::-1][1:])
    exact(np.asarray(xp.concat([x, x])), np.concatenate([expected, expected]))
    if expected.dtype == bool:
        exact(np.asarray(x & x), expected)
        assert int(xp.count_nonzero(x)) == np.count_nonzero(expected)
        return
    exact(np.asarray(x + x * x), expected + expected * expected)
    assert complex(xp.sum(x)) == expected.sum()
    exact(np.asarray(xp.cumulative_sum(x)), expected.cumsum(dtype=xp.cumulative_sum(x).dtype.name))
    if expected.dtype.kind != "c":
        exact(np.asarray(xp.sort(x)), np.sort(expected))
        assert int(xp.argmax(x)) == np.argmax(expected)


@pytest.mark.parametrize("device", ["cpu", "torch:cpu", "jax:cpu", "dask"])
@pytest.mark.parametrize("entry", ENTRIES)
def test_elements_that_are_not_aligned_are_read_as_they_are(entry, device):
    if device != "cpu":
        pytest.importorskip(device.partition(":")[0])
    few = {"jax:cpu": (1, 4), "dask": (3,)}.get(device, SHIFTS)
    for case, make, dtype, shift in cases():
        if case == entry and shift in few:
            a = make(dtype, shift)
            expected = numbers(dtype)[::-1] if make is backwards else numbers(dtype)
            x = ENTRIES[entry](a, device)
            # Devices compute alike: only the transfer of the elements differs.
            if device == "cpu":
                assert_computes(x, expected)
            else:
                np.testing.assert_array_equal(np.asarray(xp.where(x == x, x, x)), expected)


@pytest.mark.parametrize("entry", ENTRIES)
def test_what_is_deferred_reads_elements_that_are_not_aligned(entry):
    with deferring():
        for case, make, dtype, shift in cases():
            if case == entry and shift in (1, 4, 6):
                expected = numbers(dtype)[::-1] if make is backwards else numbers(dtype)
                assert_computes(ENTRIES[entry](make(dtype, shift), "cpu"), expected)


@for_each("make", MAKES)
@for_each("dtype", ["int16", "float64", "complex64", "complex128"])
def test_compiled_functions_take_elements_that_are_not_aligned(make, dtype):
    f = xp.compile(lambda x: x + x * x)
    for n in (5, 3000):
        for shift in (1, 4):
            a = make(dtype, shift, n)
            expected = numbers(dtype, n)[::-1] if make is backwards else numbers(dtype, n)
            for _ in range(3):
                found = np.asarray(f(xp.asarray(a)))
                np.testing.assert_array_equal(found, expected + expected * expected)


@for_each("n", [5, 600_000])
@for_each("make", [shifted, padded, backwards])
def test_large_memory_that_is_not_aligned(make, n):
    for dtype in ("int32", "float64", "complex64"):
        expected = numbers(dtype, n)[::-1] if make is backwards else numbers(dtype, n)
        x = xp.asarray(make(dtype, 4 if dtype == "complex64" else 3, n))
        np.testing.assert_array_equal(np.asarray(x * x + x), expected * expected + expected)


@pytest.mark.parametrize("dtype", WIDE)
def test_mapped_files_whose_numbers_are_not_aligned(tmp_path, dtype):
    assert_computes(mapped(numbers(dtype), "cpu", tmp_path / "numbers"), numbers(dtype))


def test_assigned_values_that_are_not_aligned():
    for dtype in DTYPES:
        for shift in SHIFTS:
            x = xp.zeros(N, dtype=getattr(xp, dtype))
            x[...] = xp.asarray(shifted(dtype, shift))
            np.testing.assert_array_equal(np.asarray(x), numbers(dtype))


def test_numpy_writes_results_to_memory_that_is_not_aligned():
    for dtype in ("int16", "float64", "complex64"):
        x = xp.asarray(numbers(dtype))
        for make in (shifted, padded):
            out = make(dtype, 3)
            np.add(x, x, out=out)
            np.testing.assert_array_equal(out, numbers(dtype) * 2)


def test_a_random_generator_takes_parameters_that_are_not_aligned():
    expected = xp.random.default_rng(3).normal(xp.asarray(numbers("float64")))
    found = xp.random.default_rng(3).normal(xp.asarray(shifted("float64", 5)))
    np.testing.assert_array_equal(np.asarray(found), np.asarray(expected))


@for_each("dtype", WIDE)
@for_each("make", [shifted, records, padded, swapped])
def test_memory_that_is_not_aligned_is_shared_with_no_array(make, dtype):
    for shift in (1, 3, 7):
        a = make(dtype, shift)
        x = xp.asarray(a)
        assert is_aligned(np.asarray(x))
        assert not np.shares_memory(np.asarray(x), a)
        refused(ValueError, r"cannot be shared: its .*; use copy=None", xp.asarray, a, copy=False)


def test_complex_numbers_at_multiples_of_eight_bytes_are_shared():
    a = shifted("complex128", 8)
    assert np.shares_memory(np.asarray(xp.asarray(a, copy=False)), a)
    a = shifted("complex64", 4)
    assert a.flags.aligned
    assert not np.shares_memory(np.asarray(xp.asarray(a)), a)
    refused(ValueError, "its elements are not aligned; use copy=None", xp.asarray, a, copy=False)


def test_pytorch_gets_complex_numbers_at_multiples_of_their_size():
    torch = pytest.importorskip("torch")
    a = shifted("complex128", 8)
    for x in (xp.asarray(a, device="torch:cpu"), xp.asarray(a).to_device("torch:cpu")):
        np.testing.assert_array_equal(np.asarray(xp.where(x == x, x, x)), a)
    with pytest.raises(ValueError, match="its elements are not aligned; use copy=None"):
        xp.asarray(a, device="torch:cpu", copy=False)
    with pytest.raises(ValueError, match="without a copy; use copy=None"):
        xp.asarray(xp.asarray(a), device="torch:cpu", copy=False)
    aligned = xp.asarray(shifted("complex128", 16), device="torch:cpu", copy=False)
    aligned[0] = 9j
    for tensor in (torch.from_numpy(a), torch.from_numpy(shifted("float64", 1))):
        x = xp.asarray(tensor)
        np.testing.assert_array_equal(np.asarray(x * x), tensor.numpy() ** 2)
        with pytest.raises(ValueError, match=r"cannot be shared .*not aligned.*; use copy=None"):
            xp.asarray(tensor, copy=False)
    conjugated = torch.from_numpy(a).conj()
    np.testing.assert_array_equal(np.asarray(xp.asarray(conjugated)), a.conj())


def wholes(n):
    return np.arange(n, dtype=np.int32)


@pytest.mark.parametrize("device", ["cpu", "torch:cpu", "jax:cpu", "dask"])
@for_each("n", [12, 600_000])
def test_views_as_a_wider_dtype_are_aligned_or_refused(device, n):
    if device != "cpu":
        pytest.importorskip(device.partition(":")[0])
    a = wholes(n)
    x = xp.asarray(a, device=device)
    columns, theirs = xp.reshape(x, (-1, 3)), a.reshape(-1, 3)
    parts = {
        "shifted by half an element": (x[1:-1], a[1:-1]),
        "half elements between rows": (columns[:, :2], theirs[:, :2]),
        "backwards": (columns[::-1, :2], theirs[::-1, :2]),
    }
    for part, same in parts.values():
        expected = np.ascontiguousarray(same).view(np.int64)
        copied = xp.asarray(part, copy=True).view(xp.int64)
        np.testing.assert_array_equal(np.asarray(copied[1:] + 0), expected[1:])
        if device in ("cpu", "torch:cpu"):
            with pytest.raises(ValueError, match=r"at multiples of 8 bytes and .*; copy the array"):
                part.view(xp.int64)
        else:
            np.testing.assert_array_equal(np.asarray(part.view(xp.int64)[1:] + 0), expected[1:])
    row = columns[:1, 1:].view(xp.int64) if device in ("jax:cpu", "dask") else x[2:4].view(xp.int64)
    assert row.size == 1


@for_each("dtype", DTYPES)
@for_each("make", MAKES)
def test_suitable_memory_is_aligned_and_holds_the_same(make, dtype):
    for word in (8, 16):
        for shift in (*SHIFTS, 8, 16):
            a = make(dtype, shift)
            found = suitable(a, word)
            size = found.itemsize
            assert found.dtype == (getattr(d, dtype))
            assert found.ctypes.data % min(size, word) == 0
            assert found.strides[0] % size == 0
            np.testing.assert_array_equal(found, a)
            assert np.shares_memory(found, a) == (a.dtype.isnative and is_aligned(a, word))
    assert suitable(numbers(dtype)).base is None


def test_what_has_no_neighbours_is_aligned_whatever_the_stride():
    for a in (padded("float64", 4)[:1], padded("float64", 4)[:0], np.float64(3)[()]):
        assert is_aligned(np.asarray(a))
