"""What public functions say of themselves: a row each, and the docstrings that are made of these.

What holds for all functions of a family and of the same dtypes is stated once.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from ..core import dtypes as d
from . import table as p
from .table import Primitive


class Documentation(NamedTuple):
    """What a function of the elementwise chapter says beyond what its dtypes say.

    notes: A paragraph, or nothing.
    operands: A remark on the operands apart from their dtypes.
    scalars: The types of Python scalars, where they are fewer than the dtypes allow.
    errors: What is a ValueError apart from shapes and devices.
    """

    summary: str
    notes: str = ""
    operands: str = ""
    scalars: str = ""
    errors: str = ""


ELEMENTWISE: Final[dict[Primitive, Documentation]] = {
    p.ABS: Documentation("Absolute value of each element; the magnitude of a complex one."),
    p.ACOS: Documentation("Inverse cosine of each element, in radians."),
    p.ACOSH: Documentation("Inverse hyperbolic cosine of each element."),
    p.ADD: Documentation("Sums of elements.",
        operands="the sum of booleans is their logical or"),
    p.ASIN: Documentation("Inverse sine of each element, in radians."),
    p.ASINH: Documentation("Inverse hyperbolic sine of each element."),
    p.ATAN: Documentation("Inverse tangent of each element, in radians."),
    p.ATAN2: Documentation(
        "Angles, in radians, of the points with ordinates `x1` and abscissas `x2`."),
    p.ATANH: Documentation("Inverse hyperbolic tangent of each element."),
    p.BITWISE_AND: Documentation("Bitwise and of elements."),
    p.BITWISE_INVERT: Documentation(
        "Each element with every bit flipped; the negation of booleans."),
    p.BITWISE_LEFT_SHIFT: Documentation("The bits of `x1` shifted to the left by `x2` places.",
        operands="`x2` not negative"),
    p.BITWISE_OR: Documentation("Bitwise or of elements."),
    p.BITWISE_RIGHT_SHIFT: Documentation(
        "The bits of `x1` shifted to the right by `x2` places; the sign is kept.",
        operands="`x2` not negative"),
    p.BITWISE_XOR: Documentation("Bitwise exclusive or of elements."),
    p.CEIL: Documentation("Each element rounded up to an integer value."),
    p.CONJ: Documentation("Complex conjugate of each element; real ones as they are."),
    p.COPYSIGN: Documentation("The magnitudes of `x1` with the sign bits of `x2`."),
    p.COS: Documentation("Cosine of each element, taken in radians."),
    p.COSH: Documentation("Hyperbolic cosine of each element."),
    p.DIVIDE: Documentation("Quotients of elements."),
    p.EQUAL: Documentation("Whether elements are equal."),
    p.EXP: Documentation("Exponential of each element."),
    p.EXPM1: Documentation("``exp(x) - 1`` for each element, accurate near zero."),
    p.FLOOR: Documentation("Each element rounded down to an integer value."),
    p.FLOOR_DIVIDE: Documentation("Quotients of elements, rounded down.",
        notes="By zero: infinite or NaN for floating-point dtypes, zero for integers."),
    p.GREATER: Documentation("Whether elements of `x1` are greater than those of `x2`."),
    p.GREATER_EQUAL: Documentation(
        "Whether elements of `x1` are greater than or equal to those of `x2`."),
    p.HYPOT: Documentation("``sqrt(x1**2 + x2**2)`` without overflow on the way."),
    p.IMAG: Documentation("Imaginary part of each element; zeros for a real array."),
    p.ISFINITE: Documentation("Whether each element is neither infinite nor NaN."),
    p.ISINF: Documentation("Whether each element, or a part of a complex one, is infinite."),
    p.ISNAN: Documentation("Whether each element, or a part of a complex one, is NaN."),
    p.LESS: Documentation("Whether elements of `x1` are less than those of `x2`."),
    p.LESS_EQUAL: Documentation(
        "Whether elements of `x1` are less than or equal to those of `x2`."),
    p.LOG: Documentation("Natural logarithm of each element."),
    p.LOG1P: Documentation("``log(1 + x)`` for each element, accurate near zero."),
    p.LOG2: Documentation("Base-2 logarithm of each element."),
    p.LOG10: Documentation("Base-10 logarithm of each element."),
    p.LOGADDEXP: Documentation("``log(exp(x1) + exp(x2))`` without overflow on the way."),
    p.LOGICAL_AND: Documentation("Whether both elements are True or nonzero.",
        operands="the standard defines bool", scalars="bool"),
    p.LOGICAL_NOT: Documentation("Whether each element is False or zero.",
        operands="the standard defines bool"),
    p.LOGICAL_OR: Documentation("Whether at least one of two elements is True or nonzero.",
        operands="the standard defines bool", scalars="bool"),
    p.LOGICAL_XOR: Documentation("Whether exactly one of two elements is True or nonzero.",
        operands="the standard defines bool", scalars="bool"),
    p.MAXIMUM: Documentation("The greater of two elements; NaN if one is NaN."),
    p.MINIMUM: Documentation("The lesser of two elements; NaN if one is NaN."),
    p.MULTIPLY: Documentation("Products of elements.",
        operands="the product of booleans is their logical and"),
    p.NEGATIVE: Documentation("Each element with its sign changed; integers wrap around."),
    p.NEXTAFTER: Documentation("The representable numbers next to `x1` on the way to `x2`."),
    p.NOT_EQUAL: Documentation("Whether elements differ."),
    p.POSITIVE: Documentation("Each element as it is."),
    p.POW: Documentation("The elements of `x1` raised to the powers `x2`.",
        errors="an integer is to be raised to a negative integer power"),
    p.REAL: Documentation("Real part of each element; the elements of a real array."),
    p.RECIPROCAL: Documentation("``1 / x`` for each element."),
    p.REMAINDER: Documentation("Remainders of division, with the signs of `x2`, as Python's ``%``.",
        notes="By zero: NaN for floating-point dtypes, zero for integers."),
    p.ROUND: Documentation(
        "Each element, or each part of a complex one, rounded to the nearest integer value.",
        notes="Halves go to the even neighbour."),
    p.SIGN: Documentation(
        "Sign of each element: -1, 0 or 1, or NaN; ``z / abs(z)`` of a complex one."),
    p.SIGNBIT: Documentation("Whether the sign bit of each element is set, as in -0.0."),
    p.SIN: Documentation("Sine of each element, taken in radians."),
    p.SINH: Documentation("Hyperbolic sine of each element."),
    p.SQRT: Documentation("Principal square root of each element; NaN for negative real ones."),
    p.SQUARE: Documentation("Square of each element; integers wrap around."),
    p.SUBTRACT: Documentation("Differences of elements."),
    p.TAN: Documentation("Tangent of each element, taken in radians."),
    p.TANH: Documentation("Hyperbolic tangent of each element."),
    p.TRUNC: Documentation("Each element rounded towards zero to an integer value."),
}  # fmt: skip
"""The primitives that are functions of the elementwise chapter."""

_GROUPS: Final = {
    frozenset(d.ALL): ("numeric or boolean", "int | float | complex"),
    frozenset(d.NUMERIC): ("numeric", "int | float | complex"),
    frozenset(d.FLOATING): ("floating-point", "int | float | complex"),
    frozenset(d.ORDERED): ("real or boolean", "int | float"),
    frozenset(d.REAL): ("real", "int | float"),
    frozenset(d.REAL_FLOATING): ("real floating-point", "int | float"),
    frozenset(d.BOOL_LIKE): ("integer or boolean", "int | bool"),
    frozenset(d.INTEGRAL): ("integer", "int"),
}


def _group(op: Primitive) -> tuple[str, str]:
    """The words for the dtypes of operands, and the types of scalars that may be operands."""
    if op.is_predicate and len(op.results) == len(d.ALL):
        return "any", "int | float | complex | bool"
    return _GROUPS[frozenset(op.results).intersection(d.NUMPYS)]


def annotation(op: Primitive) -> str:
    """The type of an operand."""
    if op.family == "unary":
        return "Array"
    return f"Array | {ELEMENTWISE[op].scalars or _group(op)[1]}"


def docstring(op: Primitive) -> str:
    """The docstring of a function of the elementwise chapter."""
    says = ELEMENTWISE[op]
    notes = f"    {says.notes}\n\n" if says.notes else ""
    words, _ = _group(op)
    operands = _unary(op, words) if op.family == "unary" else _binary(op, words, says.errors)
    parameters, returns, raises = operands
    remark = "integers and booleans are computed in float64" if op.cast_first else says.operands
    parameters += f"; {remark}." if remark else "."
    return (
        f"{says.summary}\n\n{notes}"
        f"    Parameters\n    ----------\n{wrapped(parameters)}\n\n"
        f"    Returns\n    -------\n    Array\n        A new array of the {returns}.\n\n"
        f"    Raises\n    ------\n    TypeError\n        If {raises}\n\n"
        "    Standard: elementwise functions.\n    "
    )


def _unary(op: Primitive, words: str) -> tuple[str, str, str]:
    """The texts for the operand, the result and the errors."""
    if words == "any":
        dtype, raises = "Any dtype", "`x` is no array."
    else:
        article = "An" if words[0] in "aeiou" else "A"
        dtype, raises = f"{article} {words} dtype", "`x` is no array, or its dtype is not legal."
    returns = "same shape and dtype"
    if op.is_predicate:
        returns += " bool"
    elif op.cast_first:
        returns = "same shape, with the dtype computed in"
    elif op.results.get(d.COMPLEX[0]) in d.REAL:
        returns = "same shape; the dtype is that of `x`, or its parts' if complex"
    return f"    x : Array\n        {dtype}", returns, raises


def _binary(op: Primitive, words: str, errors: str) -> tuple[str, str, str]:
    """As `_unary`."""
    dtype = "their promoted dtype"
    if op.is_predicate:
        dtype = "dtype bool"
    elif op.cast_first:
        dtype = "the dtype computed in"
    both = "or both are scalars"
    if words != "any":
        both = "both are scalars, or the dtype is not legal"
    devices = f"the devices differ, or {errors}" if errors else "or the devices differ"
    raises = f"an operand is neither array nor scalar, {both}.\n    ValueError\n" + wrapped(
        f"        If the shapes do not broadcast, {devices}."
    )
    # Comparisons are right with ints of any size.
    if not (op.is_predicate and op.operator):
        raises += "\n    OverflowError\n        If a Python int is out of range for the dtype."
    return (
        "    x1, x2 : Array or scalar\n"
        f"        At least one array. {words[0].upper()}{words[1:]} dtypes",
        f"shape that both broadcast to, with {dtype}",
        raises,
    )


def wrapped(text: str) -> str:
    """`text` with its last line broken after at most 100 characters, to the same depth."""
    before, _, line = text.rpartition("\n")
    indent = line[: len(line) - len(line.lstrip())]
    lines = [before] if before else []
    while len(line) > 100:
        first, _, _ = line[:101].rpartition(" ")
        lines.append(first)
        line = indent + line[len(first) + 1 :]
    return "\n".join([*lines, line])
