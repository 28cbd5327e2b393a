"""The plans of programs, for their tests."""

from collections.abc import Callable
from typing import Any

import array_api_nx as xp
from array_api_nx import Array
from array_api_nx.backends.cpu import CPUBackend
from array_api_nx.backends.cpu.programs.plan import ProgramPlan
from array_api_nx.contract.program import Program

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
