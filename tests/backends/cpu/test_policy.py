"""What may wait, by the settings of the line that calls."""

import numpy as np
import pytest

import array_api_nx as xp
from tests.support.programs import default_process, needs_extension, pending
from tests.support.refusals import refused
from tests.support.sizes import DEFERRED, THRESHOLD

pytestmark = needs_extension


@pytest.fixture(autouse=True)
def by_default():
    with default_process():
        yield


def own(size):
    return xp.asarray(np.ones(size), copy=True)


def test_sizes():
    assert not pending(own(THRESHOLD) / 2)
    assert pending(own(THRESHOLD + 1) / 2)
    assert not pending(xp.sum(own(DEFERRED - 1)))
    assert pending(xp.sum(own(DEFERRED)))
    huge = xp.broadcast_to(own(2**20), (2**38, 2**20))
    refused(MemoryError, None, lambda: np.asarray(huge * 2))


@pytest.mark.parametrize("threshold", [0, 10, THRESHOLD + 10])
def test_a_context_has_a_threshold_of_its_own(threshold):
    with xp.config_context(fusion_threshold=threshold):
        assert not pending(own(threshold) * 2)
        assert pending(own(threshold + 1) * 2)
        with xp.config_context(fusion="off"):
            assert not pending(own(DEFERRED) * 2)


def test_memory_that_others_can_write():
    lent = xp.asarray(np.ones(DEFERRED), copy=False)
    numbers = np.asarray(lent)
    assert not pending(lent * 2)
    with xp.config_context(fusion="always"):
        assert pending(lent * 2)
    assert numbers[0] == 1


def test_floating_point_errors_that_want_more_than_warnings_do_not_wait():
    x = own(DEFERRED)
    for mode in ("raise", "print", "log"):
        with np.errstate(divide=mode):
            assert not pending(x / 2)
    assert pending(x / 2)


def test_sums_of_small_integers_keep_their_dtype():
    x = xp.ones(4 * DEFERRED, dtype=xp.int8)
    total = xp.sum(x, dtype=xp.int8)
    assert total.dtype is xp.int8
    assert int(total) == (4 * DEFERRED + 128) % 256 - 128
