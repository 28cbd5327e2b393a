"""Principal components of an array ten times as large as the memory that the process may use.

The array is made, chunk by chunk, by the tasks that need it, or read from a file; no process ever
holds all of it. Nothing but the array namespace is used, so that the same lines run on any device:
only ``device="dask"`` says where.

Run ``python examples/larger_than_memory.py``. ``--gigabytes 16`` says how large the array is,
``--npy FILE`` reads it from a file (which is written first if there is none), ``--workers 2`` runs
it on a cluster of that many processes. Exit status: 0 if the results are right, 1 if not, 2 if it
cannot run.
"""

# %% What is needed

from __future__ import annotations

import argparse
import resource
import sys
from contextlib import nullcontext
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import array_api_nx as xp

COLUMNS = 100
STRENGTHS = (3.0, 2.0, 1.0)
"""How much each of the hidden factors adds to the columns that it acts on."""


# %% The array
#
# Uniform noise, and three slow waves, each in a third of the columns. The noise is a hash of the
# position, and so the same whenever a chunk is made again.


def noise(index: xp.Array) -> xp.Array:
    """Uniform numbers in [-1/2, 1/2): SplitMix64 of `index`."""
    z = xp.astype(index, xp.uint64) * 0x9E3779B97F4A7C15
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB
    return xp.astype((z ^ (z >> 31)) >> 11, xp.float64) * 2.0**-53 - 0.5


def made(rows: int, device: str) -> xp.Array:
    """The array of shape (rows, COLUMNS)."""
    row = xp.arange(rows, device=device)[:, None]
    column = xp.arange(COLUMNS, device=device)[None, :]
    x = noise(row * COLUMNS + column)
    for which, strength in enumerate(STRENGTHS):
        wave = xp.sin(xp.astype(row, xp.float64) * (0.01 * (which + 1)))
        x = x + strength * wave * xp.astype(column % 3 == which, xp.float64)
    return x


def from_file(path: Path, rows: int, device: str) -> xp.Array:
    """The array, read from `path`: NumPy maps the file, and tasks read a chunk each."""
    if not path.exists():
        file = np.lib.format.open_memmap(path, "w+", np.float64, (rows, COLUMNS))
        x = made(rows, device)
        step = 100_000
        for start in range(0, rows, step):
            file[start : start + step] = np.asarray(x[start : start + step])
        file.flush()
    return xp.asarray(np.load(path, mmap_mode="r"), device=device)


# %% Standardisation and principal components
#
# `evaluate` says what is computed together. The singular value decomposition of a tall matrix goes
# block by block; its left factor, as large as the array, is never asked for.


def principal_components(x: xp.Array, count: int) -> dict[str, Any]:
    """The standardised array's first components, and what they explain."""
    rows = x.shape[0]
    mean, std = xp.mean(x, axis=0), xp.std(x, axis=0)
    print(xp.explain(mean).summary)
    xp.evaluate(mean, std)
    z = (x - mean) / std
    _, singular, components = xp.linalg.svd(z, full_matrices=False)
    xp.evaluate(singular, components)
    scores = z @ components[:count, :].T
    spread, middle = xp.std(scores, axis=0), xp.mean(z, axis=0)
    xp.evaluate(spread, middle)
    return {
        "explained": singular[:count] / rows**0.5,
        "spread": spread,
        "share": singular[:count] ** 2 / xp.sum(singular**2),
        "middle": xp.max(xp.abs(middle)),
    }


def is_right(found: dict[str, Any]) -> bool:
    """Whether the scores vary as much as the singular values say, about a mean of 0."""
    # Two ways to the same numbers; the last component here is weak.
    same = xp.abs(found["explained"] - found["spread"]) < 1e-6 * found["explained"][0]
    return bool(xp.all(same)) and float(found["middle"]) < 1e-8


# %% All together


def peak() -> float:
    """The most memory that this process had, in GiB."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**30


def cluster(workers: int, memory: str) -> Any:
    """A client of a cluster of `workers` processes of so much memory; without any, this process
    does it all. What does not fit there goes to disk."""
    if not workers:
        return nullcontext()
    from distributed import Client

    return Client(
        n_workers=workers, threads_per_worker=1, memory_limit=memory, dashboard_address=None
    )


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--gigabytes", type=float, default=1.0, help="size of the array (1)")
    parser.add_argument("--chunks", default="64MiB", help="size of its chunks (64MiB)")
    parser.add_argument("--npy", type=Path, metavar="FILE", help="read the array from this file")
    parser.add_argument("--workers", type=int, default=0, help="processes of a cluster (none)")
    parser.add_argument("--memory", default="1.5GiB", help="of each of them (1.5GiB)")
    options = parser.parse_args(arguments)
    try:
        device = f"dask:chunks={options.chunks}"
        xp.empty(0, device=device)
    except ImportError as error:
        print(error, file=sys.stderr)
        return 2
    rows = max(10 * COLUMNS, int(options.gigabytes * 1e9) // (8 * COLUMNS))
    with cluster(options.workers, options.memory) as client:
        if options.npy is None:
            x = made(rows, device)
        else:
            x = from_file(options.npy, rows, device)
        print(f"an array of shape {x.shape}: {8e-9 * x.size:.3g} GB")
        begin = perf_counter()
        found = principal_components(x, len(STRENGTHS))
        right = is_right(found)
        for name in ("explained", "spread", "share"):
            print(f"{name:<10}{found[name]}")
        print(f"{perf_counter() - begin:.1f} s; this process had {peak():.2f} GiB at most")
        if client is not None:
            each = ", ".join([f"{size:.2f}" for size in client.run(peak).values()])
            print(f"its workers had {each} GiB at most")
    print("right" if right else "WRONG")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
