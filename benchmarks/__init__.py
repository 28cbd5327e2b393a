"""Benchmarks: the source of the numbers in the README. Run ``python -m benchmarks``."""
