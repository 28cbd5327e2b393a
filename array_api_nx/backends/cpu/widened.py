"""Arithmetic on dtypes that other packages add to NumPy: in a wider dtype, and rounded once.

Their own loops add up rounded sums, take Python's numbers for wider ones, and give products of
matrices in another dtype. What only moves elements is NumPy's, as for its own dtypes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Final, TypeVar

import numpy as np

from ...contract.backend import Handle, Native
from ...contract.strided import Tensor
from ...core.derived import on_arrival
from ...core.dtypes import ADDED, COMPUTED_IN, DType
from ...primitives import table as p
from ...primitives.table import TABLE, Primitive
from .storage import wrap

_ROWS: Final = {op.name: op for op in TABLE} | dict.fromkeys(
    ("unique_counts", "unique_inverse", "unique_values"), p.UNIQUE
)
_TAKE_NUMBERS: Final = frozenset({"binary", "clip", "where"})
_METHODS: Final = (
    *("unary", "binary", "where", "clip", "reduce", "arg_reduce", "scan", "var"),
    *("sort", "argsort", "partition", "argpartition", "searchsorted"),
    *("isin", "unique", "unique_counts", "unique_inverse", "unique_values"),
    *("matmul", "vecdot", "convolve"),
)

_Backend = TypeVar("_Backend", bound=type[Any])


def widened(backend: _Backend) -> _Backend:
    """Decorate the class of a backend: once there are such dtypes, its methods compute them.

    Until then they are as they were, and no call takes longer.
    """
    methods = {name: getattr(backend, name) for name in _METHODS}

    def widen() -> None:
        for name, method in methods.items():
            setattr(backend, name, _widened(name, method))

    if ADDED:
        widen()
    on_arrival(widen)
    return backend


def _widened(name: str, method: Callable[..., Native]) -> Callable[..., Native]:
    @wraps(method)
    def primitive(self: Native, /, *arguments: Native, **options: Native) -> Native:
        # Without calls, as operations on all dtypes come here.
        for x in (*arguments, *options.values()):
            if type(x) is Tensor:
                array = x.array
                dtype = (x.storage if array is None else array).dtype
            elif isinstance(x, np.dtype):
                dtype = x
            else:
                continue
            if dtype in ADDED:
                return _compute(self, name, method, dtype, arguments, options)
        return method(self, *arguments, **options)

    return primitive


def _number(x: Native, dtype: DType, make: Callable[..., Native]) -> Native:
    """What `make` makes of a Python number as a value of a dtype; others as they are."""
    return make(dtype.type(float(x))) if type(x) in (bool, int, float) else x


def _compute(
    backend: Native,
    name: str,
    method: Callable[..., Native],
    narrow: DType,
    arguments: tuple[Native, ...],
    options: dict[str, Native],
) -> Native:
    if arguments[0] is p.NEXTAFTER:
        steps = [_number(x, narrow, lambda value: wrap(np.asarray(value))) for x in arguments]
        return method(backend, *steps, **options)
    wide = COMPUTED_IN[narrow]

    def widen(x: Native) -> Native:
        if isinstance(x, np.dtype):
            return wide if x is narrow else x
        if name in _TAKE_NUMBERS:
            x = _number(x, narrow, float)
        return backend.cast(x, wide) if type(x) is Tensor and backend.dtype(x) is narrow else x

    def rounded(x: Handle) -> Handle:
        return backend.cast(x, result) if backend.dtype(x) is wide else x

    row = arguments[0] if type(arguments[0]) is Primitive else _ROWS.get(name, p.MATMUL)
    asked = [x for x in (*arguments, *options.values()) if isinstance(x, np.dtype)]
    result = asked[0] if asked else row.results[narrow]
    target = options.pop("out", None)
    if name == "binary" and len(arguments) == 4:
        *arguments, target = arguments  # type: ignore[assignment]
    found = method(backend, *map(widen, arguments), **{key: widen(x) for key, x in options.items()})
    if result is not narrow:
        return found
    if target is not None:
        backend.assign(target, rounded(found))
        return target
    return tuple(map(rounded, found)) if isinstance(found, tuple) else rounded(found)
