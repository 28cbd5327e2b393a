"""The engine: kernels over strided memory, tile by tile, on all processors.

kernel.py describes one pass over memory, schedule.py says in which tiles it goes, run.py runs it,
by the extension or by NumPy calls. What a kernel is for is decided in lazy/ and programs/.
"""
