"""What is set right in the official suite before it runs, so that it tests what it means to.

A correction leaves no test out, and lets none pass that finds something: it replaces what makes a
test ask for the wrong thing. docs/upstream/array-api-tests.md has the report to the maintainers.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

__all__ = ["correct"]

_NOTHING = object()


def correct(dtype_helpers: ModuleType) -> None:
    """Let the suite's table of promotion answer with what equals no dtype where it has no pair.

    ``test_can_cast`` compares ``promotion_table.get(pair)`` with a dtype. For a pair that is not in
    the table that is None, and ``None == numpy.dtype("float64")`` is true. So a namespace whose
    dtypes are NumPy's objects would have to cast complex numbers to float64.
    """
    table: Any = dtype_helpers.promotion_table

    class Table(type(table)):  # type: ignore[misc]
        def get(self, key: object, default: object = _NOTHING) -> object:
            return super().get(key, default)

    table.__class__ = Table
