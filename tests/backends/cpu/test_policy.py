"""The one question: at once, by a kernel, or deferred?"""

from collections.abc import Iterator

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.backends.cpu.policy import AT_ONCE, AT_ONCE_MAX, KERNEL, decide, limits
from tests.support.programs import default_process, needs_extension
from tests.support.sizes import DEFERRED, THRESHOLD

pytestmark = needs_extension


@pytest.fixture(autouse=True)
def by_default() -> Iterator[None]:
    with default_process():
        yield


def test_the_three_answers():
    assert decide(0) is decide(AT_ONCE_MAX) is AT_ONCE
    assert decide(AT_ONCE_MAX + 1) is decide(THRESHOLD) is KERNEL
    assert decide(DEFERRED).defers
    assert decide(2**62) is KERNEL  # NumPy raises MemoryError at once


def test_settings():
    with xp.config_context(fusion="off"):
        assert decide(AT_ONCE_MAX) is AT_ONCE
        assert decide(DEFERRED) is KERNEL
    with xp.config_context(fusion_threshold=10):
        assert limits.at_once == -1
        assert decide(10) is (AT_ONCE if AT_ONCE_MAX >= 10 else KERNEL)
        assert decide(11).defers
        assert not decide(11).reads_shared
    with xp.config_context(fusion="always"):
        assert decide(DEFERRED).reads_shared
    assert limits.at_once == AT_ONCE_MAX


def test_floating_point_errors_that_want_more_than_warnings_do_not_wait():
    everything = decide(DEFERRED).errors
    with np.errstate(divide="ignore"):
        assert decide(DEFERRED).errors == everything & ~1
    for mode in ("raise", "print", "log"):
        with np.errstate(divide=mode):
            assert decide(DEFERRED) is KERNEL
    assert decide(DEFERRED).errors == everything


def test_sums_of_small_integers_keep_their_dtype_when_tasks_are_put_together():
    x = xp.ones(4 * DEFERRED, dtype=xp.int8)
    total = xp.sum(x, dtype=xp.int8)
    assert total.dtype is xp.int8
    assert int(total) == (4 * DEFERRED + 128) % 256 - 128
