"""A test file: calls of array-api-extra's functions, on the namespace and on NumPy.

On NumPy, array-api-extra mostly hands over to NumPy's own function, so that NumPy is the judge.
"""

from __future__ import annotations

import importlib.util
import os
import pkgutil
from collections.abc import Callable
from types import ModuleType
from typing import TypeAlias

import numpy as np
import pytest

from .agreement import Namespace, Value, agree
from .packages import EXTRA_PACKAGES

Call: TypeAlias = Callable[[Namespace, Namespace], Value]


def _package() -> ModuleType:
    names = [name for name in EXTRA_PACKAGES if importlib.util.find_spec(name.partition(".")[0])]
    package: ModuleType = pkgutil.resolve_name(names[0])
    return package


def _table(xp: Namespace) -> Value:
    return xp.asarray([[3.0, -1.0, 2.5], [0.0, 4.0, -2.0]])


def _holes(xp: Namespace) -> Value:
    return xp.asarray([[1.0, xp.nan, 3.0], [xp.nan, xp.nan, 2.0]])


def _ints(xp: Namespace) -> Value:
    return xp.asarray([5, 2, 2, 9, 0])


def _complex(xp: Namespace) -> Value:
    return xp.asarray([1.0 + 1j, -2.0j, -3.0 + 0j])


def _at(operation: str, value: float) -> Call:
    return lambda xpx, xp: getattr(xpx.at(_table(xp))[1, :], operation)(value)


# The name of the function, and what is special about the call.
CALLS: dict[str, Call] = {
    "angle": lambda xpx, xp: xpx.angle(_complex(xp)),
    "angle degrees": lambda xpx, xp: xpx.angle(_complex(xp), deg=True),
    "apply_where": lambda xpx, xp: xpx.apply_where(
        _table(xp) > 0, _table(xp), lambda x: 1 / x, lambda x: x * 2
    ),
    "apply_where fill": lambda xpx, xp: xpx.apply_where(
        _table(xp) > 0, (_table(xp), _table(xp)), lambda x, y: x / y, fill_value=-1.0
    ),
    "argpartition": lambda xpx, xp: xp.take(
        _ints(xp), xpx.argpartition(_ints(xp), 3, xp=xp)[3:4], axis=0
    ),
    "at set": _at("set", 7.0),
    "at add": _at("add", 2.0),
    "at subtract": _at("subtract", 2.0),
    "at multiply": _at("multiply", 2.0),
    "at divide": _at("divide", 2.0),
    "at power": _at("power", 2.0),
    "at min": _at("min", 1.0),
    "at max": _at("max", 1.0),
    "at mask": lambda xpx, xp: xpx.at(_table(xp), _table(xp) < 0).set(0.0),
    "at copy": lambda xpx, xp: xpx.at(_ints(xp))[1:3].add(10, copy=True),
    "atleast_nd": lambda xpx, xp: xpx.atleast_nd(_ints(xp), ndim=3),
    "atleast_nd 0-D": lambda xpx, xp: xpx.atleast_nd(xp.asarray(1.0), ndim=1),
    "broadcast_shapes": lambda xpx, xp: xpx.broadcast_shapes((2, 1), (1, 3), (3,)),
    "cov": lambda xpx, xp: xpx.cov(_table(xp)),
    "cov 1-D": lambda xpx, xp: xpx.cov(xp.asarray([1.0, 2.0, 4.0])),
    "cov complex": lambda xpx, xp: xpx.cov(xp.stack([_complex(xp), 2 * _complex(xp) + 1j])),
    "create_diagonal": lambda xpx, xp: xpx.create_diagonal(_ints(xp)),
    "create_diagonal offset": lambda xpx, xp: xpx.create_diagonal(_table(xp)[0, :], offset=-2),
    "default_dtype": lambda xpx, xp: xpx.default_dtype(xp),
    "default_dtype integral": lambda xpx, xp: xpx.default_dtype(xp, "integral"),
    "deg2rad": lambda xpx, xp: xpx.deg2rad(_table(xp)),
    "diag_indices": lambda xpx, xp: xpx.diag_indices(3, ndim=3, xp=xp),
    "expand_dims": lambda xpx, xp: xpx.expand_dims(_table(xp), axis=(0, 2)),
    "isclose": lambda xpx, xp: xpx.isclose(_table(xp), _table(xp) + 1e-9),
    "isclose nan": lambda xpx, xp: xpx.isclose(_holes(xp), _holes(xp), equal_nan=True),
    "isclose scalar": lambda xpx, xp: xpx.isclose(_ints(xp), 2),
    "isin": lambda xpx, xp: xpx.isin(_ints(xp), xp.asarray([2, 9])),
    "isin invert": lambda xpx, xp: xpx.isin(_ints(xp), xp.asarray([2, 9]), invert=True),
    "kron": lambda xpx, xp: xpx.kron(_table(xp), xp.asarray([[1.0, 2.0]])),
    "kron ndim": lambda xpx, xp: xpx.kron(_table(xp), xp.asarray([1.0, 2.0])),
    "lazy_apply": lambda xpx, xp: xpx.lazy_apply(lambda x: x + 1, _table(xp)),
    "lazy_apply as_numpy": lambda xpx, xp: xpx.lazy_apply(np.cumsum, _ints(xp), as_numpy=True),
    "nan_to_num": lambda xpx, xp: xpx.nan_to_num(_holes(xp) / xp.asarray([1.0, 1.0, 0.0])),
    "nan_to_num fill": lambda xpx, xp: xpx.nan_to_num(_holes(xp), fill_value=9.0),
    "nanmax": lambda xpx, xp: xpx.nanmax(_holes(xp), axis=1),
    "nanmean": lambda xpx, xp: xpx.nanmean(_holes(xp), axis=1),
    "nanmin": lambda xpx, xp: xpx.nanmin(_holes(xp)),
    "nansum": lambda xpx, xp: xpx.nansum(_holes(xp), axis=0),
    "nunique": lambda xpx, xp: xp.asarray(xpx.nunique(_ints(xp))),
    "one_hot": lambda xpx, xp: xpx.one_hot(xp.asarray([2, 0, 1]), 3),
    "one_hot axis": lambda xpx, xp: xpx.one_hot(
        xp.asarray([2, 0]), 3, axis=0, dtype=xp.float32
    ),
    "pad": lambda xpx, xp: xpx.pad(_table(xp), 1),
    "pad uneven": lambda xpx, xp: xpx.pad(
        _ints(xp), (2, 1), mode="constant", constant_values=-1
    ),
    "pad axes": lambda xpx, xp: xpx.pad(_table(xp), [(0, 1), (2, 0)]),
    "partition": lambda xpx, xp: xpx.partition(_ints(xp), 2)[2:3],
    "partition axis": lambda xpx, xp: xpx.partition(_table(xp), 1, axis=0),
    "rad2deg": lambda xpx, xp: xpx.rad2deg(_table(xp)),
    "searchsorted": lambda xpx, xp: xpx.searchsorted(xp.sort(_ints(xp)), xp.asarray([2, 10])),
    "searchsorted right": lambda xpx, xp: xpx.searchsorted(
        xp.sort(_ints(xp)), xp.asarray([2, 10]), side="right"
    ),
    "setdiff1d": lambda xpx, xp: xpx.setdiff1d(_ints(xp), xp.asarray([2, 7])),
    "sinc": lambda xpx, xp: xpx.sinc(_table(xp)),
    "tril_indices": lambda xpx, xp: xpx.tril_indices(3, xp=xp),
    "tril_indices offset": lambda xpx, xp: xpx.tril_indices(3, offset=1, m=4, xp=xp),
    "triu_indices": lambda xpx, xp: xpx.triu_indices(3, xp=xp),
    "triu_indices offset": lambda xpx, xp: xpx.triu_indices(3, offset=-1, m=4, xp=xp),
    "union1d": lambda xpx, xp: xpx.union1d(_ints(xp), xp.asarray([7, 2])),
    "unravel_index": lambda xpx, xp: xpx.unravel_index(xp.asarray([0, 5, 11]), (3, 4)),
}  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
def test_agrees(call: str) -> None:
    xpx, xp = _package(), pkgutil.resolve_name(os.environ["ARRAY_API_TESTS_MODULE"])
    with np.errstate(all="ignore"):
        agree(CALLS[call](xpx, xp), CALLS[call](xpx, np), xp)
