"""Results as Markdown, for a pull request."""

from __future__ import annotations

from collections.abc import Iterable

from .records import Record, unexcused
from .verdict import BAD, COLUMNS

_LONGEST = 200  # of a message


def render(runs: list[Record]) -> str:
    """A table of the namespaces, and for each what fails."""
    return "\n\n".join(["### Array API conformance", _overview(runs), *map(_details, runs)])


def _overview(runs: list[Record]) -> str:
    columns = [v for v in COLUMNS if any(run["totals"][v] for run in runs)]
    rows = [["namespace", "version", "standard", *columns, "conforms"]]
    for run in runs:
        module = run["module"]
        conforms = run["end"] if run["end"] != "finished" else "no" if unexcused(run) else "yes"
        counts = [str(run["totals"][column]) for column in columns]
        rows.append([module["name"], module["version"], run["version"], *counts, conforms])
    return _table(rows)


def _details(run: Record) -> str:
    tests = [test for test in run["tests"] if test["verdict"] in BAD]
    name, date = run["module"]["name"], run["started"][:10]
    suite, options = run["suite"]["suite_commit"][:12], run["options"]
    about = (
        f"array-api-tests {suite}, {options['max_examples']} examples per test,"
        f" seed {options['seed']}, {date}."
    )
    functions = run["functions"]
    lines = [f"#### {name}", "", about]
    # Root causes first.
    for verdict in BAD:
        names = [each for each, function in functions.items() if function["verdict"] == verdict]
        if names:
            lines += ["", f"**{verdict}** ({len(names)})", ""]
            lines += [_function(each, run, tests) for each in names]
    return "\n".join(lines)


def _function(name: str, run: Record, tests: list[Record]) -> str:
    own = [test for test in tests if test["function"] == name]
    roots = run["functions"][name]["roots"]
    if roots:
        return f"- `{name}`: by {', '.join(f'`{root}`' for root in roots)}"
    known = " (known)" if own and all(test["known"] for test in own) else ""
    first = own[0]["message"] if own else ""
    first = first if len(first) <= _LONGEST else f"{first[: _LONGEST - 3]}..."
    more = f" (and {len(own) - 1} more tests)" if len(own) > 1 else ""
    return f"- `{name}`{known}: {_code(first)}{more}"


def _code(text: str) -> str:
    # A fence longer than any run of backticks inside.
    fence = "``" if "`" in text else "`"
    padding = " " if "`" in text else ""
    return f"{fence}{padding}{text}{padding}{fence}" if text else ""


def _table(rows: Iterable[list[str]]) -> str:
    lines = [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows]
    lines.insert(1, f"|{' --- |' * (lines[0].count(' | ') + 1)}")
    return "\n".join(lines)
