"""Deferred execution: expressions, and their evaluation in few passes over memory.

expression.py holds what is pending, deferral.py decides what is, planning.py turns it into
kernels, evaluation.py runs them.
"""
