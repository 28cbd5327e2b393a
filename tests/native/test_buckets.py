"""Rows that are distributed to buckets to be sorted, ordered and partitioned (buckets.c)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.contract.numpy_dtypes import COMPILED
from array_api_nx.native import native
from tests.support.implementations import needs_native

pytestmark = needs_native

SIZES: Final = [1, 2, 100, 640, 1300, 5000, 40_000]
"""Below the least that is distributed, on one thread, and on several."""

DTYPES: Final = [
    *["int8", "int32", "uint32", "int64", "uint64"],
    *[str(dtype) for dtype in COMPILED if dtype.kind == "f"],  # float16 where the compiler has it
]


def _with(rng: np.random.Generator, size: int, special: float) -> Any:
    return np.where(rng.random(size) < 0.3, special, rng.standard_normal(size))


VALUES: Final[dict[str, Callable[[np.random.Generator, int], Any]]] = {
    "normal": lambda rng, size: 1000 * rng.standard_normal(size),
    "heavy tails": lambda rng, size: rng.standard_cauchy(size),
    "of all magnitudes": lambda rng, size: 10.0 ** rng.uniform(-200, 200, size),
    "equal": lambda rng, size: np.full(size, 7.0),
    "few": lambda rng, size: rng.integers(-3, 3, size).astype(float),
    "ascending": lambda rng, size: np.arange(size) / 8,
    "descending": lambda rng, size: -np.arange(size) / 8,
    "one outlier": lambda rng, size: np.r_[rng.random(size - 1), 1e300],
    "NaN": lambda rng, size: _with(rng, size, np.nan),
    "infinite": lambda rng, size: _with(rng, size, np.inf) - _with(rng, size, np.inf),
    "NaN alone": lambda rng, size: np.full(size, np.nan),
    "widest": lambda rng, size: rng.choice([-1.7e308, 1.7e308, 0.0, 5e-324], size),
}


def row_of(kind: str, dtype: str, size: int) -> Any:
    with np.errstate(all="ignore"):
        values = VALUES[kind](np.random.default_rng(size), size)
        if np.dtype(dtype).kind == "f":
            return values.astype(dtype)
        info = np.iinfo(dtype)
        most = float(info.max) - (info.max > 2**53) * 2.0**11
        return np.nan_to_num(values).clip(float(info.min), most).astype(dtype)


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_are_arranged_as_by_numpy(kind: str, dtype: str) -> None:
    assert native is not None
    for size in SIZES:
        row = row_of(kind, dtype, size)
        expected, out = np.sort(row, kind="stable"), np.empty_like(row)
        native.sort_rows(row, size, out)
        np.testing.assert_array_equal(out, expected)
        places = np.unique([0, size // 10, size // 2, size - 1])
        native.part_rows(row, size, places, out)
        np.testing.assert_array_equal(out[places], expected[places])
        np.testing.assert_array_equal(np.sort(out, kind="stable"), expected)
        for place in places.tolist():
            before, behind = (np.sort(part, kind="stable") for part in np.split(out, [place]))
            np.testing.assert_array_equal(before, expected[:place])
            np.testing.assert_array_equal(behind, expected[place:])
        if row.itemsize >= 4:
            order = np.empty(size, np.int64)
            native.order_rows(row, size, order)
            np.testing.assert_array_equal(order, row.argsort(kind="stable"))
        copy = row.copy()
        native.sort_rows(copy, size, copy)
        np.testing.assert_array_equal(copy, expected)


def test_several_rows_lie_one_after_the_other() -> None:
    assert native is not None
    rows = np.random.default_rng(1).standard_normal((5, 3000))
    out, order = np.empty_like(rows), np.empty(rows.shape, np.int64)
    native.sort_rows(rows.reshape(-1), 3000, out.reshape(-1))
    np.testing.assert_array_equal(out, np.sort(rows))
    native.order_rows(rows.reshape(-1), 3000, order.reshape(-1))
    np.testing.assert_array_equal(order, rows.argsort())


def test_other_sizes_are_refused() -> None:
    assert native is not None
    row = np.arange(12.0)
    for length, out in ((0, row), (5, row), (12, np.empty(11)), (12, np.empty(12, np.float32))):
        with pytest.raises(ValueError, match=r"size|vectors"):
            native.sort_rows(row, length, out)
    with pytest.raises(ValueError, match="real"):
        native.sort_rows(row.astype(complex), 12, row.astype(complex))


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("descending", [False, True])
def test_functions_sort_along_each_axis(axis: int, descending: bool) -> None:
    values = np.random.default_rng(3).integers(0, 5000, (3000, 20) if axis == 0 else (20, 3000))
    for dtype in ("float64", "int32"):
        x = values.astype(dtype)
        ours = xp.asarray(x.copy())
        expected = np.sort(-x if descending else x, axis=axis) * (-1 if descending else 1)
        found = xp.sort(ours, axis=axis, descending=descending)
        np.testing.assert_array_equal(np.asarray(found), expected)
        order = np.asarray(xp.argsort(ours, axis=axis, descending=descending))
        expected_order = np.argsort(-x if descending else x, axis=axis, stable=True)
        np.testing.assert_array_equal(order, expected_order)
        thin = values.astype(dtype)[:1] if axis == 0 else values.astype(dtype)[:, :1]
        np.testing.assert_array_equal(np.asarray(xp.sort(xp.asarray(thin), axis=axis)), thin)
        place = 1234
        found = xp.partition(ours, place, axis=axis)
        np.testing.assert_array_equal(
            np.take(np.asarray(found), place, axis), np.take(np.sort(x, axis=axis), place, axis)
        )
