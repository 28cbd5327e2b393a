"""Backends: what executes primitives. The contract is contract/backend.py."""
