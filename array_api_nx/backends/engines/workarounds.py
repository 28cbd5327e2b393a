"""Where engines do not follow the standard, and the remedies.

A row names a limitation of an engine and the *method* that makes up for it; an engine's kernels are
wrapped by the methods of the rows that apply to them, in the order of the rows. Other kernels are
the engine's own functions, called directly.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from functools import partial
from typing import Final, NamedTuple

from ...contract.arguments import Native
from ...core import dtypes as d
from ...core.dtypes import DType
from ...primitives import table as p
from ...primitives.table import Primitive


class Workaround(NamedTuple):
    """One row: a limitation of an engine, and the remedy.

    `engine`: of all its devices, of one kind of them, or of programs that its compiler runs there:
    "torch", "torch:cuda", "torch:cpu:compiled".
    `dtypes`: of the operands.
    `method`: a key of `METHODS`.
    `limitation`: how the engine behaves by itself.
    `issue`: where it is discussed; empty if none is known, and then `limitation` says so or why.
    """

    engine: str
    operations: tuple[Primitive, ...]
    dtypes: Collection[DType]
    method: str
    limitation: str
    issue: str = ""


METHODS: Final[dict[str, str]] = {
    "bits": "the same bits as signed integers",
    "order": "the same bits as signed integers, the highest one flipped, which keeps the order",
    "int64": "as int64, and back",
    "parts": "real and imaginary parts on their own",
    "guarded": "divisors 0 and -1 replaced, and their results put in afterwards",
    "special": "where an operand or the result is not finite, NumPy's answer for those elements",
    "zero": "where the operand is zero, NumPy's answer for those elements",
    "corner": "where a part is zero or not finite, NumPy's answer for those elements",
    "opposite": "the imaginary part given the sign that the operand's has not",
    "root": "where the exponent is a scalar of 0.5 or -0.5, infinities and zeros lose their signs",
    "nan": "NaN put in where it was",
    "host": "by NumPy; on a device with memory of its own the elements go to the host and back",
    "signed": "zeros given the sign of the divisor",
    "expanded": "operands broadcast before, not while, they are combined",
    "float64": "as float64, and back",
    "formula": "by other functions of the engine, which are right",
    "added zero": "0 put in where x + 0 is zero",
    "arrays": "numbers made arrays before they are combined",
    "unsigned": "zeros without a sign",
    "zeroless": "divisors of 0 replaced, and 0 put in for their quotients",
    "none": "nothing",
}
"""The methods in words."""

_UNSIGNED: Final = (d.uint16, d.uint32, d.uint64)
_DIVISIONS: Final = (p.FLOOR_DIVIDE, p.REMAINDER, p.FMOD)
_TRANSCENDENTAL: Final = (
    p.ABS, p.ACOS, p.ACOSH, p.ASIN, p.ASINH, p.ATAN, p.ATANH, p.COS, p.COSH, p.EXP, p.EXPM1, p.LOG,
    p.LOG10, p.LOG1P, p.LOG2, p.RECIPROCAL, p.SIGN, p.SIN, p.SINH, p.SQRT, p.SQUARE, p.TAN, p.TANH,
    p.POW, p.DIVIDE, p.MULTIPLY,
)  # fmt: skip
_OF_FLOATS: Final = tuple(
    [op for op in p.of_family("unary", "binary") if d.float64 in {*op.results, *op.cast_first}]
)
_NO_UNSIGNED: Final = "uint16, uint32 and uint64 have few kernels"
_PYTORCH: Final = "https://github.com/pytorch/pytorch/issues"
_JAX: Final = "https://github.com/jax-ml/jax/issues"
_UNSIGNED_ISSUE: Final = f"{_PYTORCH}/58734"

WORKAROUNDS: Final[tuple[Workaround, ...]] = (
    Workaround("torch", _DIVISIONS, d.INTEGRAL, "guarded",
               "division by zero raises, and the smallest integer by -1 ends the process",
               f"{_PYTORCH}/127804"),
    Workaround("torch", (p.ADD, p.SUBTRACT, p.NEGATIVE, p.SQUARE, p.BITWISE_INVERT,
               p.BITWISE_LEFT_SHIFT, p.LOGICAL_NOT, p.LOGICAL_AND, p.LOGICAL_OR, p.LOGICAL_XOR),
               _UNSIGNED, "bits",
               _NO_UNSIGNED, _UNSIGNED_ISSUE),
    Workaround("torch:cuda", (p.MULTIPLY, p.BITWISE_AND, p.BITWISE_OR, p.BITWISE_XOR),
               _UNSIGNED, "bits",
               _NO_UNSIGNED, _UNSIGNED_ISSUE),
    Workaround("torch", (p.LESS, p.LESS_EQUAL, p.GREATER, p.GREATER_EQUAL, p.MAXIMUM, p.MINIMUM,
               p.FMAX, p.FMIN), _UNSIGNED, "order",
               _NO_UNSIGNED, _UNSIGNED_ISSUE),
    Workaround("torch", (*_DIVISIONS, p.BITWISE_RIGHT_SHIFT, p.POW), (d.uint16, d.uint32), "int64",
               _NO_UNSIGNED, _UNSIGNED_ISSUE),
    Workaround("torch", (*_DIVISIONS, p.BITWISE_RIGHT_SHIFT, p.POW), (d.uint64,), "host",
               _NO_UNSIGNED, _UNSIGNED_ISSUE),
    Workaround("torch:cuda:compiled", (p.NEGATIVE,), d.FLOATING, "formula",
               "0 - x, which is 0 where x is 0; nobody has reported it"),
    Workaround("torch:cuda:compiled", (p.SIGNBIT,), (d.float64,), "formula",
               "x < 0, which -0.0 is not, in versions before 2.14"),
    Workaround("torch", (p.ADD, p.SUBTRACT, p.NEGATIVE, p.ROUND), d.COMPLEX, "parts",
               "a sum is x1 + 1 * x2 in complex arithmetic, where infinities become NaN and "
               "zeros lose their signs; there is no rounding", f"{_PYTORCH}/82510"),
    Workaround("torch", (p.SIGN,), d.REAL_FLOATING, "nan",
               "the sign of NaN is 0", f"{_PYTORCH}/41245"),
    Workaround("torch", (p.EXPM1, p.LOG1P, p.SIGN, p.POW, p.TAN, p.TANH), d.COMPLEX, "special",
               "infinities and NaN give other parts than the standard says", f"{_PYTORCH}/39128"),
    Workaround("torch", (p.EXPM1, p.LOG1P), d.COMPLEX, "zero",
               "the real part of -0 is -0; nobody has reported it"),
    Workaround("torch", (p.ACOS,), d.COMPLEX, "opposite",
               "an imaginary part of 0 does not change its sign; nobody has reported it"),
    Workaround("torch:cuda", (p.ABS, p.ACOS, p.ACOSH, p.ASIN, p.ASINH, p.ATAN, p.ATANH, p.COS,
               p.COSH, p.EXP, p.LOG, p.LOG10, p.LOG2, p.RECIPROCAL, p.SIN, p.SINH, p.SQRT,
               p.DIVIDE), d.COMPLEX, "special",
               "infinities and NaN give other parts than on the CPU", f"{_PYTORCH}/39128"),
    Workaround("torch", (p.FMOD, p.REMAINDER), d.REAL_FLOATING, "special",
               "NaN where the quotient overflows", f"{_PYTORCH}/193753"),
    Workaround("torch", (p.POW,), d.REAL_FLOATING, "root",
               "a scalar exponent of 0.5 or -0.5 takes the square root: NaN of -inf, and -0 of "
               "-0", f"{_PYTORCH}/127163"),
    Workaround("torch", (p.FLOOR_DIVIDE,), d.REAL_FLOATING, "special",
               "an infinity by a number is NaN, and a number by an infinity may be -1",
               f"{_PYTORCH}/170178"),
    Workaround("torch", (p.FLOOR_DIVIDE, p.NEXTAFTER), tuple(d.NARROW), "host",
               "quotients are rounded before they are floored, and zeros next to subnormal numbers "
               "lose their signs; nobody has reported it"),
    Workaround("torch", (p.REMAINDER,), d.REAL_FLOATING, "signed",
               "zeros do not take the sign of the divisor", f"{_PYTORCH}/193755"),
    Workaround("torch:cpu", (p.SQRT,), d.BELOW_DOUBLE, "float64",
               "every sixth number is one unit in the last place off, where Intel's library "
               "computes", f"{_PYTORCH}/31250"),
    Workaround("torch:cpu", (p.SQRT,), (d.float64,), "none",
               "every eightieth number is one unit in the last place off, where Intel's library "
               "computes", f"{_PYTORCH}/31250"),
    Workaround("torch:cpu:compiled", (p.EXPM1,), d.REAL_FLOATING, "formula",
               "exp(x) - 1, in which small results lose their digits", f"{_PYTORCH}/189803"),
    Workaround("torch:cpu:compiled", (p.ATANH,), d.REAL_FLOATING, "formula",
               "a logarithm of (1 + x) / (1 - x), in which small results lose their digits",
               f"{_PYTORCH}/198183"),
    Workaround("torch:cpu:compiled", (p.ACOSH,), d.REAL_FLOATING, "formula",
               "a square that overflows", f"{_PYTORCH}/198134"),
    Workaround("jax:cpu", _OF_FLOATS, d.REAL_FLOATING, "none",
               "numbers nearer to zero than the smallest normal one are zeros", f"{_JAX}/26658"),
    Workaround("jax", (p.ADD, p.MULTIPLY, p.BITWISE_AND, p.BITWISE_OR, p.BITWISE_XOR), (d.uint64,),
               "arrays",
               "numbers of 2**63 and more are refused"),
    Workaround("jax", (p.FLOOR_DIVIDE, p.REMAINDER, p.FMOD), d.INTEGRAL, "zeroless",
               "division by zero gives what the hardware gives", f"{_JAX}/11990"),
    Workaround("jax", (p.DIVIDE,), d.REAL_FLOATING, "expanded",
               "what is broadcast is inverted first, and the inverse of a large number is 0",
               "https://github.com/tensorflow/tensorflow/issues/24061"),
    Workaround("jax", (p.SIGN,), d.REAL_FLOATING, "unsigned",
               "the sign of -0 is -0, as its documentation says"),
    Workaround("jax:cpu", (p.FLOOR_DIVIDE, p.REMAINDER, p.FMOD), d.REAL_FLOATING, "host",
               "quotients that overflow, infinities, and the signs of zeros", f"{_JAX}/40028"),
    Workaround("jax:cuda", (p.FLOOR_DIVIDE, p.REMAINDER, p.FMOD), d.REAL_FLOATING, "corner",
               "quotients that overflow, infinities, and the signs of zeros", f"{_JAX}/40028"),
    Workaround("jax:cpu", _TRANSCENDENTAL, d.COMPLEX, "host",
               "zeros lose their signs, and infinities and NaN give other parts than the "
               "standard says", f"{_JAX}/25679"),
    Workaround("jax:cuda", _TRANSCENDENTAL, d.COMPLEX, "corner",
               "zeros lose their signs, and infinities and NaN give other parts than the "
               "standard says", f"{_JAX}/25679"),
    Workaround("jax:cpu:compiled", (p.ADD, p.SUBTRACT), d.FLOATING, "added zero",
               "x + 0 is x, also where x is -0",
               "https://github.com/tensorflow/tensorflow/pull/53553"),
    Workaround("cupy", tuple([op for op in _TRANSCENDENTAL if op not in (p.ABS, p.SQUARE,
               p.MULTIPLY, p.DIVIDE)]), d.COMPLEX, "host",
               "some functions take no complex numbers, others give other special values",
               "https://github.com/cupy/cupy/issues/1281"),
    Workaround("cupy", (p.DIVIDE,), d.COMPLEX, "special",
               "quotients of infinities and zeros are NaN; nobody has reported it"),
    Workaround("cupy", (p.LOG, p.LOG10, p.LOG2), (d.float64,), "special",
               "-inf of negative numbers nearer to zero than the smallest normal one; nobody has "
               "reported it"),
    Workaround("cupy", (p.FLOOR_DIVIDE, p.REMAINDER, p.FMOD), d.REAL_FLOATING, "special",
               "quotients that overflow, and infinities",
               "https://github.com/cupy/cupy/issues/8807"),
    Workaround("cupy", (p.REMAINDER,), d.REAL_FLOATING, "signed",
               "zeros do not take the sign of the divisor; nobody has reported it"),
    Workaround("cupy", _OF_FLOATS, (d.float32,), "none",
               "numbers nearer to zero than the smallest normal one are zeros: it compiles with "
               "-ftz=true"),
    Workaround("cupy", (p.NEXTAFTER,), d.BELOW_DOUBLE, "host",
               "the neighbours of zero are zeros, as its documentation says"),
)  # fmt: skip
"""All rows, those of one kernel in the order in which they apply: the first is the innermost."""


def apply(
    engine: str,
    op: Primitive,
    dtype: DType,
    kernel: Callable[..., Native],
    wrappers: dict[str, Callable[..., Native]],
) -> Callable[..., Native]:
    """`kernel` of an engine, wrapped by the methods of the rows for `op` and `dtype`.

    `engine` is its name and the kind of device, as in "torch:cuda"; `wrappers` has the engine's
    functions of (op, kernel, *operands).
    """
    for method in _methods(engine, op, dtype):
        kernel = partial(wrappers[method], op, kernel)
    return kernel


def _methods(engine: str, op: Primitive, dtype: DType) -> Iterable[str]:
    return [
        row.method
        for row in WORKAROUNDS
        if row.method != "none"
        and f"{engine}:".startswith(f"{row.engine}:")
        and op in row.operations
        and dtype in row.dtypes
    ]
