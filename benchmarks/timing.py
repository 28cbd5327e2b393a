"""Timing in turns: a machine that is disturbed for a while disturbs all alike."""

from __future__ import annotations

import time
from collections.abc import Sequence
from random import Random
from statistics import median
from timeit import Timer

PAUSE = 0.03
"""Seconds between two timings: OpenMP's threads spin on our cores after their work, GNU's for
300,000 rounds, which may take more than 10 ms."""


def in_turns(
    timers: Sequence[Timer], turns: int, seconds: float, pause: float = 0.0
) -> list[list[float] | None]:
    """Seconds per call of each timer in each turn, in which it is called for about `seconds`.

    None for a timer that raises. The order changes from turn to turn, so that
    nobody always follows the same neighbour.
    """
    numbers = [_calls_in(timer, seconds) for timer in timers]
    times: list[list[float] | None] = [None if number is None else [] for number in numbers]
    order = list(range(len(timers)))
    random = Random(0)
    for _ in range(turns):
        random.shuffle(order)
        for i in order:
            number, own = numbers[i], times[i]
            if number is not None and own is not None:
                time.sleep(pause)
                own.append(timers[i].timeit(number) / number)
    return times


def ratio(times: Sequence[float], others: Sequence[float]) -> float:
    """How many times as long as the others it took: the median of the turns' ratios.

    Ratios are taken within a turn, so that both sides saw the same machine.
    """
    return median([mine / theirs for mine, theirs in zip(times, others, strict=True)])


def _calls_in(timer: Timer, seconds: float) -> int | None:
    """How many calls take about `seconds`; None if one call raises."""
    number = 1
    try:
        for _ in range(2):
            number = max(1, int(seconds * number / max(timer.timeit(number), 1e-7)))
    except Exception:  # whatever a peer raises: it cannot
        return None
    return number
