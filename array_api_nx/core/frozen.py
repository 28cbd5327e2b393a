"""Immutable classes with slots."""

from __future__ import annotations

from typing import Final, Self


class Frozen:
    """Base of immutable classes: slots are set once, by `set_slot`; a copy is the object itself."""

    __slots__ = ()

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        return self

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable: cannot set {name!r}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable: cannot delete {name!r}")


set_slot: Final = object.__setattr__
