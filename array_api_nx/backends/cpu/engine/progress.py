"""Progress bars of computations that last, for those who ask for them by `config_context`."""

from __future__ import annotations

from typing import Any, Final

__all__ = ["SECONDS", "ProgressBar"]

SECONDS: Final = 1.0
"""How long a computation lasts before a bar is shown: so long that somebody wonders."""


class ProgressBar:
    """How many elements several passes have gone over; `begin` says that the next one begins.

    A pass calls it with the number of tasks begun and that of all, now and then: the first time
    after some milliseconds, so that short passes make no bar. tqdm is what waits for a second.
    """

    def __init__(self, total: int) -> None:
        self._total = total
        self._before = 0  # the elements of passes that are over
        self._elements = 0  # the elements of the pass that runs
        self._bar: Any = None  # tqdm has no types

    def begin(self, elements: int) -> None:
        """A pass over so many elements begins."""
        self._before += self._elements
        self._elements = elements

    def __call__(self, begun: int, tasks: int) -> None:
        if self._bar is None:
            # Slow to import, and not installed everywhere.
            from tqdm.auto import tqdm

            self._bar = tqdm(
                total=self._total,
                initial=self._before,
                delay=SECONDS,
                miniters=1,
                unit=" elements",
                unit_scale=True,
            )
        # One of the tasks that were begun is not over, at least.
        done = self._before + self._elements * max(0, begun - 1) // tasks
        self._bar.update(done - self._bar.n)

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._bar is not None:
            if kind is None:
                self._bar.update(self._total - self._bar.n)
            self._bar.close()
