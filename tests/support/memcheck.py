"""Calls of the extension for valgrind: those of `EXAMPLES`, some on many elements, and programs.

`tests/sanitize.sh memcheck` runs this file as a program: under valgrind pytest takes two minutes to
begin.
"""

from __future__ import annotations

import itertools

import numpy as np

import array_api_nx as xp
from array_api_nx.native import native
from tests.native.test_nodes_random_programs import LARGE, SMALL, compare
from tests.support.examples import EXAMPLES
from tests.support.programs import recorded_from

SIZES = (5, 40, 66_000)
DTYPES = ("float64", "float32", "int32")


def layouts(size: int, dtype: str) -> list[xp.Array]:
    """Arrays that are walked in different ways."""
    rows = max(1, size // 100)
    x = xp.asarray(np.arange(2.0 * size).astype(dtype), copy=True)
    table = xp.reshape(x, (2 * size // rows, -1)) if 2 * size % rows == 0 else x
    return [x[:size], x[::2], x[::-2], table.T, table[:, ::-1]]


def operate(x: xp.Array) -> None:
    y = x + x * 2
    xp.where(y > 3, x, y)
    xp.maximum(xp.astype(x, xp.float32), 4)
    for reduce in (xp.sum, xp.max, xp.argmin, xp.mean, xp.cumulative_sum):
        reduce(y, axis=0)
    y[...] = xp.flip(x)
    y += 1
    float(xp.sum(xp.sqrt(xp.abs(y)) - y))


def main() -> None:
    assert native, "no C extension"
    for call in itertools.chain(*EXAMPLES.values()):
        call()
    with np.errstate(all="ignore"):
        for dtype, size, threads in itertools.product(DTYPES, SIZES, (1, 2)):
            with xp.config_context(num_threads=threads):
                for x in layouts(size, dtype):
                    operate(x)
                    with recorded_from(4):
                        operate(x)
    for seed in range(30):
        compare(seed, SMALL, 4)
    for seed in range(4):
        compare(seed, LARGE, 4 if seed % 2 else None)


if __name__ == "__main__":
    main()
