"""Results as Markdown, for a pull request."""

from __future__ import annotations

from .conformity import answer, basis, untested
from .records import Record
from .report import cut
from .verdict import BAD, COLUMNS

_LONGEST = 200  # of a message


def render(runs: list[Record]) -> str:
    """A table of the namespaces, and for each what fails."""
    return "\n\n".join(["### Array API conformance", _overview(runs), *map(details, runs)])


def _overview(runs: list[Record]) -> str:
    columns = [v for v in COLUMNS if any(run["totals"][v] for run in runs)]
    rows = [["namespace", "version", "standard", "examples", *columns, "conforms"]]
    for run in runs:
        module = run["module"]
        counts = [str(run["totals"][column]) for column in columns]
        examples = str(run["options"]["max_examples"])
        about = [module["name"], module["version"], run["version"], examples]
        rows.append([*about, *counts, answer(run)])
    return table(rows)


def details(run: Record) -> str:
    """What fails in a namespace, and what is new in the version; root causes first."""
    tests = [test for test in run["tests"] if test["verdict"] in BAD]
    name, date = run["module"]["name"], run["started"][:10]
    suite, options = run["suite"]["suite_commit"][:12], run["options"]
    about = (
        f"array-api-tests {suite}, {basis(options['max_examples'])},"
        f" seed {options['seed']}, {date}."
    )
    functions = run["functions"]
    lines = [f"#### {name}", "", about]
    for sentence in untested(run):
        lines += ["", sentence]
    if new := [f"`{each}` {functions[each]['verdict']}" for each in run.get("new", [])]:
        lines += ["", f"**new in {run['version']}** ({len(new)}): {', '.join(new)}"]
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
    more = f" (and {len(own) - 1} more tests)" if len(own) > 1 else ""
    return f"- `{name}`{known}: {_code(cut(first, _LONGEST))}{more}"


def _code(text: str) -> str:
    # A fence longer than any run of backticks inside.
    fence = "``" if "`" in text else "`"
    padding = " " if "`" in text else ""
    return f"{fence}{padding}{text}{padding}{fence}" if text else ""


def table(rows: list[list[str]]) -> str:
    """A table; aligned, because a terminal shows it as it is. The first row is the header."""
    cells = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    cells.insert(1, ["-" * width for width in widths])
    return "\n".join(
        "| " + " | ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) + " |"
        for row in cells
    )
