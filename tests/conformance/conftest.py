"""A small suite of our own in the shape of the official one, in git repositories of its own."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from array_api_nx_conformance.suite import Pins

NAMESPACE = "fake_namespace"
FILES = {
    ".gitignore": "*.ignored\n",
    "pytest.ini": "[pytest]\n",
    "conftest.py": """
import importlib, os
import pytest

def pytest_addoption(parser):
    parser.addoption("--max-examples", type=int)
    parser.addoption("--disable-deadline", action="store_true")
    parser.addoption("--skips-file")
    parser.addoption("--xfails-file")

def pytest_configure(config):
    global several
    several = config.getoption("--numprocesses") == 2
    assert os.environ["ARRAY_API_TESTS_MODULE"] == "fake_namespace"
    importlib.import_module("fake_namespace")

def pytest_runtest_logreport(report):
    # Stands for the internal errors of pytest-xdist when several workers die.
    assert not (several and report.when == "call" and "upsets_pytest" in report.nodeid)

def pytest_collection_modifyitems(config, items):
    for option in ("--skips-file", "--xfails-file"):
        with open(config.getoption(option)) as file:
            assert file.read() == ""
    for item in items:
        if "needs_fft" in item.name:
            item.add_marker(pytest.mark.skip(reason="fft not found in array module"))
""",
    "array_api_tests/__init__.py": "",
    "array_api_tests/test_good.py": """
import pytest

def test_passes():
    pass

@pytest.mark.skip(reason="flaky")
@pytest.mark.parametrize("number", [1, 2])
def test_skipped_by_the_suite(number):
    pass
""",
    "array_api_tests/test_lacking.py": """
import pytest

def test_needs_fft():
    pass

@pytest.mark.skipif(True, reason="no complex dtypes")
def test_needs_complex():
    pass

@pytest.mark.parametrize("name", [pytest.param("f", marks=pytest.mark.skip(reason="no f"))])
def test_parameter(name):
    pass

def test_skips_itself():
    pytest.skip("cannot evaluate")

@pytest.mark.xfail(reason="known")
def test_excused():
    assert False
""",
    "array_api_tests/test_bad_results.py": """
import pytest

def test_fails():
    assert 1 == 2, "first line\\nsecond line"

def test_fails_twice():
    raise ExceptionGroup("two", [ValueError("one"), KeyError("other")])

@pytest.fixture
def broken():
    raise RuntimeError("no set-up")

def test_errs(broken):
    pass
""",
    "array_api_tests/test_rough.py": """
import os, signal, time

def test_crashes():
    os._exit(3)

def test_hangs():
    while True:
        try:
            time.sleep(0.01)
        except Exception:
            pass

def test_hangs_deaf_to_signals():
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    while True:
        time.sleep(0.01)
""",
    "array_api_tests/test_unimportable.py": "raise ImportError('no such thing')\n",
    "array_api_tests/test_upsets.py": """
def test_before():
    pass

def test_upsets_pytest():
    pass

def test_after():
    pass
""",
    "array_api_tests/test_draws.py": """
import random

def test_draws():
    raise ValueError(random.random())
""",
    "array_api_tests/test_environment.py": """
import importlib.util, os

def test_environment():
    assert os.environ["ARRAY_API_NX_SLOW_TESTS"] == "green"
    assert "ARRAY_API_TESTS_VERSION" not in os.environ
    assert "CI" not in os.environ
    assert "PYTEST_ADDOPTS" not in os.environ
    assert not os.path.exists("conftest.py")
    assert importlib.util.find_spec("array_api_nx_conformance") is not None
""",
}


STUBS = {
    "_types": "array = int\n",
    "array_object": """
class array:
    def __init__(self): ...
    def __add__(self, other, /): ...
    @property
    def shape(self): ...
""",
    "constants": '__all__ = ["pi"]\npi = 3.14\n',
    "elementwise_functions": '__all__ = ["add"]\ndef add(x1, x2, /): ...\ndef exp(x, /): ...\n',
    "fft": '__all__ = ["fft"]\ndef fft(x, /): ...\n',
    "info": '__all__ = ["__array_namespace_info__", "devices"]\ndef devices(): ...\n'
    "def __array_namespace_info__(): ...\n",
}
_FOLDER = "array-api/src/array_api_stubs"
FILES |= {f"{_FOLDER}/_2025_12/{name}.py": text for name, text in STUBS.items()}
FILES |= {f"{_FOLDER}/_draft/{name}.py": text for name, text in STUBS.items()}
FILES[f"{_FOLDER}/_draft/fft.py"] += "def later(x, /): ...\n"
FILES |= {f"{_FOLDER}/_2021_12/constants.py": STUBS["constants"]}


@dataclass(frozen=True)
class FakeSuite:
    """Where the fake suite lies, and its commits and addresses."""

    path: Path
    pins: Pins


def git(path: Path, *arguments: str) -> str:
    """Run git in `path`, without the user's settings."""
    settings = ("user.name=T", "user.email=t@example.org", "commit.gpgsign=false",
                "advice.addEmbeddedRepo=false")  # fmt: skip
    options = [part for setting in settings for part in ("-c", setting)]
    command = ["git", *options, "-C", str(path), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def make_suite(path: Path) -> FakeSuite:
    """Write and commit the fake suite."""
    spec = path / "array-api"
    for name, text in {**FILES, "array-api/README.md": "the standard\n"}.items():
        file = path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    for folder in (spec, path):
        git(folder, "init", "--quiet")
        git(folder, "add", "--all")
        git(folder, "commit", "--quiet", "--message", "all")
    heads = (git(folder, "rev-parse", "HEAD") for folder in (path, spec))
    return FakeSuite(path, Pins(*heads, suite_url=str(path), spec_url=str(spec)))


@pytest.fixture(scope="session")
def suite(tmp_path_factory: pytest.TempPathFactory) -> FakeSuite:
    """The fake suite; tests that change it make their own."""
    return make_suite(tmp_path_factory.mktemp("suite") / "checkout")


@pytest.fixture
def own_suite(tmp_path: Path) -> FakeSuite:
    """A fake suite that the test may change."""
    return make_suite(tmp_path / "checkout")


@pytest.fixture(scope="session")
def namespace_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an importable namespace."""
    folder = tmp_path_factory.mktemp("namespace")
    text = (
        "__version__ = '3.2'\n__array_api_version__ = '2025.12'\npi = 3.14\n"
        "def add(x1, x2, /):\n    return x1 + x2\n"
        "def exp(x, /):\n    return x\n"
    )
    (folder / f"{NAMESPACE}.py").write_text(text)
    return folder


@pytest.fixture
def namespace(namespace_folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a namespace that can be imported."""
    monkeypatch.setenv("PYTHONPATH", str(namespace_folder))
    return NAMESPACE
