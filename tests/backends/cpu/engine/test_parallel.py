"""parallel_for: its calls, and its errors."""

import contextvars
import gc
import sys
import threading
import time
import weakref
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.backends.cpu.engine import parallel
from array_api_nx.native import native
from tests.support.processes import needs_fork, python, status_of_child
from tests.support.refusals import refused
from tests.support.signals import Alarm, alarm, needs_timers
from tests.support.sizes import MANY_TASKS
from tests.support.threads import together

ParallelFor = Callable[[Callable[[int], object], int, int], None]


@pytest.fixture
def parallel_for():
    if native is None:
        pytest.skip("without the extension one thread makes all calls")
    return parallel.parallel_for


def met_by_two(parallel_for):
    """The threads of a job whose first two tasks wait for each other."""
    meeting = threading.Barrier(2, timeout=60)
    idents = set()

    def task(number):
        if number < 2:
            meeting.wait()
        idents.add(threading.get_ident())

    parallel_for(task, 9, 2)
    return idents


@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 1000])
@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_each_number_once(parallel_for, count, threads):
    for _ in range(5):
        seen = []
        parallel_for(seen.append, count, threads)
        assert sorted(seen) == list(range(count))


def test_several_threads_make_them_the_calling_one_among_them(parallel_for):
    idents = met_by_two(parallel_for)
    assert len(idents) == 2
    assert threading.get_ident() in idents


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_no_more_threads_than_asked_for(parallel_for, threads):
    parallel_for(lambda _: time.sleep(0.001), 16, 6)  # so that more are there
    lock = threading.Lock()
    now = most = 0

    def task(_):
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        time.sleep(0.001)
        with lock:
            now -= 1

    parallel_for(task, 30, threads)
    assert most <= threads


def test_no_more_threads_than_numbers(parallel_for):
    idents = set()

    def task(_):
        idents.add(threading.get_ident())
        time.sleep(0.005)

    for _ in range(5):
        idents.clear()
        parallel_for(task, 2, 200)
        assert len(idents) <= 2


def test_what_is_no_number_is_refused(parallel_for):
    with pytest.raises(TypeError):
        parallel_for(print, "3", 2)  # type: ignore[arg-type]


def test_other_threads_have_a_copy_of_the_context(parallel_for):
    variable = contextvars.ContextVar("variable", default=0)
    caller = threading.get_ident()
    for value in (1, 2):
        variable.set(value)
        meeting = threading.Barrier(2, timeout=60)
        found = {True: [], False: []}

        def task(number, meeting=meeting, found=found, value=value):
            if number < 2:
                meeting.wait()
            is_caller = threading.get_ident() == caller
            found[is_caller].append(variable.get())
            if not is_caller:
                variable.set(7)

        parallel_for(task, 2, 2)
        assert found == {True: [value], False: [value]}
        assert variable.get() == value


class Failed(Exception):
    pass


def test_an_exception_ends_it(parallel_for):
    begun = []

    def task(number):
        begun.append(number)
        time.sleep(0.001)
        raise Failed(number)

    for threads in (1, 2, 3):
        begun.clear()
        with pytest.raises(Failed) as found:
            parallel_for(task, 100, threads)
        assert found.value.args[0] in begun
        assert len(begun) <= threads
        assert [entry.name for entry in found.traceback][-1] == "task"


@pytest.mark.parametrize("in_caller", [True, False])
def test_an_exception_of_either_thread(parallel_for, in_caller):
    caller = threading.get_ident()
    meeting = threading.Barrier(2, timeout=60)
    ended = []

    def task(number):
        if number < 2:
            meeting.wait()
        if (threading.get_ident() == caller) == in_caller:
            raise Failed
        time.sleep(0.02)
        ended.append(number)

    refused(Failed, None, parallel_for, task, 50, 2)
    # One, but for those that it makes while the system does not let the other thread raise.
    assert 1 <= len(ended) < 25
    assert len(met_by_two(parallel_for)) == 2


def test_of_two_exceptions_that_of_the_calling_thread(parallel_for):
    caller = threading.get_ident()
    meeting = threading.Barrier(2, timeout=60)

    def task(_):
        meeting.wait()
        if threading.get_ident() == caller:
            time.sleep(0.02)
            raise Failed
        raise LookupError

    refused(Failed, None, parallel_for, task, 2, 2)


def test_nothing_is_kept_alive(parallel_for):
    class Task:
        def __call__(self, number):
            met_by.add(threading.get_ident())
            meeting.wait()
            if self.fails == (threading.get_ident() == caller):
                raise Failed

        fails: bool | None = None

    caller = threading.get_ident()
    gc.collect()
    gc.disable()
    try:
        for fails in (None, True, False):
            meeting = threading.Barrier(2, timeout=60)
            met_by = set()
            task = Task()
            task.fails = fails
            try:
                parallel_for(task, 2, 2)
            except Failed:
                assert fails is not None
            alive = weakref.ref(task)
            del task
            end = time.monotonic() + 60
            while alive() is not None and time.monotonic() < end:
                time.sleep(0.001)  # until the other thread has let go of it
            assert alive() is None
            assert len(met_by) == 2
    finally:
        gc.enable()


@needs_timers
def test_a_signal_ends_it(parallel_for):
    ended = []

    def task(number):
        time.sleep(0.01)
        ended.append(number)

    for threads in (1, 2):
        with pytest.raises(Alarm), alarm():
            parallel_for(task, 10_000, threads)
        number = len(ended)
        time.sleep(0.03)
        assert len(ended) == number < 1000
    assert len(met_by_two(parallel_for)) == 2


@needs_timers
def test_a_signal_ends_calls_of_a_builtin(parallel_for):
    with pytest.raises(Alarm), alarm():
        parallel_for(bool, 10**7, 2)


def test_a_task_may_call_it(parallel_for):
    seen = []

    def task(number):
        ident = threading.get_ident()

        def inner(other):
            assert threading.get_ident() == ident
            seen.append((number, other))

        parallel_for(inner, 5, 4)

    parallel_for(task, 6, 3)
    assert sorted(seen) == [(i, j) for i in range(6) for j in range(5)]


def test_a_task_may_compute(parallel_for):
    found = {}

    def task(number):
        with xp.config_context(num_threads=2):
            x = xp.full((MANY_TASKS,), float(number))
            found[number] = float(xp.sum(xp.sqrt(x) + 1.0))

    parallel_for(task, 6, 3)
    assert found == {n: pytest.approx(MANY_TASKS * (n**0.5 + 1)) for n in range(6)}


def test_many_callers_at_once(parallel_for):
    def call(own):
        for i in range(40):
            if (i + own) % 3 == 0:
                x = xp.full((MANY_TASKS,), 0.25)
                assert float(xp.sum(xp.sqrt(x) + x)) == 0.75 * MANY_TASKS
                continue
            seen = []
            parallel_for(seen.append, 20, 1 + own)
            assert sorted(seen) == list(range(20))

    together(*[partial(call, i) for i in range(5)])


def test_kernels_and_calls_by_turns(parallel_for):
    x = xp.asarray(np.linspace(0.0, 1.0, MANY_TASKS))
    expected = np.sqrt(np.asarray(x)) + 1
    with xp.config_context(num_threads=4, fusion="off"):
        for i in range(100):
            seen = []
            parallel_for(seen.append, 5, 1 + i % 4)
            assert sorted(seen) == list(range(5))
            assert np.array_equal(np.asarray(xp.sqrt(x) + 1), expected)


def test_who_comes_while_the_team_works_works_alone(parallel_for):
    begun, end = threading.Event(), threading.Event()

    def hold(_):
        begun.set()
        assert end.wait(60)

    holder = threading.Thread(target=parallel_for, args=(hold, 2, 2))
    holder.start()
    assert begun.wait(60)
    idents = set()
    parallel_for(lambda _: idents.add(threading.get_ident()), 20, 3)
    assert idents == {threading.get_ident()}
    end.set()
    holder.join()
    assert len(met_by_two(parallel_for)) == 2


def test_a_late_thread_is_not_waited_for(parallel_for):
    """Here it waits for the GIL, which the calling thread keeps until it is done."""
    met_by_two(parallel_for)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(60.0)
    try:
        begin = time.monotonic()
        for _ in range(20):
            parallel_for(bool, 2, 2)
        assert time.monotonic() - begin < 30
    finally:
        sys.setswitchinterval(interval)


def test_without_the_extension_one_thread_makes_all_calls(monkeypatch):
    monkeypatch.setattr(parallel, "native", None)
    seen = []
    parallel.parallel_for(lambda i: seen.append((i, threading.get_ident())), 20, 3)
    assert seen == [(i, threading.get_ident()) for i in range(20)]


@needs_fork
def test_a_forked_child_has_threads_of_its_own(parallel_for):
    assert len(met_by_two(parallel_for)) == 2

    def check():
        assert len(met_by_two(parallel_for)) == 2

    assert status_of_child(check) == 0
    check()


@needs_fork
def test_a_child_forked_while_the_team_works(parallel_for):
    begun, end = threading.Event(), threading.Event()

    def hold(_):
        begun.set()
        assert end.wait(60)

    holder = threading.Thread(target=parallel_for, args=(hold, 2, 2))
    holder.start()
    try:
        assert begun.wait(60)
        assert status_of_child(lambda: met_by_two(parallel_for)) == 0
    finally:
        end.set()
        holder.join()


ENDING = """
import atexit, sys, threading, time
import numpy as np
from array_api_nx.backends.cpu.engine import parallel
x = np.random.default_rng(0).random((8, 20_000))
begun = threading.Event()

def task(number):
    begun.set()
    np.sort(x[number])

def work():
    while True:
        parallel.parallel_for(task, 8, 3)

class Last:
    def __del__(self):  # when the interpreter clears modules
        seen = []
        self.parallel_for(seen.append, 9, 3)
        print(len(seen), flush=True)

last = Last()
last.parallel_for = parallel.parallel_for
atexit.register(lambda: parallel.parallel_for(task, 8, 3))
for _ in range({daemons}):
    threading.Thread(target=work, daemon=True).start()
if {daemons}:
    begun.wait(60)
    time.sleep({pause})
"""


@pytest.mark.parametrize(("daemons", "pause"), [(0, 0.0), (3, 0.0), (3, 0.003)])
def test_the_interpreter_ends_while_threads_are_inside(parallel_for, daemons, pause):
    printed = python("-c", ENDING.format(daemons=daemons, pause=pause), is_quiet=True)
    # Frames of daemon threads keep the module's dict alive, so that nothing in it is deleted.
    assert printed in (("9\n",) if not daemons else ("", "9\n"))
