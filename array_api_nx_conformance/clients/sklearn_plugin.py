"""A pytest plugin: scikit-learn's tests that are parametrised over namespaces get this one.

scikit-learn lists the namespaces in three functions. The replacements name the namespace alone,
with scikit-learn's own devices and dtypes if it knows the namespace, else with the default device
and both floating-point dtypes. For inputs that mix namespaces, they pair it with NumPy and with
array-api-strict. It is never array-api-strict that computes, nor is it in scikit-learn's own list:
it refuses integers with floats, which the metrics need.
"""

from __future__ import annotations

import os
import pkgutil
from collections.abc import Iterator
from functools import partial
from types import ModuleType
from typing import Any

import pytest

_STRICT = "array_api_strict"


def pytest_configure() -> None:
    """Replace the lists, before the test modules read them."""
    _replace(pkgutil.resolve_name("sklearn.utils._array_api"), os.environ["ARRAY_API_TESTS_MODULE"])


def _replace(module: Any, name: str) -> None:
    listed_namespaces = module.yield_namespaces
    listed_combinations = module.yield_namespace_device_dtype_combinations
    known = name in listed_namespaces()
    device = _device(pkgutil.resolve_name(name))
    pair = module.NamespaceAndDevice

    def namespaces(include_numpy_namespaces: bool = True) -> Iterator[str]:
        if not known or name in listed_namespaces(include_numpy_namespaces):
            yield name

    def combinations(
        include_numpy_namespaces: bool = True,
    ) -> Iterator[tuple[str, str | None, str | None]]:
        if known:
            for each in listed_combinations(include_numpy_namespaces):
                if each[0] == name:
                    yield each
        else:
            yield name, None, None
            yield name, device, "float64"
            yield name, device, "float32"

    def mixed() -> Iterator[tuple[object, object, str]]:
        for one, other in ((name, "numpy"), ("numpy", name), (_STRICT, name)):
            if one != other:
                yield (
                    pair(one, "device1" if one == _STRICT else None),
                    pair(other, None),
                    f"{one} to {other}",
                )

    module.yield_namespaces = namespaces
    module.yield_namespace_device_dtype_combinations = combinations
    module.yield_mixed_namespace_input_permutations = mixed


def _device(namespace: ModuleType) -> str | None:
    """The default device's name, if the namespace takes one in place of a device."""
    try:
        name = str(namespace.__array_namespace_info__().default_device())
        namespace.empty(0, device=name)
    except Exception:  # whatever the namespace raises: it takes none
        return None
    return name


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out the tests that do not use the namespace."""
    name = os.environ["ARRAY_API_TESTS_MODULE"]
    items[:] = [item for item in items if _mentions(_parameters(item), name)]


def _parameters(item: pytest.Item) -> list[object]:
    call = getattr(item, "callspec", None)
    return list(call.params.values()) if call is not None else []


def _mentions(value: object, name: str) -> bool:
    """Whether the namespace's name is in a test's parameters, or in those of a partial check."""
    if isinstance(value, partial):
        return _mentions([value.func, *value.args, *value.keywords.values()], name)
    if isinstance(value, list | tuple):
        return any(_mentions(each, name) for each in value)
    return isinstance(value, str) and value == name
