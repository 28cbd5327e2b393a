"""Arithmetic on dtypes that other packages add to NumPy: in a wider dtype, and rounded once.

Their own loops add up rounded sums, take Python's numbers for wider ones, and give products of
matrices in another dtype. What only moves elements is NumPy's, as for its own dtypes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Final, TypeVar

import numpy as np

from ...contract.arguments import Handle, Native
from ...contract.derived import Method, method_of
from ...contract.strided import Tensor
from ...core.derived import on_arrival
from ...core.dtypes import ADDED, COMPUTED_IN, DType
from ...primitives import table as p
from .storage import wrap

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
            setattr(backend, name, _widened(method_of(name), method))

    if ADDED:
        widen()
    on_arrival(widen)
    return backend


def _widened(signature: Method, method: Callable[..., Native]) -> Callable[..., Native]:
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
                values = signature.values(arguments, options)
                return _compute(self, signature, method, dtype, values)
        return method(self, *arguments, **options)

    return primitive


def _compute(
    backend: Native,
    signature: Method,
    method: Callable[..., Native],
    narrow: DType,
    given: list[Native],
) -> Native:
    wide = COMPUTED_IN[narrow]

    def widen(x: Native) -> Native:
        if type(x) in (bool, int, float):
            number = narrow.type(float(x))
            return wrap(np.asarray(number)) if given[0] is p.NEXTAFTER else float(number)
        is_narrow = type(x) is Tensor and backend.dtype(x) is narrow
        return backend.cast(x, wide) if is_narrow and given[0] is not p.NEXTAFTER else x

    def rounded(x: Handle) -> Handle:
        return backend.cast(x, narrow) if backend.dtype(x) is wide else x

    values = [wide if x is narrow else x for x in signature.mapped(given, widen)]
    last = signature.positional
    options = dict(zip(signature.names[last:], values[last:], strict=True))
    found = method(backend, *values[:last], **options)
    if [x for x in given if isinstance(x, np.dtype) and x is not narrow]:
        return found
    if signature.names[-1] == "out" and given[-1] is not None:
        backend.assign(given[-1], rounded(found))
        return given[-1]
    return tuple(map(rounded, found)) if signature.several else rounded(found)
