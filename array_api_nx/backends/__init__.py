"""Backends: what executes primitives. The contract is contract/interface.py."""
