"""Random programs give the same elements at once, deferred, compiled, and on any number of threads.

Sums of floating-point numbers have the same bits on any number of threads and in compiled
functions, and differ in rounding between the engines; other elements have the same bits in all.
"""

from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np
import pytest

import array_api_nx as xp
from tests.support.implementations import needs_native, python_answers
from tests.support.programs import NDArray, assert_same, recorded_from, settings

pytestmark = needs_native

Shape = tuple[int, ...]
Key = tuple[slice, ...]

UNARY = {
    "abs": xp.abs, "negative": lambda x: -x, "square": xp.square,
    "exp": lambda x: xp.exp(xp.minimum(x, 3.0)), "sqrt": lambda x: xp.sqrt(xp.abs(x)),
    "sign": xp.sign,
}  # fmt: skip
OF_INTEGERS = ("abs", "negative", "square", "sign")
BINARY = {
    "add": lambda x, y: x + y, "subtract": lambda x, y: x - y, "multiply": lambda x, y: x * y,
    "maximum": xp.maximum, "minimum": xp.minimum,
    "divide": lambda x, y: x / (xp.abs(y) + 0.5) if x.dtype != xp.int64 else x // 3,
}  # fmt: skip
UPDATES = {
    "add": lambda x, y: x.__iadd__(y), "subtract": lambda x, y: x.__isub__(y),
    "multiply": lambda x, y: x.__imul__(y),
}  # fmt: skip
REDUCTIONS = ("sum", "mean", "max", "min", "count_nonzero", "any")


class Reduced(NamedTuple):
    """A reduction, and the sum of absolute values, which its rounding errors are small against."""

    name: str
    value: Any
    size: Any


class Outcome(NamedTuple):
    """The arrays that a program was given, and its results."""

    arrays: list[NDArray]
    held: list[NDArray]
    reduced: list[Reduced]


def reduce_to(name, x, axis, keepdims):
    """A reduction; which zero is the largest is undefined."""
    value = getattr(xp, name)(x, axis=axis, keepdims=keepdims)
    return value + 0 if name in ("max", "min") else value


class Program:
    """Statements on arrays of one shape and views of them; those of a seed are always the same.

    In some programs others write the memory: its owner, if it is `lent`, or who got it, if it is
    `handed` out.
    """

    def __init__(self, seed, shapes):
        self.rng = np.random.default_rng(seed)
        self.shape = self.pick(shapes)
        self.dtype = self.pick(["float64", "float64", "float32", "int64", "float16"])
        self.count = int(self.rng.integers(2, 5))
        self.aliased = self.rng.random() < 0.2
        self.lent = self.rng.random() < 0.25
        self.handed = not self.lent and self.rng.random() < 0.25
        self.memory = []
        self.held = []
        self.statements = [self.statement() for _ in range(int(self.rng.integers(3, 12)))]
        self.statements.append(("reduce", "sum", None, False, ("array", 0, self.key(self.shape))))

    def pick(self, items):
        return items[int(self.rng.integers(len(items)))]

    def key(self, wanted):
        """A key of slices that selects so many elements along each axis."""
        slices = []
        for size, count in zip(self.shape, wanted, strict=True):
            step = int(self.pick([1, 1, 1, 2])) if 2 * (count - 1) < size else 1
            span = (count - 1) * step + 1
            # Near each other, so that many overlap in part.
            start = int(self.rng.integers(min(size - span, 5) + 1))
            slices.append(slice(start, start + span, step))
        return tuple(slices)

    def operand(self, wanted):
        fitting = [j for j, shape in enumerate(self.held) if shape == wanted]
        if fitting and self.rng.random() < 0.35:
            return "held", self.pick(fitting)
        choice = self.rng.random()
        shape = wanted
        if choice < 0.1:
            shape = (1,) * (len(wanted) - 1) + wanted[-1:]
        elif choice < 0.2:
            shape = (*wanted[:-1], 1)
        return "array", int(self.rng.integers(self.count)), self.key(shape)

    def expression(self, wanted, depth):
        if depth == 0:
            return self.operand(wanted)
        which = int(self.rng.integers(12))
        x = self.expression(wanted, depth - 1)
        if which < 5:
            y = ("number", self.pick([2, -1, 3]))
            if self.rng.random() < 0.75:
                y = self.expression(wanted, int(self.rng.integers(depth)))
            pair = (x, y) if self.rng.random() < 0.5 or y[0] == "number" else (y, x)
            return "binary", self.pick(list(BINARY)), *pair
        if which < 7:
            return "twice", self.pick(list(BINARY)), self.unary(), x
        if which < 8:
            return "where", x, self.expression(wanted, depth - 1)
        if which < 9:
            # Sums of integers are exact, and extremes of any numbers.
            name = self.pick(["sum", "max"]) if self.dtype == "int64" else "max"
            return "less", name, self.axis(wanted), x
        return "unary", self.unary(), x

    def unary(self):
        return str(self.pick(OF_INTEGERS if self.dtype == "int64" else list(UNARY)))

    def axis(self, wanted):
        return self.pick([None, *range(len(wanted))])

    def statement(self):
        whole = self.rng.random() < 0.4
        wanted = self.shape
        if not whole:
            wanted = tuple([int(self.rng.integers(max(1, n - 6), n + 1)) for n in self.shape])
        x = self.expression(wanted, int(self.rng.integers(5)))
        x = "binary", self.pick(list(BINARY)), x, ("array", 0, self.key(wanted))  # of that shape
        i, key = int(self.rng.integers(self.count)), self.key(wanted)
        which = int(self.rng.integers(13))
        alive = [j for j, shape in enumerate(self.held) if shape is not None]
        if which < 3:
            self.held.append(wanted)
            return "hold", x
        if which < 5:
            is_held = self.rng.random() < 0.4
            if is_held:
                self.held.append(wanted)
            return "assign", i, key, x, is_held
        if which < 8:
            return "update", self.pick(list(UPDATES)), i, key, x
        if which < 10:
            name = self.pick(REDUCTIONS)
            return "reduce", name, self.axis(wanted), bool(self.rng.random() < 0.5), x
        if which == 10:
            return "mask", i
        if not alive:
            return "look", i
        j = self.pick(alive)
        if which == 11 and self.rng.random() < 0.5:
            self.held[j] = None
            return "drop", j
        if self.held[j] != wanted:
            return "look", i
        return "update held", self.pick(list(UPDATES)), j, x

    # ------------------------------------------------------------------ running

    def given(self):
        rng = np.random.default_rng(self.count)
        made = [(rng.uniform(-3, 3, self.shape)).astype(self.dtype) for _ in range(self.count)]
        self.memory = made if self.lent else []
        arrays = [xp.asarray(each) for each in made]
        if self.aliased:
            arrays[-1] = arrays[0][::-1]
        return arrays

    def value(self, x, arrays, held):
        def value(x):
            return self.value(x, arrays, held)

        match x:
            case "array", i, key:
                return arrays[i][key]
            case "held", j:
                return held[j]
            case "number", number:
                return number
            case "unary", name, x:
                return UNARY[name](value(x))
            case "binary", name, x, y:
                return BINARY[name](value(x), value(y))
            case "twice", name, of, x:
                x = value(x)
                return BINARY[name](UNARY[of](x), x)
            case "where", x, y:
                x, y = value(x), value(y)
                return xp.where(x > y, x, y + 1)
            case _:
                _, name, axis, x = x
                x = value(x)
                return x - reduce_to(name, x, axis, True)

    def run(self, arrays, *, looks):
        """The values that are held in the end, and the reductions."""
        held = []
        found = []
        for kind, *parts in self.statements:
            match kind:
                case "hold":
                    held.append(self.value(parts[0], arrays, held))
                case "assign":
                    i, key, x, is_held = parts
                    value = xp.clip(self.value(x, arrays, held), -4, 4)
                    arrays[i][key] = value
                    if is_held:
                        held.append(value)
                case "update":
                    name, i, key, x = parts
                    view = arrays[i][key]
                    UPDATES[name](view, xp.clip(self.value(x, arrays, held), -2, 2))
                case "update held":
                    name, j, x = parts
                    UPDATES[name](held[j], xp.clip(self.value(x, arrays, held), -2, 2))
                case "reduce":
                    name, axis, keepdims, x = parts
                    x = self.value(x, arrays, held)
                    value = reduce_to(name, x, axis, keepdims)
                    size = xp.sum(xp.abs(x), axis=axis, keepdims=keepdims)
                    found.append(Reduced(name, value, size))
                case "mask":
                    (i,) = parts
                    arrays[i][arrays[i] > 1] = 1
                case "drop":
                    held[parts[0]] = None
                case _ if looks:
                    memory = self.memory[parts[0]] if self.lent else np.asarray(arrays[parts[0]])
                    if self.lent or (self.handed and memory.flags.writeable):
                        np.floor_divide(memory, 2, out=memory)
        return [value for value in held if value is not None], found

    def outcome(self, *, compiled=None):
        arrays = self.given()
        if compiled is None:
            held, reduced = self.run(arrays, looks=True)
        else:
            held, reduced = compiled(*arrays)
        reduced = [Reduced(name, np.array(x), np.array(y)) for name, x, y in reduced]
        host = [[np.array(x) for x in each] for each in (arrays, held)]
        return Outcome(*host, reduced)

    def compile(self):
        names = [each[1] for each in self.statements if each[0] == "reduce"]

        def function(*arrays):
            held, reduced = self.run(list(arrays), looks=False)
            return held, [(value, size) for _, value, size in reduced]

        compiled = xp.compile(function)

        def call(*arrays):
            held, reduced = compiled(*arrays)
            return held, [Reduced(name, *pair) for name, pair in zip(names, reduced, strict=True)]

        return call


def rounds(name, dtype):
    return name in ("sum", "mean") and dtype.kind == "f"


def assert_alike(found, expected, hint, *, exactly):
    for part in ("arrays", "held"):
        pairs = zip(getattr(found, part), getattr(expected, part), strict=True)
        for number, (x, y) in enumerate(pairs):
            assert_same(x, y, f"{hint}: {part} {number}")
    for number, (x, y) in enumerate(zip(found.reduced, expected.reduced, strict=True)):
        where = f"{hint}: {x.name} {number}"
        if exactly or not rounds(y.name, y.value.dtype):
            assert_same(x.value, y.value, where)
        else:
            assert (x.value.shape, x.value.dtype) == (y.value.shape, y.value.dtype), where
            most = 64 * np.finfo(y.value.dtype).eps * y.size
            # Infinities are equal, and sums of float16 may be infinite in one order alone. NumPy
            # adds up rows of float16 in float16: to a sum of 2048 of them one more adds nothing.
            near = (x.value == y.value) | ~np.isfinite(most) | np.isnan(y.value)
            near |= (y.value.dtype == np.float16) & (y.size > 500)
            assert (near | (np.abs(x.value - y.value) <= most)).all(), where


SMALL = [(23,), (60,), (5, 9), (8, 7), (6, 40), (4, 5, 7)]
LARGE = [(30_011,), (67_003,), (3, 17_011), (170, 181), (7_001, 5), (12, 50, 51)]


def compare(seed, shapes, size):
    program = Program(seed, shapes)
    with np.errstate(all="ignore"):
        with settings("off"):
            expected = program.outcome()
        with recorded_from(size) if size is not None else nullcontext():
            first = program.outcome()
            assert_alike(first, expected, f"{seed}, deferred", exactly=False)
            for threads in (1, 2, 5):
                with xp.config_context(num_threads=threads):
                    found = program.outcome()
                assert_alike(found, first, f"{seed}, {threads} threads", exactly=True)
            is_shared = program.lent or program.handed
            compiled = None if is_shared else program.compile()
            for number in range(0 if is_shared else 3):
                found = program.outcome(compiled=compiled)
                assert_alike(found, first, f"{seed}, compiled, call {number}", exactly=True)


@pytest.mark.parametrize("part", range(6))
def test_programs_of_few_elements(part):
    """Operations on five elements wait."""
    for seed in range(part * 20, part * 20 + 20):
        compare(seed, SMALL, 4)


@pytest.mark.parametrize("part", range(3))
def test_programs_whose_operations_run_at_once(part):
    """In compiled functions they are groups."""
    for seed in range(part * 20, part * 20 + 20):
        compare(500 + seed, SMALL, None)


@pytest.mark.parametrize("part", range(6))
def test_programs_on_several_threads(part):
    for seed in range(part * 10, part * 10 + 10):
        compare(1000 + seed, LARGE, None)


@pytest.mark.parametrize("mode", ["context", "always", "large"])
def test_programs_in_other_modes(mode):
    for seed in range(1500, 1520):
        program = Program(seed, LARGE if mode == "large" else SMALL)
        if (program.lent or program.handed) and mode == "always":
            continue  # a promise that nobody else writes
        with np.errstate(all="ignore"):
            with settings("off"):
                expected = program.outcome()
            found = []
            for threads in (1, 2, 5):
                with settings(mode, num_threads=threads):
                    found.append(program.outcome())
                assert_alike(found[-1], expected, f"{seed}, {mode}", exactly=False)
                assert_alike(found[-1], found[0], f"{seed}, {threads} threads", exactly=True)


def test_programs_without_c():
    """The Python functions behind compiled callables give the same."""
    for seed in range(1600, 1630):
        program = Program(seed, SMALL)
        with np.errstate(all="ignore"):
            first = program.outcome()
            with python_answers():
                found = program.outcome()
        assert_alike(found, first, f"{seed}, Python", exactly=False)
