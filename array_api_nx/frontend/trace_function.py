"""Tracing functions: from a function and the shapes of its arguments to a program."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, final

import numpy as np

from ..config import config_context
from ..contract.arguments import AxisOrder, Handle
from ..contract.numpy_dtypes import DTypeLike
from ..contract.program import Input, Program, symbols_in
from ..core.call_local import hide_while_collecting
from ..core.dtypes import DType, as_dtype
from ..core.forks import hold_at_forks
from ..core.frozen import Frozen, set_slot
from ..core.polynomial import Var
from ..core.real import variables
from ..core.shape import check_shape
from ..core.symbolic import (
    Dim,
    DimLike,
    Sizes,
    SymbolicShape,
    UndecidedError,
    deciding,
    dim_of_var,
    eval_dim,
)
from ..device import Device, StandIn, as_device, default_device, use_backend
from ..native import native
from ..tracing import handlers
from ..tracing.backend import Switch
from ..tracing.recorder import Recorder, Traced, TraceError, current
from ..tracing.repeats import expanded
from ..tracing.simplify import simplify
from .array import Array, wrap
from .operands import device_of_program, is_strict, refuses_numpy
from .recorded_calls import CallRecorder, Calls, record_calls
from .trees import Stateful, Structure, Tree, build, map_leaves

if TYPE_CHECKING:
    from .._native import Native

SpecSize: TypeAlias = Any
"""A size of a spec: an int, a Dim, or a str that names one, which `named_specs` replaces."""


@final
class ShapeSpec(Frozen):
    """What is known of an array without elements: shape, dtype and device.

    shape (tuple of int, str or Dim): Sizes that are known, or names of sizes that are not. Within
        one call the same name is the same size; a size with a name is at least 2, as 0 and 1 behave
        in ways of their own.
    dtype (dtype):
    device (Device or str, optional): The default device if not given.
    TypeError: If a size is something else.
    ValueError: If a size is negative, or a name not an identifier.
    """

    __slots__ = ("device", "dtype", "shape")

    shape: tuple[SpecSize, ...]
    dtype: DType
    device: Device

    def __init__(
        self,
        shape: Sequence[int | str | Dim],
        dtype: DTypeLike,
        device: Device | str | None = None,
    ) -> None:
        sizes = tuple([_checked_size(size) for size in shape])
        check_shape(tuple([size for size in sizes if not isinstance(size, str)]))
        set_slot(self, "shape", sizes)
        set_slot(self, "dtype", as_dtype(dtype))
        set_slot(self, "device", as_device(device))

    def at(self, **sizes: int) -> ShapeSpec:
        """This spec with numbers for the sizes of the given names."""
        found = SymbolicShape([size for size in self.shape if not isinstance(size, str)])
        values = {v: sizes[v.name] for v in found.vars if v.name in sizes}
        shape = [
            sizes.get(size, size) if isinstance(size, str) else eval_dim(size, values)
            for size in self.shape
        ]
        known = [n if n is not None else size for n, size in zip(shape, self.shape, strict=True)]
        return ShapeSpec(known, self.dtype, self.device)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ShapeSpec):
            return NotImplemented
        return (self.shape, self.dtype, self.device) == (other.shape, other.dtype, other.device)

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype, self.device))

    def __repr__(self) -> str:
        sizes = [str(size) for size in self.shape]
        shape = f"({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"
        device = "" if self.device == default_device() else f", device={str(self.device)!r}"
        return f"ShapeSpec({shape}, {self.dtype}{device})"

    def __reduce__(self) -> tuple[object, ...]:
        return ShapeSpec, (self.shape, self.dtype, self.device)


def _checked_size(size: SpecSize) -> SpecSize:
    if isinstance(size, str):
        if not size.isidentifier():
            raise ValueError(
                f"{size!r} is no name of a size; give an identifier, or an expression as a Dim"
            )
        return size
    return SymbolicShape((size,))[0]


def is_leaf(x: object) -> bool:
    """Whether an argument is an array, stands for one, or has a state of arrays."""
    return (
        type(x) is Array
        or type(x) is ShapeSpec
        or isinstance(x, Stateful)
        or (isinstance(x, np.ndarray) and not refuses_numpy())
    )


def named_specs(leaves: Sequence[Tree], smallest: int) -> list[ShapeSpec]:
    """The leaves as specs without names: the same variable, at least `smallest`, for one name."""
    found: dict[str, Dim] = {}

    def size(given: SpecSize) -> SpecSize:
        if not isinstance(given, str):
            return given
        if given not in found:
            found[given] = dim_of_var(Var(given, smallest, LARGEST))
        return found[given]

    return [ShapeSpec([size(n) for n in x.shape], x.dtype, x.device) for x in leaves]


LARGEST: Final = 2**40
"""The largest value of a variable size: so that sums and products of a few do not overflow."""

# ---------------------------------------------------------------------- where traces go

_lock: Final = threading.RLock()
hold_at_forks(_lock)
_switches: Final[list[tuple[Device, Switch]]] = []
_traces = 0


@contextmanager
def _recording(recorder: Recorder, devices: Sequence[Device]) -> Iterator[None]:
    """Let this thread's calls go to `recorder` instead of the devices' backends."""
    global _traces
    for device in devices:
        device.backend.dlpack_device()  # so that it is loaded
    with _lock:
        # A finaliser that the collector runs here may trace, too. Its trace is not the last one,
        # because this one counts already, and each of these lines may be executed twice.
        _traces += 1
        record_calls(True)
        if hide_while_collecting not in gc.callbacks:
            gc.callbacks.append(hide_while_collecting)
        for device in {*devices}:
            backend: StandIn = device.backend
            if type(backend) is not Switch:
                backend = Switch(backend)
                _switches.append((device, backend))
                use_backend(device, backend)
    try:
        with current.set(recorder), deciding(recorder):
            yield
    finally:
        with _lock:
            _traces -= 1
            if not _traces:  # the same holds here
                record_calls(False)
                with suppress(ValueError):
                    while True:
                        gc.callbacks.remove(hide_while_collecting)
                for device, switch in _switches:
                    use_backend(device, switch.backend)
                _switches.clear()


_CPU: Final = as_device("cpu")

_SHORT: Final = 64
"""The steps of a program up to which it is put together at once: in a few milliseconds."""


class Argument(NamedTuple):
    """What of an argument a trace depends on."""

    shape: Sizes
    dtype: DType
    device: Device
    order: AxisOrder | None
    reason: str | None


@dataclass(eq=False, repr=False)
class Trace:
    """A function's program, and how its outputs make up the result.

    head: The program without its steps and outputs: for which sizes it is.
    result: The result of the function, in which each array is an `Output`, one of the arguments is
        an `Echo`, and each symbolic number is itself.
    reasons: Why arguments may not be written, for those whose flag the function has read.
    used: By how much each argument with a state advances.
    calls: The calls by which the CPU does the same to small arrays.
    """

    head: Program
    _make_program: Callable[[], Program] | None
    device: Device
    result: Tree
    reasons: tuple[tuple[int, str | None], ...]
    used: tuple[DimLike, ...]
    calls: Calls | None

    @cached_property
    def program(self) -> Program:
        """The program: what a long function does is put together when it is first asked for."""
        assert self._make_program is not None
        program = self._make_program()
        self._make_program = None
        assert program.variables == self.head.variables
        return program

    @property
    def _written(self) -> tuple[int, ...]:
        return tuple([i for i, reason in self.reasons if reason is None])

    def calls_at(self, shapes: tuple[tuple[int, ...], ...]) -> Native.CallList | None:
        """The calls for arguments of given shapes; None if there are none."""
        return None if self.calls is None else self.calls.at(shapes, self._written)

    def __reduce__(self) -> tuple[object, ...]:
        program = self.program
        constants = {
            number: wrap(handle, program.values[number].dtype, self.device)
            for number, handle in program.constants.items()
        }
        without = replace(program, constants={})
        return _restore, (
            without, constants, self.device, self.result, self.reasons, self.used
        )  # fmt: skip


def _restore(program: Program, constants: dict[int, Array], *rest: Any) -> Trace:
    handles = {number: array._handle for number, array in constants.items()}
    program = replace(program, constants=handles)
    device, result, reasons, used = rest
    return Trace(program, lambda: program, device, result, reasons, used, None)


class LayoutError(Exception):
    """No program is equivalent to the function: which arrays share memory depends on the layout.

    found: The program for row-major arguments.
    """

    def __init__(self, found: Trace | None) -> None:
        self.found = found


# No dataclasses, whose objects would be containers of a result.
class Output:
    """The place of an array that the program computes: the output at `position`."""

    __slots__ = ("dtype", "position", "shape")

    def __init__(self, position: int, shape: Sizes, dtype: DType) -> None:
        self.position = position
        self.shape = shape
        self.dtype = dtype

    def __reduce__(self) -> tuple[object, ...]:
        return _output, (self.position, self.shape, self.dtype)


def _output(position: int, shape: Sizes, dtype: DType) -> Output:
    """An output from a pickle, in which the dtype is another object that equals ours."""
    return Output(position, shape, as_dtype(dtype))


class Echo:
    """The place of an array that is an argument, or comes from outside of the function."""

    __slots__ = ("argument", "array")

    def __init__(self, argument: int | None, array: Array | None) -> None:
        self.argument = argument
        self.array = array


def trace(
    function: Callable[..., Tree],
    structure: Structure,
    arguments: Sequence[Argument],
    example: Mapping[Var, int] | None,
    *,
    invents: bool = False,
) -> Trace:
    """Run a function on arrays without elements, and record its operations.

    structure (object): Of its ``(args, kwargs)``, as `trees.flatten` gives it.
    arguments: The arrays among them.
    example, invents: See `Recorder`.
    LayoutError: If a program would write to, or show, other memory than the function may do.
    """
    recorder = Recorder(example, invents=invents, in_handler=handlers.watch(_trace.__code__))
    try:
        try:
            found = _trace(recorder, function, structure, arguments)
        finally:
            recorder.calls = None  # it has arrays that lead to the recorder
    except (TraceError, UndecidedError):
        raise
    except Exception:
        # The error may be one that the function does not raise for arrays that lie so in memory.
        if recorder.needs_layout and not invents:
            raise LayoutError(None) from None
        raise
    if recorder.needs_layout and not invents:
        raise LayoutError(found)
    return found


def _trace(
    recorder: Recorder,
    function: Callable[..., Tree],
    structure: Structure,
    arguments: Sequence[Argument],
) -> Trace:
    default = default_device()
    chosen = default
    if not is_strict():
        # New arrays are on the device of the arguments, as a program has one device.
        chosen = device_of_program([x.device for x in arguments])
        arguments = [
            x if x.device.committed or x.device == chosen else x._replace(device=chosen.uncommitted)
            for x in arguments
        ]
    devices = [x.device for x in arguments]
    with (
        config_context(default_device=chosen),
        _recording(recorder, [default, chosen, *devices]),
    ):
        given = [
            wrap(recorder.input(x.shape, x.dtype, x.order, x.reason), x.dtype, x.device)
            for x in arguments
        ]
        numbers = {id(x): i for i, x in enumerate(given)}
        if native is not None and chosen == _CPU and not recorder.invents:
            recorder.calls = CallRecorder(given)
        states: list[Stateful] = []
        args, kwargs = build(structure, given, states)
        result = function(*args, **kwargs)
        outputs: list[Handle] = []

        def place(x: Tree) -> Tree:
            nonlocal chosen
            if type(x) is not Array:
                return x
            if id(x) in numbers:
                return Echo(numbers[id(x)], None)
            if type(x._handle) is not Traced:
                return Echo(None, x)
            chosen = x._device
            backend: StandIn = chosen.backend
            recorder.use_backend(backend.tracing)
            outputs.append(x._handle)
            return Output(len(outputs) - 1, x.shape, x._dtype)

        placed = map_leaves(place, result)
        # Without outputs only writes to arguments are left.
        for device in devices if not outputs else ():
            backend: StandIn = device.backend
            if backend.tracing is recorder.backend:
                chosen = device
        recorder.show(outputs, strided_shares=chosen.backend.strided_shares)
    if any([device == chosen and device.committed for device in devices]):
        chosen = Device(chosen.name)
    reasons = tuple(recorder.reasons.items())
    used = tuple([x._blocks() for x in states])
    count = len(recorder.steps)
    make: Callable[[], Program] = partial(_program, recorder, outputs)
    calls = None
    if recorder.calls is not None and not states:
        head = _head(recorder)
        calls = recorder.calls.calls(head, result)
    if calls is None or count <= _SHORT:
        program = make()
        head, make = program, lambda: program
    return Trace(head, make, chosen, placed, reasons, used, calls)


def _program(recorder: Recorder, outputs: Sequence[Traced]) -> Program:
    recorder.steps = list(expanded(recorder.steps))
    return simplify(recorder.program(outputs))


def _head(recorder: Recorder) -> Program:
    """The program without its steps and outputs."""
    guards = tuple(recorder.guards.values())
    inputs = tuple([Input(shape, order, None) for shape, order, _ in recorder.inputs])
    values = tuple([recorder.values[i] for i in range(len(inputs))])
    sizes = [x.shape for x in values]
    used = variables(tuple(symbols_in([*sizes, *[(g.left, g.right) for g in guards]])))
    return Program(used, inputs, values, {}, (), (), guards)
