"""Array, Tensor and Storage in C: their attributes, what they may be made to hold, and that C reads
nothing that it was told wrongly."""

import copy
import gc
import operator
import pickle
import weakref
from contextlib import suppress

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.contract.strided import Storage, Tensor, tensor_over
from array_api_nx.core.symbolic import dynamic
from array_api_nx.core.view import View
from array_api_nx.device import CPU
from tests.support import implementations
from tests.support.implementations import assert_alike, is_answered_in_c
from tests.support.refusals import refused

pytestmark = implementations.needs_native


class Box:
    """An object that can be part of a cycle."""

    dtype = np.dtype(np.float64)


def own(values=(1.0, 2.0, 3.0)):
    """An array whose memory C made."""
    return xp.positive(xp.asarray(values))


def shown(memory, view, dtype=xp.float64, array=None):
    """An array that shows memory through a view that need not fit."""
    x = xp.Array()
    x._handle = tensor_over(None if memory is None else Storage(memory), view)
    x._handle.array = array
    x._dtype, x._device = dtype, CPU
    return x


# ---------------------------------------------------------------------- attributes


def test_a_storage_says_what_it_was_given():
    memory = np.arange(3.0)
    storage = Storage(memory, shared=True)
    assert storage.memory is memory
    assert storage.dtype is memory.dtype
    assert (storage.itemsize, storage.shared, storage.waits) == (8, True, False)
    storage.shared, storage.itemsize, storage.dtype = True, 4, "anything"
    assert storage.memory is memory
    assert (storage.itemsize, storage.dtype) == (4, "anything")


@pytest.mark.parametrize(
    "arguments", [((), {}), ((1,), {}), ((None,), {}), ((np.zeros(1), None), {})], ids=str
)
def test_a_storage_needs_memory_or_a_node(arguments):
    refused((TypeError, AttributeError), None, Storage, *arguments[0], **arguments[1])
    refused((TypeError, AttributeError), None, Storage, np.zeros(1), nodes=1)


def test_own_memory_is_an_array_that_keeps_the_storage():
    x = own()
    storage = x._handle.storage
    memory = storage.memory
    assert memory.tolist() == [1, 2, 3]
    assert memory.flags.writeable
    assert memory.flags.aligned
    memory[0] = 9
    assert float(x[0]) == 9
    died = weakref.ref(storage)
    del x, storage
    gc.collect()
    assert died() is not None
    assert memory.tolist() == [9, 2, 3]
    del memory
    assert died() is None


@pytest.mark.parametrize("name", ["array", "view", "storage"])
def test_attributes_of_tensors_can_be_none_but_not_be_deleted(name):
    tensor = own()._handle
    refused(AttributeError, None, delattr, tensor, name)
    setattr(tensor, name, None)
    assert name != "storage" or tensor.storage is None
    tensor = Tensor()
    assert getattr(tensor, name) is None
    with pytest.raises(AttributeError):
        tensor.another = 1


@pytest.mark.parametrize("name", ["memory", "dtype", "itemsize", "shared"])
def test_attributes_of_storages_cannot_be_deleted(name):
    refused((AttributeError, TypeError), None, delattr, own()._handle.storage, name)


def test_attributes_of_arrays():
    x = own()
    with pytest.raises(AttributeError):
        del x._handle
    for name in ("shape", "ndim", "size", "T", "dtype", "device"):
        refused(AttributeError, None, setattr, x, name, 1)
        refused(AttributeError, None, delattr, x, name)
    with pytest.raises(AttributeError):
        x.another = 1
    assert not hasattr(x, "__dict__")
    refused(TypeError, "takes no arguments", xp.Array, [1])
    refused(TypeError, "takes no arguments", Tensor, 1)


def test_wrong_types_are_refused_or_declined():
    tensor = own()._handle
    with pytest.raises(TypeError, match="storage must be a Storage or None, not int"):
        tensor.storage = 1
    for name in ("shared", "itemsize"):
        refused(TypeError, None, setattr, Storage(np.zeros(1)), name, "text")
    for handle in (None, 1, Box(), Storage(np.zeros(1))):
        x = own()
        x._handle = handle
        for call in (operator.neg, lambda x: x + x, lambda x: x.shape, float, len, xp.sin):
            with suppress(AttributeError, TypeError, AssertionError):
                call(x)
    for device in (None, Box()):
        x = own()
        x._device = device
        refused(AttributeError, None, operator.add, x, x)


def test_shells_without_contents_raise():
    x = xp.Array()
    for call in (
        *[lambda: x._handle, lambda: x.shape, lambda: x + x, lambda: -x, lambda: x + 1],
        *[lambda: 1 - x, lambda: float(x), lambda: bool(x), lambda: len(x), lambda: x[0]],
        *[lambda: operator.iadd(x, 1), lambda: x.dtype, lambda: x.device, lambda: xp.sin(x)],
        *[lambda: x == x, lambda: operator.index(x), lambda: own() + x],
    ):
        refused(AttributeError, None, call)
    x._handle, x._device, x._dtype = Tensor(), CPU, xp.float64
    for call in (lambda: x.shape, lambda: x + x, lambda: float(x)):
        refused((AttributeError, TypeError), None, call)


def test_the_types_are_final():
    for kind in (xp.Array, Tensor, Storage):
        refused(TypeError, "not an acceptable base type", type, "Sub", (kind,), {})


def test_weak_references():
    x = own()
    storage = x._handle.storage
    dead = []
    references = [weakref.ref(x, dead.append), weakref.ref(storage, dead.append)]
    assert references[0]() is x
    del x
    assert dead == references[:1]
    del storage
    assert dead == references
    refused(TypeError, None, weakref.ref, own()._handle)


def test_copies_and_pickles():
    for x in (own(), own()[::2], own(()), own([]), own(np.ones((2, 3))).T):
        for done in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
            assert type(done) is xp.Array
            assert implementations.describe(done)["bits"] == implementations.describe(x)["bits"]
            assert (done.shape, done.dtype, done.device) == (x.shape, x.dtype, x.device)
    for part in (own()._handle, own()._handle.storage):
        for make in (copy.copy, copy.deepcopy, pickle.dumps):
            refused(TypeError, "cannot pickle", make, part)


# ---------------------------------------------------------------------- garbage


def test_what_c_makes_is_not_tracked():
    x = own()
    for made in (x, x + x, x * 2.0, xp.sin(x), xp.sqrt(x)):
        assert not gc.is_tracked(made)
        assert not gc.is_tracked(made._handle)
        assert not gc.is_tracked(made._handle.storage)
        np.asarray(made), made._handle.view, made._handle.array
        assert not gc.is_tracked(made._handle)


def test_cycles_through_a_foreign_handle_are_collected():
    x, box = own(), Box()
    x._handle, box.array = box, x
    assert gc.is_tracked(x)
    died = weakref.ref(x)
    del x, box
    gc.collect()
    assert died() is None


def test_cycles_through_a_storage_are_collected():
    box = Box()
    storage = Storage(box)
    assert gc.is_tracked(storage)
    x = shown(None, View((1,)))
    x._handle.storage = storage
    y = xp.Array()
    y._handle = x._handle
    assert gc.is_tracked(x._handle)
    assert gc.is_tracked(y)
    box.array = y
    died = weakref.ref(box)
    del storage, x, y, box
    gc.collect()
    assert died() is None


# ---------------------------------------------------------------------- bounds

OUTSIDE = [
    *[View((3,), (1,), 8), View((3,), (1,), -1), View((3,), (-1,), 1), View((), (), 10)],
    *[View((3,), (2**61,), 0), View((3,), (2**62,), 0), View((3,), (1,), 2**62)],
    *[View((3,), (1,), 2**70), View((2,), (2**70,), 0), View((2, 2), (5, 5), 0)],
    *[View((2**33, 2**33), (0, 0), 0), View((4, 2**62 + 3), (0, 0), 0), View((2**70,), (0,))],
    *[View((2,) * 12, (1,) * 12, 0), View((2, 1, 3), (9, 0, 1), 0)],
]


@pytest.mark.parametrize("view", OUTSIDE, ids=str)
def test_elements_outside_of_the_memory_are_not_read(view):
    """Python, which is asked instead, raises NumPy's error."""
    memory = np.arange(10.0)
    y = own(1.0)
    for call in (
        *[lambda x: x + 1.0, lambda x: x + x, lambda x: y - x, lambda x: x < 1.0, xp.sqrt],
        *[lambda x: operator.iadd(x, 1.0), lambda x: operator.iadd(x, x), operator.neg],
    ):
        x = shown(memory, view)
        refused((ValueError, TypeError, OverflowError, IndexError), None, call, x)
    if view.size == 1:
        for call in (float, bool, int):
            refused((ValueError, TypeError, IndexError), None, call, shown(memory, view))
    assert memory.tolist() == [*range(10)]


def test_an_array_and_a_view_that_disagree():
    memory = np.arange(10.0)
    for view in (View((1000,)), View((10,), (2,)), View((2, 5)), View(())):
        x = shown(memory, view, array=memory)
        assert not is_answered_in_c(lambda x=x: x + 1.0)
    for array in (memory.astype(np.float32), memory.tolist(), memory.view(np.recarray), Box()):
        x = shown(memory, View((10,)), array=array)
        try:
            x + 1.0
        except (AttributeError, TypeError, ValueError):
            continue
    x = shown(memory, View((10,)), array=memory)
    assert is_answered_in_c(lambda: x + 1.0)


def test_memory_that_gave_way_to_shorter_memory_is_not_read():
    x = shown(np.arange(1000.0), View((1000,)))
    assert float((x + 1.0)[-1]) == 1000.0
    x._handle.array = None
    storage = x._handle.storage
    assert x.shape == (1000,)  # the layout is known again
    assert is_answered_in_c(lambda: x + 1.0)
    y = shown(None, View((1000,)))
    y._handle.storage = storage
    assert is_answered_in_c(lambda: y * 2.0)
    storage.memory = np.arange(2.0)
    refused((ValueError, TypeError), None, lambda: y + 1.0)
    storage.memory = np.arange(2000.0)
    assert float((y + 1.0)[-1]) == 1000.0


def test_memory_taken_from_c_is_none():
    """The deferral empties storages, to have them filled anew."""
    x = own()
    storage = x._handle.storage
    kept = storage.memory
    storage.memory = None
    assert storage.memory is None
    assert kept.tolist() == [1, 2, 3]
    x._handle.array = None
    storage.memory = np.asarray([4.0, 5.0, 6.0])
    assert np.asarray(x + 1.0).tolist() == [5, 6, 7]


@pytest.mark.parametrize("dtype", [5, None, np.dtype(np.complex128), np.dtype(np.int8), "float64"])
def test_a_storage_whose_dtype_was_changed(dtype):
    x = own()
    storage = x._handle.storage
    storage.dtype, storage.itemsize = dtype, 0
    x._handle.array = None
    x._handle.view = View((3,))
    for call in (lambda: x + 1.0, lambda: storage.memory, lambda: x[0], lambda: float(x[2])):
        try:
            call()
        except (AttributeError, TypeError, ValueError, ZeroDivisionError, IndexError):
            continue


def test_a_storage_without_contents():
    storage = Storage.__new__(Storage)
    for name in ("memory", "dtype", "itemsize", "shared", "waits"):
        getattr(storage, name)
    for dtype in (np.dtype(np.float64), None):
        storage.dtype = dtype
        x = shown(None, View((3,)))
        x._handle.storage = storage
        for call in (
            lambda x=x: x + 1.0,
            lambda x=x: float(x),
        ):
            refused((AttributeError, TypeError, ValueError, ZeroDivisionError), None, call)


def test_padding_and_symbols_are_left_to_python():
    memory = np.arange(6.0)
    padded = View((4,)).pad([(1, 2)])
    assert padded.mask is not None
    for make in (
        lambda: [shown(memory.copy(), padded)],
        lambda: [shown(memory.copy(), View((2, 3)).pad([(1, 0), (0, 2)]))],
    ):
        assert not is_answered_in_c(lambda make=make: make()[0] + 1.0)
        for call in (lambda x: x + 1.0, xp.negative, lambda x: x < x, lambda x: x.shape):
            assert_alike(call, make)
    x = shown(memory, View((dynamic("n", min=1, max=6),)))
    for call in (lambda: x + 1.0, lambda: -x):
        refused((TypeError, ValueError, AttributeError), None, call)


def test_what_only_c_knows_of_a_layout_stays_when_python_sets_the_rest():
    """As the classes in Python keep the view when the array is set."""
    for turn in (lambda x: x, lambda x: xp.sin(x.T), lambda x: x + x[:, :1]):
        x = turn(own(np.ones((3, 2))))
        expected = np.asarray(turn(own(np.ones((3, 2)))))
        x._handle.array = None
        assert x._handle.view is not None
        assert np.asarray(x).tolist() == expected.tolist()
        x = turn(own(np.ones((3, 2))))
        x._handle.storage = Storage(np.zeros(6))
        x._handle.array = None
        assert np.asarray(x).tolist() == (0 * expected).tolist()


def test_memory_that_python_code_takes_away_while_it_is_exchanged():
    """A callback that runs when the old memory goes sees the new state or none, nothing freed."""
    x = own()
    x._handle.array = None
    storage = Storage(np.arange(3.0))
    x._handle.view, x._handle.storage = View((3,)), storage
    seen = []

    def look(_):
        seen.append(np.asarray(x * 1.0).tolist())

    memory = storage.memory
    reference = weakref.ref(memory, look)
    del memory
    storage.memory = np.arange(3.0, 6.0)
    assert seen == [[3, 4, 5]]
    reference = weakref.ref(storage, look)
    del storage
    x._handle.storage = Storage(np.arange(6.0, 9.0))
    assert seen[1:] == [[6, 7, 8]]
    del reference


# ---------------------------------------------------------------------- many axes


@pytest.mark.parametrize("ndim", [3, 4, 5, 6, 8, 32, 63, 64])
def test_many_axes(ndim):
    """More than fit into a Tensor itself, up to the most there are."""

    def make(seed):
        rng = np.random.default_rng(seed)
        shape = np.ones(ndim, int)
        shape[rng.choice(ndim, min(ndim, 6), replace=False)] = rng.integers(1, 4, min(ndim, 6))
        x = np.arange(float(shape.prod())).reshape(shape)
        x = x.transpose(rng.permutation(ndim)) if seed % 2 else x
        y = np.asarray(2.0) if seed % 3 else x[..., :1].copy()
        return [xp.asarray(x, copy=seed % 4 == 0), xp.asarray(y)]

    for seed in range(12):
        for call in (
            *[operator.add, operator.lt, operator.imul, lambda x, y: xp.sqrt(x)],
            *[lambda x, y: x * 2.0, lambda x, y: y - x, lambda x, y: (x.shape, x.ndim, len(x))],
            lambda x, y: operator.iadd(x, 1.0),
        ):
            assert_alike(call, lambda seed=seed: make(seed), f"{ndim} axes, seed {seed}")


def test_one_element_of_any_shape():
    for ndim in range(0, 65, 4):
        for dtype in implementations.DTYPES:
            x = xp.ones((1,) * ndim, dtype=dtype)
            for call in (float, int, bool, complex, operator.index, len, abs, lambda x: x.size):
                assert_alike(call, [x], f"{ndim} axes, {dtype}")
