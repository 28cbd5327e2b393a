"""Deferred execution: expressions, and their evaluation in few passes over memory.

expression.py says what a pending value is, and is the place to begin. builder.py makes expressions
of operations, deferral.py keeps them safe from writes to the memory that they read, planning.py
turns them into passes, evaluation.py runs these, and pass_reports.py describes them.
"""
