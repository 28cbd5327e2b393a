"""Calls of the C core leave no references and no memory behind: on all paths, also those that
decline or fail, and when threads drop what others compute with.

ARRAY_API_NX_LEAK_CALLS says how often each is called in the way that C answers, 100,000 times by
default; a fiftieth as often in all ways.
"""

import gc
import operator
import os
import sys
import tracemalloc
from contextlib import suppress
from functools import partial

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.contract.strided import Storage, Tensor
from array_api_nx.core.view import View
from array_api_nx.frontend import elementwise
from tests.support import examples, implementations
from tests.support.tables import for_each
from tests.support.threads import together

pytestmark = implementations.needs_native

CALLS = int(os.environ.get("ARRAY_API_NX_LEAK_CALLS", "100000"))


class Refusal:
    """No operand; raises from whatever a conversion may ask."""

    def __index__(self):
        raise RuntimeError("no index")

    __float__ = __bool__ = __complex__ = __index__


X = xp.positive(xp.asarray([[1.0, -2.0, 3.0], [0.0, 5.0, 6.0]]))
ROW = xp.positive(xp.asarray([1.0, 2.0, 4.0]))
ODD = X[:, ::2]
INTS = xp.asarray([[7, 2, 3]])
ONE = xp.asarray(2)
DEEP = xp.ones((1,) * 40)
LARGE = xp.ones(3000)
LENT = xp.asarray(np.arange(6.0).reshape(2, 3), copy=False)
LOCKED = xp.broadcast_to(ROW, (2, 3))

OPERANDS = [
    *[(X, X), (X, ROW), (X, 2.0), (3, X), (ODD, ODD), (X.T, X.T), (ODD, 1.5), (INTS, INTS)],
    *[(INTS, 3), (DEEP, DEEP), (DEEP, X), (LENT, X), (LOCKED, X), (X, LOCKED), (LARGE, LARGE)],
    # Declined, or wrong.
    *[(X, INTS), (X, xp.ones(7)), (X, None), (INTS, 10**30), (INTS, 1.5), (INTS, -1), (X, 1j)],
    *[(X, Refusal()), (X, np.float64(1)), (X, "text"), (xp.asarray([True]), True), (X, 1e400)],
    *[(xp.ones((0, 3)), X), (LENT, LENT[::-1, :]), (INTS, 0), (X, np.ones(3))],
]


def look_into(x):
    """Have everything made that Python code may ask an array for."""
    return x.shape, x._handle.view, x._handle.array, x._handle.storage.memory


def _swallow(call, *arguments):
    with suppress(Exception):
        call(*arguments)


CALLABLES = {}
for _name, _function in vars(elementwise).items():
    if type(_function) is type(xp.add) and _function.__module__ == elementwise.__name__:
        CALLABLES[_name] = _function
OPERATORS = (
    *["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and_", "or_", "xor", "lshift"],
    *["rshift", "matmul", "lt", "le", "eq", "ne", "gt", "ge", "neg", "pos", "abs", "invert"],
)
for _name in OPERATORS:
    CALLABLES[f"operator.{_name}"] = getattr(operator, _name)
    if f"i{_name.strip('_')}" in vars(operator):
        CALLABLES[f"operator.i{_name}"] = getattr(operator, f"i{_name.strip('_')}")
for _call in (float, int, bool, complex, len, operator.index, list, repr):
    CALLABLES[f"{_call.__name__}()"] = _call
for _name in ("shape", "ndim", "size", "T", "dtype", "device", "_handle"):
    CALLABLES[f".{_name}"] = operator.attrgetter(_name)
SLOW = {"list()", "repr()"}


def _arguments(name):
    """Those that the callable takes at all."""
    call = CALLABLES[name]
    single = name.startswith(".") or name.endswith(")")
    single = single or name.removeprefix("operator.") in ("neg", "pos", "abs", "invert")
    if name in vars(elementwise):
        from inspect import signature

        single = len(signature(call).parameters) == 1
    chosen = OPERANDS
    if single:
        chosen = [(x,) for x, _ in OPERANDS if type(x) is xp.Array] + [(ONE,), (ROW[0],)]
    if name in SLOW:
        chosen = chosen[:6]
    elif single:
        return [*chosen, (None,), (ROW[0], 1), ()]
    return chosen if single else [*chosen, (), (X,), (X, X, X)]


def _rounds(name):
    """How often the arguments are gone through."""
    return max(2, CALLS // 50 // len(_arguments(name)) // (10 if name in SLOW else 1))


def _blocks():
    gc.collect()
    return sys.getallocatedblocks()


def _references(objects):
    """How many there are to each, while all arrays that wait to be used again are of float64."""
    held = [xp.zeros(1) for _ in range(80)]
    held += [held[0][:] for _ in range(80)]
    del held
    return [sys.getrefcount(x) for x in objects]


@pytest.mark.parametrize("name", CALLABLES)
@for_each("mode", ["ignore", "raise"])
def test_no_objects_are_left(name, mode):
    """Of what Python allocates, nor references to what lives for ever."""
    call, cases = CALLABLES[name], _arguments(name)
    lasting = [None, NotImplemented, True, xp.float64, X.device, xp.bool, np.dtype(float), 0, ()]

    def go(rounds):
        for _ in range(rounds):
            for arguments in cases:
                _swallow(call, *arguments)

    rounds = _rounds(name)
    limit = max(9, rounds * 3 // 4)  # an object left by one call in each round is more
    with np.errstate(all=mode):
        go(2)
        arrays = [x for operands in cases for x in operands if type(x) is xp.Array]
        gc.collect()
        references = _references(lasting)
        operands = [sys.getrefcount(x) for x in arrays]
        grown = []
        for _ in range(6):  # Python and NumPy keep some blocks for later, in the end no more
            before = _blocks()
            go(rounds)
            grown.append(_blocks() - before)
            if grown[-1] < limit:
                break
    assert grown[-1] < limit, f"{grown} blocks in {rounds} rounds"
    assert [sys.getrefcount(x) for x in arrays] == operands
    for x, before, after in zip(lasting, references, _references(lasting), strict=True):
        assert abs(after - before) < limit, x


ANSWERED = {
    **{name: (X, X) for name in CALLABLES if len(_arguments(name)[0]) == 2},
    **{name: (X,) for name in CALLABLES if len(_arguments(name)[0]) == 1},
    **{f"{name}()": (xp.asarray(1.0),) for name in ("float", "bool")},
    **{f"{name}()": (xp.asarray(2),) for name in ("int", "operator.index", "index")},
    "len()": (X,),
}


def test_calls_that_c_answers_leave_nothing():
    """Each 100,000 times: no block more, and no reference."""
    tested = 0
    for name, call in CALLABLES.items():
        # Few operations report floating-point errors for these elements, which would not be C's.
        arguments = tuple([xp.full_like(x, 1) if x.ndim else +x for x in ANSWERED[name]])
        if "matmul" in name or not _is_answered(call, arguments):
            continue
        tested += 1
        count = sys.getrefcount(arguments[0])
        for _ in range(3):
            before = sys.getallocatedblocks()
            for _ in range(CALLS):
                call(*arguments)
            grown = sys.getallocatedblocks() - before
            if grown < 50:
                break
        assert grown < 50, f"{name}: {grown} blocks in {CALLS} calls"
        assert abs(sys.getrefcount(arguments[0]) - count) < 10, name
    assert tested > 80


def test_there_is_an_example_of_every_implementation():
    assert examples.all_but_elementwise() <= set(examples.EXAMPLES)


EXAMPLES = [(name, i) for name, calls in examples.EXAMPLES.items() for i in range(len(calls))]


# With older versions of NumPy some are not answered in C.
@pytest.mark.parametrize(("name", "number"), EXAMPLES)
def test_calls_of_other_implementations_leave_nothing(name, number):
    """All are answered in C, and a tenth as often as above leave no block and no reference."""
    call, arguments = examples.EXAMPLES[name][number], (examples.X, examples.ODD, examples.INTS)
    assert implementations.is_answered_in_c(call)
    before = [sys.getrefcount(x) for x in arguments]
    for _ in range(3):
        blocks = sys.getallocatedblocks()
        for _ in range(CALLS // 10):
            call()
        grown = sys.getallocatedblocks() - blocks
        if grown < 50:
            break
    assert grown < 50, f"{grown} blocks in {CALLS // 10} calls"
    assert [sys.getrefcount(x) for x in arguments] == before


def _is_answered(call, arguments):
    try:
        return implementations.is_answered_in_c(call, *arguments)
    except TypeError:
        return False


def _resident():
    """Bytes of memory of the process, or None where nobody says."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return None


@pytest.mark.skipif(_resident() is None, reason="there is no /proc here")
@pytest.mark.skipif("LD_PRELOAD" in os.environ, reason="sanitizers keep freed memory")
def test_the_process_does_not_grow():
    """Memory from malloc, too: layouts of many axes, results of 3000 elements, exported arrays."""

    def go(count):
        for _ in range(count):
            DEEP + DEEP
            LARGE * LARGE
            np.asarray(X + ROW).sum()
            y = X * 2.0
            y += ODD[:, :1]
            look_into(y)
            _swallow(operator.iadd, LOCKED, X)

    rounds = max(1000, CALLS // 20)
    go(1000)
    grown = []
    for _ in range(
        3
    ):  # the process may take memory for something else meanwhile, but not each time
        gc.collect()
        before = _resident()
        go(rounds)
        gc.collect()
        grown.append(_resident() - before)
        if grown[-1] < 2**20 + rounds * 8:
            break
    assert grown[-1] < 2**20 + rounds * 8, f"{grown} bytes in {rounds} rounds"


def test_objects_filled_and_emptied_leave_nothing():
    memory, deep = np.arange(6.0), View((1,) * 40)

    def go(count):
        for _ in range(count):
            tensor = Tensor()
            for view in (View((2, 3)), deep, None, View((9,)), View((2, 3))):
                tensor.view = view
                x = xp.Array()
                x._handle, x._dtype, x._device = tensor, xp.float64, X.device
                tensor.storage = storage = Storage(memory)
                _swallow(operator.neg, x)
                _swallow(getattr, x, "shape")
                tensor.array = None
                storage.memory = None
                _swallow(delattr, tensor, "view")
                _swallow(setattr, tensor, "storage", 1)
            _swallow(Storage, None)
            _swallow(Storage)
            _swallow(Tensor, 1)

    go(20)
    count = max(100, CALLS // 200)
    grown = []
    for _ in range(4):
        before = _blocks()
        go(count)
        grown.append(_blocks() - before)
    assert min(grown) < count // 4, grown


def test_memory_of_numpy_is_freed():
    """What tracemalloc sees, NumPy's memory among it, does not grow."""
    tracemalloc.start()
    try:
        for rounds in (10, 200):
            gc.collect()
            before = tracemalloc.get_traced_memory()[0]
            for _ in range(rounds):
                y = LARGE + LARGE
                y *= 2.0
                z = xp.sqrt(xp.ones(16000))
                np.asarray(z)
            del y, z
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] - before < 10000
    finally:
        tracemalloc.stop()


def test_threads_share_write_and_drop_arrays():
    """Eight threads compute with, write to and replace the same arrays; the elements stay whole and
    nothing is left."""
    start = xp.positive(xp.asarray(np.full((4, 5), 1.0)))
    shared = [start for _ in range(8)]
    rounds = max(200, CALLS // 250)
    interval = sys.getswitchinterval()

    def work(seed):
        rng = np.random.default_rng(seed)
        for _ in range(rounds):
            i, j, k = rng.integers(0, 8, 3)
            x, y = shared[i], shared[j]
            z = x + y if k % 2 else xp.sqrt(abs(x * y))
            z += x.T.T
            z *= 0.25
            shared[k] = z
            x *= 1.0
            assert z.shape == (4, 5)
            np.asarray(shared[j])
            look_into(shared[k])
            shared[i] = xp.positive(start)

    sys.setswitchinterval(1e-6)
    try:
        together(*[partial(work, seed) for seed in range(8)])
    finally:
        sys.setswitchinterval(interval)
    for x in shared:
        assert bool(xp.all(xp.isfinite(x)))
    assert np.asarray(start).tolist() == [[1.0] * 5] * 4


def test_views_are_given_back():
    x = xp.positive(xp.ones((3, 5)))
    view = x._handle.view
    count = sys.getrefcount(view)
    for _ in range(50):
        y = xp.positive(x)
        assert y._handle.view is view
    del y
    assert sys.getrefcount(view) <= count + 1
