"""A test file: the calls of `consumers`, on the namespace and on NumPy, which is the judge.

A call that fails on NumPy, as for lack of another package, is skipped, and so are the consumers
that are not installed.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
from types import ModuleType

import numpy as np
import pytest

from .agreement import Call, agree
from .consumers import PACKAGES, Consumer


def calls_of(consumer: Consumer) -> ModuleType:
    """The module with the calls of a consumer."""
    return importlib.import_module(f".consumers.{consumer.calls}", __package__)


def _parameters() -> list[object]:
    found: list[object] = []
    for consumer in PACKAGES.values():
        try:
            module = calls_of(consumer)
        except ImportError as error:
            reason = f"not installed: {error}"
            marks = pytest.mark.skip(reason=reason)
            found.append(pytest.param(None, None, id=f"{consumer.name}: *", marks=marks))
            continue
        found += [
            pytest.param(module, call, id=f"{consumer.name}: {call}") for call in module.CALLS
        ]
    return found


@pytest.mark.parametrize(("module", "name"), _parameters())
def test_agrees(module: ModuleType, name: str) -> None:
    call: Call = module.CALLS[name]
    unwrap = getattr(module, "unwrap", lambda value: value)
    with np.errstate(all="ignore"):
        try:
            expected = unwrap(call(np))
        except Exception as error:  # whatever the consumer raises
            pytest.skip(f"NumPy itself: {type(error).__name__}: {error}")
        xp = pkgutil.resolve_name(os.environ["ARRAY_API_TESTS_MODULE"])
        agree(unwrap(call(xp)), expected, xp)
