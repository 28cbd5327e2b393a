"""The default backend: NumPy's kernels on the CPU."""

from .backend import CPUBackend

__all__ = ["CPUBackend"]
