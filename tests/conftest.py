"""Settings that hold for all tests."""

import gc
import os
from collections.abc import Generator

import pytest
from hypothesis import settings

from tests.support import tables

# SciPy reads this when it is first imported, which JAX does too; scikit-learn insists on it for its
# dispatch.
os.environ["SCIPY_ARRAY_API"] = "1"

# No test depends on timing: a slow machine is not a failure.
settings.register_profile("untimed", deadline=None)
settings.register_profile("quick", settings.get_profile("untimed"), max_examples=10)
settings.load_profile("untimed")


def pytest_configure(config: pytest.Config) -> None:
    tables.chosen = bool(config.option.keyword)
    if config.option.markexpr == "quick":
        settings.load_profile("quick")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep all that is collected out of the garbage collector's sight.

    10,000 tests and their modules are 400,000 objects, and none of them is garbage. To look at them
    all the same would take a third of the processor time of collecting the tests, and 0.1 to 0.4 s
    of each call of `gc.collect` in a test.
    """
    # Not gc.disable(): each slice by a Dask that was imported meanwhile would disable it again.
    thresholds = gc.get_threshold()
    gc.set_threshold(0)
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.set_threshold(*thresholds)


_tests_since = 0


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """The same for all that earlier tests left behind, modules and reports above all.

    By the end that is 100,000 objects which refer to memory that no cache holds any more: each call
    of `gc.collect` in a test would take 0.1 s.
    """
    global _tests_since
    _tests_since += 1
    if _tests_since == 300:
        _tests_since = 0
        gc.collect()
        gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the quick subset: the first case of every test function that is not slow."""
    seen = set()
    for item in items:
        function = item.nodeid.partition("[")[0]
        if function not in seen and item.get_closest_marker("slow") is None:
            seen.add(function)
            item.add_marker(pytest.mark.quick)


@pytest.fixture(scope="session", autouse=True)
def _helpers_for_any_work() -> None:
    """Threads help with all that is divided, however short: tests compare what they compute."""
    from array_api_nx.native import native

    if native is not None:
        native.set_worth_waking(0)


@pytest.fixture
def fake() -> Generator[object, None, None]:
    """Another device than "cpu", which is a second CPU backend."""
    # Imported here, so that a run of a few tests loads no more than these need.
    from array_api_nx import device
    from array_api_nx.backends.cpu import CPUBackend

    other = device.register("fake:0", CPUBackend)
    try:
        yield other
    finally:
        del device._devices["fake:0"]
