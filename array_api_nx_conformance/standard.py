"""The names of the standard, read from the stubs of the standard's repository."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .draft import ADDITIONS
from .suite import SPEC, CannotRunError

DRAFT = "draft"  # of the next version; the suite, and Hypothesis, call it so, too

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
    they are: ``__add__``, ``shape``. ``since`` maps each name to the version that it came with.
    ``optional`` has the names that a namespace may lack, each with the reason, ``proposed`` those
    that are not in the draft yet.
    """

    version: str
    functions: Mapping[str, str]
    since: Mapping[str, str] = field(default_factory=dict)
    optional: Mapping[str, str] = field(default_factory=dict)
    proposed: frozenset[str] = frozenset()

    @property
    def new(self) -> list[str]:
        """The names that came with this version; none of the first one, where all did."""
        found = [name for name in self.functions if self.since.get(name) == self.version]
        return found if len(found) < len(self.functions) else []

    @property
    def chapters(self) -> list[str]:
        """The chapters in order."""
        return list(dict.fromkeys(self.functions.values()))


def versions(checkout: Path) -> list[str]:
    """The released versions that a checkout of the suite can test."""
    return sorted(
        folder.name.removeprefix("_").replace("_", ".")
        for folder in (checkout / _STUBS).glob("_2*_*")
    )


def read(checkout: Path, version: str) -> Standard:
    """The names of `version`, and since when each is in the standard.

    "draft" is the draft that the checkout has, and what was added to it later (`draft.ADDITIONS`).

    Raises
    ------
    CannotRunError
        If the checkout does not have that version.
    """
    released = versions(checkout)
    has_draft = _folder(checkout, DRAFT).is_dir()
    known = [*released, *([DRAFT] if has_draft else [])]
    if version not in known:
        raise CannotRunError(
            f"the suite does not know version {version!r} of the standard; it has"
            f" {', '.join(known) or 'none'}: choose one of them with --standard"
        )
    since: dict[str, str] = {}
    functions: dict[str, str] = {}
    for each in known[: known.index(version) + 1]:
        functions = _functions(_folder(checkout, each))
        if each == DRAFT:
            functions = _with_additions(functions)
        for name in functions:
            since.setdefault(name, each)
    additions = ADDITIONS if version == DRAFT else ()
    return Standard(
        version,
        functions,
        {name: since[name] for name in functions},
        {one.name: one.optional for one in additions if one.optional},
        frozenset(one.name for one in additions if one.proposed),
    )


def _with_additions(functions: dict[str, str]) -> dict[str, str]:
    """Chapter by chapter in the order of `functions`."""
    found = functions | {a.name: a.chapter for a in ADDITIONS if a.name not in functions}
    order = list(dict.fromkeys(found.values()))
    return dict(sorted(found.items(), key=lambda item: order.index(item[1])))


def _folder(checkout: Path, version: str) -> Path:
    return checkout / _STUBS / f"_{version.replace('.', '_')}"


def _functions(folder: Path) -> dict[str, str]:
    functions: dict[str, str] = {}
    for file in sorted(folder.glob("*.py")):
        if file.stem not in _NO_CHAPTER:
            functions |= dict.fromkeys(_names(file), _chapter(file.stem))
    return functions


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
