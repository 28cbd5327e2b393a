"""Every contract test runs on every backend that is here; on the CPU's with checks around it."""

from contextlib import suppress

import pytest

from array_api_nx.contract.backend import Backend
from array_api_nx.core.dtypes import as_dtype
from tests.testing.contract.backends import BACKENDS, SAME_WITH_CHECKS, missing

HERE = [name for name in BACKENDS if missing(name) is None]

# Every process collects the same tests, whichever dtypes other tests have brought in before.
with suppress(ImportError):
    as_dtype("bfloat16")


@pytest.fixture(scope="session", params=[name for name in HERE if name not in SAME_WITH_CHECKS])
def backend(request: pytest.FixtureRequest) -> Backend:
    return BACKENDS[request.param]()
