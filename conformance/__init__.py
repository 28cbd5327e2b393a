"""Runs the official Array API test suite against an array namespace and judges the result.

``python -m conformance`` from a checkout of the repository; ``--help`` lists the options.
There is no skip list and no list of expected failures: what fails, fails. It needs a POSIX system.

- ``suite``: the pinned commits; finds, verifies and clones the suite.
- ``runner``: runs the suite in a subprocess and collects one result per test.
- ``plugin``: the pytest plugin inside that subprocess, which hands the results over.
- ``progress``: what is shown while the suite runs.
- ``report``: chapters, summary, JSON, exit status.
"""
