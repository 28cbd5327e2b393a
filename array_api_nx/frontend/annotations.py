"""Types in the annotations of arrays, and the default of an argument that may be None."""

from __future__ import annotations

from types import EllipsisType
from typing import Any, TypeAlias

PythonScalar: TypeAlias = "bool | int | float | complex"
BasicIndex: TypeAlias = "int | slice | EllipsisType | None"
Axes: TypeAlias = "int | tuple[int, ...] | None"
Foreign: TypeAlias = Any
"""An object of a user or of another library. Its abilities are found out at run time."""


class _LeftOut:
    def __repr__(self) -> str:
        return "left out"


LEFT_OUT: Foreign = _LeftOut()
"""The default of an argument for which an explicit None means something else."""
