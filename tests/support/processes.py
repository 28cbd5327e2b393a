"""Programs and functions in processes of their own."""

import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable, Collection

import pytest

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")

PATIENCE = 120
"""Seconds after which a process is taken to wait for ever."""


def python(
    *arguments: str, without: Collection[str] = (), is_quiet: bool = False, **environment: str
) -> str:
    """What Python prints when it is called with these arguments; it must end without an error.

    It finds the modules that this process finds. `without` are variables of the environment that it
    is not to have; one that `is_quiet` must warn of nothing either.
    """
    kept = {name: value for name, value in os.environ.items() if name not in without}
    path = os.pathsep.join([each for each in sys.path if each])
    ended = subprocess.run(
        [sys.executable, *arguments],
        env={**kept, "PYTHONPATH": path, **environment},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout[-2000:] + ended.stderr
    assert not (is_quiet and ended.stderr), ended.stderr
    return ended.stdout


def status_of_child(function: Callable[[], object]) -> int:
    """The exit status of a forked process: 0 if the function returned there, but not False."""
    with warnings.catch_warnings():
        # Python 3.12 and JAX warn of forks while there are threads.
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.filterwarnings("ignore", "os.fork", RuntimeWarning)
        child = os.fork()
    if child == 0:
        # A child that waits for threads it has not inherited must not wait for ever.
        signal.alarm(PATIENCE)
        status = 1
        try:
            status = 2 if function() is False else 0
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
