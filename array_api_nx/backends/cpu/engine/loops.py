"""The inner loops that the extension computes with: a `Loop` for each operation on given dtypes.

A loop computes what the functions of `..ufunc_table` compute, bit for bit; where these correct
NumPy's answer, there is no loop.
"""

from __future__ import annotations

import sys
from functools import cache, lru_cache
from inspect import unwrap
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from ....contract.numpy_dtypes import COMPILED
from ....contract.ufuncs import UfuncLoop
from ....core import dtypes as d
from ....core.dtypes import DType
from ....native import native
from ....primitives import table as p
from ....primitives.table import EXACT_COST, Primitive
from . import fperrors

_CHEAP: Final = 0.4
"""Nanoseconds per element up to which a loop waits for the second-level cache, not for itself."""

_PER_BYTE: Final = 0.011
"""Nanoseconds to read or write a byte in the second-level cache."""

_WORTH_THREADS: Final = 24_000.0
"""Nanoseconds of work from which a loop over whole arrays is divided among threads, which takes a
few microseconds (docs/tuning.md, 133)."""

_BOOL: Final = np.dtype(bool)


INEXACT: Final = 0
EXACT_IN_ROWS: Final = 1
EXACT: Final = 2


class Loop(NamedTuple):
    """An operation, element by element, on given dtypes.

    name: NumPy's name for it in warnings.
    cost: Roughly the nanoseconds per element, if all operands are in cache.
    exactness: How far the bits of results depend on how the operands lie (element_loops.c):
        `EXACT` not at all, since every bit is defined; `EXACT_IN_ROWS` not as long as the elements
        of each row follow one another; `INEXACT` perhaps.
    """

    name: str
    inputs: tuple[DType, ...]
    output: DType
    cost: float
    ufunc: np.ufunc
    exactness: int

    @property
    def serial_limit(self) -> int:
        """Elements up to which one thread is as fast as several."""
        traffic = sum([dtype.itemsize for dtype in (*self.inputs, self.output)])
        # A cheap loop takes as long as the second-level cache takes to deliver the operands.
        time = self.cost if self.cost > _CHEAP else _PER_BYTE * traffic
        return int(_WORTH_THREADS / time)


# ---------------------------------------------------------------------- ufuncs

_OPERATIONS: Final = p.ufuncs()
_UFUNCS: Final = {op: each for each, op in reversed(_OPERATIONS.items())} | {p.REAL: np.positive}
"""The ufunc of each operation; `_OPERATIONS` has the operation of each ufunc."""

# Of these operations an integer is its own result.
_ROUNDING: Final = frozenset({p.CEIL, p.FLOOR, p.ROUND, p.TRUNC})


def _of_ufunc(
    ufunc: np.ufunc, inputs: tuple[DType, ...], output: DType, cost: float, name: str
) -> Loop | None:
    """A loop of the ufunc for exactly these dtypes; None if it has none."""
    signature = f"{''.join([each.char for each in inputs])}->{output.char}"
    if signature not in ufunc.types:
        return None
    exactness = EXACT if cost <= EXACT_COST else INEXACT
    if inputs[0].kind == "c":
        # Sums would be exact, but loops read elements that lie apart faster than passes copy them.
        exactness = min(exactness, EXACT_IN_ROWS)
        # The absolute value is hypot's; all but arithmetic has the functions of the C library.
        cost *= 8 if output.kind == "f" else 4 if cost < 0.4 else 20
    elif inputs[0].kind == "b":
        cost /= 8  # a vector has eight times as many elements
    elif inputs[0] in d.BELOW_DOUBLE and cost > 0.4:
        cost /= 2
    return Loop(name, inputs, output, cost, ufunc, exactness)


def is_arithmetic(op: Primitive) -> bool:
    """Whether the loops of an operation compute with vector instructions alone.

    Their floating-point flags are in a register that is read in no time. Other loops may call
    functions that raise flags elsewhere, too.
    """
    return op.cost <= EXACT_COST


@cache
def find(op: Primitive, dtype: DType) -> Loop | None:
    """The loop of a unary or binary primitive whose operands all have `dtype`.

    None if no loop gives the results of `..ufunc_table`. The extension uses the loop of `POW` only
    where `is_plain_power` (corrections.h) allows it: not for negative exponents of a signed
    integer type, nor for an exponent of 0.5 that is broadcast. The bits of a power may depend on
    whether the exponent has stride 0.
    """
    ufunc = _UFUNCS.get(op)
    if ufunc is None or dtype.kind in op.corrected:
        return None
    if op in _ROUNDING and dtype.kind in "iu":
        ufunc = np.positive
    output = _BOOL if op.is_predicate else op.results.get(dtype, dtype)
    return _of_ufunc(ufunc, (dtype,) * ufunc.nin, output, op.cost, ufunc.__name__)


def floor_division(dtype: DType) -> Loop | None:
    """NumPy's loop, whose results are wrong for infinite operands."""
    return _of_ufunc(np.floor_divide, (dtype, dtype), dtype, p.FLOOR_DIVIDE.cost, "floor_divide")


# ---------------------------------------------------------------------- other ufuncs

_COSTS: Final = {each: op.cost for each, op in _OPERATIONS.items()} | {np.bitwise_count: 0.2}
_OTHER_COST: Final = 10.0
"""Nanoseconds per element of ufuncs, and those that ufuncs of no operation are taken to cost."""


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
    return _of_ufunc(op.ufunc, op.inputs, op.output, cost, op.name)


def is_threadable(ufunc: np.ufunc) -> bool:
    """Whether several threads may run loops of a ufunc: as `of_ufunc`, and only while SciPy ignores
    errors in special functions, of which it would warn while they run."""
    return getattr(np, ufunc.__name__, None) is ufunc or (_is_scipy(ufunc) and scipy_is_quiet())


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


# ---------------------------------------------------------------------- products of matrices

MATMUL: Final[np.ufunc] = np.matmul if native is None else native.matmul
"""`numpy.matmul`, with the extension several times as fast for stacks of small matrices."""

# ---------------------------------------------------------------------- the extension's loops

Described: TypeAlias = tuple[np.ufunc, int, str, int, int, int, int, bool, bool]


def loop_for_native(op: Primitive, dtype: DType) -> Described | None:
    """The loop of a compiled callable, for operands of one dtype.

    Returns: The ufunc and the number of its loop; NumPy's name in warnings; the dtypes to which
        operands are cast first and of the result, as numbers in `COMPILED`; what `serial_limit`,
        `exactness` and `is_arithmetic` say; and whether one thread computes all. None where NumPy's
        result has to be corrected, where the dtype is not legal, and where the extension knows no
        such elements, as float16 without a compiler that has it.
    """
    dtype = dtype if dtype in op.results else op.cast_first.get(dtype, dtype)
    loop = find(op, dtype) if dtype in op.results else None
    if loop is None and op is p.FLOOR_DIVIDE and dtype.kind == "f":
        # The extension computes it alone, where no operand is infinite (corrections.c).
        return _described(floor_division(dtype), dtype, dtype, False, True)
    if loop is None:
        return None
    return _described(loop, dtype, op.results[dtype], is_arithmetic(op), False)


def ufunc_loop_for_native(loop: Loop, operand: DType, result: DType) -> Described | None:
    """What `loop_for_native` returns, for a loop of a ufunc that is no function of the standard."""
    return _described(loop, operand, result, False, True)


def _described(
    loop: Loop | None, operand: DType, result: DType, is_arithmetic: bool, is_alone: bool
) -> Described | None:
    if loop is None or not {operand, result} <= {*COMPILED}:
        return None
    signature = f"{''.join([each.char for each in loop.inputs])}->{loop.output.char}"
    return (
        loop.ufunc,
        loop.ufunc.types.index(signature),
        loop.name,
        COMPILED.index(operand),
        COMPILED.index(result),
        loop.serial_limit,
        loop.exactness,
        is_arithmetic,
        is_alone,
    )


if native is not None:
    native.set_operations(loop_for_native)
    native.set_errors(fperrors.apply_errstate)
