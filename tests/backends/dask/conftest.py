"""Without Dask there is nothing to test here."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest


class Skipped(pytest.Module):
    """A module whose tests cannot run."""

    def collect(self) -> list[pytest.Item]:
        pytest.skip("Dask is not installed; it comes with pip install -e '.[dask]'")


def pytest_pycollect_makemodule(
    module_path: Path, parent: pytest.Collector
) -> pytest.Module | None:
    if find_spec("dask") is not None:
        return None
    return Skipped.from_parent(parent, path=module_path)


@pytest.fixture(autouse=True)
def in_order() -> Iterator[None]:
    """Tasks run in this thread, one after the other."""
    import dask

    with dask.config.set(scheduler="synchronous"):
        yield
