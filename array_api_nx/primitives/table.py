"""The table of primitive operations.

One row per primitive: its name, its family, the dtypes that it takes, and the dtype that it
gives. The frontend reads the rows to check and promote arguments; backends key their kernels on
them; the contract tests walk them. The families whose members differ only in what they compute
per element (unary, binary, reduce, arg_reduce, scan) share one method of the contract, which is
handed the row; every other primitive has a method of its own name.

CONTRIBUTING.md says what else a new row needs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from typing import Final, final

import numpy

from ..core import dtypes as d
from ..core.derived import derived
from ..core.dtypes import DType


@final
@dataclass(eq=False, slots=True)
class Primitive:
    """One row of the table, compared and hashed by identity.

    name: The standard's, which NumPy and the engines have, too, where nothing else is said.
    results: Result dtype for every operand dtype that a backend must accept.
    cast_first: Operand dtypes for which the standard defines nothing but users of NumPy expect an
        answer, with the dtype to cast to first. Backends never see them.
    family: "unary", "binary", "reduce", "arg_reduce", "scan", or the contract's section for the
        primitives that have a method of their own.
    numpy: NumPy's names for it, by default its own. The first one is the function that is called.
    corrected: The kinds of dtypes for which the standard wants another result of some elements than
        NumPy's function gives.
    operator: The Python operator that means it, as in ``__add__`` without the underscores; or
        empty.
    cost: Nanoseconds per element of NumPy's loop for float64, measured on an AVX-512 processor. Up
        to `EXACT_COST` the loop is taken to compute by vector instructions alone, which define
        every bit.
    by: The binary operation that a reduction or a scan combines elements with.
    identity: The result of a reduction of no elements.
    since: The version of the standard that brought the function; empty if it was always there.
    """

    name: str
    results: dict[DType, DType]
    cast_first: dict[DType, DType] = field(default_factory=dict)
    _: KW_ONLY
    family: str
    numpy: tuple[str, ...] = ()
    corrected: str = ""
    operator: str = ""
    cost: float = 10.0
    by: Primitive | None = None
    identity: int | None = None
    since: str = ""

    def __post_init__(self) -> None:
        self.numpy = self.numpy or (self.name,)
        TABLE.append(self)

    @property
    def is_predicate(self) -> bool:
        """Whether it gives booleans, whatever the dtype."""
        return {*self.results.values()} == {d.bool}

    def __repr__(self) -> str:
        return f"<{self.family} primitive {self.name}>"

    def __reduce__(self) -> str:
        return self.name.upper()


EXACT_COST: Final = 0.5
"""See `Primitive.cost`."""

TABLE: Final[list[Primitive]] = []
"""Every primitive, in the order of definition."""


def ufuncs() -> dict[numpy.ufunc, Primitive]:
    """The rows that ufuncs of NumPy compute, by ufunc; of several, the one to call is first."""
    rows = of_family("unary", "binary")
    found = {getattr(numpy, name, None): op for op in rows for name in op.numpy}
    return {each: op for each, op in found.items() if isinstance(each, numpy.ufunc)}


def of_family(*families: str) -> list[Primitive]:
    """The rows of the given families."""
    return [primitive for primitive in TABLE if primitive.family in families]


def check_kernels(backend: str, family: str, kernels: Collection[Primitive]) -> None:
    """Check, when the module of a backend is imported, that each row of a family has a kernel.

    ImportError: If one is missing.
    """
    missing = [op.name for op in of_family(family) if op not in kernels]
    if missing:
        raise ImportError(f"{backend} has no {family} kernel for {', '.join(missing)}")


_TO_FLOAT64: Final = dict.fromkeys(d.BOOL_LIKE, d.float64)
_TO_COMPLEX: Final = derived(
    lambda: {**dict.fromkeys(d.BOOL_LIKE, d.widest(d.COMPLEX)), **d.COMPLEX_OF}
)
_BOOL_TO_INT64: Final = {d.bool: d.int64}


def _same(dtypes: Iterable[DType]) -> dict[DType, DType]:
    return derived(lambda: {dtype: dtype for dtype in dtypes})


def _to(result: DType, dtypes: Iterable[DType]) -> dict[DType, DType]:
    return derived(lambda: dict.fromkeys(dtypes, result))


def _real_part(dtypes: Iterable[DType]) -> dict[DType, DType]:
    return derived(lambda: {dtype: d.REAL_OF.get(dtype, dtype) for dtype in dtypes})


_TRANSFORMED: Final = {dtype: d.PROMOTION[dtype, d.COMPLEX[0]] for dtype in d.SELF_COMPUTED}
_TO_TRANSFORM: Final = derived(lambda: {**_TO_FLOAT64, **d.NARROW})

_CHEAP: Final = 0.2
"""The cost of a few vector instructions."""


_FLOATING: Final = _same(d.FLOATING), _TO_FLOAT64
_REAL_FLOATING: Final = _same(d.REAL_FLOATING), _TO_FLOAT64
_FACTORED: Final = _same(d.SELF_COMPUTED), _TO_FLOAT64
"""Results and casts of functions that give fractions."""

_unary, _binary, _reduce, _scan = [
    partial(Primitive, family=family) for family in ("unary", "binary", "reduce", "scan")
]

# ---------------------------------------------------------------------- unary

ABS: Final = _unary("abs", _real_part(d.NUMERIC), cost=_CHEAP, operator="abs")
ACOS: Final = _unary("acos", *_FLOATING, cost=1.2)
ACOSH: Final = _unary("acosh", *_FLOATING, cost=2.5, corrected="c")
ASIN: Final = _unary("asin", *_FLOATING, cost=1.5)
ASINH: Final = _unary("asinh", *_FLOATING, cost=2.0)
ATAN: Final = _unary("atan", *_FLOATING, cost=1.6)
ATANH: Final = _unary("atanh", *_FLOATING, cost=1.4)
BITWISE_INVERT: Final = _unary("bitwise_invert", _same(d.BOOL_LIKE), cost=_CHEAP, operator="invert")
CBRT: Final = _unary("cbrt", *_REAL_FLOATING, cost=6.0)
CEIL: Final = _unary("ceil", _same(d.REAL), cost=_CHEAP)
CONJ: Final = _unary("conj", _same(d.NUMERIC), cost=_CHEAP)
COS: Final = _unary("cos", *_FLOATING, cost=4.0)
COSH: Final = _unary("cosh", *_FLOATING, cost=1.0)
DEG2RAD: Final = _unary("deg2rad", *_REAL_FLOATING, cost=_CHEAP, numpy=("deg2rad", "radians"))
EXP: Final = _unary("exp", *_FLOATING, cost=0.7)
EXP2: Final = _unary("exp2", *_REAL_FLOATING, cost=1.0)
EXPM1: Final = _unary("expm1", *_FLOATING, cost=1.2, corrected="c")
FABS: Final = _unary("fabs", *_REAL_FLOATING, cost=_CHEAP)
FLOOR: Final = _unary("floor", _same(d.REAL), cost=_CHEAP)
IMAG: Final = _unary("imag", _real_part(d.NUMERIC))
ISFINITE: Final = _unary("isfinite", _to(d.bool, d.ALL), cost=_CHEAP)
ISINF: Final = _unary("isinf", _to(d.bool, d.ALL), cost=_CHEAP)
ISNAN: Final = _unary("isnan", _to(d.bool, d.ALL), cost=_CHEAP)
LOG: Final = _unary("log", *_FLOATING, cost=0.8)
LOG10: Final = _unary("log10", *_FLOATING, cost=0.8)
LOG1P: Final = _unary("log1p", *_FLOATING, cost=1.0, corrected="c")
LOG2: Final = _unary("log2", *_FLOATING, cost=0.8)
LOGICAL_NOT: Final = _unary("logical_not", _to(d.bool, d.ALL), cost=0.5)
NEGATIVE: Final = _unary("negative", _same(d.NUMERIC), cost=_CHEAP, operator="neg")
POSITIVE: Final = _unary("positive", _same(d.NUMERIC), cost=_CHEAP, operator="pos")
RAD2DEG: Final = _unary("rad2deg", *_REAL_FLOATING, cost=_CHEAP, numpy=("rad2deg", "degrees"))
REAL: Final = _unary("real", _real_part(d.NUMERIC), cost=_CHEAP)
RECIPROCAL: Final = _unary("reciprocal", *_FLOATING, cost=0.5, since="2024.12", corrected="c")
ROUND: Final = _unary("round", _same(d.NUMERIC), cost=_CHEAP, numpy=("rint",))
SIGN: Final = _unary("sign", _same(d.NUMERIC), cost=0.5, corrected="c")
SIGNBIT: Final = _unary(
    "signbit", _to(d.bool, d.REAL_FLOATING), _TO_FLOAT64, cost=_CHEAP, since="2023.12"
)
SIN: Final = _unary("sin", *_FLOATING, cost=4.0)
SINH: Final = _unary("sinh", *_FLOATING, cost=1.0)
SQRT: Final = _unary("sqrt", *_FLOATING, cost=1.0)
SQUARE: Final = _unary("square", _same(d.NUMERIC), cost=_CHEAP)
TAN: Final = _unary("tan", *_FLOATING, cost=1.4, corrected="c")
TANH: Final = _unary("tanh", *_FLOATING, cost=1.5, corrected="c")
TRUNC: Final = _unary("trunc", _same(d.REAL), cost=_CHEAP)

# ---------------------------------------------------------------------- binary

ADD: Final = _binary("add", _same(d.ALL), cost=_CHEAP, operator="add")
ATAN2: Final = _binary("atan2", *_REAL_FLOATING, cost=2.0)
BITWISE_AND: Final = _binary("bitwise_and", _same(d.BOOL_LIKE), cost=_CHEAP, operator="and")
BITWISE_LEFT_SHIFT: Final = _binary(
    "bitwise_left_shift", _same(d.INTEGRAL), cost=_CHEAP, operator="lshift"
)
BITWISE_OR: Final = _binary("bitwise_or", _same(d.BOOL_LIKE), cost=_CHEAP, operator="or")
BITWISE_RIGHT_SHIFT: Final = _binary(
    "bitwise_right_shift", _same(d.INTEGRAL), cost=_CHEAP, operator="rshift"
)
BITWISE_XOR: Final = _binary("bitwise_xor", _same(d.BOOL_LIKE), cost=_CHEAP, operator="xor")
COPYSIGN: Final = _binary("copysign", *_REAL_FLOATING, cost=0.5, since="2023.12")
DIVIDE: Final = _binary("divide", *_FLOATING, cost=0.4, operator="truediv")
EQUAL: Final = _binary("equal", _to(d.bool, d.ALL), cost=_CHEAP, operator="eq")
FLOOR_DIVIDE: Final = _binary(
    "floor_divide", _same(d.REAL), cost=1.8, operator="floordiv", corrected="f"
)
FMAX: Final = _binary("fmax", _same(d.REAL), cost=0.5)
FMIN: Final = _binary("fmin", _same(d.REAL), cost=0.5)
FMOD: Final = _binary("fmod", _same(d.REAL), cost=4.5)
GREATER: Final = _binary("greater", _to(d.bool, d.ORDERED), cost=_CHEAP, operator="gt")
GREATER_EQUAL: Final = _binary("greater_equal", _to(d.bool, d.ORDERED), cost=_CHEAP, operator="ge")
HYPOT: Final = _binary("hypot", *_REAL_FLOATING, cost=6.0, since="2023.12")
LESS: Final = _binary("less", _to(d.bool, d.ORDERED), cost=_CHEAP, operator="lt")
LESS_EQUAL: Final = _binary("less_equal", _to(d.bool, d.ORDERED), cost=_CHEAP, operator="le")
LOGADDEXP: Final = _binary("logaddexp", *_REAL_FLOATING, cost=13.0)
LOGICAL_AND: Final = _binary("logical_and", _to(d.bool, d.ALL), cost=0.7)
LOGICAL_OR: Final = _binary("logical_or", _to(d.bool, d.ALL), cost=0.7)
LOGICAL_XOR: Final = _binary("logical_xor", _to(d.bool, d.ALL), cost=0.7)
MAXIMUM: Final = _binary("maximum", _same(d.ORDERED), cost=_CHEAP, since="2023.12")
MINIMUM: Final = _binary("minimum", _same(d.ORDERED), cost=_CHEAP, since="2023.12")
MULTIPLY: Final = _binary("multiply", _same(d.ALL), cost=_CHEAP, operator="mul")
NEXTAFTER: Final = _binary("nextafter", *_REAL_FLOATING, cost=3.5, since="2024.12")
NOT_EQUAL: Final = _binary("not_equal", _to(d.bool, d.ALL), cost=_CHEAP, operator="ne")
POW: Final = _binary("pow", _same(d.NUMERIC), cost=2.0, operator="pow")
REMAINDER: Final = _binary("remainder", _same(d.REAL), cost=8.0, operator="mod")
SUBTRACT: Final = _binary("subtract", _same(d.NUMERIC), cost=_CHEAP, operator="sub")

# ---------------------------------------------------------------------- reductions and scans

SUM: Final = _reduce("sum", _same(d.NUMERIC), _BOOL_TO_INT64, identity=0, by=ADD)
PROD: Final = _reduce("prod", _same(d.NUMERIC), _BOOL_TO_INT64, identity=1, by=MULTIPLY)
MAX: Final = _reduce("max", _same(d.ORDERED), by=MAXIMUM)
MIN: Final = _reduce("min", _same(d.ORDERED), by=MINIMUM)
ANY: Final = _reduce("any", _to(d.bool, d.ALL), identity=0, by=LOGICAL_OR)
ALL: Final = _reduce("all", _to(d.bool, d.ALL), identity=1, by=LOGICAL_AND)
COUNT_NONZERO: Final = _reduce("count_nonzero", _to(d.int64, d.ALL), identity=0, since="2024.12")
MEAN: Final = _reduce("mean", *_FLOATING)

ARGMAX: Final = Primitive("argmax", _to(d.int64, d.ORDERED), family="arg_reduce")
ARGMIN: Final = Primitive("argmin", _to(d.int64, d.ORDERED), family="arg_reduce")

CUMULATIVE_SUM: Final = _scan(
    "cumulative_sum", _same(d.NUMERIC), _BOOL_TO_INT64, since="2023.12", by=ADD
)
CUMULATIVE_PROD: Final = _scan(
    "cumulative_prod", _same(d.NUMERIC), _BOOL_TO_INT64, since="2024.12", by=MULTIPLY
)
CUMULATIVE_MAX: Final = _scan("cumulative_max", _same(d.ORDERED), by=MAXIMUM)
CUMULATIVE_MIN: Final = _scan("cumulative_min", _same(d.ORDERED), by=MINIMUM)

VAR: Final = Primitive("var", _real_part(d.FLOATING), _TO_FLOAT64, family="var")

# ---------------------------------------------------------------------- the rest, by section

EMPTY: Final = Primitive("empty", _same(d.ALL), family="creation")
FULL: Final = Primitive("full", _same(d.ALL), family="creation")
ARANGE: Final = Primitive("arange", _same(d.REAL), family="creation")
LINSPACE: Final = Primitive("linspace", _same(d.FLOATING), family="creation")
EYE: Final = Primitive("eye", _same(d.ALL), family="creation")
FROM_HOST: Final = Primitive("from_host", _same(d.ALL), family="creation")
TO_HOST: Final = Primitive("to_host", _same(d.ALL), family="memory")

WHERE: Final = Primitive("where", _same(d.ALL), family="ternary")
CLIP: Final = Primitive("clip", _same(d.REAL), family="ternary", since="2023.12")

SORT: Final = Primitive("sort", _same(d.ORDERED), family="sort")
ARGSORT: Final = Primitive("argsort", _to(d.int64, d.ORDERED), family="sort")
PARTITION: Final = Primitive("partition", _same(d.ORDERED), family="sort")
ARGPARTITION: Final = Primitive("argpartition", _to(d.int64, d.ORDERED), family="sort")
SEARCHSORTED: Final = Primitive(
    "searchsorted", _to(d.int64, d.ORDERED), family="sort", since="2023.12"
)

EXPAND: Final = Primitive("expand", _same(d.ALL), family="movement")
TRY_RESHAPE: Final = Primitive("try_reshape", _same(d.ALL), family="movement")
RESHAPE: Final = Primitive("reshape", _same(d.ALL), family="movement")
PERMUTE: Final = Primitive("permute", _same(d.ALL), family="movement")
SHRINK: Final = Primitive("shrink", _same(d.ALL), family="movement")
SLICE: Final = Primitive("slice", _same(d.ALL), family="movement")
FLIP: Final = Primitive("flip", _same(d.ALL), family="movement")
STRIDED: Final = Primitive("strided", _same(d.ALL), family="movement")
PAD: Final = Primitive("pad", _same(d.ALL), family="movement")
CAT: Final = Primitive("cat", _same(d.ALL), family="movement")
ROLL: Final = Primitive("roll", _same(d.ALL), family="movement")
REPEAT: Final = Primitive("repeat", _same(d.ALL), family="movement", since="2023.12")
TRIANGLE: Final = Primitive("triangle", _same(d.ALL), family="movement")

CAST: Final = Primitive("cast", _same(d.ALL), family="memory")
BITCAST: Final = Primitive("bitcast", _same(d.NUMERIC), family="memory")
CONTIGUOUS: Final = Primitive("contiguous", _same(d.ALL), family="memory")
COPY: Final = Primitive("copy", _same(d.ALL), family="memory")
ASSIGN: Final = Primitive("assign", _same(d.ALL), family="memory")
ASSIGN_STRIDED: Final = Primitive("assign_strided", _same(d.ALL), family="memory")

_DRAWN: Final = [dtype for dtype in d.REAL_FLOATING if dtype in d.SELF_COMPUTED]
DRAW: Final = Primitive("draw", _same([d.uint32, *_DRAWN, d.int64, d.uint64]), family="random")
THREEFRY: Final = Primitive("threefry", _same((d.uint32,)), family="random")

TAKE: Final = Primitive("take", _same(d.ALL), family="indexed")
GATHER: Final = Primitive("gather", _same(d.ALL), family="indexed")
SCATTER: Final = Primitive("scatter", _same(d.ALL), family="indexed")
INDEX_GET: Final = Primitive("index_get", _same(d.ALL), family="indexed")
INDEX_SET: Final = Primitive("index_set", _same(d.ALL), family="indexed")
NONZERO: Final = Primitive("nonzero", _to(d.int64, d.ALL), family="indexed")
ISIN: Final = Primitive("isin", _to(d.bool, d.ALL), family="indexed", since="2025.12")
BINCOUNT: Final = Primitive("bincount", _to(d.int64, d.INTEGRAL), family="indexed")
UNIQUE: Final = Primitive("unique", _same(d.ALL), family="indexed")

UNFOLD: Final = Primitive("unfold", _same(d.NUMERIC), family="window")
FOLD: Final = Primitive("fold", _same(d.NUMERIC), family="window")

MATMUL: Final = Primitive("matmul", _same(d.NUMERIC), _BOOL_TO_INT64, family="matrix")
VECDOT: Final = Primitive("vecdot", _same(d.NUMERIC), _BOOL_TO_INT64, family="matrix")
CONVOLVE: Final = Primitive("convolve", _same(d.NUMERIC), _BOOL_TO_INT64, family="matrix")

FFT: Final = Primitive("fft", _TRANSFORMED, _TO_TRANSFORM, family="fft")
IFFT: Final = Primitive("ifft", _TRANSFORMED, _TO_TRANSFORM, family="fft")
RFFT: Final = Primitive(
    "rfft",
    {x: _TRANSFORMED[x] for x in _TRANSFORMED if x not in d.COMPLEX},
    _TO_TRANSFORM,
    family="fft",
)
IRFFT: Final = Primitive("irfft", _real_part(d.COMPLEX), _TO_COMPLEX, family="fft")

CHOLESKY: Final = Primitive("cholesky", *_FACTORED, family="linalg")
QR: Final = Primitive("qr", *_FACTORED, family="linalg")
SVD: Final = Primitive("svd", *_FACTORED, family="linalg")
SVDVALS: Final = Primitive("svdvals", _real_part(d.SELF_COMPUTED), _TO_FLOAT64, family="linalg")
EIG: Final = Primitive("eig", _TRANSFORMED, _TO_FLOAT64, family="linalg")
EIGVALS: Final = Primitive("eigvals", _TRANSFORMED, _TO_FLOAT64, family="linalg")
EIGH: Final = Primitive("eigh", *_FACTORED, family="linalg")
EIGVALSH: Final = Primitive("eigvalsh", _real_part(d.SELF_COMPUTED), _TO_FLOAT64, family="linalg")
SOLVE: Final = Primitive("solve", *_FACTORED, family="linalg")
INV: Final = Primitive("inv", *_FACTORED, family="linalg")
SLOGDET: Final = Primitive("slogdet", *_FACTORED, family="linalg")
DET: Final = Primitive("det", *_FACTORED, family="linalg")
