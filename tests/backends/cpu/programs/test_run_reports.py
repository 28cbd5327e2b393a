"""Reports of programs agree with their runs."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings

import array_api_nx as xp
from array_api_nx import Array, ShapeSpec
from array_api_nx.backends.cpu.engine import memory_pool
from array_api_nx.core.symbolic import eval_dim
from array_api_nx.explain.model import RunExplanation
from array_api_nx.native import native
from array_api_nx.tracing.program_report import ProgramExplanation
from tests.support.interpreter import TRACEABLE, inputs, programs, run
from tests.support.programs import settings
from tests.support.sizes import DEFERRED

from .planning import BACKEND, prepared, traced
from .test_running import FUNCTIONS, nearest, softmax, standardise

ROOT = Path(__file__).parents[4]
rng = np.random.default_rng(8)


def normal(*shape: int) -> Array:
    return xp.asarray(xp.asarray(rng.standard_normal(shape)), copy=True)


def explained(function: Callable[..., Any], *arrays: Array) -> ProgramExplanation:
    """As of `Compiled.explain`, but of this backend even where runs are checked."""
    program, sizes = traced(function, *arrays)
    bindings = dict(zip(program.variables, sizes, strict=True))
    return ProgramExplanation(program, bindings, BACKEND.explain_program(program, sizes))


def run_of(function: Callable[..., Any], *arrays: Array) -> RunExplanation:
    found = explained(function, *arrays).run
    assert found is not None
    return found


@pytest.fixture
def no_pool() -> Iterator[None]:
    """Memory that is released is not kept, so that it is measured."""
    if native is not None:
        native.limit_spares(0)
    yield
    if native is not None:
        native.limit_spares(memory_pool._limit())


def chain(x: Array) -> Array:
    """Several intermediates live at a time: their readers read them in other orders."""
    a = xp.exp(x)
    b = xp.sin(a[::-1, :]) + a
    c = xp.cos(b[::-1, :]) * a
    d = xp.sqrt(xp.abs(c[::-1, :])) + b
    return (a[::-1, :] + b[::-1, :]) * (c[::-1, :] - d[::-1, :])


def matrices(x: Array) -> Array:
    gram = (x.T * 2) @ x
    y = xp.exp(-xp.square(x)) @ gram
    return xp.maximum(y @ gram - x, 0.0) @ gram


def updates(x: Array) -> Any:
    y = xp.exp(x)
    before = y * 2 + y[::-1, :]
    y[1:, :] = before[:-1, :]
    return y + 1, xp.cumulative_sum(before, axis=0)


def means(x: Array) -> Any:
    """Sums and quotients live at the same time."""
    narrow = x[:, :1] * x[:, 1:2]
    y = xp.reshape(x, (-1, 2))
    return xp.mean(y, axis=1), xp.mean(xp.astype(y, xp.float32), axis=1) + 1, narrow


MEASURED = [chain, means, standardise, softmax, nearest, matrices, updates, *FUNCTIONS]


def measured(function: Callable[..., Any], x: Array) -> int:
    """The most bytes that a run of a function's program takes at one time."""
    once = prepared(function, x)
    once(x._handle)
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        result = once(x._handle)
        _, peak = tracemalloc.get_traced_memory()
        del result
    finally:
        tracemalloc.stop()
    return peak - before


@pytest.mark.skipif(native is None, reason="tiles of megabytes")
@pytest.mark.usefixtures("no_pool")
@pytest.mark.parametrize("shape", [(60_000, 12), (1_500, 500)])
@pytest.mark.parametrize("function", dict.fromkeys(MEASURED))
def test_the_peak_is_as_measured(function, shape):
    x = normal(*shape)
    planned_run = run_of(function, x)
    assert measured(function, x) == pytest.approx(planned_run.peak_bytes, rel=0.05, abs=100_000)


@pytest.mark.parametrize("function", dict.fromkeys(MEASURED))
def test_the_formula_gives_the_number(function):
    for shape in ((40, 5), (60_000, 12)):
        x = normal(*shape)
        explanation = explained(function, x)
        assert explanation.run is not None
        assert eval_dim(explanation.peak_bytes, explanation.sizes) == explanation.run.peak_bytes


def test_what_lives_together():
    def function(x: Array) -> Array:
        y = xp.exp(x)
        z = y[::-1, :] + y
        z = z[::-1, :] * y
        return xp.sum(z[:, ::-1] + z, axis=0)

    explanation = explained(function, normal(60_000, 3))
    n, m = explanation.program.variables
    sizes = {n: 1000, m: 100}
    found = eval_dim(explanation.peak_bytes, sizes)
    assert found is not None
    # Three of them at a time, and the accumulators of the sum.
    assert 3 * 8 * 100_000 <= found < 3.1 * 8 * 100_000
    assert "24*n*m" in str(explanation)


def test_text():
    n = DEFERRED // 12 + 1
    size = f"{8 * 12 * n / 1e6:.1f}"
    text = str(explained(standardise, normal(n, 12)))
    program, _, how = text.partition(f"with n = {n}, m = 12: ")
    assert "v5: float64 (n, m) = binary(divide, v2, v4)" in program
    assert "peak bytes" not in program
    assert "#" not in text
    lines = how.splitlines()
    assert lines[0].startswith("3 passes, peak 8*n*m + ")
    assert lines[0].endswith(f" bytes ({size} MB)")
    assert [line for line in lines if line.startswith("pass ")] == [
        line for line in lines if line.startswith(("pass 1:", "pass 2:", "pass 3:"))
    ]
    assert any([line.strip() == "v5 = divide(r0, v4)" for line in lines])
    assert lines[-1].split() == ["v5", "float64", "(n,", "m)", size, "MB", "result", "pass", "3"]


def test_calls_come_between():
    passes = run_of(nearest, normal(60_000, 12)).passes
    calls = {each.steps[0].operation: each for each in passes if each.tasks == 0}
    assert set(calls) == {"reduce", "arg_reduce"}
    found = calls["arg_reduce"]
    assert [memory.kind for memory in found.inputs] == ["stored"]
    assert [memory.shape for memory in found.outputs] == [(60_000,)]
    assert calls["arg_reduce"].outputs[0].kind == "result"
    assert calls["arg_reduce"].caption() == ["a call"]


def test_updates_and_copies():
    def function(x: Array) -> Any:
        y = xp.exp(x)
        y[0, :] = 2.0
        z = y * 1
        z[1, :] = 3.0
        return y, z, xp.zeros((2, 2))

    run = run_of(function, normal(60_000, 3))
    calls = [each.steps[0].operation for each in run.passes if each.tasks == 0]
    assert sorted(calls) == ["copy", "full", "update", "update"]
    names = [each.name for each in run.buffers]
    assert "v1 v2" in names  # in place
    assert {each.place for each in run.buffers} == {"result"}


def test_guards_and_steps():
    def function(x: Array) -> Array:
        return x * 2 if x.shape[0] > 3 else x

    compiled = xp.compile(function)
    explanation = compiled.explain(normal(5))
    assert [str(guard) for guard in explanation.guards] == ["n > 3"]
    assert [step.method for step in explanation.steps] == ["binary"]
    assert f"{__file__}:{function.__code__.co_firstlineno + 1}" in str(explanation)
    assert compiled.cache_info()[:3] == (1, 1, 0)


def test_without_sizes():
    explanation = xp.compile(standardise).explain(ShapeSpec(("n", 3), xp.float64))
    assert explanation.run is None
    assert explanation.sizes is None
    assert explanation._repr_svg_() is None
    assert str(explanation) == str(explanation.program)
    assert explanation.peak_bytes == explanation.program.peak_bytes
    assert explanation.summary == "each step is a call"


def test_fixed_sizes():
    explanation = explained(lambda x: x * 2 + 1, normal(1, 1))
    assert explanation.summary == "1 pass, peak 8 bytes"
    (buffer,) = explanation.run.buffers  # type: ignore[union-attr]
    assert buffer == ("v2", "float64", (1, 1), 8, "result", 1, 1)


def assert_complete(explanation: ProgramExplanation) -> None:
    """Whatever is used was written before, names and places are distinct, and it can be drawn."""
    run = explanation.run
    assert run is not None
    held: set[str] = set()
    for number, each in enumerate(run.passes, start=1):
        names = [memory.name for memory in each.inputs]
        assert len(set(names)) == len(names)
        for memory in each.inputs:
            assert memory.kind == "given" or memory.name.rstrip("'") in held, (number, memory)
        known = {*names, *[step.target for step in each.steps]}
        assert {memory.name for memory in each.outputs} <= known
        held |= {memory.name.rstrip("'") for memory in each.outputs}
    for buffer in run.buffers:
        assert 1 <= buffer.first <= buffer.last <= len(run.passes)
    assert explanation.dot().startswith("digraph")
    assert run.peak_bytes >= max([each.nbytes for each in run.buffers], default=0)


@pytest.mark.parametrize("function", dict.fromkeys(MEASURED))
def test_explanations_are_complete(function):
    for shape in ((40, 5), (60_000, 12)):
        assert_complete(explained(function, normal(*shape)))


@pytest.mark.parametrize("mode", ["default", "process"])
@hypothesis_settings(max_examples=25)
@given(program=programs(TRACEABLE))
def test_every_program_can_be_explained(program, mode):
    with settings(mode), np.errstate(all="ignore"):
        arrays = inputs((5, 4), 0)
        explanation = explained(lambda *arrays: run(program, *arrays)[1], *arrays)
        if explanation.run is not None:
            assert_complete(explanation)
