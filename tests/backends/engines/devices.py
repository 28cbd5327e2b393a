"""The devices of engines that the tests know, and why one cannot be tested here."""

from importlib.util import find_spec

import pytest

import array_api_nx as xp

NAMES = ("torch:cpu", "jax:cpu", "torch:cuda:0", "cupy:0")
ON_THE_HOST = ("torch:cpu", "jax:cpu")


def device(name: str) -> xp.Device:
    """The device; skips the test, saying why, if it is not here."""
    module = name.partition(":")[0]
    if find_spec(module) is None:
        pytest.skip(f"{module} is not installed")
    found = xp.Device(name)
    if name not in ON_THE_HOST:
        try:
            found.backend.evaluate()
        except (RuntimeError, ImportError) as error:
            pytest.skip(f"there is no {name} here: {error}")
    return found
