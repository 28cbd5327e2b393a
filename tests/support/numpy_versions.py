"""Which NumPy the tests run with, for what older ones do otherwise."""

import numpy as np

VERSION = np.lib.NumpyVersion(np.__version__)

IMPORTS_WRITABLE = VERSION >= "2.2.5"
"""Whether `np.from_dlpack` calls memory read-only only if the exporter does."""

ROUNDS_ALIKE = VERSION >= "2.3.0"
"""Whether `np.var` and ``x ** -1`` round as the loops do that compute them in blocks."""
