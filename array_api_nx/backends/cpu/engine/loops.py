"""The inner loops that kernels are made of: a `Loop` for each operation on given dtypes.

`find`, `cast`, `select` and `reduction` look them up. A loop computes what the functions of
`..ufunc_table` compute, bit for bit; where these correct NumPy's answer, there is no loop.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cache, lru_cache
from inspect import unwrap
from typing import Any, Final, TypeAlias, final

import numpy as np

from ....contract.numpy_dtypes import NDArray
from ....contract.random_numbers import MAX_NARROW_SPAN
from ....contract.ufuncs import UfuncLoop
from ....core import dtypes as d
from ....core.dtypes import DType
from ....native import native
from ....primitives import table as p
from ....primitives.table import EXACT_COST, Primitive
from ..ufunc_table import CORRECTED

__all__ = [
    "MIN_MOMENTS",
    "MOMENTS",
    "Loop",
    "Operation",
    "cast",
    "combining",
    "drawing_kind",
    "extreme",
    "find",
    "floor_division",
    "of_ufunc",
    "quiet_scipy",
    "reduction",
    "running",
    "scipy_is_quiet",
    "select",
]

Operation: TypeAlias = tuple[object, tuple[DType, ...], DType, int, bool, bool]
"""What the extension's `compute` and `update` take of a `Loop`: its `pointer`, `inputs`, `output`,
`serial_limit`, `materialise_scalar` and `is_exact`."""

_CHEAP: Final = 0.4
"""Nanoseconds per element up to which a loop waits for the second-level cache, not for itself."""

_PER_BYTE: Final = 0.011
"""Nanoseconds to read or write a byte in the second-level cache."""

_WORTH_THREADS: Final = 3_000.0
"""Nanoseconds of work from which a loop over whole arrays is divided among threads. That is faster
if the threads are still awake from an earlier loop, and about as fast if they must be woken."""

_BOOL: Final = np.dtype(bool)
_INT64: Final = np.dtype(np.int64)


@final
@dataclass(eq=False, repr=False, slots=True)
class Loop:
    """An operation, element by element, on given dtypes; equal only to itself.

    Attributes
    ----------
    name : str
        NumPy's name for it in warnings.
    inputs : tuple of dtype
    output : dtype
    cost : float
        Roughly the nanoseconds per element, if all operands are in cache.
    ufunc : ufunc or None
    call : callable or None
        ``call(*inputs, out)`` computes with NumPy into `out`, which may be one of the inputs. None
        for moments, which are not folded element by element (see native/sums.c).
    pointer : capsule or None
        The extension's name for it; None without the extension.
    is_scipy : bool
        Whether it does what `scipy.special.errstate` asks for.
    materialise_scalar : bool
        Whether it has vector instructions for arrays, but not for an array and a scalar.
    serial_limit : int
        Elements up to which one thread is as fast as several.
    is_exact : bool
        Whether every bit is defined, so that the layout of the operands cannot change one.
    is_link : bool
        Whether a chain can have it, whose results stay in registers (native/chains.h).
    operation : tuple or None
        What the extension takes to compute the loop at once; None without the extension.
    """

    name: str
    inputs: tuple[DType, ...]
    output: DType
    cost: float
    ufunc: np.ufunc | None
    call: Callable[..., object] | None
    pointer: object
    is_scipy: bool = False
    materialise_scalar: bool = field(init=False)
    serial_limit: int = field(init=False)
    is_exact: bool = field(init=False)
    is_link: bool = field(init=False, default=False)
    operation: Operation | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.materialise_scalar = self.ufunc is np.maximum or self.ufunc is np.minimum
        traffic = sum([dtype.itemsize for dtype in (*self.inputs, self.output)])
        # A cheap loop takes as long as the second-level cache takes to deliver the operands.
        time = self.cost if self.cost > _CHEAP else _PER_BYTE * traffic
        self.serial_limit = int(_WORTH_THREADS / time)
        self.is_exact = self.cost <= EXACT_COST
        if self.pointer is not None:
            limit, materialise = self.serial_limit, self.materialise_scalar
            known = self.pointer, self.inputs, self.output, limit, materialise, self.is_exact
            self.operation = known
            self.is_link = native is not None and native.is_link(self.pointer)

    def __repr__(self) -> str:
        return f"<loop {self.name}: {', '.join(map(str, self.inputs))} -> {self.output}>"


# ---------------------------------------------------------------------- ufuncs

_UFUNCS: Final = {
    op: ufunc
    for op in p.of_family("unary", "binary")
    if isinstance(ufunc := getattr(np, op.numpy, None), np.ufunc)
} | {p.REAL: np.positive}
"""The ufunc of each operation."""

# Of these operations an integer is its own result.
_ROUNDING: Final = frozenset({p.CEIL, p.FLOOR, p.ROUND, p.TRUNC})


def _of_ufunc(
    ufunc: np.ufunc, inputs: tuple[DType, ...], output: DType, cost: float, name: str
) -> Loop | None:
    """A loop of the ufunc for exactly these dtypes; None if it has none."""
    signature = f"{''.join([each.char for each in inputs])}->{output.char}"
    if signature not in ufunc.types:
        return None
    # A square root is one instruction, though a slow one, and correctly rounded.
    is_arithmetic = cost <= EXACT_COST or (ufunc is np.sqrt and output.kind == "f")
    pointer = None if native is None else native.ufunc_loop(ufunc, (*inputs, output), is_arithmetic)
    if inputs[0].kind == "c":
        cost *= 4 if cost < 0.4 else 20  # the C library's functions
    elif inputs[0] in d.BELOW_DOUBLE and cost > 0.4:
        cost /= 2
    return _runnable(Loop(name, inputs, output, cost, ufunc, ufunc, pointer))


def _runnable(loop: Loop) -> Loop | None:
    """The loop; None where the extension, which is there, has none for these dtypes."""
    return loop if native is None or loop.pointer is not None else None


def is_arithmetic(op: Primitive) -> bool:
    """Whether the loops of an operation compute with vector instructions alone.

    Their floating-point flags are in a register that is read in no time. Other loops may call
    functions that raise flags elsewhere, too.
    """
    return op.cost <= EXACT_COST


@cache
def find(op: Primitive, dtype: DType) -> Loop | None:
    """The loop of a unary or binary primitive whose operands all have `dtype`.

    None if no loop gives the results of `..ufunc_table`. Callers use the loop of `POW` only where
    `builder.is_plain_power` allows it: not for negative exponents of a signed integer type, nor for
    an exponent of 0.5 that is broadcast. The bits of a power may depend on whether the exponent has
    stride 0.
    """
    ufunc = _UFUNCS.get(op)
    if ufunc is None or dtype.kind in CORRECTED.get(op, ""):
        return None
    if op in _ROUNDING and dtype.kind in "iu":
        ufunc = np.positive
    output = _BOOL if op.is_predicate else op.results.get(dtype, dtype)
    return _of_ufunc(ufunc, (dtype,) * ufunc.nin, output, op.cost, ufunc.__name__)


def floor_division(dtype: DType) -> Loop | None:
    """NumPy's loop, whose results are wrong for infinite operands."""
    return _of_ufunc(np.floor_divide, (dtype, dtype), dtype, p.FLOOR_DIVIDE.cost, "floor_divide")


# ---------------------------------------------------------------------- other ufuncs

# Nanoseconds per element that other ufuncs are taken to cost: of NumPy's those that are cheaper
# than all special functions.
_OTHER_COST: Final = 10.0
_COSTS: Final[dict[np.ufunc, float]] = {
    np.bitwise_count: 0.2,
    np.deg2rad: 0.2,
    np.degrees: 0.2,
    np.exp2: 0.8,
    np.fabs: 0.2,
    np.fmax: 0.4,
    np.fmin: 0.4,
    np.rad2deg: 0.2,
    np.radians: 0.2,
}


@lru_cache(maxsize=1024)
def of_ufunc(op: UfuncLoop) -> Loop | None:
    """The loop of a ufunc that is no primitive; None if it must be called by NumPy.

    Loops run on several threads, without the GIL, and cannot raise exceptions. NumPy's loops and
    those of `scipy.special` do without; SciPy's loops of integers warn of other numbers. Other
    loops may raise exceptions, as Numba's, or need the GIL, as those of Python functions.
    """
    is_numpy = getattr(np, op.name, None) is op.ufunc
    if len(op.outputs) > 1 or not (is_numpy or _is_scipy(op.ufunc)):
        return None
    cost = _COSTS.get(op.ufunc, _OTHER_COST)
    loop = _of_ufunc(op.ufunc, op.inputs, op.output, cost, op.name)
    if loop is not None:
        loop.is_scipy = not is_numpy
    return loop


def _is_scipy(ufunc: np.ufunc) -> bool:
    """Whether it is a special function of SciPy's, and none of integers."""
    # Without an import of SciPy no ufunc is SciPy's. Its functions that dispatch on namespaces wrap
    # ufuncs.
    found = getattr(sys.modules.get("scipy.special"), ufunc.__name__, None)
    if found is None or unwrap(found) is not ufunc:
        return False
    return not any([char in np.typecodes["AllInteger"] for char in "".join(ufunc.types)])


_IGNORED: Final = frozenset({"ignore"})


def scipy_is_quiet() -> bool:
    """Whether `scipy.special.errstate` ignores all errors in special functions, as by default.

    Otherwise SciPy's loops warn or raise while they run, as the thread's settings say.
    """
    special: Any = sys.modules.get("scipy.special")
    if special is None:
        return True
    settings: dict[str, str] = special.geterr()
    return settings.pop("memory", None) == "raise" and _IGNORED.issuperset(settings.values())


def quiet_scipy() -> AbstractContextManager[object]:
    """A context in which loops of SciPy's neither warn nor raise."""
    special: Any = sys.modules.get("scipy.special")
    context: AbstractContextManager[object]
    context = nullcontext() if scipy_is_quiet() else special.errstate(all="ignore")
    return context


# ---------------------------------------------------------------------- products of matrices

MATMUL: Final[np.ufunc] = np.matmul if native is None else native.matmul
"""`numpy.matmul`, with the extension several times as fast for stacks of small matrices."""

# ---------------------------------------------------------------------- casts and selection


def _copy_cast(x: NDArray, out: NDArray) -> None:
    np.copyto(out, x, casting="unsafe")


@cache
def cast(source: DType, target: DType) -> Loop | None:
    """The loop that casts `source` to `target`, a copy if they are the same.

    None from floating-point and complex numbers to integers, where results that do not fit differ
    from loop to loop, and from complex to real numbers.
    """
    loop = None
    lossy = source.kind in "fc" and target.kind in "iu"
    if not lossy and (source.kind != "c" or target.kind in "bc"):
        pointer = None if native is None else native.cast_loop(source, target)
        loop = _runnable(Loop("cast", (source,), target, 0.3, None, _copy_cast, pointer))
    return loop


def drawing_kind(kind: str, span: int) -> str:
    """What `native.drawing` calls a kind of `Backend.draw`."""
    return "wide" if span > MAX_NARROW_SPAN else kind


def _copy_selected(condition: NDArray, x1: NDArray, x2: NDArray, out: NDArray) -> None:
    # By way of new memory, because `out` may be any of the inputs.
    np.copyto(out, np.where(condition, x1, x2))


@cache
def select(dtype: DType) -> Loop:
    """The loop of where: (bool, `dtype`, `dtype`) -> `dtype`."""
    pointer = None if native is None else native.select_loop(dtype.itemsize)
    return Loop("where", (_BOOL, dtype, dtype), dtype, 0.4, None, _copy_selected, pointer)


# ---------------------------------------------------------------------- reductions


def _identity(op: Primitive, dtype: DType) -> NDArray:
    if op.identity is not None:
        value: float = op.identity
    elif dtype.kind == "b":
        value = op is p.MIN
    elif dtype.kind == "f":
        value = -np.inf if op is p.MAX else np.inf
    else:
        limits = np.iinfo(dtype)
        value = limits.min if op is p.MAX else limits.max
    identity = np.asarray(value, dtype=dtype)
    identity.flags.writeable = False
    return identity


_FIELDS: Final = ("count", "sum", "reference", "offset", "squares")
MOMENTS: Final = np.dtype([(name, "f8") for name in _FIELDS])
"""The accumulator of a variance: the number of elements, their sum, their mean (reference +
offset), and the sum of their squared distances from it. Where elements lie near each other and far
from 0, one double would not hold the mean exactly enough to subtract that of other elements from
it."""
MIN_MOMENTS: Final = 32
"""Variances of fewer elements each are computed in two passes: an accumulator of 40 bytes for so
few elements would take too much memory."""


def _count_loop() -> Loop:
    pointer = None if native is None else native.count_loop()
    return Loop("reduce", (_INT64, _BOOL), _INT64, 0.1, np.add, np.add, pointer)


def _sum_loop(dtype: DType) -> Loop:
    pointer = None if native is None else native.sum_loop(dtype)
    return Loop("reduce", (dtype, dtype), dtype, 0.1, np.add, np.add, pointer)


def _moments_loop(dtype: DType) -> Loop:
    pointer = None if native is None else native.moments_loop(dtype)
    return Loop("reduce", (MOMENTS, dtype), MOMENTS, 0.3, None, None, pointer)


@cache
def reduction(op: Primitive, dtype: DType) -> tuple[Loop, NDArray] | None:
    """The loop (accumulator, `dtype`) -> accumulator of a reduction, and its identity, 0-d.

    None for what is no reduction by a loop, and for dtypes it does not take: SUM and PROD take
    numbers, MAX and MIN bools and real numbers, ANY, ALL and COUNT_NONZERO bools, VAR real
    floating-point numbers. Accumulators have the elements' dtype; those of COUNT_NONZERO are int64,
    those of VAR MOMENTS.
    """
    if dtype.kind == "f" and (op is p.SUM or op is p.VAR):
        loop = _runnable(_sum_loop(dtype) if op is p.SUM else _moments_loop(dtype))
        identity = _identity(op, dtype) if op is p.SUM else np.zeros((), MOMENTS)
        return None if loop is None else (loop, identity)
    if op is p.COUNT_NONZERO:
        return (_count_loop(), _identity(op, _INT64)) if dtype == _BOOL else None
    kinds = "b" if op is p.ANY or op is p.ALL else "iufc" if op is p.SUM or op is p.PROD else "biuf"
    if op.family != "reduce" or op.by is None or dtype.kind not in kinds:
        return None
    loop = _of_ufunc(_UFUNCS[op.by], (dtype, dtype), dtype, 0.3, "reduce")
    return None if loop is None else (loop, _identity(op, dtype))


@cache
def combining(loop: Loop) -> Loop | None:
    """The loop that combines two accumulators of a reduction's loop. None for moments, which the
    extension merges without one."""
    if loop.ufunc is None:
        return None
    dtype = loop.output
    return _of_ufunc(loop.ufunc, (dtype, dtype), dtype, loop.cost, loop.name)


@cache
def extreme(op: Primitive, dtype: DType) -> Loop | None:
    """The loop (accumulator, `dtype`) -> accumulator of MAX or MIN that passes over NaN.

    It gives what the loop of `reduction` gives where every NaN was replaced by its identity. None
    for dtypes without NaN.
    """
    if dtype.kind != "f" or dtype in d.NARROW:
        return None
    ufunc = np.fmax if op is p.MAX else np.fmin
    pointer = None if native is None else native.extreme_loop(dtype, op is p.MAX)
    return Loop("reduce", (dtype, dtype), dtype, 0.1, ufunc, ufunc, pointer)


# ---------------------------------------------------------------------- scans


@cache
def running(op: Primitive, dtype: DType) -> Loop | None:
    """The loop of a binary primitive for operands that are its own results, one element before.

    It gives what the loop of `find` gives, in less time.
    """
    loop = find(op, dtype)
    if loop is None or native is None or (op is not p.ADD and op is not p.MULTIPLY):
        return loop
    pointer = native.running_loop(dtype, op is p.MULTIPLY)
    if pointer is None:
        return loop
    return Loop(loop.name, loop.inputs, loop.output, loop.cost, loop.ufunc, loop.call, pointer)
