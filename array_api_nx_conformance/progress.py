"""What is shown while the suite runs."""

from __future__ import annotations

import shutil
import time
from typing import TextIO

from .report import FAILURES, failure_text, short_id
from .runner import Run

SECONDS_BETWEEN_LINES = 15.0
_BAR = 20  # cells


class StatusLine:
    """On a terminal one line that is kept up to date, elsewhere a line now and then."""

    def __init__(self, stream: TextIO, interval: float = SECONDS_BETWEEN_LINES) -> None:
        self._stream = stream
        self._terminal = stream.isatty()
        self._interval = interval
        self._next = time.monotonic() + interval

    def update(self, line: str, bar: str = "") -> None:
        """Show a line; the bar before it only on a terminal."""
        if self._terminal:
            self._clear()
            self._stream.write(f"{bar}{line}"[: shutil.get_terminal_size().columns - 1])
        elif time.monotonic() >= self._next:
            self._next = time.monotonic() + self._interval
            self._stream.write(f"{line}\n")
        self._stream.flush()

    def leave(self, text: str) -> None:
        """Show lines that stay."""
        self._clear()
        self._stream.write(f"{text}\n")
        self._stream.flush()

    def close(self) -> None:
        """Remove the line that was kept up to date."""
        self._clear()
        self._stream.flush()

    def _clear(self) -> None:
        if self._terminal:
            self._stream.write("\r\x1b[K")


class Progress:
    """Failures as they happen, and how far the run is."""

    def __init__(self, stream: TextIO, interval: float = SECONDS_BETWEEN_LINES) -> None:
        self._status = StatusLine(stream, interval)
        self._seen = 0
        self._failed = 0

    def show(self, run: Run) -> None:
        """Show what is new in `run`."""
        new = list(run.results.values())[self._seen :]
        self._seen += len(new)
        for result in new:
            if result.outcome in FAILURES and not result.is_of_a_later_version:
                self._failed += 1
                self._status.leave(failure_text(result))
        self._status.update(self._line(run), self._bar(run))

    def close(self) -> None:
        """Remove the line that was kept up to date."""
        self._status.close()

    def _bar(self, run: Run) -> str:
        if not run.collected:
            return ""
        done = _BAR * min(self._seen, len(run.collected)) // len(run.collected)
        return f"[{'#' * done}{'.' * (_BAR - done)}] "

    def _line(self, run: Run) -> str:
        if not run.collected:
            return f"collecting tests, {run.duration:.0f} s"
        total = len(run.collected)
        running = ", ".join(short_id(test) for test in run.running)
        return (
            f"{self._seen}/{total} ({100 * self._seen // total} %), {self._failed} failures, "
            f"{run.duration:.0f} s; running {running or 'nothing'}"
        )
