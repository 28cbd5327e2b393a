"""Ten functions that are right on NumPy, and each wrong, or lost, on some other array library.

Each has one mistake that people make; docs/testing.md says by which mode of the testing kit it is
found, and test_library.py is what finds it.
"""

from __future__ import annotations

import numpy as np
from array_api_compat import array_namespace


def geometric_mean(x):
    """Mistake: NumPy behind the caller's back. On a GPU there is no such way to the elements."""
    xp = array_namespace(x)
    return xp.asarray(np.exp(np.mean(np.log(np.asarray(x)))))


def positive_part_sum(x):
    """Mistake: a mask as index, whose result has a size that compilers cannot know."""
    xp = array_namespace(x)
    return xp.sum(x[x > 0])


def standardise(x):
    """Mistake: double precision by name, which some devices do not have."""
    xp = array_namespace(x)
    x = xp.astype(x, xp.float64)
    return (x - xp.mean(x)) / xp.std(x)


def centre_of_mass(x):
    """Mistake: an array that is made without `device=`, beside one that is elsewhere."""
    xp = array_namespace(x)
    positions = xp.arange(x.shape[0], dtype=x.dtype)
    return xp.sum(positions * x) / xp.sum(x)


def channels_first(image):
    """Mistake: `.T` on three axes, which NumPy reverses, and which the standard has for two."""
    return image.T


def without_mean(x):
    """Mistake: writes into an array, which not every library allows."""
    xp = array_namespace(x)
    x = xp.asarray(x, copy=True)
    x[...] = x - xp.mean(x)
    return x


def euclidean_length(x):
    """Mistake: Python goes through the elements, each of which has to be computed and fetched."""
    xp = array_namespace(x)
    total = 0.0
    for i in range(x.shape[0]):
        total += float(x[i]) ** 2
    return xp.asarray(total**0.5, dtype=x.dtype)


def weighted(x):
    """Mistake: integers beside floating-point numbers, whose common dtype no standard tells."""
    xp = array_namespace(x)
    return xp.sum(xp.arange(x.shape[0]) * x)


def number_of_values(x):
    """Mistake: the number of results depends on the elements."""
    xp = array_namespace(x)
    return xp.asarray(xp.unique_values(x).shape[0])


def with_first_doubled(x):
    """Mistake: relies on a slice being a view, so that a write to it changes the whole."""
    xp = array_namespace(x)
    x = xp.asarray(x, copy=True)
    first = x[:1]
    first *= 2
    return x
