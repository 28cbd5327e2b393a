import pytest

from array_api_nx_conformance import namespace as tested
from array_api_nx_conformance.namespace import Module, inspect_module
from array_api_nx_conformance.suite import CannotRunError
from tests.support.refusals import refused

from .conftest import NAMESPACE

NAMES = {"add": "elementwise functions", "tan": "elementwise functions", "fft.fft": "fft"}


def test_versions_and_names_of_a_module(namespace):
    assert inspect_module(namespace) == Module(NAMESPACE, "3.2", "2025.12")
    assert inspect_module(namespace, NAMES.items()).absent == ("tan", "fft.fft")
    assert inspect_module("xml.dom") == Module("xml.dom", "", "")


def test_the_version_of_a_namespace_without_one_is_that_of_its_library(tmp_path, monkeypatch):
    for name in ("library", "array_api_compat"):
        (tmp_path / name).mkdir()
    (tmp_path / "library" / "__init__.py").write_text("__version__ = '4.5'\n")
    (tmp_path / "library" / "numpy.py").touch()
    (tmp_path / "array_api_compat" / "__init__.py").write_text("__version__ = '1.0'\n")
    (tmp_path / "array_api_compat" / "library.py").write_text("from library import *\nsin = abs\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert inspect_module("library.numpy").version == "4.5"
    names = [("sin", "elementwise functions")]
    assert inspect_module("array_api_compat.library", names).version == "4.5"


def test_methods_extensions_and_inspection():
    names = {
        "__add__": "array object",
        "mT": "array object",
        "__nothing__": "array object",
        "linalg.cross": "linalg",
        "linalg.nothing": "linalg",
        "info.devices": "inspection",
        "info.nothing": "inspection",
    }
    module = inspect_module("numpy", names.items())
    assert module.absent == ("__nothing__", "linalg.nothing", "info.nothing")


def test_of_a_module_without_arrays_no_method_is_said_to_be_absent(namespace):
    names = {"add": "elementwise functions", "__add__": "array object"}
    assert inspect_module(namespace, names.items()).absent == ()


@pytest.mark.parametrize("name", ["no_such_module", "json.nothing", "not a name", ""])
def test_a_module_that_does_not_import(name):
    refused(CannotRunError, f"module '{name}' does not import \\(.*--module", inspect_module, name)


def test_a_module_that_is_no_namespace():
    with pytest.raises(CannotRunError, match=r"'json' is no array namespace: it has 0 of the .* 3"):
        inspect_module("json", NAMES.items())


def test_a_module_of_functions_is_no_namespace():
    names = {**NAMES, "asarray": "creation functions", "ones": "creation functions"}
    with pytest.raises(CannotRunError, match=r"'math' is no array namespace: .* asarray; .*module"):
        inspect_module("math", names.items())


def test_a_module_that_dies_or_hangs_on_import(tmp_path, monkeypatch):
    (tmp_path / "dying.py").write_text("import os\nos._exit(7)\n")
    (tmp_path / "hanging.py").write_text("import time\nwhile True: time.sleep(1)\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    refused(CannotRunError, "exit status 7", inspect_module, "dying")
    monkeypatch.setattr(tested, "IMPORT_SECONDS", 0.2)
    refused(CannotRunError, r"does not import within 0.2 s", inspect_module, "hanging")


def test_devices(tmp_path, monkeypatch):
    (tmp_path / "movable.py").write_text(
        "class Array:\n"
        "    def __init__(self, device): self.device = device\n"
        "device = 'cpu:0'\n"
        "def set_default_device(name):\n"
        "    global device\n"
        "    if name == 'broken': raise RuntimeError('no driver')\n"
        "    device = name + ':0' if name != 'ignored' else device\n"
        "def ones(shape): return Array(device)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    names = {"ones": "creation functions"}
    assert inspect_module("movable", names.items(), "gpu").name == "movable"
    with pytest.raises(CannotRunError, match=r"set_default_device\('ignored'\) did not .*\(cpu:0"):
        inspect_module("movable", names.items(), "ignored")
    with pytest.raises(CannotRunError, match="RuntimeError: no driver"):
        inspect_module("movable", names.items(), "broken")
    with pytest.raises(CannotRunError, match=r"numpy has no set_default_device\(\)"):
        inspect_module("numpy", names.items(), "gpu")


def test_dtypes_that_the_default_device_lacks():
    names = {"ones": "creation functions"}
    found = inspect_module("array_api_nx", names.items())
    assert (found.lacking, found.extra[0]) == ((), "float16")
    found = inspect_module("array_api_nx", names.items(), "test:no_float64")
    assert found.lacking == ("float64", "complex128")
    strict = "array_api_nx.testing.strict_namespaces.v2025_12"
    found = inspect_module(strict, names.items(), "test:no_x64")
    assert found.lacking == ("int64", "uint64", "float64", "complex128")
    assert found.extra == ()
    with pytest.raises(CannotRunError, match=r"does not import .*DEFAULT_DEVICE"):
        inspect_module("array_api_nx", names.items(), "test:no_float65")
