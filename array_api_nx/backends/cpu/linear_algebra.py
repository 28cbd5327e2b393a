"""Linear algebra of the CPU backend, by numpy.linalg."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ...contract.numpy_dtypes import NDArray
from ...core import dtypes as d
from .engine.fperrors import located
from .engine.memory_pool import empty
from .engine.small_inverses import invert_into
from .lazy.deferral import DeferredExecution
from .storage import on_arrays

__all__ = ["LinearAlgebra"]


def _by_numpy(function: Callable[..., Any], **keywords: object) -> Callable[..., Any]:
    return on_arrays(partial(located, function, **keywords))


def _qr(x: NDArray, *, complete: bool) -> tuple[NDArray, NDArray]:
    q, r = located(np.linalg.qr, x, "complete" if complete else "reduced")
    return q, r


def _as_complex(array: NDArray) -> NDArray:
    """`array` as complex numbers, which the standard asks for even if all eigenvalues are real."""
    return array.astype(d.COMPLEX_OF.get(array.dtype, array.dtype), copy=False)


def _eig(x: NDArray) -> tuple[NDArray, NDArray]:
    values, vectors = located(np.linalg.eig, x)
    return _as_complex(values), _as_complex(vectors)


def _eigvals(x: NDArray) -> NDArray:
    return _as_complex(located(np.linalg.eigvals, x))


def _inv(x: NDArray) -> NDArray:
    result = empty(x.shape, x.dtype)
    return result if invert_into(x, result) else located(np.linalg.inv, x)


class LinearAlgebra(DeferredExecution):
    """The section "Linear algebra" of the contract."""

    cholesky = _by_numpy(np.linalg.cholesky)
    det = _by_numpy(np.linalg.det)
    eig = on_arrays(_eig)
    eigh = _by_numpy(np.linalg.eigh)
    eigvals = on_arrays(_eigvals)
    eigvalsh = _by_numpy(np.linalg.eigvalsh)
    inv = on_arrays(_inv)
    qr = on_arrays(_qr)
    slogdet = _by_numpy(np.linalg.slogdet)
    solve = _by_numpy(np.linalg.solve)
    svd = _by_numpy(np.linalg.svd)
    svdvals = _by_numpy(np.linalg.svd, compute_uv=False)
