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

from ..extra import sinc
from ..primitives.special_functions import ROWS
from .compositions import multigammaln, polygamma, zeta
from .scipy_ufuncs import special_function

__all__ = ["multigammaln", "polygamma", "sinc", "zeta"]
__all__ += [row.name for row in ROWS]

globals().update({row.name: special_function(row, __name__) for row in ROWS})


def __dir__() -> list[str]:
    # Without the modules that this package consists of.
    return __all__
