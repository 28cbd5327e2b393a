"""Docstrings of public functions, completed from what their signatures say.

A docstring in the source has a summary, paragraphs of notes, and a paragraph of fields: what is to
be said of a parameter, of the result or of an error::

    x: Real or bool.
    Returns: A copy of the dtype of `x`.
    ValueError: If a reduced axis is empty.

A type in parentheses after a name replaces that of the annotation, and ``Returns name (type)``
describes one of several results. The sections of numpydoc, which `help` shows, are made of the
fields, the annotations, and the descriptions that several functions share.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from inspect import CO_VARARGS, CO_VARKEYWORDS, unwrap
from types import FunctionType
from typing import Any, Final, NamedTuple

SHARED: Final = {
    ("axes", "Sequence[int] | None"): "Which axes to transform; by default all, or the last "
    "``len(s)``. One that is named twice is transformed twice.",
    ("axis", "int | tuple[int, ...] | None"): "Axes to reduce; all by default.",
    ("copy", "bool | None"): "True always copies; False never does; None copies only if it must.",
    ("descending", "bool"): "Whether the largest comes first.",
    ("dtype", "DTypeLike | None"): "Numeric; what to convert elements to first. By default "
    "floating-point dtypes stay, bool and signed integers become int64, unsigned integers uint64.",
    ("equal_nan", "bool"): "Whether NaN is close to NaN.",
    ("keepdims", "bool"): "Whether reduced axes stay, with size 1.",
    ("kernel_size", "int | tuple[int, ...]"): "Sizes of a window; as many as there are spatial "
    "axes.",
    ("n", "int | None"): "Size to crop or zero-pad the axis to; by default its own.",
    ("out", "None"): "For callers that hand on NumPy's arguments, as xarray does; an array is "
    "refused.",
    ("s", "Sequence[int] | None"): "Sizes to crop or zero-pad the axes to, -1 for an axis' own; by "
    "default their own.",
    ("size", "Size"): "The shape; None for that of the parameters.",
    ("stable", "bool"): "Whether equal elements must keep their order, in either direction.",
}
"""Descriptions of parameters by name and annotation, for docstrings that have no other one."""

_RAISED: Final[dict[object, str]] = {
    "axis": "IndexError\n    If an axis is out of range.",
    "axes": "IndexError\n    If an axis is out of range.",
    ("dtype", "DTypeLike | None"): "TypeError\n    If `dtype` is not numeric, or real for complex "
    "`x`.",
}
"""What a parameter of a name raises, or one that has a description of `SHARED`; for docstrings that
have no such error."""

_WORDS: Final = {
    "Any": "object",
    "ArrayOrScalar": "Array or scalar",
    "Callable": "callable",
    "DType": "dtype",
    "DTypeLike": "dtype",
    "Engine": '{"auto", "steps", "native"}',
    "Foreign": "object",
    "NDArray": "NumPy array",
    "Norm": '{"backward", "ortho", "forward"}',
    "Parameter": "Array or float",
    "PythonScalar": "scalar",
    "Size": "int, tuple of int or None",
    "Tree": "object",
}
"""Annotations whose names are not what users call the objects."""

_CHAPTERS: Final = {
    **dict.fromkeys(("joining", "manipulation"), "manipulation functions"),
    **dict.fromkeys(("creation", "ranges"), "creation functions"),
    "clip": "elementwise functions",
    "data_type": "data type functions",
    **{name: f"{name} functions" for name in ("indexing", "searching", "set", "sorting")},
    **{name: f"{name} functions" for name in ("statistical", "utility")},
    "linear_algebra": "linear algebra functions",
    **dict.fromkeys(("decompositions", "linalg"), "linalg extension"),
    "fft": "fft extension",
}
"""Modules of the standard's functions, with the names of the standard's chapters."""

_FIELD: Final = re.compile(
    r"(Returns(?: \w+(?:, \w+)*)?|[\w.*]+(?:, [\w.*]+)*)(?: \((.+?)\))?: ?(.*)"
)
_MARGIN: Final = re.compile(r"\n+( *)\S")
_WIDTH: Final = 96


class _Parameter(NamedTuple):
    """A parameter as a signature has it."""

    annotation: str
    is_optional: bool


def complete_docstrings(namespace: Mapping[str, object], names: Iterable[str]) -> None:
    """Complete the docstrings of functions and classes, by their names in a module or a class."""
    for name in names:
        member: Any = namespace[name]
        text = getattr(member, "__doc__", None)
        if not text or "---\n" in text:
            continue
        function = unwrap(member) if callable(member) else None
        if isinstance(member, type):
            made: Any = getattr(member, "__init__" if "__init__" in vars(member) else "__new__")
            if type(made) is FunctionType:
                member.__doc__ = completed(made, text)
        elif type(function) is FunctionType:
            text = completed(function)
            while member is not function:
                member.__doc__ = text
                member = member.__wrapped__
            function.__doc__ = text


def completed(function: FunctionType, of_class: str = "") -> str:
    """The whole docstring of a function whose docstring in the source has fields; or of the class
    that has it, if the function makes its objects."""
    text = of_class or function.__doc__ or ""
    if "---\n" in text or (function.__name__.startswith("_") and not of_class):
        return text
    # As inspect.cleandoc does it, in a tenth of the time.
    margin = _MARGIN.search(text)
    text = text.replace("\n" + margin[1], "\n").strip() if margin else text
    parameters = _parameters(function)
    paragraphs: list[str] = []
    fields: list[tuple[str, str, str]] = []
    examples: list[str] = []
    for paragraph in text.split("\n\n"):
        if examples or paragraph.startswith(_PROMPT):
            examples.append(paragraph)
        elif not fields and _is_field(paragraph, parameters):
            fields = _fields(paragraph)
        else:
            paragraphs.append(paragraph)
    result = function.__annotations__.get("return", "None")
    paragraphs += _sections(fields, parameters, result)
    if examples:
        first = "" if "import array_api_nx as xp" in examples[0] else _IMPORT
        paragraphs.append("Examples\n--------\n" + first + "\n\n".join(examples))
    package, _, module = function.__module__.rpartition(".")
    if module in _CHAPTERS and package in ("array_api_nx", "array_api_nx.frontend"):
        paragraphs.append(f"Standard: {_CHAPTERS[module]}.")
    return "\n\n".join(paragraphs)


_PROMPT: Final = ">>>"
_IMPORT: Final = f"{_PROMPT} import array_api_nx as xp\n"


def _parameters(function: FunctionType) -> dict[str, _Parameter]:
    """The annotated parameters, in order; names of collected arguments begin with stars."""
    code = function.__code__
    number = code.co_argcount + code.co_kwonlyargcount
    defaults = function.__defaults__ or ()
    positional = code.co_varnames[code.co_argcount - len(defaults) : code.co_argcount]
    given = dict(zip(positional, defaults, strict=True)) | (function.__kwdefaults__ or {})
    stars = [
        star for flag, star in ((CO_VARARGS, "*"), (CO_VARKEYWORDS, "**")) if code.co_flags & flag
    ]
    # Collected positional arguments come before parameters that are given by name.
    names = [("", name) for name in code.co_varnames[:number]]
    collected = [*zip(stars, code.co_varnames[number:], strict=False)]
    place = code.co_argcount
    first = collected[: "*" in stars]
    found = {}
    for star, name in (*names[:place], *first, *names[place:], *collected[len(first) :]):
        if function.__annotations__.get(name, "Never") != "Never":
            annotation = str(function.__annotations__[name]).replace("'", '"')
            found[star + name] = _Parameter(annotation, given.get(name, ...) is None)
    return found


def _is_field(paragraph: str, parameters: Mapping[str, object]) -> bool:
    """Whether a paragraph is that of the fields."""
    match = _FIELD.match(paragraph)
    if match is None:
        return False
    name = match[1].partition(",")[0]
    return name in parameters or name.startswith("Returns") or _is_error(name)


def _is_error(name: str) -> bool:
    return name.endswith(("Error", "Warning", "Exception"))


def _fields(paragraph: str) -> list[tuple[str, str, str]]:
    """Names, types and texts of the fields."""
    fields = []
    for part in re.split(r"\n(?=\S)", paragraph):
        match = _FIELD.match(part)
        assert match is not None, part
        text = part[match.start(3) :]
        fields.append((match[1], match[2] or "", _indented(text) if text else ""))
    return fields


def _indented(text: str) -> str:
    """Words in indented lines of at most `_WIDTH` characters."""
    if "\n" not in text and len(text) <= _WIDTH - 4:
        return f"\n    {text}"
    lines, line = "", ""
    for word in text.split():
        if line and len(line) + len(word) > _WIDTH - 5:
            lines, line = f"{lines}\n    {line}", word
        else:
            line = f"{line} {word}" if line else word
    return f"{lines}\n    {line}"


def _sections(
    fields: list[tuple[str, str, str]], parameters: dict[str, _Parameter], result: str
) -> Iterator[str]:
    """Parameters, results, errors and warnings, as numpydoc wants them."""
    described = {}
    found: dict[str, list[str]] = {"Returns": [], "Raises": [], "Warns": []}
    errors = {name for names, _, _ in fields for name in names.split(", ")}
    for names, kind, text in fields:
        first, *others = names.split(", ")
        if first in parameters:
            kinds = {kind or _type(parameters[each]) for each in (first, *others)}
            described.update(dict.fromkeys(others, ""))
            described[first] = names + (f" : {kinds.pop()}" if len(kinds) == 1 else "") + text
        elif first.startswith("Returns"):
            name = names.removeprefix("Returns").strip()
            kind = kind or _words(result)
            found["Returns"].append((f"{name} : {kind}" if name else kind) + text)
        else:
            found["Warns" if first.endswith("Warning") else "Raises"].append(names + text)
    for name, each in parameters.items():
        keys: list[object] = [name]
        if name not in described:
            keys.append((name, each.annotation))
            text = SHARED.get((name, each.annotation), "")
            described[name] = f"{name} : {_type(each)}" + (_indented(text) if text else "")
        raised = [_RAISED[key] for key in keys if key in _RAISED]
        found["Raises"] += [text for text in raised if text.partition("\n")[0] not in errors]
    if not found["Returns"] and result != "None":
        found["Returns"] = [_words(result)]
    ordered = [described[name] for name in parameters if described[name]]
    for title, entries in ({"Parameters": ordered} | found).items():
        if entries:
            yield "\n".join([title, "-" * len(title), *entries])


def _type(parameter: _Parameter) -> str:
    """The type of a parameter in words."""
    kind = _words(parameter.annotation.removesuffix(" | None"))
    if not parameter.annotation.endswith(" | None"):
        return kind
    return f"{kind}, optional" if parameter.is_optional else _listed([kind, "None"])


@cache
def _words(annotation: str) -> str:
    """An annotation in the words that numpydoc uses."""
    if annotation in _WORDS:
        return _WORDS[annotation]
    parts = _split(annotation, " | ")
    if len(parts) > 1:
        return _listed([_words(part) for part in parts])
    outer, bracket, inner = annotation.removesuffix("]").partition("[")
    if not bracket:
        return annotation
    if outer == "Literal":
        return f"{{{inner}}}"
    items = _split(inner, ", ")
    if outer == "tuple" and items[-1] != "...":
        return f"({', '.join(map(_words, items))})"
    if outer == "dict":
        return "dict of {} to {}".format(*map(_words, items))
    if outer in ("Sequence", "list", "tuple"):
        return f"{outer.lower()} of {_words(items[0])}"
    return _WORDS.get(outer, outer)


def _split(text: str, separator: str) -> list[str]:
    """`text` split where the separator is in no brackets."""
    parts = [""]
    for piece in text.split(separator):
        is_inside = parts[-1].count("[") > parts[-1].count("]")
        if is_inside:
            parts[-1] += separator + piece
        elif parts == [""]:
            parts = [piece]
        else:
            parts.append(piece)
    return parts


_ALTERNATIVES: Final = re.compile(r"(?:, | or )(?![^(]*\))")


def _listed(words: list[str]) -> str:
    """Alternatives as a list in words."""
    *others, last = [each for word in words for each in _ALTERNATIVES.split(word)]
    return f"{', '.join(others)} or {last}" if others else last
