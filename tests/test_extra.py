"""Functions beyond the standard, and where they are found."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

import array_api_nx as xp
from tests.support.programs import needs_extension


@pytest.mark.parametrize("k", [-3, -1, 0, 1, 2, 7])
@pytest.mark.parametrize("size", [0, 1, 4])
def test_diag_of_a_vector(size: int, k: int) -> None:
    values = np.arange(1, size + 1)
    result = xp.extra.diag(xp.asarray(values), k=k)
    assert result.dtype is xp.int64
    assert np.array_equal(np.asarray(result), np.diag(values, k))


@pytest.mark.parametrize("k", [-1, 0, 2])
def test_diag_of_a_matrix(k: int) -> None:
    values = np.arange(12.0).reshape(3, 4)
    assert np.array_equal(np.asarray(xp.extra.diag(xp.asarray(values), k=k)), np.diag(values, k))


def test_diag_refuses_other_dimensions() -> None:
    with pytest.raises(ValueError, match=r"not shape \(\); use linalg.diagonal"):
        xp.extra.diag(xp.asarray(1.0))


def test_logspace() -> None:
    assert np.allclose(np.asarray(xp.extra.logspace(0, 3, 4)), [1, 10, 100, 1000], rtol=1e-15)
    result = xp.extra.logspace(0, 2, 4, base=2.0, endpoint=False, dtype=xp.float32)
    assert result.dtype is xp.float32
    assert np.allclose(np.asarray(result), np.logspace(0, 2, 4, base=2.0, endpoint=False))


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


def test_the_top_level_serves_some_without_listing_them() -> None:
    assert xp.diag is xp.extra.diag
    assert xp.logspace is xp.extra.logspace
    assert not {"diag", "logspace"} & {*xp.__all__, *dir(xp)}
    assert not hasattr(xp, "pad")
    assert not hasattr(xp, "float16")
    with pytest.raises(AttributeError, match="has no attribute 'median'"):
        _ = xp.median


class TestView:
    def test_reads_bytes_as_another_dtype(self) -> None:
        z = xp.asarray([[1 + 2j, 3 + 4j]])
        x = z.view(float)
        assert x.dtype is xp.float64
        assert np.asarray(x).tolist() == [[1.0, 2.0, 3.0, 4.0]]
        x[0, 0] = 9.0
        assert complex(z[0, 0]) == 9 + 2j
        assert np.asarray(x.view(xp.complex128)).tolist() == [[9 + 2j, 3 + 4j]]

    def test_of_the_same_dtype_shares_memory(self) -> None:
        x = xp.asarray([1.0, 2.0])
        for view in (x.view(), x.view(xp.float64)):
            assert view is not x
            view += 1.0
        assert np.asarray(x).tolist() == [3.0, 4.0]

    def test_of_elements_of_one_size_takes_any_strides(self) -> None:
        x = xp.asarray(np.arange(6, dtype=np.int64).reshape(2, 3)).T
        assert np.asarray(x.view(xp.uint64)).tolist() == [[0, 3], [1, 4], [2, 5]]

    def test_refuses_what_bytes_do_not_say(self) -> None:
        with pytest.raises(ValueError, match="no whole number of complex128"):
            xp.asarray([1.0, 2.0, 3.0]).view(complex)
        with pytest.raises(ValueError, match="no whole number"):
            xp.asarray(1.0).view(xp.float32)
        with pytest.raises(ValueError, match="contiguous last axis; copy the array"):
            xp.asarray([[1.0, 2.0], [3.0, 4.0]]).T.view(complex)
        with pytest.raises(TypeError, match="convert with astype"):
            xp.asarray([True]).view(xp.uint8)
        with pytest.raises(TypeError, match="convert with astype"):
            xp.asarray([1], dtype=xp.uint8).view(bool)
