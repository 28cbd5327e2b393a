"""What a call gives: a result with its warnings, or an exception."""

import warnings
from collections.abc import Callable
from typing import Any


def outcome(function: Callable[..., Any], *args: Any, **named: Any) -> tuple[Any, Any]:
    """The result and the warnings, by class and text; or the class of the exception, and None."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        try:
            result = function(*args, **named)
        except Exception as error:
            return type(error), None
    return result, {(each.category, str(each.message)) for each in found}
