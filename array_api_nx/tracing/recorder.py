"""Recording of functions while they are traced.

A `Recorder` collects the steps of one program. It is the decider of symbolic questions (see
`core.symbolic.deciding`): where there is an example, the sizes of the first call, the example
answers and a guard is noted; where there is none, an error says what to give.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from math import nan
from typing import Any, Final, NoReturn, Self, TypeAlias, final

from ..contract.arguments import AxisOrder, Handle, Scalar
from ..contract.callers import ErrorSettings, caller, errstate, is_called_by, warn
from ..contract.program import Argument, Guard, Input, Program, Step, Value, ValueView, symbols_in
from ..contract.replay import inverse
from ..core.call_local import CallLocal
from ..core.dtypes import DType
from ..core.real import RELATIONS, Real, source, variables
from ..core.symbolic import (
    Dim,
    DimLike,
    Number,
    Sizes,
    UnboundError,
    UndecidedError,
    Var,
    deciding,
    dim_of_var,
)
from ..core.view import View
from ..primitives.rules import ArrayType, Elements


class TraceError(RuntimeError):
    """Code asked of an array in a trace what only its elements can answer.

    It is no TypeError or ValueError, which code that tries several ways would swallow.
    """


_NAN_TESTS: Final = (
    ("array_api_compat.common._helpers", "size"),
    ("array_api_extra._lib._helpers", "eager_shape"),
    ("array_api_extra._lib._utils._helpers", "eager_shape"),
    ("array_api_extra._agnostic._statistical", "cov"),
)
"""Functions that convert sizes to floats only to test for NaN, by the ends of their modules' names,
as SciPy and scikit-learn have copies of these modules."""


def place() -> tuple[str, str]:
    """File and line of the code that called the package, and the name of what it called."""
    found = caller()
    return f"{found.filename}:{found.lineno}", found.call


_ADVICE: Final = {
    "__bool__": "choose with where(condition, a, b), or pass what decides as a Python value",
    "__float__": "compute with the array itself, or pass the number as a Python value",
    "__int__": "compute with the array itself, or pass the number as a Python value",
    "__complex__": "compute with the array itself, or pass the number as a Python value",
    "__index__": "select with take or an index array, or pass the index as a Python int",
    "__contains__": "test with any(x == value), and choose with where",
    "nonzero": "choose with where(condition, a, b), or sum over a mask",
    "where": "choose with where(condition, a, b), or sum over a mask",
    "__getitem__": "choose with where(mask, x, 0) instead of x[mask], or sum over the mask",
    "repeat": "pass the number of repeats as a Python int",
}


_NAMES: Final = {
    "__array__": "conversion to NumPy",
    "__array_ufunc__": "a method of a ufunc",
    "array_ufunc": "a method of a ufunc",
    "__contains__": "in",
    "__dlpack__": "from_dlpack",
    "__format__": "a format",
    "__getitem__": "an index",
    "__reduce__": "pickle",
    "__reduce_ex__": "pickle",
    "__setitem__": "an assignment",
    "setitem": "an assignment",
}


def refuse(
    what: str,
    because: str = "while a function is traced its arrays have no elements",
    otherwise: str = "do it outside of the function, on its arguments or results",
    error: type[RuntimeError] = TraceError,
) -> NoReturn:
    """Raise the error for what the calling code asked of an array's elements.

    what: What the call does with them.
    because: Why it cannot.
    otherwise: What to do instead, where nothing better is known of that call.
    """
    where, name = place()
    advice = _ADVICE.get(name, otherwise)
    called = _NAMES.get(name, f"{name.strip('_')}()")
    raise error(f"{where}: {called} {what}, but {because}; {advice}")


def refuse_use(what: str, advice: str) -> NoReturn:
    """Raise the TraceError for a use of an array that no program can repeat."""
    raise TraceError(f"{place()[0]}: {what}; {advice}")


Condition: TypeAlias = tuple[Number, str, Number]
"""``left relation right``."""


@final
@dataclass(eq=False, slots=True)
class TracedStorage:
    """The memory that traced arrays show: which value it holds now.

    value: The number of the value.
    reason: Why it may not be written, if it may not.
    argument: The number of the argument whose memory it is.
    order_known: Whether the axes of the array that takes its place when the function runs step
        through memory in the order of `shape`, from the longest step to the shortest.
    is_packed: Whether that array is known to be row-major, without gaps; then its order is known,
        too. If not, it is open which reshapes of it need a copy.
    doubted (bool): Whether such a reshape was asked for, so that its result may be a view, or may
        be a copy.
    conditions: What must hold of sizes, so that reshapes which gave copies could give nothing else.
    copy_of: The storage of which it is a copy that may be a view, if it is one.
    """

    value: int
    shape: Sizes
    dtype: DType
    reason: str | None = None
    argument: int | None = None
    order_known: bool = True
    is_packed: bool = True
    doubted: bool = field(default=False, init=False)
    conditions: list[Condition] = field(default_factory=list, init=False)
    copy_of: TracedStorage | None = field(default=None, init=False)

    @property
    def original(self) -> TracedStorage:
        """The storage itself, or that of which it is a copy that may be a view."""
        return self if self.copy_of is None else self.copy_of


@dataclass(eq=False, slots=True)
class Traced:
    """The handle of arrays in a trace: a view of traced memory.

    Backends that compute shapes as traces do, without being in one, have subclasses of their own.
    """

    recorder: Recorder
    memory: TracedStorage
    view: View
    key: int | None = None  # see `repeats.Keys`

    def through(self, view: View) -> Self:
        """The same memory, shown through another view."""
        return type(self)(self.recorder, self.memory, view)

    def _gone(self, *args: object, **kwargs: object) -> NoReturn:
        # Only code that found the handle after its trace has ended comes here.
        raise TraceError(
            "this array was made while a function was traced, and has no elements now; return it "
            "from the function instead of storing it elsewhere"
        )

    __getattr__ = __array__ = __array_ufunc__ = _gone
    __add__ = __sub__ = __mul__ = __truediv__ = __floordiv__ = __mod__ = __pow__ = _gone
    __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rfloordiv__ = __rmod__ = __rpow__ = _gone
    __lt__ = __le__ = __gt__ = __ge__ = __and__ = __or__ = __xor__ = __lshift__ = _gone
    __rshift__ = _gone


class _Current(CallLocal["Recorder"]):
    """A variable that signal handlers do not see, either."""

    __slots__ = ()

    def get(self) -> Recorder | None:
        recorder = super().get()
        if recorder is None or recorder.in_handler is None or not recorder.in_handler():
            return recorder
        return None


current: Final = _Current()
"""The recorder of the trace that is going on."""


def rely_on_layout(handle: Handle) -> None:
    """Note that the function depends on whether an array in a trace is reshaped without a copy."""
    if type(handle) is Traced:
        handle.recorder.rely_on(handle)


MANY_STEPS: Final = 1000
"""More steps than anyone writes one by one."""


class Recorder:
    """One trace.

    example: The sizes of the call that is traced.
    invents: Whether sizes that depend on elements become variables of their own; otherwise they are
        an error.
    in_handler: Whether a signal handler runs, of which nothing is recorded; see `handlers.watch`.
    """

    def __init__(
        self,
        example: Mapping[Var, int] | None,
        *,
        invents: bool = False,
        in_handler: Callable[[], bool] | None = None,
    ) -> None:
        self.example = example
        self.invents = invents
        self.in_handler = in_handler
        self.inputs: list[tuple[Sizes, tuple[int, ...] | None, TracedStorage]] = []
        self.values: dict[int, Value] = {}
        self._value_numbers = count()
        self.steps: list[Any] = []  # `Step`, or `Repeat`, which repeats.py expands
        self.constants: dict[int, Handle] = {}
        self.guards: dict[Condition, Guard] = {}
        self._numbers: dict[int, Scalar] = {}
        """The Python scalar that a value of equal elements is known to hold, by its number."""
        self.same: dict[Dim, int] = {}
        """Sizes that guards have pinned to a number."""
        self.backend: object = None
        """The tracing backend of the device on which the program runs."""
        self.reasons: dict[int, str | None] = {}
        """Why arguments may not be written, by number, if the function depends on it."""
        self.needs_layout = False
        """Whether the function depends on the layout of arrays in a way that the program does not
        follow: on whether the result of a reshape is a view or a copy."""
        self.warned = False
        self.calls: Any = None  # the `CallRecorder`, if the public calls are recorded, too
        self._captured: dict[int, Traced] = {}
        self._invented: dict[tuple[int, View, str], Dim] = {}
        self._errors: ErrorSettings = errstate()

    # ------------------------------------------------------------------ values

    def _value(self, shape: Sizes, dtype: DType) -> int:
        # A finaliser may make values between these two lines.
        number = next(self._value_numbers)
        self.values[number] = Value(shape, dtype)
        return number

    def new_value(self, value: Value, number: Scalar | None) -> int:
        """The number of a new value, all of whose elements are `number` if that is not None."""
        found = self._value(value.shape, value.dtype)
        if number is not None:
            self._numbers[found] = number
        return found

    def known_number(self, value: int) -> Scalar | None:
        """What all elements of a value are, if that is known."""
        return self._numbers.get(value)

    def input(
        self,
        shape: Sizes,
        dtype: DType,
        order: AxisOrder | None,
        reason: str | None,
    ) -> Traced:
        """The next argument; `order` is its `Backend.axis_order`."""
        with deciding(None):
            axes = None if order is None else order.axes
            order_known = order is None or axes is not None
            if axes == tuple(range(len(shape))):
                axes = None
            whole, view = _block_of(shape, axes)
            number = self._value(whole, dtype)
            storage = TracedStorage(
                number,
                whole,
                dtype,
                reason,
                argument=number,
                order_known=order_known,
                is_packed=order is None or order.is_packed,
            )
        self.inputs.append((shape, axes, storage))
        return Traced(self, storage, view)

    def use_backend(self, backend: object) -> None:
        """Note that the program runs on the device of a tracing backend, the only one."""
        if self.backend not in (None, backend):
            refuse_use(
                "a traced function must not compute on two devices",
                "compile a function for each device, and move arrays between them outside",
            )
        self.backend = backend

    def constant(
        self,
        handle: Handle,
        shape: tuple[int, ...],
        dtype: DType,
        order: AxisOrder | None,
        reason: str | None,
    ) -> Traced:
        """An array that exists, as a constant: the same one for the same handle.

        `order` is its `Backend.axis_order`.
        """
        known = self._captured.get(id(handle))
        if known is None:
            number = self._value(shape, dtype)
            in_order = order is None or order.axes == tuple(range(len(shape)))
            storage = TracedStorage(
                number, shape, dtype, reason, order_known=in_order, is_packed=order is None
            )
            self.constants[storage.value] = handle
            known = Traced(self, storage, View.row_major(shape))
            self._captured[id(handle)] = known
        return known

    def record(
        self,
        method: str,
        arguments: Sequence[Argument],
        results: Sequence[ArrayType],
        **keywords: Argument,
    ) -> list[Traced]:
        """Note a step; returns a block for each of the results."""
        with deciding(None):
            numbers = tuple([self._value(x.shape, x.dtype) for x in results])
            given = tuple([self._argument(x) for x in arguments])
            named = tuple([(name, self._argument(x)) for name, x in keywords.items()])
            settings: ErrorSettings = errstate()
            errors = tuple([x for x in settings.items() if self._errors[x[0]] != x[1]])
            self.steps.append(Step(method, given, named, numbers, errors))
            if self.calls is not None and (errors or not self.calls.inside):
                self.calls.is_complete = False
            if len(self.steps) > MANY_STEPS and not self.warned and not self.invents:
                self.warned = True
                warn(
                    f"a compiled function has more than {MANY_STEPS:,} steps, of which this line "
                    "makes one: loops are unrolled, and each step takes time to record and memory; "
                    "compile the function that the loop repeats, and loop outside of it"
                )
            return [
                Traced(self, TracedStorage(number, x.shape, x.dtype), View.row_major(x.shape))
                for number, x in zip(numbers, results, strict=True)
            ]

    def _argument(self, x: Argument) -> Argument:
        if isinstance(x, Traced):
            return ValueView(x.memory.value, x.view)
        if type(x) is tuple or type(x) is list:
            return tuple([self._argument(part) for part in x])
        return x

    def update(self, target: Traced, method: str, arguments: Sequence[Argument]) -> None:
        """Write to memory: from now on it holds the result of an update."""
        storage = target.memory
        whole = target.through(View.row_major(storage.shape))
        (result,) = self.record(
            method, (whole, target.view, *arguments), [ArrayType(storage.shape, storage.dtype)]
        )
        storage.value = result.memory.value

    def holds_number(self, x: Traced, number: Scalar) -> None:
        """Note that all elements of the memory of `x` are a number that is known."""
        self._numbers[x.memory.value] = number

    def number(self, x: Traced) -> Scalar | None:
        """What all elements of `x` are, if that is known."""
        return self.known_number(x.memory.value)

    # ------------------------------------------------------------------ views and copies

    def doubt(self, x: Traced) -> None:
        """Note that the function asked for a view of `x` that some layouts have, and others not."""
        x.memory.doubted = True

    def copied(self, x: Traced, result: Traced) -> None:
        """Note that `result` is a copy of `x`, perhaps because there seemed to be no view."""
        if x.memory.doubted or x.memory.conditions:
            result.memory.doubted = x.memory.doubted
            result.memory.conditions = x.memory.conditions
            result.memory.copy_of = x.memory.original

    def rely_on(self, x: Traced) -> None:
        """Note that the function depends on which arrays share the memory of `x`."""
        if x.memory.doubted:
            self.needs_layout = True
        for condition in x.memory.conditions:
            self._guard(*condition)

    def why_read_only(self, x: Traced) -> str | None:
        """Why the memory of `x` may not be written; the function depends on the answer."""
        if x.memory.argument is not None:
            self.reasons[x.memory.argument] = x.memory.reason
        return x.memory.reason

    def show(self, outputs: Sequence[Traced], *, strided_shares: bool) -> None:
        """Note that arrays are results of the function, and so show what shares memory.

        `strided_shares` is that of the backend on which the program runs.
        """
        originals = [x.memory.original for x in outputs]
        for x in outputs:
            storage = x.memory
            if self._is_from_outside(storage.original) or originals.count(storage.original) > 1:
                self.rely_on(x)
            with deciding(None):
                is_whole = x.view == View.row_major(storage.shape)
            if self._is_from_outside(storage) and not (
                storage.is_packed and (strided_shares or is_whole)
            ):
                # The program would show a copy.
                self.needs_layout = True

    def _is_from_outside(self, storage: TracedStorage) -> bool:
        return storage.argument is not None or storage.value in self.constants

    def decided_size(
        self, x: Traced, words: str, most: DimLike, count: Callable[[Elements], int]
    ) -> DimLike:
        """See `ArrayType.decided_size`: an error, or a variable, one for one `x`."""
        if not self.invents:
            refuse(f"gives a size that depends on the elements ({words})")
        with deciding(None):
            key = x.memory.value, x.view, words
            if key not in self._invented:
                bound = most.bounds[1] if isinstance(most, Dim) else most
                self._invented[key] = dim_of_var(Var(self._free_name(), 0, bound))
            return self._invented[key]

    def _free_name(self) -> str:
        """The first of k, k2, k3, ... that no other size has: readers know sizes by their names."""
        known = [*self._invented.values(), *[size for shape, *_ in self.inputs for size in shape]]
        taken = {v.name for v in variables(known)}
        names = ("k" if i == 1 else f"k{i}" for i in count(1))
        return next(name for name in names if name not in taken)

    # ------------------------------------------------------------------ questions

    def holds(self, left: Number, relation: str, right: Number) -> bool | None:
        """Whether ``left relation right`` in the example; None if it does not tell."""
        if self.example is None or not all([v in self.example for v in variables((left, right))]):
            return None
        return RELATIONS[relation](self._number(left), self._number(right))

    def decide(self, left: Number, relation: str, right: Number) -> bool:
        """See `core.symbolic.Decider`: by the example, with a guard."""
        holds = self.holds(left, relation, right)
        if holds is None:
            names = ", ".join(map(str, variables((left, right))))
            raise UndecidedError(
                f"{place()[0]}: whether {left} {relation} {right} is not known of {names}; give "
                "sizes as ints, the same name to sizes that are equal, or bounds: "
                "a Dim of dynamic(name, min=..., max=...)"
            )
        self._guard(left, relation if holds else OPPOSITE[relation], right)
        return holds

    def value(self, expression: Dim | Real) -> int | float:
        """See `core.symbolic.Decider`: that of the example, which becomes the only one."""
        if self.example is None or not all([v in self.example for v in variables((expression,))]):
            raise UnboundError(
                f"{place()[0]}: the number that {expression} stands for is not known; compute with "
                "the size itself, or give it as an int"
            )
        number = self._number(expression)
        self._guard(expression, "==", number)
        return number

    def is_nan_test(self) -> bool:
        """See `core.symbolic.Decider`.

        Some libraries ask ``math.isnan`` whether a size is known, as unknown sizes of Dask's arrays
        are NaN. To ``Dim`` that is a conversion to a float, which makes a guard for that very size.
        So the functions in `_NAN_TESTS` are recognised by their names.
        """
        return is_called_by(_NAN_TESTS)

    def _number(self, expression: Number) -> int | float:
        assert self.example is not None
        code = source(expression, {v: f"values[{i}]" for i, v in enumerate(self.example)})
        names = {"values": list(self.example.values()), "inf": float("inf"), "nan": nan}
        number: int | float = eval(code, names)
        return number

    def _guard(self, left: Number, relation: str, right: Number) -> None:
        with deciding(None):
            if isinstance(right, Dim) and isinstance(left, int):
                left, relation, right = right, _REVERSED[relation], left
            key = left, relation, right
            if key not in self.guards:
                self.guards[key] = Guard(left, relation, right, place()[0])
            if relation == "==" and isinstance(left, Dim) and isinstance(right, int):
                self.same[left] = right

    def pinned(self, shape: Sizes) -> Sizes:
        """`shape` with the numbers that guards have found for its sizes."""
        if not self.same:
            return shape
        return tuple([self.same.get(n, n) if isinstance(n, Dim) else n for n in shape])

    # ------------------------------------------------------------------ the program

    def program(self, outputs: Sequence[Traced]) -> Program:
        """The program of what was recorded."""
        with deciding(None):
            inputs = tuple(
                [
                    Input(shape, order, None if storage.value == i else storage.value)
                    for i, (shape, order, storage) in enumerate(self.inputs)
                ]
            )
            found = [ValueView(x.memory.value, x.view) for x in outputs]
            shapes = [value.shape for value in self.values.values()]
            used = variables(
                tuple(symbols_in([*shapes, *[(g.left, g.right) for g in self.guards.values()]]))
                + tuple(symbols_in([(step.arguments, step.keywords) for step in self.steps]))
                + tuple([x for operand in found for x in symbols_in(operand.view)])
            )
            self._captured.clear()  # it leads to the recorder, and so to the function's closure
            return Program(
                used,
                inputs,
                tuple([self.values[number] for number in sorted(self.values)]),
                self.constants,
                tuple(self.steps),
                tuple(found),
                tuple(self.guards.values()),
            )


def _block_of(shape: Sizes, order: tuple[int, ...] | None) -> tuple[Sizes, View]:
    """The shape of the block of an argument, and the view by which the argument reads it."""
    if order is None:
        return shape, View.row_major(shape)
    whole = tuple([shape[axis] for axis in order])
    return whole, View.row_major(whole).permute(inverse(order))


OPPOSITE: Final = {"==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_REVERSED: Final = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
