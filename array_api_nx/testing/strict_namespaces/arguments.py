"""From the words of the table of signatures to checks of arguments.

A check takes an argument and returns the one for the function of ours: the array
inside a strict one, the dtype behind a strict one, most others as they are.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from types import NoneType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ...frontend.array import Array
from .array import StrictArray, check_device
from .dtypes import PLAIN, StrictDType, group_of
from .errors import Section
from .operands import check_dtype, described, foreign
from .versions import NARROWER, widened_in

if TYPE_CHECKING:
    from .policy import Policy
    from .signatures import Function

Check = Callable[[Any], Any]

_EXACT: Final[dict[str, tuple[type, ...]]] = {
    "None": (NoneType,),
    "bool": (bool,),
    "complex": (int, float, complex),
    "float": (int, float),
    "int": (int,),
    "scalar": (bool, int, float, complex),
    "str": (str,),
}

_SAID: Final = {
    "None": "None",
    "arrays": "a tuple or list of arrays",
    "bool": "a bool",
    "complex": "a number",
    "device": "a device",
    "dtype": "a dtype",
    "float": "an int or a float",
    "int": "an int",
    "ints": "a tuple of ints",
    "scalar": "a Python scalar",
    "sequence": "a tuple or list of ints",
    "str": "a string",
}


def words_of(function: Function, parameter: str, version: str) -> tuple[str, ...]:
    """The words for an argument in a version of the standard."""
    place = f"{function.name}.{parameter}"
    words = []
    for word in function.words(parameter):
        if version < widened_in(place, word):
            continue
        for (where, what), narrower in NARROWER.items():
            if where == place and version < widened_in(place, what):
                word = f"array[{narrower}]"
        words.append(word)
    return tuple(words)


def check_of(
    function: Function, parameter: str, policy: Policy, own: type[StrictArray]
) -> Check | None:
    """The check of one argument; None if the function itself decides."""
    version = policy.version
    words = words_of(function, parameter, version)
    if words == ("unchecked",):
        return None
    where = function.name
    exact = frozenset([kind for word in words for kind in _EXACT.get(word, ())])
    groups = [group_of(word) for word in words if word.startswith("array[")]
    group = groups[0] if groups else None
    dtypes = group.dtypes if group else frozenset()
    tuples = (tuple, list) if policy.lists else (tuple,)

    def slowly(value: Any) -> Any:
        """The argument, if it is of a kind that is seldom or not quickly told; else an error."""
        if type(value) is own and group is not None:
            check_dtype(where, group, value._array.dtype)
            return value._array
        if "dtype" in words and type(value) is StrictDType:
            return PLAIN[value]
        if "device" in words and value is not None:
            return check_device(where, value)
        if "arrays" in words and isinstance(value, tuple | list):
            return type(value)([_array_in(where, each, own) for each in value])
        if isinstance(value, tuples) and ("ints" in words or "sequence" in words):
            return tuple([_index(where, parameter, each) for each in value])
        if isinstance(value, list) and "sequence" in words:
            return [_index(where, parameter, each) for each in value]
        if "bool" in words and isinstance(value, np.bool_):
            return bool(value)
        if "int" in words and _is_index(value):
            return operator.index(value)
        if not isinstance(value, bool) and ("float" in words or "complex" in words):
            if isinstance(value, int | float) or _is_index(value):
                return value
            if "complex" in words and isinstance(value, complex):
                return value
        raise _misfit(function, parameter, words, value, version)

    if not exact and group is None:
        return slowly

    def check(value: Any) -> Any:
        kind = type(value)
        if kind is own:
            array = value._array
            if array.dtype in dtypes:
                return array
        elif kind in exact:
            return value
        return slowly(value)

    return check


def _array_in(where: str, value: object, own: type[StrictArray]) -> Array:
    if type(value) is own:
        return value._array
    raise foreign(where, value)


def _is_index(value: object) -> bool:
    return hasattr(type(value), "__index__") and not isinstance(
        value, bool | np.ndarray | StrictArray | Array
    )


def _index(where: str, parameter: str, value: Any) -> int:
    if type(value) is int:
        return value
    if _is_index(value):
        return operator.index(value)
    raise Section("Function and method signatures").refuse(
        TypeError,
        f"{where}: {described(value)} in {parameter}; it holds ints",
        f"convert it: int({'x' if isinstance(value, StrictArray) else 'value'})",
    )


def _misfit(
    function: Function, parameter: str, words: tuple[str, ...], value: object, version: str
) -> Exception:
    said = [
        ("an array" if word == "array[any]" else f"an array of a {group_of(word).words} dtype")
        if word.startswith("array[")
        else _SAID[word]
        for word in words
    ]
    rule = f"{function.name}: {parameter} is {described(value)}, not {' or '.join(said)}"
    place = f"{function.name}.{parameter}"
    wanted = set(function.words(parameter)) - set(words)
    if "scalar" in wanted and type(value) in _EXACT["scalar"]:
        rule += f" in {version} (scalars came with {widened_in(place, 'scalar')})"
    if "ints" in wanted and isinstance(value, tuple):
        rule += f" in {version} (tuples came with {widened_in(place, 'ints')})"
    # A wrong dtype= is an unknown value, whatever its type.
    kind = ValueError if words == ("dtype", "None") else TypeError
    return Section(function.chapter).refuse(kind, rule, _instead(words, parameter, value))


def _instead(words: tuple[str, ...], parameter: str, value: object) -> str:
    takes_arrays = any(word.startswith("array[") for word in words)
    if isinstance(value, StrictArray | Array) and takes_arrays:
        return "keep to the arrays of one namespace, or convert with xp.from_dlpack(x)"
    if isinstance(value, StrictArray):
        kind = "float" if "float" in words or "complex" in words else "int"
        return f"convert it, if it is one number: {kind}(x)"
    if "dtype" in words:
        name = str(getattr(value, "name", getattr(value, "__name__", value))).rpartition(".")[2]
        name = {"bool": "bool", "int": "int64", "float": "float64", "complex": "complex128"}.get(
            name, name
        )
        known = name in {str(each) for each in PLAIN}
        return f"use xp.{name}" if known else "use a dtype of the namespace, such as xp.float64"
    if takes_arrays:
        if type(value) in _EXACT["scalar"]:
            return f"make it an array: xp.asarray({value!r}, dtype=x.dtype)"
        return "convert it: xp.asarray(values)"
    if isinstance(value, list):
        return f"use tuple({parameter})"
    if "ints" in words and "int" not in words:
        return f"use {parameter}=({value},)" if isinstance(value, int) else "use a tuple of ints"
    return f"convert it: {words[0]}(...)" if words[0] in _EXACT else f"use {_SAID[words[0]]}"
