"""Runs the suite and collects one result per test."""

from __future__ import annotations

import importlib.util
import shlex
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

from .draft import FOLDER as DRAFT_TESTS
from .environment import PACKAGE, environment
from .known import Entry
from .namespace import Module
from .protocol import XFAILED, Plan
from .pytest_run import Call, End, PytestRun, Result, run_pytest
from .standard import DRAFT, Standard
from .suite import TESTS, CannotRunError, Checkout

# What has to be importable, and the requirement that provides it.
REQUIREMENTS = {
    "pytest": "pytest>=8",
    "xdist": "pytest-xdist>=3.6",
    "hypothesis": "hypothesis>=6.151",
    "ndindex": "ndindex>=1.8",
    "pytest_jsonreport": "pytest-json-report",
}

# The tests of the standard say where their arrays are to be. What array_api_nx would move by itself
# is not to hide that a function forgot; a variable of the caller's counts more.
_STRICT = {"ARRAY_API_NX_OPERANDS": "strict", "ARRAY_API_NX_PLACEMENT": "strict"}


@dataclass(frozen=True)
class Options:
    """What to run, and how."""

    module: str = "array_api_nx"
    max_examples: int = 200
    workers: int = 1
    seed: int = 0
    select: tuple[str, ...] = ()
    time_limit: float = 600.0  # seconds per test; 0: none
    budget: float = 0.0  # seconds for the whole run; 0: none
    version: str = ""  # of the standard; empty: the one that the namespace declares
    chapters: tuple[str, ...] = ()  # of the standard; empty: all
    device: str = ""  # empty: the namespace's own default
    known: tuple[Entry, ...] = ()
    skips: tuple[Entry, ...] = ()


@dataclass
class Run(PytestRun):
    """A run of the suite, complete or not."""

    module: Module
    checkout: Checkout
    options: Options
    standard: Standard = field(default_factory=lambda: Standard("", {}))


Prepare: TypeAlias = Callable[[Run, Path], Call]


def require() -> None:
    """Check that what the suite needs is installed.

    Raises
    ------
    CannotRunError
        If a package is missing; the message says how to install it.
    """
    missing = [
        requirement
        for name, requirement in REQUIREMENTS.items()
        if importlib.util.find_spec(name) is None
    ]
    if missing:
        install = shlex.join([sys.executable, "-m", "pip", "install", *missing])
        raise CannotRunError(f"packages are missing; install them with\n    {install}")


def run_suite(
    module: Module,
    checkout: Checkout,
    options: Options,
    show: Callable[[Run], None],
    standard: Standard | None = None,
    done: Iterable[Result] = (),
) -> Run:
    """Run the suite; call `show` after every finished test and several times a second.

    An interruption (KeyboardInterrupt) ends the run, and so does the end of the time budget; what
    has run by then is returned. By the draft of the standard, the tests of ``draft_tests`` run
    after the suite's. Tests with a result in `done` are not run again.

    Raises
    ------
    CannotRunError
        If `options.select` names a file that the suite does not have.
    """
    run = Run(module, checkout, options)
    run.standard = standard or run.standard
    run.results = {result.id: result for result in done}
    if options.version != DRAFT:
        _run_tests(run, _call, show)
        return run
    ends: list[End | None] = []
    for prepare in _parts_with_draft(options.select):
        ends.append(_run_part(run, prepare, show))
        if ends[-1] in ("interrupted", "out of time"):
            break
    # A part of which nothing was selected has nothing to say.
    said = [end for end in ends if end is not None]
    run.end = next((end for end in said if end != "finished"), "finished" if said else "broken")
    return run


def _parts_with_draft(select: tuple[str, ...]) -> list[Prepare]:
    """The suite and the draft's tests, or the one of them that is asked for."""
    paths = [entry for entry in select if entry.partition("::")[0].endswith(".py")]
    draft = [entry for entry in paths if entry.startswith(f"{DRAFT_TESTS}/")]
    return [
        *([] if draft and len(draft) == len(paths) else [_call]),
        *([_draft_call] if draft or not paths else []),
    ]


def _run_part(run: Run, prepare: Prepare, show: Callable[[Run], None]) -> End | None:
    """Run tests and add what they gave to `run`; None if there were none."""
    part = replace(run, collected=[], results=dict(run.results), running=[], log="")
    collected, before = run.collected, len(run.results)

    def update(part: Run) -> None:
        run.collected = collected + part.collected
        run.results |= part.results
        run.running, run.duration, run.log = part.running, part.duration, part.log
        show(run)

    _run_tests(part, prepare, update)
    update(part)
    nothing = part.end == "broken" and not part.collected and len(part.results) == before
    return None if nothing else part.end


def _run_tests(run: Run, prepare: Prepare, show: Callable[[Run], None]) -> None:
    run_pytest(
        run,
        lambda scratch: prepare(run, scratch),
        _excuse_nothing,
        show,
        workers=run.options.workers,
        time_limit=run.options.time_limit,
        budget=run.options.budget,
    )


def _excuse_nothing(result: Result) -> Result:
    if result.outcome != XFAILED:
        return result
    return replace(result, outcome="failed", message=f"expected to fail: {result.message}")


def _plan(run: Run, tests: str) -> Plan:
    options = run.options
    return Plan(
        module=run.module.name,
        done=list(run.results),
        functions=dict(run.standard.functions),
        chapters=list(options.chapters),
        known=[entry.pattern for entry in options.known],
        skips=[entry.pattern for entry in options.skips],
        device=options.device,
        tests=tests,
    )


def _call(run: Run, scratch: Path) -> Call:
    # Handed over, because the suite would otherwise read skips.txt and xfails.txt of its own.
    empty = scratch / "empty.txt"
    empty.touch()
    options = run.options
    paths, expression = _selection(run.checkout.path / TESTS, options.select)
    arguments = [
        *paths, *(["-k", expression] if expression else []),
        f"--rootdir={run.checkout.path}",
        "-p", "metadata", "-p", "pytest_jsonreport",
        f"--skips-file={empty}", f"--xfails-file={empty}",
        f"--max-examples={options.max_examples}", "--disable-deadline",
        f"--hypothesis-seed={options.seed}",
    ]  # fmt: skip
    variables = _STRICT | environment(
        scratch, run.module.name, options.version, options.device, run.module.lacking
    )
    return Call(_plan(run, TESTS), arguments, variables)


def _draft_call(run: Run, scratch: Path) -> Call:
    # An empty configuration: that of this repository is for its own tests.
    settings = scratch / "pytest.ini"
    settings.write_text("[pytest]\n")
    options = run.options
    select = tuple(
        entry.removeprefix(f"{DRAFT_TESTS}/")
        for entry in options.select
        if entry.startswith(f"{DRAFT_TESTS}/") or ".py" not in entry
    )
    paths, expression = _selection(PACKAGE / DRAFT_TESTS, select)
    arguments = [
        *paths, *(["-k", expression] if expression else []),
        "-c", str(settings), f"--rootdir={PACKAGE}", f"--confcutdir={PACKAGE}",
        f"--max-examples={options.max_examples}", f"--hypothesis-seed={options.seed}",
    ]  # fmt: skip
    variables = _STRICT | environment(
        scratch, run.module.name, device=options.device, lacking=run.module.lacking
    )
    return Call(_plan(run, DRAFT_TESTS), arguments, variables)


def _selection(tests: Path, select: tuple[str, ...]) -> tuple[list[str], str]:
    """Files and test ids as pytest's arguments, the other entries as one ``-k`` expression."""
    paths, expressions = [], []
    for entry in select:
        file, separator, test = entry.partition("::")
        if not file.endswith(".py"):
            expressions.append(f"({entry})")
            continue
        path = tests / file.removeprefix(f"{tests.name}/")
        if not path.is_file():
            known = ", ".join(sorted(each.name for each in tests.glob("test_*.py")))
            raise CannotRunError(f"--select {entry}: the suite has no such file; it has {known}")
        paths.append(f"{path}{separator}{test}")
    return paths or [str(tests)], " or ".join(expressions)
