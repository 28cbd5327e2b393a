"""The engine: kernels over strided memory, tile by tile, on all processors.

kernel.py describes what the extension runs over memory, schedule.py says in which tiles it goes,
passes.py runs it. What a kernel is for is decided in lazy/ and programs/.
"""
