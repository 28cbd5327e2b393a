"""The default backend: NumPy's kernels on the CPU.

backend.py has the methods of the contract, storage.py the memory of arrays. policy.py says what may
wait in the extension, and from which sizes on engine/ computes on several threads.
"""

from .backend import CPUBackend

__all__ = ["CPUBackend"]
