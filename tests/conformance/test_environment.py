from __future__ import annotations

import os
from pathlib import Path

import pytest

from array_api_nx_conformance import environment as tested


def test_this_repository_goes_before_the_users_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", "somewhere")
    first, *others = tested.environment(tmp_path, "numpy")["PYTHONPATH"].split(os.pathsep)
    assert (Path(first) / "array_api_nx_conformance" / "plugin.py").is_file()
    assert others == ["somewhere"]


def test_an_installed_package_adds_no_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tested, "PACKAGE", tmp_path / "array_api_nx_conformance")
    monkeypatch.delenv("PYTHONPATH", raising=False)
    assert tested.environment(tmp_path, "numpy")["PYTHONPATH"] == ""


def test_the_version_is_set_only_where_it_is_chosen(tmp_path: Path) -> None:
    assert "ARRAY_API_TESTS_VERSION" not in tested.environment(tmp_path, "numpy")
    assert tested.environment(tmp_path, "numpy", "2023.12")["ARRAY_API_TESTS_VERSION"] == "2023.12"
