"""The installed clients themselves, a few tests of each."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import clients


@pytest.mark.parametrize(
    ("client", "select", "tests"),
    [
        ("scipy", "scipy.constants", 3),
        ("scikit-learn", "sklearn/_loss/tests/test_link.py", 3),
        ("array-api-extra", "extra_calls.py::test_agrees[cov]", 1),
    ],
)  # fmt: skip
def test_a_few_tests_of_the_client(client: str, select: str, tests: int, tmp_path: Path) -> None:
    pytest.importorskip("scipy", minversion="1.17")
    pytest.importorskip("sklearn", minversion="1.9")
    file = tmp_path / "a.json"
    arguments = ("--client", client, "--select", select, "--workers", "1", "--json", file)
    assert clients(*arguments) == 0
    totals = json.loads(file.read_text())["namespaces"][0]["clients"][client]["totals"]
    assert totals["tests"] >= tests
    assert totals["passed"] == totals["tests"]
