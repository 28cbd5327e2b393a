"""The number of threads: settings, the system's limits, workers of joblib, threadpoolctl."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import array_api_nx as xp
from array_api_nx.backends.cpu.engine import diagnostics, threads
from array_api_nx.backends.cpu.engine.threads import Unlimited, available, count, reason
from array_api_nx.config import current, stack
from array_api_nx.native import native
from tests.support import processes
from tests.support.processes import needs_fork
from tests.support.refusals import refused
from tests.support.threads import in_thread, together

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def looked_up_again():
    """Cached values are looked up in each test, and again after it."""
    threads.default.cache_clear()
    threads.available.cache_clear()
    yield
    threads.default.cache_clear()
    threads.available.cache_clear()


@pytest.fixture
def without_setting():
    """No setting gives the number of threads, whatever the environment does."""
    token = stack.set((*stack.get(), current()._replace(num_threads=None)))
    yield
    stack.reset(token)


@pytest.fixture(autouse=True)
def unlimited(monkeypatch):
    monkeypatch.setattr(threads.limits, "by_thread", {})


def python(code, **variables):
    without = ("OMP_NUM_THREADS", "ARRAY_API_NX_NUM_THREADS")
    return processes.python("-W", "error", "-c", code, without=without, **variables).strip()


def test_available_is_at_most_what_the_machine_has():
    assert 1 <= available() <= (os.cpu_count() or 1)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no affinity here")
def test_available_heeds_the_affinity():
    code = """
import os
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
from array_api_nx.backends.cpu.engine import threads
print(threads.available(), threads.count())
"""
    assert python(code) == "1 1"


def groups(root, membership, files):
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text + "\n", encoding="utf-8")
    (root / "membership").write_text(membership, encoding="utf-8")
    return sorted(threads.granted(root / "membership", root))


def test_no_control_groups(tmp_path):
    assert list(threads.granted(tmp_path / "absent", tmp_path)) == []
    assert groups(tmp_path, "0::/\n", {}) == []
    assert groups(tmp_path, "", {"cpu.max": "100000 100000"}) == []


@pytest.mark.parametrize(
    ("quota", "expected"),
    [
        ("max 100000", []),
        ("200000 100000", [2]),
        ("250000 100000", [3]),
        ("1000 100000", [1]),
        ("50000 25000", [2]),
    ],
)
def test_version_2(tmp_path, quota, expected):
    assert groups(tmp_path, "0::/\n", {"cpu.max": quota}) == expected


def test_every_group_around_the_process_counts(tmp_path):
    files = {"a/cpu.max": "800000 100000", "a/b/c/cpu.max": "300000 100000", "x/cpu.max": "1 1"}
    assert groups(tmp_path, "0::/a/b/c\n", files) == [3, 8]


def test_a_container_sees_its_own_group_as_the_root(tmp_path):
    files = {"cpu.max": "400000 100000"}
    assert groups(tmp_path, "0::/docker/0123\n", files) == [4]


def test_nothing_outside_the_root_is_read(tmp_path):
    root = tmp_path / "cgroup"
    root.mkdir()
    (tmp_path / "cpu.max").write_text("100000 100000\n", encoding="utf-8")
    assert groups(root, "0::/..\n", {"cpu.max": "400000 100000"}) == [4]


@pytest.mark.parametrize(("quota", "expected"), [("-1", []), ("150000", [2]), ("400000", [4])])
@pytest.mark.parametrize("controllers", ["cpu", "cpu,cpuacct"])
def test_version_1(tmp_path, controllers, quota, expected):
    files = {
        f"{controllers}/a/cpu.cfs_quota_us": quota,
        f"{controllers}/a/cpu.cfs_period_us": "100000",
        "cpuset/a/cpu.cfs_quota_us": "1",
        "cpuset/a/cpu.cfs_period_us": "1",
    }
    membership = f"7:cpuset:/a\n3:{controllers}:/a\n1:name=systemd:/a:b\n0::/\n"
    assert groups(tmp_path, membership, files) == expected


@pytest.mark.usefixtures("without_setting")
def test_the_default_is_what_is_available(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert count() == available()
    assert reason() == "the processors that this process may use"


@pytest.mark.usefixtures("without_setting")
@pytest.mark.parametrize(("value", "expected"), [("3", 3), (" 1 ", 1), ("5,2", 5)])
def test_openmps_variable(monkeypatch, value, expected):
    monkeypatch.setenv("OMP_NUM_THREADS", value)
    assert (count(), reason()) == (expected, "OMP_NUM_THREADS")


@pytest.mark.usefixtures("without_setting")
@pytest.mark.parametrize("value", ["", "0", "-2", "many", ",3"])
def test_openmps_variable_must_be_a_positive_integer(monkeypatch, value):
    monkeypatch.setenv("OMP_NUM_THREADS", value)
    assert count() == available()


def test_the_context_comes_first(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    with xp.config_context(num_threads=7):
        assert (count(), reason()) == (7, "config_context")
        with xp.config_context(fusion="off"):
            assert count() == 7


def test_our_variable_comes_before_openmps():
    code = """
from array_api_nx.backends.cpu.engine import threads
from array_api_nx.config import config_context
print(threads.count(), threads.reason())
with config_context(num_threads=2):
    print(threads.count(), threads.reason())
"""
    found = python(code, ARRAY_API_NX_NUM_THREADS="5", OMP_NUM_THREADS="3")
    assert found.splitlines() == ["5 ARRAY_API_NX_NUM_THREADS", "2 config_context"]


@needs_fork
def test_one_thread_in_the_workers_of_a_pool():
    code = """
import multiprocessing
from array_api_nx.backends.cpu.engine import threads
if __name__ == "__main__":
    before = threads.count()
    with multiprocessing.get_context("fork").Pool(1) as pool:
        print(*pool.apply(threads.default))
        print(pool.apply(threads.count))
    assert threads.count() == before == threads.available()
"""
    assert python(code).splitlines() == ["1 a worker of a multiprocessing pool", "1"]


def test_joblibs_process_workers_share_the_processors():
    pytest.importorskip("joblib")
    code = """
import joblib
from array_api_nx.backends.cpu.engine import threads
with joblib.parallel_config("loky", inner_max_num_threads=3):
    print(*joblib.Parallel(2)(joblib.delayed(threads.default)() for _ in range(1)))
number, why = joblib.Parallel(2)(joblib.delayed(threads.default)() for _ in range(1))[0]
print(number == max(1, joblib.cpu_count() // 2), why)
"""
    assert python(code).splitlines() == ["(3, 'OMP_NUM_THREADS')", "True OMP_NUM_THREADS"]


@needs_fork
def test_a_forked_process_looks_again():
    code = """
import os
from array_api_nx.backends.cpu.engine import threads
threads.available()
threads.default()
with threads.limits.lock:
    child = os.fork()
    if not child:
        os.environ["OMP_NUM_THREADS"] = "6"
        threads.limits.set(4)
        os._exit(10 * threads.count() + threads.default()[0])
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert python(code) == "46"


def test_a_limit_holds_whatever_was_asked_for():
    with xp.config_context(num_threads=8):
        threads.limits.set(3)
        assert (count(), reason()) == (3, "threadpoolctl, below 8 for config_context")
        threads.limits.set(9)
        assert (count(), reason()) == (8, "config_context")
        threads.limits.set(0)
        assert count() == 1


def test_what_is_restored_is_no_limit():
    before = threads.limits.get()
    threads.limits.set(1)
    assert threads.limits.get() == 1
    threads.limits.set(before)
    with xp.config_context(num_threads=before + 3):
        assert count() == before + 3
        threads.limits.set(int(before))
        assert count() == before
    assert type(before) is Unlimited


def test_a_limit_holds_in_all_threads():
    def with_eight():
        with xp.config_context(num_threads=8):
            return count()

    assert in_thread(with_eight) == 8
    threads.limits.set(2)
    assert in_thread(with_eight) == 2
    assert with_eight() == 2


def test_threads_that_leave_in_any_order_lift_all_limits():
    entered, left = threading.Barrier(2), threading.Barrier(2)
    found = []

    def limited(first):
        before = threads.limits.get()
        threads.limits.set(1)
        entered.wait(60)
        if first:
            threads.limits.set(before)
        left.wait(60)
        with xp.config_context(num_threads=8):
            found.append(count())
            # Both have looked before the second one leaves.
            entered.wait(60)
        if not first:
            threads.limits.set(before)

    with ThreadPoolExecutor(2) as executor:
        for future in [executor.submit(limited, first) for first in (True, False)]:
            future.result()
    assert found == [1, 1]
    with xp.config_context(num_threads=8):
        assert count() == 8


def test_the_limit_of_a_thread_ends_with_it():
    together(lambda: threads.limits.set(1))
    with xp.config_context(num_threads=8):
        assert count() == 8
    threads.limits.set(5)
    assert threads.limits.by_thread == {threading.current_thread(): 5}


@pytest.fixture
def threadpoolctl():
    if native is None:
        pytest.skip("the extension is not in use")
    module = pytest.importorskip("threadpoolctl")
    threads.register_controller()
    return module


def test_threadpool_info_lists_the_extension(threadpoolctl):
    ours = [i for i in threadpoolctl.threadpool_info() if i["internal_api"] == "array_api_nx"]
    assert len(ours) == 1
    assert ours[0]["user_api"] == "blas"
    assert Path(ours[0]["filepath"]).name.startswith("_native")
    assert ours[0]["num_threads"] == threads.limits.get()


@pytest.mark.parametrize("user_api", [None, "blas"])
def test_threadpool_limits_hold(threadpoolctl, user_api):
    with xp.config_context(num_threads=8):
        with threadpoolctl.threadpool_limits(limits=3, user_api=user_api):
            assert count() == 3
            with threadpoolctl.threadpool_limits(limits=1, user_api=user_api):
                assert count() == 1
            assert count() == 3
        assert count() == 8
        with threadpoolctl.threadpool_limits(limits=1, user_api="openmp"):
            assert count() == 8


def test_scikit_learns_limits_hold(threadpoolctl, monkeypatch):
    parallel = pytest.importorskip("sklearn.utils.parallel")
    # It keeps the libraries that it found when it first looked.
    monkeypatch.setattr(parallel, "_threadpool_controller", None)
    with xp.config_context(num_threads=8):
        assert parallel._threadpool_controller_decorator(limits=1, user_api="blas")(count)() == 1
        assert count() == 8


def test_limits_from_info_restore(threadpoolctl):
    info = threadpoolctl.threadpool_info()
    with xp.config_context(num_threads=8):
        threadpoolctl.threadpool_limits(limits=1)
        assert count() == 1
        threadpoolctl.threadpool_limits(limits=info)
        assert count() == 8


@pytest.mark.parametrize(
    "order", [("threadpoolctl", "array_api_nx"), ("array_api_nx", "threadpoolctl")]
)
def test_a_limit_before_the_first_array_holds(threadpoolctl, order):
    code = f"""
import {order[0]}
import {order[1]}
from array_api_nx.backends.cpu.engine.threads import count
with array_api_nx.config_context(num_threads=8):
    with threadpoolctl.threadpool_limits(limits=2):
        print(count(), float(array_api_nx.sum(array_api_nx.ones(3))), count())
    print(count())
"""
    assert python(code).split() == ["2", "3.0", "2", "8"]


@pytest.mark.parametrize("module", ["None", "types.ModuleType('threadpoolctl')"])
def test_registering_needs_no_threadpoolctl_or_a_recent_one(module):
    code = f"""
import sys, types
sys.modules["threadpoolctl"] = {module}
from array_api_nx.backends.cpu.engine import threads
threads.register_controller()
print(threads.count() == threads.available())
"""
    assert python(code) == "True"


def test_facts_say_how_many_threads_and_why():
    with xp.config_context(num_threads=7):
        found = diagnostics.runtime_info()
    assert found["threads"] == {"in use": 7, "available": available(), "because": "config_context"}
    assert set(found) == {"extension", "threads", "caches", "pool"}
    assert found["extension"]["in use"] is (native is not None)
    assert found["extension"]["built"] >= found["extension"]["in use"]
    assert found["pool"]["limit"] >= found["pool"]["free_bytes"] >= 0


def test_cache_sizes(tmp_path):
    unknown = {"L1": None, "L2": None, "L3": None}
    assert diagnostics.cache_sizes(tmp_path / "absent") == unknown
    described = [("1", "Data", "48K"), ("1", "Instruction", "32K"), ("2", "Unified", "2048K")]
    for number, files in enumerate(described):
        directory = tmp_path / f"index{number}"
        directory.mkdir()
        for name, text in zip(("level", "type", "size"), files, strict=True):
            (directory / name).write_text(text + "\n", encoding="utf-8")
    (tmp_path / "index9").mkdir()
    assert diagnostics.cache_sizes(tmp_path) == unknown | {"L1": 49152, "L2": 2097152}


needs_processors = pytest.mark.skipif(
    native is None or not hasattr(os, "sched_setaffinity") or len(os.sched_getaffinity(0)) < 2,
    reason="no extension, or one processor, or the system does not tell",
)

ASLEEP = """
import os, time, array_api_nx as xp

def others():
    found = []
    for thread in map(int, os.listdir("/proc/self/task")):
        if thread != os.getpid():
            found.append(thread)
            for _ in range(1000):
                with open(f"/proc/self/task/{thread}/stat") as file:
                    if file.read().rpartition(")")[2].split()[0] == "S":
                        break
                time.sleep(0.01)
    return found

x = xp.ones(100_000)
with xp.config_context(num_threads=2):
    for _ in range(20):
        total = float(xp.sum(x * x + x))
        assert total == 200_000.0
        others()
"""


@needs_processors
def test_workers_may_run_wherever_the_caller_may():
    code = ASLEEP + "print({len(os.sched_getaffinity(each)) for each in others()})"
    allowed = len(os.sched_getaffinity(0))
    assert python(code, OPENBLAS_NUM_THREADS="1") == f"{{{allowed}}}"


@needs_processors
def test_a_caller_that_is_kept_on_one_processor_has_workers():
    code = "import os; os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])" + ASLEEP
    # ThreadSanitizer has a thread, too.
    assert int(python(code + "print(len(others()))", OPENBLAS_NUM_THREADS="1")) >= 1


WAKES = """
from array_api_nx.native import native

def switches():
    found = 0
    for thread in others():
        with open(f"/proc/self/task/{thread}/status") as file:
            found += sum([int(line.split()[1]) for line in file if line.startswith("voluntary")])
    return found

def wakes(compute):
    native.forget_threads()  # with what helpers have cost so far
    short + short
    before = switches()
    compute()
    return switches() > before

short, long = xp.ones(20_000), xp.ones(200_000)
with xp.config_context(num_threads=2):
    for op, x in ((xp.negative, short), (xp.sin, long)):
        print(sum([wakes(lambda: xp.evaluate(op(x))) for _ in range(20)]))
"""


@needs_processors
def test_workers_sleep_through_short_operations_and_help_with_long_ones():
    short, long = map(int, python(ASLEEP + WAKES, OPENBLAS_NUM_THREADS="1").split())
    # On a busy machine a short operation may take long, and a helper come too late for a long one.
    assert short < 15
    assert long > 0


def test_how_much_work_is_worth_waking_a_thread_is_a_number_of_nanoseconds():
    if native is None:
        pytest.skip("the extension is not in use")
    for wrong in (-1, 0.5, None):
        refused((TypeError, ValueError), None, native.set_worth_waking, wrong)
