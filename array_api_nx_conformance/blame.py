"""What a failure of the suite rests on: the function that raised, the functions that were used.

It runs inside the suite's process, on a live exception; `verdict` draws the
conclusions.
"""

from __future__ import annotations

import ast
import dis
import linecache
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType, ModuleType, TracebackType

# The suite's names for the namespace under test, and for its own module with the namespace's
# functions; Hypothesis' strategies call the namespace `self.xp`.
_NAMESPACE = re.compile(
    r"(?:^|\.)(?:_?xp|_array_module)\.((?:linalg\.|fft\.)?\w+)$|^((?:linalg|fft)\.\w+)$"
)
# The suite's names for the function under test, where it is a parameter of the test.
TESTED = ("func", "iop", "op", "ctx.func", "ctx.op")
_REQUIRED = re.compile(r"does not have required attributes?: (\w+)")  # what Hypothesis says
_HYPOTHESIS = str(Path("hypothesis", "extra", "array_api.py"))
_BUILT_IN = {name: f"__{name}__" for name in ("bool", "int", "float", "complex", "abs")}
_OPERATORS = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv",
    ast.FloorDiv: "floordiv", ast.Mod: "mod", ast.Pow: "pow", ast.MatMult: "matmul",
    ast.LShift: "lshift", ast.RShift: "rshift", ast.BitAnd: "and", ast.BitOr: "or",
    ast.BitXor: "xor", ast.Invert: "invert", ast.USub: "neg", ast.UAdd: "pos", ast.Not: "bool",
    ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge",
}  # fmt: skip


@dataclass(frozen=True)
class Blame:
    """What is known about the origin of a failure.

    Attributes
    ----------
    raised_in : str
        The namespace's function whose call raised; empty where the test itself found fault with
        a result.
    uses : tuple of str
        The namespace's functions that the code on the failing path names.
    """

    raised_in: str
    uses: tuple[str, ...]


def first_error(error: BaseException) -> BaseException:
    """The error itself, or the first of a group."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def blame(error: BaseException, function: str, tests: Path, namespace: object) -> Blame:
    """Find what the failure of a test of `function` rests on.

    Parameters
    ----------
    error : BaseException
        What the test raised.
    function : str
        The function that the test is about.
    tests : Path
        The folder of the suite's tests.
    namespace : object
        The namespace under test.
    """
    error = first_error(error)
    entries = list(suite_entries(error, tests))
    if not entries:
        return Blame("", ())
    last = entries[-1]
    collector = _Collector(tests, namespace)
    for entry in entries:
        collector.add(entry.tb_frame.f_code, entry.tb_frame.f_globals)
    return Blame(_raised_in(error, last, function, namespace), tuple(sorted(collector.uses)))


def suite_entries(error: BaseException, tests: Path) -> Iterator[TracebackType]:
    """The traceback's entries that are the suite's, or Hypothesis' strategies for arrays."""
    entry = error.__traceback__
    while entry is not None:
        file = entry.tb_frame.f_code.co_filename
        if file.startswith(str(tests)) or file.endswith(_HYPOTHESIS):
            yield entry
        entry = entry.tb_next


def _raised_in(error: BaseException, entry: TracebackType, function: str, namespace: object) -> str:
    if isinstance(error, AttributeError) and isinstance(error.obj, ModuleType):
        return str(error.name)
    if required := _REQUIRED.search(str(error)):
        return required[1]
    undefined = entry.tb_frame.f_locals.get("self")
    if type(undefined).__name__ == "_UndefinedStub":  # the suite's stand-in for a missing name
        return str(vars(undefined)["name"])
    if isinstance(error, AssertionError) and entry.tb_next is None:
        return ""  # an assert statement; its position is that of the comparison
    if _is_assignment(entry):
        return "__setitem__"
    return _called(_expression(entry), entry.tb_frame.f_globals, function, namespace)


def _is_assignment(entry: TracebackType) -> bool:
    """Whether ``x[key] = value`` was being executed; its expression is that of ``x[key]``."""
    instructions = dis.get_instructions(entry.tb_frame.f_code)
    return any(
        instruction.offset == entry.tb_lasti and instruction.opname == "STORE_SUBSCR"
        for instruction in instructions
    )


def _expression(entry: TracebackType) -> ast.expr | None:
    """The expression that was being evaluated."""
    code = entry.tb_frame.f_code
    positions = list(code.co_positions())[entry.tb_lasti // 2]
    line, end_line, column, end_column = positions
    if line is None or end_line is None or column is None or end_column is None:
        return None
    lines = [linecache.getline(code.co_filename, n).encode() for n in range(line, end_line + 1)]
    lines[-1] = lines[-1][:end_column]
    lines[0] = lines[0][column:]
    try:
        return ast.parse(b"".join(lines).decode().strip(), mode="eval").body
    except (SyntaxError, UnicodeDecodeError):  # a statement, such as assert or raise
        return None


def _called(
    expression: ast.expr | None, variables: dict[str, object], function: str, namespace: object
) -> str:
    match expression:
        case ast.Call(func=callee):
            text = ast.unparse(callee)
            if text in TESTED:
                return function
            if found := _NAMESPACE.search(text):
                return found[1] or found[2]
            if _is_imported(text, variables, namespace):
                return text
            if text in _BUILT_IN:
                return _BUILT_IN[text]
            return callee.attr if isinstance(callee, ast.Attribute) and "__" in text else ""
        case ast.BinOp(op=operator) | ast.UnaryOp(op=operator):
            return f"__{_OPERATORS[type(operator)]}__"
        case ast.Compare(ops=[operator, *_]) if type(operator) in _OPERATORS:
            return f"__{_OPERATORS[type(operator)]}__"
        case ast.Subscript():
            return "__getitem__"
    return ""


def _is_imported(name: str, variables: dict[str, object], namespace: object) -> bool:
    """Whether a module's variable is the namespace's function of that name."""
    value = variables.get(name)
    return value is not None and value is getattr(namespace, name, None) and callable(value)


class _Collector:
    """Finds the namespace's functions that code names, and those that its helpers name."""

    def __init__(self, tests: Path, namespace: object) -> None:
        self.uses: set[str] = set()
        self._tests = str(tests)
        self._namespace = namespace
        self._seen: set[CodeType] = set()

    def add(self, code: CodeType, variables: dict[str, object]) -> None:
        """Add what `code` names, in a module with these variables."""
        if code in self._seen or not code.co_filename.startswith(self._tests):
            return
        self._seen.add(code)
        # What a test expects is often computed by a function inside it.
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                self.add(constant, variables)
        owner: object = None
        path = ""
        for instruction in dis.get_instructions(code):
            name = instruction.argval
            if instruction.opname == "LOAD_GLOBAL":
                owner, path = variables.get(name), name
                helper = owner
                if _is_imported(name, variables, self._namespace):
                    self.uses.add(name)
            elif instruction.opname in ("LOAD_ATTR", "LOAD_METHOD") and path:
                path = f"{path}.{name}"
                if found := _NAMESPACE.search(path):
                    self.uses.add(found[1] or found[2])
                helper = owner = vars(owner).get(name) if isinstance(owner, ModuleType) else None
            else:
                path, helper = "", None
            if isinstance(helper, FunctionType):
                self.add(helper.__code__, helper.__globals__)
