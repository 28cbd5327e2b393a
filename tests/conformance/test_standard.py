from __future__ import annotations

import pytest

from array_api_nx_conformance import standard
from array_api_nx_conformance.suite import CannotRunError

from .conftest import FakeSuite


def test_versions(suite: FakeSuite) -> None:
    assert standard.versions(suite.path) == ["2021.12", "2025.12"]


def test_names_and_chapters(suite: FakeSuite) -> None:
    found = standard.read(suite.path, "2025.12")
    assert dict(found.functions) == {
        "__add__": "array object",
        "shape": "array object",
        "pi": "constants",
        "add": "elementwise functions",
        "exp": "elementwise functions",  # it is not in __all__
        "fft.fft": "fft",
        "info.devices": "inspection",
        "__array_namespace_info__": "inspection",
    }
    chapters = ["array object", "constants", "elementwise functions", "fft", "inspection"]
    assert found.chapters == chapters


def test_an_unknown_version(suite: FakeSuite) -> None:
    with pytest.raises(CannotRunError, match=r"'2019.12' .* it has 2021.12, 2025.12: .*--version"):
        standard.read(suite.path, "2019.12")
