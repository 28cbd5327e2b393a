"""Reports of transfers and evaluations: their listeners, and the setting `host_access`."""

import asyncio
import threading
import warnings
from functools import partial

import pytest

from array_api_nx import config_context
from array_api_nx.config import hints
from array_api_nx.contract import events
from array_api_nx.contract.events import (
    Evaluation,
    HostAccessError,
    HostAccessWarning,
    Transfer,
    evaluated,
    listening,
    transferred,
)
from tests.support.refusals import refused
from tests.support.threads import together


def report():
    transferred("scalar", "cpu", "python", 8, "__float__")
    evaluated("dask", "its elements are needed")


def test_nobody_is_told_while_nobody_listens(monkeypatch):
    monkeypatch.setattr(events, "caller", None)
    assert not hints.watched
    report()


def test_listeners_are_told_in_order():
    first, second = [], []
    with listening(first.append):
        assert hints.watched
        report()
        with listening(second.append):
            report()
        report()
    report()
    assert not hints.watched
    assert (len(first), len(second)) == (6, 2)
    transfer, evaluation = second
    assert type(transfer) is Transfer
    assert type(evaluation) is Evaluation
    assert transfer[:5] == ("scalar", "cpu", "python", 8, "float(x)")
    assert evaluation[:2] == ("dask", "its elements are needed")
    # There is no function of the package on the way but the one that reports.
    line = report.__code__.co_firstlineno + 1
    assert transfer[5:] == (__file__, line)
    assert evaluation[3:] == (__file__, line + 1)


def test_a_listener_is_removed_after_an_exception():
    told = []
    with pytest.raises(ZeroDivisionError), listening(told.append):
        _ = 1 // 0
    report()
    assert told == []
    assert not hints.watched


def test_one_listener_may_listen_twice():
    told = []
    listener = told.append
    with listening(listener):
        with listening(listener):
            report()
        assert len(told) == 4
        report()
    assert len(told) == 6


def test_a_listener_hears_its_own_thread_or_all():
    own, everybodys = [], []
    with listening(own.append), listening(everybodys.append, all_threads=True):
        together(report)
        report()
    together(report)
    assert (len(own), len(everybodys)) == (2, 4)
    assert not hints.watched


def test_tasks_of_an_event_loop_are_told_apart():
    async def task(told, started, other):
        with listening(told.append):
            started.set()
            await other.wait()
            report()

    async def both():
        first, second = asyncio.Event(), asyncio.Event()
        lists = [], []
        await asyncio.gather(task(lists[0], first, second), task(lists[1], second, first))
        return lists

    assert [len(told) for told in asyncio.run(both())] == [2, 2]


def test_listening_in_several_threads_at_a_time():
    barrier = threading.Barrier(4)
    lists = [[] for _ in range(4)]

    def work(told):
        for _ in range(20):
            barrier.wait()
            with listening(told.append):
                report()

    together(*[partial(work, told) for told in lists])
    assert [len(told) for told in lists] == [40] * 4
    assert not hints.watched


READS = [
    ("scalar", "python", "__float__", "float(x)"),
    ("scalar", "python", "__bool__", "bool(x)"),
    ("scalar", "python", "item", "x.item()"),
    ("numpy", "numpy", "__array__", "numpy.asarray(x)"),
    ("dlpack", "host", "__dlpack__", "from_dlpack(x)"),
    ("list", "python", "tolist", "x.tolist()"),
    ("pickle", "python", "__reduce__", "pickle.dumps(x)"),
    ("to_device", "cpu", "to_device", "x.to_device(...)"),
    ("scalar", "python", "allclose", "allclose()"),
]


@pytest.mark.parametrize(("kind", "target", "call", "spelling"), READS)
def test_reads_are_refused_or_warned_of(kind, target, call, spelling):
    told = []
    with config_context(host_access="error"), listening(told.append):
        with pytest.raises(HostAccessError) as caught:
            transferred(kind, "torch:cuda:0", target, 24, call)
        assert told == []
    text = str(caught.value)
    assert text.startswith(f"{spelling} reads 24 bytes of an array on device torch:cuda:0 out of")
    assert "host_access='error' forbids; " in text
    assert text.endswith("or allow it here: with config_context(host_access='allow')")
    with config_context(host_access="warn"), listening(told.append):
        with pytest.warns(HostAccessWarning) as warned:
            transferred(kind, "torch:cuda:0", target, 24, call)
        assert warned[0].filename == __file__
        assert str(warned[0].message).startswith(f"{spelling} reads 24 bytes")
    assert [each.kind for each in told] == [kind]


@pytest.mark.parametrize(
    ("kind", "source", "target", "call"),
    [
        ("asarray", "numpy", "cpu", "asarray"),
        ("from_dlpack", "torch", "cpu", "from_dlpack"),
        ("pickle", "python", "cpu", "_restore"),
        ("print", "torch:cuda:0", "python", "__repr__"),
        ("print", "torch:cuda:0", "python", "__format__"),
        ("engine", "torch:cuda:0", "numpy", "sinc"),
        ("to_device", "cpu", "torch:cuda:0", "to_device"),
        ("dlpack", "torch:cuda:0", "torch:cuda:0", "__dlpack__"),
        ("scalar", "torch:cuda:0", "python", "nanmean"),
    ],
)
def test_what_is_no_read_is_recorded_alone(kind, source, target, call):
    told = []
    with config_context(host_access="error"), listening(told.append):
        transferred(kind, source, target, 24, call)
    assert [each[:4] for each in told] == [(kind, source, target, 24)]


def test_a_read_can_be_allowed_inside():
    with config_context(host_access="error"):
        with config_context(host_access="allow"), warnings.catch_warnings():
            warnings.simplefilter("error")
            report()
        refused(HostAccessError, r"^float\(x\) reads 8 bytes", report)


def test_other_threads_read_as_they_like():
    with config_context(host_access="error"):
        together(report)


def test_evaluations_are_no_reads():
    with config_context(host_access="error"):
        evaluated("cpu", "its elements are needed")
