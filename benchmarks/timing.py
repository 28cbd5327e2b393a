"""Timing in turns: a machine that is disturbed for a while disturbs all alike."""

from __future__ import annotations

import math
import time
from collections.abc import Hashable, Mapping, Sequence
from random import Random
from statistics import median
from typing import Any, NamedTuple, TypeVar

from .worker import Problem, Worker

LEAST_TURNS = 3
"""Turns of a case however long they take."""

Key = TypeVar("Key", bound=Hashable)


class Times(NamedTuple):
    """The time of one worker for a case, in seconds."""

    first: float
    """The first call."""
    per_call: list[float]
    """In each turn."""


def in_turns(
    workers: Mapping[Key, Worker],
    case: Sequence[Any],
    turns: int,
    seconds: float,
    patience: float = math.inf,
    failures: tuple[type[Exception], ...] = (Problem,),
) -> tuple[dict[Key, Times], dict[Key, str]]:
    """The times of those workers that can do `case`, and the problems of the others.

    In each turn every worker calls for about `seconds`. The order changes from turn to turn, so
    that no worker always follows the same neighbour. No turn but the first three begins when
    `patience` seconds have passed. `failures` are the exceptions that become problems.
    """
    times: dict[Key, Times] = {}
    problems: dict[Key, str] = {}
    for key, worker in workers.items():
        try:
            times[key] = Times(worker.ask("prepare", seconds, *case), [])
        except failures as problem:
            problems[key] = str(problem)
    random = Random(0)
    end = time.monotonic() + patience
    for turn in range(turns):
        if turn >= LEAST_TURNS and time.monotonic() > end:
            break
        order = list(times)
        random.shuffle(order)
        for key in order:
            try:
                times[key].per_call.append(workers[key].ask("time"))
            except failures as problem:
                problems[key] = str(problem)
                del times[key]
    return times, problems


def ratios(times: Sequence[float], others: Sequence[float]) -> list[float]:
    """How many times as long as the others it took in each turn: both sides saw one machine."""
    return [mine / theirs for mine, theirs in zip(times, others, strict=True)]


def ratio(times: Sequence[float], others: Sequence[float]) -> float:
    """The median of the turns' ratios."""
    return median(ratios(times, others))
