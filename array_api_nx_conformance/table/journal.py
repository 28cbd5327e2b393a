"""The results of a namespace on disk, one line each, written as they come."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from ..pytest_run import Result
from ..runner import Run
from ..suite import CannotRunError

Key = dict[str, Any]  # what the results depend on: JSON values


class Journal:
    """The results that are known for a key, and a place for further ones.

    The first line of the file is the key. Each further line is a result, the ids of tests that were
    collected, ``{"collected": [...]}``, or how long a run took: ``{"started": ..., "seconds": ...,
    "finished": ...}``. A file of another key, as after an update
    of Hypothesis, is begun anew.
    """

    def __init__(self, folder: Path, key: Key, *, again: bool = False) -> None:
        parts = (str(key[part]) for part in ("module", "version", "standard", "examples"))
        name = "-".join(re.sub(r"[^A-Za-z0-9.]+", "_", part) for part in parts)
        self.path = folder / f"{name}.jsonl"
        self.collected: list[str] = []
        self.results: dict[str, Result] = {}
        self.started: datetime | None = None
        self.seconds = 0.0
        self.finished = False
        self._written = 0
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if again or not self._read(key):
                self.path.write_text(json.dumps(key) + "\n", encoding="utf-8")
        except OSError as error:
            raise CannotRunError(
                f"cannot keep results in {folder}: {error.strerror}; use --results DIR"
            ) from error
        self._written = len(self.results)

    def _read(self, key: Key) -> bool:
        """Read the file, if there is one of this key."""
        if not self.path.exists():
            return False
        text = self.path.read_text(encoding="utf-8")
        values = [value for line in text.splitlines() if (value := _value(line)) is not None]
        if not values or values[0] != key:
            return False
        for value in values[1:]:
            if "seconds" in value:
                self.started = self.started or datetime.fromisoformat(value["started"])
                self.seconds += value["seconds"]
                self.finished = value["finished"]
            elif "collected" in value:
                self.collected += value["collected"]
            else:
                result = Result(**value | {"uses": tuple(value["uses"])})
                self.results[result.id] = result
        if not text.endswith("\n"):  # a line that was cut off when a run was killed
            self._append_text("\n")
        return True

    def note(self, run: Run) -> None:
        """Write the results that are new in `run`, whose first ones are those of the journal."""
        known = set(self.collected)
        collected = [test for test in run.collected if test not in known]
        if collected:
            self.collected += collected
            self._append([{"collected": collected}])
        new = list(run.results.values())[self._written :]
        if new:
            self._written += len(new)
            self._append(asdict(result) for result in new)

    def close(self, run: Run) -> None:
        """Write how long `run` took, and whether it finished; give it what was known before."""
        self.note(run)
        started = run.started.isoformat(timespec="seconds")
        finished = run.end == "finished"
        self._append([{"started": started, "seconds": run.duration, "finished": finished}])
        self.seconds += run.duration
        self.finished = finished
        run.started = self.started = self.started or run.started
        run.duration = self.seconds
        run.collected = self.collected

    def _append(self, values: Iterable[object]) -> None:
        self._append_text("".join(json.dumps(value) + "\n" for value in values))

    def _append_text(self, text: str) -> None:
        with self.path.open("a", encoding="utf-8") as stream:
            stream.write(text)


def _value(line: str) -> dict[str, Any] | None:
    """The JSON object in a line; None for a line that was cut off."""
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
