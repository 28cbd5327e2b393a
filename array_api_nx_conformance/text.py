"""A run's verdicts in words, for a terminal."""

from __future__ import annotations

from .conformity import answer, basis, untested
from .records import Record
from .report import cut
from .verdict import BAD, COLUMNS, VERDICTS

_WIDTH = 160


def verdicts(run: Record) -> str:
    """Root causes first, then what they block, permitted deviations, chapters, and the verdict."""
    functions = run["functions"]
    of = {v: [n for n, f in functions.items() if f["verdict"] == v] for v in VERDICTS}
    blocks = [
        _new(run),
        _block("Fails", [_failure(name, run) for name in of["fails"]]),
        _block("Missing", [f"  {name}" for name in of["missing"]]),
        _block("Blocked by these", [_blocked(name, run) for name in of["blocked"]]),
        _block("Deviations that the standard permits", [f"  {name}" for name in of["deviation"]]),
        _block("Skipped by the suite", [f"  {name}" for name in of["skipped"]]),
        _block("Known failures", _known(run)),
        _block("Entries of lists that are out of date", _stale(run)),
        table(run),
        *_incomplete(run),
        conclusion(run),
    ]
    return "\n\n".join(block for block in blocks if block)


def conclusion(run: Record) -> str:
    """One line: does it conform, and the counts."""
    total = run["totals"]
    counts = ", ".join(f"{total[verdict]} {verdict}" for verdict in VERDICTS if total[verdict])
    rests_on = basis(run["options"]["max_examples"])
    return (
        f"{run['module']['name']}, {run['version']}: conforms: {answer(run)}; {counts};"
        f" {rests_on}; {run['duration']:.0f} s"
    )


def table(run: Record) -> str:
    """The verdicts per chapter."""
    rows = run["chapters"] | {"total": run["totals"]}
    columns = [verdict for verdict in COLUMNS if run["totals"][verdict]]
    width = max(len(name) for name in [*rows, "chapter"])
    lines = ["  ".join(["chapter".ljust(width), *columns])]
    for name, row in rows.items():
        cells = [str(row[column] or "-").rjust(len(column)) for column in columns]
        lines.append("  ".join([name.ljust(width), *cells]))
    return "\n".join(lines)


def _block(title: str, entries: list[str]) -> str:
    return "\n".join([f"{title} ({len(entries)}):", *entries]) if entries else ""


def _new(run: Record) -> str:
    names = run.get("new", [])
    verdicts = [f"  {name}  {run['functions'][name]['verdict']}" for name in names]
    return _block(f"New in {run['version']}", verdicts)


def _failure(name: str, run: Record) -> str:
    tests = [t for t in run["tests"] if t["function"] == name and t["verdict"] == "fails"]
    known = "known, " if all(test["known"] for test in tests) else ""
    text = f"  {name}  ({known}{len(tests)} test{'s' if len(tests) > 1 else ''})"
    return f"{text}\n      {cut(tests[0]['message'], _WIDTH)}"


def _blocked(name: str, run: Record) -> str:
    return f"  {name}  by {', '.join(run['functions'][name]['roots'])}"


def _known(run: Record) -> list[str]:
    known = [test for test in run["tests"] if test["known"] and test["verdict"] in BAD]
    return [f"  {test['id'].partition('/')[2]}: {cut(test['known'], _WIDTH)}" for test in known]


def _stale(run: Record) -> list[str]:
    return [f"  {pattern}: {why}" for pattern, why in run["stale"].items()]


def _incomplete(run: Record) -> list[str]:
    lines = untested(run)
    if run["end"] != "finished":
        left = len(run["not_run"])
        lines.append(f"The run ended early ({run['end']}); {left} tests did not run.")
    if run["left_out"]:
        lines.append(f"Left out by a list: {len(run['left_out'])} entries.")
    return lines
