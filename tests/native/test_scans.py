"""Differences of neighbours in C against the Python function, and running sums and products of many
elements against NumPy's. (Those of few are in test_reductions.)"""

import numpy as np
import pytest

import array_api_nx as xp
from tests.support import implementations
from tests.support.alike import DTYPES, compare
from tests.support.implementations import random_array

pytestmark = implementations.needs_native


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("errors", ["warn", "raise"])
def test_diff(dtype, errors):
    rng = np.random.default_rng(DTYPES.index(dtype))
    for _ in range(30):
        shape = tuple([int(n) for n in rng.integers(0, 6, int(rng.integers(0, 4)))])
        x = random_array(rng, dtype, shape)
        with np.errstate(all=errors):  # type: ignore[call-overload]
            compare(xp.diff, x)
            compare(xp.diff, x, axis=int(rng.integers(-3, 3)))
            compare(xp.diff, x, int(rng.integers(-1, 3)))
            compare(xp.diff, x, prepend=x)


def test_many_elements_and_bad_arguments():
    x = xp.asarray(np.arange(40000.0).reshape(200, 200), copy=True)
    for part in (x, x[:80], x[:80].T, x[::2, :160]):
        compare(xp.diff, part)
        compare(xp.diff, part, axis=0)
    for bad in (None, 1.0, np.ones(3)):
        compare(xp.diff, bad)
    compare(xp.diff, x, axis=None)
    compare(xp.diff, x, 1.0)
    compare(xp.diff, x, unknown=1)


SCANNED = ("float32", "float64", "int8", "uint16", "int64", "complex128", "bool")
SHAPES = [
    *((70_000,), (300, 400), (2, 30_000), (30_000, 20)),
    *((5, 70, 330), (40, 3, 210), (1, 9, 5000)),
]


def numbers(shape, dtype):
    """With zeros of either sign and NaN."""
    rng = np.random.default_rng(17)
    values = rng.integers(-3, 4, shape) * 0.3
    if dtype.startswith(("float", "complex")):
        values[rng.random(shape) < 0.3] *= -0.0
        values[rng.random(shape) < 0.0005] = np.nan
    if dtype.startswith("complex"):
        values = values + 1j * rng.standard_normal(shape)
    return values.astype(dtype)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(
    "dtype", ["float32", "float64", "int8", "uint16", "int64", "complex128", "bool"]
)
@pytest.mark.parametrize("name", ["cumulative_sum", "cumulative_prod"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_scans_of_many_elements_are_numpys(name, dtype, threads):
    scan = np.add.accumulate if name == "cumulative_sum" else np.multiply.accumulate
    shapes = [
        (70_000,),
        (300, 400),
        (2, 30_000),
        (30_000, 20),
        (5, 70, 330),
        (40, 3, 210),
        (1, 9, 5000),
    ]
    for shape in shapes:
        whole = numbers(shape, dtype)
        for x in (whole, whole.T, whole[::-1], whole[..., ::2]):
            ours = xp.asarray(x)
            for axis in range(x.ndim):
                with xp.config_context(num_threads=threads):
                    found = getattr(xp, name)(ours, axis=axis)
                assert not np.any(np.isnan(x)) or x.dtype.kind in "fc"
                expected = scan(x, axis, np.asarray(found).dtype)
                np.testing.assert_array_equal(np.asarray(found), expected)
                assert found.__array__().strides == expected.strides


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("axis", [0, 1])
def test_scans_warn_once(axis):
    x = xp.full((200, 300), 1e307)
    with pytest.warns(RuntimeWarning, match="overflow encountered in accumulate") as found:
        xp.cumulative_sum(x, axis=axis)
    assert len(found) == 1
    with np.errstate(over="ignore"):
        xp.cumulative_sum(x, axis=axis)
    with np.errstate(over="raise"), pytest.raises(FloatingPointError, match="accumulate"):
        xp.cumulative_sum(x, axis=axis)
