"""Singular values and triangles of tall matrices, which the CPU backend takes from products."""

import numpy as np
import pytest

import array_api_nx as xp
from tests.support.refusals import refused


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(4096, 8), (5000, 12), (5000, 7), (4095, 8), (4096, 60)])
@pytest.mark.parametrize("smallest", [1.0, 1e-3, 1e-9, 0.0])
def test_tall_matrices_have_numpys_accuracy(dtype, shape, smallest):
    rng = np.random.default_rng(3)
    plain = (rng.normal(size=shape) * np.geomspace(8, max(smallest, 1e-12), shape[1])).astype(dtype)
    if not smallest:
        plain[:, 0] = plain[:, 1]
    x = xp.asarray(plain, copy=True)
    u, values, vh = [np.asarray(part) for part in xp.linalg.svd(x, full_matrices=False)]
    expected = np.linalg.svd(plain, compute_uv=False)
    error = 40 * float(np.finfo(dtype).eps) * float(expected[0])
    assert u.dtype == values.dtype == vh.dtype == plain.dtype
    np.testing.assert_allclose(values, expected, rtol=0, atol=error)
    np.testing.assert_allclose(np.asarray(xp.linalg.svdvals(x)), expected, rtol=0, atol=error)
    np.testing.assert_allclose(u * values @ vh, plain, rtol=0, atol=error)
    identity = np.eye(shape[1])
    np.testing.assert_allclose(u.T @ u, identity, rtol=0, atol=error)
    np.testing.assert_allclose(vh @ vh.T, identity, rtol=0, atol=error)
    q, r = [np.asarray(part) for part in xp.linalg.qr(x)]
    assert q.dtype == r.dtype == plain.dtype
    np.testing.assert_allclose(q @ r, plain, rtol=0, atol=error)
    np.testing.assert_allclose(q.T @ q, identity, rtol=0, atol=error)
    np.testing.assert_array_equal(np.tril(r, -1), 0)


def test_tall_matrices_that_are_not_finite_raise_numpys_error():
    x = np.ones((5000, 9))
    x[7, 3] = np.nan
    refused(xp.linalg.LinAlgError, None, xp.linalg.svd, xp.asarray(x), full_matrices=False)
