"""Settings that hold for all tests."""

from __future__ import annotations

import os

from hypothesis import settings

# SciPy reads this when it is first imported, which JAX does too; scikit-learn insists on it for its
# dispatch.
os.environ["SCIPY_ARRAY_API"] = "1"

# No test depends on timing: a slow machine is not a failure.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
