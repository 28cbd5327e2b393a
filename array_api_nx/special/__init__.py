"""Special functions under SciPy's names, for arrays of this package on every device.

SciPy looks here for the functions of ``scipy.special`` before it converts arrays to NumPy's: so
``scipy.special.f(x)``, and what ``scipy.stats`` computes with it, give arrays on the device of `x`.
On `cpu` the loops of SciPy's ufuncs run, with SciPy's bits, and are fused with what is computed
before and after. Other devices compute with their engine's function where it agrees with SciPy's,
else with SciPy's on the host (docs/special.md).

SciPy is an optional dependency, imported when a function is first called. Of what is said of one
function, this holds for all:

- They compute element by element. Operands are positional: arrays and Python or NumPy scalars, of
  which at least one is an array.
- The precision is that which SciPy's ufunc has for operands of these dtypes: single if all arrays
  are float32 or complex64, double as soon as one is float64, complex128, or an integer of more than
  16 bits. Python scalars take the precision of the arrays, ints where SciPy has a loop of its own
  for integers excepted.
- TypeError is raised if an operand is neither array nor scalar, if all are scalars, or if SciPy has
  no loop for the dtypes, as for complex operands of most functions; ValueError if shapes do not
  broadcast, or devices differ; ImportError if SciPy is not installed.
- What is outside a function's domain is NaN or infinite, as in SciPy.
"""

from __future__ import annotations

from .bessel import (
    hyp1f1,
    i0,
    i0e,
    i1,
    i1e,
    j0,
    j1,
    k0,
    k0e,
    k1,
    k1e,
    lpmv,
    y0,
    y1,
    yn,
)
from .continuous_distributions import (
    chdtr,
    chdtrc,
    chdtri,
    fdtr,
    fdtrc,
    fdtri,
    gdtr,
    gdtrc,
    log_ndtr,
    ndtr,
    ndtri,
    stdtr,
    stdtrit,
)
from .discrete_distributions import (
    bdtr,
    bdtrc,
    bdtri,
    nbdtr,
    nbdtrc,
    nbdtri,
    pdtr,
    pdtrc,
    pdtri,
)
from .elementary import (
    cbrt,
    cosdg,
    cosm1,
    cotdg,
    exp2,
    exp10,
    exprel,
    radian,
    sinc,
    sindg,
    tandg,
    xlog1py,
    xlogy,
)
from .gamma_functions import (
    betainc,
    betaincc,
    betaincinv,
    betaln,
    binom,
    digamma,
    gamma,
    gammainc,
    gammaincc,
    gammainccinv,
    gammaincinv,
    gammaln,
    gammasgn,
    loggamma,
    multigammaln,
    poch,
    polygamma,
    psi,
    rgamma,
    zeta,
    zetac,
)
from .integrals import (
    ellipk,
    ellipkm1,
    erf,
    erfc,
    erfcx,
    erfinv,
    exp1,
    expi,
    expn,
    spence,
)
from .statistics import (
    boxcox,
    boxcox1p,
    entr,
    expit,
    huber,
    inv_boxcox,
    inv_boxcox1p,
    kl_div,
    logit,
    pseudo_huber,
    rel_entr,
)

__all__ = [
    "bdtr",
    "bdtrc",
    "bdtri",
    "betainc",
    "betaincc",
    "betaincinv",
    "betaln",
    "binom",
    "boxcox",
    "boxcox1p",
    "cbrt",
    "chdtr",
    "chdtrc",
    "chdtri",
    "cosdg",
    "cosm1",
    "cotdg",
    "digamma",
    "ellipk",
    "ellipkm1",
    "entr",
    "erf",
    "erfc",
    "erfcx",
    "erfinv",
    "exp1",
    "exp2",
    "exp10",
    "expi",
    "expit",
    "expn",
    "exprel",
    "fdtr",
    "fdtrc",
    "fdtri",
    "gamma",
    "gammainc",
    "gammaincc",
    "gammainccinv",
    "gammaincinv",
    "gammaln",
    "gammasgn",
    "gdtr",
    "gdtrc",
    "huber",
    "hyp1f1",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "inv_boxcox",
    "inv_boxcox1p",
    "j0",
    "j1",
    "k0",
    "k0e",
    "k1",
    "k1e",
    "kl_div",
    "log_ndtr",
    "loggamma",
    "logit",
    "lpmv",
    "multigammaln",
    "nbdtr",
    "nbdtrc",
    "nbdtri",
    "ndtr",
    "ndtri",
    "pdtr",
    "pdtrc",
    "pdtri",
    "poch",
    "polygamma",
    "pseudo_huber",
    "psi",
    "radian",
    "rel_entr",
    "rgamma",
    "sinc",
    "sindg",
    "spence",
    "stdtr",
    "stdtrit",
    "tandg",
    "xlog1py",
    "xlogy",
    "y0",
    "y1",
    "yn",
    "zeta",
    "zetac",
]


def __dir__() -> list[str]:
    # Without the modules that this package consists of.
    return __all__
