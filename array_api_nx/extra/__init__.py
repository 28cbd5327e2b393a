"""Array functions beyond the standard, under the names that NumPy has for them.

They take and give arrays of this package, on every device. Each is also found at the top level,
``xp.pad`` for ``xp.extra.pad``, because libraries look there for what the standard lacks; but
neither `dir` nor ``__all__`` of the top level lists it, and ``config_context(extras=False)`` hides
it there, so that code which is meant to run on every namespace finds out what it relies on.
"""

# ruff: noqa: F403 - each chapter lists its functions in its `__all__`

from __future__ import annotations

from typing import TYPE_CHECKING

from ..frontend.docstrings import complete_docstrings
from ..frontend.evaluation import in_one_pass as in_one_pass
from ..frontend.missing import FUNCTIONS_BEYOND
from ..frontend.ufuncs import apply_ufunc as apply_ufunc
from .convolution import *
from .correlation import *
from .counting import *
from .creation import *
from .elementwise import *
from .exponentials import *
from .manipulation import *
from .nans import *
from .numerical import *
from .products import *
from .selecting import *
from .statistical import *
from .windows import *

# Not for type checkers, which read literal strings alone, and hide all other names.
if not TYPE_CHECKING:
    __all__ = list(FUNCTIONS_BEYOND)


def __dir__() -> list[str]:
    # Without the modules that this package consists of.
    return FUNCTIONS_BEYOND


complete_docstrings(globals(), FUNCTIONS_BEYOND)
