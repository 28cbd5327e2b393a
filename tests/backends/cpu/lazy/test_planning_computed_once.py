"""No operation is computed twice, whatever several passes or several evaluations need of it."""

import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.backends.cpu.lazy import evaluation
from array_api_nx.backends.cpu.lazy.builder import MAX_PENDING
from array_api_nx.backends.cpu.lazy.graph import Graph
from array_api_nx.backends.cpu.lazy.planning import EvaluationPlan
from array_api_nx.frontend import recorded_calls
from array_api_nx.primitives import table as p
from array_api_nx.testing import count_evaluations
from tests.support.programs import NDArray, numpy_of, settings

Program = Callable[[Any, list[Any]], list[Any]]


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[int]]:
    """How often each node is computed, by its key. Padding is read, not computed."""
    count: Counter[int] = Counter()
    planned = evaluation.planned

    def counting(graph: Graph, *destination: Any) -> EvaluationPlan:
        passes = planned(graph, *destination)
        nodes = [graph.nodes[i] for each in passes for i in each.values]
        count.update([node.key for node in nodes if node.op is not p.PAD])
        return passes

    with monkeypatch.context() as patch:
        patch.setattr(evaluation, "planned", counting)
        yield count


def loop(seed: int) -> tuple[Program, list[NDArray]]:
    """A loop of up to 300 steps that carries one to four arrays, and their first values.

    Some loops look at a number now and then, and some hold values that nothing reads.
    """
    rng = random.Random(seed)
    carried = rng.randint(1, 4)
    length = rng.choice([1, 3, 10, 33, 60, 100, 300])
    interval = rng.choice([0, 0, 0, 7])
    names = ["sin", "add", "multiply", "maximum", "scale", "centre", "where", "held"]
    body = [
        (rng.choice(names), *[rng.randrange(carried) for _ in range(3)])
        for _ in range(rng.randint(1, 6))
    ]

    def program(lib: Any, start: list[Any]) -> list[Any]:
        arrays, held = [*start], []
        for step in range(length):
            for name, target, i, j in body:
                a, b = arrays[i], arrays[j]
                if name == "held":
                    held.append(a * b)
                else:
                    arrays[target] = {
                        "sin": lambda a, b: lib.sin(a),
                        "add": lambda a, b: (a + b) * 0.5,
                        "multiply": lambda a, b: a * b,
                        "maximum": lambda a, b: lib.maximum(a, b),
                        "scale": lambda a, b: abs(a) * 0.75 - 0.1,
                        "centre": lambda a, b: a - lib.mean(a, axis=1, keepdims=True),
                        "where": lambda a, b: lib.where(a > b, a, b),
                    }[name](a, b)
            if interval and step % interval == 0:
                float(lib.sum(arrays[0]))
        return arrays

    def compiled(lib: Any, start: list[Any]) -> list[Any]:
        found: list[Any] = xp.compile(lambda *arrays: program(lib, [*arrays]))(*start)
        return found

    start = [np.random.default_rng(i).random((8, 6)) for i in range(carried)]
    is_compiled = rng.random() < 0.5 and not interval
    return compiled if is_compiled else program, start


@pytest.mark.filterwarnings("ignore:a compiled function has more than 1,000 steps")
@pytest.mark.parametrize("first", range(0, 120, 10))
def test_no_operation_of_a_loop_is_computed_twice(first, monkeypatch):
    total = 0
    for seed in range(first, first + 10):
        program, start = loop(seed)
        with settings("off"):
            expected = program(xp, [xp.asarray(x, copy=True) for x in start])
            wanted = [numpy_of(x) for x in expected]
        with settings("process"), counted(monkeypatch) as count:
            found = program(xp, [xp.asarray(x, copy=True) for x in start])
            for one, other in zip(found, wanted, strict=True):
                # Means of few elements may be rounded otherwise in tiles.
                np.testing.assert_allclose(numpy_of(one), other, rtol=1e-9, atol=1e-12)
        assert set(count.values()) <= {1}, seed
        total += len(count)
    assert total > 100


@pytest.mark.parametrize("length", [30, 33, 60, 100, 300])
@pytest.mark.parametrize("is_compiled", [False, True])
def test_a_loop_of_two_arrays_computes_each_once(length, is_compiled, monkeypatch):
    def function(x: xp.Array) -> xp.Array:
        a = m = x
        for _ in range(length):
            a = xp.sin(a)
            m = xp.maximum(m, a)
        return m

    # The program is planned, as for large arrays.
    monkeypatch.setattr(recorded_calls, "hints", SimpleNamespace(threshold=-1))
    with settings("process"), counted(monkeypatch) as count:
        xp.evaluate((xp.compile(function) if is_compiled else function)(xp.linspace(0.0, 1.0, 50)))
    assert set(count.values()) == {1}
    assert len(count) == 2 * length


def test_a_cut_for_too_many_operands_stores_what_both_parts_need(monkeypatch):
    def function(x: xp.Array, y: xp.Array) -> xp.Array:
        powers = [y]
        for _ in range(3):
            powers.append(powers[-1] * y)
        total = x
        for k in range(20):
            total = total + x * (k + 0.5) * powers[k % 4]
        return total

    x, y = (np.random.default_rng(i).random(50) for i in range(2))
    monkeypatch.setattr("array_api_nx.backends.cpu.lazy.planning.MAX_OPERANDS", 12)
    monkeypatch.setattr(evaluation, "_plans", {})
    with settings("off"):
        expected = numpy_of(function(xp.asarray(x), xp.asarray(y)))
    with settings("process"), counted(monkeypatch) as count:
        found = function(xp.asarray(x, copy=True), xp.asarray(y, copy=True))
        assert np.array_equal(numpy_of(found), expected)
    assert set(count.values()) == {1}


def test_what_was_computed_meanwhile_does_not_count_as_pending():
    with settings("process"), count_evaluations() as evaluations:
        a = m = xp.linspace(0.0, 1.0, 50)
        for _ in range(400):  # stored values of `a` have earlier readers
            a = a * 0.5
            m = xp.maximum(m, a)
        xp.evaluate(m)
    assert len(evaluations) <= 800 // MAX_PENDING + 2


def test_a_mean_and_a_variance_of_the_same_elements_store_nothing_else():
    def moments(x: xp.Array, y: xp.Array) -> tuple[xp.Array, xp.Array]:
        products = x * y
        return xp.mean(products, axis=0), xp.var(products, axis=0)

    with settings("process"):
        (only,) = xp.explain(*moments(xp.ones((2000, 40)), xp.ones((2000, 40)))).passes
    assert {memory.kind for memory in only.outputs} == {"result"}


def test_constants_do_not_cut_an_expression():
    with settings("process"):
        x = xp.linspace(0.0, 1.0, 50)
        y = x
        for k in range(80):
            y = y * x + (k + 0.25)
        assert len(xp.explain(y).passes) == 1
