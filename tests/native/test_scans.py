"""Differences of neighbours in C against the Python function.

The tests of running sums are in test_reductions.
"""

from __future__ import annotations

import numpy as np
import pytest

import array_api_nx as xp
from tests.support import implementations
from tests.support.alike import DTYPES, compare, layouts

pytestmark = implementations.needs_native


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("errors", ["warn", "raise"])
def test_diff(dtype: str, errors: str) -> None:
    rng = np.random.default_rng(DTYPES.index(dtype))
    for _ in range(30):
        shape = tuple([int(n) for n in rng.integers(0, 6, int(rng.integers(0, 4)))])
        x = layouts(rng, dtype, shape)
        with np.errstate(all=errors):  # type: ignore[call-overload]
            compare(xp.diff, x)
            compare(xp.diff, x, axis=int(rng.integers(-3, 3)))
            compare(xp.diff, x, int(rng.integers(-1, 3)))
            compare(xp.diff, x, prepend=x)


def test_many_elements_and_bad_arguments() -> None:
    x = xp.asarray(np.arange(40000.0).reshape(200, 200), copy=True)
    for part in (x, x[:80], x[:80].T, x[::2, :160]):
        compare(xp.diff, part)
        compare(xp.diff, part, axis=0)
    for bad in (None, 1.0, np.ones(3)):
        compare(xp.diff, bad)
    compare(xp.diff, x, axis=None)
    compare(xp.diff, x, 1.0)
    compare(xp.diff, x, unknown=1)
