"""How far an engine's function is from SciPy's: over all magnitudes, and at special values."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np

SPECIAL: Final = [0.0, 1.0, 0.5, 2.0, 3.0, 10.0, 26.5, 88.0, 90.5, 171.5, 700.0, 745.0, 1e5, 1e20]


def operands(count: int, dtype: type) -> list[Any]:
    """As many ndarrays of one dtype: random numbers of either sign, all pairs of special ones."""
    info = np.finfo(dtype)
    rng = np.random.default_rng(0)
    special = [*SPECIAL, info.max, info.tiny, info.eps, 1 - info.eps, 1 + info.eps, np.inf, np.nan]
    special += [-value for value in special]
    low, high = np.log10(float(info.tiny)), np.log10(float(info.max))

    def drawn(size: int) -> Any:
        wide = 10 ** rng.uniform(low, high, size) * rng.choice([-1, 1], size)
        usual = 10 ** rng.uniform(-6, 3, size) * rng.choice([-1, 1], size)
        return np.concatenate([wide, usual, rng.uniform(-8, 8, size), rng.uniform(0, 1, size)])

    crossed = np.meshgrid(*[special] * count)
    return [np.concatenate([x.ravel(), drawn(2000)]).astype(dtype) for x in crossed]


def distance(
    ours: Callable[..., Any], ufunc: np.ufunc, dtype: type, *, flushes: bool = False
) -> float:
    """The largest error, in roundings of the result plus the effect of one rounding of an operand.

    It is inf if one of two results is NaN or infinite, and the other is something else. Errors
    below the smallest normal number do not count; if the engine `flushes`, neither do operands
    there.
    """
    info = np.finfo(dtype)
    values = operands(ufunc.nin, dtype)
    tiny = float(info.tiny)
    with np.errstate(all="ignore"):
        expected = ufunc(*values)
        exact = expected.astype(np.float64)
        unit = float(info.eps) * np.abs(exact) + tiny
        for place, value in enumerate(values):
            for side in (np.inf, -np.inf):
                moved = [*values]
                moved[place] = np.nextafter(value, dtype(side))
                change = np.abs(ufunc(*moved).astype(np.float64) - exact)
                unit += np.where(np.isfinite(change), change, 0)
        result = ours(*values)
        assert result.dtype == expected.dtype
        assert result.shape == expected.shape
        error = np.abs(result.astype(np.float64) - exact) / unit
    alike = (result == expected) | (np.isnan(result) & np.isnan(expected))
    finite = np.isfinite(result) & np.isfinite(expected)
    error = np.where(alike, 0, np.where(finite, error, np.inf))
    if flushes:
        normal = np.logical_and.reduce(
            [(np.abs(x) >= tiny) | (x == 0) | np.isnan(x) for x in values]
        )
        error = np.where(normal, error, 0)
    return float(np.max(error))
