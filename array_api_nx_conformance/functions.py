"""Which function of the standard a test of the suite is about."""

from __future__ import annotations

import re
from collections.abc import Container

from .draft import FOLDER as DRAFT_TESTS
from .suite import TESTS

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_IN_PLACE = re.compile(r"__i(?!nvert)(\w+)__")  # the standard has no names for in-place operators
# Tests whose names do not begin with the function's.
_IRREGULAR = {
    "getitem": "__getitem__",
    "setitem": "__setitem__",
    "dlpack_device": "__dlpack_device__",
    "dunder_dlpack": "__dlpack__",
    "capabilities": "info.capabilities",
    "devices": "info.devices",
    "default_dtypes": "info.default_dtypes",
    "array_namespace_info_dtypes": "info.dtypes",
}
_CLASSES = {"TestBroadcastShapes": "broadcast_shapes", "TestResultType": "result_type"}
_NAMES = "test_has_names.py"
_SIGNATURES = "test_signatures.py"
SPECIAL_CASES = "test_special_cases.py"


def is_about_behaviour(test: str) -> bool:
    """Whether the test calls the function, rather than look at its name or signature."""
    return _file(test) not in (_NAMES, _SIGNATURES)


def is_special_case(test: str) -> bool:
    """Whether the test is about one of the standard's special cases."""
    return _file(test) == SPECIAL_CASES


def function_of(test: str, functions: Container[str]) -> str:
    """The function that a test is about; the test's own name where that is none of `functions`.

    Parameters
    ----------
    test : str
        The test's id, ``array_api_tests/test_linalg.py::test_cross``.
    functions : container of str
        The standard's names, as in `standard.Standard`.
    """
    file, _, rest = _without_folder(test).partition("::")
    path, _, parameter = rest.partition("[")
    *owners, name = path.split("::")
    name = name.removeprefix("test_")
    parameter = parameter.removesuffix("]")
    if file == _NAMES:
        chapter, _, parameter = parameter.partition("-")
        qualified = f"{chapter}.{parameter}"
        return qualified if qualified in functions else parameter
    if name == "info_func_signature":
        return f"info.{parameter}"
    if parameter in functions:
        return parameter
    extension = file.removeprefix("test_").removesuffix(".py")
    leading = _IDENTIFIER.match(parameter)
    candidates = [leading[0], _IN_PLACE.sub(r"__\1__", leading[0])] if leading else []
    candidates += [_CLASSES[owner] for owner in owners if owner in _CLASSES]
    # test_linalg_matmul is about linalg.matmul, test_matmul about matmul itself.
    candidates += _prefixes(name.removeprefix(f"{extension}_")) if name != extension else [name]
    qualify_first = name.startswith(f"{extension}_")
    for candidate in candidates:
        forms = [candidate, f"{extension}.{candidate}"]
        for form in reversed(forms) if qualify_first else forms:
            if form in functions:
                return form
        if candidate in _IRREGULAR:
            return _IRREGULAR[candidate]
    return name or rest or file


def _file(test: str) -> str:
    return _without_folder(test).partition("::")[0]


def _without_folder(test: str) -> str:
    return test.removeprefix(f"{TESTS}/").removeprefix(f"{DRAFT_TESTS}/")


def _prefixes(name: str) -> list[str]:
    """``a_b_c``, ``a_b``, ``a``: the longest first."""
    parts = name.split("_")
    return ["_".join(parts[:count]) for count in range(len(parts), 0, -1)]
