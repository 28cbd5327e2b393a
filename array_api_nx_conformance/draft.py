"""What the draft of the standard's next version has beyond the pinned commit of its repository.

The suite has no tests of these names yet; those in ``draft_tests`` are this package's own. A name
that a later pin has in its stubs is read from there, and its entry here can go.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass

FOLDER = "draft_tests"  # beside this file; begins the ids of its tests


@dataclass(frozen=True)
class Addition:
    """A name of the draft.

    Attributes
    ----------
    name, chapter : str
        As in `standard.Standard`.
    signature : inspect.Signature or None
        With the names, kinds and defaults of the parameters; None for what is not called.
    optional : str
        Why a namespace may lack it; empty if it may not.
    proposed : bool
        Whether it is only a proposal: then failures are permitted.
    """

    name: str
    chapter: str
    signature: inspect.Signature | None = None
    optional: str = ""
    proposed: bool = False


def _like(function: Callable[..., None]) -> inspect.Signature:
    return inspect.signature(function)


ADDITIONS = (
    Addition(
        "top_k",
        "searching functions",
        _like(lambda x, k, /, *, axis=-1, mode="largest": None),
    ),
    Addition(
        "__dlpack_c_exchange_api__",
        "array object",
        optional="optional: DLPack 1.3's functions in C, which not every library has",
    ),
    Addition(
        "bincount",
        "statistical functions",
        _like(lambda x, /, weights=None, *, minlength=0: None),
        optional="proposed (data-apis/array-api#960), and not in the draft yet",
        proposed=True,
    ),
)
