"""Peers run in processes of their own, which sleep while they are not asked, and end."""

import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from benchmarks import environment, serve, worker
from benchmarks.fused.cases import CASES
from benchmarks.worker import ROOT, Problem, Worker, workers
from tests.support.refusals import refused

pytestmark = pytest.mark.slow

MEASURE = "benchmarks.fused.measure"
CASE = (CASES[0].name, "float32", 1000)
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

AWKWARD = """
import os, time
from timeit import Timer
from benchmarks.worker import Prepared, Service

def connect(name):
    print("a greeting")
    return Service("1", prepare)

def prepare(what):
    print("a message")
    os.system("echo another")
    if what == "crash":
        os._exit(3)
    if what == "hang":
        open(os.path.join(os.path.dirname(__file__), "hangs"), "w").close()
        time.sleep(60)
    if what == "fail":
        raise ValueError("bad\\nworse")
    return Prepared(Timer("pass"), 2.0)
"""

READING = """
import os
from timeit import Timer
from benchmarks.worker import Prepared, Service

def connect(name):
    value = os.environ["OF_THE_TEST"]
    return Service(value, lambda: Prepared(Timer("pass"), note="said " + value))
"""


@pytest.fixture
def awkward(tmp_path):
    """A worker of a peer that prints, fails, crashes or hangs as it is told."""
    (tmp_path / "awkward_peer.py").write_text(AWKWARD)
    with Worker("awkward_peer", "it", tmp_path) as made:
        yield made


def test_a_worker_times_a_case():
    with Worker(MEASURE, "nx") as nx:
        assert nx.checkout == str(ROOT)
        assert nx.ask("prepare", 0.0, *CASE) > 0
        assert nx.ask("time") > 0
        refused(Problem, "KeyError", nx.ask, "prepare", 0.0, "no such case", "float32", 1000)
        assert nx.ask("prepare", 0.0, *CASE) > 0
    assert not running(nx.pid)


def test_a_worker_imports_its_peer_alone():
    with Worker(MEASURE, "numpy") as numpy:
        assert numpy.checkout is None
        assert numpy.extensions == []


def test_a_peer_that_is_not_installed(monkeypatch, capsys, tmp_path):
    (tmp_path / "absent_peer.py").write_text("def connect(name): import no_such_package")
    refused(Problem, "No module named 'no_such_package'", Worker, "absent_peer", "it", tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with workers("absent_peer", ["it"]) as found:
        assert found == {}
    assert "# it is not installed: No module named" in capsys.readouterr().out
    with pytest.raises(Problem), workers("absent_peer", ["nx"]):
        pass


def test_what_a_peer_prints_is_no_answer(awkward):
    assert awkward.version == "1"
    assert awkward.ask("prepare", 0.0, "print") == 2


def test_errors_are_told_in_a_line(awkward):
    refused(Problem, r"^ValueError: bad$", awkward.ask, "prepare", 0.0, "fail")


@LINUX
def test_a_process_that_takes_too_long_is_ended(awkward):
    awkward._limit = 0.5
    refused(Problem, r"^takes more than 0\.5 s$", awkward.ask, "prepare", 0.0, "hang")
    assert not running(awkward.pid)


def test_variables_of_a_process(tmp_path):
    (tmp_path / "reading_peer.py").write_text(READING)
    with Worker("reading_peer", "it", tmp_path, variables={"OF_THE_TEST": "5"}) as worker:
        worker.ask("prepare", 0.0)
        assert worker.version == "5"
        assert worker.ask("note") == "said 5"


def test_a_process_that_ends_is_an_error(awkward):
    for _ in range(2):
        with pytest.raises(RuntimeError, match="the process of it ended with status 3"):
            awkward.ask("prepare", 0.0, "crash")


@LINUX
def test_a_process_that_computes_is_ended(awkward, monkeypatch, tmp_path):
    monkeypatch.setattr(worker, "GRACE", 0.1)
    awkward._send("prepare", 0.0, "hang")
    while not (tmp_path / "hangs").exists():
        time.sleep(0.01)
    os.kill(awkward.pid, signal.SIGINT)  # Ctrl-C is the parent's affair
    time.sleep(0.1)
    assert running(awkward.pid)
    awkward.close()
    assert not running(awkward.pid)


@LINUX
def test_processes_sleep_while_they_are_not_asked():
    with workers(MEASURE, ["numpy", "nx", "numexpr", "numba"]) as found:
        for each in found.values():
            each.ask("prepare", 0.001, CASE[0], "float32", 300_000)
            each.ask("time")
        before = {name: ticks(each.pid) for name, each in found.items()}
        time.sleep(0.3)
        # A thread that spins takes 30 ticks of a hundredth of a second.
        for name, each in found.items():
            assert ticks(each.pid) - before[name] < 5, name


@LINUX
def test_threads_that_run_are_noticed(monkeypatch):
    monkeypatch.setattr(serve, "PATIENCE", 0.05)
    end = threading.Event()

    def spin():
        while not end.is_set():
            sum(range(1000))

    assert serve.threads_sleep()
    spinning = threading.Thread(target=spin)
    spinning.start()
    try:
        assert not serve.threads_sleep()
    finally:
        end.set()
        spinning.join()


def test_without_proc_threads_get_time_to_sleep(monkeypatch, tmp_path):
    monkeypatch.setattr(serve, "_THREADS", tmp_path / "none")
    assert serve.threads_sleep()


def test_the_name_of_the_processor(tmp_path):
    file = tmp_path / "cpuinfo"
    file.write_text("processor : 0\nmodel name\t: Fast: 3\nprocessor : 1\nmodel name\t: Fast: 3\n")
    assert environment.processor(file) == "Fast: 3"
    assert environment.processor(tmp_path / "none")


def running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def ticks(pid):
    """The processor's time that a process took, in the system's ticks."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])
