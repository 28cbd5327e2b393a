"""What SciPy and scikit-learn need from a namespace that they do not know, item by item.

Tests of the items themselves use our namespace alone; `test_scipy` and `test_sklearn` run a few
functions of the clients, and are skipped where those are not installed.
"""

from __future__ import annotations

import os

# SciPy reads this when it is first imported, and scikit-learn insists on it for its dispatch.
os.environ["SCIPY_ARRAY_API"] = "1"
