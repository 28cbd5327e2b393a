"""Which engines the tests of engines found."""

from importlib import import_module
from importlib.util import find_spec

import pytest


@pytest.mark.parametrize("name", ["torch", "jax", "cupy", "dask"])
def test_the_engine_loads(name):
    if find_spec(name) is None:
        pytest.skip(f"{name} is not installed: its tests do not run")
    assert import_module(name).__name__ == name
