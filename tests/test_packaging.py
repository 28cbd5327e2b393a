"""What pyproject.toml says of the packages, against the folders."""

import os
import re
import tomllib
from pathlib import Path

import pytest

import array_api_nx
import array_api_nx.version

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
# Python, the sources of the extension, and the extension where it is built in place.
CODE = {".py", ".c", ".h", ".so", ".pyd"}
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
SHIPPED = ("array_api_nx", "array_api_nx_conformance")


@pytest.mark.parametrize("name", SHIPPED)
def test_every_folder_of_code_is_a_package(name):
    folders = {path.parent for path in (ROOT / name).rglob("*.py")}
    assert folders == {path.parent for path in (ROOT / name).rglob("__init__.py")}


def test_these_packages_are_shipped_and_no_others():
    included = PROJECT["tool"]["setuptools"]["packages"]["find"]["include"]
    assert included == [pattern for name in SHIPPED for pattern in (name, f"{name}.*")]


def test_an_editable_install_is_a_path():
    # With any other mapping of folders setuptools installs an import hook, which type checkers do
    # not run; tests/test_typing.py asks them.
    assert PROJECT["tool"]["setuptools"]["package-dir"] == {"": "."}


def test_flags_do_not_depend_on_the_environment():
    """With CFLAGS in it those of Python's own build are not given."""
    text = (ROOT / "setup.py").read_text()
    assert all([f'"{flag}"' in text for flag in ("-O3", "-fno-strict-aliasing", "-fwrapv")])


def test_every_data_file_is_shipped():
    patterns = PROJECT["tool"]["setuptools"]["package-data"]
    for name in SHIPPED:
        for path in (ROOT / name).rglob("*.*"):
            relative = path.relative_to(ROOT / name)
            package = ".".join([name, *relative.parent.parts])
            if path.is_dir() or "__pycache__" in path.parts or path.suffix in CODE:
                continue
            assert any([path.match(each) for each in patterns.get(package, [])]), path


def test_the_version_is_the_packages():
    assert PROJECT["project"]["dynamic"] == ["version"]
    place = PROJECT["tool"]["setuptools"]["dynamic"]["version"]["attr"]
    assert place == "array_api_nx.version.__version__"
    assert array_api_nx.version.__version__ == array_api_nx.__version__


def test_the_citation_names_the_version():
    lines = (ROOT / "CITATION.cff").read_text().splitlines()
    assert f"version: {array_api_nx.__version__}" in lines
    assert f"license: {PROJECT['project']['license']}" in lines


def test_texts_that_go_along_are_there():
    for name in (*PROJECT["project"]["license-files"], PROJECT["project"]["readme"]):
        assert (ROOT / name).is_file(), name


def test_what_is_told_to_come_from_elsewhere_is_where_it_is_told():
    for row in (ROOT / "THIRD-PARTY.md").read_text().splitlines():
        for name in re.findall(r"`([a-z_/]+(?:\.py|/))`", row):
            assert (ROOT / name).exists() or (ROOT / "array_api_nx" / name).exists(), name


def test_wheels_are_made_for_the_versions_that_are_claimed():
    told = {
        text.rpartition(" ")[2].replace(".", "")
        for text in PROJECT["project"]["classifiers"]
        if re.fullmatch(r"Programming Language :: Python :: 3\.\d+", text)
    }
    made = re.findall(r"cp(\d+)-", PROJECT["tool"]["cibuildwheel"]["build"])
    assert set(made) == told
    oldest = min(made, key=int)
    assert PROJECT["project"]["requires-python"] == f">={oldest[0]}.{oldest[1:]}"


def test_wheels_are_tested_by_folders_that_are_there():
    for name in PROJECT["tool"]["cibuildwheel"]["test-sources"]:
        assert (ROOT / name).exists(), name


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_run_scripts_and_extras_that_are_there(workflow):
    text = workflow.read_text()
    assert "run: " in text
    for script in re.findall(r"bash (\S+)", text):
        assert os.access(ROOT / script, os.X_OK), script
    for extra in re.findall(r"\.\[(.+?)\]", text):
        assert extra in PROJECT["project"]["optional-dependencies"], extra
