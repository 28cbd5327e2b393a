"""Modules that are written for NumPy, loaded with another namespace in its place."""

from __future__ import annotations

import ast
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple


class Program(NamedTuple):
    """A function in a module that imports NumPy, and its arguments."""

    file: Path
    function: str
    arguments: tuple[Any, ...]
    """Numbers and NumPy's arrays. The function may write to the arrays."""


def load(file: Path, function: str, namespace: str = "numpy") -> Any:
    """The function of the module at `file`, which imports `namespace` where it says numpy.

    The file stays as it is: the import is replaced in the parsed source.
    """
    tree = ast.parse(file.read_text(encoding="utf-8"), str(file))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name == "numpy":
                    alias.name, alias.asname = namespace, alias.asname or "numpy"
        elif isinstance(node, ast.ImportFrom) and node.module == "numpy":
            node.module = namespace
    names: dict[str, Any] = {"__name__": file.stem, "__file__": str(file)}
    exec(compile(tree, str(file), "exec"), names)
    return names[function]


def compiled_by_numba(function: FunctionType) -> Any:
    """The function, with all functions of its module, decorated with ``numba.njit``."""
    from numba import njit

    names = function.__globals__
    own = [name for name, value in names.items() if isinstance(value, FunctionType)]
    for name in own:
        names[name] = njit(names[name])
    return names[function.__name__]
