"""What every array of a strict namespace is: one of ours, under the options of the namespace."""

from __future__ import annotations

from types import ModuleType
from typing import ClassVar

from ...frontend.array import Array
from .policy import Policy


class StrictBase:
    """An array of some strict namespace; `array.StrictArray` has its methods.

    _array: The array of ours that it holds.
    _policy: The options of its namespace.
    _namespace: The namespace.
    """

    __slots__ = ("__weakref__", "_array")

    _array: Array
    _policy: ClassVar[Policy]
    _namespace: ClassVar[ModuleType]
