"""Gives workers their work, and survives their ends."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from queue import Empty, Queue
from typing import Any

from ..suite import CannotRunError

ENDED = "ends the process, or takes too long"


def ask(
    module: str,
    device: str,
    wanted: str,
    count: int,
    *,
    workers: int,
    seconds: float,
    variables: dict[str, str],
    show: Callable[[int], None],
) -> list[Any]:
    """What workers answer for subjects 0 to `count`; {"untried": ENDED} where there is no answer.

    Parameters
    ----------
    module, device, wanted : str
        The arguments of ``worker``.
    count : int
        The number of subjects.
    workers : int
        The number of processes.
    seconds : float
        For a subject.
    variables : dict of str
        Their environment.
    show : callable
        Is told how many are done.
    """
    answers: list[Any] = [{"untried": ENDED}] * count
    waiting: Queue[int] = Queue()
    for number in range(count):
        waiting.put(number)
    command = [sys.executable, "-m", f"{__package__}.worker", module, device, wanted]

    def work(_: int) -> None:
        worker: _Worker | None = None
        with suppress(Empty):
            while True:
                number = waiting.get_nowait()
                worker = worker or _Worker(command, variables)
                answer = worker.answer(number, seconds)
                if answer is None:
                    worker.end()
                    worker = None
                else:
                    answers[number] = json.loads(answer)
                show(count - waiting.qsize())
        if worker is not None:
            worker.end()

    with ThreadPoolExecutor(workers) as pool:
        try:
            list(pool.map(work, range(workers)))
        finally:
            waiting.queue.clear()  # after an error or Ctrl-C the others begin nothing more
    return answers


class _Worker:
    def __init__(self, command: list[str], variables: dict[str, str]) -> None:
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True, env=variables
        )
        assert self._process.stdout is not None
        if not self._process.stdout.readline():
            self.end()
            raise CannotRunError(
                "the workers end before they call anything; run one by hand: " + " ".join(command)
            )

    def answer(self, number: int, seconds: float) -> str | None:
        """The line that the process answers; None if it ends, or does not within `seconds`."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        timer = threading.Timer(seconds, process.kill)
        timer.start()
        try:
            process.stdin.write(f"{number}\n")
            process.stdin.flush()
            return process.stdout.readline() or None
        except BrokenPipeError:
            return None
        finally:
            timer.cancel()

    def end(self) -> None:
        # Leaving the context closes the pipes; what could not be written is lost.
        with suppress(BrokenPipeError), self._process:
            self._process.kill()
