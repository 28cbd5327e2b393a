"""The standard 2025.12, strictly, but for ``numpy.asarray(x)``: importing gives the namespace."""

import sys

from . import strict

sys.modules[__name__] = strict("2025.12", numpy_conversion=True)
