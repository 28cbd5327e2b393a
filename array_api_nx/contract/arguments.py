"""The types of arguments and results of the contract's methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal, NamedTuple, TypeAlias

Handle: TypeAlias = Any
"""An array of a backend; opaque to everyone else."""

Native: TypeAlias = Any
"""An array, a dtype or another object of the engine that a backend runs on. Most have no types."""


class AxisOrder(NamedTuple):
    """How the elements of an array that is not row-major follow each other in memory.

    `axes`: the axes from the longest step in memory to the shortest; None if one does not step.
    `is_packed`: whether the array is row-major if its axes are permuted so: whether there are no
    gaps between elements, none are shared, and none run backwards.
    """

    axes: tuple[int, ...] | None
    is_packed: bool


Scalar: TypeAlias = "bool | int | float | complex"
Operand: TypeAlias = "Handle | Scalar"
Keys: TypeAlias = "tuple[Handle | int | None, ...]"
"""What `index_get` and `index_set` take for each axis."""
Info: TypeAlias = "dict[str, str | float | bool | Info | None]"
Padding: TypeAlias = "tuple[tuple[int, int], ...]"
Overlap: TypeAlias = 'Literal["full", "same", "valid"]'
Norm: TypeAlias = 'Literal["backward", "ortho", "forward"]'
OPPOSITE: Final[dict[str, Norm]] = {
    "backward": "forward",
    "ortho": "ortho",
    "forward": "backward",
}
"""Per norm, the one with which a forward transform scales as the inverse does with it."""
Kind: TypeAlias = Literal[
    "bits", "uniform", "normal", "integers", "exponential", "gamma", "beta", "poisson", "binomial"
]
"""The numbers that `Backend.draw` makes."""
Run: TypeAlias = "Callable[..., tuple[Handle, ...]]"
"""A program that is ready to run: from the handles of its inputs to those of its outputs."""
