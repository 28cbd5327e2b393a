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
from typing import Final, final

import numpy

from ..core import dtypes as d
from ..core.derived import derived
from ..core.dtypes import DType


@final
class Primitive:
    """One row of the table, compared and hashed by identity.

    name: The standard's, which NumPy and the engines have, too, where nothing else is said.
    family: "unary", "binary", "reduce", "arg_reduce", "scan", or the contract's section for the
        primitives that have a method of their own.
    results: Result dtype for every operand dtype that a backend must accept.
    cast_first: Operand dtypes for which the standard defines nothing but users of NumPy expect an
        answer, with the dtype to cast to first. Backends never see them.
    numpy: NumPy's names for it, of which the first is that of the function to call.
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

    __slots__ = (
        "by", "cast_first", "corrected", "cost", "family", "identity", "name", "numpy", "operator",
        "results", "since",
    )  # fmt: skip

    name: str
    family: str
    results: dict[DType, DType]
    cast_first: dict[DType, DType]
    numpy: tuple[str, ...]
    corrected: str
    operator: str
    cost: float
    by: Primitive | None
    identity: int | None
    since: str

    def __init__(
        self,
        name: str,
        family: str,
        results: dict[DType, DType],
        cast_first: dict[DType, DType] | None = None,
        *,
        numpy: str = "",
        corrected: str = "",
        operator: str = "",
        cost: float = 10.0,
        by: Primitive | None = None,
        identity: int | None = None,
        since: str = "",
    ) -> None:
        self.name = name
        self.family = family
        self.results = results
        self.cast_first = cast_first or {}
        self.numpy = tuple(numpy.split()) or (name,)
        self.corrected = corrected
        self.operator = operator
        self.cost = cost
        self.by = by
        self.identity = identity
        self.since = since
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

# ---------------------------------------------------------------------- unary

ABS: Final = Primitive("abs", "unary", _real_part(d.NUMERIC), cost=_CHEAP, operator="abs")
ACOS: Final = Primitive("acos", "unary", *_FLOATING, cost=1.2)
ACOSH: Final = Primitive("acosh", "unary", *_FLOATING, cost=2.5, corrected="c")
ASIN: Final = Primitive("asin", "unary", *_FLOATING, cost=1.5)
ASINH: Final = Primitive("asinh", "unary", *_FLOATING, cost=2.0)
ATAN: Final = Primitive("atan", "unary", *_FLOATING, cost=1.6)
ATANH: Final = Primitive("atanh", "unary", *_FLOATING, cost=1.4)
BITWISE_INVERT: Final = Primitive(
    "bitwise_invert", "unary", _same(d.BOOL_LIKE), cost=_CHEAP, operator="invert"
)
CBRT: Final = Primitive("cbrt", "unary", *_REAL_FLOATING, cost=6.0)
CEIL: Final = Primitive("ceil", "unary", _same(d.REAL), cost=_CHEAP)
CONJ: Final = Primitive("conj", "unary", _same(d.NUMERIC), cost=_CHEAP)
COS: Final = Primitive("cos", "unary", *_FLOATING, cost=8.0)
COSH: Final = Primitive("cosh", "unary", *_FLOATING, cost=1.0)
DEG2RAD: Final = Primitive(
    "deg2rad", "unary", *_REAL_FLOATING, cost=_CHEAP, numpy="deg2rad radians"
)
EXP: Final = Primitive("exp", "unary", *_FLOATING, cost=0.7)
EXP2: Final = Primitive("exp2", "unary", *_REAL_FLOATING, cost=1.0)
EXPM1: Final = Primitive("expm1", "unary", *_FLOATING, cost=1.2, corrected="c")
FABS: Final = Primitive("fabs", "unary", *_REAL_FLOATING, cost=_CHEAP)
FLOOR: Final = Primitive("floor", "unary", _same(d.REAL), cost=_CHEAP)
IMAG: Final = Primitive("imag", "unary", _real_part(d.NUMERIC))
ISFINITE: Final = Primitive("isfinite", "unary", _to(d.bool, d.ALL), cost=_CHEAP)
ISINF: Final = Primitive("isinf", "unary", _to(d.bool, d.ALL), cost=_CHEAP)
ISNAN: Final = Primitive("isnan", "unary", _to(d.bool, d.ALL), cost=_CHEAP)
LOG: Final = Primitive("log", "unary", *_FLOATING, cost=0.8)
LOG10: Final = Primitive("log10", "unary", *_FLOATING, cost=0.8)
LOG1P: Final = Primitive("log1p", "unary", *_FLOATING, cost=1.0, corrected="c")
LOG2: Final = Primitive("log2", "unary", *_FLOATING, cost=0.8)
LOGICAL_NOT: Final = Primitive("logical_not", "unary", _to(d.bool, d.ALL), cost=0.5)
NEGATIVE: Final = Primitive("negative", "unary", _same(d.NUMERIC), cost=_CHEAP, operator="neg")
POSITIVE: Final = Primitive("positive", "unary", _same(d.NUMERIC), cost=_CHEAP, operator="pos")
RAD2DEG: Final = Primitive(
    "rad2deg", "unary", *_REAL_FLOATING, cost=_CHEAP, numpy="rad2deg degrees"
)
REAL: Final = Primitive("real", "unary", _real_part(d.NUMERIC), cost=_CHEAP)
RECIPROCAL: Final = Primitive(
    "reciprocal", "unary", *_FLOATING, cost=0.5, since="2024.12", corrected="c"
)
ROUND: Final = Primitive("round", "unary", _same(d.NUMERIC), cost=_CHEAP, numpy="rint")
SIGN: Final = Primitive("sign", "unary", _same(d.NUMERIC), cost=0.5, corrected="c")
SIGNBIT: Final = Primitive(
    "signbit", "unary", _to(d.bool, d.REAL_FLOATING), _TO_FLOAT64, cost=_CHEAP, since="2023.12"
)
SIN: Final = Primitive("sin", "unary", *_FLOATING, cost=8.0)
SINH: Final = Primitive("sinh", "unary", *_FLOATING, cost=1.0)
SQRT: Final = Primitive("sqrt", "unary", *_FLOATING, cost=1.0)
SQUARE: Final = Primitive("square", "unary", _same(d.NUMERIC), cost=_CHEAP)
TAN: Final = Primitive("tan", "unary", *_FLOATING, cost=1.4, corrected="c")
TANH: Final = Primitive("tanh", "unary", *_FLOATING, cost=1.5, corrected="c")
TRUNC: Final = Primitive("trunc", "unary", _same(d.REAL), cost=_CHEAP)

# ---------------------------------------------------------------------- binary

ADD: Final = Primitive("add", "binary", _same(d.ALL), cost=_CHEAP, operator="add")
ATAN2: Final = Primitive("atan2", "binary", *_REAL_FLOATING, cost=2.0)
BITWISE_AND: Final = Primitive(
    "bitwise_and", "binary", _same(d.BOOL_LIKE), cost=_CHEAP, operator="and"
)
BITWISE_LEFT_SHIFT: Final = Primitive(
    "bitwise_left_shift", "binary", _same(d.INTEGRAL), cost=_CHEAP, operator="lshift"
)
BITWISE_OR: Final = Primitive(
    "bitwise_or", "binary", _same(d.BOOL_LIKE), cost=_CHEAP, operator="or"
)
BITWISE_RIGHT_SHIFT: Final = Primitive(
    "bitwise_right_shift", "binary", _same(d.INTEGRAL), cost=_CHEAP, operator="rshift"
)
BITWISE_XOR: Final = Primitive(
    "bitwise_xor", "binary", _same(d.BOOL_LIKE), cost=_CHEAP, operator="xor"
)
COPYSIGN: Final = Primitive("copysign", "binary", *_REAL_FLOATING, cost=0.5, since="2023.12")
DIVIDE: Final = Primitive("divide", "binary", *_FLOATING, cost=0.4, operator="truediv")
EQUAL: Final = Primitive("equal", "binary", _to(d.bool, d.ALL), cost=_CHEAP, operator="eq")
FLOOR_DIVIDE: Final = Primitive(
    "floor_divide", "binary", _same(d.REAL), cost=1.8, operator="floordiv", corrected="f"
)
FMAX: Final = Primitive("fmax", "binary", _same(d.REAL), cost=0.5)
FMIN: Final = Primitive("fmin", "binary", _same(d.REAL), cost=0.5)
FMOD: Final = Primitive("fmod", "binary", _same(d.REAL), cost=4.5)
GREATER: Final = Primitive("greater", "binary", _to(d.bool, d.ORDERED), cost=_CHEAP, operator="gt")
GREATER_EQUAL: Final = Primitive(
    "greater_equal", "binary", _to(d.bool, d.ORDERED), cost=_CHEAP, operator="ge"
)
HYPOT: Final = Primitive("hypot", "binary", *_REAL_FLOATING, cost=6.0, since="2023.12")
LESS: Final = Primitive("less", "binary", _to(d.bool, d.ORDERED), cost=_CHEAP, operator="lt")
LESS_EQUAL: Final = Primitive(
    "less_equal", "binary", _to(d.bool, d.ORDERED), cost=_CHEAP, operator="le"
)
LOGADDEXP: Final = Primitive("logaddexp", "binary", *_REAL_FLOATING, cost=13.0)
LOGICAL_AND: Final = Primitive("logical_and", "binary", _to(d.bool, d.ALL), cost=0.7)
LOGICAL_OR: Final = Primitive("logical_or", "binary", _to(d.bool, d.ALL), cost=0.7)
LOGICAL_XOR: Final = Primitive("logical_xor", "binary", _to(d.bool, d.ALL), cost=0.7)
MAXIMUM: Final = Primitive("maximum", "binary", _same(d.ORDERED), cost=_CHEAP, since="2023.12")
MINIMUM: Final = Primitive("minimum", "binary", _same(d.ORDERED), cost=_CHEAP, since="2023.12")
MULTIPLY: Final = Primitive("multiply", "binary", _same(d.ALL), cost=_CHEAP, operator="mul")
NEXTAFTER: Final = Primitive("nextafter", "binary", *_REAL_FLOATING, cost=3.5, since="2024.12")
NOT_EQUAL: Final = Primitive("not_equal", "binary", _to(d.bool, d.ALL), cost=_CHEAP, operator="ne")
POW: Final = Primitive("pow", "binary", _same(d.NUMERIC), cost=2.0, operator="pow")
REMAINDER: Final = Primitive("remainder", "binary", _same(d.REAL), cost=8.0, operator="mod")
SUBTRACT: Final = Primitive("subtract", "binary", _same(d.NUMERIC), cost=_CHEAP, operator="sub")

# ---------------------------------------------------------------------- reductions and scans

SUM: Final = Primitive("sum", "reduce", _same(d.NUMERIC), _BOOL_TO_INT64, identity=0, by=ADD)
PROD: Final = Primitive("prod", "reduce", _same(d.NUMERIC), _BOOL_TO_INT64, identity=1, by=MULTIPLY)
MAX: Final = Primitive("max", "reduce", _same(d.ORDERED), by=MAXIMUM)
MIN: Final = Primitive("min", "reduce", _same(d.ORDERED), by=MINIMUM)
ANY: Final = Primitive("any", "reduce", _to(d.bool, d.ALL), identity=0, by=LOGICAL_OR)
ALL: Final = Primitive("all", "reduce", _to(d.bool, d.ALL), identity=1, by=LOGICAL_AND)
COUNT_NONZERO: Final = Primitive(
    "count_nonzero", "reduce", _to(d.int64, d.ALL), identity=0, since="2024.12"
)
MEAN: Final = Primitive("mean", "reduce", *_FLOATING)

ARGMAX: Final = Primitive("argmax", "arg_reduce", _to(d.int64, d.ORDERED))
ARGMIN: Final = Primitive("argmin", "arg_reduce", _to(d.int64, d.ORDERED))

CUMULATIVE_SUM: Final = Primitive(
    "cumulative_sum", "scan", _same(d.NUMERIC), _BOOL_TO_INT64, since="2023.12", by=ADD
)
CUMULATIVE_PROD: Final = Primitive(
    "cumulative_prod", "scan", _same(d.NUMERIC), _BOOL_TO_INT64, since="2024.12", by=MULTIPLY
)
CUMULATIVE_MAX: Final = Primitive("cumulative_max", "scan", _same(d.ORDERED), by=MAXIMUM)
CUMULATIVE_MIN: Final = Primitive("cumulative_min", "scan", _same(d.ORDERED), by=MINIMUM)

VAR: Final = Primitive("var", "var", _real_part(d.FLOATING), _TO_FLOAT64)

# ---------------------------------------------------------------------- the rest, by section

EMPTY: Final = Primitive("empty", "creation", _same(d.ALL))
FULL: Final = Primitive("full", "creation", _same(d.ALL))
ARANGE: Final = Primitive("arange", "creation", _same(d.REAL))
LINSPACE: Final = Primitive("linspace", "creation", _same(d.FLOATING))
EYE: Final = Primitive("eye", "creation", _same(d.ALL))
FROM_HOST: Final = Primitive("from_host", "creation", _same(d.ALL))
TO_HOST: Final = Primitive("to_host", "memory", _same(d.ALL))

WHERE: Final = Primitive("where", "ternary", _same(d.ALL))
CLIP: Final = Primitive("clip", "ternary", _same(d.REAL), since="2023.12")

SORT: Final = Primitive("sort", "sort", _same(d.ORDERED))
ARGSORT: Final = Primitive("argsort", "sort", _to(d.int64, d.ORDERED))
PARTITION: Final = Primitive("partition", "sort", _same(d.ORDERED))
ARGPARTITION: Final = Primitive("argpartition", "sort", _to(d.int64, d.ORDERED))
SEARCHSORTED: Final = Primitive("searchsorted", "sort", _to(d.int64, d.ORDERED), since="2023.12")

EXPAND: Final = Primitive("expand", "movement", _same(d.ALL))
TRY_RESHAPE: Final = Primitive("try_reshape", "movement", _same(d.ALL))
RESHAPE: Final = Primitive("reshape", "movement", _same(d.ALL))
PERMUTE: Final = Primitive("permute", "movement", _same(d.ALL))
SHRINK: Final = Primitive("shrink", "movement", _same(d.ALL))
SLICE: Final = Primitive("slice", "movement", _same(d.ALL))
FLIP: Final = Primitive("flip", "movement", _same(d.ALL))
STRIDED: Final = Primitive("strided", "movement", _same(d.ALL))
PAD: Final = Primitive("pad", "movement", _same(d.ALL))
CAT: Final = Primitive("cat", "movement", _same(d.ALL))
ROLL: Final = Primitive("roll", "movement", _same(d.ALL))
REPEAT: Final = Primitive("repeat", "movement", _same(d.ALL), since="2023.12")
TRIANGLE: Final = Primitive("triangle", "movement", _same(d.ALL))

CAST: Final = Primitive("cast", "memory", _same(d.ALL))
BITCAST: Final = Primitive("bitcast", "memory", _same(d.NUMERIC))
CONTIGUOUS: Final = Primitive("contiguous", "memory", _same(d.ALL))
COPY: Final = Primitive("copy", "memory", _same(d.ALL))
ASSIGN: Final = Primitive("assign", "memory", _same(d.ALL))
ASSIGN_STRIDED: Final = Primitive("assign_strided", "memory", _same(d.ALL))

_DRAWN: Final = [dtype for dtype in d.REAL_FLOATING if dtype in d.SELF_COMPUTED]
DRAW: Final = Primitive("draw", "random", _same([d.uint32, *_DRAWN, d.int64, d.uint64]))
THREEFRY: Final = Primitive("threefry", "random", _same((d.uint32,)))

TAKE: Final = Primitive("take", "indexed", _same(d.ALL))
GATHER: Final = Primitive("gather", "indexed", _same(d.ALL))
SCATTER: Final = Primitive("scatter", "indexed", _same(d.ALL))
INDEX_GET: Final = Primitive("index_get", "indexed", _same(d.ALL))
INDEX_SET: Final = Primitive("index_set", "indexed", _same(d.ALL))
NONZERO: Final = Primitive("nonzero", "indexed", _to(d.int64, d.ALL))
ISIN: Final = Primitive("isin", "indexed", _to(d.bool, d.ALL), since="2025.12")
BINCOUNT: Final = Primitive("bincount", "indexed", _to(d.int64, d.INTEGRAL))
UNIQUE: Final = Primitive("unique", "indexed", _same(d.ALL))

UNFOLD: Final = Primitive("unfold", "window", _same(d.NUMERIC))
FOLD: Final = Primitive("fold", "window", _same(d.NUMERIC))

MATMUL: Final = Primitive("matmul", "matrix", _same(d.NUMERIC), _BOOL_TO_INT64)
VECDOT: Final = Primitive("vecdot", "matrix", _same(d.NUMERIC), _BOOL_TO_INT64)
CONVOLVE: Final = Primitive("convolve", "matrix", _same(d.NUMERIC), _BOOL_TO_INT64)

FFT: Final = Primitive("fft", "fft", _TRANSFORMED, _TO_TRANSFORM)
IFFT: Final = Primitive("ifft", "fft", _TRANSFORMED, _TO_TRANSFORM)
RFFT: Final = Primitive(
    "rfft", "fft", {x: _TRANSFORMED[x] for x in _TRANSFORMED if x not in d.COMPLEX}, _TO_TRANSFORM
)
IRFFT: Final = Primitive("irfft", "fft", _real_part(d.COMPLEX), _TO_COMPLEX)

CHOLESKY: Final = Primitive("cholesky", "linalg", *_FACTORED)
QR: Final = Primitive("qr", "linalg", *_FACTORED)
SVD: Final = Primitive("svd", "linalg", *_FACTORED)
SVDVALS: Final = Primitive("svdvals", "linalg", _real_part(d.SELF_COMPUTED), _TO_FLOAT64)
EIG: Final = Primitive("eig", "linalg", _TRANSFORMED, _TO_FLOAT64)
EIGVALS: Final = Primitive("eigvals", "linalg", _TRANSFORMED, _TO_FLOAT64)
EIGH: Final = Primitive("eigh", "linalg", *_FACTORED)
EIGVALSH: Final = Primitive("eigvalsh", "linalg", _real_part(d.SELF_COMPUTED), _TO_FLOAT64)
SOLVE: Final = Primitive("solve", "linalg", *_FACTORED)
INV: Final = Primitive("inv", "linalg", *_FACTORED)
SLOGDET: Final = Primitive("slogdet", "linalg", *_FACTORED)
DET: Final = Primitive("det", "linalg", *_FACTORED)
