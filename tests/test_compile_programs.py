"""Random programs, compiled and fused against eager: elements, shared memory, callers' arrays.

Arguments lie in memory in every way that they can: with gaps, stepped, flipped, transposed,
repeated, read-only, empty, given twice, or overlapping. A program is known by its seed;
``ARRAY_API_NX_PROGRAMS=first:last`` in the environment runs others than the usual ones; the gate
runs the programs 80 to 200 so. ``ARRAY_API_NX_ENGINE_PROGRAMS=first:last`` does so for those that
the compilers of other engines run, which take seconds each.
"""

import functools
import os
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx import Array
from array_api_nx.contract.numpy_dtypes import zeros_and_ones
from tests.backends.engines.devices import device as find_device
from tests.support.interpreter import TRACEABLE, Step, Traceable
from tests.support.programs import different_bits, numpy_of, settings

pytestmark = pytest.mark.slow

LIMIT = 400
"""The largest number of elements of an array in a program."""

STEPS = (
    *[name for name in TRACEABLE if name != "drop"],
    "reshape_any", "reshape_any", "write_or_not", "add_or_not", "set_self", "is_same",
)  # fmt: skip


class Compilable(Traceable):
    """Steps that can be traced, and more steps that distinguish views from copies."""

    def reshape_any(self, a, b, c):
        """A view or a copy, as the layout has it."""
        x = self.one(a)
        divisors = [k for k in range(1, 13) if x.size and x.size % k == 0] or [0]
        k = divisors[b % len(divisors)]
        shape = (k, x.size // k) if c & 1 and k else (x.size,)
        if c & 6 == 6:
            try:
                return xp.reshape(x, shape, copy=False)
            except ValueError:
                self.seen.append("no view")
        return xp.reshape(x, shape)

    def write_or_not(self, a, b, c):
        x = self.one(a)
        try:
            x[...] = xp.astype(x == 0, x.dtype)
        except ValueError:
            return xp.ones_like(x)
        return xp.zeros_like(x)

    def add_or_not(self, a, b, c):
        x = self.one(a)
        if x.dtype == xp.bool:
            return None
        try:
            x += c % 3
        except ValueError:
            return xp.ones_like(x)
        return None

    def is_same(self, a, b, c):
        self.seen.append(f"one array: {self.one(a) is self.one(b)}")

    def set_self(self, a, b, c):
        x = self.one(a)
        x[...] = x


LAYOUTS = {
    "row-major": lambda s: (s, lambda x: x),
    "read-only": lambda s: (s, _locked),
    "transposed": lambda s: (s[::-1], lambda x: x.T),
    "gaps": lambda s: ((*s[:-1], s[-1] + 2), lambda x: x[..., 1:-1]),
    "transposed gaps": lambda s: ((*s[:0:-1], s[0] + 1), lambda x: x[..., :-1].T),
    "stepped": lambda s: ((2 * s[0], *s[1:]), lambda x: x[::2]),
    "stepped within": lambda s: ((*s[:-1], 2 * s[-1]), lambda x: x[..., ::2]),
    "flipped": lambda s: (s, lambda x: x[::-1]),
    "flipped within": lambda s: (s, lambda x: x[..., ::-1]),
    "all flipped": lambda s: (s, np.flip),
    "stepped back": lambda s: ((*s[:-1], 2 * s[-1] + 1), lambda x: x[..., ::-2][..., :-1]),
    "repeated": lambda s: ((1, *s[1:]), lambda x: np.broadcast_to(x, s)),
    "repeated within": lambda s: ((*s[:-1], 1), lambda x: np.broadcast_to(x, s)),
}
SHAPES = [(3, 4), (4, 3), (2, 3, 2), (6,), (1, 4), (4, 1), (4, 4), (2, 6), (0, 3), (3, 2, 4)]
DTYPES = [["float64", "float32", "int64"], ["float32", "float16", "int64"]]
"""Of the arguments, by turns; a bool array with other bytes than 0 and 1 comes after these."""


def _locked(x):
    x.flags.writeable = False
    return x


class Arguments:
    """The arguments of one call, and the memory that they show.

    Of bools that are `plain` each byte is 0 or 1.
    """

    def __init__(self, seed, size, *, plain):
        rng = random.Random(seed)
        shape = rng.choice(SHAPES)
        # The kinds of layouts stay, and sizes change: so that one program serves several calls.
        layouts = [rng.choice(list(LAYOUTS)) for _ in range(3)]
        twice = rng.random()
        shape = tuple([n + size if n > 1 else n for n in shape])
        self.buffers = []
        self.arrays = []
        layouts.append(rng.choice(list(LAYOUTS)))
        for layout, dtype in zip(layouts, [*DTYPES[seed % 3 == 2], "uint8"], strict=True):
            whole, view = LAYOUTS[layout](shape)
            count = int(np.prod(whole))
            buffer = (np.arange(count) * 7 % 17 - 8).astype(dtype).reshape(whole)
            if dtype == "uint8":
                buffer = buffer.view(np.bool_)
                buffer = zeros_and_ones(buffer) if plain else buffer
            self.buffers.append(buffer)
            self.arrays.append(xp.asarray(view(buffer)))
        if twice < 0.1:
            self.arrays[2] = self.arrays[0]
        elif twice < 0.2:
            self.arrays[2] = self.arrays[0][..., ::-1] if shape else self.arrays[0]


def make(seed):
    """The program of a seed."""
    rng = random.Random(seed)
    return [
        Step(rng.choice(STEPS), rng.randrange(64), rng.randrange(64), rng.randrange(64))
        for _ in range(rng.choice([2, 4, 6, 10, 16]))
    ]


def run(program, kept, *arrays):
    """The texts that a program showed, and the `kept` last arrays it was left with."""
    interpreter = Compilable((), LIMIT)
    interpreter.live = list(arrays)
    for step in program:
        interpreter.step(step)
    return interpreter.seen, interpreter.live[-kept:]


def observed(arguments, seen, live):
    """The effects of a call that a caller can see."""
    arrays = [*live, *arguments.arrays]
    shown = [np.asarray(x) for x in arrays]
    return {
        "seen": [x if isinstance(x, str) else zeros_and_ones(numpy_of(x)) for x in seen],
        "elements": [zeros_and_ones(np.array(x)) for x in shown],
        "buffers": [zeros_and_ones(np.array(x)) for x in arguments.buffers],
        "shared": [
            np.shares_memory(x, y) for i, x in enumerate(shown) for y in shown[:i] if x.size
        ],
        "from callers": [
            np.shares_memory(x, buffer) for x in shown for buffer in arguments.buffers if x.size
        ],
        "writable": [x.flags.writeable for x in shown if x.size],
    }


def compiled_difference(program, seed):
    """A visible difference between a compiled function and the function itself."""
    function = functools.partial(run, program, 2 if seed % 3 else 12)
    return difference(function, xp.compile(function), seed, "default")


def fused_difference(program, seed):
    """A visible difference between execution with and without fusion, compiled or not."""
    # How results lie in memory, and so which reshapes of them are copies, is no part of that.
    program = [x._replace(name="reshape") if x.name == "reshape_any" else x for x in program]
    function = functools.partial(run, program, 2 if seed % 3 else 12)
    wrong = difference(function, function, seed, "context")
    return wrong or difference(function, xp.compile(function), seed, "context")


CALLS = 12
"""With the default engine, the last of them are the compiler's."""

ENGINE_DTYPES = ["int64", "int16", "int32"]
"""Remainders of floats, by which steps keep numbers small, are computed by NumPy."""
OVERLAPPING = ("set_own", "set_shifted", "set_masked", "set_array", "in_place", "reshape_any")


def make_overlapping(seed):
    """As `make`, with many writes to memory that is read."""
    rng = random.Random(seed)
    return [
        step._replace(name=rng.choice(OVERLAPPING)) if rng.random() < 0.5 else step
        for step in make(seed)
    ]


def engine_difference(program, seed, device):
    """A visible difference between a function and an engine's compiled version."""
    function = functools.partial(run, program, 2 if seed % 3 else 12)
    compiled = xp.compile(function)
    shape = SHAPES[seed % len(SHAPES)]
    values = (np.arange(np.prod(shape)) * 7 % 17 - 8).reshape(shape)

    def outcome(call):
        given = [
            xp.asarray(values.astype(dtype), copy=True, device=device) for dtype in ENGINE_DTYPES
        ]
        if seed % 5 == 0:
            given[2] = given[0]
        seen, live = call(*given)
        arrays = [np.asarray(x) for x in seen if isinstance(x, str)]
        return arrays + [numpy_of(x.to_device("cpu")) for x in (*live, *given)]

    with np.errstate(all="ignore"), xp.config_context(default_device=device):
        expected = outcome(function)
        for call in range(CALLS):
            found = outcome(compiled)
            if len(found) != len(expected):
                return f"call {call}: {len(found)} arrays instead of {len(expected)}"
            for i, (x, y) in enumerate(zip(found, expected, strict=True)):
                wrong = different_bits(x, y)
                if wrong is not None:
                    return f"call {call}: array {i}: {wrong}"
    return None


Function = Callable[..., tuple[list[Any], list[Array]]]


def difference(eager, other, seed, mode):
    """A visible difference between two functions: `other` runs with the settings of
    `mode`, and `eager` without fusion, and on bools that are zeros and ones."""
    with np.errstate(all="ignore"):
        for call in (0, 0, 1, 2, 2):
            # The second kind of calls has other layouts, the third other sizes. When it is called
            # again C may run the whole program.
            kind, size = (seed + (call == 1), 2 if call == 2 else 0)
            with settings("off"):
                arguments = Arguments(kind, size, plain=True)
                expected = observed(arguments, *eager(*arguments.arrays))
            with settings(mode):
                arguments = Arguments(kind, size, plain=False)
                actual = observed(arguments, *other(*arguments.arrays))
            for what, values in expected.items():
                found = actual[what]
                if len(found) != len(values):
                    return f"call {call}: {len(found)} {what} instead of {len(values)}"
                for i, (x, y) in enumerate(zip(found, values, strict=True)):
                    wrong = (
                        different_bits(x, y)
                        if isinstance(y, np.ndarray) and isinstance(x, np.ndarray)
                        else None if x == y else f"{x} instead of {y}"
                    )  # fmt: skip
                    if wrong is not None:
                        return f"call {call}: {what} {i}: {wrong}"
    return None


def shortened(program, fails):
    """The program without steps that it fails without, too."""
    i = 0
    while i < len(program):
        shorter = program[:i] + program[i + 1 :]
        if fails(shorter):
            program, i = shorter, 0
        else:
            i += 1
    return program


FIRST, LAST = map(int, os.environ.get("ARRAY_API_NX_PROGRAMS", "0:80").split(":"))


@pytest.mark.parametrize("difference_of", [compiled_difference, fused_difference])
@pytest.mark.parametrize("part", range(4))
def test_programs(part, difference_of):
    for seed in range(FIRST, LAST)[part::4]:
        program = make(seed)
        if difference_of(program, seed) is not None:
            program = shortened(program, lambda p, s=seed: difference_of(p, s))
            pytest.fail(f"seed {seed}: {program}: {difference_of(program, seed)}")


ENGINE_FIRST, ENGINE_LAST = map(
    int, os.environ.get("ARRAY_API_NX_ENGINE_PROGRAMS", "0:6").split(":")
)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
@pytest.mark.filterwarnings("ignore:Torchinductor does not support code generation:UserWarning")
@pytest.mark.parametrize("name", ["torch:cpu", "jax:cpu"])
def test_programs_that_engines_compile(name):
    device = find_device(name)
    for seed in range(ENGINE_FIRST, ENGINE_LAST):
        program = make_overlapping(seed)
        if engine_difference(program, seed, device) is not None:
            program = shortened(program, lambda p, s=seed: engine_difference(p, s, device))
            pytest.fail(f"seed {seed}: {program}: {engine_difference(program, seed, device)}")
