"""What is shown while a client's tests run."""

from __future__ import annotations

from typing import TextIO

from ..progress import SECONDS_BETWEEN_LINES, StatusLine
from .runner import ClientRun


class Progress:
    """How far the run is, and how many tests failed."""

    def __init__(self, stream: TextIO, interval: float = SECONDS_BETWEEN_LINES) -> None:
        self._status = StatusLine(stream, interval)

    def show(self, run: ClientRun) -> None:
        """Show how far `run` is."""
        self._status.update(_line(run))

    def close(self, run: ClientRun) -> None:
        """Leave one line about the whole run."""
        self._status.leave(_line(run))


def _line(run: ClientRun) -> str:
    what = f"{run.client.client.name} {run.client.version} on {run.module.name}"
    if not run.collected:
        return f"{what}: collecting tests, {run.duration:.0f} s"
    failed = sum(result.outcome == "failed" for result in run.results.values())
    return (
        f"{what}: {len(run.results)}/{len(run.collected)} tests, {failed} failed,"
        f" {run.duration:.0f} s"
    )
