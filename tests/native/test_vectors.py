"""Values looked up among many sorted elements (vectors.c), evenly spaced or nearly so."""

import numpy as np
import pytest

from array_api_nx.native import native
from tests.support.implementations import needs_native

pytestmark = needs_native

LARGE = 1e308


def sorted_elements(rng, kind, size, dtype):
    if kind == "even":
        made = np.linspace(-3.7, 11.1, size)
    elif kind == "cluster":
        made = np.concatenate([np.linspace(0, 1, size - size // 3), np.full(size // 3, 0.5)])
    elif kind == "repeated":
        made = np.floor(np.linspace(0, size / 3, size))
    elif kind == "wide":
        made = np.linspace(-LARGE, LARGE, size)
    elif kind == "NaN behind":
        made = np.concatenate([np.linspace(0, 5, size - 2), [np.nan, np.nan]])
    else:
        made = rng.random(size) ** 4
    with np.errstate(over="ignore"):
        return np.sort(made.astype(dtype))


@pytest.mark.parametrize("kind", ["even", "cluster", "repeated", "wide", "NaN behind", "uneven"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", [16, 17, 100, 1001])
@pytest.mark.parametrize("right", [False, True])
def test_places_are_those_of_numpy(kind, dtype, size, right):
    rng = np.random.default_rng(size)
    array = sorted_elements(rng, kind, size, dtype)
    assert native is not None
    with np.errstate(all="ignore"):
        values = np.concatenate(
            [
                rng.uniform(-5, 15, 100),
                array,
                np.nextafter(array, -np.inf),
                np.nextafter(array, np.inf),
                [np.nan, np.inf, -np.inf, LARGE, -LARGE, 0.0, -0.0],
            ]
        ).astype(dtype)
    places = np.empty(values.shape, np.int64)
    native.find_places(array, values, right, places)
    assert np.array_equal(places, array.searchsorted(values, "right" if right else "left"))
