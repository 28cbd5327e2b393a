"""How far functions of elements are from the exact values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path

from ...dtypes import COMPLEX, REAL_FLOATING
from ..findings import FAILS, NOTED, PASSES, Finding, tried
from ..subject import Subject, Value
from . import points
from .exact import Arguments, Exact, exact_at, exact_table
from .formats import FORMATS, INFINITY, Format, error, is_nearest, ulp
from .judged import CHAPTER
from .references import APPROXIMATE, NEAREST, SAME, Reference, references

_NEAREST_RULE = (
    "accuracy: real-valued floating-point operands must return a correctly rounded value according"
    " to IEEE 754-2019"
)
_SAME_RULE = "the result is defined without rounding"
_HALF_RULE = (
    "the standard leaves the algorithm open; here a result fails if fewer than half of its"
    " significand's bits are right, for the argument and for those within 4 ULP of it: it is no"
    " approximation in its dtype"
)
COMPLEX_RULE = (
    "the standard specifies no accuracy for complex numbers; here a result fails if fewer than half"
    " of its significand's bits are right, for the argument and for those within 4 ULP of it, and"
    " its arguments have usual magnitudes"
)
_NEARBY = 4  # ULPs that an argument may be moved: a function is steep near its poles


@dataclass(frozen=True)
class Row:
    """A function and a dtype in the table.

    Errors are in units in the last place of the exact value; for complex numbers, of its greater
    component. ``usual`` is the greatest for arguments of magnitudes from 2**-20 to 2**20, ``most``
    that for all magnitudes; arguments and results that are subnormal do not count.
    """

    function: str
    dtype: str
    points: int
    bound: float
    mean: float
    usual: float
    most: float
    at: str
    outcome: str


@dataclass(frozen=True)
class _Point:
    arguments: Arguments
    computed: complex
    error: float
    right: bool
    usual: bool
    open: bool  # the standard says nothing about it


def check(
    subject: Subject, count: int, seed: int, select: Sequence[str], folder: Path | None = None
) -> tuple[list[Finding], list[dict[str, object]]]:
    """Measure all functions, or those selected: findings, and rows of a table.

    Exact values are kept in `folder`, for the next namespace.
    """
    findings: list[Finding] = []
    rows: list[Row] = []
    for reference in references():
        if select and reference.name not in select:
            continue
        kinds = [(reference.real, REAL_FLOATING), (reference.complex, COMPLEX)]
        dtypes = [dtype for wanted, each in kinds if wanted for dtype in each]
        for dtype in dtypes:
            findings.append(_judged(subject, reference, dtype, count, seed, folder, rows))
    return findings, [asdict(row) for row in rows]


def _judged(
    subject: Subject,
    reference: Reference,
    dtype: str,
    count: int,
    seed: int,
    folder: Path | None,
    rows: list[Row],
) -> Finding:
    is_complex = dtype in COMPLEX
    kind = reference.complex_kind if is_complex else reference.kind
    rule = {NEAREST: _NEAREST_RULE, SAME: _SAME_RULE, APPROXIMATE: _HALF_RULE}[kind]
    if is_complex and kind == APPROXIMATE:
        rule = COMPLEX_RULE

    def do() -> Finding:
        measured = _measured(subject, reference, dtype, count, seed, folder)
        row, worst = _row(reference.name, dtype, kind, measured)
        rows.append(row)
        message = repro = ""
        if row.outcome != PASSES and worst is not None:
            message = f"an error of {worst.error:.3g} ULP at {row.at}: {worst.computed!r}"
            repro = _repro(reference.name, dtype, worst.arguments)
        return Finding(CHAPTER, reference.name, dtype, row.outcome, message, rule, repro)

    return tried(CHAPTER, reference.name, dtype, rule, do)


def _row(function: str, dtype: str, kind: str, measured: list[_Point]) -> tuple[Row, _Point | None]:
    form = FORMATS[dtype]
    bound = {NEAREST: 0.5, SAME: 0.0, APPROXIMATE: form.half}[kind]
    usual = [point for point in measured if point.usual]
    worst = max(measured, key=lambda point: point.error)
    most_usual = max((point.error for point in usual), default=0.0)
    finite = [point.error for point in usual if math.isfinite(point.error)]
    wrong = [p for p in measured if not p.right] if kind == NEAREST else []
    if kind != NEAREST:
        wrong = [p for p in measured if p.error > bound and not (p.open and kind == APPROXIMATE)]
    beyond = [point for point in measured if point.error > bound]
    shown = max(wrong or beyond or [worst], key=lambda point: point.error)
    outcome = FAILS if wrong else NOTED if beyond else PASSES
    row = Row(
        function=function,
        dtype=dtype,
        points=len(measured),
        bound=bound,
        mean=sum(finite) / len(finite) if finite else 0.0,
        usual=most_usual,
        most=worst.error,
        at=", ".join(map(repr, shown.arguments)),
        outcome=outcome,
    )
    return row, shown


def _measured(
    subject: Subject, reference: Reference, dtype: str, count: int, seed: int, folder: Path | None
) -> list[_Point]:
    function = subject.function(reference.name)
    table = exact_table(reference, dtype, count, seed, folder)
    columns = zip(*(arguments for arguments, _ in table), strict=True)
    arrays = [subject.array(list(column), dtype) for column in columns]
    computed = subject.numpy(function(*arrays))
    if computed.shape != (len(table),):
        raise ValueError(f"a result of shape {computed.shape} for arrays of shape {(len(table),)}")
    found = []
    for (arguments, exact), result in zip(table, computed.tolist(), strict=True):
        usual = points.is_usual(arguments)
        wrong, right = _error(reference, dtype, arguments, exact, result)
        is_open = wrong > FORMATS[dtype].half and (
            (dtype in COMPLEX and not usual)
            or _may_underflow(exact, FORMATS[dtype])
            or _is_of_neighbours(reference, dtype, arguments, exact, result)
        )
        found.append(_Point(arguments, result, wrong, right, usual, is_open))
    return found


def _may_underflow(exact: Exact, form: Format) -> bool:
    """Whether parts of the result are subnormal, or numbers on the way to it."""
    if isinstance(exact, float):
        return False
    greater = max(map(abs, exact)) if isinstance(exact, tuple) else abs(exact)
    return 0 < greater < Fraction(2) ** (form.least + form.precision)


def _is_of_neighbours(
    reference: Reference, dtype: str, arguments: Arguments, exact: Exact, computed: Value
) -> bool:
    """Whether a result is no farther from the exact value than those of arguments nearby."""
    if isinstance(exact, float) or reference.rational:
        return False
    spacing = _NEARBY * FORMATS[dtype].epsilon
    for index, argument in enumerate(arguments):
        for turn in (1, -1, 1j, -1j) if dtype in COMPLEX else (1, -1):
            moved = list(arguments)
            moved[index] = argument * (1 + spacing * turn)
            value = exact_at(reference, tuple(moved), dtype)
            if value is None or isinstance(value, float):
                continue
            distance = _between(value, exact)
            if distance and _between(computed, exact) <= distance:
                return True
    return False


def _between(first: Exact | complex, second: Exact) -> float:
    one, other = (
        (Fraction(each.real), Fraction(each.imag)) if isinstance(each, complex) else each
        for each in (first, second)
    )
    if isinstance(one, tuple) and isinstance(other, tuple):
        return float(sum(abs(a - b) for a, b in zip(one, other, strict=True)))
    assert not isinstance(one, tuple)
    assert not isinstance(other, tuple)
    return float(abs(Fraction(one) - Fraction(other)))


def _error(
    reference: Reference, dtype: str, arguments: Arguments, exact: Exact, computed: Value
) -> tuple[float, bool]:
    """The error in ULPs, and whether the result is the nearest number."""
    form = FORMATS[dtype]
    if isinstance(exact, float):  # NaN or infinity
        same = computed == exact or (math.isnan(exact) and computed != computed)
        return (0.0 if same else INFINITY), same
    if isinstance(exact, tuple):
        found = _complex_error(exact, complex(computed), form)
        return found, found == 0
    found = error(float(computed), exact, form)
    if reference.name == "floor_divide" and found <= 1:
        # Both are right: the floor of the quotient, and that of the rounded quotient.
        quotient = Fraction(arguments[0]) / Fraction(arguments[1])
        close = error(computed, quotient, form) <= 1
        return (0.0 if close else found), found == 0
    return found, is_nearest(float(computed), exact, form)


def _complex_error(exact: tuple[Fraction, Fraction], computed: complex, form: Format) -> float:
    """The distance from the exact value, in ULPs of its greater component."""
    greater = max(exact, key=abs)
    if greater == 0:
        return 0.0 if computed == 0 else INFINITY
    if not (math.isfinite(computed.real) and math.isfinite(computed.imag)):
        return INFINITY
    unit = ulp(greater, form)
    found = (Fraction(computed.real), Fraction(computed.imag))
    return math.hypot(*(float(abs(f - e) / unit) for f, e in zip(found, exact, strict=True)))


def _repro(function: str, dtype: str, arguments: Sequence[complex]) -> str:
    # Many elements, because loops over vectors and loops over single numbers differ.
    given = ", ".join(f"xp.asarray([{value!r}] * 64, dtype=xp.{dtype})" for value in arguments)
    return f"xp.{function}({given})"
