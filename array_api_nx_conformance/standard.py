"""The names of the standard, read from the stubs of the standard's repository."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .suite import SPEC, CannotRunError

_STUBS = Path(SPEC) / "src" / "array_api_stubs"
_ARRAY_OBJECT = "array_object"
_EXTENSIONS = ("linalg", "fft")
_INSPECTION = "info"  # the methods of what `__array_namespace_info__` returns
# Files of the stubs that define no functions, methods or constants.
_NO_CHAPTER = ("__init__", "_types", "data_types")


@dataclass(frozen=True)
class Standard:
    """One version of the standard.

    ``functions`` maps each name to its chapter. Names of extensions are written
    ``linalg.cholesky``, those of inspection ``info.devices``, methods and attributes of arrays as
    they are: ``__add__``, ``shape``.
    """

    version: str
    functions: Mapping[str, str]

    @property
    def chapters(self) -> list[str]:
        """The chapters in order."""
        return list(dict.fromkeys(self.functions.values()))


def versions(checkout: Path) -> list[str]:
    """The versions that a checkout of the suite can test."""
    return sorted(
        folder.name.removeprefix("_").replace("_", ".")
        for folder in (checkout / _STUBS).glob("_2*_*")
    )


def read(checkout: Path, version: str) -> Standard:
    """The names of `version`.

    Raises
    ------
    CannotRunError
        If the checkout does not have that version.
    """
    known = versions(checkout)
    if version not in known:
        raise CannotRunError(
            f"the suite does not know version {version!r} of the standard; it has"
            f" {', '.join(known) or 'none'}: choose one of them with --version"
        )
    functions: dict[str, str] = {}
    for file in sorted((checkout / _STUBS / f"_{version.replace('.', '_')}").glob("*.py")):
        if file.stem not in _NO_CHAPTER:
            names = _names(file)
            functions |= dict.fromkeys(names, _chapter(file.stem))
    return Standard(version, functions)


def _chapter(stem: str) -> str:
    return "inspection" if stem == _INSPECTION else stem.replace("_", " ")


def _names(file: Path) -> list[str]:
    module = ast.parse(file.read_text(encoding="utf-8"))
    if file.stem == _ARRAY_OBJECT:
        methods = [
            statement.name
            for owner in module.body
            if isinstance(owner, ast.ClassDef)
            for statement in owner.body
            if isinstance(statement, ast.FunctionDef)
        ]
        return [name for name in methods if name != "__init__"]
    names = [
        target.id
        for statement in module.body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name)
    ]
    # Some functions are missing from `__all__`, so the definitions count.
    names += [each.name for each in module.body if isinstance(each, ast.FunctionDef)]
    names = [name for name in names if name != "__all__"]
    if file.stem in _EXTENSIONS:
        return [f"{file.stem}.{name}" for name in names]
    if file.stem == _INSPECTION:
        dunder = "__array_namespace_info__"
        return [name if name == dunder else f"{_INSPECTION}.{name}" for name in names]
    return names
