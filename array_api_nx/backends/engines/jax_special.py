"""JAX's functions for ufuncs of ``scipy.special``.

Compared with SciPy 1.17 on 40,000 numbers of all magnitudes and signs and on special values, on the
CPU (JAX 0.10). The error is counted in units of one rounding of the result plus what one rounding
of the operands does to it: 8.7 at most in double precision, 9.2 in single. XLA takes numbers below
the smallest normal one for 0, as operands and as results, and the sign of a zero may differ.

Left out, with the reason:

- `betainc`, `betaln`, `gammaincc`: NaN or infinite for large operands, or wrong from the tenth
  digit on. `gammainc`: does not come to an end for some operands.
- `boxcox`, `boxcox1p`: infinite where the power overflows, and its quotient does not.
- `erfcx`: 0 from 26.5 (9.2 in single precision) on.
- `exp1`, `expi`, `expn`, `hyp1f1`: iterations that take minutes, or do not end.
- `gamma`, `gammaln`: errors of 192 and 1e5 units. `gammasgn`: wrong for large negative numbers.
- `kl_div`, `rel_entr`: NaN or inf for some special values; cancellation.
- `log_ndtr`: relative errors of 5 % above 8.
- `poch`: NaN for arguments above 171. `spence`: NaN for the largest ones.
- `psi`: NaN at 0, where SciPy has an infinity. `polygamma`, `zeta`: NaN or inf for special values.
- `xlog1py`: 44 units in float64.
"""

from __future__ import annotations

from functools import partial
from typing import Final

import jax
import jax.scipy.special

from .jax_kernels import ENGINE
from .special import Ufuncs, of_rows

_SPECIAL: Final[Ufuncs] = {
    "exp2": jax.numpy.exp2,
    # In single precision inf from 88.7 on, where the function is still below the largest number.
    "i0": partial(ENGINE.in_double, jax.scipy.special.i0),
    "i1": partial(ENGINE.in_double, jax.scipy.special.i1),
}


def special_functions(kind: str) -> Ufuncs:
    """The functions that agree on a kind of device: "cpu", "cuda"."""
    return of_rows("jax", jax.scipy.special, _SPECIAL)
