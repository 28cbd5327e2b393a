"""Formulas of each chapter, for 200 elements of float64, which Dask computes as the CPU does."""

from collections.abc import Callable
from typing import Any

import numpy as np

import array_api_nx as xp


def matrices(x: xp.Array) -> xp.Array:
    return xp.reshape(x[:180], (5, 6, 6)) + 50 * xp.eye(6, dtype=x.dtype, device=x.device)


def assigned(x: xp.Array) -> xp.Array:
    y = xp.asarray(x, copy=True)
    y[3:90:2] = y[100:144]
    y[xp.arange(5, device=x.device)] = 7.0
    y[y > 20] = 0.0
    return y


def table(x: xp.Array) -> xp.Array:
    return xp.reshape(x, (20, 10))


def standardised(x: xp.Array) -> xp.Array:
    t = table(x)
    return (t - xp.mean(t, axis=0)) / xp.std(t, axis=0)


FORMULAS: dict[str, Callable[[xp.Array], Any]] = {
    "elementwise": lambda x: xp.sin(x) * x + xp.sqrt(xp.abs(x)),
    "broadcast": lambda x: table(x) * table(x)[:, :1] - table(x)[0, :],
    "casts": lambda x: xp.astype(x, xp.int16) + xp.astype(x, xp.int16),
    "where": lambda x: xp.where(x > 0, x, -x),
    "clip": lambda x: xp.clip(x, -3.0, 40.0),
    "sum": lambda x: xp.sum(table(x) * table(x), axis=0),
    "mean": lambda x: xp.mean(x),
    "max": lambda x: xp.max(table(x), axis=1),
    "any": lambda x: xp.any(x > 49),
    "std": lambda x: xp.std(table(x), axis=0),
    "standardise": lambda x: xp.max(standardised(x)),
    "argmax": lambda x: xp.argmax(table(x), axis=0),
    "cumulative_sum": lambda x: xp.cumulative_sum(x),
    "cumulative_prod": lambda x: xp.cumulative_prod(x / 20),
    "sort": lambda x: xp.sort(x),
    "argsort": lambda x: xp.argsort(table(x), axis=0),
    "searchsorted": lambda x: xp.searchsorted(xp.sort(x), x[:50]),
    "unique": lambda x: xp.unique_all(x),
    "isin": lambda x: xp.isin(x, x[::7]),
    "bincount": lambda x: xp.extra.bincount(xp.astype(xp.abs(x), xp.int64)),
    "take": lambda x: xp.take(table(x), xp.asarray([3, 0, 19], device=x.device), axis=0),
    "take_along_axis": lambda x: xp.take_along_axis(table(x), xp.argsort(table(x), axis=1), axis=1),
    "a mask": lambda x: x[x > 10],
    "nonzero": lambda x: xp.nonzero(x > 10),
    "assignments": assigned,
    "concat": lambda x: xp.concat([x, -x]) * 2,
    "stack": lambda x: xp.stack([x, -x], axis=1) * 2,
    "roll": lambda x: xp.roll(x, 17) + 1,
    "repeat": lambda x: xp.repeat(x, 3) + 1,
    "flip": lambda x: xp.flip(table(x), axis=0) + 1,
    "transpose": lambda x: table(x).T + 1,
    "view": lambda x: x.view(xp.int32) + 1,
    "diff": lambda x: xp.diff(x),
    "matmul": lambda x: table(x).T @ table(x),
    "tensordot": lambda x: xp.tensordot(table(x), table(x), axes=((0,), (0,))),
    "vecdot": lambda x: xp.vecdot(table(x), table(x)),
    "fft": lambda x: xp.fft.fft(table(x), axis=0),
    "rfft": lambda x: xp.fft.irfft(xp.fft.rfft(x)),
    "solve": lambda x: xp.linalg.solve(matrices(x), matrices(x)[:, :, :2]),
    "inv": lambda x: xp.linalg.inv(matrices(x)),
    "svdvals": lambda x: xp.linalg.svdvals(table(x)),
    "qr": lambda x: xp.abs(xp.linalg.qr(table(x)).R),
    "complex": lambda x: xp.astype(x, xp.complex64) * (1 + 2j),
    "compiled": lambda x: xp.compile(standardised)(x),
    "compiled for chunks": lambda x: xp.compile(lambda x: x * x + xp.sin(x), engine="native")(x),
    "ufunc of SciPy": lambda x: xp.special.expit(x) + 1,
    "random numbers": lambda x: xp.random.default_rng(3, device=x.device).normal(x),
}


def assert_alike(name: str, x: xp.Array, y: xp.Array) -> None:
    found, expected = FORMULAS[name](x), FORMULAS[name](y)
    if isinstance(expected, xp.Array):
        found, expected = [found], [expected]
    for one, other in zip(found, expected, strict=True):
        assert (one.shape, one.dtype) == (other.shape, other.dtype)
        np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=1e-9, atol=1e-9)
