"""Arrays made in other ways than the standard's."""

import numpy as np
import pytest

import array_api_nx as xp
from tests.support.refusals import refused
from tests.support.tables import for_each


@for_each("k", [-3, -1, 0, 1, 2, 7])
@for_each("size", [0, 1, 4])
def test_diag_of_a_vector(size, k):
    values = np.arange(1, size + 1)
    result = xp.extra.diag(xp.asarray(values), k=k)
    assert result.dtype is xp.int64
    assert np.array_equal(np.asarray(result), np.diag(values, k))


@pytest.mark.parametrize("k", [-1, 0, 2])
def test_diag_of_a_matrix(k):
    values = np.arange(12.0).reshape(3, 4)
    assert np.array_equal(np.asarray(xp.extra.diag(xp.asarray(values), k=k)), np.diag(values, k))


def test_diag_refuses_other_dimensions():
    refused(ValueError, r"not shape \(\); use linalg.diagonal", xp.extra.diag, xp.asarray(1.0))


def test_logspace():
    assert np.allclose(np.asarray(xp.extra.logspace(0, 3, 4)), [1, 10, 100, 1000], rtol=1e-15)
    result = xp.extra.logspace(0, 2, 4, base=2.0, endpoint=False, dtype=xp.float32)
    assert result.dtype is xp.float32
    assert np.allclose(np.asarray(result), np.logspace(0, 2, 4, base=2.0, endpoint=False))
