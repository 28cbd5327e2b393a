"""Values that read the memory they are stored in.

The right side is read as if it were computed before anything is written, however the two views lie
over each other. On small arrays every pair of views of one shape; on large ones those that meet in
different tiles.
"""

from collections.abc import Callable
from operator import iadd, isub
from typing import Any

import numpy as np
import pytest

import array_api_nx as xp
from tests.native.hazards import numbers
from tests.support.programs import LARGE, SETTINGS, assert_same, numpy_of, settings

Form = Callable[[Any, Any, Any, Any], list[Any]]


def put(t, value, *results):
    t[...] = value
    return [*results]


# Each writes the view t and reads the view s; t0 is t as it was before. On NumPy both are copies.
# Their results must not change after the call.
FORMS = {
    "copied": lambda ns, t, s, t0: put(t, s),
    "computed": lambda ns, t, s, t0: put(t, s * 2.0 + 1.0),
    "of both": lambda ns, t, s, t0: put(t, t0 - s),
    "of another dtype": lambda ns, t, s, t0: put(t, ns.astype(s, ns.float32)),
    "chosen": lambda ns, t, s, t0: put(t, ns.where(t0 > s, s, -1.0)),
    "kept": lambda ns, t, s, t0: put(t, d := t0 - (product := s * 3.0), product, d),
    "with sums": lambda ns, t, s, t0: put(t, s - ns.sum(t0, axis=0)),
    "with an extreme": lambda ns, t, s, t0: put(t, t0 + ns.max(s)),
    "in place": lambda ns, t, s, t0: [iadd(t, s)][1:],
    "in place, computed": lambda ns, t, s, t0: [t0 * 2.0, isub(t, s * 2.0 - 1.0)][:1],
}


def check(form, a, target, source, hint):
    """`target` and `source` take views of an array of either namespace, or are keys."""
    take_target = target if callable(target) else lambda y: y[target]
    take_source = source if callable(source) else lambda y: y[source]
    oracle = a.copy()
    view = take_target(oracle)
    expected = FORMS[form](np, view, take_source(oracle).copy(), view.copy())
    x = xp.asarray(a, copy=True)
    actual = FORMS[form](xp, take_target(x), take_source(x), take_target(x))
    assert_same(numpy_of(x), oracle, hint)
    for result, right in zip(actual, expected, strict=True):
        assert_same(numpy_of(result), right, f"{hint}, pending before the write")


LENGTH, COUNT = 7, 3
SLICES = [
    slice(first, first + step * COUNT if first + step * COUNT >= 0 else None, step)
    for step in (1, 2, 3, -1, -2)
    for first in range(LENGTH)
    if 0 <= first + step * (COUNT - 1) < LENGTH
]


@pytest.mark.parametrize("mode", SETTINGS)
@pytest.mark.parametrize("form", FORMS)
def test_all_pairs_of_slices(form, mode):
    a = numbers((LENGTH,))
    with settings(mode):
        for target in SLICES:
            for source in SLICES:
                check(form, a, target, source, f"{target} of {source}")


def _windows():
    """Views of shape (3, 3) of an array of shape (5, 5)."""
    windows = {}
    for i, j in [(0, 0), (1, 0), (0, 1), (1, 1), (2, 2)]:
        rows, columns = slice(i, i + 3), slice(j, j + 3)
        windows[f"{i}, {j}"] = lambda x, r=rows, c=columns: x[r, c]
        windows[f"{i}, {j} transposed"] = lambda x, r=rows, c=columns: x[r, c].T
    windows["rows flipped"] = lambda x: x[2::-1, 1:4]
    windows["columns flipped"] = lambda x: x[1:4, 3:0:-1]
    windows["flipped"] = lambda x: x[3:0:-1, 3:0:-1]
    windows["stepped"] = lambda x: x[::2, ::2]
    windows["stepped backwards"] = lambda x: x[::-2, 1:4]
    windows["flipped, transposed"] = lambda x: x[2::-1, :3].T
    return windows


WINDOWS = _windows()
SOURCES = {
    **WINDOWS,
    "one row": lambda x: x[1, 1:4],
    "one row, flipped": lambda x: x[2, 2::-1],
    "one column": lambda x: x[1:4, 2:3],
    "one element": lambda x: x[1, 1, ...],
}


@pytest.mark.parametrize("mode", SETTINGS)
@pytest.mark.parametrize("form", FORMS)
def test_all_pairs_of_windows(form, mode):
    a = numbers((5, 5))
    with settings(mode):
        for name, target in WINDOWS.items():
            for other, source in SOURCES.items():
                check(form, a, target, source, f"{name} of {other}")


LONG = 2 * LARGE + 101
SHIFTS = (1, 3, 64, 1000, 4096, LONG // 3)


def _long_pairs():
    pairs = [(slice(None), slice(None, None, -1)), (slice(None, None, -1), slice(None))]
    for n in SHIFTS:
        pairs += [(slice(n, None), slice(None, -n)), (slice(None, -n), slice(n, None))]
        pairs += [(slice(n, None), slice(None, n - 1 if n > 1 else 0, -1))]
    half = LONG // 2
    pairs += [(slice(0, 2 * half, 2), slice(half)), (slice(half), slice(1, 2 * half, 2))]
    pairs += [(slice(half, 2 * half), slice(0, 2 * half, 2))]
    return [(t, s) for t, s in pairs if len(range(LONG)[t]) == len(range(LONG)[s])]


@pytest.mark.parametrize("mode", ["large", "off"])
@pytest.mark.parametrize("form", FORMS)
def test_long_arrays(form, mode):
    a = numbers((LONG,))
    with settings(mode):
        for target, source in _long_pairs():
            check(form, a, target, source, f"{target} of {source}")


SIDE = 230
BLOCKS = {
    "top": lambda x: x[:200, :200],
    "one row on": lambda x: x[1:201, :200],
    "one column on": lambda x: x[:200, 1:201],
    "far corner": lambda x: x[30:, 30:],
    "transposed": lambda x: x[:200, :200].T,
    "rows flipped": lambda x: x[199::-1, :200],
    "flipped": lambda x: x[::-1, ::-1][:200, :200],
}
REPEATED = {
    "one row": lambda x: x[100, :200],
    "one column": lambda x: x[:200, 100:101],
    "one element": lambda x: x[100, 100, ...],
}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("form", FORMS)
def test_large_blocks(form, threads):
    a = numbers((SIDE, SIDE))
    with settings("large", num_threads=threads):
        for name in ("top", "one row on", "transposed", "flipped"):
            for other, source in {**BLOCKS, **REPEATED}.items():
                check(form, a, BLOCKS[name], source, f"{name} of {other}")
