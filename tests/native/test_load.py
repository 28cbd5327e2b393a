"""Loading the extension, refusing one that does not fit, or doing without."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import array_api_nx
from array_api_nx.native import native
from array_api_nx.native.stamp import stamp

pytestmark = pytest.mark.slow

CODE = "import array_api_nx as xp; print(float(xp.sum(xp.ones(4)))); xp.show_config()"
PACKAGE = Path(array_api_nx.__file__).parent
ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "ARRAY_API_NX_EXTENSION"}


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A folder with a copy of the package that has no extension."""
    folder = tmp_path_factory.mktemp("copy")
    ignored = shutil.ignore_patterns("*.so", "*.pyd", "*.pyc.*")
    shutil.copytree(PACKAGE, folder / "array_api_nx", ignore=ignored)
    return folder


def run(folder, *options, code=CODE, **environment):
    """Python on a copy of the package."""
    return subprocess.run(
        [sys.executable, *options, "-c", code],
        cwd=folder, env={**ENVIRONMENT, "PYTHONPATH": str(folder), **environment},
        capture_output=True, text=True, check=True,
    )  # fmt: skip


def test_an_install_without_the_extension_says_so_once(copy):
    """By a warning for who asks for warnings, and in show_config; and it computes."""
    found = run(copy, "-W", "default::ImportWarning")
    assert found.stdout.startswith("4.0\n")
    assert found.stderr.count("array_api_nx runs without its C extension") == 1
    for text in (found.stdout, found.stderr):
        assert "install a C compiler" in text
    assert run(copy, "-W", "error::ImportWarning", ARRAY_API_NX_EXTENSION="0").stderr == ""


@pytest.mark.parametrize(
    ("extension", "problem"),
    [
        ("VERSION, SOURCES = '0.0.1', ''", "is that of array_api_nx 0.0.1, and this is "),
        ("", "is that of array_api_nx of another time, and this is "),
        (
            f"VERSION, SOURCES = {array_api_nx.__version__!r}, '00000000'",
            "was built from other sources than lie beside it now",
        ),
        (
            "raise ImportError('module was compiled for another NumPy')",
            "(module was compiled for another NumPy)",
        ),
    ],
    ids=["another version", "before versions", "other sources", "another NumPy"],
)
def test_one_that_does_not_fit_is_refused(copy, extension, problem):
    """With a warning that everybody sees, and the command that mends it; and NumPy computes."""
    if "other sources" in problem and not stamp(PACKAGE / "native"):
        pytest.skip("an installation has no sources")
    stand_in = copy / "array_api_nx" / "_native.py"
    stand_in.write_text(extension)
    try:
        found = run(copy)
    finally:
        stand_in.unlink()
    assert found.stdout.startswith("4.0\n")
    assert found.stderr.count("RuntimeWarning: array_api_nx runs without its C extension") == 1
    assert problem in found.stderr
    assert "pip install -e ." in found.stderr


@pytest.mark.skipif(native is None, reason="there is no extension")
def test_a_second_one_in_a_process_is_refused():
    """Its threads and types serve one package; what was imported before goes on."""
    code = (
        "import sys, warnings; import array_api_nx as first; x = first.ones(3)\n"
        "for name in [name for name in sys.modules if name.startswith('array_api_nx')]:\n"
        "    del sys.modules[name]\n"
        "with warnings.catch_warnings(record=True) as met:\n"
        "    warnings.simplefilter('always')\n"
        "    import array_api_nx as second\n"
        "print(met[0].message)\n"
        "print(float(first.sum(x + 1)), float(second.sum(second.ones(3) + 1)))\n"
    )
    told, *results = run(PACKAGE.parent, code=code).stdout.splitlines()
    assert "_native is loaded in this process already" in told
    assert results == ["6.0 6.0"]


def test_the_stamp_follows_the_sources(tmp_path):
    assert stamp(tmp_path) == stamp(tmp_path / "missing") == ""
    (tmp_path / "a.py").write_text("1")
    assert stamp(tmp_path) == ""
    (tmp_path / "a.c").write_text("1")
    first = stamp(tmp_path)
    assert len(first) == 8
    (tmp_path / "a.c").write_text("12")
    second = stamp(tmp_path)
    (tmp_path / "b.h").write_text("")
    assert len({first, second, stamp(tmp_path)}) == 3
