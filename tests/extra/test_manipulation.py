"""Arrays put together from the elements of others."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

import array_api_nx as xp
from tests.support.programs import needs_extension


@pytest.mark.parametrize("threshold", [262144, 0])
@pytest.mark.parametrize("widths", [0, 1, (2, 0), [(1, 2), (0, 3)], ((0, 0), (4, 0))], ids=str)
@pytest.mark.parametrize(("dtype", "value"), [("int8", 7), ("float32", np.inf), ("bool", 0)])
def test_pad(widths: Any, dtype: str, value: Any, threshold: int) -> None:
    values = np.arange(12).reshape(3, 4).astype(dtype)
    with xp.config_context(fusion_threshold=threshold):
        result = xp.extra.pad(xp.asarray(values, copy=True), widths, constant_values=value)
        assert result.dtype is getattr(xp, dtype)
        expected = np.pad(values, widths, constant_values=value)
        assert np.array_equal(np.asarray(result), expected)
        total = xp.sum(xp.astype(result, xp.float64))
        assert float(total) == float(np.sum(expected.astype(np.float64)))


@pytest.mark.parametrize(
    ("widths", "value", "error", "words"),
    [
        (-1, 0, ValueError, "must not be negative; slice"),
        (((1, 1), (1, 1), (1, 1)), 0, ValueError, "2 axes need as many pairs"),
        (((1,), (1, 1)), 0, ValueError, "2 axes need as many pairs"),
        (1.5, 0, TypeError, "pad_width must be an int, not 1.5"),
        (1, 1.5, TypeError, "1.5 is no value of dtype int64"),
        (1, "a", TypeError, "'a' is no value of dtype int64"),
    ],
)
def test_pad_refuses(widths: Any, value: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        xp.extra.pad(xp.ones((2, 3), dtype=xp.int64), widths, constant_values=value)


@needs_extension
def test_a_padded_array_is_read_without_being_made() -> None:
    x = xp.asarray(np.ones((2000, 500)), copy=True)
    tracemalloc.start()
    total = float(xp.sum(2 * xp.extra.pad(x, 100, constant_values=0.5)))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert total == 2 * 2000 * 500 + (2200 * 700 - 2000 * 500)
    assert peak < 8 * 2000 * 500 / 4
