"""Tables that follow from the rows of dtypes.py, and grow when a row arrives later.

A dtype that is another package's enters when it is first asked for, as the import of this package
must not import the other. Each table is one object from the import on, so that modules may name it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

_Table = TypeVar("_Table", bound=list[Any] | dict[Any, Any])

_renewals: Final[list[Callable[[], object]]] = []
"""One function for each table, in the order in which tables follow from each other."""


def derived(make: Callable[[], _Table]) -> _Table:
    """The list or dict that `make` returns, which takes in what `make` returns after a row arrived.

    `make` may read tables that are derived already.
    """
    table = make()

    def renewed() -> None:
        if isinstance(table, list):
            table[:] = make()
        else:
            table.update(make())

    on_arrival(renewed)
    return table


def on_arrival(then: Callable[[], object]) -> None:
    """Call `then` each time that a row arrives, after what it follows from."""
    _renewals.append(then)


def renew() -> None:
    """Derive every table again."""
    for renewed in _renewals:
        renewed()
