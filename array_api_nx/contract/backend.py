"""The base class of backends: the contract (interface.py), and its defaults from other modules."""

from __future__ import annotations

from inspect import getmembers, isfunction
from typing import Final

from . import random_numbers, replay
from .interface import Interface


class Backend(Interface):
    """Executes primitives on one device: a subclass has the methods that are abstract here.

    interface.py says what each method does.
    """

    prepare = replay.prepare
    draw = random_numbers.draw
    draw_from = random_numbers.draw_from


METHODS: Final = tuple([name for name, _ in getmembers(Backend, isfunction)])
"""The names of all methods of the contract, abstract or not."""
