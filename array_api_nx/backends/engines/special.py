"""Which function of an engine computes a ufunc of ``scipy.special``.

Engines have tables of their functions, by the name that SciPy has for the ufunc. An entry agrees
with SciPy to rounding on all of its domain, special values and the far ends included; the tables
say what was measured, and which functions of the engine are left out because they differ. What is
in no table is computed by SciPy on the host.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from inspect import unwrap
from typing import Final, TypeAlias

import numpy as np

from ...contract.ufuncs import UfuncLoop
from ...core import dtypes as d
from .common_workarounds import EngineKernel

__all__ = ["Ufuncs", "engines_function"]

Ufuncs: TypeAlias = dict[str, EngineKernel]
"""By SciPy's name. A function takes the engine's arrays, all float32 or all float64 and 0-d for
scalars, and gives one."""

_DTYPES: Final = frozenset(d.REAL_FLOATING)


def engines_function(table: Ufuncs, op: UfuncLoop) -> EngineKernel | None:
    """The engine's function for a ufunc, None if the host has to compute it."""
    function = table.get(op.name)
    if function is None or op.inputs[0] not in _DTYPES or {*op.inputs} != {*op.outputs}:
        return None
    return function if _is_of_scipy(op.ufunc) else None


@lru_cache(maxsize=256)
def _is_of_scipy(ufunc: np.ufunc) -> bool:
    """Whether a ufunc is that of its name in ``scipy.special``; others may have the same name."""
    module = sys.modules.get("scipy.special")
    # With SCIPY_ARRAY_API in the environment a function that looks at its arguments is in front.
    return unwrap(getattr(module, ufunc.__name__, _is_of_scipy)) is ufunc
