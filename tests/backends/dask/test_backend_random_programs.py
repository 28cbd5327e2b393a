"""The same random programs on the CPU and on Dask, in chunks of a few elements."""

from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import array_api_nx as xp
from array_api_nx.backends.dask import DaskBackend
from tests.support.interpreter import STEPS, Step, execute, programs

pytestmark = pytest.mark.slow

# On the CPU, `lend` shares memory; on Dask it cannot.
NAMES = tuple([name for name in STEPS if name != "lend"])
SHAPES = st.sampled_from([(3, 4), (2, 3, 2), (12,), (1, 6), (5, 1), (4, 4), (), (7, 9)])
BACKENDS = [DaskBackend(chunks) for chunks in (40, 150, 1_000_000)]


@contextmanager
def all_on(backend):
    """Arrays made without a device are made by `backend`."""
    device = xp.Device("cpu")
    saved = device.backend
    device.backend = backend
    try:
        yield
    finally:
        device.backend = saved


def assert_alike(program, shape, backend):
    expected = execute(program, shape, 100)
    with all_on(backend):
        actual = execute(program, shape, 100)
    assert len(actual) == len(expected)
    for i, (x, y) in enumerate(zip(actual, expected, strict=True)):
        if isinstance(y, str):
            assert x == y
        else:
            assert isinstance(x, np.ndarray)
            assert x.dtype == y.dtype, f"seen {i}"
            # All numbers are whole and small, so that no order of operations rounds.
            np.testing.assert_array_equal(x, y, err_msg=f"seen {i}")


@settings(max_examples=100)
@given(programs(NAMES), SHAPES, st.sampled_from(BACKENDS))
def test_programs(program, shape, backend):
    assert_alike(program, shape, backend)


@pytest.mark.parametrize("name", NAMES)
def test_every_step(name):
    for i in range(0, 64, 5):
        program = [Step(name, i % 5, i, i // 3), Step("scalar", 0, 1, 16), Step(name, 0, i, i)]
        assert_alike(program, (3, 4), BACKENDS[i % 2])
