"""Programs bound to sizes for compiled functions, and what of arguments decides which one runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from ..contract import replay
from ..contract.arguments import Handle, Run
from ..core.polynomial import Var
from ..core.real import Real, evaluated
from ..core.symbolic import Dim, Sizes, bind
from ..native import native
from .array import Array, wrap
from .operands import adopted, device_of_program, is_strict, on_device
from .trace_function import LARGEST, Argument, Echo, Output, ShapeSpec, Trace
from .trees import Stateful, Tree, map_leaves

if TYPE_CHECKING:
    from .._native import Native

SMALLEST: Final = 2
"""Sizes of 0 and 1 behave in ways of their own, and so are never variables."""

Engine: TypeAlias = Literal["auto", "steps", "native"]


class ProgramCaller:
    """The base class of compiled functions where there is no extension."""

    __slots__ = ("_calls", "_program")

    _program: object
    _calls: int

    def __init__(self) -> None:
        self._program = None
        self._calls = 0

    def _keep_program(self, program: object, places: tuple[int, ...]) -> None:
        self._program = program

    def _run_program(self, program: object, arrays: list[Array]) -> Tree:
        return NotImplemented

    def __call__(self, *args: Tree, **kwargs: Tree) -> Tree:
        return self._run(*args, **kwargs)  # type: ignore[attr-defined]


if native is not None:
    # While `_program` is not None, it tries that on the arguments before `_run` is called.
    ProgramCaller = native.ProgramCaller  # type: ignore[assignment, misc]


class Bound:
    """A program made ready for one set of sizes.

    Without a program `found` is None, and the function itself is called. `calls` are what the CPU
    makes, if they are known; `run` is the program, prepared when it is first asked for.
    """

    def __init__(
        self,
        found: Trace | None,
        sizes: tuple[int, ...],
        shapes: tuple[tuple[int, ...], ...],
        engine: Engine,
    ) -> None:
        self.found = found
        self.reasons: tuple[tuple[int, str | None], ...] = ()
        self.compile_later: Callable[[], Run] | None = None
        self.calls: Native.CallList | None = None
        self.runs = 1
        self._run: Run | None = None
        self._quick: tuple[object, ...] | None = ()
        if found is None:
            return
        backend = found.device.backend
        self.reasons = found.reasons
        values = dict(zip(found.head.variables, sizes, strict=True))
        self.used = tuple([_number(n, values) for n in found.used])
        self._sizes = sizes
        self._method = "prepare_compiled" if engine == "native" else "prepare"
        if engine == "steps":
            self._method = ""
        elif engine == "auto" and backend.compiler is not None and backend.compiles_unasked:
            self.compile_later = partial(backend.prepare_compiled, found.program, sizes)
        # Whether the extension may run the calls without asking for the reasons.
        self.is_open = not any([reason for _, reason in found.reasons])
        if found.calls is not None and engine != "steps":
            self.calls = found.calls_at(shapes)

    def program(self) -> object:
        """What the extension runs; None if it is not known yet, or if Python is to do it."""
        return self.calls or self._quick or None

    @property
    def run(self) -> Run:
        """The program, prepared for the sizes."""
        if self._run is None:
            assert self.found is not None
            backend, program = self.found.device.backend, self.found.program
            if self._method:
                self._run = getattr(backend, self._method)(program, self._sizes)
            else:
                self._run = replay.prepare(backend, program, self._sizes)
        return self._run

    @property
    def writes(self) -> list[int]:
        """The arguments that the program writes, by number."""
        inputs = self.found.program.inputs if self.found is not None else ()
        return [i for i, given in enumerate(inputs) if given.written is not None]

    @cached_property
    def finish(self) -> Callable[[Sequence[Handle], Sequence[Tree]], Tree]:
        """From the outputs' handles and the arrays given to the result."""
        assert self.found is not None
        return _finish(self.found, self._sizes)

    def compile_now(self, compile_bound: Callable[[], Run]) -> None:
        """Run the function of an engine's compiler from now on.

        Raises `CannotCompileError`, after which all is as before.
        """
        run = compile_bound()
        getattr(run, "compile_now", lambda: None)()
        self._run = run
        self._quick = ()

    @property
    def is_compiled_anew(self) -> bool:
        """Whether `run`, of an engine's compiler, is not a function that was there already."""
        return self.found is not None and not getattr(self.run, "is_shared", False)

    def quick(self) -> tuple[object, ...] | None:
        """What the extension needs to run the program at once, known after its first run."""
        if self._quick == ():
            assert self.found is not None
            self._quick = _quick(self.found, self.run)
        return self._quick


def _quick(found: Trace, run: Run) -> tuple[object, ...] | None:
    """What the extension needs to run a program of an engine's compiler at once; None if Python is
    to do it."""
    result, device = found.result, found.device
    is_single = type(result) is Output
    outputs = (result,) if is_single else result
    direct = getattr(run, "direct", None)
    if direct is None or found.reasons or type(outputs) is not tuple:
        return None
    if {type(x) for x in outputs} != {Output}:
        return None
    pairs = zip(direct.positions, [x.dtype for x in outputs], strict=True)
    return (
        direct.find_function(), device.backend, device, direct.given, direct.row_major_test,
        tuple(pairs), not is_single,
    )  # fmt: skip


def _finish(
    found: Trace, sizes: tuple[int, ...]
) -> Callable[[Sequence[Handle], Sequence[Tree]], Tree]:
    """The function from the outputs' handles and the arrays given to the result."""
    device = found.device
    if type(found.result) is Output:
        dtype = found.result.dtype
        return lambda handles, given: wrap(handles[0], dtype, device)
    if type(found.result) is tuple and all([type(x) is Output for x in found.result]):
        # In the order of the outputs.
        dtypes = [x.dtype for x in found.result]
        return lambda handles, given: tuple(
            [wrap(handle, dtype, device) for handle, dtype in zip(handles, dtypes, strict=True)]
        )
    values = dict(zip(found.head.variables, sizes, strict=True))

    def finish(handles: Sequence[Handle], given: Sequence[Tree]) -> Tree:
        def leaf(x: Tree) -> Tree:
            if type(x) is Output:
                return wrap(handles[x.position], x.dtype, device)
            if type(x) is Echo:
                return x.array if x.argument is None else given[x.argument]
            return _number(x, values)

        return map_leaves(leaf, found.result)

    return finish


def _number(x: Tree, values: dict[Var, int]) -> Tree:
    if not isinstance(x, Dim | Real):
        return x
    with bind(values):
        return evaluated(x)


# ---------------------------------------------------------------------- arguments


def with_arrays(leaves: list[Tree]) -> list[Tree]:
    """The leaves with arrays in place of NumPy's, and of arguments that have a state."""
    leaves = [adopted(x) for x in leaves]
    states = [id(x) for x in leaves if isinstance(x, Stateful)]
    if not states:
        return leaves
    if len({*states}) < len(states):
        raise TypeError("a compiled function takes the same generator once; pass it once")
    device = next((x.device for x in leaves if not isinstance(x, Stateful)), None)
    found: list[Tree] = []
    for x in leaves:
        found += x._arrays(device) if isinstance(x, Stateful) else [x]
    return found


_NAMES: Final = "nmklpqrstuvw"


def named_sizes(shapes: tuple[tuple[int, ...], ...]) -> list[tuple[str, int]]:
    """A name for every size that becomes a variable."""
    found = [n for shape in shapes for n in shape if SMALLEST <= n <= LARGEST]
    return [
        (_NAMES[i] if i < len(_NAMES) else f"n{i}", n) for i, n in enumerate(dict.fromkeys(found))
    ]


def as_argument(x: Tree, shape: Sizes) -> Argument:
    if type(x) is ShapeSpec:
        return Argument(shape, x.dtype, x.device, None, None)
    backend = x._device.backend
    return Argument(shape, x._dtype, x._device, backend.axis_order(x._handle), read_only_reason(x))


def placed_arguments(arrays: list[Tree]) -> list[Tree]:
    """Arguments of a program, which has one device: some follow others to it."""
    if len({x._device for x in arrays}) < 2 or is_strict():
        return arrays
    place = device_of_program([x._device for x in arrays])
    return [
        x if x._device.committed or x._device == place else on_device(x, place.uncommitted)
        for x in arrays
    ]


def read_only_reason(x: Array) -> str | None:
    """Why `x` may not be written, if it may not."""
    return x._device.backend.read_only_reason(x._handle)


def have_reasons(arrays: list[Array], reasons: tuple[tuple[int, str | None], ...]) -> bool:
    """Whether arrays, by their numbers, may be written or not for the reasons given."""
    return all([read_only_reason(arrays[i]) == reason for i, reason in reasons])


def is_unsafe(bound: Bound, arrays: list[Array]) -> bool:
    """Whether an array that the program writes shares memory with another one that it reads."""
    assert bound.found is not None
    constants = bound.found.program.constants.values()
    for i in bound.writes:
        written = arrays[i]
        others = [x._handle for j, x in enumerate(arrays) if j != i]
        may_overlap = written._device.backend.may_overlap
        if any([may_overlap(written._handle, x) for x in [*others, *constants]]):
            return True
    return False
