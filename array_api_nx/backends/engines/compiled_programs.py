"""Programs as functions that an engine's compiler makes of their steps.

The steps call the methods of the engine's backend, as they do when they run one by one, while the
engine notes down its own operations; so every workaround is part of the function. What the steps
cannot do meanwhile is to look at elements. Errors that depend on elements are found out beside the
results, and raised after the run, before anything is written; what NumPy does in the engine's place
is not compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from ...contract.backend import Native
from ...contract.program import Program
from ...contract.replay import Run, prepare_around
from ...contract.strided import Tensor
from ...core.dtypes import DType
from ...core.real import evaluated
from ...core.symbolic import bind
from .namespace import NamespaceBackend, wrap

__all__ = ["CompileArrays", "Traced", "prepare"]

CompileArrays: TypeAlias = Callable[
    [Callable[..., list[Native]], list[tuple[tuple[int, ...], DType]]], Callable[..., list[Native]]
]
"""From a function of the engine's arrays, and their shapes and dtypes, to the compiled one."""


class Traced(NamespaceBackend):
    """The backend of an engine as its compiler traces it; a base class beside the engine's own."""

    checks: list[tuple[Native, Exception]]
    """Whether all is well, as arrays of one bool, and what to raise if not."""

    def __init__(self, backend: NamespaceBackend) -> None:
        # Kernels and devices are the backend's own.
        vars(self).update(vars(backend))
        self.checks = []

    def in_range(self, index: Native, size: int) -> Native:
        if 0 in index.shape:
            return index
        xp = self.xp
        error = IndexError(f"an index is out of range for an axis of size {size}")
        self.checks.append((xp.all((index >= -size) & (index < size)), error))
        # Out of range it would be read before the check is looked at.
        counted = xp.where(index < 0, index + size, index)
        return xp.where((counted < 0) | (counted >= size), xp.zeros_like(counted), counted)

    def must_be_finite(self, result: Tensor, x: Tensor, error: Exception) -> None:
        """Raise `error` after the run if `result` is not finite, as `x` is."""
        xp = self.xp
        bad = ~xp.all(xp.isfinite(self.array(result))) & xp.all(xp.isfinite(self.array(x)))
        self.checks.append((~bad, error))


def prepare(
    backend: NamespaceBackend,
    tracing: Traced,
    program: Program,
    sizes: tuple[int, ...],
    compile_arrays: CompileArrays,
) -> Run:
    """See `Backend.prepare_compiled`."""
    given = [program.values[i] for i in (*range(len(program.inputs)), *program.constants)]
    with bind(dict(zip(program.variables, sizes, strict=True))):
        kinds = [(tuple(map(evaluated, value.shape)), value.dtype) for value in given]

    def compile_steps(steps: Run) -> Run:
        errors: list[Exception] = []

        def traced(*arrays: Native) -> list[Native]:
            tracing.checks = []
            results = [tracing.array(x) for x in steps(*[wrap(array) for array in arrays])]
            errors[:] = [error for _, error in tracing.checks]
            return [*results, *[passed for passed, _ in tracing.checks]]

        compiled = compile_arrays(traced, kinds)  # type: ignore[arg-type]  # sizes are numbers

        def run(*handles: Tensor) -> tuple[Tensor, ...]:
            try:
                results = compiled(*[backend.array(x) for x in handles])
            except backend.errors as error:
                backend.refuse(error)
            if errors:
                results, passed = results[: -len(errors)], results[-len(errors) :]
                for is_well, wrong in zip(passed, errors, strict=True):
                    if not is_well:
                        raise type(wrong)(*wrong.args)
            return tuple([wrap(result) for result in results])

        return run

    return prepare_around(backend, tracing, program, sizes, compile_steps)
