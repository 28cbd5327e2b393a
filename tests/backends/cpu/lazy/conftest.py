"""Small arrays are treated as large ones are, or as small ones that a context defers."""

from __future__ import annotations

import pytest

from array_api_nx.config import hints


@pytest.fixture(params=["process", "context"])
def threshold(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Whether a threshold of 0 is that of the process or that of a context alone."""
    if request.param == "process":
        monkeypatch.setattr(hints, "threshold", 0)
    return request.param
