"""Engines behind the adapter of namespace.py: PyTorch, JAX and CuPy.

An engine's module is imported when an array on one of its devices is first computed, and imports
the engine then. workarounds.py lists where an engine does not follow the standard, and the
remedies.
"""
