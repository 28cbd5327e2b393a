"""The functions that work element by element, as the table of primitives lists them."""

from collections.abc import Callable
from typing import Any

import array_api_nx as xp
from array_api_nx.core.dtypes import DType
from array_api_nx.primitives.table import Primitive, of_family

__all__ = ["functions", "rows"]


def rows(family: str, dtype: DType | None = None) -> list[Primitive]:
    """The rows of the family "unary" or "binary" that are public functions, and take a dtype."""
    listed = [op for op in of_family(family) if op.name in xp.__all__]
    return [op for op in listed if dtype is None or dtype in op.results]


def functions(family: str, dtype: DType | None = None) -> dict[str, Callable[..., Any]]:
    """The functions of `rows`, by their names."""
    return {op.name: getattr(xp, op.name) for op in rows(family, dtype)}
