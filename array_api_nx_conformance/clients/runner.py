"""Runs a client's tests in a subprocess and collects one result per test."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.machinery import PathFinder
from pathlib import Path

from ..environment import environment
from ..namespace import Module, inspect_module
from ..protocol import XFAILED, Plan
from ..pytest_run import Call, PytestRun, Result, run_pytest
from ..suite import CannotRunError
from .packages import Installed

# array-api-strict under a name that no client knows: what the standard alone gives.
RENAMED, _STRICT = "array_api_unknown", "array_api_strict"
# The standard's functions that make arrays; a module without them is no array namespace.
_CREATION = (
    "arange", "asarray", "empty", "empty_like", "eye", "from_dlpack", "full", "full_like",
    "linspace", "meshgrid", "ones", "ones_like", "tril", "triu", "zeros", "zeros_like",
)  # fmt: skip
OUTCOMES = ("passed", "failed", "expected", "skipped")
_OUTCOMES = {"error": "failed", "missing": "skipped", XFAILED: "expected"}  # of the plugin's
# Else every worker would start as many threads as there are cores.
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


@dataclass
class ClientRun(PytestRun):
    """A run of a client's tests on a namespace, complete or not; its outcomes are `OUTCOMES`."""

    client: Installed
    module: Module


@contextmanager
def prepared(name: str) -> Iterator[Module]:
    """The namespace of that name, importable in subprocesses for as long as the context lasts.

    Raises
    ------
    CannotRunError
        If it does not import, or is no array namespace.
    """
    if name != RENAMED:
        yield inspect_module(name, [(function, "creation functions") for function in _CREATION])
        return
    original = inspect_module(_STRICT)
    with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
        _copy_renamed(Path(folder))
        before = os.environ.get("PYTHONPATH")
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [folder, before]))
        try:
            yield replace(original, name=RENAMED)
        finally:
            os.environ.pop("PYTHONPATH")
            if before is not None:
                os.environ["PYTHONPATH"] = before


def _copy_renamed(folder: Path) -> None:
    spec = PathFinder.find_spec(_STRICT)
    if spec is None or spec.origin is None:
        raise CannotRunError(f"{RENAMED} is a copy of {_STRICT}, which is no package on disk here")
    source = Path(spec.origin).parent
    for file in source.rglob("*.py"):
        target = folder / RENAMED / file.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        text = file.read_text(encoding="utf-8")
        target.write_text(re.sub(rf"\b{_STRICT}\b", RENAMED, text), encoding="utf-8")


def run_client(
    client: Installed,
    module: Module,
    targets: list[str],
    *,
    workers: int,
    time_limit: float,
    show: Callable[[ClientRun], None],
) -> ClientRun:
    """Run a client's tests; call `show` after every test and several times a second.

    An interruption (KeyboardInterrupt) ends the run; what has run by then is returned.

    Parameters
    ----------
    client : Installed
        The client.
    module : Module
        The namespace.
    targets : list of str
        Files and tests, as pytest's arguments.
    workers : int
        The number of processes.
    time_limit : float
        Seconds for each test; 0 for no limit.
    show : callable
        Shows how far the run is.
    """
    run = ClientRun(client, module)
    run_pytest(
        run,
        lambda scratch: _call(run, targets, scratch),
        _adapted,
        show,
        workers=workers,
        time_limit=time_limit,
    )
    return run


def _adapted(result: Result) -> Result | None:
    if result.outcome == "missing" and "::" not in result.id:
        return None  # no test, but a whole file, which skips itself for lack of some other package
    return replace(result, outcome=_OUTCOMES.get(result.outcome, result.outcome))


def _call(run: ClientRun, targets: list[str], scratch: Path) -> Call:
    # An empty configuration, because a file above the installed packages would otherwise be read.
    settings = scratch / "pytest.ini"
    settings.write_text("[pytest]\n")
    client, name = run.client, run.module.name
    arguments = [
        *targets, *client.client.arguments,
        "-c", str(settings), f"--rootdir={client.root}", f"--confcutdir={client.root}",
        # Leaves sys.path alone: else an installed module would go before one on PYTHONPATH.
        "--import-mode=importlib",
        "--hypothesis-seed=0",
    ]  # fmt: skip
    chosen = {"SCIPY_ARRAY_API": "1", "CUBED_BACKEND_ARRAY_API_MODULE": name}
    variables = _ONE_THREAD | environment(scratch, name) | chosen
    return Call(Plan(module=name, done=list(run.results)), arguments, variables)
