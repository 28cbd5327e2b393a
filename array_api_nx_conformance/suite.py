"""The official test suite: which commits, where it lies, and whether it is unmodified."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

CHECKOUT_VARIABLE = "ARRAY_API_NX_SUITE"
TESTS = "array_api_tests"  # the folder of the suite's tests
SPEC = "array-api"  # the folder of the standard, a submodule of the suite
CLONE_SECONDS = 90.0  # for each git command
_HOOK_VARIABLES = {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR"}


class CannotRunError(Exception):
    """Nothing can be run; the message says why and how to fix it."""


@dataclass(frozen=True)
class Pins:
    """The commits that are run, and where they can be fetched."""

    suite: str = "55fcc60179efa2680ddd6cd926ddf17b83530e2b"
    spec: str = "5f847a3858875c682ae901aa22b0413bf24be9da"
    suite_url: str = "https://github.com/data-apis/array-api-tests"
    spec_url: str = "https://github.com/data-apis/array-api"


@dataclass(frozen=True)
class Checkout:
    """A verified checkout; ``problems`` is empty unless any commit was allowed."""

    path: Path
    suite_commit: str
    spec_commit: str
    problems: tuple[str, ...] = ()


def cache_folder() -> Path:
    """The user's cache folder for this project."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "array_api_nx"


def locate(checkout: Path | None, cache: Path, pins: Pins) -> tuple[Path, bool]:
    """Where the suite is expected, and whether that place is the cache.

    Parameters
    ----------
    checkout : Path or None
        The folder that the user named; goes before ``$ARRAY_API_NX_SUITE`` and the cache.
    cache : Path
        Folder that holds one checkout for each pinned commit.
    """
    if checkout is not None:
        return checkout.absolute(), False
    if named := os.environ.get(CHECKOUT_VARIABLE):
        return Path(named).absolute(), False
    return cache.absolute() / f"array-api-tests-{pins.suite[:12]}", True


def find(checkout: Path | None, cache: Path, pins: Pins, *, any_commit: bool = False) -> Checkout:
    """The checkout that `locate` names, verified.

    Raises
    ------
    CannotRunError
        If there is none, or if it is not at the pinned commits and unmodified.
    """
    path, _ = locate(checkout, cache, pins)
    if not path.exists():
        raise CannotRunError(
            f"there is no checkout of the test suite at {path}.\n{how_to(path, pins)}"
        )
    return verify(path, pins, any_commit=any_commit)


def find_or_clone(
    checkout: Path | None, cache: Path, pins: Pins, *, any_commit: bool = False
) -> Checkout:
    """Like `find`, but fetches a checkout that is missing from the cache."""
    path, cached = locate(checkout, cache, pins)
    if cached and not path.exists():
        clone(path, pins)
    return find(checkout, cache, pins, any_commit=any_commit)


def verify(path: Path, pins: Pins, *, any_commit: bool = False) -> Checkout:
    """Check that the suite and its submodule are at the pinned commits and unmodified.

    With `any_commit`, deviations are recorded in the result instead of raised.

    Raises
    ------
    CannotRunError
        If `path` does not hold the suite, or deviates from the pins.
    """
    suite_commit = _head(path)
    if suite_commit is None or not (path / TESTS).is_dir():
        raise CannotRunError(
            f"{path} is not a git checkout of the test suite.\n{how_to(path, pins)}"
        )
    spec_commit = _head(path / SPEC)
    if spec_commit is None:
        raise CannotRunError(
            f"{path} lacks its submodule {SPEC}; put it there:\n"
            + _as_text(_fetch_commands(path / SPEC, pins.spec_url, pins.spec))
        )
    problems = []
    suite, spec = (path, suite_commit, pins.suite), (path / SPEC, spec_commit, pins.spec)
    for folder, commit, pin in (suite, spec):
        if commit != pin:
            problems.append(f"{folder} is at commit {commit}, not at the pinned {pin}")
        if changes := _git(folder, "status", "--porcelain", "--ignore-submodules=all"):
            shown = ", ".join(line.split(maxsplit=1)[-1] for line in changes.splitlines()[:5])
            problems.append(f"{folder} is modified: {shown} (git status shows all)")
    if problems and not any_commit:
        raise CannotRunError(
            "\n".join(problems)
            + "\nCheck out the pinned commits and undo the changes, name another checkout with"
            " --checkout, or run this one as it is with --any-commit."
        )
    return Checkout(path, suite_commit, spec_commit, tuple(problems))


def how_to(path: Path, pins: Pins) -> str:
    """The commands that put the suite at `path`."""
    return (
        "To put it there:\n"
        + _as_text(_clone_commands(path, pins))
        + f"\nor name a checkout with --checkout DIR or {CHECKOUT_VARIABLE}=DIR."
    )


def clone(path: Path, pins: Pins) -> None:
    """Fetch the suite and its submodule at the pinned commits into `path`.

    Raises
    ------
    CannotRunError
        If git is missing or a command fails or takes too long; `path` does not exist then.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # A sibling, so that the rename is atomic and no half-made checkout is ever found.
        scratch = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}-"))
    except OSError as error:
        raise CannotRunError(f"cannot write to the cache: {error}; use --cache DIR") from error
    try:
        for command in _clone_commands(scratch, pins):
            _run(command, CLONE_SECONDS)
        scratch.rename(path)
    except (OSError, subprocess.SubprocessError) as error:
        if path.exists():  # another process was faster
            return
        raise CannotRunError(
            f"cannot fetch the test suite ({_detail(error)}).\n{how_to(path, pins)}"
        ) from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _clone_commands(path: Path, pins: Pins) -> list[list[str]]:
    return [
        *_fetch_commands(path, pins.suite_url, pins.suite),
        *_fetch_commands(path / SPEC, pins.spec_url, pins.spec),
    ]


def _fetch_commands(path: Path, url: str, commit: str) -> list[list[str]]:
    """One commit without its history: a full clone of the standard is far larger."""
    git = ["git", "-C", str(path)]
    return [
        ["git", "init", "--quiet", str(path)],
        [*git, "fetch", "--quiet", "--depth", "1", url, commit],
        [*git, "checkout", "--quiet", "FETCH_HEAD"],
    ]


def _as_text(commands: list[list[str]]) -> str:
    return "\n".join(f"    {shlex.join(command)}" for command in commands)


def _head(path: Path) -> str | None:
    """The commit of the repository whose root is `path`, or None if it is not such a root."""
    # Without this check, git would answer for a repository further up.
    return _git(path, "rev-parse", "HEAD").strip() if (path / ".git").exists() else None


def _git(path: Path, *arguments: str) -> str:
    # Without optional locks, because `git status` would otherwise rewrite the index.
    command = ["git", "--no-optional-locks", "-C", str(path), *arguments]
    try:
        return _run(command, None)
    except (OSError, subprocess.SubprocessError) as error:
        raise CannotRunError(f"cannot verify the test suite: {_detail(error)}") from error


def _run(command: list[str], timeout: float | None) -> str:
    # Inside a git hook these variables name another repository than the one meant here.
    environment = {name: value for name, value in os.environ.items() if name not in _HOOK_VARIABLES}
    environment["GIT_TERMINAL_PROMPT"] = "0"
    done = subprocess.run(
        command, check=True, capture_output=True, text=True, timeout=timeout, env=environment
    )
    return done.stdout


def _detail(error: Exception) -> str:
    """The last line of what git said, or the error itself where git said nothing."""
    said = error.stderr if isinstance(error, subprocess.CalledProcessError) else ""
    return (said.strip() or str(error)).splitlines()[-1]
