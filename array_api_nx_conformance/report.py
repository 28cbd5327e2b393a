"""The gate's summary of a run: chapters, failures, exit status."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable

from .conformity import basis
from .protocol import OUTCOMES
from .pytest_run import PytestRun, Result
from .runner import Run
from .suite import TESTS
from .verdict import is_provisional

FAILURES = ("failed", "error", "missing")
PASSED, FAILED, CANNOT_RUN, INTERRUPTED = 0, 1, 2, 130  # exit statuses
_WIDTH = 200  # of a message in the summary; the JSON has all of it
_LOG_LINES = 15


def exit_status(run: Run) -> int:
    """0 only if every test ran and passed, or is skipped by the suite's own code."""
    if run.end == "interrupted":
        return INTERRUPTED
    if not run.collected and not run.results:
        return CANNOT_RUN
    failures = any(result.outcome in FAILURES for result in run.results.values())
    return FAILED if failures or run.end == "broken" else PASSED


def short_id(test: str) -> str:
    """A test's id without the folder that all tests share."""
    return test.removeprefix(f"{TESTS}/")


def chapter(test: str) -> str:
    """The chapter that a test belongs to: its file, in words."""
    file = short_id(test).partition("::")[0]
    return file.removesuffix(".py").removeprefix("test_").replace("_", " ")


def counts(results: Iterable[Result]) -> dict[str, int]:
    """How many results there are of each outcome."""
    counter = Counter(result.outcome for result in results)
    return {outcome: counter[outcome] for outcome in OUTCOMES}


def chapters(run: Run) -> dict[str, dict[str, int]]:
    """The counts of each chapter, in the suite's order."""
    grouped: dict[str, list[Result]] = {}
    for result in _in_order(run):
        grouped.setdefault(chapter(result.id), []).append(result)
    return {name: counts(results) for name, results in grouped.items()}


def failure_text(result: Result) -> str:
    """A failure in two lines: what, and the shortest useful message."""
    return f"{result.outcome.upper():8}{short_id(result.id)}\n        {cut(result.message, _WIDTH)}"


def cut(text: str, longest: int) -> str:
    """The text, or its beginning if it has more than `longest` characters."""
    return text if len(text) <= longest else f"{text[: longest - 3]}..."


def heading(run: Run) -> str:
    """What is run, and on what."""
    module, options = run.module, run.options
    lines = [
        f"{module.name} {module.version or '(no version)'}, "
        f"declares the standard's version {module.api_version or '(none)'}"
        + (f", tested for {options.version}" if options.version else ""),
        f"array-api-tests {run.checkout.suite_commit[:12]}, "
        f"array-api {run.checkout.spec_commit[:12]}, at {run.checkout.path}",
        f"{basis(options.max_examples)}; seed {options.seed}, "
        f"{options.workers} worker{'s' if options.workers > 1 else ''}"
        + (f", device {options.device}" if options.device else ""),
    ]
    lines += [f"NOT THE PINNED SUITE: {problem}" for problem in run.checkout.problems]
    return "\n".join(lines)


def summary(run: Run) -> str:
    """The run in words: failures, skips, chapters, verdict."""
    results = _in_order(run)
    blocks = [
        _block("Failures", [failure_text(r) for r in results if r.outcome in ("failed", "error")]),
        _block("Skipped, because the module lacks something", _skips(results, "missing")),
        _block("Skipped by the suite itself", _skips(results, "skipped")),
        _table(run),
        *_incomplete(run),
        _verdict(run),
    ]
    return "\n\n".join(block for block in blocks if block)


def _in_order(run: Run) -> list[Result]:
    """The results in the order of collection; what was never collected goes first."""
    position = {test: number for number, test in enumerate(run.collected)}
    return sorted(run.results.values(), key=lambda result: position.get(result.id, -1))


def _block(title: str, entries: list[str]) -> str:
    return "\n".join([f"{title} ({len(entries)}):", *entries]) if entries else ""


def _skips(results: list[Result], outcome: str) -> list[str]:
    return [f"  {short_id(r.id)}: {r.message}" for r in results if r.outcome == outcome]


def _table(run: Run) -> str:
    rows = chapters(run)
    rows["total"] = counts(run.results.values())
    width = max(map(len, [*rows, "chapter"]))
    titles = {"error": "errors", "skipped": "skipped by suite"}
    header = [titles.get(outcome, outcome) for outcome in OUTCOMES]
    lines = ["  ".join(["chapter".ljust(width), *header])]
    for name, row in rows.items():
        cells = [str(row[o] or "-").rjust(len(h)) for o, h in zip(OUTCOMES, header, strict=True)]
        lines.append("  ".join([name.ljust(width), *cells]))
    return "\n".join(lines)


def _incomplete(run: Run) -> list[str]:
    if run.end == "finished":
        return []
    running = ", ".join(short_id(test) for test in run.running) or "no test"
    total = len(run.collected) or "an unknown number of"
    lines = [f"{len(run.results)} of {total} tests have a result; {running} was running."]
    if run.end == "broken":
        lines += ["pytest ended early; the last that it said:", log_tail(run)]
    return ["\n".join(lines)]


def log_tail(run: PytestRun) -> str:
    """The end of what pytest itself printed."""
    lines = [line for line in run.log.splitlines() if line.strip()][-_LOG_LINES:]
    return "\n".join(f"    {line}" for line in lines)


def _verdict(run: Run) -> str:
    total = counts(run.results.values())
    parts = ", ".join(
        f"{total[outcome]} {word}"
        for outcome, word in zip(
            OUTCOMES, ("passed", "failed", "errors", "missing", "skipped by the suite"), strict=True
        )
    )
    status = exit_status(run)
    examples = run.options.max_examples
    limits = [
        word
        for word, holds in (
            ("PARTLY", run.options.select),
            ("PROVISIONALLY", is_provisional(examples)),
        )
        if holds
    ]
    conforms = ", ".join(["CONFORMS", *limits])
    word = {PASSED: conforms, FAILED: "DOES NOT CONFORM", INTERRUPTED: "INTERRUPTED"}[status]
    lines = [f"{word}: {parts}; {basis(examples)}; {run.duration:.0f} s"]
    if status == FAILED:
        first = next((r for r in _in_order(run) if r.outcome in FAILURES), None)
        if first is not None:
            options = run.options
            again = shlex.join([
                "python", "-m", "conformance", "--module", run.module.name,
                "--seed", str(options.seed), "--max-examples", str(options.max_examples),
                "--select", short_id(first.id),
            ])  # fmt: skip
            lines.append(f"Again, one test: {again}")
    return "\n".join(lines)
