"""NumPy's module `lib`, as far as it is here: xarray looks for its sliding windows in it."""

from . import windows as stride_tricks

__all__ = ["stride_tricks"]
