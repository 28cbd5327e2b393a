"""k-means and nearest neighbours in the array namespace, beside scikit-learn's and NumPy's.

Distances between all points and all centres are larger than both together, and libraries write C so
that they need not be stored. Here they are one formula, which is computed tile by tile on large
arrays.

- *k-means*: Lloyd's iterations from given centres.
- *nearest neighbours*: for some queries at a time, the distances to all points are reduced to the
  smallest in each block of points. The neighbours lie in the blocks where these are smallest; only
  there all distances are looked at.

Every row runs in a process of its own, which tells its time and how much its memory grew, and the
rows run in turns. Of the times the medians count, of the memory the largest.

Run ``python examples/neighbours.py``; ``--points 1e6`` says how many points, in thousands;
``--turns 3`` how often each row runs; ``--device torch:cpu`` where ours do. Exit status: 0 if all
rows agree, 1 if not, 2 if scikit-learn is missing.
"""

# %% What is needed

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

import array_api_nx as xp

COLUMNS, CENTRES, ITERATIONS = 20, 8, 5
QUERIES, NEIGHBOURS = 128, 10
TOGETHER = 16
"""Queries whose distances to all points are in memory at a time."""
BLOCK = 1000
"""Points of which the nearest alone is looked at first."""


# %% k-means
#
# All points are compared with all centres; then each centre moves to the mean of its points. The
# sums of these are a product with a matrix that has a one in each row.


@xp.compile
def lloyd(points: xp.Array, centres: xp.Array) -> xp.Array:
    """One of Lloyd's iterations."""
    distances = xp.sum(centres**2, axis=1) - 2 * (points @ centres.T)
    nearest = xp.argmin(distances, axis=1)
    numbers = xp.arange(centres.shape[0], device=points.device)
    belongs = xp.astype(nearest[:, None] == numbers, points.dtype)
    counts = xp.sum(belongs, axis=0)[:, None]
    means = (belongs.T @ points) / xp.maximum(counts, 1.0)
    return xp.where(counts > 0, means, centres)


def k_means(points: xp.Array, centres: xp.Array) -> xp.Array:
    for _ in range(ITERATIONS):
        centres = lloyd(points, centres)
    return centres


# %% Nearest neighbours


@xp.compile
def nearest_in_blocks(points: xp.Array, norms: xp.Array, queries: xp.Array) -> xp.Array:
    """Per block and query the smallest squared distance, less the query's own norm."""
    distances = norms[:, None] - 2 * (points @ queries.T)
    return xp.min(xp.reshape(distances, (-1, BLOCK, queries.shape[0])), axis=1)


def neighbours(points: xp.Array, queries: xp.Array) -> tuple[xp.Array, xp.Array]:
    """The distances of each query to the nearest points, in order, and which points these are."""
    norms = xp.sum(points**2, axis=1)
    within = xp.arange(BLOCK, device=points.device)
    found = []
    for start in range(0, queries.shape[0], TOGETHER):
        some = queries[start : start + TOGETHER, :]
        smallest = nearest_in_blocks(points, norms, some).T
        blocks = xp.top_k(smallest, NEIGHBOURS, mode="smallest").indices
        rows = xp.reshape(blocks[:, :, None] * BLOCK + within, (some.shape[0], -1))
        squares = xp.sum((points[rows] - some[:, None, :]) ** 2, axis=-1)
        best = xp.top_k(squares, NEIGHBOURS, mode="smallest")
        found.append((xp.sqrt(best.values), xp.take_along_axis(rows, best.indices, axis=1)))
    distances, places = zip(*found, strict=True)
    return xp.concat(distances), xp.concat(places)


# %% The same with NumPy


def numpy_k_means(points: Any, centres: Any) -> Any:
    for _ in range(ITERATIONS):
        nearest = np.argmin(np.sum(centres**2, axis=1) - 2 * (points @ centres.T), axis=1)
        belongs = (nearest[:, None] == np.arange(len(centres))).astype(points.dtype)
        centres = (belongs.T @ points) / np.sum(belongs, axis=0)[:, None]
    return centres


def numpy_neighbours(points: Any, queries: Any) -> Any:
    norms = np.sum(points**2, axis=1)
    found = []
    for start in range(0, len(queries), TOGETHER):
        some = queries[start : start + TOGETHER]
        distances = norms - 2 * (some @ points.T)
        rows = np.argpartition(distances, NEIGHBOURS, axis=1)[:, :NEIGHBOURS]
        squares = np.sum((points[rows] - some[:, None, :]) ** 2, axis=-1)
        found.append(np.sqrt(np.sort(squares, axis=1)))
    return np.concatenate(found)


# %% With scikit-learn


def sklearn_k_means(points: Any, centres: Any) -> Any:
    from sklearn.cluster import KMeans

    model = KMeans(len(centres), init=centres, n_init=1, max_iter=ITERATIONS, tol=0.0)
    return model.fit(points).cluster_centers_


def sklearn_neighbours(points: Any, queries: Any, algorithm: str) -> Any:
    from sklearn.neighbors import NearestNeighbors

    model = NearestNeighbors(n_neighbors=NEIGHBOURS, algorithm=algorithm).fit(points)
    return model.kneighbors(queries)[0]


# %% The rows

ROWS: dict[str, Callable[[Any, Any], Any]] = {
    "k-means, array_api_nx": k_means,
    "k-means, NumPy": numpy_k_means,
    "k-means, scikit-learn": sklearn_k_means,
    "neighbours, array_api_nx": lambda points, queries: neighbours(points, queries)[0],
    "neighbours, NumPy": numpy_neighbours,
    "neighbours, scikit-learn brute": lambda x, q: sklearn_neighbours(x, q, "brute"),
    "neighbours, scikit-learn kd_tree": lambda x, q: sklearn_neighbours(x, q, "kd_tree"),
}


def data(points: int) -> tuple[Any, Any, Any]:
    """Points in clusters that overlap, the first centres, and queries."""
    rng = np.random.default_rng(0)
    middles = 3 * rng.standard_normal((CENTRES, COLUMNS))
    x = rng.standard_normal((points, COLUMNS))
    # In parts, so that the peak of memory is that of the rows.
    for start in range(0, points, BLOCK):
        x[start : start + BLOCK] += middles[rng.integers(CENTRES, size=BLOCK)]
    queries = rng.standard_normal((QUERIES, COLUMNS)) + middles[rng.integers(CENTRES, size=QUERIES)]
    return x, x[:CENTRES].copy(), queries


def peak() -> float:
    """The most memory that this process had, in MB."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def run_row(name: str, points: int, device: str) -> dict[str, Any]:
    """Run a row in this process, twice: the second time counts, when all is loaded and compiled."""
    x, centres, queries = data(points)
    other = centres if name.startswith("k-means") else queries
    if "array_api_nx" in name:
        x, other = xp.asarray(x, device=device), xp.asarray(other, device=device)
    if "scikit-learn" in name:
        import_module("sklearn.cluster")
        import_module("sklearn.neighbors")
    before = peak()
    seconds = 0.0
    for _ in range(2 if "kd_tree" not in name else 1):
        begin = perf_counter()
        result = np.asarray(ROWS[name](x, other))
        seconds = perf_counter() - begin
    return {"seconds": seconds, "megabytes": peak() - before, "result": result.tolist()}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--points", type=float, default=1e6, help="how many points (1e6)")
    parser.add_argument("--turns", type=int, default=3, help="how often each row runs (3)")
    parser.add_argument("--device", default="cpu", help="where ours run (cpu)")
    parser.add_argument("--row", choices=ROWS, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    points = max(NEIGHBOURS, round(options.points / BLOCK)) * BLOCK
    if options.row is not None:
        print(json.dumps(run_row(options.row, points, options.device)))
        return 0
    if find_spec("sklearn") is None:
        print("scikit-learn is not installed; pip install scikit-learn", file=sys.stderr)
        return 2
    command = [sys.executable, __file__, "--points", str(points), "--device", options.device]
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in ROWS}
    for _ in range(options.turns):
        for name, found in runs.items():
            done = subprocess.run([*command, "--row", name], stdout=subprocess.PIPE, check=True)
            found.append(json.loads(done.stdout))
    print(f"{points} points of {COLUMNS} numbers")
    agree = True
    for name, found in runs.items():
        expected = runs[f"{name.partition(',')[0]}, NumPy"][0]["result"]
        right = np.allclose(found[0]["result"], expected, rtol=1e-6)
        agree = agree and right
        seconds = median([each["seconds"] for each in found])
        megabytes = max([each["megabytes"] for each in found])
        told = "agrees" if right else "DIFFERS"
        print(f"  {name:<34}{told:<9}{seconds:9.3f} s{megabytes:8.0f} MB")
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
