"""Expressions that read, keep or reduce more than one kernel may have as operands."""

from typing import Any

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.backends.cpu.lazy import evaluation, planning
from tests.support.programs import NDArray, numpy_of, settings

N = 3_000
X = np.random.default_rng(0).random(N + 200) + 0.5


def slices(lib: Any, x: Any) -> list[Any]:
    """Sums of many parts of one array, as in a filter."""
    y = x[:N]
    for i in range(1, 150):
        y = y * 0.5 + x[i : N + i]
    return [y]


def choices(lib: Any, x: Any) -> list[Any]:
    y = x[:N]
    for i in range(0, 100, 2):
        y = lib.where(x[i : N + i] > 0.7, y, x[i + 1 : N + i + 1])
    return [y]


def kept(lib: Any, x: Any) -> list[Any]:
    """Expensive values that are held, each read by a sum."""
    values = [lib.sin(x * float(i)) for i in range(1, 40)]
    return [*values, *[lib.max(x * y) for y in values]]


def powers(lib: Any, x: Any) -> list[Any]:
    """Many reductions of one array."""
    found, y = [], x
    for _ in range(80):
        found.append(lib.max(y))
        y = y * x
    return found


@pytest.mark.parametrize("program", [slices, choices, kept, powers])
@pytest.mark.parametrize("way", ["off", "process"])
@pytest.mark.parametrize("is_compiled", [False, True])
def test_results(program, way, is_compiled):
    expected: list[NDArray] = program(np, X)
    with settings(way):
        x = xp.asarray(X, copy=True)

        def ours(x: xp.Array) -> list[xp.Array]:
            return program(xp, x)

        found = xp.compile(ours)(x) if is_compiled else ours(x)
        xp.evaluate(*found)
        for one, other in zip(found, expected, strict=True):
            assert np.array_equal(numpy_of(one), other)


def test_no_pass_has_more_operands_than_a_kernel_takes(monkeypatch):
    operands: list[int] = []
    make_pass = planning.make_pass

    def counted(*arguments: Any, **keywords: Any) -> Any:
        made = make_pass(*arguments, **keywords)
        operands.append(len(made.operands))
        return made

    monkeypatch.setattr(planning, "make_pass", counted)
    monkeypatch.setattr(planning, "MAX_OPERANDS", 8)
    monkeypatch.setattr(evaluation, "_plans", {})
    x = xp.asarray(X, copy=True)
    with settings("process"):
        for program in (slices, choices, kept, powers):
            found = program(xp, x)
            xp.evaluate(*found)
            for one, other in zip(found, program(np, X), strict=True):
                assert np.array_equal(numpy_of(one), other)
    assert max(operands) <= 8
    # Few values are stored: passes have about as many operands as they may.
    assert sum(operands) > 4 * len(operands)
