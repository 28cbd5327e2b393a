"""What a call gives: a result with its warnings, or an exception."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy

import array_api_nx.numpy as np


def outcome(function: Callable[..., Any], *args: Any, **named: Any) -> tuple[Any, Any]:
    """The result and the warnings, by class and text; or the class of the exception, and None."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        try:
            result = function(*args, **named)
        except Exception as error:
            return type(error), None
    return result, {(each.category, str(each.message)) for each in found}


def alike(name: str, x: Any, *args: Any, **named: Any) -> tuple[Any, Any] | None:
    """The results of a function of the face and of NumPy's; or None if both raise one exception.

    They must be alike: in elements, dtype, shape, whether they are arrays, and the warnings.
    """
    ours = [np.asarray(each) if type(each) is numpy.ndarray else each for each in (x, *args)]
    expected, known = outcome(getattr(numpy, name), x, *args, **named)
    found, warned = outcome(getattr(np, name), *ours, **named)
    if isinstance(expected, type):
        assert found is expected
        return None
    assert warned == known
    assert (type(found) is np.ndarray) == (type(expected) is numpy.ndarray)
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    numpy.testing.assert_array_equal(numpy.asarray(found), expected)
    return found, expected
