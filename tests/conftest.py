"""Settings that hold for all tests."""

from __future__ import annotations

from hypothesis import settings

# No test depends on timing: a slow machine is not a failure.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
