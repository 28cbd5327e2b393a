"""What pyproject.toml says of the packages, against the folders."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

import array_api_nx

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
# Python, what the extension is made of, and the extension, where it is built in place.
CODE = {".py", ".c", ".h", ".so", ".pyd"}
SHIPPED = {"array_api_nx": "array_api_nx", "conformance": "array_api_nx_conformance"}


@pytest.mark.parametrize("folder", SHIPPED)
def test_every_package_is_shipped(folder: str) -> None:
    name = SHIPPED[folder]
    found = {
        ".".join([name, *init.parent.relative_to(ROOT / folder).parts])
        for init in (ROOT / folder).rglob("__init__.py")
    }
    listed = set(PROJECT["tool"]["setuptools"]["packages"])
    assert found == {package for package in listed if package.split(".")[0] == name}


def test_every_data_file_is_shipped() -> None:
    patterns = PROJECT["tool"]["setuptools"]["package-data"]
    for folder, name in SHIPPED.items():
        for path in (ROOT / folder).rglob("*.*"):
            relative = path.relative_to(ROOT / folder)
            package = ".".join([name, *relative.parent.parts])
            if path.is_dir() or "__pycache__" in path.parts or path.suffix in CODE:
                continue
            if relative.parts[0] == "results":
                continue  # measured for the README, not needed to run
            assert any([path.match(each) for each in patterns.get(package, [])]), path


def test_the_version_is_the_packages() -> None:
    assert PROJECT["project"]["version"] == array_api_nx.__version__
