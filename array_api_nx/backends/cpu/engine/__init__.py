"""The engine: kernels over strided memory, tile by tile, on all processors.

kernel.py describes what the extension runs over memory, and is the place to begin. schedule.py
chooses its tiles, loops.py has the inner loops, and passes.py adds the memory and runs it.
operations.py uses all that.
"""
