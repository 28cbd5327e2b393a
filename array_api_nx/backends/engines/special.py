"""Which function of an engine computes a ufunc of ``scipy.special``.

The rows of ``primitives.special_functions`` name the engines whose function agrees with SciPy's to
rounding on all of its domain, special values and the far ends included. The modules of the engines
have the measurements, and list the other functions, which SciPy computes on the host.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from inspect import unwrap
from types import ModuleType
from typing import Final, TypeAlias

import numpy as np

from ...contract.ufuncs import UfuncLoop
from ...core import dtypes as d
from ...primitives.special_functions import ROWS
from .engine_kernels import EngineKernel

Ufuncs: TypeAlias = dict[str, EngineKernel]
"""By SciPy's name. A function takes the engine's arrays, all of one precision and 0-d for
scalars, and gives one."""

_DTYPES: Final = frozenset(d.REAL_FLOATING)


def of_rows(engine: str, module: ModuleType, others: Ufuncs) -> Ufuncs:
    """The functions of an engine that rows name: `others`, or those of that name in `module`."""
    return {
        row.name: others.get(row.name) or getattr(module, row.name)
        for row in ROWS
        if engine in row.engines
    }


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
