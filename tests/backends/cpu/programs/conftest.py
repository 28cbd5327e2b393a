"""Without the extension programs run step by step, as on other backends."""

from __future__ import annotations

import pytest

from tests.support.programs import needs_extension


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "cpu/programs" in item.path.as_posix():
            item.add_marker(needs_extension)
