"""The base class of backends: the contract (interface.py), and what follows from its methods."""

from __future__ import annotations

from inspect import getmembers, isfunction
from typing import Final

from . import composed, random_numbers, replay
from .arguments import (
    AxisOrder,
    Handle,
    Info,
    Keys,
    Native,
    Norm,
    Operand,
    Overlap,
    Padding,
    Scalar,
)
from .interface import Interface

__all__ = [
    "METHODS",
    "AxisOrder",
    "Backend",
    "Handle",
    "Info",
    "Keys",
    "Native",
    "Norm",
    "Operand",
    "Overlap",
    "Padding",
    "Scalar",
]


class Backend(Interface):
    """Executes primitives on one device: a subclass has the methods that are abstract here.

    interface.py says what each method does. Those below are composed of others; a backend overrides
    what its engine does better.
    """

    prepare = replay.prepare
    linspace = composed.linspace
    eye = composed.eye
    apply = composed.apply
    apply_multiple = composed.apply_multiple
    var = composed.var
    strided = composed.strided
    roll = composed.roll
    repeat = composed.repeat
    triangle = composed.triangle
    assign_strided = composed.assign_strided
    gather = composed.gather
    isin = composed.isin
    bincount = composed.bincount
    threefry = composed.threefry
    draw = random_numbers.draw
    draw_from = random_numbers.draw_from
    unfold = composed.unfold
    fold = composed.fold
    convolve = composed.convolve
    triangular_solve = composed.triangular_solve


METHODS: Final = tuple([name for name, _ in getmembers(Backend, isfunction)])
"""The names of all methods of the contract, abstract or not."""
