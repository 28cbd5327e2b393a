"""PyTorch's functions for ufuncs of ``scipy.special``.

Compared with SciPy 1.17 on 290,000 numbers of all magnitudes and signs and on special values, on
the CPU (PyTorch 2.13). The error is counted in units of one rounding of the result plus what one
rounding of the operands does to it: 7.4 at most in double precision, 8.4 in single. A result
below the smallest normal number may be 0 in SciPy and not here, and the sign of a zero may differ.
On CUDA PyTorch computes by the same formulas.

Left out, with the reason:

- `gammainc` and `gammaincc`: relative errors of 1e-9, and 1 in the tails; NaN is not propagated.
- `gammaln`: relative errors of 1e-12 next to 1, where it is 0.
- `j0`, `j1`, `y0`, `y1`: errors of 1e-7 in float64.
- `polygamma` and `zeta`: NaN for infinite operands, where SciPy has 0.
- `sinc`: is computed from the sine, as SciPy does it.
- `torch.special.ndtr`: 0 below -8.3, where SciPy is right to the last bits; `erfc` is right, too.
"""

from __future__ import annotations

from functools import partial
from math import sqrt
from typing import Final

import torch

from ...contract.arguments import Native
from .special import Ufuncs, of_rows
from .torch_kernels import ENGINE


def _ndtr(x: Native) -> Native:
    return torch.special.erfc(x * -sqrt(0.5)) * 0.5


_SPECIAL: Final[Ufuncs] = {
    # In single precision inf or NaN for large numbers where the function is finite, or for the
    # smallest one.
    "i0": partial(ENGINE.in_double, torch.special.i0),
    "i1": partial(ENGINE.in_double, torch.special.i1),
    "k0": torch.special.modified_bessel_k0,
    "k0e": partial(ENGINE.in_double, torch.special.scaled_modified_bessel_k0),
    "k1": partial(ENGINE.in_double, torch.special.modified_bessel_k1),
    "k1e": partial(ENGINE.in_double, torch.special.scaled_modified_bessel_k1),
    "ndtr": _ndtr,
}


def special_functions(kind: str) -> Ufuncs:
    """The functions that agree on a kind of device: "cpu", "cuda"; none are known of others."""
    return of_rows("torch", torch.special, _SPECIAL) if kind in ("cpu", "cuda") else {}
