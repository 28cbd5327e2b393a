"""The layers of the package: imports go down only, and importing it stays light.

The layers, from the top: the public faces (the package itself and its public submodules); the
front end with the array, the device and what they need; the backends; the table of primitives;
the core; the settings. A module may import its own layer and those below.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

import array_api_nx

NAME = "array_api_nx"
ROOT = Path(array_api_nx.__file__).parent
LAYERS = ("config", "core", "primitives", "backends", "frontend", "face")
IN_FRONTEND = {"array", "device", "formatting", "interop"}
MODULES = sorted(ROOT.rglob("*.py"))

# What a module imports when it is loaded. Engines other than NumPy load on first use.
THIRD_PARTY = {
    "config": set[str](),
    "core": set[str](),
    "primitives": set[str](),
    "backends": {"numpy"},
    "frontend": {"numpy"},
    "face": {"numpy"},
}
# The contract tests, which pytest loads and nothing else does.
TESTING = "testing/contract/"
# The modules of engines, which load on first use, and what they load.
ENGINES = {
    "backends/dask": {"dask"},
    "backends/engines/cupy.py": {"cupy", "cupyx", "array_api_compat", "numpy"},
    "backends/engines/jax.py": {"jax"},
    "backends/engines/jax_kernels.py": {"jax"},
    "backends/engines/torch.py": {"torch", "array_api_compat"},
    "backends/engines/torch_kernels.py": {"torch"},
}
# Layers that import nothing else, on first use neither.
STANDARD_LIBRARY_ALONE = ("config", "core", "primitives")

MAX_LINES = 800
# Chapters of the standard that are long because it is: dozens of functions, each with its text.
LONG = {"frontend/elementwise.py", "linalg.py"}


def dotted(path: Path) -> str:
    parts = (NAME, *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


DOTTED = {dotted(path) for path in MODULES}


def layer(module: str) -> str:
    """The layer of a module of the package, by its dotted name."""
    top = module.split(".")[1] if "." in module else ""
    if top in LAYERS:
        return top
    return "frontend" if top in IN_FRONTEND else "face"


def imports(path: Path) -> Iterator[tuple[str, bool]]:
    """The absolute name of each module that a file imports, and whether on loading."""
    package = dotted(path).split(".")
    if path.name != "__init__.py":
        package.pop()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    on_first_use = {
        id(node)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for node in ast.walk(function)
    }
    for node in ast.walk(tree):
        loading = id(node) not in on_first_use
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, loading
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            source = ".".join([*base, node.module] if node.module else base)
            for alias in node.names:
                submodule = f"{source}.{alias.name}"
                yield submodule if submodule in DOTTED else source, loading


def ids(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_the_layers_are_there():
    assert {layer(name) for name in DOTTED} == set(LAYERS)
    assert layer(NAME) == layer(f"{NAME}.linalg") == "face"
    assert layer(f"{NAME}.core.view") == "core"
    assert layer(f"{NAME}.config") == "config"
    assert layer(f"{NAME}.frontend.configuration") == "frontend"
    assert layer(f"{NAME}.array") == layer(f"{NAME}.frontend.dispatch") == "frontend"


def test_the_reader_of_imports_sees_every_form(tmp_path, monkeypatch):
    source = """
import numpy as np, os.path
from . import view
from .. import primitives as p
from ..core.view import View
from .. import __version__
from math import prod
def later():
    import torch
    return lambda: None
"""
    path = tmp_path / "core" / "other.py"
    path.parent.mkdir()
    path.write_text(source)
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    assert list(imports(path)) == [
        ("numpy", True),
        ("os.path", True),
        (f"{NAME}.core.view", True),
        (f"{NAME}.primitives", True),
        (f"{NAME}.core.view", True),
        (NAME, True),
        ("math", True),
        ("torch", False),
    ]


@pytest.mark.parametrize("path", MODULES, ids=ids)
def test_imports_go_down_only(path):
    own = layer(dotted(path))
    for name, loading in imports(path):
        top = name.split(".")[0]
        if top == NAME:
            assert LAYERS.index(layer(name)) <= LAYERS.index(own), f"{ids(path)} imports {name}"
        elif top not in sys.stdlib_module_names and (loading or own in STANDARD_LIBRARY_ALONE):
            engine = ENGINES.get(ids(path)) or ENGINES.get(ids(path.parent), set())
            allowed = THIRD_PARTY[own] | engine
            if ids(path).startswith(TESTING):
                allowed = {"numpy", "pytest", "hypothesis"}
            assert top in allowed, f"{ids(path)} imports {name}"


@pytest.mark.parametrize("path", MODULES, ids=ids)
def test_modules_can_be_read_in_one_sitting(path):
    if ids(path) not in LONG:
        assert len(path.read_text(encoding="utf-8").splitlines()) <= MAX_LINES


def loaded_by(statement: str) -> set[str]:
    """Names of the top-level modules, the standard library's apart, that a statement loads."""
    code = (
        "import sys; before = set(sys.modules)\n"
        f"{statement}\n"
        "names = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "print(*sorted(names - set(sys.stdlib_module_names)))"
    )
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={**os.environ, "PYTHONPATH": str(ROOT.parent)},
        capture_output=True,
        text=True,
        check=True,
    )
    return set(result.stdout.split())


def test_importing_the_package_loads_numpy_alone():
    assert loaded_by(f"import {NAME}") == {NAME, "numpy"}


def test_the_lowest_layers_alone_load_nothing_else():
    stub = (
        f"import types; package = types.ModuleType({NAME!r}); package.__path__ = [{str(ROOT)!r}]\n"
        f"sys.modules[{NAME!r}] = package\n"
    )
    lowest = [name for name in sorted(DOTTED) if layer(name) in STANDARD_LIBRARY_ALONE]
    assert len(lowest) > 5
    assert loaded_by(stub + "\n".join(f"import {name}" for name in lowest)) == {NAME}


def test_layers_are_ordered_from_the_settings_up():
    assert LAYERS[:2] == ("config", "core")
    for lower, upper in pairwise(LAYERS):
        assert THIRD_PARTY[lower] <= THIRD_PARTY[upper]
