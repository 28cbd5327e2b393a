"""Arrays where pandas takes no others than NumPy's: as masks, as groups, and beside tables.

pandas asks whether an array is NumPy's. It takes another one for a list of labels where it is a
key, for positions where it is a mask, for a function where it says the groups, and for a list of
columns where it has two axes. Here it is given NumPy's arrays over the same memory. This module is
imported after pandas, wherever that is imported, before this package or after it; never without
pandas.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Final

import numpy as np
import pandas
from pandas.core import common

_METHODS: Final = {
    pandas.DataFrame: """__add__ __and__ __eq__ __floordiv__ __ge__ __gt__ __le__ __lt__ __mod__
        __mul__ __ne__ __or__ __pow__ __sub__ __truediv__ __xor__ add clip div divide eq floordiv
        ge groupby gt isin le lt merge mod mul multiply ne pow radd rdiv rfloordiv rmod rmul rpow
        rsub rtruediv set_index sub subtract truediv""",
    pandas.Series: "groupby isin",
    pandas.Index: "isin",
    pandas.Categorical: "__init__",
    pandas: "factorize merge unique",
}
"""The methods of classes, and functions of the module, that look for NumPy's arrays."""

_MOST_KEYS: Final = 64
"""The most items of a list among which there may be arrays: longer ones are labels."""


def _numpys(x: Any) -> Any:
    """`x` with NumPy's arrays in place of ours, also in a tuple or a list."""
    kind = type(x)
    if kind is tuple or kind is list:
        return kind([_numpys(each) for each in x]) if len(x) <= _MOST_KEYS else x
    # Arrays of both namespaces have a handle.
    return np.asarray(x) if hasattr(kind, "_handle") else x


def _with_numpys(function: Callable[..., Any]) -> Callable[..., Any]:
    """A method or function of pandas that is given NumPy's arrays for ours."""

    def call(*args: Any, **named: Any) -> Any:
        args = tuple([_numpys(x) for x in args])
        return function(*args, **{name: _numpys(x) for name, x in named.items()})

    # Warnings of pandas name the first line outside of its files, which is to be the caller's.
    place = function.__code__
    call.__code__ = call.__code__.replace(
        co_filename=place.co_filename, co_firstlineno=place.co_firstlineno
    )
    return wraps(function)(call)


_apply_if_callable: Final = common.apply_if_callable


def _key(x: Any, pandas_object: Any, **named: Any) -> Any:
    """What pandas looks up for a key, or takes for an argument of `where` and `mask`."""
    kind = type(x)
    if kind is str or kind is int:
        return x
    if hasattr(kind, "_handle"):
        return np.asarray(x)
    return _apply_if_callable(x, pandas_object, **named)


common.apply_if_callable = _key
for _owner, _names in _METHODS.items():
    for _name in _names.split():
        setattr(_owner, _name, _with_numpys(getattr(_owner, _name)))
