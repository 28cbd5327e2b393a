"""Which calls NumPy answers otherwise than the standard: they are left to NumPy.

The tables have NumPy's names of functions, methods and ufuncs; an operator goes by the name of its
ufunc. C looks the first two up for every call, and `is_ours` (functions.py) all where C declines.
"""

from __future__ import annotations

from typing import Any, Final

import numpy

from ..core import dtypes as d
from ..core.dtypes import DType
from ..primitives import table as p
from ..primitives.table import Primitive

PRIMITIVES: Final = p.ufuncs()
"""By NumPy's ufunc: the primitive that computes it here."""


def _has_other_result(numpys: numpy.ufunc, op: Primitive, dtype: DType) -> bool:
    """Whether our function gives another dtype than NumPy's for operands of a dtype, or other
    infinities and zeros for complex ones."""
    if dtype in d.COMPLEX and "c" in op.corrected:
        return True
    ours = op.results.get(op.cast_first.get(dtype, dtype))
    try:
        return ours is not numpys.resolve_dtypes((*[dtype] * numpys.nin, None))[-1]
    except TypeError:
        return True


_PRODUCTS: Final = """
dot einsum inner linalg.matmul linalg.matrix_power linalg.tensordot linalg.vecdot matmul tensordot
vdot vecdot
"""

REFUSED: Final[dict[str, tuple[DType, ...]]] = {
    # Results are others.
    **{
        numpys.__name__: tuple(
            [dtype for dtype in d.NUMPYS if _has_other_result(numpys, op, dtype)]
        )
        for numpys, op in PRIMITIVES.items()
    },
    # Products of booleans are booleans, and integers here.
    **dict.fromkeys(_PRODUCTS.split(), (d.bool,)),
    # Complex numbers have no order here.
    **dict.fromkeys(("max", "min", "amax", "amin", "sort"), tuple(d.COMPLEX)),
    # Integers are copied, and NumPy takes less time for complex numbers.
    "nan_to_num": tuple([dtype for dtype in d.NUMPYS if dtype not in d.REAL_FLOATING]),
    # NumPy computes these without a wider dtype, and products overflow. It takes less time for
    # variances of complex numbers.
    "prod": tuple(d.NARROW),
    **dict.fromkeys(("std", "var"), (*d.NARROW, *d.COMPLEX)),
}
"""The dtypes of operands whose calls are NumPy's."""

KEEPS_ORDER: Final = frozenset(
    ["array", "astype", "empty_like", "full_like", "ones_like", "ravel", "zeros_like"]
)
"""Functions whose results are laid out as their operands are. Ours lay them out row by row, so that
calls with operands that lie otherwise are NumPy's."""

_SPECIAL_POWERS: Final = (0.5, -1)  # NumPy computes square roots and reciprocals


def has_special_elements(name: str, operands: tuple[Any, ...]) -> bool:
    """Whether the standard's function has other results for some elements than NumPy's ufunc.

    C computes these as NumPy does, but not for all layouts and sizes.
    """
    if name == "einsum":  # numbers among its operands are not promoted as weak ones
        return not all([hasattr(x, "dtype") for x in operands[1:]])
    if name.endswith("quantile"):  # by whole numbers those of integers are integers
        return len(operands) < 2 or numpy.asarray(operands[1]).dtype != numpy.float64
    if name == "floor_divide":  # of infinities
        return any([_kind(x) == "f" for x in operands])
    if name == "mean":  # of infinite complex numbers
        return _kind(operands[0]) == "c"
    exponent = operands[-1]
    return name == "power" and type(exponent) in (int, float) and exponent in _SPECIAL_POWERS


def _kind(x: Any) -> str:
    dtype = getattr(x, "dtype", None) or numpy.dtype(type(x))
    return str(dtype.kind)
