"""What is shown while a client's tests run."""

from __future__ import annotations

import shutil
import time
from typing import TextIO

from .runner import ClientRun

SECONDS_BETWEEN_LINES = 15.0
_CLEAR = "\r\x1b[K"


class Progress:
    """How far the run is, and how many tests failed.

    On a terminal one line is kept up to date, elsewhere a line is added now and then.
    """

    def __init__(self, stream: TextIO, interval: float = SECONDS_BETWEEN_LINES) -> None:
        self._stream = stream
        self._terminal = stream.isatty()
        self._interval = interval
        self._next = time.monotonic() + interval

    def show(self, run: ClientRun) -> None:
        """Show how far `run` is."""
        if self._terminal:
            width = shutil.get_terminal_size().columns - 1
            self._stream.write(f"{_CLEAR}{_line(run)[:width]}")
        elif time.monotonic() >= self._next:
            self._next = time.monotonic() + self._interval
            self._stream.write(f"{_line(run)}\n")
        self._stream.flush()

    def close(self, run: ClientRun) -> None:
        """Leave one line about the whole run."""
        beginning = _CLEAR if self._terminal else ""
        self._stream.write(f"{beginning}{_line(run)}\n")
        self._stream.flush()


def _line(run: ClientRun) -> str:
    what = f"{run.client.client.name} {run.client.version} on {run.module.name}"
    if not run.collected:
        return f"{what}: collecting tests, {run.duration:.0f} s"
    failed = sum(result.outcome == "failed" for result in run.results.values())
    return (
        f"{what}: {len(run.results)}/{len(run.collected)} tests, {failed} failed,"
        f" {run.duration:.0f} s"
    )
