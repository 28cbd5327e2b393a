"""SciPy's functions on array_api_nx arrays, against the same functions on NumPy arrays.

``python -m benchmarks scipy`` runs this in a process of its own, with ``SCIPY_ARRAY_API=1`` set.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from statistics import geometric_mean, median
from timeit import Timer
from typing import Any

import numpy as np

import array_api_nx as xp

from .timing import PAUSE, in_turns, ratio

ELEMENTS = 4 * 10**6
COLUMNS = 1000


def main(arguments: Sequence[str]) -> int:
    """Arguments: the JSON file to write, the turns per function, and the number of elements."""
    file, turns, *size = arguments
    figures = run(int(turns), int(size[0]) if size else ELEMENTS)
    Path(file).write_text(json.dumps(figures, allow_nan=False))
    return 0


def run(turns: int, elements: int) -> dict[str, Any]:
    """Time and compare all functions on a table of `elements` and on the same numbers in a row."""
    rng = np.random.default_rng(20)
    x, y = rng.random((2, elements)) + 0.1
    shape = (max(1, elements // COLUMNS), min(elements, COLUMNS))
    tables = [values[: shape[0] * shape[1]].reshape(shape) for values in (x, y)]
    speeds: dict[str, float] = {}
    print(f"\nSciPy's functions, {elements:,} elements: speed on nx arrays relative to NumPy's\n")
    print(f"{'':28}{'numpy, ms':>10}{'nx':>9}")
    for layout, arrays in (("flat", [x, y]), ("table", tables)):
        own = [xp.asarray(values, copy=True) for values in arrays]
        for name, function in _functions().items():
            _compare(name, function, arrays, own)
            timers = [_timer(function, values) for values in (arrays, own)]
            base, ours = in_turns(timers, turns, 0.0, PAUSE)
            assert base is not None
            assert ours is not None
            case = f"{name}, {layout}"
            speeds[case] = ratio(base, ours)
            print(f"{case:28}{median(base) * 1e3:10.2f}{speeds[case]:9.2f}", flush=True)
    mean = geometric_mean(speeds.values())
    print(f"{'geometric mean':38}{mean:9.2f}")
    return {"elements": elements, "turns": turns, "speed": speeds, "geometric_mean": mean}


def _functions() -> dict[str, Callable[..., Any]]:
    # The caller has set the variable that this import looks at.
    special: Any = import_module("scipy.special")
    stats: Any = import_module("scipy.stats")
    return {
        "logsumexp": lambda x, y: special.logsumexp(x, axis=-1),
        "softmax": lambda x, y: special.softmax(x, axis=-1),
        "zscore": lambda x, y: stats.zscore(x),
        "skew": lambda x, y: stats.skew(x),
        "kurtosis": lambda x, y: stats.kurtosis(x),
        "gmean": lambda x, y: stats.gmean(x),
        "ttest_ind": lambda x, y: tuple(stats.ttest_ind(x, y)),
        "moment": lambda x, y: stats.moment(x, order=3),
        "entropy": lambda x, y: stats.entropy(x),
    }


def _parts(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


def _timer(function: Callable[..., Any], arrays: Sequence[Any]) -> Timer:
    if isinstance(arrays[0], np.ndarray):
        return Timer(lambda: function(*arrays))
    return Timer(lambda: xp.evaluate(*_parts(function(*arrays))))


def _compare(
    name: str, function: Callable[..., Any], arrays: Sequence[Any], own: Sequence[Any]
) -> None:
    results = zip(_parts(function(*arrays)), _parts(function(*own)), strict=True)
    for expected, result in results:
        if not isinstance(result, xp.Array):
            raise TypeError(f"{name} gave {type(result).__name__}: is SCIPY_ARRAY_API=1 set?")
        np.testing.assert_allclose(np.asarray(result), expected, rtol=1e-9, atol=1e-12)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
