"""The table of primitive operations.

One row per primitive: its name, its family, the dtypes that it takes, and the dtype that it
gives. The frontend reads the rows to check and promote arguments; backends key their kernels on
them; the contract tests walk them. The families whose members differ only in what they compute
per element (unary, binary, reduce, arg_reduce, scan) share one method of the contract, which is
handed the row; every other primitive has a method of its own name.

To add a primitive: a row here, its words in contract/backend.py, a kernel in backends/cpu, what
checked.py asserts, the shape of its result in tracing/backend.py, a contract test.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final, final

from ..core import dtypes as d
from ..core.dtypes import DType

__all__ = ["TABLE", "Primitive", "check_kernels", "of_family"]


@final
class Primitive:
    """One row of the table, compared and hashed by identity.

    Attributes
    ----------
    name : str
    family : str
        "unary", "binary", "reduce", "arg_reduce", "scan", or the contract's section for the
        primitives that have a method of their own.
    results : dict of dtype to dtype
        Result dtype for every operand dtype that a backend must accept.
    cast_first : dict of dtype to dtype
        Operand dtypes for which the standard defines nothing but users of NumPy expect an
        answer, with the dtype to cast to first. Backends never see them.
    """

    __slots__ = ("cast_first", "family", "name", "results")

    name: str
    family: str
    results: dict[DType, DType]
    cast_first: dict[DType, DType]

    def __init__(
        self,
        name: str,
        family: str,
        results: dict[DType, DType],
        cast_first: dict[DType, DType] | None = None,
    ) -> None:
        self.name = name
        self.family = family
        self.results = results
        self.cast_first = cast_first or {}
        TABLE.append(self)

    def __repr__(self) -> str:
        return f"<{self.family} primitive {self.name}>"

    def __reduce__(self) -> str:
        return self.name.upper()


TABLE: Final[list[Primitive]] = []
"""Every primitive, in the order of definition."""


def of_family(*families: str) -> list[Primitive]:
    """The rows of the given families."""
    return [primitive for primitive in TABLE if primitive.family in families]


def check_kernels(backend: str, family: str, kernels: Collection[Primitive]) -> None:
    """Check, when the module of a backend is imported, that each row of a family has a kernel.

    Raises
    ------
    ImportError
        If one is missing.
    """
    missing = [op.name for op in of_family(family) if op not in kernels]
    if missing:
        raise ImportError(f"{backend} has no {family} kernel for {', '.join(missing)}")


_REAL_PART: Final = {d.complex64: d.float32, d.complex128: d.float64}
_COMPLEX_OF: Final = {d.float32: d.complex64, d.float64: d.complex128}
_TO_FLOAT64: Final = dict.fromkeys(d.BOOL_LIKE, d.float64)
_TO_COMPLEX: Final = {**dict.fromkeys(d.BOOL_LIKE, d.complex128), **_COMPLEX_OF}
_BOOL_TO_INT64: Final = {d.bool: d.int64}
_WITH_BOOL: Final = (d.bool, *d.NUMERIC)
_REAL_WITH_BOOL: Final = (d.bool, *d.REAL)


def _same(dtypes: Iterable[DType]) -> dict[DType, DType]:
    return {dtype: dtype for dtype in dtypes}


def _to(result: DType, dtypes: Iterable[DType]) -> dict[DType, DType]:
    return dict.fromkeys(dtypes, result)


def _real_part(dtypes: Iterable[DType]) -> dict[DType, DType]:
    return {dtype: _REAL_PART.get(dtype, dtype) for dtype in dtypes}


def _unary(
    name: str, results: dict[DType, DType], cast_first: dict[DType, DType] | None = None
) -> Primitive:
    return Primitive(name, "unary", results, cast_first)


def _binary(
    name: str, results: dict[DType, DType], cast_first: dict[DType, DType] | None = None
) -> Primitive:
    return Primitive(name, "binary", results, cast_first)


# ---------------------------------------------------------------------- unary

ABS: Final = _unary("abs", _real_part(d.NUMERIC))
ACOS: Final = _unary("acos", _same(d.FLOATING), _TO_FLOAT64)
ACOSH: Final = _unary("acosh", _same(d.FLOATING), _TO_FLOAT64)
ASIN: Final = _unary("asin", _same(d.FLOATING), _TO_FLOAT64)
ASINH: Final = _unary("asinh", _same(d.FLOATING), _TO_FLOAT64)
ATAN: Final = _unary("atan", _same(d.FLOATING), _TO_FLOAT64)
ATANH: Final = _unary("atanh", _same(d.FLOATING), _TO_FLOAT64)
BITWISE_INVERT: Final = _unary("bitwise_invert", _same(d.BOOL_LIKE))
CEIL: Final = _unary("ceil", _same(d.REAL))
CONJ: Final = _unary("conj", _same(d.NUMERIC))
COS: Final = _unary("cos", _same(d.FLOATING), _TO_FLOAT64)
COSH: Final = _unary("cosh", _same(d.FLOATING), _TO_FLOAT64)
ERF: Final = _unary("erf", _same(d.REAL_FLOATING), _TO_FLOAT64)
EXP: Final = _unary("exp", _same(d.FLOATING), _TO_FLOAT64)
EXPM1: Final = _unary("expm1", _same(d.FLOATING), _TO_FLOAT64)
FLOOR: Final = _unary("floor", _same(d.REAL))
IMAG: Final = _unary("imag", _real_part(d.NUMERIC))
ISFINITE: Final = _unary("isfinite", _to(d.bool, d.ALL))
ISINF: Final = _unary("isinf", _to(d.bool, d.ALL))
ISNAN: Final = _unary("isnan", _to(d.bool, d.ALL))
LOG: Final = _unary("log", _same(d.FLOATING), _TO_FLOAT64)
LOG10: Final = _unary("log10", _same(d.FLOATING), _TO_FLOAT64)
LOG1P: Final = _unary("log1p", _same(d.FLOATING), _TO_FLOAT64)
LOG2: Final = _unary("log2", _same(d.FLOATING), _TO_FLOAT64)
LOGICAL_NOT: Final = _unary("logical_not", _to(d.bool, d.ALL))
NEGATIVE: Final = _unary("negative", _same(d.NUMERIC))
POSITIVE: Final = _unary("positive", _same(d.NUMERIC))
REAL: Final = _unary("real", _real_part(d.NUMERIC))
RECIPROCAL: Final = _unary("reciprocal", _same(d.FLOATING), _TO_FLOAT64)
ROUND: Final = _unary("round", _same(d.NUMERIC))
SIGN: Final = _unary("sign", _same(d.NUMERIC))
SIGNBIT: Final = _unary("signbit", _to(d.bool, d.REAL_FLOATING), _TO_FLOAT64)
SIN: Final = _unary("sin", _same(d.FLOATING), _TO_FLOAT64)
SINH: Final = _unary("sinh", _same(d.FLOATING), _TO_FLOAT64)
SQRT: Final = _unary("sqrt", _same(d.FLOATING), _TO_FLOAT64)
SQUARE: Final = _unary("square", _same(d.NUMERIC))
TAN: Final = _unary("tan", _same(d.FLOATING), _TO_FLOAT64)
TANH: Final = _unary("tanh", _same(d.FLOATING), _TO_FLOAT64)
TRUNC: Final = _unary("trunc", _same(d.REAL))

# ---------------------------------------------------------------------- binary

ADD: Final = _binary("add", _same(_WITH_BOOL))
ATAN2: Final = _binary("atan2", _same(d.REAL_FLOATING), _TO_FLOAT64)
BITWISE_AND: Final = _binary("bitwise_and", _same(d.BOOL_LIKE))
BITWISE_LEFT_SHIFT: Final = _binary("bitwise_left_shift", _same(d.INTEGRAL))
BITWISE_OR: Final = _binary("bitwise_or", _same(d.BOOL_LIKE))
BITWISE_RIGHT_SHIFT: Final = _binary("bitwise_right_shift", _same(d.INTEGRAL))
BITWISE_XOR: Final = _binary("bitwise_xor", _same(d.BOOL_LIKE))
COPYSIGN: Final = _binary("copysign", _same(d.REAL_FLOATING), _TO_FLOAT64)
DIVIDE: Final = _binary("divide", _same(d.FLOATING), _TO_FLOAT64)
EQUAL: Final = _binary("equal", _to(d.bool, d.ALL))
FLOOR_DIVIDE: Final = _binary("floor_divide", _same(d.REAL))
FMOD: Final = _binary("fmod", _same(d.REAL))
GREATER: Final = _binary("greater", _to(d.bool, _REAL_WITH_BOOL))
GREATER_EQUAL: Final = _binary("greater_equal", _to(d.bool, _REAL_WITH_BOOL))
HYPOT: Final = _binary("hypot", _same(d.REAL_FLOATING), _TO_FLOAT64)
LESS: Final = _binary("less", _to(d.bool, _REAL_WITH_BOOL))
LESS_EQUAL: Final = _binary("less_equal", _to(d.bool, _REAL_WITH_BOOL))
LOGADDEXP: Final = _binary("logaddexp", _same(d.REAL_FLOATING), _TO_FLOAT64)
LOGICAL_AND: Final = _binary("logical_and", _to(d.bool, d.ALL))
LOGICAL_OR: Final = _binary("logical_or", _to(d.bool, d.ALL))
LOGICAL_XOR: Final = _binary("logical_xor", _to(d.bool, d.ALL))
MAXIMUM: Final = _binary("maximum", _same(_REAL_WITH_BOOL))
MINIMUM: Final = _binary("minimum", _same(_REAL_WITH_BOOL))
MULTIPLY: Final = _binary("multiply", _same(_WITH_BOOL))
NEXTAFTER: Final = _binary("nextafter", _same(d.REAL_FLOATING), _TO_FLOAT64)
NOT_EQUAL: Final = _binary("not_equal", _to(d.bool, d.ALL))
POW: Final = _binary("pow", _same(d.NUMERIC))
REMAINDER: Final = _binary("remainder", _same(d.REAL))
SUBTRACT: Final = _binary("subtract", _same(d.NUMERIC))
TRUNC_DIVIDE: Final = _binary("trunc_divide", _same(d.INTEGRAL))

# ---------------------------------------------------------------------- reductions and scans

SUM: Final = Primitive("sum", "reduce", _same(d.NUMERIC), _BOOL_TO_INT64)
PROD: Final = Primitive("prod", "reduce", _same(d.NUMERIC), _BOOL_TO_INT64)
MAX: Final = Primitive("max", "reduce", _same(_REAL_WITH_BOOL))
MIN: Final = Primitive("min", "reduce", _same(_REAL_WITH_BOOL))
ANY: Final = Primitive("any", "reduce", _to(d.bool, d.ALL))
ALL: Final = Primitive("all", "reduce", _to(d.bool, d.ALL))
COUNT_NONZERO: Final = Primitive("count_nonzero", "reduce", _to(d.int64, d.ALL))
MEAN: Final = Primitive("mean", "reduce", _same(d.FLOATING), _TO_FLOAT64)

ARGMAX: Final = Primitive("argmax", "arg_reduce", _to(d.int64, _REAL_WITH_BOOL))
ARGMIN: Final = Primitive("argmin", "arg_reduce", _to(d.int64, _REAL_WITH_BOOL))

CUMULATIVE_SUM: Final = Primitive("cumulative_sum", "scan", _same(d.NUMERIC), _BOOL_TO_INT64)
CUMULATIVE_PROD: Final = Primitive("cumulative_prod", "scan", _same(d.NUMERIC), _BOOL_TO_INT64)
CUMULATIVE_MAX: Final = Primitive("cumulative_max", "scan", _same(_REAL_WITH_BOOL))
CUMULATIVE_MIN: Final = Primitive("cumulative_min", "scan", _same(_REAL_WITH_BOOL))

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
CLIP: Final = Primitive("clip", "ternary", _same(d.REAL))

SORT: Final = Primitive("sort", "sort", _same(_REAL_WITH_BOOL))
ARGSORT: Final = Primitive("argsort", "sort", _to(d.int64, _REAL_WITH_BOOL))
PARTITION: Final = Primitive("partition", "sort", _same(_REAL_WITH_BOOL))
ARGPARTITION: Final = Primitive("argpartition", "sort", _to(d.int64, _REAL_WITH_BOOL))
SEARCHSORTED: Final = Primitive("searchsorted", "sort", _to(d.int64, _REAL_WITH_BOOL))

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
REPEAT: Final = Primitive("repeat", "movement", _same(d.ALL))
TRIANGLE: Final = Primitive("triangle", "movement", _same(d.ALL))

CAST: Final = Primitive("cast", "memory", _same(d.ALL))
BITCAST: Final = Primitive("bitcast", "memory", _same(d.NUMERIC))
CONTIGUOUS: Final = Primitive("contiguous", "memory", _same(d.ALL))
COPY: Final = Primitive("copy", "memory", _same(d.ALL))
ASSIGN: Final = Primitive("assign", "memory", _same(d.ALL))
ASSIGN_STRIDED: Final = Primitive("assign_strided", "memory", _same(d.ALL))

DRAW: Final = Primitive(
    "draw", "random", _same((d.uint32, d.float32, d.float64, d.int64, d.uint64))
)
THREEFRY: Final = Primitive("threefry", "random", _same((d.uint32,)))

TAKE: Final = Primitive("take", "indexed", _same(d.ALL))
GATHER: Final = Primitive("gather", "indexed", _same(d.ALL))
SCATTER: Final = Primitive("scatter", "indexed", _same(d.ALL))
INDEX_GET: Final = Primitive("index_get", "indexed", _same(d.ALL))
INDEX_SET: Final = Primitive("index_set", "indexed", _same(d.ALL))
NONZERO: Final = Primitive("nonzero", "indexed", _to(d.int64, d.ALL))
ISIN: Final = Primitive("isin", "indexed", _to(d.bool, d.ALL))
BINCOUNT: Final = Primitive("bincount", "indexed", _to(d.int64, d.INTEGRAL))
UNIQUE: Final = Primitive("unique", "indexed", _same(d.ALL))

UNFOLD: Final = Primitive("unfold", "window", _same(d.NUMERIC))
FOLD: Final = Primitive("fold", "window", _same(d.NUMERIC))

MATMUL: Final = Primitive("matmul", "matrix", _same(d.NUMERIC), _BOOL_TO_INT64)
VECDOT: Final = Primitive("vecdot", "matrix", _same(d.NUMERIC), _BOOL_TO_INT64)
CONVOLVE: Final = Primitive("convolve", "matrix", _same(d.NUMERIC), _BOOL_TO_INT64)

FFT: Final = Primitive("fft", "fft", {**_COMPLEX_OF, **_same(d.COMPLEX)}, _TO_FLOAT64)
IFFT: Final = Primitive("ifft", "fft", {**_COMPLEX_OF, **_same(d.COMPLEX)}, _TO_FLOAT64)
RFFT: Final = Primitive("rfft", "fft", dict(_COMPLEX_OF), _TO_FLOAT64)
IRFFT: Final = Primitive("irfft", "fft", dict(_REAL_PART), _TO_COMPLEX)

CHOLESKY: Final = Primitive("cholesky", "linalg", _same(d.FLOATING), _TO_FLOAT64)
QR: Final = Primitive("qr", "linalg", _same(d.FLOATING), _TO_FLOAT64)
SVD: Final = Primitive("svd", "linalg", _same(d.FLOATING), _TO_FLOAT64)
SVDVALS: Final = Primitive("svdvals", "linalg", _real_part(d.FLOATING), _TO_FLOAT64)
EIG: Final = Primitive("eig", "linalg", {**_COMPLEX_OF, **_same(d.COMPLEX)}, _TO_FLOAT64)
EIGVALS: Final = Primitive("eigvals", "linalg", {**_COMPLEX_OF, **_same(d.COMPLEX)}, _TO_FLOAT64)
EIGH: Final = Primitive("eigh", "linalg", _same(d.FLOATING), _TO_FLOAT64)
EIGVALSH: Final = Primitive("eigvalsh", "linalg", _real_part(d.FLOATING), _TO_FLOAT64)
SOLVE: Final = Primitive("solve", "linalg", _same(d.FLOATING), _TO_FLOAT64)
INV: Final = Primitive("inv", "linalg", _same(d.FLOATING), _TO_FLOAT64)
SLOGDET: Final = Primitive("slogdet", "linalg", _same(d.FLOATING), _TO_FLOAT64)
DET: Final = Primitive("det", "linalg", _same(d.FLOATING), _TO_FLOAT64)
TRIANGULAR_SOLVE: Final = Primitive("triangular_solve", "linalg", _same(d.FLOATING), _TO_FLOAT64)
