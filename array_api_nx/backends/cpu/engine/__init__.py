"""The engine: kernels over strided memory, tile by tile, on all processors.

kernel.py describes one pass over memory, and is the place to begin. schedule.py chooses its tiles,
loops.py has the inner loops, run.py runs it, by the extension or by NumPy calls, and passes.py adds
the memory. operations.py uses all that for one operation; lazy/ and programs/ do for many.
"""
