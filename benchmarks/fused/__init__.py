"""``python -m benchmarks fused``: expressions over large arrays, by NumPy, us and compilers."""
