"""Calls of compiled functions: arrays that are given twice, finalisers and signal handlers."""

import contextlib
import functools
import gc
import itertools
import signal
import sys
import threading

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx import config
from array_api_nx.core import call_local
from array_api_nx.frontend import trace_function
from tests.support.tables import for_each

SHAPES = ((2, 3), (0, 3), (0,), ())


def is_same(a, b):
    return xp.full(3, 1 if a is b else 2)


def write(a, b):
    a[...] = 5
    return a, b, b + 1


def add(a, b):
    c = a[...]
    c += b
    return b, a


@for_each("function", [is_same, write, add])
@for_each("shape", SHAPES)
def test_an_array_that_is_given_twice_is_one_array(function, shape):
    compiled = xp.compile(function)
    for kind in ("twice", "equal", "twice", "twice", "equal", "equal"):
        results = []
        for each in (function, compiled):
            x, y = xp.ones(shape), xp.ones(shape)
            given = (x, x if kind == "twice" else y)
            found = each(*given)
            found = found if isinstance(found, tuple) else (found,)
            which = [[z is part for part in given] for z in found]
            results.append(([np.asarray(z).tolist() for z in (*found, *given)], which))
        assert results[0] == results[1], kind


def test_an_array_in_several_containers_is_one_array():
    def function(tree, *, other):
        return xp.full(2, 10 * (tree["a"] is tree["b"][0]) + (tree["a"] is other))

    compiled = xp.compile(function)
    x, y = xp.ones(4), xp.ones(4)
    for a, b, other in ((x, x, x), (x, y, x), (x, x, y), (x, y, y)):
        expected = function({"a": a, "b": [b]}, other=other)
        assert xp.all(compiled({"a": a, "b": [b]}, other=other) == expected)
    assert compiled.cache_info().traces == 4


def test_one_spec_for_two_arguments_says_nothing_of_their_identity():
    spec = xp.ShapeSpec(("n",), xp.float64)
    program = xp.compile(lambda a, b: a is b or a + b).lower(spec, spec)
    assert len(program.inputs) == 2


class Finalised:
    """Garbage in a cycle, for the collector alone to find."""

    def __init__(self, function):
        self.function = function
        self.cycle = self

    def __del__(self):
        self.function()


@pytest.mark.parametrize("compiles", [False, True])
def test_a_finaliser_that_the_collector_runs_is_no_part_of_a_trace(compiles):
    x = xp.asarray(np.arange(12.0), copy=True)
    found = []

    def total(a):
        return xp.sum(a * 2) + 1

    def finalise():
        found.append(float((xp.compile(total) if compiles else total)(x)))

    def function(a):
        b = a + 1
        gc.collect()
        return b * a

    Finalised(finalise)
    compiled = xp.compile(function)
    assert np.array_equal(np.asarray(compiled(x)), np.asarray(x) * (np.asarray(x) + 1))
    assert found == [133.0]
    assert len(compiled.explain(x).program.steps) == 2


def test_finalisers_at_any_moment_of_a_trace():
    x = xp.asarray(np.arange(12.0), copy=True)
    found = []

    def function(a):
        for _ in range(4):
            a = xp.sin(a) + xp.mean(a)
        return a

    expected = np.asarray(function(x))
    total = xp.compile(lambda a: xp.sum(a * 2) + 1)
    threshold = gc.get_threshold()
    try:
        for often in range(20, 60):
            gc.set_threshold(often, 2, 2)
            Finalised(lambda: found.append(float(total(x))))
            assert np.array_equal(np.asarray(xp.compile(function)(x)), expected)
    finally:
        gc.set_threshold(*threshold)
    gc.collect()
    assert found == [133.0] * 40


@contextlib.contextmanager
def handled(handler):
    before = signal.signal(signal.SIGUSR1, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGUSR1, before)


needs_signals = pytest.mark.skipif(
    not hasattr(signal, "SIGUSR1"), reason="the system has no such signal"
)


@contextlib.contextmanager
def finalised(function):
    Finalised(function)
    yield


@pytest.mark.parametrize(
    ("ready", "interrupt"),
    [
        pytest.param(finalised, lambda: gc.collect(0), id="finaliser"),
        pytest.param(
            lambda function: handled(lambda *_: function()),
            lambda: signal.raise_signal(signal.SIGUSR1),
            marks=needs_signals,
            id="signal",
        ),
    ],
)
def test_interrupted_while_a_trace_begins_and_ends(ready, interrupt):
    """The function whose first call it is is called at each moment of what calls share."""
    shared = (trace_function.__file__, config.__file__, call_local.__file__)
    x = xp.asarray(np.arange(12.0), copy=True)
    found = []

    def interrupt_at(moment):
        seen = 0

        def watch(frame, event, argument):
            nonlocal seen
            if frame.f_code.co_filename in shared:
                seen += 1
                if seen == moment:
                    sys.setprofile(None)
                    interrupt()

        return watch

    watching = sys.getprofile()
    gc.disable()
    try:
        for moment in itertools.count(1):
            compiled = xp.compile(lambda a: xp.sum(a * 2) + 1)
            with ready(lambda compiled=compiled: found.append(float(compiled(x)))):
                try:
                    sys.setprofile(interrupt_at(moment))
                    result = compiled(x)
                finally:
                    sys.setprofile(watching)
            assert float(result) == float(compiled(x)) == 133.0
            if len(found) < moment:
                break
    finally:
        gc.enable()
    assert moment > 50
    assert found == [133.0] * (moment - 1)
    assert call_local.hide_while_collecting not in gc.callbacks


class Handler:
    """A signal handler that notes a value of an array, in each form that a handler has."""

    def __init__(self, find):
        self.find = find
        self.found = []

    def __call__(self, *_):
        self.found.append(self.find())

    def method(self, *_):
        self(*_)

    forms = (
        lambda self: self,
        lambda self: self.method,
        lambda self: functools.partial(functools.partial(self.method), 1),
        lambda self: lambda *_: self(),
    )


@needs_signals
@pytest.mark.parametrize("form", Handler.forms)
@pytest.mark.parametrize("compiles", [False, True])
def test_a_signal_handler_is_no_part_of_a_trace(form, compiles):
    x = xp.asarray(np.arange(12.0), copy=True)
    count = xp.zeros(1)
    comes = [True]

    def total(a):
        return xp.sum(a * 2) + 1

    def find():
        count[0] += 1
        comes.clear()
        return float((xp.compile(total) if compiles else total)(x)), float(compiled(x))

    def function(a):
        b = a * 2
        if comes:
            signal.raise_signal(signal.SIGUSR1)
        return xp.sum(b) + 1

    compiled = xp.compile(function)
    handler = Handler(find)
    with handled(form(handler)):
        assert float(compiled(x)) == 133.0
    assert float(compiled(x)) == 133.0
    assert handler.found == [(133.0, 133.0)]
    assert float(count[0]) == 1.0
    assert len(compiled.explain(x).program.steps) == 3


@needs_signals
def test_a_function_that_is_traced_within_a_handler():
    """The frame of the handler is above the trace, not within it."""
    x = xp.asarray(np.arange(12.0), copy=True)
    handler = Handler(lambda: len(xp.compile(lambda a: xp.sum(a * 2)).explain(x).program.steps))
    with handled(handler):
        signal.raise_signal(signal.SIGUSR1)
    assert handler.found == [2]


def test_another_thread_computes_while_one_traces():
    x = xp.asarray(np.arange(12.0), copy=True)
    found = []

    def function(a):
        other = threading.Thread(target=lambda: found.append(float(xp.sum(x))))
        other.start()
        other.join()
        return a * 2

    assert float(xp.compile(function)(x)[3]) == 6.0
    assert found == [66.0]
