"""Engines behind the adapter of namespace.py: PyTorch, JAX and CuPy.

An engine's module is imported when an array on one of its devices is first computed, and imports
the engine then. workarounds.py says where an engine does not do what the standard asks, and what is
done instead.
"""
