"""Every contract test runs on every backend."""

from __future__ import annotations

import pytest

from array_api_nx.contract.backend import Backend
from tests.testing.contract.backends import BACKENDS


@pytest.fixture(scope="session", params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> Backend:
    return BACKENDS[request.param]()
