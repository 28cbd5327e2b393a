"""Writes the pages of the reference: one for each public name, and one for each group of them.

Sphinx's configuration calls `write` before it reads the pages. Nothing here needs Sphinx, so that a
test can ask which names have a page.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import numpy as np

import array_api_nx as xp
from array_api_nx.frontend import elementwise

NAMESPACES: Final = (
    *("array_api_nx", "array_api_nx.linalg", "array_api_nx.fft", "array_api_nx.special"),
    *("array_api_nx.random", "array_api_nx.extra", "array_api_nx.testing"),
)
"""The modules whose `__all__` is public."""

_EXAMPLES: Final = Path(__file__).parents[1] / "reference" / "examples"
_STANDARD: Final = "https://data-apis.org/array-api/2025.12"
_SPECIFICATION: Final = f"{_STANDARD}/API_specification/generated/array_api"
_SCIPY: Final = "https://docs.scipy.org/doc/scipy/reference/generated/scipy.special"

# Names of the top level that are no functions of the standard.
_CONTROLS: Final = (
    *("Array", "Device", "ShapeSpec", "compile", "config_context", "eval_shape", "evaluate"),
    *("explain", "show_config"),
)
_CONSTANTS: Final = ("e", "inf", "nan", "newaxis", "pi", "__array_api_version__", "__version__")
# Public without being in an `__all__`: `linalg` has them as NumPy's users expect.
_UNLISTED: Final = {"array_api_nx.linalg": ("lstsq", "norm")}


_OPERATORS: Final = {
    "x + y": "add",
    "x - y": "subtract",
    "x * y": "multiply",
    "x / y": "divide",
    "x // y": "floor_divide",
    "x % y": "remainder",
    "x ** y": "pow",
    "x @ y": "matmul",
    "-x": "negative",
    "abs(x)": "abs",
    "x < y": "less",
    "x <= y": "less_equal",
    "x > y": "greater",
    "x >= y": "greater_equal",
    "x == y": "equal",
    "x != y": "not_equal",
    "x & y": "bitwise_and",
    "x | y": "bitwise_or",
    "x ^ y": "bitwise_xor",
    "~x": "bitwise_invert",
    "x << y": "bitwise_left_shift",
    "x >> y": "bitwise_right_shift",
}


@dataclass(frozen=True)
class Group:
    """A page that lists names of one module under a title."""

    file: str
    title: str
    module: str
    names: tuple[str, ...]
    text: str = ""


# Modules that hold a part of a chapter of the standard, and that chapter.
_CHAPTERS: Final = {"joining": "manipulation", "ranges": "creation"}


def groups() -> list[Group]:
    """All pages that list names, in the order of the reference."""
    main = import_module("array_api_nx")
    found = [
        Group("controls", "Arrays, devices and controls", "array_api_nx", _CONTROLS),
        Group("constants", "Constants and versions", "array_api_nx", _CONSTANTS),
        Group("dtypes", "Dtypes", "array_api_nx", tuple(_dtypes(main))),
    ]
    chapters: dict[str, list[str]] = {}
    for name in main.__all__:
        if any(name in group.names for group in found) or inspect.ismodule(getattr(main, name)):
            continue
        home = inspect.unwrap(getattr(main, name)).__module__.rpartition(".")[2]
        if name in elementwise.__all__:
            home = "elementwise"
        chapters.setdefault(_CHAPTERS.get(home, home), []).append(name)
    for home, names in chapters.items():
        title = f"{home.replace('_', ' ').capitalize()} functions"
        found.append(Group(home, title, "array_api_nx", tuple(sorted(names))))
    for module in NAMESPACES[1:]:
        loaded = import_module(module)
        names = (*loaded.__all__, *_UNLISTED.get(module, ()))
        short = module.removeprefix("array_api_nx.")
        text = inspect.getdoc(loaded) or ""
        # In docstrings pages are named by their files.
        text = re.sub(r"docs/(\w+)\.md", r":doc:`/\1`", text)
        found.append(Group(short, short, module, tuple(sorted(names)), text))
    return found


def _dtypes(main: ModuleType) -> Iterator[str]:
    return (name for name in main.__all__ if isinstance(getattr(main, name), np.dtype))


def documented() -> set[str]:
    """The full names of what has an entry in the reference."""
    return {f"{group.module}.{name}" for group in groups() for name in group.names} | {*NAMESPACES}


def examples(module: str) -> dict[str, str]:
    """The examples of a module's names that have none in their docstrings, by name."""
    file = _EXAMPLES / f"{module.removeprefix('array_api_nx').strip('.') or 'main'}.txt"
    if not file.exists():
        return {}
    parts = re.split(r"^(\w+)\n-+\n", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], (part.strip() for part in parts[2::2]), strict=True))


def links(module: str, name: str) -> list[str]:
    """Where else a name is described: in the standard, in NumPy's or SciPy's reference."""
    value = getattr(import_module(module), name)
    text = (inspect.getdoc(value) or "").rstrip()
    short = module.removeprefix("array_api_nx").strip(".")
    if text.rpartition("\n")[2].startswith("Standard: "):
        path = f"{short}.{name}" if short else name
        return [f"`{name} in the standard <{_SPECIFICATION}.{path}.html>`__"]
    if short == "special":
        return [f"`scipy.special.{name} <{_SCIPY}.{name}.html>`__"]
    if short == "extra" and hasattr(import_module("numpy"), name):
        page = f"https://numpy.org/doc/stable/reference/generated/numpy.{name}.html"
        return [f"`numpy.{name} <{page}>`__"]
    return []


def _summary(value: object) -> str:
    return (inspect.getdoc(value) or "").partition("\n")[0]


def _operators() -> Iterator[str]:
    """What arrays do with operators, each with the function that says what it means."""
    yield from (".. rubric:: Operators", "", "Each has the meaning of a function:", "")
    yield from (".. list-table::", "   :widths: 30 70", "")
    for operator, function in _OPERATORS.items():
        yield f"   * - ``{operator}``"
        yield f"     - :py:obj:`{function} <array_api_nx.{function}>`"
    yield from (
        "",
        "``x += y`` and the like write into ``x``. ``x[key]`` and ``x[key] = value`` are",
    )
    yield "NumPy's indexing (:doc:`/arrays`). ``float(x)``, ``int(x)``, ``bool(x)`` and"
    yield "``complex(x)`` take one element out; ``len(x)`` and loops go over the first axis."


def _members(value: type) -> list[str]:
    """The public methods and attributes on the page; of arrays not those that they lack."""
    return [
        name
        for name in dir(value)
        if not name.startswith("_")
        and name not in dir(tuple)
        and type(inspect.getattr_static(value, name)).__name__ != "MissingAttribute"
    ]


def _page(module: str, name: str) -> str:
    full = f"{module}.{name}"
    value = getattr(import_module(module), name)
    title = full.removeprefix("array_api_nx.")
    lines = [title, "=" * len(title), "", f".. currentmodule:: {module}", ""]
    if inspect.isclass(value):
        members = ", ".join(_members(value))
        lines += [f".. autoclass:: {full}", *([f"   :members: {members}"] if members else [])]
    else:
        lines += [f".. autofunction:: {full}"]
    if full == "array_api_nx.Array":
        lines += ["", *_operators()]
    found = links(module, name)
    if found:
        lines += ["", ".. seealso::", "", f"   {', '.join(found)}"]
    return "\n".join(lines) + "\n"


def _data(group: Group) -> Iterator[str]:
    """Entries of constants and dtypes, which have one page in common."""
    main = import_module(group.module)
    dtypes = group.file == "dtypes"
    for name in group.names:
        value = getattr(main, name)
        yield from (f".. py:data:: {name}", "")
        yield from (f"   {_range(value)}" if dtypes else f"   ``{value!r}``", "")
    target = "data_types" if dtypes else "constants"
    yield f"See `the standard <{_STANDARD}/API_specification/{target}.html>`__."


def _range(dtype: Any) -> str:
    """Which numbers a dtype has."""
    if xp.isdtype(dtype, "bool"):
        return "True and False, in a byte each."
    if xp.isdtype(dtype, "integral"):
        limits = xp.iinfo(dtype)
        return f"Integers from {limits.min} to {limits.max}."
    parts = xp.finfo(dtype)
    limits = f"the largest is {parts.max:.4g}, the first above 1 is 1 + {parts.eps:.4g}."
    if xp.isdtype(dtype, "real floating"):
        return f"Floating-point numbers of {parts.bits} bits: {limits}"
    return f"Complex numbers, whose two parts have {parts.bits} bits each: {limits}"


def _table(group: Group) -> Iterator[str]:
    module = import_module(group.module)
    yield from (".. list-table::", "   :widths: 25 75", "")
    for name in group.names:
        yield f"   * - :py:obj:`{name} <{group.module}.{name}>`"
        yield f"     - {_summary(getattr(module, name))}"
    yield from ("", ".. toctree::", "   :hidden:", "")
    yield from (f"   {name} <{group.module}.{name}>" for name in group.names)


def write(folder: Path) -> None:
    """Write all pages into a folder, and remove what an earlier call wrote and this does not."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = {}
    for group in groups():
        lines = [group.title, "=" * len(group.title), ""]
        if group.module != "array_api_nx":
            lines += [f".. py:module:: {group.module}", "", group.text, ""]
        lines += [f".. currentmodule:: {group.module}", ""]
        if group.file in ("constants", "dtypes"):
            lines += _data(group)
        else:
            lines += _table(group)
            for name in group.names:
                texts[f"{group.module}.{name}.rst"] = _page(group.module, name)
        texts[f"{group.file}.rst"] = "\n".join(lines) + "\n"
    for file in folder.glob("*.rst"):
        if file.name not in texts:
            file.unlink()
    for name, text in texts.items():
        file = folder / name
        # A file that is left alone is not read again by the next build.
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")
