"""Judges what the official suite does not.

``python -m conformance checks`` tries a namespace chapter by chapter, each in a process of
its own:

- ``accuracy``: results against exact values; ``formats`` (ULPs), ``points`` (arguments),
  ``references`` and ``exact`` (exact values), ``elementwise``, ``sums``, ``matrices``.
- ``aliasing``: copies, views, and inputs that must not change.
- ``remainder``: the five tests that the official suite skips.
- ``special_cases``: sentences of the standard that the suite cannot read, and symmetries.
- ``dlpack``: arrays handed over between all libraries that are installed, and back.
- ``optimized``: the quick chapters again under ``python -O`` and ``-OO``, and ``refusals``: calls
  that raise, which they still have to.

``findings`` has what a check says, ``subject`` the namespace in the process that judges it,
``worker`` that process, ``report`` the Markdown, ``command`` the sub-command.

A finding *fails* only where the standard says otherwise, or where fewer than half of the bits of a
result are right. What the standard leaves open is *noted*.
"""
