"""The tables of who implements what: ``python -m conformance table``.

They are what data-apis/array-api#402 asks for, functions by namespaces with a link to the standard
and what fails, and #975, a list of implementations with the version that each supports.

- ``implementations``: the namespaces that are judged unless others are named.
- ``journal``: the results of each namespace, kept on disk as they come: a run that was stopped goes
  on, and one that is finished is not repeated.
- ``command``: the sub-command.
- ``compliance``: rows and columns; ``markdown`` and ``html``: forms of them.
"""
