"""A mark for tests of docstrings, which Python drops under PYTHONOPTIMIZE=2."""

import sys

import pytest

__all__ = ["needs_docstrings"]

needs_docstrings = pytest.mark.skipif(
    sys.flags.optimize > 1, reason="PYTHONOPTIMIZE=2 drops the docstrings"
)
