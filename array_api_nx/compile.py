"""Functions traced once, with symbolic sizes, and replayed at any; and shapes without data."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial, update_wrapper
from importlib import import_module
from pickle import PicklingError
from types import MethodType
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Final,
    Generic,
    NamedTuple,
    ParamSpec,
    Self,
    TypeVar,
    overload,
)

import numpy as np

from .contract.arguments import Run
from .contract.errors import CannotCompileError
from .contract.program import Program
from .core.polynomial import Var
from .core.symbolic import dim_of_var
from .frontend.array import Array
from .frontend.bound_programs import (
    SMALLEST,
    Bound,
    Engine,
    ProgramCaller,
    as_argument,
    have_reasons,
    is_unsafe,
    named_sizes,
    placed_arguments,
    read_only_reason,
    with_arrays,
)
from .frontend.docstrings import complete_docstrings
from .frontend.operands import adopted
from .frontend.trace_function import (
    LARGEST,
    Argument,
    Echo,
    LayoutError,
    Output,
    ShapeSpec,
    Trace,
    is_leaf,
    named_specs,
    trace,
)
from .frontend.trees import Stateful, Structure, Tree, flatten, map_leaves
from .tracing.program_report import ProgramExplanation
from .tracing.recorder import TraceError, current

__all__ = ["CacheInfo", "Compiled", "ShapeSpec", "TraceError", "compile", "eval_shape"]

P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R")
K = TypeVar("K")

_MAX_KINDS: Final = 64
_MAX_PROGRAMS: Final = 16
_MAX_BOUND: Final = 256
_WORTH_COMPILING: Final = 10
"""The call, for the same sizes, from which on engine="auto" has an engine's compiler run a program.
Most programs are called with most of their sizes once or for ever (docs/tuning.md, 97)."""


class CacheInfo(NamedTuple):
    """Counts of a compiled function so far.

    Attributes
    ----------
    traces : int
        How often it was traced.
    programs : int
        How many programs it keeps.
    calls : int
        How often it was called.
    compilations : int
        How often the compiler of another engine, XLA or Inductor, made a function of a program.
        XLA compiles for given sizes, and so once for each; what Inductor compiles from the second
        sizes on serves others, too.
    """

    traces: int
    programs: int
    calls: int
    compilations: int = 0

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from .explain.html import card, table

        return card(type(self).__name__, [], table(self._asdict().items()))


class Compiled(ProgramCaller, Generic[P, R]):
    """A function that is traced once for each kind of arguments; see `compile`."""

    __slots__ = (
        "__dict__",
        "__weakref__",
        "_bound",
        "_compilations",
        "_engine",
        "_kinds",
        "_last",
        "_lowered",
        "_traces",
    )

    __wrapped__: Callable[P, R]

    def __init__(self, function: Callable[P, R], engine: Engine = "auto") -> None:
        super().__init__()
        update_wrapper(self, function)
        self._engine = engine
        # None stands where there is no program; see `LayoutError`.
        self._kinds: dict[Structure, list[Trace | None]] = {}
        self._bound: dict[Structure, Bound] = {}
        self._lowered: dict[Structure, Program] = {}
        self._last: Trace | None = None  # of the calls that C runs
        self._traces = 0
        self._compilations = 0

    def _run(self, *args: Tree, **kwargs: Tree) -> Tree:
        if current.get() is not None:
            # Part of a function that is being traced itself.
            return self.__wrapped__(*args, **kwargs)
        self._calls += 1
        if kwargs:
            return self._call(args, kwargs)
        key: list[Structure] = []
        arrays: list[Array] = []
        places: dict[int, int] = {}
        handles = []
        is_row_major = only_arrays = True
        place = None
        for x in args:
            kind = type(x)
            if kind is Array:
                number = places.setdefault(id(x), len(arrays))
                if number < len(arrays):
                    key.append(number)  # the array that was given before
                    continue
                handle = x._handle
                device = x._device
                if device is not place:
                    if place is not None and device != place:
                        return self._call(args, kwargs)
                    place = device
                backend = device.backend
                order = backend.axis_order(handle)
                if order is not None:
                    is_row_major = False
                # Not the device, as an equal one may be committed where this one is not.
                key += (backend.shape(handle), x._dtype, device.token, order)
                arrays.append(x)
                handles.append(handle)
            elif kind in _PLAIN:
                # 0.0 is equal to -0.0, and 1 to True, but their results differ.
                key += (kind, repr(x) if kind is float else x)
                only_arrays = False
            else:
                return self._call(args, kwargs)
        bound = self._bound.get(tuple(key))
        if bound is None or (bound.reasons and not have_reasons(arrays, bound.reasons)):
            bound = self._bind(tuple(key), *flatten((args, kwargs), is_leaf))
        elif bound.compile_later is not None:
            self._count_run(bound, bound.compile_later)
        program = bound.program()
        result = self._run_program(program, arrays)
        if result is not NotImplemented:
            if only_arrays and bound.is_open:
                self._keep_quick(program, args, arrays, places)
                self._last = bound.found
            return result
        if bound.found is None or (bound.writes and is_unsafe(bound, arrays)):
            return self.__wrapped__(*args, **kwargs)
        outputs = bound.run(*handles)
        if is_row_major and only_arrays:
            quick = bound.quick()
            if quick is not None:
                self._keep_quick(quick, args, arrays, places)
        return bound.finish(outputs, arrays)

    def _resized(self, shapes: tuple[tuple[int, ...], ...]) -> object:
        """What C runs for arguments that are like the last ones, but of other shapes; None if that
        is not known."""
        return None if self._last is None else self._last.calls_at(shapes)

    def _keep_quick(
        self, quick: object, args: tuple[Tree, ...], arrays: list[Array], places: dict[int, int]
    ) -> None:
        """Let the extension run the next calls with such arguments."""
        if len(arrays) == len(args):
            self._program = quick
        else:
            self._keep_program(quick, tuple([places[id(x)] for x in args]))

    if TYPE_CHECKING:

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        """By the name of the function, with the programs traced so far.

        Arrays from outside of the function go along as they are now.
        """
        module, name = self.__wrapped__.__module__, self.__wrapped__.__qualname__
        try:
            found = _named_object(module, name)
        except (ImportError, AttributeError):
            found = None
        if found is not self and found is not self.__wrapped__:
            raise PicklingError(
                f"cannot pickle {self!r}: {module}.{name} is not that function; define it at the "
                "top of a module, under its own name"
            )
        return _restore, (module, name, self._kinds, self._engine)

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Self: ...
    @overload
    def __get__(
        self: Compiled[Concatenate[Any, Q], R], instance: object, owner: type | None = None
    ) -> Callable[Q, R]: ...
    def __get__(self, instance: object, owner: type | None = None) -> object:
        return self if instance is None else MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<compiled {getattr(self, '__qualname__', repr(self.__wrapped__))}>"

    def _call(self, args: tuple[Tree, ...], kwargs: dict[str, Tree]) -> Tree:
        """The rest of `_run`: keywords, containers, and other values than numbers."""
        leaves, structure = flatten((args, kwargs), is_leaf)
        if any([isinstance(x, np.ndarray) for x in leaves]):
            return self._call(*map_leaves(adopted, (args, kwargs)))
        states = [x for x in leaves if isinstance(x, Stateful)]
        with ExitStack() as stack:
            for state in sorted(states, key=id):  # one order for all threads, so that none deadlock
                stack.enter_context(state._lock)
            return self._called(args, kwargs, with_arrays(leaves), structure, states)

    def _called(
        self,
        args: tuple[Tree, ...],
        kwargs: dict[str, Tree],
        leaves: list[Tree],
        structure: Structure,
        states: list[Stateful],
    ) -> Tree:
        if any([type(x) is ShapeSpec for x in leaves]):
            raise TypeError(
                "a call computes, and a ShapeSpec has no elements; use lower(...) to build a "
                "program from specs, or eval_shape for the shapes of the results"
            )
        key: list[Structure] = [structure]
        given, leaves = leaves, placed_arguments(leaves)
        for x in leaves:
            device = x._device
            order = device.backend.axis_order(x._handle)
            key += (device.backend.shape(x._handle), x._dtype, device.token, order)
        bound = self._bound.get(tuple(key))
        if bound is None or (bound.reasons and not have_reasons(leaves, bound.reasons)):
            bound = self._bind(tuple(key), leaves, structure)
        elif bound.compile_later is not None:
            self._count_run(bound, bound.compile_later)
        if not states and given is leaves:
            result = self._run_program(bound.program(), leaves)
            if result is not NotImplemented:
                return result
        # A write to an argument that followed another one would not reach the argument itself.
        is_moved = bound.found is not None and any(
            [given[i] is not leaves[i] for i in bound.writes]
        )
        if bound.found is None or is_moved or (bound.writes and is_unsafe(bound, leaves)):
            return self.__wrapped__(*args, **kwargs)
        for state, used in zip(states, bound.used, strict=True):
            state._advance(used, check=True)
        # Before the program runs: a signal's handler that draws meanwhile gets other numbers.
        reached = [state._advance(used) for state, used in zip(states, bound.used, strict=True)]
        try:
            handles = bound.run(*[x._handle for x in leaves])
        except BaseException:
            for state, used, place in zip(states, bound.used, reached, strict=True):
                state._retreat(used, place)
            raise
        return bound.finish(handles, given)

    def _bind(self, key: Structure, leaves: list[Tree], structure: Structure) -> Bound:
        """The program bound for arguments; under `key` is the last that was called for, under the
        second key that for arguments that may be written just like these."""
        exact_key = key, tuple([read_only_reason(x) for x in leaves])
        bound = self._bound.get(exact_key)
        if bound is None:
            found, sizes = self._find(leaves, structure)
            shapes = tuple([x.shape for x in leaves])
            bound = Bound(found, sizes, shapes, self._engine)
            if self._engine == "native" and leaves and leaves[0]._device.backend.compiler:
                self._compilations += bound.is_compiled_anew
        if len(self._bound) >= _MAX_BOUND:
            self._bound.clear()
        self._bound[key] = bound
        if bound.reasons:
            self._bound[exact_key] = bound
        return bound

    def _count_run(self, bound: Bound, compile_bound: Callable[[], Run]) -> None:
        """Let the engine's compiler have a program whose sizes come again and again."""
        bound.runs += 1
        if bound.runs < _WORTH_COMPILING:
            return
        bound.compile_later = None
        try:
            bound.compile_now(compile_bound)
            self._compilations += bound.is_compiled_anew
        except CannotCompileError:
            pass  # it goes on step by step, and `explain` says why

    def _find(
        self, leaves: list[Tree], structure: Structure
    ) -> tuple[Trace | None, tuple[int, ...]]:
        """The program for arguments, traced if there is none yet, and its sizes.

        None if no program is equivalent to the function; see `LayoutError`.
        """
        shapes = tuple([x.shape for x in leaves])
        kind = self._kind(structure, [as_argument(x, x.shape) for x in leaves])
        for known in self._kinds.get(kind, ()):
            if known is None:
                return None, ()
            sizes = known.head.match(shapes)
            if sizes is not None and have_reasons(leaves, known.reasons):
                return known, sizes
        dims = {n: dim_of_var(Var(name, SMALLEST, LARGEST)) for name, n in named_sizes(shapes)}
        arguments = [as_argument(x, tuple([dims.get(n, n) for n in x.shape])) for x in leaves]
        example = {dim.vars[0]: n for n, dim in dims.items()}
        try:
            found = self._trace(kind, structure, arguments, example)
        except LayoutError:
            self._traces += 1
            self._keep(kind, None)
            return None, ()
        sizes = found.head.match(shapes)
        assert sizes is not None
        return found, sizes

    @staticmethod
    def _kind(structure: Structure, arguments: list[Argument]) -> Structure:
        return structure, tuple(
            [(len(x.shape), x.dtype, x.device, x.device.committed, x.order) for x in arguments]
        )

    def _trace(
        self,
        kind: Structure,
        structure: Structure,
        arguments: list[Argument],
        example: dict[Var, int] | None,
    ) -> Trace:
        found = trace(self.__wrapped__, structure, arguments, example)
        _ = found.head.match  # says so if a size cannot be found from the arguments
        self._traces += 1
        self._keep(kind, found)
        return found

    def _keep(self, kind: Structure, found: Trace | None) -> None:
        if len(self._kinds) >= _MAX_KINDS:
            self._kinds.clear()
        known = self._kinds.setdefault(kind, [])
        # What there are programs for goes before what there is none for.
        known.insert(0 if found is not None else len(known), found)
        del known[_MAX_PROGRAMS:]

    def cache_info(self) -> CacheInfo:
        """How often the function was traced, what is kept, and how often it was called."""
        programs = sum([found is not None for known in self._kinds.values() for found in known])
        return CacheInfo(self._traces, programs, self._calls, self._compilations)

    def explain(self, *args: Tree, **kwargs: Tree) -> ProgramExplanation:
        """What a call with these arguments does; nothing is computed.

        Print it: inputs with symbolic shapes, guards with the lines that asked, steps and
        outputs, the memory that results take at one time, and for arrays how the device runs it.
        ``program`` is the `Program`. Of results that wait, `explain` of the package tells in which
        passes they will be computed.

        TraceError: If calls with these arguments run the function itself, as which arrays share
            memory depends on how the arguments lie in memory.
        """
        leaves, structure = flatten((args, kwargs), is_leaf)
        leaves = with_arrays(leaves)
        if any([type(x) is ShapeSpec for x in leaves]):
            return ProgramExplanation(self.lower(*args, **kwargs), None)
        found, sizes = self._find(leaves, structure)
        if found is None:
            raise TraceError(_WITHOUT_PROGRAM)
        program = found.program
        named = dict(zip(program.variables, sizes, strict=True))
        backend = found.device.backend
        compiles = self._engine == "native" or backend.compiles_unasked
        if self._engine == "steps":
            return ProgramExplanation(program, named)
        if found.calls is not None:
            return ProgramExplanation(program, named, _BY_CALLS)
        if backend.compiler is None or not compiles:
            return ProgramExplanation(program, named)
        try:
            backend.prepare_compiled(program, sizes)
        except CannotCompileError as error:
            return ProgramExplanation(program, named, str(error))
        how = f"one function, compiled by {backend.compiler}"
        return ProgramExplanation(program, named, how)

    def lower(self, *args: Tree, **kwargs: Tree) -> Program:
        """Build the program for arguments that are described by `ShapeSpec`, without data.

        Calls with arrays that fit the specs use it.

        UndecidedError: If the function asks for something that the specs leave open, such as
            whether two sizes are equal.
        """
        leaves, structure = flatten((args, kwargs), is_leaf)
        leaves = with_arrays(leaves)
        specs = [ShapeSpec(x.shape, x.dtype, x.device) for x in leaves]
        key = structure, tuple(specs)
        program = self._lowered.get(key)
        if program is None:
            named = named_specs(specs, SMALLEST)
            arguments = [Argument(x.shape, x.dtype, x.device, None, None) for x in named]
            kind = self._kind(structure, arguments)
            if len(self._lowered) >= _MAX_KINDS:
                self._lowered.clear()
            try:
                program = self._trace(kind, structure, arguments, None).program
            except LayoutError as error:
                # Calls do without it: it is not equivalent to the function at all sizes.
                if error.found is None:
                    raise TraceError(_WITHOUT_PROGRAM) from None
                program = error.found.program
            self._lowered[key] = program
        return program


def _named_object(module: str, name: str) -> Tree:
    found: Tree = import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found


def _restore(
    module: str, name: str, kinds: dict[Structure, list[Trace | None]], engine: Engine
) -> Compiled[..., Tree]:
    """The compiled function of that name, which gets the programs that it does not have."""
    found = _named_object(module, name)
    compiled = found if isinstance(found, Compiled) else Compiled(found, engine)
    for kind, known in kinds.items():
        compiled._kinds.setdefault(kind, known)
    return compiled


_PLAIN: Final = frozenset({bool, int, float, str, type(None)})
_WITHOUT_PROGRAM: Final = (
    "calls with these arguments run the function itself, not a program: it writes to, or returns, "
    "what is a view or a copy depending on how the arguments lie in memory; pass copies that are "
    "row-major, as asarray(x, copy=True) makes them"
)
_BY_CALLS: Final = "the function's calls are made again, without the Python code between them"
_ENGINES: Final = ("auto", "steps", "native")


@overload
def compile(function: Callable[P, R], /, *, engine: Engine = "auto") -> Compiled[P, R]: ...
@overload
def compile(*, engine: Engine = "auto") -> Callable[[Callable[P, R]], Compiled[P, R]]: ...
def compile(function: Callable[..., Any] | None = None, /, *, engine: Engine = "auto") -> Any:
    """Trace a function once, with symbolic sizes, and replay it at any size.

    function (callable): Over arrays, also NumPy's, and generators of `xp.random`, nested in tuples,
        lists, dicts and dataclasses, and hashable Python values. What it does must depend on its
        arguments alone: it runs once per kind of arguments, and later calls repeat what it did with
        arrays then. Arrays that it finds outside of itself are read at each call, and may not be
        written; a name that is bound again is not seen.
    engine: What runs the program. On ``cpu``, "auto" and "native" make the function's calls again,
        without the Python code between them. On ``jax:`` and ``torch:`` "native" has the engine's
        compiler make one function of the program: ``jax.jit`` for each set of sizes,
        ``torch.compile`` one that serves many from the second sizes on. "auto" does so from the
        tenth call with the same sizes on, where no step looks at elements. Functions that engines
        compile agree with the steps to rounding. On ``dask`` "native" makes one layer of the graph
        of programs whose chunks can be computed each by itself. "steps" calls the operations of the
        program one by one.
    Returns (Compiled): To be called like `function`; without `function`, a decorator. It is traced
        anew for other containers, numbers of dimensions, dtypes, devices or Python values, and
        where a size makes a difference that its code asked for: sizes of 0 and 1, sizes compared
        with each other or with a number. ``cache_info()`` counts, ``explain(...)`` shows the
        program, ``lower(...)`` builds it from `ShapeSpec`, and ``__wrapped__`` is the function.
    ValueError: If there is no such engine.
    TraceError: From a call that traces, where the function needs the elements of an array: in
        ``if``, ``float``, ``x[mask]``, ``nonzero``, or on the way to NumPy.
    CannotCompileError: From a call with ``engine="native"``, where the engine cannot compile a
        step, which it names, or refuses the program.

    >>> @xp.compile
    ... def standardise(x):
    ...     return (x - xp.mean(x, axis=0)) / xp.std(x, axis=0)
    >>> standardise(xp.ones((2, 3))).shape, standardise(xp.ones((100, 3))).shape
    ((2, 3), (100, 3))
    >>> standardise.cache_info()
    CacheInfo(traces=1, programs=1, calls=2, compilations=0)
    """
    if engine not in _ENGINES:
        raise ValueError(
            f"engine must be one of {', '.join(map(repr, _ENGINES))}, not {engine!r}; "
            "'auto' is the default"
        )
    return partial(Compiled, engine=engine) if function is None else Compiled(function, engine)


@overload
def eval_shape(function: Callable[..., Array], /, *args: Tree, **kwargs: Tree) -> ShapeSpec: ...
@overload
def eval_shape(
    function: Callable[..., list[Array]], /, *args: Tree, **kwargs: Tree
) -> list[ShapeSpec]: ...
@overload
def eval_shape(
    function: Callable[..., dict[K, Array]], /, *args: Tree, **kwargs: Tree
) -> dict[K, ShapeSpec]: ...
@overload
def eval_shape(function: Callable[..., Tree], /, *args: Tree, **kwargs: Tree) -> Tree: ...
def eval_shape(function: Callable[..., Tree], /, *args: Tree, **kwargs: Tree) -> Tree:
    """The shapes and dtypes that a function gives, without elements and without memory.

    function: Over arrays; see `compile`.
    *args, **kwargs: Its arguments, with a `ShapeSpec` for each array; an array stands for its own
        spec.
    Returns (nested containers of ShapeSpec): As the function returns arrays. Sizes that the
        elements decide, as of ``nonzero(x)``, are variables of their own.
    UndecidedError: If something depends on a size about which too little is known.
    TraceError: If something depends on the elements.
    Exception: What the function raises for arrays of such shapes and dtypes.

    >>> x = xp.ShapeSpec(("n", 3), xp.float32)
    >>> xp.eval_shape(lambda x: xp.concat([x, x])[1:, 0], x)
    ShapeSpec((2*n - 1,), float32)
    """
    leaves, structure = flatten((args, kwargs), is_leaf)
    leaves = with_arrays(leaves)
    specs = named_specs([ShapeSpec(x.shape, x.dtype, x.device) for x in leaves], SMALLEST)
    arguments = [Argument(x.shape, x.dtype, x.device, None, None) for x in specs]
    found = trace(function, structure, arguments, None, invents=True)

    def leaf(x: Tree) -> Tree:
        if type(x) is Output:
            return ShapeSpec(x.shape, x.dtype, found.device)
        if type(x) is Echo:
            if x.argument is not None:
                return specs[x.argument]
            assert x.array is not None
            return ShapeSpec(x.array.shape, x.array.dtype, x.array.device)
        return x

    return map_leaves(leaf, found.result)


complete_docstrings(vars(Compiled), ["explain", "lower"])
