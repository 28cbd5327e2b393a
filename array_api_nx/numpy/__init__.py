"""NumPy's names on arrays of ours: ``import array_api_nx.numpy as np``.

A program that uses NumPy's public functions on boolean, integer, float32, float64 and complex
arrays runs with only its import changed (docs/how-to/from-numpy-in-one-word.md has what is
promised, and what is not).
"""

from __future__ import annotations

import sys as _sys
from functools import partial as _partial
from importlib import import_module as _import_module
from typing import Any

import numpy as _numpy

from ..frontend.on_import import when_imported as _when_imported
from . import methods as _methods  # noqa: F401 - it attaches the methods of arrays
from .arrays import ndarray as ndarray
from .names import Face as _Face
from .names import faced as _faced
from .ufuncs import ufunc as ufunc

__all__ = [*_numpy.__all__]  # noqa: PLE0604 - a list of NumPy's names


def __getattr__(name: str) -> Any:
    value = globals()[name] = _faced(name, getattr(_numpy, name))
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *globals()})


_sys.modules[__name__].__class__ = _Face

for _name in ("numba", "torch"):
    _when_imported(_name, _partial(_import_module, f".{_name}_support", __name__))
