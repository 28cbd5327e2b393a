"""Functions beyond the standard, and where they are found."""

from __future__ import annotations

import numpy as np
import pytest

import array_api_nx as xp


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


def test_the_top_level_serves_them_without_listing_them() -> None:
    assert xp.diag is xp.extra.diag
    assert xp.logspace is xp.extra.logspace
    assert not {"diag", "logspace"} & {*xp.__all__, *dir(xp)}
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
