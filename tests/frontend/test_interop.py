"""Exchange with NumPy, buffers and other libraries: sharing, copying, refusals."""

import array as arrays
import gc
from types import SimpleNamespace

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx import Array
from tests.support.alike import DTYPES
from tests.support.arrays import DLPackAlone, InterfaceAlone, address, read_only, shares, whole
from tests.support.refusals import refused
from tests.support.tables import for_each

# What asarray can share as it is.
SHARED = {
    "row_major": whole,
    "column_major": lambda: np.asfortranarray(whole()),
    "transposed": lambda: whole().T,
    "strided": lambda: whole()[::2, 1::2],
    "negative_strides": lambda: whole()[::-1, ::-1],
    "mixed_strides": lambda: whole()[:, ::-2].T,
    "broadcast": lambda: np.broadcast_to(np.arange(4.0), (3, 4)),
    "read_only": read_only,
    "0d": lambda: np.asarray(2.5),
    "empty": lambda: np.empty((0, 3)),
    "size_one_axes": lambda: whole()[:1, None, 2:3],
    "3d": lambda: np.arange(24.0).reshape(2, 3, 4).transpose(1, 2, 0),
    "offset": lambda: np.arange(10.0)[3:],
    "long_long": lambda: np.arange(3, dtype=np.longlong),
    "unsigned_long_long": lambda: np.arange(3, dtype=np.ulonglong),
    "intc": lambda: np.arange(3, dtype=np.intc),
    "every_second_field": lambda: np.zeros(3, "i4,i4")["f1"],
    "complex_part": lambda: (whole() + 1j).real,
    "subclass": lambda: whole().view(type("Sub", (np.ndarray,), {})),
}
# Memory that it must convert; test_interop_unaligned.py has that which is not aligned.
CONVERTED = {
    "swapped": lambda: np.arange(4, dtype=np.dtype("f8").newbyteorder()),
    "swapped_int": lambda: np.arange(-2, 2, dtype=np.dtype("i2").newbyteorder()),
    "swapped_complex": lambda: (np.arange(3) * 1j).astype(np.dtype("c16").newbyteorder()),
    "swapped_long_long": lambda: np.arange(3, dtype=np.dtype("q").newbyteorder()),
    "swapped_2d": lambda: whole().astype(np.dtype("f4").newbyteorder()).T,
    "swapped_0d": lambda: np.asarray(7, np.dtype("i4").newbyteorder()),
}


@for_each("name", SHARED)
def test_asarray_shares_memory(name):
    a = SHARED[name]()
    for x in (xp.asarray(a), xp.asarray(a, copy=False)):
        assert type(x) is Array
        assert (x.shape, str(x.dtype)) == (a.shape, a.dtype.name)
        np.testing.assert_array_equal(np.asarray(x), a)
        assert type(np.asarray(x)) is np.ndarray
        assert a.size == 0 or address(np.asarray(x)) == address(a)
        if a.flags.writeable and a.size:
            a[...] = 5
            assert bool(xp.all(x == 5))
            x[...] = 6
            assert (a == 6).all()


@for_each("name", [*SHARED, *CONVERTED])
def test_asarray_copies_when_told(name):
    a = (SHARED | CONVERTED)[name]()
    expected = np.array(a)
    x = xp.asarray(a, copy=True)
    np.testing.assert_array_equal(np.asarray(x), expected)
    assert not shares(x, a)
    x[...] = 9
    np.testing.assert_array_equal(a, expected)


@pytest.mark.parametrize("name", CONVERTED)
def test_asarray_converts_foreign_memory(name):
    a = CONVERTED[name]()
    x = xp.asarray(a)
    found = np.asarray(x)
    assert found.dtype.isnative
    assert found.flags.aligned
    assert (x.shape, str(x.dtype)) == (a.shape, a.dtype.name)
    np.testing.assert_array_equal(found, a)
    refused(ValueError, r"cannot be shared: its .*; use copy=None", xp.asarray, a, copy=False)
    # The backend's arithmetic must see the same numbers.
    np.testing.assert_array_equal(np.asarray(x + x), a + a)


@pytest.mark.parametrize("dtype", DTYPES)
def test_asarray_of_every_dtype(dtype):
    a = whole(dtype)
    assert xp.asarray(a).dtype is getattr(xp, dtype)
    assert xp.asarray(a[0, 0]).dtype is getattr(xp, dtype)
    assert xp.asarray([a[0], a[1]]).dtype is getattr(xp, dtype)


@for_each("source", DTYPES)
@for_each("target", ["bool", "int16", "uint64", "float32", "complex128"])
def test_asarray_to_a_dtype(source, target):
    a, dtype = whole(source), getattr(xp, target)
    if source.startswith("complex") and target not in ("bool", "complex128"):
        with pytest.raises(TypeError, match=r"drop imaginary parts; take real\(x\) or imag\(x\)"):
            xp.asarray(a, dtype=dtype)
        return
    x = xp.asarray(a, dtype=dtype)
    np.testing.assert_array_equal(np.asarray(x), a.astype(target))
    assert x.dtype is dtype
    assert shares(x, a) == (source == target)
    if source != target:
        with pytest.raises(ValueError, match=rf"its dtype is {source}, not {target}; use copy"):
            xp.asarray(a, dtype=dtype, copy=False)
        with pytest.raises(ValueError, match=r"without a copy; use copy=None"):
            xp.asarray(xp.asarray(a), dtype=dtype, copy=False)


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_asarray_of_a_matrix():
    m = np.matrix([[1.0, 2.0]])
    x = xp.asarray(m)
    assert x.shape == (1, 2)
    assert type(np.asarray(x)) is np.ndarray
    assert (x * x).shape == (1, 2)
    x[0, 0] = 5.0
    assert m[0, 0] == 5.0


def test_asarray_of_read_only_memory_stays_read_only():
    for a in (read_only(), read_only()[::2].T, np.broadcast_to(np.ones(1), (3,))):
        x = xp.asarray(a)
        assert not np.asarray(x).flags.writeable
        with pytest.raises(ValueError, match=r"copy it with asarray\(x, copy=True\)"):
            x[...] = 0.0
        with pytest.raises(ValueError, match=r"copy it with asarray\(x, copy=True\)"):
            x += 1
        y = xp.asarray(x, copy=True)
        y[...] = 0.0
        assert bool(xp.all(y == 0))


# All are writable, whatever strides NumPy gives them.
EMPTY = {
    "rows": lambda: np.empty((0, 5)),
    "columns": lambda: np.empty((5, 0)),
    "column_major": lambda: np.empty((3, 0, 2), order="F"),
    "transposed": lambda: np.empty((0, 5)).T,
    "slice": lambda: whole()[:0],
    "flipped": lambda: whole()[:0, ::-1],
    "integers": lambda: np.empty((0, 5), np.int8),
    "strides of zero": lambda: np.lib.stride_tricks.as_strided(np.ones(1), (0, 5), (0, 0)),
    "list": lambda: [[], []],
}


@pytest.mark.parametrize("name", EMPTY)
def test_empty_arrays_can_be_written(name):
    given = EMPTY[name]()
    arrays = [xp.asarray(given), xp.asarray(given).T if np.ndim(given) == 2 else xp.asarray(given)]
    if isinstance(given, np.ndarray):
        swapped = given.astype(given.dtype.newbyteorder())
        arrays += [xp.from_dlpack(given), xp.asarray(given, copy=False), xp.asarray(swapped)]
    for x in arrays:
        x[...] = 1
        x += 1
        x[x > 0] = 2
        assert np.asarray(x).flags.writeable
    if isinstance(given, np.ndarray):
        given.flags.writeable = False
        x = xp.asarray(given)
        assert not np.asarray(x).flags.writeable
        with pytest.raises(ValueError, match="its memory was handed in as read-only"):
            x[...] = 1


def test_a_user_cannot_change_our_array_by_the_one_they_gave():
    a = whole()
    x = xp.asarray(a)
    a.shape = (12,)
    a.flags.writeable = False
    assert x.shape == (3, 4)
    x[0, 0] = 7.0
    assert a[0] == 7.0


def test_asarray_of_itself():
    x = xp.ones((2, 3), device="cpu")
    assert xp.asarray(x) is x
    assert xp.asarray(x, copy=False) is x
    assert xp.asarray(x, dtype=xp.float64, device="cpu") is x
    y = xp.asarray(x, copy=True)
    assert y is not x
    assert not shares(x, y)


@for_each(
    ("value", "dtype"),
    [
        (True, "bool"),
        (3, "int64"),
        (-(2**63), "int64"),
        (2.5, "float64"),
        (1 + 2j, "complex128"),
        ([], "float64"),
        ([[], []], "float64"),
        ([True, False], "bool"),
        ([True, 2], "int64"),
        ([1, 2.5], "float64"),
        ([1, 2.5j], "complex128"),
        ([[1, 2], (3, 4)], "int64"),
        (range(4), "int64"),
        ([np.float32(1), np.float32(2)], "float32"),
        (np.uint8(3), "uint8"),
        (np.longlong(3), "int64"),
        ([np.arange(2), np.arange(2)], "int64"),
        ([1.5, 2**70], "float64"),
        ([np.uint64(2**63)], "uint64"),
    ],
)
def test_asarray_of_python_objects(value, dtype):
    x = xp.asarray(value)
    expected = np.asarray(value, dtype)
    assert (x.shape, str(x.dtype)) == (expected.shape, dtype)
    np.testing.assert_array_equal(np.asarray(x), expected)


def test_asarray_of_subclasses_of_python_scalars():
    class Number(float):
        pass

    assert xp.asarray(Number(2.5)).dtype is xp.float64
    assert float(xp.asarray(Number(2.5)) + Number(1)) == 3.5


def test_asarray_of_lists_of_our_arrays():
    x = xp.asarray([xp.asarray(1.0), xp.asarray(2.0)])
    assert (x.shape, x.dtype) == ((2,), xp.float64)
    halves = [xp.ones(2, dtype=xp.float32), xp.zeros(2, dtype=xp.float32)]
    assert xp.asarray(halves).dtype is xp.float32
    assert np.asarray(xp.asarray(halves)).tolist() == [[1.0, 1.0], [0.0, 0.0]]
    assert xp.asarray([xp.asarray(1), 2.5]).dtype is xp.float64


@pytest.mark.parametrize("value", [1, [1], (1, 2), range(3), [np.ones(2)], 2.5, np.int8(1)])
def test_asarray_cannot_share_what_has_no_memory(value):
    refused(ValueError, "no memory to share; use copy=None", xp.asarray, value, copy=False)


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        ([1, 2**63], None),
        ([[1], [2**64]], None),
        (range(2**63, 2**63 + 2), None),
        ([-1, 2**63], xp.uint64),
        (2**1025, xp.float64),
        ([2**1025, 1.5], None),
        ([2**1025, 1.5], xp.float32),
    ],
)
def test_integers_that_no_element_can_hold(value, dtype):
    with pytest.raises(
        OverflowError, match=r"is out of range for .*; (make it with dtype=xp|give a)"
    ):
        xp.asarray(value, dtype=dtype)


def test_integers_of_sequences_are_exact():
    x = xp.asarray([1, 2**53 + 1, 2**64 - 1], dtype=xp.uint64)
    assert [int(value) for value in x] == [1, 2**53 + 1, 2**64 - 1]
    y = xp.asarray([2**63 - 1, -(2**63)])
    assert [int(value) for value in y] == [2**63 - 1, -(2**63)]


@pytest.mark.parametrize(
    ("buffer", "dtype", "writeable"),
    [
        (b"abc", "uint8", False),
        (bytearray(b"abc"), "uint8", True),
        (memoryview(b"abc"), "uint8", False),
        (memoryview(bytearray(8)).cast("B", (2, 4)), "uint8", True),
        (memoryview(bytearray(8)).cast("?"), "bool", True),
        (memoryview(bytearray(32)).cast("d"), "float64", True),
        (memoryview(bytearray(8))[::-2], "uint8", True),
        (arrays.array("i", [1, -2]), "int32", True),
        (arrays.array("d", [1.5]), "float64", True),
        (arrays.array("Q", [2**64 - 1]), "uint64", True),
    ],
)
def test_asarray_of_buffers(buffer, dtype, writeable):
    expected = np.asarray(memoryview(buffer))
    for copy in (None, False, True):
        x = xp.asarray(buffer, copy=copy)
        assert (x.shape, str(x.dtype)) == (expected.shape, dtype)
        np.testing.assert_array_equal(np.asarray(x), expected)
        assert shares(x, expected) == (copy is not True)
        assert np.asarray(x).flags.writeable == (writeable or copy is True)


def test_buffers_of_characters_are_refused():
    buffer = memoryview(b"abc").cast("c")
    refused(TypeError, "the standard has no dtype", xp.asarray, buffer)


IMAGE = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
PARTS = {
    "whole": lambda x: x,
    "flipped": lambda x: x[::-1, ::-1],
    "transposed": lambda x: x[..., 0].T,
    "stepped": lambda x: x[:, ::2, :],
    "one pixel": lambda x: x[1:, 2:3],
    "empty": lambda x: x[:0],
    "repeated": lambda x: (np if isinstance(x, np.ndarray) else xp).broadcast_to(x[0], (3, 4, 3)),
}


@for_each("name", PARTS)
@pytest.mark.parametrize("device", ["cpu", "torch:cpu"])
def test_the_array_interface_of_bytes(name, device):
    if device != "cpu":
        pytest.importorskip("torch")
    if name == "flipped" and device != "cpu":
        return  # PyTorch has no negative strides, and the array is a copy
    part = PARTS[name]
    a = IMAGE.copy()
    x, expected = part(xp.asarray(a, device=device)), part(a)
    for found in (x.__array__(), np.asarray(SimpleNamespace(**{PROTOCOL: getattr(x, PROTOCOL)}))):
        assert (found.shape, found.strides) == (expected.shape, expected.strides)
        np.testing.assert_array_equal(found, expected)
        assert np.shares_memory(found, np.asarray(x)) is (expected.size > 0)
    assert x.tobytes() == expected.tobytes()
    assert x.tobytes("F") == expected.tobytes("F")


PROTOCOL = "__array_interface__"


def test_the_array_interface_keeps_the_memory():
    interface = (xp.asarray(IMAGE) + 1)[:, ::-1].__array_interface__
    gc.collect()
    found = np.asarray(SimpleNamespace(__array_interface__=interface))
    np.testing.assert_array_equal(found, (IMAGE + 1)[:, ::-1])


def test_other_arrays_have_no_array_interface():
    for x in (xp.ones(3), xp.asarray([True]), xp.asarray([1], dtype=xp.int8)):
        assert not hasattr(x, PROTOCOL)


def test_pillow_makes_images():
    image = pytest.importorskip("PIL.Image")
    for part in (IMAGE, IMAGE[::-1], IMAGE[..., 1], IMAGE[..., 0].T):
        found = image.fromarray(xp.asarray(part))
        np.testing.assert_array_equal(np.asarray(found), part)
        np.testing.assert_array_equal(np.asarray(xp.asarray(found)), part)


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x,
        lambda x: x.T,
        lambda x: x[::-1, 1:],
        lambda x: x[1],
        lambda x: x[1, 2],
        lambda x: x[:0],
        lambda x: xp.reshape(x, (4, 3)),
        lambda x: xp.flip(x[:, ::2]),
    ],
)
def test_numpy_sees_the_same_memory(view):
    x = xp.asarray(whole(), copy=True)
    y = view(x)
    a = np.asarray(y)
    assert type(a) is np.ndarray
    assert a.flags.writeable
    assert a.shape == y.shape
    assert a.size == 0 or address(a) == address(np.asarray(y, copy=False))
    a[...] = 50.0
    assert bool(xp.all(y == 50.0))
    y[...] = 60.0
    assert (a == 60).all()
    assert (np.asarray(x) == 60).sum() == a.size


def test_numpy_conversion_with_dtype_and_copy():
    x = xp.asarray([1.0, 2.0])
    assert np.asarray(x, dtype="float32").dtype == np.float32
    assert np.asarray(x, dtype=np.float64).dtype == np.float64
    assert shares(np.asarray(x, dtype=np.float64), x)
    assert not shares(np.array(x), x)
    assert not shares(np.asarray(x, copy=True), x)
    assert shares(np.asarray(x, copy=False), x)
    assert np.asarray(x, dtype=complex).dtype == np.complex128
    assert np.asarray(x, dtype=object).dtype == object
    refused(ValueError, r"without a copy|avoid copy", np.asarray, x, dtype="float32", copy=False)


def test_exports_do_not_let_users_change_the_array_itself():
    x = xp.asarray(whole(), copy=True)
    for y in (x, x.T, x[1:]):
        shape = y.shape
        a = np.asarray(y)
        a.flags.writeable = False
        b = np.asarray(y)
        assert b.flags.writeable
        if b.flags.c_contiguous:
            b.shape = (-1,)
        b.dtype = "int64"
        assert y.shape == shape
        assert np.asarray(y).dtype == np.float64
        y += 0.0


def test_repeated_elements_are_exported_read_only():
    x = xp.asarray([1.0, 2.0])
    for y in (xp.broadcast_to(x, (3, 2)), xp.broadcast_to(x[:, None], (2, 3))[1:].T):
        assert not np.asarray(y).flags.writeable
        assert np.array(y).flags.writeable
        exported = np.from_dlpack(y)
        assert not exported.flags.writeable
        # So are views of them, in which nothing repeats.
        for part in (y[0], y[:1], y[:, 0]):
            assert not np.asarray(part).flags.writeable
            assert not np.from_dlpack(part).flags.writeable
            refused(BufferError, "readonly", part.__dlpack__)
    assert np.asarray(xp.broadcast_to(x, (1, 2))).flags.writeable
    assert np.asarray(xp.broadcast_to(x, (2,))).flags.writeable


def test_a_view_of_a_view_of_foreign_memory():
    a = whole()
    x = xp.asarray(np.asarray(xp.asarray(a)[1:].T)[::-1])
    x[0, 0] = 99.0
    assert a[1, 3] == 99.0
    assert np.asarray(x).base is not None


@pytest.mark.parametrize("scalar", [np.longdouble(1), np.clongdouble(1)])
def test_numpy_scalars_without_a_dtype_of_the_standard(scalar):
    with pytest.raises(TypeError, match=r"the standard lacks; convert it with float\(\) or int"):
        xp.ones(2) + scalar
    refused(TypeError, "the standard has no dtype", xp.asarray, scalar)


def test_numpys_functions_convert():
    x = xp.asarray([0.0, 1.0])
    assert np.concatenate([x, x]).shape == (4,)
    a = np.zeros(3)
    a[:2] = x
    assert a[xp.asarray([1])].tolist() == [1.0]


class OnlyArray:
    """An object that converts itself to NumPy."""

    def __init__(self, a):
        self.a = a

    def __array__(self, dtype=None, copy=None):
        return np.array(self.a, dtype=dtype, copy=copy)


@pytest.mark.parametrize("kind", [DLPackAlone, OnlyArray, InterfaceAlone])
def test_asarray_of_objects_with_one_protocol(kind):
    a = whole()
    for copy in (None, False):
        assert shares(xp.asarray(kind(a), copy=copy), a)
    assert not shares(xp.asarray(kind(a), copy=True), a)
    assert xp.asarray(kind(a), dtype=xp.float32).dtype is xp.float32
    refused(ValueError, "copy", xp.asarray, kind(a), dtype=xp.float32, copy=False)


def test_masked_arrays_are_refused():
    with pytest.raises(TypeError, match=r"would lose its mask; fill it with .filled"):
        xp.asarray(np.ma.masked_array([1.0, 2.0], [True, False]))
