"""Computations that a signal ends: what was begun is dropped, and everything else is as before."""

from __future__ import annotations

import gc
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.native import native

from ....support.programs import assert_same, numpy_of, pending

pytestmark = [
    pytest.mark.skipif(native is None, reason="NumPy's calls are interrupted by Python itself"),
    pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no timers"),
]

SIZE = 3_000_000
STEPS = 40
"""With this many sines of this many elements, the machine is busy for seconds."""


class Alarm(Exception):
    pass


def sound(*_: Any) -> None:
    raise Alarm


@contextmanager
def alarm(handler: Callable[..., Any] = sound) -> Iterator[None]:
    """Have a signal come in a twentieth of a second.

    Garbage is not collected meanwhile: Python drops what a handler raises while a collector's
    callback runs, and Hypothesis installs one.
    """
    before = signal.signal(signal.SIGALRM, handler)
    gc.disable()
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        gc.enable()
        signal.signal(signal.SIGALRM, before)


def sines(x: xp.Array) -> xp.Array:
    for _ in range(STEPS):
        x = xp.sin(x)
    return x


def assert_all_is_well(x: xp.Array) -> None:
    """Arrays can be read, and computed with, as if nothing had been."""
    assert_same(numpy_of(x[:5]), np.full(5, 0.5))
    assert_same(numpy_of(xp.sum(x + 0.5)), np.asarray(float(x.size)))
    small = xp.compile(lambda x: xp.sin(x) * 2)(x[:1000])
    assert_same(numpy_of(small), np.sin(np.full(1000, 0.5)) * 2)


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_deferred(threads):
    x = xp.full((SIZE,), 0.5)
    y = sines(x)
    with xp.config_context(num_threads=threads), alarm(), pytest.raises(Alarm):
        xp.evaluate(y)
    assert pending(y)
    assert_all_is_well(x)
    expected = 0.5
    for _ in range(STEPS):
        expected = float(np.sin(expected))
    assert float(y[SIZE // 2]) == expected


@pytest.mark.parametrize(
    "call",
    [
        lambda x: float(xp.sum(sines(x))),
        lambda x: xp.evaluate(xp.sum(xp.reshape(sines(x), (-1, 3)), axis=0)),
        lambda x: np.asarray(xp.compile(sines)(x)),
        lambda x: np.asarray(xp.compile(lambda x: xp.cumulative_sum(sines(x)))(x)),
    ],
)
def test_reductions_and_programs(call):
    x = xp.full((SIZE,), 0.5)
    xp.evaluate(x)
    for _ in range(2):
        with alarm(), pytest.raises(Alarm):
            call(x)
        assert_all_is_well(x)


def test_without_fusion():
    x = xp.full((SIZE,), 0.5)
    with xp.config_context(fusion="off"), alarm(), pytest.raises(Alarm):
        sines(x)
    assert_all_is_well(x)


def test_handlers_that_compute_and_return():
    seen: list[float] = []

    def handler(*_: Any) -> None:
        seen.append(float(xp.sum(xp.sin(xp.full((400_000,), 0.0)) + 1.0)))

    x = xp.full((SIZE,), 0.5)
    y = xp.sin(xp.sin(sines(x)))
    with alarm(handler):
        xp.evaluate(y)
    assert seen == [400_000.0]
    assert_same(numpy_of(y), np.full(SIZE, float(y[0])))


def test_other_threads_are_not_interrupted():
    x = xp.full((SIZE,), 0.5)
    y = xp.sin(x) + 1
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(float(xp.sum(y))))
    z = sines(x)

    def evaluate_beside_the_thread() -> None:
        thread.start()
        xp.evaluate(z)

    with alarm(), pytest.raises(Alarm):
        evaluate_beside_the_thread()
    thread.join()
    assert results == [pytest.approx(SIZE * (np.sin(0.5) + 1))]
    assert_all_is_well(x)
