"""Elements that C moves, and whether those of two arrays may lie in the same memory."""

import numpy as np

from array_api_nx.native import native
from tests.support import implementations
from tests.support.refusals import refused

pytestmark = implementations.needs_native


def test_what_may_share_memory_is_what_numpy_says():
    assert native is not None
    rng = np.random.default_rng(0)
    block = np.zeros(64, np.uint8)
    found = set()
    for _ in range(2000):
        views = []
        for _ in range(2):
            itemsize = int(rng.choice([1, 2, 8]))
            shape = rng.integers(0, 4, rng.integers(0, 4))
            strides = [int(n) for n in rng.integers(-6, 7, len(shape))]
            reach = [(max(int(n), 1) - 1) * s for n, s in zip(shape, strides, strict=True)]
            low = -sum([r for r in reach if r < 0])
            high = 64 - itemsize - sum([r for r in reach if r > 0])
            offset = int(rng.integers(low, high + 1)) if low <= high else 0
            if low > high:
                shape, strides = np.zeros(0, int), []
            views.append(np.ndarray(shape, f"u{itemsize}", block, offset, strides))
        expected = np.may_share_memory(*views)
        assert native.may_share_memory(*views) is bool(expected), views
        found.add(bool(expected))
    assert found == {False, True}
    assert not native.may_share_memory(block, block.copy())


def test_may_share_memory_takes_two_ndarrays():
    assert native is not None
    for arguments in ((), (np.ones(2),), (np.ones(2), 3), (np.ones(2), [1.0])):
        refused(TypeError, "two ndarrays", native.may_share_memory, *arguments)
