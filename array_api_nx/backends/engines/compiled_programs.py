"""Programs as functions that an engine's compiler makes of their steps.

The steps call the methods of the engine's backend, as they do when they run one by one, while the
engine notes down its own operations; so every workaround is part of the function. The steps
cannot look at elements meanwhile. Errors that depend on elements are further results, and raised
after the run, before anything is written; operations that NumPy does in the engine's place are not
compiled. A program that the compiler refuses is not given to it again, at whatever sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from ...contract.arguments import Native, Run
from ...contract.errors import CannotCompileError
from ...contract.program import Argument, Program
from ...contract.replay import Direct, kept_values, prepare_around
from ...contract.strided import Tensor
from ...core.dtypes import DType
from ...core.real import evaluated
from ...core.shape import index_of
from ...core.symbolic import Sizes, bind
from ...core.view import View
from .adapter import wrap
from .namespace import NamespaceBackend, broadcasts

ArrayFunction: TypeAlias = Callable[..., Sequence[Native]]
"""From the engine's arrays, one by one, to arrays."""
Kinds: TypeAlias = list[tuple[tuple[int, ...], DType]]
"""The shapes and dtypes of arguments."""
TraceArrays: TypeAlias = Callable[[ArrayFunction, Kinds], Callable[[], ArrayFunction]]
"""Has the engine note down what a function does to arguments of these kinds, which are row-major.
The function that it returns compiles that, which takes longer, before the first run."""


class ElementError(NamedTuple):
    """An error that depends on elements.

    `text`: with a ``%s`` for each of `sizes`.
    `sizes`: sizes, or tuples of them.
    """

    kind: type[Exception]
    text: str
    sizes: tuple[Argument, ...] = ()

    def exception(self) -> Exception:
        return self.kind(self.text % self.sizes if self.sizes else self.text)


class Compiled(NamedTuple):
    """A function that an engine's compiler made of steps.

    `compute`: to the values that are kept; and, if there are errors to look for, as the last one,
    the number of the error to raise, or how many there are if none is.
    """

    compute: ArrayFunction
    errors: tuple[ElementError, ...]


Compile: TypeAlias = Callable[[], Compiled]


class Traced(NamespaceBackend):
    """The backend of an engine as its compiler traces it; a base class before the engine's own."""

    may_look = False
    checks: list[tuple[Native, ElementError]]
    """Whether all is well, as arrays of one bool, and what to raise if not."""

    def __init__(self, backend: NamespaceBackend) -> None:
        # Kernels and devices are the backend's own.
        vars(self).update(vars(backend))
        self.checks = []

    def in_range(self, index: Native, size: int) -> Native:
        if 0 in index.shape:
            return index
        xp = self.xp
        error = ElementError(IndexError, "an index is out of range for an axis of size %s", (size,))
        self.checks.append((xp.all((index >= -size) & (index < size)), error))
        # Out of range it would be read before the check is looked at.
        counted = xp.where(index < 0, index + size, index)
        return xp.where((counted < 0) | (counted >= size), xp.zeros_like(counted), counted)

    def spread(
        self, values: Tensor, mask: Tensor, before: tuple[int, ...], after: tuple[int, ...]
    ) -> Tensor | None:
        xp, shape = self.xp, self.shape(values)
        ndim = len(before) + 1 + len(after)
        while len(shape) > ndim and shape[0] == 1:
            shape = shape[1:]
        shape = (*(1,) * (ndim - len(shape)), *shape)
        lead, count, rest = shape[: len(before)], shape[len(before)], shape[len(before) + 1 :]
        if not broadcasts(shape, (*before, count, *after)):
            return None
        array = xp.reshape(self.array(values), shape)
        own = self.shape(mask)
        if count == 1:
            return wrap(xp.reshape(array, (*lead, *(1,) * len(own), *rest)))
        selected = xp.reshape(self.array(mask), (-1,))
        error = ElementError(
            ValueError,
            "cannot broadcast a value of shape %s to what the mask selects: that is not %s long",
            (self.shape(values), count),
        )
        self.checks.append((xp.sum(selected) == count, error))
        if count == 0:
            # If all is well nothing is written, but an array must stand there.
            return self.full((), self.dtype(values), 0)
        # The number of each place among those that are selected; others take any value.
        numbers = xp.clip(xp.cumsum(selected, 0) - 1, 0, count - 1)
        array = array[(*(slice(None),) * len(lead), numbers)]
        return wrap(xp.reshape(array, (*lead, *own, *rest)))

    def must_be_finite(self, result: Tensor, x: Tensor, error: Exception) -> None:
        """Raise `error` after the run if `result` is not finite, as `x` is."""
        zero, given = [self.xp.sum(self.array(each) * 0) for each in (result, x)]
        # A sum of zeros, unless there is an infinity or a NaN: in one pass over each.
        passed = (zero == 0) | (given != 0)
        self.checks.append((passed, ElementError(type(error), str(error))))


def prepare(
    backend: NamespaceBackend,
    tracing: Traced,
    program: Program,
    sizes: tuple[int, ...],
    prepare_steps: Callable[[Run, Kinds], Compile],
) -> Run:
    """See `Backend.prepare_compiled`.

    `prepare_steps` gives the function that compiles before the first run, for the function of the
    steps and the kinds of arrays that it takes. The function calls the methods of `tracing`.
    """
    _ask_whether_refused(backend, program)
    given = [program.values[i] for i in (*range(len(program.inputs)), *program.constants)]
    with bind(dict(zip(program.variables, sizes, strict=True))):
        kinds = [(_numbers(value.shape), value.dtype) for value in given]
    computing: _Computing | None = None

    def compile_steps(steps: Run) -> Run:
        nonlocal computing
        compute = computing = _Computing(backend, program, prepare_steps(steps, kinds))
        count = len(kept_values(program))

        def run(*handles: Tensor) -> tuple[Tensor, ...]:
            results = compute(*[backend.row_major(backend.array(x)) for x in handles])
            return tuple([wrap(result) for result in results[:count]])

        return run

    run = prepare_around(backend, tracing, program, sizes, compile_steps)
    assert computing is not None
    run.compile_now = computing.compile_now  # type: ignore[attr-defined]
    positions = _positions(program)
    if positions is not None:
        run.direct = Direct(  # type: ignore[attr-defined]
            computing.quick, tuple(kinds), backend.row_major_test, positions
        )
    return run


def _ask_whether_refused(
    backend: NamespaceBackend, program: Program, cause: Exception | None = None
) -> None:
    reason = backend.refused.get(program)
    if reason is not None:
        raise CannotCompileError(reason) from cause


def _numbers(shape: Sizes) -> tuple[int, ...]:
    return tuple([index_of(evaluated(size)) for size in shape])


def trace_steps(tracing: Traced, trace_arrays: TraceArrays, steps: Run, kinds: Kinds) -> Compile:
    """Has the engine trace the function of steps; the returned function compiles it."""
    errors: tuple[ElementError, ...] = ()

    def traced(*arrays: Native) -> list[Native]:
        nonlocal errors
        tracing.checks = []
        results = [tracing.array(x) for x in steps(*[wrap(array) for array in arrays])]
        errors = tuple([error for _, error in tracing.checks])
        if not errors:
            return results
        # One number is looked at after a run: that of the first check that failed, or how many
        # checks there are if all passed.
        found = len(errors)
        for number, (passed, _) in reversed([*enumerate(tracing.checks)]):
            found = tracing.xp.where(passed, found, number)
        return [*results, found]

    compile_arrays = trace_arrays(traced, kinds)
    return lambda: Compiled(compile_arrays(), errors)


class _Computing:
    """The steps as a function of arrays: to the values that are kept, and what tells of errors."""

    __slots__ = ("_backend", "_compile", "_compiled", "_program")

    def __init__(self, backend: NamespaceBackend, program: Program, compile_steps: Compile) -> None:
        self._backend = backend
        self._program = program
        self._compiled: Compiled | None = None
        self._compile = compile_steps

    def compile_now(self) -> Compiled:
        """The compiled steps; CannotCompileError if the engine's compiler refuses them."""
        if self._compiled is None:
            _ask_whether_refused(self._backend, self._program)
            try:
                self._compiled = self._compile()
            except Exception as error:
                answer = f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"
                self._backend.refused[self._program] = (
                    f"{self._backend.compiler} does not compile the program ({answer}); use "
                    "engine='steps' for this function"
                )
                _ask_whether_refused(self._backend, self._program, error)
        assert self._compiled is not None
        return self._compiled

    def __call__(self, *arrays: Native) -> Sequence[Native]:
        compiled = self.compile_now()
        try:
            results = compiled.compute(*arrays)
            errors = compiled.errors
            if errors and (number := self._backend.known_number(results[-1])) < len(errors):
                raise errors[number].exception()
        except self._backend.errors as error:
            self._backend.refuse(error)
        return results

    def quick(self) -> ArrayFunction:
        """The same function, as quick as the engine's own, once that is there.

        It does not explain errors: where it raises one, call this one.
        """
        compiled = self._compiled
        if compiled is None:
            return self
        if not compiled.errors:
            return compiled.compute
        compute, count, known_number = (
            compiled.compute,
            len(compiled.errors),
            self._backend.known_number,
        )

        def checked(*arrays: Native) -> Sequence[Native]:
            results = compute(*arrays)
            if known_number(results[-1]) < count:
                raise RuntimeError("an error that depends on elements")
            return results

        return checked


def _positions(program: Program) -> tuple[int, ...] | None:
    """Where each output is among the values that are kept; None if a run does more than
    the steps: something is written, another part of a value shown, or an argument moved."""
    kept = kept_values(program)
    if program.constants or program.shared_results:
        return None
    if any([x.order is not None or x.written is not None for x in program.inputs]):
        return None
    for operand in program.outputs:
        whole = View.row_major(program.values[operand.value].shape)
        if operand.value not in kept or operand.view != whole:
            return None
    return tuple([kept.index(operand.value) for operand in program.outputs])
