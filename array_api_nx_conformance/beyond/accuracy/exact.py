"""Tables of arguments and exact values."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

import mpmath
import numpy as np

from ...dtypes import COMPLEX
from . import points
from .formats import FORMATS, Format, is_subnormal
from .references import Number, Reference, exact_value, fraction

Arguments: TypeAlias = tuple[Any, ...]
# A number; real and imaginary part; or NaN or an infinity, which are floats.
Exact: TypeAlias = Fraction | tuple[Fraction, Fraction] | float
_STEEPEST = 64  # of b*log(a) in a**b: the greater it is, the more digits any algorithm loses


def exact_table(
    reference: Reference, dtype: str, count: int, seed: int, folder: Path | None = None
) -> list[tuple[Arguments, Exact]]:
    """Arguments in a dtype, with the function's exact values there.

    Values that are subnormal or, of complex functions, near the greatest number are left out: the
    standard does not say what becomes of them.

    Parameters
    ----------
    reference : Reference
        The function.
    dtype : str
        The dtype.
    count : int
        About how many arguments.
    seed : int
        Of the random arguments.
    folder : Path, optional
        Where tables are kept, to be read by other processes.
    """
    file = folder / f"{reference.name}-{dtype}-{count}-{seed}" if folder is not None else None
    if file is not None and file.is_file():
        table: list[tuple[Arguments, Exact]] = pickle.loads(file.read_bytes())
        return table
    columns = _arguments(reference, dtype, count, seed)
    table = []
    for arguments in zip(*(column.tolist() for column in columns), strict=True):
        exact = exact_at(reference, arguments, dtype)
        if exact is not None:
            table.append((arguments, exact))
    if file is not None:
        file.write_bytes(pickle.dumps(table))
    return table


def exact_at(reference: Reference, arguments: Arguments, dtype: str) -> Exact | None:
    """The exact value; None if it is subnormal or, of a complex function, near the greatest."""
    if dtype in COMPLEX:
        return _exact_complex(reference, arguments, FORMATS[dtype])
    return _exact(reference, arguments, dtype)


def _arguments(reference: Reference, dtype: str, count: int, seed: int) -> list[points.Numbers]:
    if dtype in COMPLEX:
        columns = [points.complexes(each, dtype, count, seed) for each in reference.domains]
        if len(columns) == 2:
            generator = np.random.default_rng([seed, 4])
            rows = min(map(len, columns))
            columns = [columns[0][:rows], generator.permutation(columns[1])[:rows]]
        if reference.name == "pow":
            with np.errstate(all="ignore"):
                steep: points.Numbers = abs(columns[1] * np.log(columns[0]))
            columns = [column[steep <= _STEEPEST] for column in columns]
        return columns
    if len(reference.domains) == 2:
        columns = points.pairs(reference.domains, dtype, count, seed)
    else:
        columns = [points.real(reference.domains[0], dtype, count, seed)]
    if reference.name in ("divide", "remainder", "floor_divide", "reciprocal"):
        columns = [column[columns[-1] != 0] for column in columns]
    return columns


def _exact(reference: Reference, arguments: Arguments, dtype: str) -> Exact | None:
    form = FORMATS[dtype]
    value: Number
    if reference.name == "nextafter":  # which depends on the format
        scalar = np.dtype(dtype).type
        value = Fraction(float(np.nextafter(*map(scalar, arguments))))
    elif reference.rational:
        value = Fraction(reference.exact(*map(Fraction, arguments)))
    else:
        value = exact_value(reference.exact, tuple(map(mpmath.mpf, arguments)), form)
        if mpmath.isnan(value) or isinstance(value, mpmath.mpc):
            return math.nan
        if mpmath.isinf(value):
            return float(value)
        value = fraction(value, form)
    return None if is_subnormal(value, form) else value


def _exact_complex(reference: Reference, arguments: Arguments, form: Format) -> Exact | None:
    assert reference.complex is not None
    given = tuple(mpmath.mpc(z.real, z.imag) for z in arguments)
    value = exact_value(reference.complex, given, form)
    if mpmath.isnan(value) or mpmath.isinf(value):
        return None
    parts = (fraction(value.real, form), fraction(value.imag, form))
    greater = max(parts, key=abs)
    if is_subnormal(greater, form) or abs(greater) >= Fraction(2) ** form.most:
        return None
    return parts
