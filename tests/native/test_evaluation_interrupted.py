"""A pass over an expression that is interrupted, forked in, or still runs when the process ends."""

import os
import signal
import subprocess
import sys
import time
import tracemalloc
from functools import cache

import numpy as np
import pytest

import array_api_nx as xp
from tests.support.implementations import count_pending, needs_native
from tests.support.processes import python, status_of_child
from tests.support.signals import ctrl_c

pytestmark = [
    needs_native,
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="the system sends no signals to processes"),
]

SIZE = 500_000
STEPS = 200
"""So many sines of so many elements keep two processors busy for half a second and more."""


def sines(x, steps=STEPS):
    for _ in range(steps):
        x = xp.sin(x)
    return x


@cache
def expected(steps=STEPS):
    x = np.full(8, 0.5)
    for _ in range(steps):
        x = np.sin(x)
    return float(x[0])


def read(x):
    float(sines(x)[7])


def reduce(x):
    float(xp.sum(sines(x)))


def reduce_to_rows(x):
    xp.evaluate(xp.max(xp.reshape(x, (1000, -1)) + sines(xp.reshape(x, (1000, -1))), axis=0))


def assign(x):
    target = xp.zeros(SIZE)
    target[...] = sines(x)


def assign_over_operands(x):
    x[:-1] = sines(x[1:])


def update(x):
    x += sines(x)


CALLS = [read, reduce, reduce_to_rows, assign, assign_over_operands, update]


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("call", CALLS)
def test_ctrl_c_ends_it_and_changes_nothing(call, threads):
    x = xp.full(SIZE, 0.5)
    before = count_pending()
    with xp.config_context(num_threads=threads):
        with pytest.raises(KeyboardInterrupt), ctrl_c():
            call(x)
        assert count_pending() == before
        assert (np.asarray(x) == 0.5).all()
        assert float(xp.sum(x + 0.5)) == SIZE


@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupted_value_still_waits(threads):
    x = xp.full(SIZE, 0.5)
    part = sines(x, 10)
    value = sines(part, STEPS - 10)
    before = count_pending()
    with xp.config_context(num_threads=threads):
        with pytest.raises(KeyboardInterrupt), ctrl_c():
            float(value[3])
        assert count_pending() == before
        assert (np.asarray(value) == expected()).all()
    assert (np.asarray(part) == expected(10)).all()


def test_interrupted_passes_leave_no_memory():
    x = xp.full(SIZE, 0.5)
    value = sines(x)
    taken = []
    tracemalloc.start()
    try:
        for _ in range(5):
            with pytest.raises(KeyboardInterrupt), ctrl_c():
                float(value[3])
            taken.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    # The memory of the first result is kept, for the next one.
    assert taken[4] - taken[0] < x.nbytes


def test_handlers_that_exit():
    def handler(*_):
        sys.exit(3)

    value = sines(xp.full(SIZE, 0.5))
    with pytest.raises(SystemExit), ctrl_c(handler):
        float(value[3])
    assert float(value[3]) == expected()


@pytest.mark.parametrize("folds", [False, True])
def test_handlers_that_compute_the_same(folds):
    """The interrupted pass begins once more, or finds its value."""
    seen = []

    def handler(*_):
        seen.append(float(held[0][7]))

    held = [sines(xp.full(SIZE, 0.5))]
    with ctrl_c(handler):
        if folds:
            assert float(xp.max(held[0])) == expected()
        else:
            assert (np.asarray(held[0]) == expected()).all()
    assert seen == [expected()]


def test_handlers_that_drop_the_value():
    held = [sines(xp.full(SIZE, 0.5))]
    view = held[0][5:9]
    with ctrl_c(lambda *_: held.clear()):
        assert float(view[0]) == expected()
    assert held == []
    del view
    assert count_pending() == 0


def test_handlers_that_write_an_operand():
    """The value has the elements from before."""

    def handler(*_):
        x[...] = 7.0

    x = xp.full(SIZE, 0.5)
    value = sines(x)
    with ctrl_c(handler):
        assert float(value[3]) == expected()
    assert float(x[3]) == 7


STORM = """
import os, time
while os.getppid() == {0}:
    os.kill({0}, 2)
    time.sleep(0.0005)
"""


def test_many_signals_whose_handler_returns():
    """A pass that overwrites its operands is not begun once more."""
    seen = []
    mine = np.random.default_rng(1).random(400_000)
    x = xp.asarray(mine.copy())
    before = signal.signal(signal.SIGINT, lambda number, _: seen.append(number))
    sender = subprocess.Popen([sys.executable, "-c", STORM.format(os.getpid())])
    try:
        while not seen:
            time.sleep(0.01)
        with xp.config_context(num_threads=5):
            for _ in range(60):
                x[...] = xp.sin(x)
                x[:-1] = xp.cos(x[1:])
                x[...] = xp.sqrt(x) * 3 - x
        assert len(seen) > 10
    finally:
        sender.kill()
        sender.wait()
        signal.signal(signal.SIGINT, before)
    for _ in range(60):
        mine[...] = np.sin(mine)
        mine[:-1] = np.cos(mine[1:])
        mine[...] = np.sqrt(mine) * 3 - mine
    np.testing.assert_array_equal(np.asarray(x), mine)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning", "ignore:os.fork:RuntimeWarning")
def test_handlers_that_fork():
    statuses = []
    short = xp.full(SIZE, 0.25)
    waiting = short * 2

    def computes():
        return float(waiting[5]) == 0.5 and float(sines(waiting, 20)[5]) == expected(20)

    def handler(*_):
        statuses.append(status_of_child(computes))

    value = sines(xp.full(SIZE, 0.5))
    with ctrl_c(handler):
        assert (np.asarray(value) == expected()).all()
    assert statuses == [0]
    assert float(waiting[5]) == 0.5


def test_children_compute_what_waited():
    x = xp.full(SIZE, 0.5)
    value = sines(x, 10)

    def computes():
        return float(xp.max(value)) == expected(10) and float(xp.sum(x * 2)) == SIZE

    assert status_of_child(computes) == 0
    assert float(value[7]) == expected(10)


ENDING = """
import sys, threading
import array_api_nx as xp

x = xp.full({size}, 0.5)
begun = threading.Event()

def work():
    while True:
        y = xp.sin(x)
        for _ in range({steps}):
            y = xp.sin(y)
        begun.set()
        float(xp.sum(y))

class Last:
    def __del__(self):  # when the interpreter clears modules
        float(self.waiting[3])

last = Last()
last.waiting = x * 2 + 1
for _ in range({daemons}):
    threading.Thread(target=work, daemon=True).start()
if {daemons}:
    begun.wait(60)
waiting = x + 1
{ending}
"""


@pytest.mark.parametrize("ending", ["", "sys.exit(0)", "del x, waiting"])
@pytest.mark.parametrize("daemons", [0, 3])
def test_the_process_ends_while_passes_run(daemons, ending):
    python("-c", ENDING.format(size=SIZE, steps=20, daemons=daemons, ending=ending))
