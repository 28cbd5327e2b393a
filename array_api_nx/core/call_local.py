"""`CallLocal`: a value for the calls made within a ``with`` block, and for no others."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, Generic, TypeVar

T = TypeVar("T")


class _State(threading.local):
    value: Any = None
    hidden: Any = None


class CallLocal(Generic[T]):
    """A variable of each thread that finalisers do not see which the garbage collector runs.

    That takes `hide_while_collecting` among ``gc.callbacks``. A context variable would not do:
    before Python 3.12 the collector may start while one is being set, and its finalisers then set
    others in a context that is half changed.
    """

    __slots__ = ("_state",)

    def __init__(self) -> None:
        self._state = _State()
        _variables.append(self)

    def get(self) -> T | None:
        found: T | None = self._state.value
        return found

    @contextmanager
    def set(self, value: T | None) -> Iterator[None]:
        """Hold `value` for the length of a ``with`` block."""
        state = self._state
        before = state.value
        state.value = value
        try:
            yield
        finally:
            state.value = before

    def hide(self) -> None:
        if self._state.value is not None:
            self._state.hidden, self._state.value = self._state.value, None

    def show(self) -> None:
        if self._state.hidden is not None:
            self._state.value, self._state.hidden = self._state.hidden, None


_variables: Final[list[CallLocal[Any]]] = []


def hide_while_collecting(phase: str, info: dict[str, int]) -> None:
    """For ``gc.callbacks``, where it may stand several times: variables have no value from the
    start of a collection to its end."""
    for variable in _variables:
        if phase == "start":
            variable.hide()
        else:
            variable.show()
