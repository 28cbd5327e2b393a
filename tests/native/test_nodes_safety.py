"""The rules that keep pending operations right (native/expressions/nodes.h), one by one.

Each test fails where one of them is left out; random programs would find most of them, too.
"""

import weakref

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.backends.cpu.engine import threads
from array_api_nx.native import native
from tests.support.implementations import count_pending, needs_native
from tests.support.tables import for_each

pytestmark = [needs_native, pytest.mark.usefixtures("waits_when_small")]


def made(shape, seed=1, dtype="float64"):
    return xp.asarray(np.random.default_rng(seed).uniform(1, 9, shape).astype(dtype))


def host(x):
    return np.array(x)


def export(x):
    np.asarray(x)[...] = 7


WRITES = {
    "element": lambda x: x.__setitem__(0, 100.0),
    "slice": lambda x: x.__setitem__(slice(None, 2), 100.0),
    "all": lambda x: x.__setitem__(..., 100.0),
    "mask": lambda x: x.__setitem__(x > 0, 100.0),
    "in place": lambda x: x.__iadd__(1.0),
    "in place, view": lambda x: x[1:].__imul__(3.0),
    "in place, array": lambda x: x.__isub__(made(x.shape, 5)),
    "expression": lambda x: x.__setitem__(..., made(x.shape, 5) * 2 + 1),
    "exported": export,
    "dlpack": lambda x: np.from_dlpack(x).__setitem__(..., 7),
}
if not np.from_dlpack(np.ones(1)).flags.writeable:  # before NumPy 2.2
    del WRITES["dlpack"]


# ---------------------------------------------------------------------- writes to operands


@for_each("write", WRITES)
@for_each("shape", [(4,), (3,), (1,), (60,), (5, 12)])
@for_each("source", ["lent", "computed", "waiting", "assigned"])
def test_writes_to_operands(source, shape, write):
    """What was recorded before reads the elements from before."""
    x = made((5, 12)) if shape in ((60,), (5, 12)) else made((6, *shape))
    x = x if shape != (60,) else xp.reshape(x, shape)
    y = made(shape)
    if source == "computed":
        y = xp.flip(y)[...] + 0
        float(xp.sum(y))
    elif source == "waiting":
        y = y * 2
    elif source == "assigned":
        value = made(shape) * 3
        y[...] = value
    before = host(y + 0) * host(x)
    z, held = x * y, y * 2 - 1
    second = host(y) * 2 - 1
    WRITES[write](y)
    np.testing.assert_array_equal(host(z), before)
    np.testing.assert_array_equal(host(held), second)


@for_each("write", WRITES)
@for_each("source", ["lent", "computed", "copied"])
def test_writes_to_the_target_of_a_held_value(source, write):
    """The value has become a copy of the target."""
    x, y, target = made(50), made(50, 2), made(50, 3)
    if source == "computed":
        target = target * 2
        float(target[0])
    elif source == "copied":
        target = xp.asarray(target, copy=True)
    value = x * y
    expected = host(value)
    value = x * y
    target[...] = value
    WRITES[write](target)
    np.testing.assert_array_equal(host(value), expected)


UPDATES = {
    "add": lambda z: z.__iadd__(5),
    "power": lambda z: z.__ipow__(2),
    "floor": lambda z: z.__ifloordiv__(2),
    "remainder": lambda z: z.__imod__(2),
    "part": lambda z: z[5:].__imul__(2),
    "assigned": lambda z: z.__setitem__(..., xp.sort(z)),
    "numbers": lambda z: z.__setitem__(slice(3, 20), 3.0),
    "exported": export,
}


@for_each("update", UPDATES)
@for_each("options", [{}, {"fusion_threshold": 0}, {"fusion": "always"}, {"fusion": "off"}])
@pytest.mark.parametrize("size", [50, 600_000])
def test_updates_that_python_computes(size, options, update):
    """They are writes, too: what reads the value in C is computed before."""
    x, y = made(size) + 0, made(size, 2) + 0
    expected = host(x) * host(y)
    for target in ("value", "operand"):
        z = x * y
        other = z + 1
        with xp.config_context(**options):
            UPDATES[update](z if target == "value" else x)
        np.testing.assert_array_equal(host(other), expected + 1)
        if target == "operand":
            np.testing.assert_array_equal(host(z), expected)


def test_memory_that_a_weak_reference_leads_to():
    memory = np.ones(50)
    reference = weakref.ref(memory)
    x = xp.asarray(memory)
    del memory
    value = x + 1
    found = reference()
    assert found is not None
    found[0] = 7
    assert float(value[0]) == 2


@for_each("size", [2, 3, 4, 50])
def test_memory_that_its_owner_writes(size):
    """However few elements are in it."""
    memory = np.ones(size)
    x, y = made((6, size)), xp.asarray(memory)
    expected = host(x) + 1
    value = x + y
    memory[...] = 7
    np.testing.assert_array_equal(host(value), expected)


def test_memory_below_memory_that_others_hold():
    memory = np.ones(100)
    x = xp.asarray(memory[::2])
    value = x + 1
    memory[0] = 7
    assert float(value[0]) == 2


@for_each("size", [50, 5000, 70_000])
def test_shared_memory_is_read_during_a_compiled_function(size):
    function = xp.compile(lambda x: ((x * 2 + 1) * x, x - 1))
    memory = np.arange(float(size))
    for number in range(4):
        memory[1] = number
        first, second = function(xp.asarray(memory))
        memory[1] = 100.0
        np.testing.assert_array_equal(host(first)[1:3], [number * (number * 2 + 1), 10])
        assert float(second[1]) == number - 1


# ---------------------------------------------------------------------- operands


@for_each("ndim", [6, 7, 8, 12])
def test_arrays_of_many_axes(ndim):
    x, y = made((2,) * ndim), made((2,) * (ndim - 1) + (1,), 2)
    np.testing.assert_array_equal(host((x * y + 1) / x), (host(x) * host(y) + 1) / host(x))


@for_each("function", [lambda m, x: x + 1, lambda m, x: m.exp(x), lambda m, x: x * x - x])
@for_each(
    "view",
    [
        lambda x: x.T,
        lambda x: x[::-1],
        lambda x: x[:, ::-1],
        lambda x: x.T[::2],
        lambda x: x[::3, 1:],
        lambda x: x[:, :1],
    ],
)
def test_results_lie_as_numpys(view, function):
    mine = np.random.default_rng(1).random((12, 9))
    result = np.asarray(function(xp, view(xp.asarray(mine.copy()))))
    expected = function(np, view(mine))
    np.testing.assert_array_equal(result, expected)
    assert result.strides == expected.strides


def test_loops_whose_bits_depend_on_the_layout_do_not_wait_for_views():
    x = made((12, 9))
    for view in (x[::2], x[:, :5], x[:, :1] + xp.zeros((12, 9))):
        before = count_pending()
        value = xp.exp(view)
        waits = view.shape == (12, 9)
        assert count_pending() - before <= (2 if waits else 0)
        np.testing.assert_array_equal(host(value), np.exp(host(view)))


def test_values_in_other_shapes():
    x, y = made((6, 6)), made((6, 6), 2)
    expected = host(x) * host(y)
    changes = [
        lambda z: z.T,
        lambda z: z[::-1, :],
        lambda z: z[:, 1:],
        lambda z: z[None],
        lambda z: z.reshape((36,)),
    ]
    for change in changes:
        z = x * y
        value = change(z) + 1
        np.testing.assert_array_equal(host(value), change(expected) + 1)
        z = x * y
        target = made(change(expected).shape, 3)
        target[...] = change(z)
        np.testing.assert_array_equal(host(target), change(expected))


def test_operations_of_one_form_have_plans_of_their_own():
    """Loops may share a function, and differ in its data."""
    x = made(50)
    names = """sin cos tan asinh acosh atan sinh cosh tanh exp expm1 log log1p log2 log10 sqrt
        square abs floor ceil trunc sign signbit isnan isinf isfinite reciprocal positive
        negative"""
    for name in names.split():
        value = getattr(xp, name)(x + 1)
        expected = getattr(np, name)(host(x) + 1)
        np.testing.assert_array_equal(host(value), expected, name)


@for_each("count", [31, 32, 33, 70])
def test_many_values_that_are_held(count):
    x = made(50)
    values = [x * 2]
    for number in range(count):
        values.append(values[-1] * 0.5 + number)
    total = values[-1] + 1
    expected = host(x) * 2
    assert float(total[0]) > 0
    for number, value in enumerate(values):
        np.testing.assert_array_equal(host(value), expected)
        expected = expected * 0.5 + number


@for_each("kind", ["arrays", "numbers"])
@for_each("count", [255, 256, 257, 390])
def test_many_operands(count, kind):
    operands = [made(50, number) for number in range(count)]
    value, expected = made(50) + 0, host(made(50))
    for number, operand in enumerate(operands):
        value = value + (operand if kind == "arrays" else number * 1.25)
        expected = expected + (host(operand) if kind == "arrays" else number * 1.25)
    np.testing.assert_array_equal(host(value), expected)


def test_finalisers_of_operands_that_read_stored_values():
    """Operands are dropped one after the other; some values still have theirs then."""
    seen = []

    class Owner:
        def __init__(self, memory):
            self.memory = memory
            self.__array_interface__ = memory.__array_interface__

        def __del__(self):
            seen.extend([float(value[3]) for value in held])

    held = []
    memory = np.random.default_rng(1).random(50)
    y = made(50)
    owned = [xp.asarray(np.asarray(Owner(memory + number))) for number in range(4)]
    for x in owned:
        held.append((held[-1] if held else y) * x)
    mine = host(y)
    del owned, x
    total = held[-1] + 1
    found = host(total)
    for number, value in enumerate(held):
        mine = mine * (memory + number)
        np.testing.assert_array_equal(host(value), mine)
    np.testing.assert_array_equal(found, mine + 1)
    assert len(seen) == 16
    held.clear()


# ---------------------------------------------------------------------- assignment


def test_operands_above_the_target_that_are_written_earlier():
    """The held value becomes a copy of memory whose axes are turned."""
    mine = np.random.default_rng(1).random((90, 70))
    x = xp.asarray(mine.copy())
    a, b = made((69, 89)), made((69, 89), 2)
    value, expected = a * b, host(a) * host(b)
    x.T[:-1, 1:] = value
    mine.T[:-1, 1:] = expected
    x.T[1:, :-1] = value + 1
    mine.T[1:, :-1] = expected + 1
    np.testing.assert_array_equal(host(x), mine)
    np.testing.assert_array_equal(host(value), expected)


STATEMENTS = {
    "one order": lambda m, x: (x[:-1], x[1:] * 2),
    "one call": lambda m, x: (x[:-1], m.sin(x[1:])),
    "two places": lambda m, x: (x[:-1], x[1:] - x[:-1]),
    "two places, reversed": lambda m, x: (x[:-1], x[:-1] - x[1:]),
    "several": lambda m, x: (x[:-1], (x[1:] - x[:-1]) * x[1:] + 1),
    "several calls": lambda m, x: (x[:-1], m.sin(x[1:]) * m.cos(x[:-1])),
    "below": lambda m, x: (x[1:], x[:-1] * 2 + 1),
    "in place": lambda m, x: (x, m.sin(x) - x * 0.5),
    "rows": lambda m, x: (m.reshape(x, (400, -1))[:-1], m.reshape(x, (400, -1))[1:] * 2),
    "columns": lambda m, x: (m.reshape(x, (400, -1))[:, :-1], m.reshape(x, (400, -1))[:, 1:] - 1),
}  # fmt: skip


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("name", STATEMENTS)
def test_statements_over_their_operands_on_threads(name, count):
    mine = np.random.default_rng(1).random(400_000)
    x = xp.asarray(mine.copy())
    with xp.config_context(num_threads=count):
        for _ in range(4):
            for m, array in ((np, mine), (xp, x)):
                target, value = STATEMENTS[name](m, array)
                target[...] = value
            np.testing.assert_array_equal(host(x), mine)


@for_each(
    ("target", "value"),
    [
        ((1, 50), (50,)),
        ((1, 1, 50), (50,)),
        ((1, 5, 10), (5, 10)),
        ((3, 50), (50,)),
        ((4, 5, 10), (5, 10)),
        ((4, 5, 10), (1, 10)),
        ((5, 10), (5, 1)),
        ((5, 10), (1, 5, 10)),
    ],
)
def test_targets_of_other_shapes(target, value):
    a, b, memory = made(value), made(value, 2), made((8, *target), 3)
    wide = made((*target[:-1], 2 * target[-1]), 4)
    for x in (memory[2], memory[3:4], wide[..., ::2]):
        mine = host(x)
        wanted = host(a) * host(b) + 1
        mine[...] = wanted[0] if wanted.ndim > mine.ndim else wanted
        x[...] = a * b + 1
        np.testing.assert_array_equal(host(x), mine)


@for_each("dtype", ["int64", "float32", "int8", "bool"])
def test_values_of_other_dtypes(dtype):
    """They are cast first; what would lose data is refused."""
    a, b = made(50, dtype=dtype), made(50, 2, dtype=dtype)
    x = xp.zeros(50)
    x[...] = xp.astype(a & b if dtype == "bool" else a * b, xp.float64)
    expected = (host(a) & host(b) if dtype == "bool" else host(a) * host(b)).astype(float)
    np.testing.assert_array_equal(host(x), expected)
    if dtype != "bool":
        x[...] = a * b
        np.testing.assert_array_equal(host(x), expected)


def test_memory_of_two_dtypes():
    mine = np.random.default_rng(1).random(60)
    x = xp.asarray(mine.copy())
    for start in (0, 1):
        halves = mine.view(np.float32)[start::2].astype(float)
        mine[...] = halves * 2 + mine
        x[...] = xp.astype(x.view(xp.float32)[start::2], xp.float64) * 2 + x
        np.testing.assert_array_equal(host(x), mine)
    mine.view(np.int64)[1:] = mine.view(np.int64)[:-1] + 3
    x.view(xp.int64)[1:] = x.view(xp.int64)[:-1] + 3
    np.testing.assert_array_equal(host(x), mine)


def test_a_held_value_that_was_assigned_to_shared_memory():
    memory = np.zeros(50)
    target = xp.asarray(memory)
    a, b = made(50), made(50, 2)
    value, expected = a * b, host(a) * host(b)
    target[...] = value
    memory[...] = 7
    np.testing.assert_array_equal(host(value), expected)


def test_a_value_that_is_computed_while_threads_are_counted():
    """The settings are asked for by Python code, which may do so."""
    assert native is not None
    value = None

    def count():
        if value is not None and not asked:
            asked.append(True)
            float(value[0])
        return threads.count()

    asked = []
    a, b, target = made(200_000), made(200_000, 2), xp.zeros(200_000)
    native.set_thread_count(count, False)
    try:
        value = a * b + 1
        target[...] = value
        value = (a * b + 1) * a
        asked.clear()
        total = xp.max(value)
    finally:
        native.set_thread_count(threads.count, True)
    np.testing.assert_array_equal(host(target), host(a) * host(b) + 1)
    assert float(total) == ((host(a) * host(b) + 1) * host(a)).max()
    assert asked


# ---------------------------------------------------------------------- limits


def test_compiled_functions_leave_the_limits():
    """Groups have all operations wait while they are prepared."""
    function = xp.compile(lambda x: (x * 2 + 1) * x - x)
    x = xp.ones(3)
    for _ in range(3):
        assert float(function(x)[0]) == 2
    before = count_pending()
    value = x + 1
    assert count_pending() == before
    assert float(value[0]) == 2


def test_operations_that_wait_are_bounded():
    x = made(50)
    values = [x + number for number in range(3000)]
    assert count_pending() <= 1024
    for number, value in enumerate(values):
        assert float(value[3]) == float(x[3]) + number
