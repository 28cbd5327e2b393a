"""The default backend: NumPy's kernels on the CPU.

backend.py has the methods of the contract, and policy.py the question that they ask first: is an
operation computed at once, by a kernel, or deferred? storage.py and ufunc_table.py serve the first
answer, engine/ the second, lazy/ the third.
"""

from .backend import CPUBackend

__all__ = ["CPUBackend"]
