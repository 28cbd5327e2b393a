"""What pyproject.toml says of the packages, against the folders."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

import array_api_nx
import array_api_nx.version

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
# Python, what the extension is made of, and the extension, where it is built in place.
CODE = {".py", ".c", ".h", ".so", ".pyd"}
SHIPPED = ("array_api_nx", "array_api_nx_conformance")


@pytest.mark.parametrize("name", SHIPPED)
def test_every_folder_of_code_is_a_package(name: str) -> None:
    folders = {path.parent for path in (ROOT / name).rglob("*.py")}
    assert folders == {path.parent for path in (ROOT / name).rglob("__init__.py")}


def test_these_packages_are_shipped_and_no_others() -> None:
    included = PROJECT["tool"]["setuptools"]["packages"]["find"]["include"]
    assert included == [pattern for name in SHIPPED for pattern in (name, f"{name}.*")]


def test_an_editable_install_is_a_path() -> None:
    # With any other mapping of folders setuptools installs an import hook, which type checkers do
    # not run; tests/test_typing.py asks them.
    assert PROJECT["tool"]["setuptools"]["package-dir"] == {"": "."}


def test_every_data_file_is_shipped() -> None:
    patterns = PROJECT["tool"]["setuptools"]["package-data"]
    for name in SHIPPED:
        for path in (ROOT / name).rglob("*.*"):
            relative = path.relative_to(ROOT / name)
            package = ".".join([name, *relative.parent.parts])
            if path.is_dir() or "__pycache__" in path.parts or path.suffix in CODE:
                continue
            assert any([path.match(each) for each in patterns.get(package, [])]), path


def test_the_version_is_the_packages() -> None:
    assert PROJECT["project"]["dynamic"] == ["version"]
    place = PROJECT["tool"]["setuptools"]["dynamic"]["version"]["attr"]
    assert place == "array_api_nx.version.__version__"
    assert array_api_nx.version.__version__ == array_api_nx.__version__
