"""Linear algebra of the CPU backend, by numpy.linalg."""

from __future__ import annotations

import numpy as np

from ...contract.numpy_dtypes import NDArray
from ...contract.strided import Tensor
from ...core import dtypes as d
from .engine.fperrors import located
from .engine.memory_pool import empty
from .engine.small_inverses import invert_into
from .lazy.deferral import DeferredExecution
from .storage import wrap

__all__ = ["LinearAlgebra"]


class LinearAlgebra(DeferredExecution):
    """The section "Linear algebra" of the contract."""

    def cholesky(self, x: Tensor, *, upper: bool) -> Tensor:
        return wrap(located(np.linalg.cholesky, self.array(x), upper=upper))

    def qr(self, x: Tensor, *, complete: bool) -> tuple[Tensor, Tensor]:
        q, r = located(np.linalg.qr, self.array(x), "complete" if complete else "reduced")
        return wrap(q), wrap(r)

    def svd(self, x: Tensor, *, full_matrices: bool) -> tuple[Tensor, Tensor, Tensor]:
        u, s, vh = located(np.linalg.svd, self.array(x), full_matrices)
        return wrap(u), wrap(s), wrap(vh)

    def svdvals(self, x: Tensor) -> Tensor:
        return wrap(located(np.linalg.svd, self.array(x), compute_uv=False))

    def eig(self, x: Tensor) -> tuple[Tensor, Tensor]:
        values, vectors = located(np.linalg.eig, self.array(x))
        return wrap(_as_complex(values)), wrap(_as_complex(vectors))

    def eigvals(self, x: Tensor) -> Tensor:
        return wrap(_as_complex(located(np.linalg.eigvals, self.array(x))))

    def eigh(self, x: Tensor) -> tuple[Tensor, Tensor]:
        values, vectors = located(np.linalg.eigh, self.array(x))
        return wrap(values), wrap(vectors)

    def eigvalsh(self, x: Tensor) -> Tensor:
        return wrap(located(np.linalg.eigvalsh, self.array(x)))

    def solve(self, x1: Tensor, x2: Tensor) -> Tensor:
        return wrap(located(np.linalg.solve, self.array(x1), self.array(x2)))

    def inv(self, x: Tensor) -> Tensor:
        array = self.array(x)
        result = empty(array.shape, array.dtype)
        return wrap(result if invert_into(array, result) else located(np.linalg.inv, array))

    def slogdet(self, x: Tensor) -> tuple[Tensor, Tensor]:
        sign, logarithm = located(np.linalg.slogdet, self.array(x))
        return wrap(sign), wrap(logarithm)

    def det(self, x: Tensor) -> Tensor:
        return wrap(located(np.linalg.det, self.array(x)))


def _as_complex(array: NDArray) -> NDArray:
    """`array` as complex numbers, which the standard asks for even if all eigenvalues are real."""
    return array.astype(d.COMPLEX_OF.get(array.dtype, array.dtype), copy=False)
