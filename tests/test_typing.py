"""Type checkers on code that uses the installed package."""

import ast
import importlib.util
import inspect
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

USE = Path(__file__).parent / "data" / "typed_use.py"
CHECKERS = {"mypy": ["--strict", "--no-incremental"], "pyright": ["--pythonpath", sys.executable]}


@pytest.mark.parametrize("checker", CHECKERS)
def test_type_checkers_find_the_package_and_its_types(checker, tmp_path):
    if importlib.util.find_spec(checker) is None:
        pytest.skip(f"{checker} is not installed")
    if subprocess.run([sys.executable, "-I", "-c", "import array_api_nx"], check=False).returncode:
        pytest.skip("array_api_nx is not installed in this environment, only on the path")
    # Elsewhere, so that neither the checkout nor its settings are found by the working directory.
    shutil.copy(USE, tmp_path)
    run = subprocess.run(
        [sys.executable, "-m", checker, *CHECKERS[checker], USE.name],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    if checker == "pyright" and run.returncode not in (0, 1):
        pytest.skip(f"pyright cannot run here: {run.stderr.strip()[-200:]}")
    assert run.returncode == 0, run.stdout + run.stderr


EXTENSIONS = ["array_api_nx._native"]


def test_the_stubs_have_the_names_and_parameters_of_the_extensions(tmp_path):
    """The extension has each name of the stub; C code takes arguments by position."""
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy is not installed")
    if None in [importlib.util.find_spec(name) for name in EXTENSIONS]:
        pytest.skip("the extensions are not built")
    # A stub's imports take seconds to read and change no names and parameters.
    configuration = tmp_path / "mypy.ini"
    configuration.write_text("[mypy]\nfollow_imports = skip\nignore_missing_imports = True\n")
    options = ["--ignore-missing-stub", "--ignore-positional-only"]
    options += ["--mypy-config-file", str(configuration)]
    run = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", *options, *EXTENSIONS],
        cwd=USE.parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_the_type_of_the_extension_has_its_names_and_parameters():
    """Stubtest does not read `Native`, the module as a type, which the stub alone has."""
    native = pytest.importorskip("array_api_nx._native")
    stub = (Path(native.__file__).parent / "_native.pyi").read_text(encoding="utf-8")
    (kind,) = [x for x in ast.parse(stub).body if getattr(x, "name", "") == "Native"]
    assert isinstance(kind, ast.ClassDef)
    names = {getattr(x, "name", None) or ast.unparse(x.target) for x in kind.body[1:]}
    assert names == {name for name in dir(native) if not name.startswith("__")}
    for method in kind.body:
        if isinstance(method, ast.FunctionDef):
            try:
                signature = inspect.signature(getattr(native, method.name))
            except ValueError:  # it has several
                continue
            given = method.args
            every = [*given.posonlyargs[1:], *given.args, *given.kwonlyargs]
            if given.vararg is not None:
                every.append(given.vararg)
            assert {x.arg for x in every} - {"self"} == set(signature.parameters), method.name
