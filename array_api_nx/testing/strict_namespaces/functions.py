"""The functions of strict namespaces: checks by the table of signatures, then the function of ours.

No function computes anything by itself. Its parameters and results are known when its namespace is
made; a call looks at the types of its arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core import dtypes as d
from ...frontend.annotations import Foreign
from ...frontend.array import Array
from .arguments import check_of, words_of
from .array import StrictArray
from .dtypes import SCALARS, STRICT, Group, group_of
from .errors import Section
from .operands import ANY, check_devices, check_kinds, check_pair, check_scalar
from .operators import PYTHON_SCALARS
from .rules import RULES, StrictCall
from .signatures import ELEMENTWISE, PROMOTED, Function
from .versions import lacks

if TYPE_CHECKING:
    from .policy import Policy

_new = object.__new__


def signature_of(function: Function, version: str) -> Signature:
    """The signature of a function in a version of the standard."""
    given = function.signature.parameters.values()
    return Signature([p for p in given if not lacks(version, f"{function.name}.{p.name}")])


def wrapper_of(own: type[StrictArray]) -> Callable[[object], object]:
    """What turns results of ours into those of the namespace whose arrays are `own`."""

    def wrap(result: Any) -> object:
        kind = type(result)
        if kind is Array:
            if result._dtype not in STRICT:
                raise Section("Data Types").refuse(
                    TypeError,
                    f"an array of {result._dtype}, a dtype beyond the standard",
                    'convert it before, as with x.astype("float32")',
                )
            made = _new(own)
            made._array = result
            return made
        if isinstance(result, np.dtype):
            return STRICT[result]
        if kind is tuple or kind is list:
            return kind([wrap(each) for each in result])
        if isinstance(result, tuple):  # with names
            return kind(*[wrap(each) for each in result])
        return result

    return wrap


def function_of(
    function: Function, policy: Policy, own: type[StrictArray]
) -> Callable[..., object]:
    """The function of a strict namespace with the arrays `own`."""
    version = policy.version
    signature = signature_of(function, version)
    kinds = [words_of(function, name, version) for name in signature.parameters]
    short = function.name.rpartition(".")[2]
    rule = RULES.get(short)
    elementwise = function.chapter == ELEMENTWISE and rule is None
    if elementwise and len(kinds) == 2:
        made = _of_two(function, signature, policy, own)
    elif elementwise and len(kinds) == 1:
        made = _of_one(function, signature, policy, own)
    else:
        made = _of_many(function, signature, policy, own)
    made.__name__ = made.__qualname__ = short
    made.__module__ = f"{policy.name}.{function.name}".rpartition(".")[0]
    made.__doc__ = function.target.__doc__
    vars(made)["__signature__"] = _shown(signature)
    return made


def _shown(signature: Signature) -> Signature:
    """A signature without the words of the table."""
    given = signature.parameters.values()
    return Signature([p.replace(annotation=Parameter.empty) for p in given])


def _misused(
    function: Function,
    signature: Signature,
    args: tuple[object, ...],
    kwargs: dict[str, object],
    version: str,
) -> None:
    """TypeError for arguments that do not fit the signature; nothing if they do."""
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        instead = f"the signature is {function.name}{_shown(signature)}"
        for name in kwargs:
            if name not in signature.parameters and name in function.signature.parameters:
                instead += f"; {name}= came with a later version than {version}"
        if len(args) > len(_by_position(signature)):
            keywords = [p.name for p in signature.parameters.values() if p.kind is p.KEYWORD_ONLY]
            if keywords:
                instead = f"name the argument, as in {function.name}(x, {keywords[0]}=...)"
        raise Section(function.chapter).refuse(
            TypeError, f"{function.name}: {error}", instead
        ) from None


def _by_position(signature: Signature) -> list[Parameter]:
    by_position = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    return [p for p in signature.parameters.values() if p.kind in by_position]


def _of_one(
    function: Function,
    signature: Signature,
    policy: Policy,
    own: type[StrictArray],
) -> Callable[..., object]:
    """A function of one array, element by element."""
    target = function.target
    check = check_of(function, "x", policy, own)
    assert check is not None
    dtypes = group_of(words_of(function, "x", policy.version)[0]).dtypes

    def call(*args: object, **kwargs: object) -> object:
        if kwargs or len(args) != 1:
            _misused(function, signature, args, kwargs, policy.version)
        (x,) = args
        if type(x) is own and x._array.dtype in dtypes:
            array = x._array
        else:
            array = check(x)
        result = _new(own)
        result._array = target(array)
        return result

    return call


def _of_two(
    function: Function,
    signature: Signature,
    policy: Policy,
    own: type[StrictArray],
) -> Callable[..., object]:
    """A function of two arrays, or an array and a scalar, element by element."""
    version = policy.version
    target = function.target
    first_check = check_of(function, "x1", policy, own) or _as_is
    second_check = check_of(function, "x2", policy, own) or _as_is
    # Scalars that always fit: whether an int does depends on its value.
    plain_floats = {dtype: scalars - {int} for dtype, scalars in SCALARS.items()}
    group = group_of(words_of(function, "x1", version)[0])
    pairs = group.pairs

    def call(*args: object, **kwargs: object) -> object:
        if kwargs or len(args) != 2:
            _misused(function, signature, args, kwargs, version)
        x1, x2 = args
        first: Any
        second: Any
        if type(x1) is own and type(x2) is own:
            first = x1._array
            second = x2._array
            if (first.dtype, second.dtype) not in pairs or first.device != second.device:
                check_pair(function.name, group, (first, second))
        else:
            first = first_check(x1)
            second = second_check(x2)
            if type(first) is not Array or type(second) not in plain_floats[first.dtype]:
                _check_together(function, group, (first, second), version)
        result = _new(own)
        result._array = target(first, second)
        return result

    return call


def _check_together(function: Function, group: Group, given: Sequence[Any], version: str) -> None:
    """Whether arrays and Python scalars go together: dtypes, devices, kinds of scalars."""
    arrays = [each for each in given if type(each) is Array]
    if not arrays:
        raise Section(function.chapter).refuse(
            TypeError,
            f"{function.name} of scalars alone; at least one must be an array",
            "make one an array: xp.asarray(value)",
        )
    check_kinds(function.name, [array.dtype for array in arrays])
    check_devices(function.name, arrays)
    dtype = d.promote(*[array.dtype for array in arrays])
    for each in given:
        if type(each) in PYTHON_SCALARS:
            check_scalar(function.name, dtype, each, version, group)


def _of_many(
    function: Function,
    signature: Signature,
    policy: Policy,
    own: type[StrictArray],
) -> Callable[..., object]:
    """Any other function."""
    version = policy.version
    target = function.target
    short = function.name.rpartition(".")[2]
    parameters = signature.parameters
    checks = {name: check_of(function, name, policy, own) or _as_is for name in parameters}
    by_position = _by_position(signature)
    positional = [checks[p.name] for p in by_position]
    needed = len([p for p in by_position if p.default is Parameter.empty])
    most = len(positional)
    variadic = [p.name for p in parameters.values() if p.kind is Parameter.VAR_POSITIONAL]
    each_of = checks[variadic[0]] if variadic else None
    named = {
        p.name: checks[p.name]
        for p in parameters.values()
        if p.kind in (Parameter.KEYWORD_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    }
    words = {name: words_of(function, name, version) for name in parameters}
    of_arrays = [n for n, said in words.items() if any(w.startswith("array") for w in said)]
    promoted = PROMOTED.get(short, ())
    group = group_of(words[promoted[-1]][0]) if promoted else ANY
    names = [p.name for p in by_position]
    # The keywords that may follow so many arguments by position.
    allowed = [named.keys() - set(names[:count]) for count in range(most + 1)]
    rule = RULES.get(short)
    wrap = wrapper_of(own)

    def call(*args: object, **kwargs: object) -> object:
        count = len(args)
        if (
            count < needed
            or (count > most and each_of is None)
            or (kwargs and not kwargs.keys() <= allowed[count if each_of is None else 0])
        ):
            _misused(function, signature, args, kwargs, version)
        given: list[Any]
        if each_of is None:
            given = [check(value) for check, value in zip(positional, args, strict=False)]
        else:
            given = [each_of(value) for value in args]
        for name, value in kwargs.items():
            kwargs[name] = named[name](value)
        if relate is not None:
            relate(given, kwargs)
        if rule is not None:
            ruled = StrictCall(policy, own, target, given, kwargs)
            result = rule(ruled)
            return wrap(ruled.compute() if result is None else result)
        return wrap(target(*given, **kwargs))

    def together(given: list[Any], kwargs: dict[str, Any]) -> None:
        """Whether the arrays among named arguments go together."""
        said = dict(zip(names, given, strict=False)) | kwargs
        arrays = [each for each in said.values() if type(each) is Array]
        if len(arrays) > 1:
            check_devices(function.name, arrays)
        if promoted:
            them = [said[name] for name in promoted if said.get(name) is not None]
            _check_together(function, group, them, version)

    def listed(given: list[Any], kwargs: dict[str, Any]) -> None:
        """Whether the arrays of a sequence go together."""
        arrays = given[0]
        if arrays:
            check_kinds(function.name, [array.dtype for array in arrays])
            check_devices(function.name, arrays)

    def all_of(given: list[Any], kwargs: dict[str, Any]) -> None:
        """Whether all arguments are on one device."""
        if given and type(given[0]) is Array:
            check_devices(function.name, given)

    relate: Callable[[list[Any], dict[str, Any]], None] | None = None
    if ("arrays",) in words.values():
        relate = listed
    elif variadic:
        relate = all_of
    elif len(of_arrays) > 1:
        relate = together
    return call


def _as_is(value: Foreign) -> Foreign:
    return value
