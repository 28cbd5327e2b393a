"""Fixtures of the tests of the kit."""

from importlib.util import find_spec

import pytest


@pytest.fixture(params=("cpu", "torch:cpu", "jax:cpu", "dask"))
def device(request: pytest.FixtureRequest) -> str:
    """The name of a device of each engine that is installed."""
    name: str = request.param
    module = name.partition(":")[0]
    if name != "cpu" and find_spec(module) is None:
        pytest.skip(f"{module} is not installed")
    return name
