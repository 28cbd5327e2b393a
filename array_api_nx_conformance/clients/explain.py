"""Failures that no namespace can avoid whose name the client does not know."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path

from ..suite import CannotRunError

EXPLAINED = Path(__file__).with_name("explained.toml")
EXPLAINED_CALLS = Path(__file__).parent / "consumers" / "explained.toml"
_PLACE = re.compile(
    r"^(?P<file>\S+\.py):(?P<line>\d+): in .*\n(?:    (?P<source>.*))?", re.MULTILINE
)


@dataclass(frozen=True)
class Explanation:
    """Why a failure is the client's.

    Attributes
    ----------
    name : str
        What the report calls it.
    tests : str
        A regular expression for the test's id.
    message : str
        A regular expression for the failure's message.
    line : str
        The client's line at which the test fails, without indentation.
    reason : str
        Why that line fails for every namespace that the client does not know by name.
    file : str
        Where the line is, relative to the client's package, if another one fails: the condition
        above it, or the line where arrays become another library's. Otherwise empty.
    """

    name: str
    tests: str
    message: str
    line: str
    reason: str
    file: str = ""

    def covers(self, test: str, message: str, source: str, folder: Path) -> bool:
        """Whether this is the explanation of a failure.

        Parameters
        ----------
        test : str
            The test's id.
        message : str
            The failure's message.
        source : str
            The client's line where it failed.
        folder : Path
            The client's package.
        """
        return (
            (self._is_still_in(folder) if self.file else self.line == source)
            and re.search(self.tests, test) is not None
            and re.search(self.message, message) is not None
        )

    def _is_still_in(self, folder: Path) -> bool:
        file = folder / self.file
        lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
        return self.line in map(str.strip, lines)


def read_all() -> list[Explanation]:
    """The explanations of all clients."""
    return [*read(EXPLAINED), *read(EXPLAINED_CALLS)]


def read(path: Path) -> list[Explanation]:
    """The explanations in a TOML file: tables of the keys of `Explanation` without the name.

    Raises
    ------
    CannotRunError
        If the file is no such file.
    """
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
        return [_explanation(name, table) for name, table in tables.items()]
    except (OSError, ValueError, TypeError, re.error) as error:
        keys = ", ".join(each.name for each in fields(Explanation) if each.name != "name")
        raise CannotRunError(
            f"{path} is no file of explanations ({error}); each is a table with the keys {keys}"
        ) from error


def _explanation(name: str, table: dict[str, str]) -> Explanation:
    explanation = Explanation(name, **table)
    re.compile(explanation.tests)
    re.compile(explanation.message)
    return explanation


def explain(
    explanations: Iterable[Explanation], test: str, message: str, source: str, folder: Path
) -> str:
    """The name of the first explanation that covers a failure; empty if there is none."""
    return next((e.name for e in explanations if e.covers(test, message, source, folder)), "")


def place(longrepr: str, folder: Path) -> tuple[str, str]:
    """Where in the client a test failed: ``file:line``, and the source there.

    Parameters
    ----------
    longrepr : str
        The failure as pytest prints it with ``--tb=short``.
    folder : Path
        The client's package; the result is relative to its parent.
    """
    inside = f"{folder.parent.name}/{folder.name}/"
    for found in reversed(list(_PLACE.finditer(longrepr))):
        _, marker, rest = found["file"].rpartition(inside)
        if marker:
            return f"{folder.name}/{rest}:{found['line']}", (found["source"] or "").strip()
    return "", ""
