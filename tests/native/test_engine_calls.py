"""Calls of compiled functions whose programs another engine has compiled, on an engine made up
here: what its arrays and functions do while C uses them must not matter."""

import gc
import sys
import weakref

import pytest

import array_api_nx as xp
from array_api_nx.contract.strided import Tensor
from array_api_nx.native import native
from tests.support import implementations
from tests.support.refusals import refused

pytestmark = implementations.needs_native


class Backend:
    pass


class Device:
    def __init__(self):
        self.backend = Backend()


class EngineArray:
    """An array of shape (2, 3), of which `asked` is called whenever its shape is."""

    def __init__(self, asked=lambda: None):
        self.asked = asked
        self.is_packed = True

    @property
    def shape(self):
        self.asked()
        return 2, 3

    def packed(self):
        return self.is_packed


def wrapped(engines, device):
    tensor = Tensor()
    tensor.array = engines
    tensor.view = tensor.storage = None
    array = xp.Array()
    array._handle, array._dtype, array._device = tensor, xp.float64, device
    return array


def fallen_back(caller, *arguments):
    return "the Python function"


def compiled(device, compute, count=1, results=None, is_tuple=False):
    """A compiled function whose program takes `count` arrays."""
    assert native is not None
    function = type("Function", (native.ProgramCaller,), {"_run": fallen_back})()
    function._program = (
        compute, device.backend, device, (((2, 3), xp.float64),) * count, "packed",
        ((0, xp.float64),) if results is None else results, is_tuple,
    )  # fmt: skip
    return function


def test_calls_compute():
    device = Device()
    x, y = EngineArray(), EngineArray()
    call = compiled(device, lambda a, b: [a, (a, b)], 2, ((1, xp.float64), (0, xp.bool)), True)
    pair, first = call(wrapped(x, device), wrapped(y, device))
    assert pair._handle.array == (x, y)
    assert first._handle.array is x
    assert (pair.dtype, first.dtype) == (xp.float64, xp.bool)
    assert pair.device is device


def test_other_arguments_are_left_to_python():
    device = Device()
    call = compiled(device, lambda a: [a])
    x = EngineArray()
    assert call(wrapped(x, device))._handle.array is x
    left = "the Python function"
    assert call(wrapped(x, Device())) == left
    assert call(wrapped(None, device)) == left
    assert call(xp.Array()) == left
    assert call(x) == left
    assert call() == call(*[wrapped(x, device)] * 2) == left
    x.is_packed = False
    assert call(wrapped(x, device)) == left
    x.is_packed = True
    device.backend = Backend()
    assert call(wrapped(x, device)) == left


def test_arrays_outlive_a_look_at_them():
    """While an engine tells the shape, another thread may write to the array, which then has
    another one of the engine: the one that was asked is used until the end."""
    device = Device()
    alive = []

    def look():
        argument._handle.array = None

    def compute(array):
        alive.append(reference() is array)
        return ["computed"]

    engines = EngineArray(look)
    reference = weakref.ref(engines)
    argument = wrapped(engines, device)
    del engines
    result = compiled(device, compute)(argument)
    assert alive == [True]
    assert result._handle.array == "computed"
    gc.collect()
    assert reference() is None


def test_an_array_that_is_given_twice_is_one_input_of_the_program():
    device = Device()
    x, y = wrapped(EngineArray(), device), wrapped(EngineArray(), device)
    call = compiled(device, lambda a, b: [(a, b)], 2)
    program, left = call._program, "the Python function"
    assert call(x, y)._handle.array == (x._handle.array, y._handle.array)
    assert call(x, x) == left
    call._keep_program(program, (0, 1, 0))
    assert call(x, y, x)._handle.array == (x._handle.array, y._handle.array)
    assert call(x, y) == call(x, x, y) == call(x, x, x) == call(x, y, y) == call() == left
    for places in ((0, 1.0), [0, 1], None):
        refused(TypeError, "_keep_program takes", call._keep_program, program, places)
    call._program = program
    assert call(x, y, x) == left
    assert call(y, x)._handle.array == (y._handle.array, x._handle.array)


@pytest.mark.parametrize("count", [1, 3])
def test_errors_of_the_engine_leave_nothing_behind(count):
    device = Device()

    def fail(*ignored):
        raise ValueError("no")

    class WithoutShape:
        @property
        def shape(self):
            fail()

    class WithoutTruth(EngineArray):
        def packed(self):
            return self

        def __bool__(self):
            return bool(fail())

    good = EngineArray()
    arguments = [wrapped(good, device) for _ in range(count)]
    results = ((0, xp.float64), (0, xp.float64))

    def interrupt(*ignored):
        raise KeyboardInterrupt

    calls = [
        (compiled(device, interrupt, count), arguments[-1], KeyboardInterrupt),
        (compiled(device, lambda *arrays: 5, count), arguments[-1], TypeError),
        (compiled(device, lambda *arrays: [], count, results, True), arguments[-1], SystemError),
        (
            compiled(device, lambda *arrays: arrays, count),
            wrapped(WithoutShape(), device),
            ValueError,
        ),
        (
            compiled(device, lambda *arrays: arrays, count),
            wrapped(WithoutTruth(), device),
            ValueError,
        ),
    ]
    failing = compiled(device, fail, count)  # whose errors Python is to explain
    before = 0, 0
    for number in range(20):
        assert failing(*arguments) == "the Python function"
        for call, last, error in calls:
            refused(error, None, call, *arguments[:-1], last)
        gc.collect()
        if number == 10:
            before = sys.getrefcount(good), len(gc.get_objects())
    assert sys.getrefcount(good) == before[0]
    assert len(gc.get_objects()) <= before[1] + 5
