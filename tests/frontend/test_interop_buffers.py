"""The buffer protocol: memory of arrays lent to Python and to compiled code."""

import hashlib
import io
import zlib

import numpy
import pytest

import array_api_nx as xp
import array_api_nx.numpy as face
from tests.support.alike import DTYPES
from tests.support.implementations import needs_native
from tests.support.refusals import refused
from tests.support.sizes import DEFERRED
from tests.support.tables import for_each

pytestmark = needs_native

NAMESPACES = {"standard": xp, "face": face}
PARTS = {
    "whole": lambda x: x,
    "transposed": lambda x: x.T,
    "stepped": lambda x: x[::-2, 1:],
    "row": lambda x: x[1],
    "0d": lambda x: x[1:2, 2:3].reshape(()),
    "empty": lambda x: x[:0],
}


@for_each("dtype", DTYPES)
@for_each("part", PARTS.values())
@for_each("namespace", NAMESPACES.values())
def test_memory_is_lent_as_numpy_lends_it(namespace, part, dtype):
    a = part(numpy.arange(12).reshape(3, 4).astype(dtype))
    x = namespace.asarray(a)
    found, expected = memoryview(x), memoryview(a)
    for name in ("format", "itemsize", "shape", "strides", "readonly", "c_contiguous"):
        assert getattr(found, name) == getattr(expected, name)
    assert found.tobytes() == expected.tobytes()
    if a.ndim:  # Python takes integers without axes for a number of bytes
        assert bytes(x) == bytearray(x) == a.tobytes()
    assert numpy.shares_memory(numpy.asarray(found), a) == (a.size > 0)


@for_each("namespace", NAMESPACES.values())
def test_functions_of_bytes_take_arrays(namespace):
    a = numpy.arange(6.0)
    x = namespace.asarray(a)
    assert hashlib.sha256(x).digest() == hashlib.sha256(a).digest()
    assert zlib.crc32(x) == zlib.crc32(a)
    assert b"-".join([x, x]) == b"-".join([a, a])
    file = io.BytesIO()
    assert file.write(x) == a.nbytes
    assert file.getvalue() == a.tobytes()


@for_each("namespace", NAMESPACES.values())
def test_writes_through_a_view_are_seen(namespace):
    x = namespace.asarray(numpy.arange(float(DEFERRED)))
    before = x + 1
    view = memoryview(x)
    beside = x + 1
    view[1] = -5.0
    assert (float(before[1]), float(beside[1]), float(x[1])) == (2.0, 2.0, -5.0)
    x[2] = 7.0
    assert view[2] == 7.0
    assert float((x + 1)[1]) == -4.0
    kept = memoryview(x + 1)
    del x
    assert kept[2] == 8.0


def test_files_are_read_into_memoryviews():
    """Bytes that are to be written are lent with the dtype alone."""
    for x in (xp.zeros(2), face.zeros(2)):
        a = numpy.asarray([1.0, 2.0])
        refused(TypeError, "read-write bytes-like", io.BytesIO(a.tobytes()).readinto, x)
        assert io.BytesIO(a.tobytes()).readinto(memoryview(x)) == a.nbytes
        assert x.tolist() == [1.0, 2.0]


def test_read_only_memory_is_lent_to_be_read():
    x = face.asarray(numpy.arange(3.0))
    x.setflags(write=False)
    view = memoryview(x)
    assert view.readonly
    with pytest.raises(TypeError, match="read-only"):
        view[0] = 1.0


@for_each("namespace", NAMESPACES.values())
@pytest.mark.parametrize("device", ["jax:cpu", "dask"])
def test_devices_that_share_no_memory_lend_none(device, namespace):
    pytest.importorskip(device.partition(":")[0])
    x = namespace.asarray([1.0, 2.0], device=device)
    refused(ValueError, "numpy.asarray", memoryview, x)
    assert numpy.asarray(x).tolist() == [1.0, 2.0]


@for_each("dtype", DTYPES)
@for_each("namespace", NAMESPACES.values())
def test_pytorch_never_takes_bytes_for_floats(namespace, dtype):
    torch = pytest.importorskip("torch")
    a = numpy.arange(8).astype(dtype)
    x = namespace.asarray(a)
    tensor = torch.asarray(x)
    assert tensor.numpy().dtype == a.dtype
    assert tensor.tolist() == a.tolist()
    assert torch.asarray(x, dtype=torch.complex128).tolist() == a.astype(complex).tolist()
    original = torch.asarray.__wrapped__
    refused(RuntimeError, "buffer", original, x)
    refused(RuntimeError, "buffer", original, x, dtype=torch.float64)
