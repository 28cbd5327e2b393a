"""Methods of the array beyond the standard's."""

from __future__ import annotations

import numpy as np
import pytest

import array_api_nx as xp


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
