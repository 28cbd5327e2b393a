"""Backends: what executes primitives. The contract is base.py."""
