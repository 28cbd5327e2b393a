"""Failures of the suite that the standard permits.

The standard prefers ``floor_divide`` to be ``floor(x1 / x2)``, and says of six special cases with
an infinite operand that libraries may return what Python does instead. The suite tests only what
is preferred.
"""

from __future__ import annotations

import re

from .functions import is_special_case

_FUNCTIONS = ("floor_divide", "__floordiv__")
_NAN = re.compile(r"\bnan\b", re.IGNORECASE)
_MINUS_ONE = re.compile(r"-1(\.0*)?(?![\d.])")
# The condition, as in the test's id, and the value that the standard permits.
_PERMITTED = {
    "x1_i is +infinity and isfinite(x2_i) and x2_i > 0": ("NaN", _NAN),
    "x1_i is +infinity and isfinite(x2_i) and x2_i < 0": ("NaN", _NAN),
    "x1_i is -infinity and isfinite(x2_i) and x2_i > 0": ("NaN", _NAN),
    "x1_i is -infinity and isfinite(x2_i) and x2_i < 0": ("NaN", _NAN),
    "isfinite(x1_i) and x1_i > 0 and x2_i is -infinity": ("-1.0", _MINUS_ONE),
    "isfinite(x1_i) and x1_i < 0 and x2_i is +infinity": ("-1.0", _MINUS_ONE),
}
_GOT = re.compile(r"(?:out|x1)=(.*), but should be")
_CONDITION = re.compile(r"\[\w+\((.*)\) -> [^\]]*\]$")


def permitted(test: str, function: str, message: str) -> str:
    """Why the standard permits a failure; empty if it does not.

    Parameters
    ----------
    test : str
        The test's id, which has the special case.
    function : str
        The function that the test is about.
    message : str
        The failure's message, which has the value that the function returned.
    """
    condition, got = _CONDITION.search(test), _GOT.search(message)
    if function not in _FUNCTIONS or not is_special_case(test) or not condition or not got:
        return ""
    value, pattern = _PERMITTED.get(condition[1], ("", None))
    if pattern is None or not pattern.search(got[1]):
        return ""
    return f"floor_divide: the standard says that libraries may return {value} here, as Python does"
