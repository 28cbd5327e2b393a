"""A signal ends a computation: its results are dropped, and everything else is as before.

test_evaluation_interrupted.py has values that still wait, and handlers that compute.
"""

import threading

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.native import native
from tests.support.programs import assert_same, numpy_of
from tests.support.signals import Alarm, alarm, needs_timers

pytestmark = [
    pytest.mark.skipif(native is None, reason="NumPy's calls are interrupted by Python itself"),
    needs_timers,
]

SIZE = 3_000_000
STEPS = 40
"""With this many sines of this many elements, the machine is busy for seconds."""


def sines(x):
    for _ in range(STEPS):
        x = xp.sin(x)
    return x


def assert_all_is_well(x):
    """Arrays can be read, and computed with, as if nothing had been."""
    assert_same(numpy_of(x[:5]), np.full(5, 0.5))
    assert_same(numpy_of(xp.sum(x + 0.5)), np.asarray(float(x.size)))
    small = xp.compile(lambda x: xp.sin(x) * 2)(x[:1000])
    assert_same(numpy_of(small), np.sin(np.full(1000, 0.5)) * 2)


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
        with pytest.raises(Alarm), alarm():
            call(x)
        assert_all_is_well(x)


def test_without_fusion():
    x = xp.full((SIZE,), 0.5)
    with xp.config_context(fusion="off"), pytest.raises(Alarm), alarm():
        sines(x)
    assert_all_is_well(x)


def test_other_threads_are_not_interrupted():
    x = xp.full((SIZE,), 0.5)
    y = xp.sin(x) + 1
    begun = threading.Event()
    results = []

    def work():
        begun.set()
        for _ in range(10):  # so that the signal comes meanwhile
            results.append(float(xp.sum(y + 0.0)))

    thread = threading.Thread(target=work)
    z = sines(x)
    thread.start()
    assert begun.wait(60)
    with pytest.raises(Alarm), alarm():
        xp.evaluate(z)
    thread.join()
    assert results == [pytest.approx(SIZE * (np.sin(0.5) + 1))] * 10
    del z  # as above
    assert_all_is_well(x)
