"""The engine: what computes, or has NumPy compute, on all processors.

loops.py names the inner loops to the extension, sliced_calls.py has several threads call NumPy,
fperrors.py reports floating-point errors as NumPy does, and threads.py says how many threads there
may be.
"""
