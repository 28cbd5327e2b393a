"""What is told of programs, against what they do."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings

import array_api_nx as xp
from array_api_nx import Array, ShapeSpec
from array_api_nx.backends.cpu.fusion import pool
from array_api_nx.backends.cpu.fusion.compiled import extension
from array_api_nx.backends.explanation_program import ProgramExplanation, RunExplanation
from array_api_nx.core.symbolic import eval_dim

from ....fusion.interpreter import programs
from ....fusion.programs import settings
from ....test_compile import STEPS, inputs, run
from .planning import BACKEND, planned, traced
from .test_running import FUNCTIONS, nearest, softmax, standardise

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


# ---------------------------------------------------------------------- the peak of memory


@pytest.fixture
def no_pool() -> Iterator[None]:
    """Memory that is released is not kept, so that it is measured."""
    if extension is not None:
        extension.limit_spares(0)
    yield
    if extension is not None:
        extension.limit_spares(pool._limit())


def chain(x: Array) -> Array:
    """Several intermediates live at a time: what reads them reads them in other orders."""
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


MEASURED = [chain, standardise, softmax, nearest, matrices, updates, *FUNCTIONS]


def measured(function: Callable[..., Any], x: Array) -> int:
    """The most bytes that a run of a compiled function takes at one time."""
    compiled = xp.compile(function)
    compiled(x)
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        result = compiled(x)
        _, peak = tracemalloc.get_traced_memory()
        del result
    finally:
        tracemalloc.stop()
    return peak - before


@pytest.mark.usefixtures("no_pool")
@pytest.mark.parametrize("shape", [(60_000, 12), (1_500, 500)])
@pytest.mark.parametrize("function", dict.fromkeys(MEASURED))
def test_the_peak_is_as_measured(function, shape):
    x = normal(*shape)
    planned_run = run_of(function, x)
    assert measured(function, x) == pytest.approx(planned_run.peak_bytes, rel=0.05, abs=100_000)
