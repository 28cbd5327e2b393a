"""Judges array namespaces by the official Array API test suite.

``python -m conformance`` from a checkout of the repository is the gate: one namespace, nothing
excused. ``run``, ``report``, ``compare``, ``known`` and ``table`` are for any namespace; ``--help``
lists the options. ``clients`` runs other packages' tests, ``support`` says what SciPy and
scikit-learn do with a namespace's arrays, and ``checks`` judges what the suite does not
(``beyond``); see there. docs/conformance.md is about reading the answers. It needs a POSIX
system.

Before a run:

- ``options``, ``commands``, ``gate``: the command line and what it does.
- ``suite``: the pinned commits; finds, verifies and clones the suite.
- ``standard``: the standard's names, chapters and versions; ``draft``: what its draft has beyond
  the pinned commit; ``functions``: which of the names a test is about.
- ``namespace``: imports the namespace in a process of its own and looks at it.
- ``known``: lists of known failures.

The run:

- ``pytest_run``: runs tests in a subprocess and collects one result per test; ``runner``: those
  of the suite.
- ``environment``: the variables of that subprocess.
- ``plugin``: the pytest plugin inside it, which hands the results over; ``protocol``: in what form;
  ``corrections``: what is set right in the suite before it runs.
- ``blame``, ``repro``, ``literals``: inside it too; what a failure rests on, and a script of it.
- ``draft_tests``: the tests of what the draft has beyond the suite's.
- ``progress``: what is shown meanwhile.

After it:

- ``verdict``, ``deviations``: the verdict on each function; ``conformity``: on the namespace.
- ``records``: the JSON (docs/conformance-schema.md).
- ``report`` (of the gate), ``text``, ``markdown``, ``page``, ``badge``, ``scripts``: forms of it.
- ``compare``: what changed between two results.
- ``table``: many namespaces, with results that are kept.
"""
