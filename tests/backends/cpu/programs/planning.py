"""The plans of programs, for their tests."""

from collections.abc import Callable
from typing import Any

import numpy as np

import array_api_nx as xp
from array_api_nx import Array
from array_api_nx.backends.cpu import CPUBackend
from array_api_nx.backends.cpu.programs.plan import ProgramPlan
from array_api_nx.contract.program import Program
from tests.support.interpreter import WITHIN, Interpreter

BACKEND = CPUBackend()


def traced(function: Callable[..., Any], *arrays: Array) -> tuple[Program, tuple[int, ...]]:
    """The program that a call with `arrays` runs, and its sizes."""
    compiled = xp.compile(function)
    program = compiled.explain(*arrays).program
    sizes = program.match(tuple([x.shape for x in arrays]))
    assert sizes is not None
    return program, sizes


def planned(function: Callable[..., Any], *arrays: Array) -> ProgramPlan:
    program, sizes = traced(function, *arrays)
    return ProgramPlan(BACKEND, program, sizes)


def prepared(function: Callable[..., Any], *arrays: Array) -> Any:
    program, sizes = traced(function, *arrays)
    return BACKEND.prepare(program, sizes)


STEPS = tuple([name for name in WITHIN if name != "evaluate"])


class Traceable(Interpreter):
    """Steps that can be traced."""

    def create(self, a: int, b: int, c: int) -> Array:
        # NumPy's memory stays outside of the function.
        return super().create(a, b, c + (c % 5 == 3))


def run(program: list[Any], *arrays: Array) -> tuple[list[Any], list[Array]]:
    """The results that the interpreter saw, and its last arrays."""
    interpreter = Traceable((), 400)
    interpreter.live = list(arrays)
    for step in program:
        interpreter.step(step)
    return interpreter.seen, interpreter.live


def inputs(shape: tuple[int, ...], seed: int) -> list[Array]:
    """Arrays of three dtypes that lie in memory in three ways."""
    whole = np.random.default_rng(seed).integers(-8, 9, shape)
    x, y, z = [
        xp.asarray(whole, dtype=dtype, copy=True) for dtype in (xp.float64, xp.float32, xp.int64)
    ]
    if seed % 3 == 1:
        y = xp.asarray(y.T, copy=True).T
    elif seed % 3 == 2:
        z = xp.flip(xp.asarray(xp.flip(z), copy=True))
    return [x, y, z]
