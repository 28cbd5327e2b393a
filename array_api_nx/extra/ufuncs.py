"""Ufuncs of NumPy and of other libraries on our arrays."""

from __future__ import annotations

from ..frontend.ufuncs import apply_ufunc

__all__ = ["apply_ufunc"]
