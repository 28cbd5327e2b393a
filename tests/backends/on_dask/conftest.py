"""Without Dask there is nothing to test here; tests/backends/test_installed.py says so."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec

import pytest

collect_ignore_glob = [] if find_spec("dask") else ["*.py"]


@pytest.fixture(autouse=True)
def in_order() -> Iterator[None]:
    """Tasks run in this thread, one after the other."""
    import dask

    with dask.config.set(scheduler="synchronous"):
        yield
