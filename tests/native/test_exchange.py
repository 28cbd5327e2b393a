"""DLPack's table of functions in C, called as a library in C calls them."""

import ctypes
import gc
import sys
import weakref
from ctypes import POINTER, c_char_p, c_int32, c_int64, c_uint32, c_uint64, c_void_p, py_object

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.frontend.array import Array
from array_api_nx.native import native
from tests.backends.engines.devices import device as find
from tests.support.alike import DTYPES, compare
from tests.support.arrays import Capsule
from tests.support.implementations import LAYOUTS, random_array
from tests.support.numpy_versions import IMPORTS_WRITABLE
from tests.support.refusals import refused
from tests.support.sizes import DEFERRED

pytestmark = pytest.mark.skipif(native is None, reason="there is no extension")


class Version(ctypes.Structure):
    _fields_ = (("major", c_uint32), ("minor", c_uint32))


class DLDevice(ctypes.Structure):
    _fields_ = (("kind", c_int32), ("number", c_int32))


class DLDType(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
    )


class DLTensor(ctypes.Structure):
    _fields_ = (
        ("data", c_void_p),
        ("device", DLDevice),
        ("ndim", c_int32),
        ("dtype", DLDType),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
        ("byte_offset", c_uint64),
    )


class Managed(ctypes.Structure):
    pass


DELETER = ctypes.CFUNCTYPE(None, POINTER(Managed))
Managed._fields_ = [
    ("version", Version),
    ("context", c_void_p),
    ("deleter", DELETER),
    ("flags", c_uint64),
    ("tensor", DLTensor),
]
SET_ERROR = ctypes.CFUNCTYPE(None, c_void_p, c_char_p, c_char_p)


class ExchangeAPI(ctypes.Structure):
    _fields_ = (
        ("version", Version),
        ("previous", c_void_p),
        # Without the GIL, as a library in C may call it.
        (
            "allocate",
            ctypes.CFUNCTYPE(
                c_int32, POINTER(DLTensor), POINTER(POINTER(Managed)), c_void_p, SET_ERROR
            ),
        ),
        ("export", ctypes.PYFUNCTYPE(c_int32, py_object, POINTER(POINTER(Managed)))),
        ("adopt", ctypes.PYFUNCTYPE(c_int32, POINTER(Managed), POINTER(py_object))),
        ("borrow", c_void_p),
        (
            "current_stream",
            ctypes.CFUNCTYPE(c_int32, c_int32, c_int32, POINTER(c_void_p)),
        ),
    )


def table(array_type):
    """What the capsule of a type of arrays leads to."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = c_void_p, [py_object, c_char_p]
    capsule = array_type.__dlpack_c_exchange_api__  # type: ignore[attr-defined]
    return ExchangeAPI.from_address(pointer(capsule, b"dlpack_exchange_api"))


@pytest.fixture
def api():
    return table(xp.Array)


def export(api, array):
    """A pointer to a tensor, which has to be released or adopted."""
    managed = POINTER(Managed)()
    # A function that raises in C raises here, whatever it returns.
    assert api.export(array, ctypes.byref(managed)) == 0
    return managed


def adopt(api, managed):
    result = py_object()
    assert api.adopt(managed, ctypes.byref(result)) == 0
    found = result.value
    # The reference that C handed over is counted twice now.
    release = ctypes.pythonapi.Py_DecRef
    release.argtypes = [py_object]  # type: ignore[attr-defined]
    release(found)
    return found


def test_the_capsule_belongs_to_the_type(api):
    x = xp.ones(3)
    assert x.__dlpack_c_exchange_api__ is xp.Array.__dlpack_c_exchange_api__
    assert (api.version.major, api.version.minor) == (1, 3)
    assert api.previous is None
    assert api.borrow is None


@pytest.mark.parametrize(
    ("dtype", "code", "bits"),
    [("int8", 0, 8), ("uint64", 1, 64), ("float32", 2, 32), ("complex128", 5, 128), ("bool", 6, 8)],
)
def test_export(api, dtype, code, bits):
    values = np.arange(24).reshape(4, 6).astype(dtype)
    x = xp.asarray(values, copy=True)[1:, ::2]
    managed = export(api, x)
    tensor = managed.contents.tensor
    assert managed.contents.version.major == 1
    assert (tensor.device.kind, tensor.device.number) == (1, 0)
    assert (tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes) == (code, bits, 1)
    assert tensor.shape[: tensor.ndim] == [3, 3]
    assert tensor.strides[: tensor.ndim] == [6, 2]
    first = (ctypes.c_char * (bits // 8)).from_address(tensor.data + tensor.byte_offset)
    assert bytes(first) == values[1, 0].tobytes()
    managed.contents.deleter(managed)


def test_what_is_deferred_is_computed_first_and_memory_is_shared(api):
    x = xp.linspace(0.0, 1.0, DEFERRED) * 2 + 1
    managed = export(api, x)
    data = (ctypes.c_double * DEFERRED).from_address(managed.contents.tensor.data)
    assert (data[0], data[DEFERRED - 1]) == (1.0, 3.0)
    data[0] = 7.0
    later = x + 1
    data[1] = 8.0
    assert (float(x[0]), float(later[0])) == (7.0, 8.0)
    managed.contents.deleter(managed)


def test_memory_lives_as_long_as_somebody_has_it(api):
    memory = np.arange(5.0)
    x = xp.asarray(memory, copy=False)
    gone = weakref.ref(memory)
    del memory
    found = adopt(api, export(api, x))
    assert type(found) is xp.Array
    assert found.dtype is xp.float64
    x[2] = 9.0
    del x
    gc.collect()
    np.testing.assert_array_equal(found, [0, 1, 9, 3, 4])
    assert gone() is not None
    del found
    gc.collect()
    assert gone() is None


def test_errors_of_exports_are_raised(api):
    managed = POINTER(Managed)()
    refused(BufferError, "negative stride", api.export, xp.ones(3)[::-1], ctypes.byref(managed))
    refused(AttributeError, None, api.export, 1.0, ctypes.byref(managed))


def managed_tensor(**changes):
    """A tensor of this file's own, and a list that grows when it is released."""
    released = []
    values = (ctypes.c_float * 3)(1.0, 2.0, 3.0)
    sizes, strides = (c_int64 * 1)(3), (c_int64 * 1)(1)
    managed = Managed(Version(1, 3), None, DELETER(lambda _: released.append(1)), 0)
    managed.tensor = DLTensor(
        ctypes.addressof(values), DLDevice(1, 0), 1, DLDType(2, 32, 1), sizes, strides, 0
    )
    for name, value in changes.items():
        setattr(managed if name == "version" else managed.tensor, name, value)
    managed.alive = values, sizes, strides
    return managed, released


def test_foreign_memory_is_adopted_and_released(api):
    managed, released = managed_tensor()
    x = adopt(api, ctypes.pointer(managed))
    np.testing.assert_array_equal(x, np.array([1, 2, 3], np.float32), strict=True)
    assert not released
    del x
    gc.collect()
    assert released == [1]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"version": Version(2, 0)}, "an array of version 2 of DLPack, but only 1 is known"),
        ({"dtype": DLDType(2, 128, 1)}, "dtype"),
        ({"dtype": DLDType(3, 32, 1)}, "dtype"),
    ],
)
def test_what_is_not_adopted_is_released(api, changes, words):
    managed, released = managed_tensor(**changes)
    result = py_object()
    with pytest.raises((BufferError, TypeError, RuntimeError), match=words):
        api.adopt(ctypes.pointer(managed), ctypes.byref(result))
    gc.collect()
    assert released == [1]


def allocate(api, shape, dtype, device):
    errors = []
    sizes = (c_int64 * max(1, len(shape)))(*shape)
    prototype = DLTensor(None, device, len(shape), dtype, sizes, None, 0)
    managed = POINTER(Managed)()
    set_error = SET_ERROR(lambda _, kind, message: errors.append((kind, message)))
    failed = api.allocate(prototype, ctypes.byref(managed), None, set_error)
    assert bool(failed) == bool(errors)
    return errors[0] if failed else managed


@pytest.mark.parametrize("shape", [(), (0,), (2, 3)], ids=str)
def test_allocate(api, shape):
    for code, bits, dtype in ((2, 32, xp.float32), (0, 64, xp.int64), (6, 8, xp.bool)):
        managed = allocate(api, shape, DLDType(code, bits, 1), DLDevice(1, 0))
        x = adopt(api, managed)
        assert (x.shape, x.dtype) == (shape, dtype)
        if not IMPORTS_WRITABLE:
            continue
        x[...] = xp.ones((), dtype=dtype)
        assert bool(xp.all(x == xp.ones((), dtype=dtype)))


def test_errors_of_allocations_are_told(api):
    kind, message = allocate(api, (2,), DLDType(2, 128, 1), DLDevice(1, 0))
    assert kind == b"BufferError"
    assert b"no dtype of DLPack's code 2, 128 bits and 1 lanes" in message
    kind, message = allocate(api, (2,), DLDType(2, 32, 1), DLDevice(2, 0))
    assert kind == b"BufferError"
    assert b"default device, cpu, which is not DLPack's device (2, 0)" in message
    kind, _ = allocate(api, (2**50,), DLDType(2, 64, 1), DLDevice(1, 0))
    assert kind == b"MemoryError"


def test_the_cpu_has_no_streams(api):
    stream = c_void_p(1)
    assert api.current_stream(1, 0, ctypes.byref(stream)) == 0
    assert stream.value is None


@pytest.mark.parametrize("name", ["torch:cpu", "jax:cpu", "dask"])
def test_arrays_of_other_devices(api, name):
    x = xp.reshape(xp.arange(6, dtype=xp.float32, device=find(name)), (2, 3))
    found = adopt(api, export(api, x))
    expected = np.arange(6.0, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(found, expected, strict=True)
    del x
    gc.collect()
    np.testing.assert_array_equal(found, expected)


def test_exchange_with_pytorch(api):
    torch = pytest.importorskip("torch")
    theirs = table(torch.Tensor)
    x = xp.asarray([1.0, 2.0, 3.0])
    tensor = adopt(theirs, export(api, x))
    assert type(tensor) is torch.Tensor
    tensor[0] = 5.0
    assert float(x[0]) == 5.0
    y = adopt(api, export(theirs, tensor))
    assert float(y[0]) == 5.0
    if IMPORTS_WRITABLE:
        y[1] = 6.0
        assert tensor.tolist() == [5.0, 6.0, 3.0]


# ---------------------------------------------------------------------- methods, in C and Python


def _exported(method, x, keywords):
    """What NumPy sees in the capsule, or what was raised."""
    try:
        capsule = method(x, **keywords)
    except (BufferError, OverflowError, TypeError, ValueError) as error:
        return type(error), str(error)
    name = repr(capsule).split('"')[1]
    array = np.from_dlpack(Capsule(capsule))  # type: ignore[arg-type]
    steps = [s if n > 1 else 0 for n, s in zip(array.shape, array.strides, strict=True)]
    where = array.ctypes.data if array.size and keywords.get("copy") is not True else None
    return name, array.dtype, array.shape, array.size and steps, array.flags.writeable, where


EXPORTS = [
    *[{}, {"max_version": None}, {"stream": None, "max_version": (1, 0)}],
    *[{"max_version": (0, 8)}, {"max_version": (1, 3)}, {"max_version": (2, 0)}],
    *[{"max_version": (1, 0), "dl_device": None, "copy": None}, {"dl_device": (1, 0)}],
    *[{"copy": True}, {"max_version": (1, 0), "copy": False}, {"dl_device": (2, 0)}],
    *[{"stream": 1}, {"max_version": 1}, {"max_version": (1,)}, {"max_version": (-1, 0)}],
    *[{"max_version": (1, -1)}, {"max_version": (True, 0)}, {"max_version": (2**70, 0)}],
]


SHAPES = [(), (3,), (3, 4), (0, 2), (1, 3, 1), (2, 3, 4)]


@pytest.mark.parametrize("dtype", DTYPES)
def test_capsules(dtype):
    rng = np.random.default_rng(DTYPES.index(dtype))
    method = Array.__dlpack__
    for layout in LAYOUTS:
        for number in rng.permutation(len(SHAPES))[:2]:
            shape = SHAPES[int(number)]
            x = random_array(rng, dtype, shape, layout)
            for keywords in EXPORTS:
                expected = _exported(method.__wrapped__, x, keywords)
                assert _exported(method, x, keywords) == expected
            if x.size:
                values = np.asarray(x)
                if values.flags.writeable and min(values.strides, default=0) >= 0:
                    shown = np.from_dlpack(Capsule(x.__dlpack__()))  # type: ignore[arg-type]
                    np.testing.assert_array_equal(shown, values)


def test_capsules_of_read_only_and_pending_arrays():
    method = Array.__dlpack__
    frozen = np.arange(3.0)
    frozen.flags.writeable = False
    for x in (xp.asarray(frozen), xp.broadcast_to(xp.ones(1), (3,))):
        assert _exported(method, x, {"max_version": (1, 0)})[-2] is False  # type: ignore[index]
        assert _exported(method, x, {}) == _exported(method.__wrapped__, x, {})
    with xp.config_context(fusion_threshold=0):
        x = xp.arange(3.0)
        y = x + 1
        assert np.from_dlpack(Capsule(y.__dlpack__())).tolist() == [1, 2, 3]  # type: ignore[arg-type]
        z = x * 2
        shown = np.from_dlpack(Capsule(x.__dlpack__(max_version=(1, 0))))  # type: ignore[arg-type]
        if not IMPORTS_WRITABLE:
            pytest.skip("NumPy before 2.2.5 writes to nothing that it imported")
        shown[0] = 7
        assert np.asarray(z).tolist() == [0, 2, 4]
        assert np.asarray(x * 2).tolist() == [14, 2, 4]


@pytest.mark.parametrize("version", [None, (1, 0)])
def test_capsules_keep_memory_alive(version):
    owner = np.ones(1000)
    x = xp.asarray(owner)
    before = sys.getrefcount(owner)
    capsules = [x.__dlpack__(max_version=version) for _ in range(5)]
    arrays = [np.from_dlpack(Capsule(capsule)) for capsule in capsules[:3]]  # type: ignore[arg-type]
    del x
    assert sys.getrefcount(owner) > before - 1
    assert all([array.sum() == 1000 for array in arrays])
    del capsules, arrays
    gc.collect()
    assert sys.getrefcount(owner) == before - 1
    held = np.from_dlpack(Capsule((xp.ones(3) * 2).__dlpack__(max_version=version)))  # type: ignore[arg-type]
    gc.collect()
    assert held.tolist() == [2, 2, 2]


def test_from_dlpack_of_ndarrays_and_arrays():
    rng = np.random.default_rng(1)
    base = rng.integers(0, 100, (6, 4, 2))
    frozen = base.copy()
    frozen.flags.writeable = False
    others = [
        *[
            base,
            base[::2],
            base[:, 1:3],
            base.T,
            base[::-1],
            base[:1, ::3],
            base[:0],
            base[2, 1, 0:1],
        ],
        *[base[2, 1, 0], np.asarray(3.0), frozen, np.broadcast_to(base[0], (2, 4, 2))],
        *[base.astype(">i8"), base.astype(np.longlong), base.astype("f2"), np.ones(3, "U1")],
        *[np.ma.array([1.0]), [1], 2, None, np.zeros(9, "u1")[1:].view("i8")],
        *[np.zeros(3, "i4,i8")["f1"], np.float32(2)],
    ]
    for dtype in DTYPES[::3]:
        others += [base.astype(dtype), random_array(rng, dtype, (2, 3))]
    for x in others:
        compare(xp.from_dlpack, x)
        compare(xp.from_dlpack, x, device=None, copy=None)
        compare(xp.from_dlpack, x, device="cpu")
        compare(xp.from_dlpack, x, copy=True)
        compare(xp.from_dlpack, x, copy=False)
    compare(xp.from_dlpack)
    compare(xp.from_dlpack, base, None)
    x = xp.from_dlpack(base)
    x[0, 0, 0] = -5
    assert base[0, 0, 0] == -5
    y = xp.from_dlpack(x)
    assert y is not x
    y += 1
    assert base[0, 0, 0] == -4


def test_devices_of_arrays():
    method = Array.__dlpack_device__
    x = xp.ones(2)
    assert x.__dlpack_device__() == method.__wrapped__(x) == (1, 0)
    refused(TypeError, None, method, x, 1)
