"""Several reductions of the same elements: one pass over memory."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as rounds
from hypothesis import strategies as st

import array_api_nx as xp
from array_api_nx.backends.cpu.engine.passes import Pass
from array_api_nx.backends.cpu.lazy import evaluation
from tests.support.programs import NDArray, assert_same, numpy_of, settings

REDUCTIONS: dict[str, Callable[..., Any]] = {
    "sum": lambda xp, x, **k: xp.sum(x, **k),
    "max": lambda xp, x, **k: xp.max(x, **k),
    "min of a chain": lambda xp, x, **k: xp.min(x * 2 + 1, **k),
    "sum of squares": lambda xp, x, **k: xp.sum(x * x, **k),
    "mean": lambda xp, x, **k: xp.mean(x, **k),
    "var": lambda xp, x, **k: xp.var(x, **k),
    "any": lambda xp, x, **k: xp.any(x > 3, **k),
    "count": lambda xp, x, **k: xp.count_nonzero(x == 1, **k),
    "prod": lambda xp, x, **k: xp.prod(xp.sign(x) + (x == 0), **k),
    "of a reduction": lambda xp, x, **k: xp.sum(x - xp.max(x), **k),
}


def numbers(shape: tuple[int, ...]) -> NDArray:
    """Whole numbers whose sums, and sums of squared distances from the mean, are exact."""
    values = np.tile([-3.0, 1.0, 5.0, 1.0], np.prod(shape) // 4)
    return np.random.default_rng(0).permutation(values).reshape(shape)


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[Pass]:
    """The passes that run."""
    found: list[Pass] = []
    run = evaluation.run_pass

    def noted(each: Pass, slots: Any, progress: Any) -> tuple[int, ...]:
        found.append(each)
        return run(each, slots, progress)

    monkeypatch.setattr(evaluation, "run_pass", noted)
    return found


@rounds(max_examples=100)
@given(
    names=st.lists(st.sampled_from(sorted(REDUCTIONS)), min_size=2, max_size=5, unique=True),
    axis=st.sampled_from([None, 0, 1, 2, (0, 2)]),
    threads=st.sampled_from([1, 3]),
)
def test_the_same_as_one_by_one(names, axis, threads):
    values = numbers((32, 8, 36))
    with settings("process", num_threads=threads):
        x = xp.asarray(values, copy=True)
        results = [REDUCTIONS[name](xp, x, axis=axis) for name in names]
        xp.evaluate(*results)
        for name, result in zip(names, results, strict=True):
            expected = np.asarray(REDUCTIONS[name](np, values, axis=axis))
            if name == "var" and axis is not None:
                np.testing.assert_allclose(numpy_of(result), expected, rtol=1e-14)
            else:
                assert_same(numpy_of(result), expected, name)


def test_one_pass(passes):
    with settings("process"):
        x = xp.asarray(numbers((40, 100)), copy=True)
        y = xp.asarray(numbers((40, 100)), copy=True)
        together = xp.sum(x), xp.max(x), xp.vecdot(x, y), xp.mean(x), xp.sum(x, axis=0), xp.sum(y)
        xp.evaluate(*together)
    assert sorted([len(each.accumulations) for each in passes]) == [1, 1, 1, 3]


def test_in_an_expression():
    with settings("process"):
        x = xp.asarray(numbers((40, 100)), copy=True)
        low, high = [f(x, axis=1, keepdims=True) for f in (xp.min, xp.max)]
        explanation = xp.explain((x - low) / (high - low))
    first, *_ = explanation.passes
    assert sorted([step.operation for step in first.steps]) == ["max", "min"]
    assert [step.target for step in first.steps] == ["t1", "t2"]
    assert [memory.name for memory in first.inputs] == ["a"]
    assert [memory.name for memory in first.outputs] == ["t1", "t2"]


def test_not_of_different_elements(passes):
    with settings("process"):
        x = xp.asarray(numbers((40, 100)), copy=True)
        y = xp.asarray(numbers((40, 100)), copy=True)
        xp.evaluate(xp.sum(x), xp.sum(y), xp.sum(x, axis=0))
    assert [len(each.accumulations) for each in passes] == [1, 1, 1]


def test_not_of_too_many_arrays(passes):
    with settings("process"):
        x = xp.asarray(numbers((4, 8)), copy=True)
        sums = []
        for i in range(40):
            y = xp.asarray(numbers((4, 8)) + i, copy=True)
            sums.append(xp.sum(x * y))
        xp.evaluate(*sums)
        assert [float(each) for each in sums] == [
            float((numbers((4, 8)) * (numbers((4, 8)) + i)).sum()) for i in range(40)
        ]
    assert 2 <= len(passes) <= 4
