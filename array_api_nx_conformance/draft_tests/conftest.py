"""How many examples are tried."""

from __future__ import annotations

import hypothesis
import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--max-examples", type=int, default=100, help="per test")


def pytest_configure(config: pytest.Config) -> None:
    examples = config.getoption("--max-examples")
    hypothesis.settings.register_profile(
        "draft",
        max_examples=examples,
        deadline=None,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    hypothesis.settings.load_profile("draft")
