"""Benchmarks: what the numbers in the README come from. Run ``python -m benchmarks``."""
