"""Memory that was handed out to NumPy: others can write it as long as they have an array there."""

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.native import native
from tests.support.sizes import MIDDLE

pytestmark = pytest.mark.skipif(native is None, reason="the C extension is not in use")


@pytest.fixture
def x():
    """An array in memory of ours."""
    return xp.arange(MIDDLE, dtype=xp.float64) + 1.0


def waits(x):
    """Whether an operation on `x` waits."""
    before = native.count_pending()
    result = x * 2.0
    found = native.count_pending() > before
    assert result[3] == np.asarray(x)[3] * 2.0
    return found


HANDED = {
    "asarray": np.asarray,
    "a view of a view": lambda x: np.asarray(x)[1:][::-1],
    "from_dlpack": np.from_dlpack,
    "memoryview": lambda x: memoryview(np.asarray(x)),
    "reinterpreted": lambda x: np.asarray(x).view(np.uint8),
}


@pytest.mark.parametrize("hand_out", HANDED.values(), ids=HANDED.keys())
def test_memory_is_shared_as_long_as_somebody_has_it(x, hand_out):
    xp.evaluate(x)
    assert waits(x)
    lent = hand_out(x)
    assert x._handle.storage.shared
    assert not waits(x)
    del lent
    assert not x._handle.storage.shared
    assert waits(x)


def test_what_was_written_outside_shows_in_what_is_computed_afterwards(x):
    doubled = x * 2.0
    lent = np.asarray(x)
    tripled = x * 3.0
    lent[0] = 7.0
    assert (doubled[0], tripled[0], (x * 2.0)[0]) == (2.0, 3.0, 14.0)


def test_memory_is_not_given_to_another_array_while_it_is_lent():
    small = xp.asarray([1.0, 2.0]) + 0.0
    lent = np.asarray(small)
    del small
    others = [xp.asarray([5.0, 6.0]) + float(i) for i in range(50)]
    np.testing.assert_array_equal(lent, [1.0, 2.0])
    del lent, others
