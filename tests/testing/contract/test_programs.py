"""The tests of the contract in `array_api_nx.testing.contract.test_programs`."""

import pytest

from array_api_nx.testing.contract.test_programs import *  # noqa: F403
from tests.testing.contract.backends import BACKENDS
from tests.testing.contract.conftest import HERE


@pytest.fixture(scope="session", params=HERE)
def backend(request):
    return BACKENDS[request.param]()
