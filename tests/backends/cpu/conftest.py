"""Without the extension nothing is deferred, and programs run step by step as on other backends."""

import pytest

from tests.support.programs import needs_extension


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if any([f"backends/cpu/{room}/" in item.path.as_posix() for room in ("lazy", "programs")]):
            item.add_marker(needs_extension)
