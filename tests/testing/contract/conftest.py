"""Every contract test runs on every backend that is here."""

from __future__ import annotations

import pytest

from array_api_nx.contract.backend import Backend
from tests.testing.contract.backends import BACKENDS, missing


@pytest.fixture(scope="session", params=[name for name in BACKENDS if missing(name) is None])
def backend(request: pytest.FixtureRequest) -> Backend:
    return BACKENDS[request.param]()
