"""Random numbers under the names of NumPy's `Generator`, the same on every device.

`default_rng` makes a `Generator`. Number `i` of a draw is a function of the seed and of how many
blocks of 64 bits were drawn before, plus `i`, by the counter-based generator Threefry-2x32:
threads, chunks and devices change no bit of it (docs/random.md tells what that does not hold for).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..frontend.docstrings import complete_docstrings
from ..frontend.missing import getter
from .generator import Generator, default_rng
from .state import State

__all__ = ["Generator", "default_rng"]


def __dir__() -> list[str]:
    return __all__


# Not for type checkers, to which any misspelt name would be an `object`.
if not TYPE_CHECKING:
    __getattr__ = getter(__name__)


complete_docstrings(globals(), ["default_rng"])
complete_docstrings(vars(Generator), [name for name in vars(Generator) if name[0] != "_"])
complete_docstrings(vars(State), ["spawn"])
