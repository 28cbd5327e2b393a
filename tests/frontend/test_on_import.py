"""Actions after the import of another module."""

import importlib
import sys
import zipfile

import pytest

from array_api_nx.frontend.on_import import when_imported
from tests.support.refusals import refused

NAME = "module_for_test_on_import"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    before = list(sys.meta_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    sys.modules.pop(NAME, None)
    sys.meta_path[:] = before


def write(folder, text="VALUE = 3\n"):
    (folder / f"{NAME}.py").write_text(text, encoding="utf-8")
    importlib.invalidate_caches()


def test_it_is_done_once_after_the_import(folder):
    write(folder)
    done = []
    finders = len(sys.meta_path)
    when_imported(NAME, lambda: done.append(sys.modules[NAME].VALUE))
    assert len(sys.meta_path) == finders + 1
    importlib.import_module("json.tool")
    assert done == []
    module = importlib.import_module(NAME)
    assert done == [3]
    assert len(sys.meta_path) == finders
    importlib.reload(module)
    assert done == [3]


def test_several_things_are_done_in_their_order(folder):
    write(folder)
    done = []
    finders = len(sys.meta_path)
    for i in range(3):
        when_imported(NAME, lambda i=i: done.append((i, sys.modules[NAME].VALUE)))
    assert len(sys.meta_path) == finders + 1
    importlib.import_module(NAME)
    assert done == [(0, 3), (1, 3), (2, 3)]
    assert len(sys.meta_path) == finders


def test_the_module_is_as_it_would_be_without(folder):
    write(folder)
    plain = importlib.import_module(NAME)
    expected = type(plain.__loader__), plain.__spec__.origin, plain.__file__, plain.__cached__
    del sys.modules[NAME]
    when_imported(NAME, lambda: None)
    module = importlib.import_module(NAME)
    assert module is not plain
    found = type(module.__loader__), module.__spec__.origin, module.__file__, module.__cached__
    assert found == expected
    assert module.__spec__.loader is module.__loader__
    assert module.__loader__.get_source(NAME) == "VALUE = 3\n"


def test_it_is_done_at_once_if_the_module_is_there(folder):
    write(folder)
    importlib.import_module(NAME)
    finders = list(sys.meta_path)
    done = []
    when_imported(NAME, lambda: done.append(True))
    assert done == [True]
    assert sys.meta_path == finders


def test_modules_in_archives(folder, monkeypatch):
    archive = folder / "archive.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr(f"{NAME}.py", "VALUE = 5\n")
    monkeypatch.syspath_prepend(archive)
    done = []
    when_imported(NAME, lambda: done.append(sys.modules[NAME].VALUE))
    importlib.import_module(NAME)
    assert done == [5]


def test_imports_that_fail_may_be_tried_again(folder):
    done = []
    when_imported(NAME, lambda: done.append(True))
    refused(ModuleNotFoundError, NAME, importlib.import_module, NAME)
    write(folder, "raise ValueError('broken')\n")
    refused(ValueError, "broken", importlib.import_module, NAME)
    assert done == []
    write(folder, "VALUE = 4  # and another length of the file\n")
    assert importlib.import_module(NAME).VALUE == 4
    assert done == [True]


@pytest.mark.parametrize("imported", [False, True])
def test_a_module_that_lacks_something_is_imported_all_the_same(folder, imported):
    write(folder)
    if imported:
        importlib.import_module(NAME)

    def register_and_import():
        when_imported(NAME, lambda: sys.modules[NAME].NOTHING)
        value = importlib.import_module(NAME).VALUE
        return value

    with pytest.warns(ImportWarning, match=f"version of {NAME} is not known .*'NOTHING'"):
        value = register_and_import()
    assert value == 3
