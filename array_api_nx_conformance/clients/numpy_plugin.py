"""A pytest plugin: NumPy's own tests get a namespace with NumPy's names in place of NumPy.

Their modules are loaded with other imports: ``numpy`` and its modules mean the namespace and its
modules, but for other tests, which stay. The files are not touched. Tests that are expected to fail
are in ``numpy_expected.toml``, in groups with a reason.
"""

from __future__ import annotations

import ast
import os
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.abc import MetaPathFinder, SourceLoader
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

EXPECTED = Path(__file__).with_name("numpy_expected.toml")


class _Imports(ast.NodeTransformer):
    """Replaces NumPy in import statements."""

    def __init__(self, namespace: str) -> None:
        self._namespace = namespace

    def _renamed(self, module: str) -> str:
        is_numpys = module.partition(".")[0] == "numpy" and ".tests" not in module
        return self._namespace + module.removeprefix("numpy") if is_numpys else module

    def visit_Import(self, node: ast.Import) -> list[ast.stmt]:
        statements: list[ast.stmt] = []
        for alias in node.names:
            module = self._renamed(alias.name)
            if module == alias.name or alias.asname:
                statements.append(ast.Import([ast.alias(module, alias.asname)]))
            else:  # `import numpy.linalg` binds numpy
                statements.append(ast.Import([ast.alias(module, "_")]))
                statements.append(ast.Import([ast.alias(self._namespace, "numpy")]))
        return [ast.copy_location(each, node) for each in statements]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.ImportFrom:
        if node.level == 0 and node.module:
            node.module = self._renamed(node.module)
        return node


class _Loader(SourceLoader):
    def __init__(self, namespace: str, file: Path) -> None:
        self._namespace, self._file = namespace, file

    def get_filename(self, fullname: str) -> str:
        return str(self._file)

    def get_data(self, path: str | bytes) -> bytes:
        return self._file.read_bytes()

    def path_stats(self, path: str) -> Any:
        raise OSError("there is no bytecode of a module with other imports")

    def source_to_code(self, data: Any, path: Any = "") -> CodeType:  # type: ignore[override]
        tree = _Imports(self._namespace).visit(ast.parse(data, str(path)))
        return compile(ast.fix_missing_locations(tree), str(path), "exec", dont_inherit=True)


class _Finder(MetaPathFinder):
    def __init__(self, namespace: str, folder: Path) -> None:
        self._namespace, self._folder = namespace, folder

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: object = None
    ) -> ModuleSpec | None:
        for place in path or ():
            file = Path(place, f"{fullname.rpartition('.')[2]}.py")
            if file.name.startswith("test_") and self._folder in file.parents and file.is_file():
                loader = _Loader(self._namespace, file)
                return spec_from_file_location(fullname, file, loader=loader)
        return None


def pytest_configure() -> None:
    """Load NumPy's tests with other imports, before pytest does."""
    import numpy

    finder = _Finder(os.environ["ARRAY_API_TESTS_MODULE"], Path(numpy.__file__).parent)
    sys.meta_path.insert(0, finder)


@dataclass(frozen=True)
class Group:
    """Tests that are expected to fail for one reason.

    Attributes
    ----------
    name, reason : str
        For the report.
    tests : frozenset of str
        Their ids within the package; without parameters if it is all of them.
    may_pass : bool
        Whether one that passes is no failure.
    runs : bool
        Whether they run.
    """

    name: str
    reason: str
    tests: frozenset[str]
    may_pass: bool
    runs: bool

    def has(self, test: str) -> bool:
        """Whether a test, by its id within the package, is in the group."""
        return test in self.tests or test.partition("[")[0] in self.tests

    @property
    def mark(self) -> pytest.MarkDecorator:
        """What pytest does with its tests."""
        reason = f"group {self.name}: {self.reason}"  # which `report` reads
        if not self.runs:
            return pytest.mark.skip(reason=reason)
        return pytest.mark.xfail(reason=reason, strict=not self.may_pass)


def groups() -> list[Group]:
    """The groups of tests that are expected to fail."""
    return [
        Group(
            name,
            " ".join(group["reason"].split()),
            frozenset(group["tests"].split()),
            group.get("may_pass", False),
            group.get("runs", True),
        )
        for name, group in tomllib.loads(EXPECTED.read_text(encoding="utf-8")).items()
    ]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of the groups."""
    known = groups()
    for item in items:
        for group in known:
            if group.has(item.nodeid.removeprefix("numpy/")):
                item.add_marker(group.mark)
                break
