"""Linear algebra that the standard's extension lacks."""

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.tracing.recorder import TraceError
from tests.extra.everywhere import DTYPES, agree, everywhere, ours, random, refuses
from tests.support.tables import for_each


@pytest.mark.parametrize("dtype", DTYPES)
def test_lstsq(dtype):
    rng = np.random.default_rng(1)
    exact = dtype if dtype[0] in "fc" else "float64"
    tolerance = 2e-3 if exact in ("float32", "complex64") else 1e-9
    for shape in ((5, 5), (7, 4), (40, 3), (3, 6), (1, 1)):
        for columns in ((), (1,), (3,), (0,)):
            a, b = random(rng, shape, dtype), random(rng, (shape[0], *columns), dtype)
            x, residuals, rank, s = xp.linalg.lstsq(ours(a), ours(b))
            expected = np.linalg.lstsq(a.astype(exact), b.astype(exact))
            agree((x, s), (expected[0], expected[3]), shape, rtol=tolerance)
            if columns != (0,):
                agree(residuals, expected[1], shape, rtol=tolerance)
            assert int(rank) == expected[2]
            assert (rank.dtype, rank.shape) == (xp.int64, ())


@pytest.mark.parametrize("rcond", [None, -1, 1e-3, 0.9])
def test_lstsq_of_a_matrix_without_full_rank(rcond):
    rng = np.random.default_rng(2)
    for rows in (4, 20):
        u, _ = np.linalg.qr(rng.normal(size=(rows, 4)))
        vh, _ = np.linalg.qr(rng.normal(size=(4, 4)))
        a, b = u * [3.0, 2.0, 1e-5, 1e-20] @ vh, rng.normal(size=(rows, 2))
        x, residuals, rank, s = xp.linalg.lstsq(ours(a), ours(b), rcond=rcond)
        expected = np.linalg.lstsq(a, b, rcond)
        assert int(rank) == expected[2]
        agree((x, residuals), expected[:2], rcond, rtol=1e-6)
        agree(s, expected[3], rcond, rtol=1e-12)


def test_lstsq_promotes():
    x, *_ = xp.linalg.lstsq(xp.eye(2, dtype=xp.float32), xp.ones(2, dtype=xp.complex64))
    agree(x, np.ones(2, dtype="complex64"))


def test_lstsq_is_found_in_linalg_but_not_listed():
    assert "lstsq" not in {*dir(xp.linalg), *xp.linalg.__all__, *dir(xp), *dir(xp.extra)}
    assert not hasattr(xp, "lstsq")
    with xp.config_context(extras=False):
        assert not hasattr(xp.linalg, "lstsq")


test_lstsq_refuses = refuses(
    [
        (lambda a: xp.linalg.lstsq(a, [1.0]), TypeError, "asarray"),
        (lambda a: xp.linalg.lstsq(a[0, :], a[0, :]), ValueError, "call it for each matrix"),
        (lambda a: xp.linalg.lstsq(a, xp.ones(2)), ValueError, r"\(3, 2\) and \(2,\)"),
        (lambda a: xp.linalg.lstsq(a * np.nan, xp.ones(3)), np.linalg.LinAlgError, "isfinite"),
    ],
    lambda: xp.ones((3, 2)),
)


def wide(a, b):
    return tuple(xp.linalg.lstsq(a, b))


def test_lstsq_is_refused_in_traces():
    # The number of residuals depends on the rank, and so on elements.
    with pytest.raises(TraceError, match="needs the value of an element"):
        xp.eval_shape(wide, xp.ones((5, 3)), xp.ones(5))


_, test_tall_matrices_on_devices = everywhere({"tall": wide}, (9, 3), (9,))
test_in_traces, test_on_devices = everywhere(
    {
        "wide": (wide, (3, 5), (3,)),
        "several": (wide, (3, 5), (3, 2)),
        "norm": (xp.linalg.norm, (2, 3)),
        "norm along an axis": (lambda x: xp.linalg.norm(x, axis=0), (2, 3)),
        "norm of matrices": (lambda x: xp.linalg.norm(x, 1, (1, 0), keepdims=True), (2, 3)),
    }
)


ORDERS = [None, 1, 2, -1, -2, 0, 3, 0.5, np.inf, -np.inf, "fro", "nuc"]


@for_each("order", ORDERS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "complex128", "bool"])
def test_norm(dtype, order):
    rng = np.random.default_rng(5)
    exact = dtype if dtype[0] in "fc" else "float64"
    agreed = 0
    for shape in ((3,), (2, 3), (4, 2, 3)):
        values = random(rng, shape, dtype) + np.asarray(1, dtype)
        for axis in (None, 0, -1, (0, 1), (1, 0), (-1, -2), (-1, 0)):
            for keepdims in (False, True):
                try:
                    expected = np.linalg.norm(values.astype(exact), order, axis, keepdims)
                except ValueError:
                    with pytest.raises((ValueError, IndexError)):
                        xp.linalg.norm(ours(values), order, axis, keepdims=keepdims)
                    continue
                found = xp.linalg.norm(ours(values), order, axis, keepdims=keepdims)
                agree(found, np.asarray(expected), (shape, axis), rtol=1e-4)
                agreed += 1
    assert agreed > 6


test_norm_refuses = refuses(
    [
        (lambda x: xp.linalg.norm(x, "fro", axis=0), ValueError, "vectors have no norm 'fro'"),
        (lambda x: xp.linalg.norm(x, 1), ValueError, "of a vector or a matrix, but the shape"),
        (lambda x: xp.linalg.norm(x, axis=(0, 1, 2)), ValueError, "use linalg.vector_norm for"),
        (lambda x: xp.linalg.norm(x, axis=(0, 0)), ValueError, "axis|axes"),
    ],
    lambda: xp.ones((2, 3, 4)),
)
