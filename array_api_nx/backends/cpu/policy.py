"""Which operations wait, and from which sizes on several threads compute.

At once
    Up to `AT_ONCE_MAX` elements: on one thread, as NumPy does it or in less time.
By several threads
    Above: NumPy's inner loops run over parts of the elements, into memory of the pool.
Later
    What C records (nodes.h): operations element by element on more elements than the setting
    `fusion_threshold`, and reductions of many elements.

Without the extension everything runs at once, on NumPy. (Passes whose tiles were computed by calls
from Python took two to three times as long as NumPy does one by one: 19 expressions over a million
floats.)
"""

from __future__ import annotations

import sys
from functools import partial
from typing import Final

from ... import config
from ...config import current
from ...contract.events import evaluated
from ...native import native
from ...primitives import table as p
from .engine import fperrors

AT_ONCE_MAX: Final = 2**15
"""Elements up to which a second thread, which takes some microseconds to join, makes no operation
faster, but for those below (docs/tuning.md, 20)."""

LARGE: Final = 2**19
"""Elements above which the extension leaves operations that do not wait to the backend's methods
(docs/tuning.md, 98)."""


class Limits:
    """What depends on the settings of all threads.

    tracked: For larger arrays it is known who can write their memory, and what waits for it.
    """

    __slots__ = ("tracked",)

    tracked: int


limits: Final = Limits()


def _update() -> None:
    limits.tracked = sys.maxsize
    if native is not None:
        # A hint for all threads, at most what any of them has set; what `_modes` says is exact.
        lowest = 0 if config.hints.defer_small else config.hints.threshold
        limits.tracked = lowest
        native.set_limits(AT_ONCE_MAX, LARGE, lowest, lowest)


_update()
config.watchers.append(_update)

_SHARED: Final = 1 << 4
_THRESHOLD: Final = 8
"""The bit that says that shared memory may be read later, and the place of the threshold."""
_MOST: Final = 2**48
"""No array has so many elements."""


def _modes(module: object) -> int | None:
    """Whether operations may wait in a line of a module, whose name is given; None if it has none.

    Returns: The floating-point errors to warn of (NumPy's bits), whether operations may read memory
        that others can write, and the setting `fusion_threshold`. None if nothing may wait.
    """
    settings = current()
    # Errors that are to be raised, or passed to a function, must come with the call.
    errors = None if settings.fusion == "off" else fperrors.modes(str(module))
    if errors is None:
        return None
    shared = _SHARED if settings.fusion == "always" else 0
    return errors | shared | min(settings.fusion_threshold, _MOST) << _THRESHOLD


if native is not None:
    native.set_observer(partial(evaluated, "cpu"))
    native.set_expressions(
        _modes,
        fperrors.settings_variable,
        fperrors.ignoring_settings,
        config.stack,
        fperrors.report,
        p.CAST,
        p.WHERE,
    )
    native.set_reductions(
        (p.SUM, p.PROD, p.MAX, p.MIN, p.ANY, p.ALL, p.COUNT_NONZERO, p.MEAN, p.VAR)
    )
