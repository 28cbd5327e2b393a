"""The name that a misspelt name may stand for.

`difflib` is imported when there is a mistake, never before.
"""

from __future__ import annotations

from collections.abc import Iterable


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """``"; did you mean 'int64'?"`` for the one of `names` that is spelt most like `name`.

    Empty if none is alike.
    """
    from difflib import get_close_matches

    # Upper case and leading or trailing spaces are mistakes as well.
    known = {each.lower(): each for each in names}
    close = get_close_matches(name.strip().lower(), known, n=1, cutoff=0.7)
    return f"; did you mean {known[close[0]]!r}?" if close else ""


def swapped(name: str) -> set[str]:
    """The words in which two neighbouring letters of `name` have changed places.

    Python, which guesses what unknown attributes are meant to be, counts that as two mistakes, and
    allows one in short names: it does not find ``mean`` for ``maen``.
    """
    pairs = range(len(name) - 1)
    return {name[:i] + name[i + 1] + name[i] + name[i + 2 :] for i in pairs} - {name}
