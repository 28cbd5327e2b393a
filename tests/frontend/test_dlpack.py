"""Arrays of other libraries by DLPack, and ours for them: memory, keywords, errors."""

import importlib.util

import array_api_strict
import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx import Array
from tests.support.alike import DTYPES
from tests.support.arrays import read_only, shares, whole
from tests.support.processes import python
from tests.support.refusals import refused
from tests.support.tables import for_each


@pytest.mark.parametrize("dtype", DTYPES)
def test_dlpack_both_ways(dtype):
    a = whole(dtype)[::2].T
    x = xp.from_dlpack(a)
    assert (x.shape, str(x.dtype)) == (a.shape, dtype)
    assert shares(x, a)
    b = np.from_dlpack(x[1:])
    assert (b == a[1:]).all()
    assert shares(b, a)
    x[1, 0] = x[0, 1]
    assert a[1, 0] == b[0, 0] == a[0, 1]


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1, 1)])
def test_dlpack_of_degenerate_shapes(shape):
    x = xp.from_dlpack(np.ones(shape))
    assert x.shape == shape
    assert np.from_dlpack(x).shape == shape


def test_dlpack_copies_when_told():
    a = whole()
    x = xp.from_dlpack(a, copy=True)
    assert not shares(x, a)
    x[...] = 0.0
    assert a[1, 1] == 5.0
    assert shares(xp.from_dlpack(a, copy=False), a)
    assert shares(xp.from_dlpack(a, device="cpu", copy=None), a)
    y = xp.asarray(a)
    assert shares(np.from_dlpack(y, copy=False), a)
    assert not shares(np.from_dlpack(y, copy=True), a)
    assert shares(np.from_dlpack(y, device="cpu"), a)


def test_dlpack_of_read_only_memory():
    x = xp.from_dlpack(read_only())
    with pytest.raises(ValueError, match="read-only"):
        x[0, 0] = 1.0
    assert not np.from_dlpack(x).flags.writeable
    refused(BufferError, r"readonly.*copy: asarray\(x, device='cpu', copy=True\)", x.__dlpack__)
    assert type(x.__dlpack__(max_version=(1, 0))).__name__ == "PyCapsule"


def test_dlpack_keywords():
    x = xp.ones(3)
    assert x.__dlpack_device__() == (1, 0)
    for keywords in (
        {},
        {"stream": None},
        {"max_version": None},
        {"max_version": (1, 0)},
        {"max_version": (0, 8)},
        {"dl_device": (1, 0)},
        {"copy": False},
        {"copy": True, "max_version": (1, 0), "dl_device": (1, 0), "stream": None},
    ):
        assert "dltensor" in repr(x.__dlpack__(**keywords))
    assert "versioned" in repr(x.__dlpack__(max_version=(1, 0)))
    assert "versioned" not in repr(x.__dlpack__())
    refused(BufferError, "device cpu has no streams; leave out stream=", x.__dlpack__, stream=1)
    for device in ((2, 0), (1, 7)):
        with pytest.raises(
            BufferError, match=r"not exported to DLPack device .*with to_device first"
        ):
            x.__dlpack__(dl_device=device)
    refused(TypeError, None, x.__dlpack__, None)


@for_each("value", [(1,), (1, 0, 0), (), [1, 0], 1, "10", (1.0, 0), (True, 0), "ab"])
@for_each("name", ["max_version", "dl_device"])
def test_dlpack_versions_and_devices_are_pairs_of_ints(name, value):
    for x in (xp.ones(3), xp.ones(3)[::-1], xp.broadcast_to(xp.ones(1), (3,))):
        with pytest.raises(TypeError, match=rf"{name}= must be a tuple of two ints, .*; give the"):
            x.__dlpack__(**{name: value})


@pytest.mark.parametrize("value", [(-1, 0), (1, -1)])
@pytest.mark.parametrize("name", ["max_version", "dl_device"])
def test_dlpack_versions_and_devices_are_not_negative(name, value):
    with pytest.raises(ValueError, match=rf"{name}= must not be negative, .*; give the"):
        xp.ones(3).__dlpack__(**{name: value})


@pytest.mark.parametrize("value", [0, 1, "no", "", [], np.True_])
def test_dlpack_copy_is_a_bool_or_none(value):
    with pytest.raises(TypeError, match=r"copy= must be True, False or None, not .*; give one"):
        xp.ones(3).__dlpack__(copy=value)


BACKWARDS = {
    "flipped": lambda x: x[::-1],
    "one axis": lambda x: xp.flip(x, axis=1),
    "stepped": lambda x: x[:, ::-2],
    "transposed": lambda x: x[::-1].T,
    "repeated": lambda x: xp.broadcast_to(x[0, ::-1], (2, 4)),
}


@pytest.mark.parametrize("name", BACKWARDS)
def test_dlpack_of_negative_strides(name):
    x = xp.asarray(whole())
    y = BACKWARDS[name](x)
    expected = np.asarray(y)
    # NumPy takes them.
    for keywords in ({}, {"device": "cpu"}, {"copy": False}):
        z = np.from_dlpack(y, **keywords)
        np.testing.assert_array_equal(z, expected)
        assert shares(z, x)
    assert shares(xp.from_dlpack(y), x)
    np.testing.assert_array_equal(np.asarray(array_api_strict.from_dlpack(y)), expected)
    # Consumers like PyTorch, which leave out options, must not get them.
    for keywords in (
        {},
        {"max_version": (1, 0)},
        {"max_version": (1, 0), "dl_device": (1, 0)},
        {"max_version": (1, 0), "copy": False},
        {"max_version": (1, 0), "copy": False, "dl_device": (1, 0)},
        {"stream": None},
    ):
        with pytest.raises(
            BufferError, match=r"negative stride.*asarray\(x, device='cpu', copy=True"
        ):
            y.__dlpack__(**keywords)
        assert "dltensor" in repr(xp.asarray(y, copy=True).__dlpack__(**keywords))
    assert "versioned" in repr(y.__dlpack__(max_version=(1, 0), copy=True))


@pytest.mark.parametrize(
    "view", [lambda x: x[:1, ::-1][:, :1], lambda x: x[:0, ::-1], lambda x: x[::-1, :0]]
)
def test_dlpack_of_strides_that_no_element_needs(view):
    y = view(xp.asarray(whole()))
    assert "versioned" in repr(y.__dlpack__(max_version=(1, 0)))


TORCH_AND_NEGATIVE_STRIDES = """
import array_api_nx as xp, torch

x = xp.arange(4.0)
backwards = x[::-1]
for refused in (
    lambda: torch.from_dlpack(backwards),
    lambda: torch.from_dlpack(backwards, device="cpu"),
    lambda: torch.from_dlpack(backwards, copy=False),
    lambda: torch.from_dlpack(backwards, device="cpu", copy=False),
    lambda: torch.asarray(backwards),
    lambda: torch.tensor(backwards),
):
    try:
        refused()
    except BufferError as error:
        assert "export a copy: asarray(x, device='cpu', copy=True)" in str(error)
    else:
        raise AssertionError("not refused")
for taken in (
    torch.from_dlpack(backwards, copy=True),
    torch.from_dlpack(xp.asarray(backwards, copy=True)),
    torch.from_dlpack(backwards.to_device("torch:cpu")),
):
    assert taken.tolist() == [3.0, 2.0, 1.0, 0.0]
assert torch.from_dlpack(backwards[:1]).tolist() == [3.0]
assert torch.from_dlpack(x[::2]).tolist() == [0.0, 2.0]
try:
    xp.Device("torch:cpu").backend.from_native(backwards.__array__())
except BufferError as error:
    assert "PyTorch has no negative strides; copy the array first" in str(error)
else:
    raise AssertionError("not refused")
"""


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
def test_torch_survives_negative_strides():
    # PyTorch 2.13 ends the process: in one of its own, that fails this test alone.
    python("-c", TORCH_AND_NEGATIVE_STRIDES, is_quiet=True)


def test_dlpack_of_what_cannot_be_exchanged():
    with pytest.raises(AttributeError, match=r"objects with __dlpack__, not a list; use asarray"):
        xp.from_dlpack([1, 2])
    refused(BufferError, None, xp.from_dlpack, np.ones(2, "g"))
    refused(BufferError, None, xp.from_dlpack, np.ones(2, object))
    refused(BufferError, None, xp.from_dlpack, np.ones(2, np.dtype("f8").newbyteorder()))
    refused(ValueError, "known devices: 'cpu'", xp.from_dlpack, np.ones(2), device="gpu")


def test_exchange_with_array_api_strict():
    theirs = array_api_strict.asarray([[1.0, 2.0], [3.0, 4.0]])
    for x in (xp.asarray(theirs), xp.from_dlpack(theirs)):
        assert type(x) is Array
        assert np.asarray(x).tolist() == [[1.0, 2.0], [3.0, 4.0]]
    back = array_api_strict.from_dlpack(x.T)
    assert back.shape == (2, 2)
    assert float(back[0, 1]) == 3.0
    with pytest.raises(TypeError, match=r"not an array_api_strict Array; convert it with from_dl"):
        x + theirs
    assert xp.asarray(array_api_strict.asarray([True, False])).dtype is xp.bool


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
def test_exchange_with_torch():
    import torch

    theirs = torch.arange(6.0).reshape(2, 3)
    for x in (xp.asarray(theirs), xp.from_dlpack(theirs)):
        x[0, 0] = 9.0
        assert float(theirs[0, 0]) == 9.0
    back = torch.from_dlpack(x.T)
    assert back.shape == (3, 2)
    refused(TypeError, "not a torch Tensor; convert it with from_dlpack", lambda: x + theirs)
