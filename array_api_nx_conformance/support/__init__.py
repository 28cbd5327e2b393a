"""Which functions of SciPy and scikit-learn keep a namespace's arrays, as a table for the docs.

``python -m conformance support`` calls every public function and estimator of the installed
versions with arrays of the namespace, and says what came back.

- ``subjects``: the functions and estimators, found in the installed packages.
- ``arguments``, ``arguments.toml``: what they are called with; by names of parameters, so that
  functions of later versions are called, too.
- ``trial``: what becomes of one call; ``worker``: a process that makes many.
- ``run``: gives workers their work, and survives their ends.
- ``markdown``: the page, and whether another says the same.
- ``command``: the sub-command.
"""
