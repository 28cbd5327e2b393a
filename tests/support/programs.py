"""Shared by the tests of deferred execution: ways to run a program, and comparisons.

Programs are functions of a namespace, so that one text runs on our arrays and on NumPy's, which
are the oracle.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx import config
from array_api_nx.config import Settings, hints, watchers
from array_api_nx.contract.numpy_dtypes import NDArray
from array_api_nx.native import native
from tests.support.sizes import AT_ONCE, THRESHOLD

SETTINGS: dict[str, dict[str, object]] = {
    "off": {"fusion": "off"},
    "context": {"fusion": "auto", "fusion_threshold": 0},
    "always": {"fusion": "always", "fusion_threshold": 0},
}
"""How a program on small arrays may be run; it must give the same results with each."""


needs_extension = pytest.mark.skipif(
    native is None, reason="without the extension nothing is deferred"
)

LARGE = AT_ONCE + 1
"""The smallest number of elements that "large" defers."""


def set_process_threshold(threshold: int) -> None:
    """Set the threshold as the environment would, from now on."""
    hints.threshold = threshold
    for changed in watchers:
        changed()


def _start_with(defaults: Settings) -> None:
    """Start again with these defaults, as if the environment set them."""
    config.DEFAULTS = defaults
    config._deferring.add(0)
    set_process_threshold(defaults.fusion_threshold)


@contextmanager
def default_process() -> Iterator[None]:
    """The process has the default settings, as with an empty environment."""
    kept, token = config.DEFAULTS, config.stack.set((Settings(),))
    _start_with(Settings())
    try:
        yield
    finally:
        config.stack.reset(token)
        _start_with(kept)


@contextmanager
def _of_process(configuration: dict[str, object]) -> Iterator[None]:
    kept = hints.threshold
    set_process_threshold(configuration["fusion_threshold"])
    try:
        with xp.config_context(**configuration):
            yield
    finally:
        set_process_threshold(kept)


def settings(mode: str, **more: object) -> AbstractContextManager[object]:
    """The configuration of one of `SETTINGS`, or another one, for a with statement.

    "default" has the settings of a new process; with "large" the process begins to defer where
    several tiles and threads come in, at sizes that a test can afford. Only the main thread may
    enter "large".
    """
    known = {
        **SETTINGS,
        "default": {"fusion": "auto", "fusion_threshold": THRESHOLD},
        "large": {"fusion": "auto", "fusion_threshold": LARGE - 1},
    }
    configuration = {**known[mode], **more}
    if mode == "large":
        return _of_process(configuration)
    return xp.config_context(**configuration)


@contextmanager
def recorded_from(size: int) -> Iterator[None]:
    """Operations element by element on more elements than this wait in the extension."""
    with _of_process({"fusion": "auto", "fusion_threshold": size}):
        yield


def deferring() -> AbstractContextManager[object]:
    """Everything is deferred that can be."""
    return settings("context")


def numpy_of(x: object) -> NDArray:
    """The elements of an array of either namespace, in memory of its own."""
    return np.array(np.asarray(x))


def pending(x: xp.Array) -> bool:
    """Whether the elements of `x` are still to be computed."""
    return bool(xp.explain(x).pending)


def different_bits(actual: NDArray, expected: NDArray) -> str | None:
    """The first difference between `actual` and `expected`, None if there is none.

    All NaN are one value.
    """
    if actual.shape != expected.shape:
        return f"shape {actual.shape} instead of {expected.shape}"
    if actual.dtype != expected.dtype:
        return f"dtype {actual.dtype} instead of {expected.dtype}"
    if actual.tobytes() == expected.tobytes():
        return None
    kind = expected.dtype.kind
    if kind == "c":
        actual = np.stack([actual.real, actual.imag], axis=-1)
        expected = np.stack([expected.real, expected.imag], axis=-1)
    same = actual == expected
    if kind in "cf":
        same &= np.signbit(actual) == np.signbit(expected)
        same |= np.isnan(actual) & np.isnan(expected)
    if same.all():
        return None
    where = tuple([int(i) for i in np.argwhere(~same)[0]])
    return (
        f"{actual[where]!r} instead of {expected[where]!r} at {where}, "
        f"and {int((~same).sum()) - 1} more"
    )


def same_bits(actual: NDArray, expected: NDArray) -> bool:
    """Whether `different_bits` finds nothing; the numbers of a record are compared one by one."""
    if actual.dtype.names is not None:
        actual, expected = actual.view(np.float64), expected.view(np.float64)
    return different_bits(actual, expected) is None


def assert_same(actual: object, expected: object, hint: object = "") -> None:
    """Equal shape, dtype and elements, bit for bit but for the kinds of NaN."""
    wrong = different_bits(np.asarray(actual), np.asarray(expected))
    assert wrong is None, f"{hint}: {wrong}"
