"""Without Dask there is nothing to test here."""

from __future__ import annotations

import dask
import pytest


@pytest.fixture(autouse=True)
def in_order() -> object:
    """Tasks run in this thread, one after the other."""
    with dask.config.set(scheduler="synchronous"):
        yield
