"""Fused execution: chains of element-by-element operations and reductions in one pass over memory.

expression.py holds what is pending, plan.py turns it into kernels, schedule.py says in which tiles
a kernel goes over its elements, machine.py runs it.
"""
