"""The standard 2025.12, strictly, but for ``numpy.asarray(x)`` and lists of ints.

SciPy's own tests need both. Importing this module gives the namespace.
"""

import sys

from . import strict

sys.modules[__name__] = strict("2025.12", numpy_conversion=True, lists=True)
