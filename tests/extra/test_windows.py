"""Windows that slide over an array, and what is computed from them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import array_api_nx as xp


def test_windows_and_back() -> None:
    x = xp.reshape(xp.arange(24, dtype=xp.float64), (2, 3, 4))
    windows = xp.extra.unfold(x, (2, 3), stride=(1, 2), padding=((0, 1), (1, 1)))
    padded = np.pad(np.asarray(x), ((0, 0), (0, 1), (1, 1)))
    seen = np.lib.stride_tricks.sliding_window_view(padded, (2, 3), axis=(1, 2))[:, :, ::2]
    expected = seen.reshape(2, 6, 6).transpose(0, 2, 1)
    assert np.array_equal(np.asarray(windows), expected)
    ones = xp.extra.unfold(xp.ones((3, 4)), (2, 3), stride=(1, 2), padding=((0, 1), (1, 1)))
    count = xp.extra.fold(ones, (3, 4), (2, 3), stride=(1, 2), padding=((0, 1), (1, 1)))
    back = xp.extra.fold(windows, (3, 4), (2, 3), stride=(1, 2), padding=((0, 1), (1, 1)))
    assert np.array_equal(np.asarray(back), np.asarray(x * count))
    assert np.asarray(xp.extra.unfold(xp.asarray([1, 2, 3]), 2)).tolist() == [[1, 2], [2, 3]]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: xp.extra.unfold(x, (1, 1, 1)), ValueError, "too few axes for windows of 3"),
        (lambda x: xp.extra.unfold(x, 4), ValueError, r"no window of kernel_size \(4,\)"),
        (lambda x: xp.extra.unfold(x, 0), ValueError, "kernel_size is 0, but must be"),
        (lambda x: xp.extra.unfold(x, 2, stride=(1, 1)), ValueError, r"stride is \(1, 1\)"),
        (lambda x: xp.extra.unfold(x, 2, dilation=1.0), TypeError, "dilation must be an int"),
        (lambda x: xp.extra.fold(x, 5, 2), ValueError, r"does not hold the windows"),
        (lambda x: xp.extra.fold(x > 0, 4, 2), TypeError, "fold adds up numbers, not bool"),
    ],
)
def test_windows_refuse(call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call(xp.ones((2, 3)))
