"""What to write for names that are missing here: attributes of modules and of arrays.

The table of these names, foreign_names.txt, says itself how it is written.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import cache
from pkgutil import get_data
from typing import Final, Never

from ..core.lacking_dtypes import NEAREST
from ..core.spelling import swapped

FUNCTIONS_BEYOND: Final = """
allclose apply_ufunc argpartition array_equal atleast_1d atleast_2d atleast_3d bincount
concatenate conv convolve corrcoef cov cumprod cumsum cumulative_max cumulative_min diag diagonal
einsum fold gradient histogram histogram2d histogramdd in_one_pass interp isclose logspace
logsumexp max_pool mean_pool median nan_to_num nanargmax nanargmin nancumprod nancumsum nanmax
nanmean nanmedian nanmin nanprod nanquantile nanstd nansum nanvar pad partition put_along_axis
quantile ravel roots sinc sliding_window_view softmax top_k transpose trapezoid unfold
""".split()  # noqa: SIM905 - a list of names
"""The functions of `extra`."""

BEYOND: Final = frozenset([*FUNCTIONS_BEYOND, "cross", "lib", "random", "special"])
"""What the standard lacks and the top level has without listing it: known by name, so that to ask
for another one imports nothing."""


def _tables() -> dict[str, dict[str, str]]:
    """The sections of foreign_names.txt: in each the texts of the messages, by lists of names."""
    found: dict[str, dict[str, str]] = {}
    text = (get_data(__package__, "foreign_names.txt") or b"").decode()
    for line in text.replace("\n    ", " ").splitlines():
        if line.startswith("["):
            section = found[line.strip("[]")] = {}
        elif line and not line.startswith("#"):
            names, _, mend = line.partition(" : ")
            section[names] = mend
    return found


TABLES: Final = _tables()
"""Per public module, for the attributes of `Array`, and for parameters."""


@cache
def mends(owner: str) -> dict[str, str]:
    """What to write for each foreign name, in a public module or as an attribute of ``Array``."""
    found = {}
    if owner == "array_api_nx":
        for name, nearest in NEAREST.items():
            found[name] = f"the standard has no such dtype: use xp.{nearest}"
    for names, mend in TABLES[owner].items():
        for each in names.split():
            name, _, ours = each.partition("=")
            found[name] = mend.replace("{}", ours or name)
    return found


def missing(module: str, name: str, beyond: Iterable[str] = ()) -> AttributeError:
    """The error for a name that a public module lacks: with the alternative, if there is one.

    Python appends its guess, ``Did you mean: ...``, to errors that have a name and an object. That
    is wanted for unknown names alone: an alternative is better than a guess, and so is the name in
    which two letters changed places. `beyond` are names that the module has, but does not list.
    """
    text = f"module {module!r} has no attribute {name!r}"
    if name.startswith("_"):  # Python or a library probes for it
        return AttributeError(text)
    owner = sys.modules[module]
    if name in mends(module):
        return AttributeError(f"{text}; {mends(module)[name]}", obj=owner)
    known = {*vars(owner), *beyond}
    for word in swapped(name):
        if word in known:
            return AttributeError(f"{text}; did you mean {word!r}?", obj=owner)
    return AttributeError(text)


def getter(module: str) -> Callable[[str], Never]:
    """The ``__getattr__`` of a public module that has no names beyond those it lists."""

    def __getattr__(name: str) -> Never:
        raise missing(module, name)

    return __getattr__


class MissingAttribute:
    """Stands in the class for an attribute that its arrays lack: reading it is an AttributeError.

    `hasattr` says no, and `dir` of an array does not list it; `help` of the class shows what to
    write instead. A method `__getattr__` would need no entries in the class, but make every other
    attribute slower to read (docs/tuning.md, 95).
    """

    def __init__(self, name: str, instead: str) -> None:
        self._name = name
        self._instead = instead
        self.__doc__ = f"Missing: {instead}."

    def __get__(self, x: object, owner: type) -> Never:
        # With a name Python would append a guess to what to call instead.
        raise AttributeError(
            f"{owner.__name__!r} object has no attribute {self._name!r}; {self._instead}",
            obj=owner if x is None else x,
        )


def missing_attributes(names: Iterable[str]) -> dict[str, MissingAttribute]:
    """The entries of a class with the attributes `names`: foreign ones, and swapped letters."""
    found = {
        word: f"did you mean {name!r}?"
        for name in names
        if not name.startswith("_")
        for word in swapped(name)
    }
    found |= mends("Array")
    return {name: MissingAttribute(name, instead) for name, instead in found.items()}
