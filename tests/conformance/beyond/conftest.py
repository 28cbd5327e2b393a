"""Namespaces like NumPy, with mistakes."""

import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from array_api_nx_conformance.beyond.subject import Subject

Faulty = Callable[..., Subject]


@pytest.fixture
def faulty(monkeypatch: pytest.MonkeyPatch) -> Faulty:
    """Makes a namespace of NumPy's functions, but for those given; ``linalg_det`` is of linalg."""

    def make(**functions: Callable[..., Any]) -> Subject:
        module = ModuleType("faulty_numpy")
        module.__dict__.update({name: getattr(np, name) for name in np.__all__})
        module.__dict__["linalg"] = SimpleNamespace(**vars(np.linalg))
        for name, function in functions.items():
            owner, _, inner = name.partition("_")
            if owner == "linalg":
                setattr(module.__dict__["linalg"], inner, function)
            else:
                module.__dict__[name] = function
        monkeypatch.setitem(sys.modules, "faulty_numpy", module)
        return Subject("faulty_numpy")

    return make


def outcomes(findings: list[Any], outcome: str) -> set[str]:
    """The functions of findings of an outcome."""
    return {each.function for each in findings if getattr(each, "outcome", "") == outcome}
