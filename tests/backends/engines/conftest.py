"""Tests of this folder run on every engine."""

from collections.abc import Iterator

import pytest

import array_api_nx as xp
from tests.backends.engines.devices import NAMES
from tests.backends.engines.devices import device as find


@pytest.fixture(params=NAMES)
def device(request: pytest.FixtureRequest) -> xp.Device:
    return find(request.param)


@pytest.fixture
def torch_default() -> Iterator[xp.Device]:
    found = find("torch:cpu")
    with xp.config_context(default_device=found):
        yield found
