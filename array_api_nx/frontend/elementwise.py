"""The elementwise chapter of the standard.

Every function computes on the elements of its operands, after promotion and broadcasting, and
returns a new array: none of them returns a view. But for `clip` they are made of the rows of
`primitives.table` and `primitives.documentation`; elementwise.pyi lists them for editors and type
checkers.
"""

from __future__ import annotations

from ..primitives.documentation import ELEMENTWISE
from .clip import clip
from .row_functions import elementwise_function

__all__ = ["clip"]
__all__ += [op.name for op in ELEMENTWISE]

globals().update({op.name: elementwise_function(op, __name__) for op in ELEMENTWISE})
