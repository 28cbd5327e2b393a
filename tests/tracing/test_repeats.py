"""Calls that a function repeats are traced once: `tracing/repeats.py`."""

import warnings

import numpy as np

import array_api_nx as xp
from array_api_nx.frontend import trace_function
from array_api_nx.frontend.trees import leaves
from array_api_nx.tracing.repeats import Repeat
from tests.support import implementations
from tests.support.programs import assert_same, numpy_of
from tests.support.tables import for_each

pytestmark = implementations.needs_native


def writes(x):
    y, held = x * 1, []
    for i in range(5):
        part = y[1:-1]
        part[...] = part + y[2:] - y[:-2]
        held.append(y[::-1])
        y += i % 2
        y[0] = 0.0 if i % 2 else -0.0
    return y, held


def aliases(x):
    y = x * 1
    for a, b in [(x, y), (y, y), (x, y), (y, x), (x[::-1], x), (y[::-1], x), (y[::-1], y)]:
        y = xp.maximum(a, b) + 0.5 * b
    return y


def numbers(x):
    y = x
    for number in (1, 1.0, True, 0.0, -0.0, 1, 1.0, 2, 0.0, -0.0):
        y = xp.where(x > 0.5, y, xp.asarray(number, dtype=x.dtype)) + xp.full((1, 1), number)
    return y


def shapes(x):
    found = []
    for _ in range(3):
        for rows in (1, 2, x.shape[0]):
            y = xp.broadcast_to(x, (rows, *x.shape))
            found.append(xp.sum(y * xp.arange(rows, dtype=x.dtype)[:, None, None], axis=0))
            x = xp.permute_dims(xp.permute_dims(x, (1, 0)) + 1, (1, 0))
    return found


def several(x):
    for _ in range(4):
        q, r = xp.linalg.qr(x)
        a, b = xp.unstack(xp.stack([q, r]))
        x = a + xp.concat([b[1:], b[:1]]) * x
    return x, q


def dtypes(x):
    for dtype in (xp.float32, xp.float64, xp.int8, xp.float32, xp.float64):
        x = xp.astype(xp.astype(x * 1.5, dtype), xp.float64) + xp.astype(x, xp.float64)
    return x


def argument_and_copies(x):
    for _ in range(3):
        x[...] = x + xp.asarray(x, copy=True)
        y = xp.asarray(x)
        y[0, 0] += 1
    return y


FUNCTIONS = [
    writes, aliases, numbers, shapes, several, dtypes, argument_and_copies,
]  # fmt: skip


@for_each("function", FUNCTIONS)
def test_programs_do_what_the_function_does(function):
    for engine in ("auto", "steps"):
        compiled = xp.compile(function, engine=engine)
        for size in (4, 5):
            values = np.random.default_rng(size).random((size, size))
            for _ in range(2):
                x, y = xp.asarray(values, copy=True), xp.asarray(values, copy=True)
                found, expected = leaves(compiled(x)), leaves(function(y))
                for a, b in zip(found, expected, strict=True):
                    assert_same(numpy_of(a), numpy_of(b))
                    assert np.signbit(numpy_of(a)).tolist() == np.signbit(numpy_of(b)).tolist()
                assert_same(x, y)


def repeats(monkeypatch, function, *args):
    """How many calls are repeats in the trace of a function."""
    found = []
    expanded = trace_function.expanded

    def counting(steps):
        found.append(sum([type(step) is Repeat for step in steps]))
        return expanded(steps)

    monkeypatch.setattr(trace_function, "expanded", counting)
    xp.compile(function).lower(*[xp.ShapeSpec(x.shape, x.dtype) for x in args])
    return found[0]


def test_a_step_of_a_loop_is_traced_once(monkeypatch):
    def loop(x):
        for _ in range(50):
            x = xp.concat([x[:1], x[1:-1] + 0.1 * (x[2:] - 2 * x[1:-1] + x[:-2]), x[-1:]])
        return x

    # Six steps, whose operands lie in other memory in the first round.
    assert repeats(monkeypatch, loop, xp.ones(9)) >= 6 * 48


def test_other_settings_are_no_repetition():
    def function(x):
        y = 1 / (x + 1)
        with np.errstate(divide="ignore"):
            return y, 1 / (x * 1)

    compiled = xp.compile(function)
    with warnings.catch_warnings(action="error"):
        compiled(xp.zeros(3))
