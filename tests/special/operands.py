"""Typical and special values of the operands of the functions of `special`."""

from itertools import product
from typing import Any, Final

import numpy as np

from array_api_nx.special.scipy_ufuncs import ufunc

_NAMES: Final = """
r: cbrt cosdg cosm1 cotdg exp10 exp2 exprel sindg tandg
r: erf erfc erfcx expi expit log_ndtr ndtr
r: digamma gamma gammaln gammasgn psi rgamma zetac
r: i0 i0e i1 i1e j0 j1
p: entr exp1 k0 k0e k1 k1e loggamma spence y0 y1
u: ellipk ellipkm1 erfinv logit ndtri
rr: inv_boxcox inv_boxcox1p
pr: stdtr
pp: betaln binom boxcox boxcox1p chdtr chdtrc gammainc gammaincc
pp: huber kl_div poch pseudo_huber rel_entr xlog1py xlogy zeta
pu: chdtri gammainccinv gammaincinv stdtrit
np: expn pdtr pdtrc yn
nu: pdtri
nnu: bdtr bdtrc bdtri lpmv nbdtr nbdtrc nbdtri
ppu: betainc betaincc betaincinv fdtri
ppp: fdtr fdtrc gdtr gdtrc radian
ppr: hyp1f1
"""
DOMAINS: Final = {
    name: letters
    for letters, _, names in [line.partition(": ") for line in _NAMES.split("\n") if line]
    for name in names.split(" ")
}
"""Per function a letter per operand: r real, p positive, u between 0 and 1, n whole numbers from 0.

All that are ufuncs of SciPy, `digamma` among them, and `zeta` of two operands.
"""

SPECIAL: Final = (0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, -7.0, 1e-30, 1e5, np.inf, -np.inf, np.nan)
"""For one and two operands."""
SPECIAL_FEW: Final = (0.0, -0.0, 1.0, -2.5, 0.5, 30.0, np.inf, -np.inf, np.nan)
"""For three operands, which have more combinations."""
EXTREME: Final = (1e300, -1e300, 1e-310, -1e-310, 1e30, -1e30, 1e-40, 171.5, -171.5, 700.0, -700.0)
"""Where functions of one operand overflow, underflow, or lose their last bits."""


def reference(name: str) -> np.ufunc:
    """SciPy's ufunc of a name, found without its wrapper for other namespaces."""
    return ufunc(name, len(DOMAINS[name]))


def typical(name: str, dtype: str, shape: tuple[int, ...] = (40,), seed: int = 0) -> list[Any]:
    """Random operands in the domain of a function, of the same shape."""
    rng = np.random.default_rng(seed)
    draw = {
        "r": lambda: rng.uniform(-6, 6, shape),
        "p": lambda: rng.uniform(0.05, 12, shape),
        "u": lambda: rng.uniform(0.01, 0.99, shape),
        "n": lambda: rng.integers(0, 12, shape),
    }
    return [np.asarray(draw[letter]()).astype(dtype) for letter in DOMAINS[name]]


def special(name: str, dtype: str) -> list[Any]:
    """Every combination of special values, and extreme ones for a function of one operand."""
    letters = DOMAINS[name]
    values = SPECIAL_FEW if len(letters) == 3 else SPECIAL
    if len(letters) == 1:
        values = (*values, *EXTREME)
    if name == "hyp1f1":
        # SciPy does not come to an end with some infinite operands, as (1, -2.5, inf).
        values = tuple(value for value in values if np.isfinite(value))
    rows = [
        row
        for row in product(values, repeat=len(letters))
        # SciPy deprecates numbers that are not whole where whole ones are meant.
        if all(
            letter != "n" or float(x).is_integer() for letter, x in zip(letters, row, strict=True)
        )
    ]
    with np.errstate(over="ignore"):
        return [np.array(column).astype(dtype) for column in zip(*rows, strict=True)]


def same_bits(ours: Any, theirs: Any) -> bool:
    """Whether two ndarrays agree in dtype, shape and bits; one NaN is like another."""
    if ours.dtype != theirs.dtype or ours.shape != theirs.shape:
        return False
    if ours.dtype.kind == "c":
        return same_bits(ours.real, theirs.real) and same_bits(ours.imag, theirs.imag)
    both = np.isnan(ours) & np.isnan(theirs)
    alike = np.signbit(ours) == np.signbit(theirs)
    return bool(np.all(both | (alike & (ours == theirs))))
