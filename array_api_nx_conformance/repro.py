"""Makes a failing test's example into a script that runs without the suite.

It runs inside the suite's process, on a live exception: the test's own source says which call was
made, the test's frame has the values it was made with.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import FrameType
from typing import Any

from .blame import TESTED, first_error, suite_entries
from .environment import device_variable
from .literals import Namespace, UnprintableError

_SHOULD_BE = re.compile(r"but should be (.+?)(?: \[[^\]]*\(.*\)\])?$")
_INFO = "xp.__array_namespace_info__()"
_SPECIAL = re.compile(r"__\w+__")


def build(
    error: BaseException,
    function: str,
    module: str,
    namespace: object,
    tests: Path,
    device: str = "",
) -> str:
    """The script; empty where the example cannot be written down.

    Parameters
    ----------
    error : BaseException
        What the test raised.
    function : str
        The function that the test is about.
    module : str
        The importable name of the namespace.
    namespace : object
        The namespace itself.
    tests : Path
        The folder of the suite's tests.
    device : str
        The device that the run made the default one, if any.
    """
    error = first_error(error)
    # The innermost first: Hypothesis' wrapper of a test bears its name too, and some tests leave
    # the call to a function that several share.
    for entry in reversed(list(suite_entries(error, tests))):
        frame, line = entry.tb_frame, entry.tb_lineno
        if not frame.f_code.co_name.startswith(("test_", "_test_")):
            continue
        try:
            lines = _Script(function, Namespace(namespace), frame, line).lines()
        except UnprintableError:
            continue
        return _assemble(lines, error, frame, line, module, device)
    return ""


def _assemble(
    lines: list[str], error: BaseException, frame: FrameType, line: int, module: str, device: str
) -> str:
    imports = [f"import {name}" for name in ("inspect", "operator") if f"{name}." in "".join(lines)]
    variable = device_variable(module)
    setup = [f"xp.set_default_device({device!r})"] if device and not variable else []
    if device and variable:
        imports = ["import os", *imports, "", f"os.environ[{variable!r}] = {device!r}"]
    head = [*imports, *([""] if imports else []), f"import {module} as xp", ""]
    assertion = linecache.getline(frame.f_code.co_filename, line).strip().removeprefix("assert ")
    label, text = verdict(error, assertion)
    return "\n".join([*head, *setup, *lines, f"print({label!r}, {text!r})", ""])


def verdict(error: BaseException, assertion: str) -> tuple[str, str]:
    """A label, and what the test expected, or said, in the suite's words.

    Parameters
    ----------
    error : BaseException
        What the test raised.
    assertion : str
        The source of the line that raised, for an assertion without a message.
    """
    if not isinstance(error, AssertionError):
        return "expected:", f"no {type(error).__name__}"
    line = (str(error).strip() or "assert").splitlines()[0]
    if found := _SHOULD_BE.search(line):
        return "expected:", found[1]
    # "assert" begins what pytest says where the suite says nothing.
    return ("expected:", assertion) if line.startswith("assert") else ("the suite:", line)


class _Script:
    """The lines for one failing test."""

    def __init__(self, function: str, namespace: Namespace, frame: FrameType, line: int) -> None:
        self._function = function
        self._name = function.rpartition(".")[2]
        self._namespace = namespace
        self._frame = frame
        self._line = line
        self._assignments: dict[str, str] = {}

    def lines(self) -> list[str]:
        """The assignments, the call, and what it gave."""
        test = self._frame.f_code.co_name
        if test == "test_has_names":
            return self._has_name()
        if test.endswith("_signature"):
            return self._signature()
        source = _function_source(self._frame.f_code.co_filename, test, self._line)
        found = [
            node
            for node in ast.walk(source)
            if isinstance(node, ast.expr | ast.stmt) and self._is_the_call(node)
        ]
        if not found:
            raise UnprintableError("the test's call was not found")
        node = max(found, key=lambda each: (each.lineno, each.col_offset))
        mutated = self._mutated(source, node)
        call = self._call(node, mutated)
        before = [f"{name} = {value}" for name, value in self._assignments.items()]
        if isinstance(node, ast.Assign):  # x[key] = value
            target = call.partition("[")[0]
            return [*before, call, f'print("got:     ", repr({target}))']
        return [*before, f'print("got:     ", repr({call}))']

    def _has_name(self) -> list[str]:
        if self._function in ("__array_namespace_info__",) or not _SPECIAL.fullmatch(self._name):
            owner, _, name = f"xp.{self._function}".rpartition(".")
        else:
            owner, name = "xp.ones((1, 1))", self._name
        if self._frame.f_locals.get("category") == "array_attribute":
            owner = "xp.ones((1, 1))"
        return [f'print("got:     ", hasattr({owner}, {name!r}))']

    def _signature(self) -> list[str]:
        stub = self._frame.f_locals["stub"]
        wanted = inspect.signature(stub)
        parameters = [
            parameter.replace(annotation=inspect.Parameter.empty)
            for parameter in wanted.parameters.values()
            if parameter.name != "self"
        ]
        text = str(inspect.Signature(parameters))
        if self._function.startswith("info."):
            called = f"{_INFO}.{self._name}"
        elif self._frame.f_code.co_name == "test_array_method_signature":
            called = f"xp.ones((1, 1)).{self._name}"
        else:
            called = f"xp.{self._function}"
        return [
            f'print("got:     ", inspect.signature({called}))',
            f'print("standard:", {text!r})',
        ]

    def _is_the_call(self, node: ast.expr | ast.stmt) -> bool:
        if node.lineno > self._line:
            return False
        if self._name == "__setitem__":
            return isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript)
        match node:
            case ast.Call(func=callee):
                text = ast.unparse(callee)
                return text in TESTED or text.rpartition(".")[2] == self._name
            case ast.Subscript(ctx=ast.Load()):
                return self._name == "__getitem__"
        return False

    def _mutated(self, source: ast.AST, node: ast.AST) -> dict[str, ast.expr]:
        """The first values of the variables that the call, or the line it is on, overwrites."""
        if isinstance(node, ast.Assign):
            names = {ast.unparse(node.targets[0]).partition("[")[0]}
        else:
            names = _names(node)
        values: dict[str, ast.expr] = {}
        for statement in ast.walk(source):
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as value):
                    overwrites = node in ast.walk(statement) or not self._pure(node)
                    earlier = statement.lineno < getattr(node, "lineno", 0)
                    if name in names and earlier and overwrites | self._rebound(source, name, node):
                        values[name] = value
        return values

    def _pure(self, node: ast.AST) -> bool:
        """Whether the call leaves its arguments alone."""
        if isinstance(node, ast.Call):
            called = getattr(self._evaluate(node.func), "__name__", "")
            return ast.unparse(node.func) not in TESTED or not called.startswith("i")
        return not isinstance(node, ast.Assign)

    @staticmethod
    def _rebound(source: ast.AST, name: str, node: ast.AST) -> bool:
        """Whether the statement around `node` assigns to `name`."""
        return any(
            isinstance(statement, ast.Assign)
            and node in ast.walk(statement.value)
            and any(isinstance(t, ast.Name) and t.id == name for t in statement.targets)
            for statement in ast.walk(source)
        )

    def _call(self, node: ast.AST, mutated: Mapping[str, ast.expr]) -> str:
        match node:
            case ast.Assign(targets=[target], value=value):
                return f"{self._call(target, mutated)} = {self._render(value, mutated)}"
            case ast.Subscript(value=owner, slice=key):
                return f"{self._render(owner, mutated)}[{self._render(key, mutated)}]"
            case ast.Call(func=callee):
                return self._arguments(self._callee(callee, mutated), node, mutated)
        raise UnprintableError(ast.dump(node))

    def _arguments(self, callee: str, node: ast.Call, mutated: Mapping[str, ast.expr]) -> str:
        arguments = [self._render(each, mutated) for each in node.args]
        for keyword in node.keywords:
            prefix = f"{keyword.arg}=" if keyword.arg else "**"
            arguments.append(prefix + self._render(keyword.value, mutated))
        return f"{callee}({', '.join(arguments)})"

    def _callee(self, callee: ast.expr, mutated: Mapping[str, ast.expr]) -> str:
        if ast.unparse(callee) in TESTED:
            called = self._evaluate(callee)
            if getattr(called, "__module__", "") == "_operator":
                return f"operator.{getattr(called, '__name__', '')}"
        if self._function.startswith("info."):
            return f"{_INFO}.{self._name}"
        if isinstance(callee, ast.Attribute) and _SPECIAL.fullmatch(self._name):
            return f"{self._render(callee.value, mutated)}.{self._name}"
        if _SPECIAL.fullmatch(self._name):
            return f"operator.{self._name}"
        return f"xp.{self._function}"

    def _render(self, node: ast.expr, mutated: Mapping[str, ast.expr]) -> str:
        match node:
            case ast.Constant():
                return ast.unparse(node)
            case ast.Starred(value=value):
                return f"*{self._render(value, mutated)}"
            case ast.Name(id="xp"):
                return "xp"
            case ast.Name(id=name) if name in mutated:
                if name not in self._assignments:
                    value = mutated[name]
                    assert isinstance(value, ast.Call)
                    self._assignments[name] = self._arguments(ast.unparse(value.func), value, {})
                    if not ast.unparse(value.func).startswith("xp."):
                        raise UnprintableError("the first value is not known")
                return name
            case ast.Name(id=name):
                self._assignments.setdefault(name, self._namespace.literal(self._evaluate(node)))
                return name
        return self._namespace.literal(self._evaluate(node))

    def _evaluate(self, node: ast.expr) -> Any:
        """What the test's own expression is worth in the test's own frame."""
        try:
            code = compile(ast.Expression(node), "<example>", "eval")
            return eval(code, self._frame.f_globals, self._frame.f_locals)
        except Exception as error:
            raise UnprintableError(ast.unparse(node)) from error


def _names(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


@lru_cache
def _module_source(file: str) -> ast.Module:
    return ast.parse("".join(linecache.getlines(file)))


def _function_source(file: str, name: str, line: int) -> ast.FunctionDef:
    for node in ast.walk(_module_source(file)):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            end = node.end_lineno or node.lineno
            if node.lineno <= line <= end:
                return node
    raise UnprintableError(f"{name} is not in {file}")
