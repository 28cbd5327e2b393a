"""Runs SciPy's, scikit-learn's and NumPy's tests, and calls of other packages, on a namespace.

``python -m conformance clients`` hands the namespace to the tests that the installed packages ship,
as a third-party namespace; the packages are not touched.

- ``packages``: the clients, where they are installed, and which of their tests are meant.
- ``scipy_plugin``, ``sklearn_plugin``, ``numpy_plugin``: pytest plugins that put the namespace into
  those tests; NumPy's are for namespaces with NumPy's names.
- ``extra_calls``: array-api-extra ships no tests; calls of all its functions, held against NumPy.
- ``consumer_calls``: calls of xarray, einops and others, which `consumers` has, held against NumPy.
- ``agreement``: what it means that a call gives the same as on NumPy.
- ``runner``: runs a client's tests, by ``pytest_run``; ``progress``: how far it is.
- ``explain``: failures that no namespace can avoid whose name the client does not know.
- ``report``: counts, causes, JSON; ``markdown``: a page of them.
- ``command``: the sub-command.
"""
