"""Advice for dtypes that are misspelt, or that the standard lacks."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from .spelling import did_you_mean

NEAREST: Final[dict[str, str]] = {
    **dict.fromkeys(("longdouble", "float96", "float128"), "float64"),
    **dict.fromkeys(("complex32", "chalf"), "complex64"),
    **dict.fromkeys(("clongdouble", "complex192", "complex256"), "complex128"),
}
"""Numeric dtypes that the standard lacks, and which of its own holds most of their values."""

_CODES: Final = {"g": "longdouble", "G": "clongdouble"}

_OTHERS: Final[dict[str, str]] = {
    **dict.fromkeys(
        ("object", "object_", "O", "Decimal", "Fraction", "decimal"),
        "arrays hold no objects: use xp.float64 for numbers, and lists for other objects",
    ),
    **dict.fromkeys(
        ("str", "str_", "string", "U", "bytes", "bytes_", "S", "category"),
        "arrays hold no text: make numbers of it with "
        "np.unique(text, return_inverse=True)[1], or keep it in NumPy",
    ),
    **dict.fromkeys(
        ("datetime64", "timedelta64", "datetime", "timedelta", "date", "M8", "m8", "M", "m"),
        "arrays hold no dates: use xp.int64 for their counts of days or seconds, which NumPy's "
        'x.astype("int64") gives',
    ),
    **dict.fromkeys(("void", "V", "record"), "arrays hold no records: make an array of each field"),
}
"""Names of dtypes that hold no numbers, and the advice for each."""


def shown(obj: object) -> str:
    """`obj` in a message: long ones, such as arrays, by their type."""
    text = repr(obj)
    if len(text) <= 60 and "\n" not in text:
        return text
    kind = type(obj).__name__
    return f"{'an' if kind[0].lower() in 'aeiou' else 'a'} {kind}"


def advice(obj: object, names: Collection[str]) -> str:
    """The dtype that `obj`, which is none, may stand for, or a substitute; may be empty.

    `names` are those of the dtypes that there are.
    """
    if hasattr(obj, "ndim") and hasattr(obj, "dtype") and not isinstance(obj, type):
        return "; give its dtype, x.dtype"
    name = obj if isinstance(obj, str) else getattr(obj, "name", getattr(obj, "__name__", ""))
    name = str(name).strip().rpartition(".")[2]
    if name in names:
        return f"; use xp.{name}"
    # A name may carry a byte order in front, and a unit or a number of characters or bits behind.
    plain = name.lstrip("<>=|").partition("[")[0]
    nearest = NEAREST.get(_CODES.get(plain, plain))
    if nearest is not None:
        return f"; the standard has no such dtype: use xp.{nearest}"
    for stem in (plain, plain.rstrip("0123456789")):
        if stem in _OTHERS:
            return f"; {_OTHERS[stem]}"
    return did_you_mean(name, [*names, "float", "complex"])
