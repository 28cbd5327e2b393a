"""Small arrays are treated as large ones are, or as small ones that a context defers."""

from collections.abc import Iterator

import pytest

from array_api_nx.config import hints
from tests.support.programs import recorded_from, set_process_threshold


@pytest.fixture(params=["process", "context"])
def threshold(request: pytest.FixtureRequest) -> Iterator[str]:
    """Whether a threshold of 0 is that of the process or that of a context alone."""
    kept = hints.threshold
    if request.param == "process":
        set_process_threshold(0)
    yield request.param
    set_process_threshold(kept)


@pytest.fixture
def waits_when_small() -> Iterator[None]:
    """Operations on five elements wait."""
    with recorded_from(4):
        yield
