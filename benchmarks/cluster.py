"""``python -m benchmarks.cluster``: time and memory on a Dask cluster of processes on this machine.

The array is made on the workers, chunk by chunk, by the tasks that need it: no process ever holds
all of it. Printed are the seconds that each program takes; the processor seconds of all workers,
which other work on the machine hardly changes; the largest resident set of a worker meanwhile, read
every 20 ms; and the machine's load.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import array_api_nx as xp

from .environment import headline

COLUMNS = 100
INTERVAL = 0.02
"""Seconds between two looks at the memory of the workers."""


# ---------------------------------------------------------------------- programs


def standardise(x: xp.Array) -> xp.Array:
    """The largest element after standardisation of the columns."""
    z = (x - xp.mean(x, axis=0)) / xp.std(x, axis=0)
    return xp.max(xp.abs(z))


def pca(x: xp.Array) -> xp.Array:
    """The variances along the principal components of the standardised columns."""
    z = (x - xp.mean(x, axis=0)) / xp.std(x, axis=0)
    return xp.linalg.eigh(z.T @ z / x.shape[0])[0]


def masked_sum(x: xp.Array) -> xp.Array:
    """The sum of the elements that a mask selects."""
    return xp.sum(x[x > 2])


PROGRAMS: dict[str, Callable[[xp.Array], xp.Array]] = {
    "standardise": standardise,
    "pca": pca,
    "masked sum": masked_sum,
}


# ---------------------------------------------------------------------- measuring


class Peak:
    """The largest resident set of any of some processes since the last `restart`, in bytes."""

    def __init__(self, processes: Sequence[int]) -> None:
        import psutil

        self.processes = [psutil.Process(each) for each in processes]
        self.largest = 0
        self.gone = psutil.Error

    def restart(self) -> None:
        self.largest = 0

    def processor_seconds(self) -> float:
        """Of all the processes, since they began."""
        return sum([sum(each.cpu_times()[:2]) for each in self.processes])

    def look(self) -> None:
        for process in self.processes:
            try:
                self.largest = max(self.largest, process.memory_info().rss)
            except self.gone:
                print("a worker ended, and no longer counts", file=sys.stderr)
                self.processes = [each for each in self.processes if each is not process]


@contextmanager
def polled(processes: Sequence[int]) -> Iterator[Peak]:
    """The peak of the processes, brought up to date by a thread."""
    peak = Peak(processes)
    done = threading.Event()

    def poll() -> None:
        while not done.wait(INTERVAL):
            peak.look()

    thread = threading.Thread(target=poll)
    thread.start()
    try:
        yield peak
    finally:
        done.set()
        thread.join()


def measure(gigabytes: float, chunks: str, workers: int, memory: str, only: str) -> dict[str, Any]:
    """The figures of each program whose name contains `only`; prints them as they come."""
    from distributed import Client

    rows = int(gigabytes * 1e9) // (8 * COLUMNS)
    figures: dict[str, Any] = {}
    with Client(
        n_workers=workers, threads_per_worker=1, memory_limit=memory, dashboard_address=None
    ) as client:
        processes = list(client.run(os.getpid).values())
        rng = xp.random.default_rng(1, device=f"dask:chunks={chunks}")
        x = rng.standard_normal((rows, COLUMNS))
        print(f"{8e-9 * x.size:.3g} GB, {workers} workers; {'':8}seconds  of CPU   GiB  load")
        with polled(processes) as peak:
            for name, program in PROGRAMS.items():
                if only not in name:
                    continue
                peak.restart()
                begin, before = perf_counter(), peak.processor_seconds()
                np.asarray(program(x))
                seconds = perf_counter() - begin
                busy = peak.processor_seconds() - before
                gib = peak.largest / 2**30
                load = os.getloadavg()[0]
                figures[name] = {
                    "seconds": seconds, "processor_seconds": busy, "peak_gib": gib, "load": load
                }  # fmt: skip
                print(f"{name:<33}{seconds:7.1f}{busy:8.1f}{gib:6.2f}{load:6.1f}", flush=True)
    return figures


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.cluster", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("--gigabytes", type=float, default=4.0, help="size of the array (4)")
    parser.add_argument("--chunks", default="64MiB", help="size of its chunks (64MiB)")
    parser.add_argument("--workers", type=int, default=2, help="processes of one thread each (2)")
    parser.add_argument("--memory", default="2GiB", help="limit of each worker (2GiB)")
    parser.add_argument("--case", default="", help="only programs whose names contain this")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures there")
    options = parser.parse_args(arguments)
    if find_spec("distributed") is None:
        parser.error("a cluster needs distributed; pip install -e '.[dask]'")
    print(f"# {headline()}")
    figures = measure(
        options.gigabytes, options.chunks, options.workers, options.memory, options.case
    )
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1, allow_nan=False) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
