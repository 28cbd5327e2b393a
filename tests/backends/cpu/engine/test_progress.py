"""Progress bars: when there is one, and its values. A stand-in for tqdm records them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from itertools import count
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx import config
from array_api_nx.native import native
from tests.support.refusals import refused
from tests.support.sizes import DEFERRED

from ....support.programs import assert_same, numpy_of, pending

needs_extension = pytest.mark.skipif(native is None, reason="without the extension nothing waits")

SIZE = max(2 * DEFERRED, 1_000_000)
"""Deferred elements whose sine, taken twelve times, takes a thread a hundred milliseconds or more;
a pass reports its progress every twenty milliseconds."""


class Bar:
    """What tqdm makes, as far as progress bars use it."""

    made: list[Bar]
    error: BaseException | None = None

    def __init__(self, total: int, initial: int, **settings: Any) -> None:
        self.total = total
        self.n = initial
        self.settings = settings
        self.seen = [initial]
        self.closed = 0
        self.made.append(self)

    def update(self, step: int) -> None:
        self.n += step
        self.seen.append(self.n)
        if self.error is not None:
            raise self.error

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def bars(monkeypatch: pytest.MonkeyPatch) -> list[Bar]:
    """The bars that were made."""
    root, auto = ModuleType("tqdm"), ModuleType("tqdm.auto")
    root.__spec__ = ModuleSpec("tqdm", None)
    auto.tqdm = Bar  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tqdm", root)
    monkeypatch.setitem(sys.modules, "tqdm.auto", auto)
    monkeypatch.setattr(Bar, "made", [], raising=False)
    monkeypatch.setattr(Bar, "error", None)
    return Bar.made


def sines(x: xp.Array) -> xp.Array:
    for _ in range(12):
        x = xp.sin(x)
    return x


STARTS = count(1)


def numbers() -> xp.Array:
    """Other numbers each time, since results of equal expressions are known."""
    x = xp.full((SIZE,), 1 / next(STARTS))
    xp.evaluate(x)
    return x


def assert_complete(bar: Bar, total: int) -> None:
    assert bar.total == bar.n == total
    assert bar.seen == sorted(bar.seen)
    assert bar.closed == 1
    assert bar.settings["delay"] == 1.0


@pytest.fixture
def alone() -> Iterator[None]:
    """One thread, which reports its progress. Of several threads the calling one does."""
    with xp.config_context(num_threads=1):
        yield


@needs_extension
@pytest.mark.parametrize("threads", [1, 2])
def test_an_evaluation(bars, threads):
    # On a busy machine the calling thread may come too late to do, and to tell, anything.
    for _ in range(20):
        x = numbers()
        y = sines(x)
        with xp.config_context(progress=True, num_threads=threads):
            xp.evaluate(y)
        if bars:
            break
    (bar,) = bars
    assert_complete(bar, SIZE)
    assert_same(numpy_of(y[:3]), numpy_of(sines(xp.asarray(x[:3], copy=True))))


@needs_extension
@pytest.mark.usefixtures("alone")
def test_one_bar_for_all_passes(bars):
    y = sines(numbers())
    centred = sines(y - xp.mean(y))
    passes = xp.explain(centred).passes
    with xp.config_context(progress=True):
        xp.evaluate(centred)
    (bar,) = bars
    assert len(passes) > 1
    assert_complete(bar, len(passes) * SIZE)
    assert len(bar.seen) > 3


@needs_extension
@pytest.mark.usefixtures("alone")
def test_a_call_of_a_compiled_function(bars):
    function, x = xp.compile(sines), numbers()
    with xp.config_context(progress=True):
        for _ in range(2):
            function(x)
    for bar in bars:
        assert_complete(bar, SIZE)
    assert len(bars) == 2


@needs_extension
@pytest.mark.usefixtures("alone")
def test_none_unless_asked_for(bars):
    xp.evaluate(sines(numbers()))
    with xp.config_context(progress=True), xp.config_context(progress=False):
        xp.evaluate(sines(numbers()))
    assert bars == []


@needs_extension
@pytest.mark.usefixtures("alone")
def test_an_exception_ends_the_evaluation(bars, monkeypatch):
    y = sines(numbers())
    monkeypatch.setattr(Bar, "error", KeyboardInterrupt())
    with xp.config_context(progress=True), pytest.raises(KeyboardInterrupt):
        xp.evaluate(y)
    assert pending(y)
    assert [bar.closed for bar in bars] == [1]
    monkeypatch.setattr(Bar, "error", None)
    with xp.config_context(progress=True):
        xp.evaluate(y)
    assert_complete(bars[1], SIZE)
    assert not pending(y)


def test_without_tqdm(monkeypatch):
    monkeypatch.setattr(config, "find_spec", lambda name: None)
    message = "progress shows bars by tqdm, which is not installed; .* pip install tqdm"
    refused(ImportError, message, xp.config_context, progress=True)
    with pytest.raises(ImportError, match="ARRAY_API_NX_PROGRESS shows bars by tqdm"):
        config.from_environment({"ARRAY_API_NX_PROGRESS": "1"})
    with xp.config_context(progress=False):
        assert np.asarray(xp.ones(2)).tolist() == [1.0, 1.0]


def test_what_is_no_flag():
    message = "progress must be True or False, not 'yes'; False is the default"
    with pytest.raises(TypeError, match=message):
        xp.config_context(progress="yes")  # type: ignore[arg-type]
