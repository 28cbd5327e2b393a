"""Arrays to try functions on: made of lists, so that the expected results need no namespace."""

from __future__ import annotations

import itertools
import math
import os
from typing import Any, TypeAlias

from hypothesis import strategies as st

from .under_test import xp

Array: TypeAlias = Any  # of whatever namespace
REAL = ("float32", "float64", "int8", "int16", "int32", "int64", "uint8")
_SKIPPED = os.environ.get("ARRAY_API_TESTS_SKIP_DTYPES", "").split(",")
_SMALL = st.integers(min_value=0, max_value=20)  # so that elements are often equal
_FLOATS = st.floats(width=32, allow_nan=False, allow_subnormal=False)


def dtypes(names: tuple[str, ...]) -> st.SearchStrategy[Any]:
    """Those of the dtypes that the namespace has, and its default device."""
    there = [name for name in names if hasattr(xp, name) and name not in _SKIPPED]
    return st.sampled_from([getattr(xp, name) for name in there])


@st.composite
def lists_and_arrays(draw: st.DrawFn, dtype: Any) -> tuple[list[float], Array]:
    """An array of 1 to 3 axes, none of size 0, and its elements in row-major order."""
    shape = tuple(draw(st.lists(st.integers(1, 5), min_size=1, max_size=3)))
    elements = _FLOATS if xp.isdtype(dtype, "real floating") else _SMALL
    size = math.prod(shape)
    values = draw(st.lists(elements, min_size=size, max_size=size))
    return values, xp.reshape(xp.asarray(values, dtype=dtype), shape)


def rows(x: Array, axis: int) -> list[list[float]]:
    """What stands along an axis, as lists of Python numbers."""
    shape = tuple(int(size) for size in x.shape)
    axis %= len(shape)
    others = [range(size) for number, size in enumerate(shape) if number != axis]
    return [
        [float(x[(*before[:axis], position, *before[axis:])]) for position in range(shape[axis])]
        for before in itertools.product(*others)
    ]
