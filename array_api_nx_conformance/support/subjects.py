"""The functions and estimators that are tried, found in the installed packages."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from . import arguments

ESTIMATORS = "sklearn estimators"
"""The section of the estimators; those of functions have their modules' names."""


@dataclass(frozen=True)
class Subject:
    """A function or estimator, and what it is called with.

    Attributes
    ----------
    section, name : str
        The module and the name there. An estimator's name may have settings in parentheses.
    target : callable
    call : str or None
        A Python expression that calls `f`, which is the target, with examples of
        ``arguments.Examples``; None if there is none for some parameter.
    parameters : tuple of str
        The names of the target's parameters, as far as they are known.
    """

    section: str
    name: str
    target: Callable[..., Any]
    call: str | None
    parameters: tuple[str, ...] = ()


def find() -> list[Subject]:
    """All that take arrays, and those of which it is not known because nothing was found to call
    them with."""
    functions = [each for section in arguments.FUNCTIONS for each in _functions(section)]
    return [*functions, *_estimators()]


def _functions(section: str) -> Iterator[Subject]:
    module = import_module(section)
    calls = arguments.FUNCTIONS[section]["calls"]
    seen: list[object] = []
    for name in sorted(_names(module)):
        try:
            target = getattr(module, name, None)
        except ImportError:  # experimental, as scikit-learn says
            continue
        is_function = isinstance(target, FunctionType | BuiltinFunctionType | np.ufunc)
        is_wrapped = callable(target) and hasattr(target, "__wrapped__")
        if name.startswith("_") or not (is_function or is_wrapped or name in calls):
            continue
        if any([target is other for other in seen]) or name in arguments.LEFT_OUT:
            continue
        seen.append(target)
        yield _function(section, name, target)


def _names(module: ModuleType) -> list[str]:
    own = [name for name, each in vars(module).items() if _module_of(each) == module.__name__]
    return list(getattr(module, "__all__", own))


def _module_of(target: object) -> str:
    return getattr(target, "__module__", None) or ""


def _function(section: str, name: str, target: Any) -> Subject:
    parameters = _parameters(target)
    call = arguments.FUNCTIONS[section]["calls"].get(name)
    if call is None:
        examples = [_example(section, each) for each in parameters if _is_required(each)]
        known = [each for each in examples if each is not None]
        call = ", ".join(known) if examples and len(known) == len(examples) else None
    if call is not None and not call.startswith("f("):
        call = f"f({call})"
    return Subject(section, name, target, call, tuple([each.name for each in parameters]))


def _parameters(target: Any) -> list[inspect.Parameter]:
    if isinstance(target, np.ufunc):
        kind = inspect.Parameter.POSITIONAL_ONLY
        return [inspect.Parameter(f"x{i}", kind) for i in range(1, target.nin + 1)]
    try:
        return list(inspect.signature(target).parameters.values())
    except (TypeError, ValueError):
        return []


def _is_required(parameter: inspect.Parameter) -> bool:
    return parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD


def _example(section: str, parameter: inspect.Parameter) -> str | None:
    prefix = "*" if parameter.kind is parameter.VAR_POSITIONAL else ""
    own = arguments.FUNCTIONS[section]["parameters"]
    found: str | None = own.get(prefix + parameter.name, arguments.COMMON.get(parameter.name))
    return found


def _estimators() -> Iterator[Subject]:
    from sklearn.utils import all_estimators

    for name, target in all_estimators():
        if name in arguments.LEFT_OUT:
            continue
        required = [each for each in _parameters(target) if _is_required(each)]
        settings = [f"{e.name}={arguments.SETTINGS.get(e.name, '?')}" for e in required]
        settings += ["random_state=0" for e in _parameters(target) if e.name == "random_state"]
        for variant in ("", *arguments.VARIANTS.get(name, ())):
            label = f"{name}({variant})" if variant else name
            call: str | None = arguments.CALLS.get(label)
            if call is None:
                made = ", ".join([*settings, *filter(None, [variant])])
                call = None if "?" in made else f"use(f({made}), {_targets(target)})"
            yield Subject(ESTIMATORS, label, target, call)


def _targets(target: Any) -> str:
    """The arguments of fit(): classes for classifiers, else numbers."""
    from sklearn.base import ClassifierMixin

    return "X, c" if issubclass(target, ClassifierMixin) else "X, y"
