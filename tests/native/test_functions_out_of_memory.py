"""Every allocation that a call makes fails in turn: the call raises MemoryError or gives the right
result, and nothing is damaged or left behind."""

import gc
import operator
import sys
import weakref
from contextlib import contextmanager, suppress

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.contract import events
from array_api_nx.contract.strided import Storage, Tensor
from array_api_nx.core.view import View
from array_api_nx.device import CPU
from tests.native import test_functions_leaks as leaks
from tests.support import examples, implementations
from tests.support.tables import for_each

try:
    from _testcapi import remove_mem_hooks, set_nomemory
except ImportError:
    set_nomemory = None

pytestmark = [
    implementations.needs_native,
    pytest.mark.skipif(set_nomemory is None, reason="Python was built without _testcapi"),
]

MOST = 400
"""More allocations than any call here makes."""


@pytest.fixture(autouse=True)
def _no_collection():
    """No allocation of the garbage collector's own fails: it could report that to nobody."""
    gc.disable()
    yield
    gc.enable()


def is_of_memory(error):
    """Also the SystemErrors by which Python 3.11 reports that a ufunc of NumPy 2.4, or some code of
    its own, failed without saying so; both happen without our extension, too."""
    return isinstance(error, MemoryError) or (
        isinstance(error, SystemError)
        and str(error).startswith(("<ufunc ", "error return without exception set"))
    )


@contextmanager
def failing(number):
    """One allocation fails. The objects that wait to be used again (results.c) are in use,
    so that nothing comes from there."""
    held = [xp.zeros(1) for _ in range(80)]
    held += [held[0][:] for _ in range(80)]
    set_nomemory(number, number + 1)
    try:
        yield
    finally:
        remove_mem_hooks()
        events._unobserved.set(False)  # the end of its context may have failed, too
        del held


def fail_each(call, *arguments):
    """Call it with its first allocation failing, then its second ..., until none fails.

    Returns
    -------
    failed : int
        How often there was a MemoryError.
    result
        Of the last call.
    """
    failed = 0
    for start in range(MOST):
        error = result = None
        try:
            with failing(start):
                result = call(*arguments)
        except BaseException as caught:
            error = caught
        if error is None:
            # Python itself goes without some memory, so that this may not be the end.
            if start > 40 + failed:
                return failed, result
            continue
        if is_of_memory(error):
            failed += 1
            error.__traceback__ = None
            continue
        return failed, error
    raise AssertionError(f"{MOST} allocations were not enough")


SOURCES = {
    "row-major": lambda: xp.positive(xp.asarray([[1.0, 4.0], [9.0, 16.0]])),
    "turned": lambda: xp.positive(xp.asarray([[1.0, 4.0], [9.0, 16.0]])).T,
    "stepped": lambda: xp.positive(xp.ones((4, 6)))[::2, ::3],
    "many axes": lambda: xp.ones((1,) * 7 + (2, 2)),
    "larger": lambda: xp.ones((90, 100)),
    "lent": lambda: xp.asarray(np.ones((2, 2)), copy=False),
}
CALLS = {
    "add": operator.add, "xp.add": xp.add, "less": operator.lt, "floordiv": operator.floordiv,
    "scalar": lambda x, y: x * 2.0, "reflected": lambda x, y: 2 - x, "square": lambda x, y: x**2,
    "sqrt": lambda x, y: xp.sqrt(x), "negative": lambda x, y: -x, "in place": operator.iadd,
    "in place, scalar": lambda x, y: operator.imul(x, 2.0), "shape": lambda x, y: x.shape,
    "size": lambda x, y: x.size, "length": lambda x, y: len(x),
    "view": lambda x, y: (x + y)._handle.view, "array": lambda x, y: (x + y)._handle.array,
    "memory": lambda x, y: (x + y)._handle.storage.memory,
    "float": lambda x, y: float(x[(0,) * x.ndim]),
}  # fmt: skip


@for_each("source", SOURCES)
@pytest.mark.parametrize("name", CALLS)
def test_results_are_right_or_missing(name, source):
    call = CALLS[name]
    x, y = SOURCES[source](), SOURCES[source]()
    x + y, call(SOURCES[source](), y)  # so that what is asked once is known
    before = implementations.describe(x)
    if name.startswith("in place"):
        # May have happened or not, but as a whole.
        expected = np.asarray(call(SOURCES[source](), y))
        for start in range(30):
            x = SOURCES[source]()
            old = np.array(x)
            try:
                with failing(start):
                    call(x, y)
                error = None
            except (MemoryError, SystemError) as caught:
                error = caught
            assert error is None or is_of_memory(error)
            after = np.asarray(x)
            assert np.array_equal(after, expected) or (error and np.array_equal(after, old))
        return
    expected = implementations.describe(call(x, y))
    _, result = fail_each(call, x, y)
    assert implementations.describe(result) == expected or isinstance(result, View | tuple)
    assert implementations.describe(x) == before


# `repr` and `list` make many calls each.
@for_each("name", [name for name in leaks.CALLABLES if name not in ("repr()", "list()")])
def test_every_callable(name):
    """With the arguments that C answers; errors are those of the call, or MemoryError."""
    call = leaks.CALLABLES[name]
    for arguments in leaks._arguments(name)[:9]:
        if type(arguments[0]) is xp.Array and arguments[0].size > 1000:
            continue
        try:
            call(*arguments)
            expected = None
        except Exception as error:
            expected = type(error)
        for start in range(12):
            try:
                with failing(start):
                    call(*arguments)
                found = None
            except BaseException as error:
                found = MemoryError if is_of_memory(error) else type(error)
            assert found in (expected, None, MemoryError), (name, start, found)


@for_each("name", examples.EXAMPLES)
def test_every_other_implementation(name):
    for call in examples.EXAMPLES[name]:
        expected = None if name.startswith("empty") else implementations.describe(call())
        settings = np.geterr()
        failed, result = fail_each(call)
        assert failed or name in NO_MEMORY
        assert np.geterr() == settings  # which some calls change for a time
        if expected is not None:
            assert implementations.describe(result) == expected


NO_MEMORY = {"__dlpack_device__", "can_cast", "evaluate", "fill", "isdtype", "result_type"}
"""Functions that need none."""


def test_nothing_is_left():
    """A hundred times through all failures: no more blocks than before, and no array lives on."""
    x, y = SOURCES["stepped"](), SOURCES["row-major"]()
    calls = (operator.add, operator.lt, lambda x, y: xp.sqrt(x), lambda x, y: x * 3.0)
    for call in calls:  # at first NumPy is asked for `ufunc.types`, which crashes without memory
        leaks.look_into(call(x, y))

    def go(x):
        for call in calls:
            for start in range(12):
                with suppress(MemoryError), failing(start):
                    leaks.look_into(call(x, y))

    for _ in range(5):
        go(x)
    gc.collect()  # what other tests left refers to dtypes, too
    counts = [sys.getrefcount(one) for one in (x, y, xp.float64, CPU, xp.bool)]
    before = sys.getallocatedblocks()
    for _ in range(100):
        go(x)
    gc.collect()
    assert sys.getallocatedblocks() - before < 50
    after = [sys.getrefcount(one) for one in (x, y, xp.float64, CPU, xp.bool)]
    assert all(abs(a - b) < 20 for a, b in zip(after, counts, strict=True))
    died = weakref.ref(x)
    del x
    gc.collect()
    assert died() is None


def test_objects_made_and_filled():
    memory, views = np.arange(6.0), (View((2, 3)), View((1,) * 6 + (6,)))

    def make():
        x = xp.Array()
        x._handle = tensor = Tensor()
        x._dtype, x._device = xp.float64, CPU
        for view in views:
            tensor.view = view
            tensor.storage = Storage(memory)
            assert x.size == 6
            tensor.array = None
        return x + 1.0

    _, result = fail_each(make)
    assert np.asarray(result).ravel().tolist() == [1, 2, 3, 4, 5, 6]
