"""Functions on large arrays of array_api_nx, against the same functions on NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import geometric_mean, median
from timeit import Timer
from typing import Any

import numpy as np

from .environment import environment
from .timing import in_turns, ratio
from .worker import Prepared, workers

ELEMENTS = 4 * 10**6
COLUMNS = 1000


def run(module: str, title: str, cases: Sequence[str], turns: int, elements: int) -> dict[str, Any]:
    """Time and compare the cases, "function, layout" each, and print their speed.

    `module` is the one that serves them.
    """
    speeds: dict[str, float] = {}
    with workers(module, ("numpy", "nx")) as found:
        versions = {name: worker.version for name, worker in found.items()}
        print(f"\n{title}, {elements:,} elements: speed on nx arrays relative to NumPy's")
        print(f"\n{'':44}{'numpy, ms':>10}{'nx':>9}")
        for case in cases:
            times, problems = in_turns(found, (*case.split(", "), elements), turns, 0.0)
            if problems:
                raise RuntimeError(f"{case}: {problems}")
            base, ours = times["numpy"].per_call, times["nx"].per_call
            speeds[case] = ratio(base, ours)
            print(f"{case:44}{median(base) * 1e3:10.2f}{speeds[case]:9.2f}", flush=True)
    mean = geometric_mean(speeds.values())
    worst = min(speeds, key=speeds.__getitem__)
    print(f"{'geometric mean':54}{mean:9.2f}")
    print(f"{f'worst: {worst}':54}{speeds[worst]:9.2f}")
    return {
        **environment(turns, versions),
        "elements": elements,
        "speed": speeds,
        "geometric_mean": mean,
        "worst": worst,
    }


def agreeing(
    xp: Any, ours: Callable[[], Any], numpys: Callable[[], Any], numbers: bool = False
) -> Prepared:
    """The timer of a function of ours, once its result is NumPy's.

    `numbers` says that Python's numbers are results, too.
    """
    for result, expected in zip(parts(ours()), parts(numpys()), strict=True):
        if not isinstance(result, xp.Array) and not (numbers and isinstance(result, float)):
            raise TypeError(f"the result is {type(result).__name__}, not an array of array_api_nx")
        np.testing.assert_allclose(np.asarray(result), expected, rtol=1e-9, atol=1e-11)
    if all([isinstance(result, float) for result in parts(ours())]):
        return Prepared(Timer(ours))
    return Prepared(Timer(lambda: xp.evaluate(*parts(ours()))))


def parts(result: Any) -> tuple[Any, ...]:
    """The arrays that a function gives."""
    return result if isinstance(result, tuple) else (result,)


def laid_out(layout: str, values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Numbers in a row ("flat"), or in a table of `COLUMNS` columns."""
    if layout == "flat":
        return values
    shape = (max(1, values.size // COLUMNS), min(values.size, COLUMNS))
    return values[: shape[0] * shape[1]].reshape(shape)
