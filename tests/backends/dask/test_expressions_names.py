"""The names of tasks on a dashboard: the words of their keys."""

import re

import dask
import numpy as np
from dask.utils import key_split

import array_api_nx as xp
from tests.backends.dask.programs import SMALL, numbers, on_dask
from tests.support.tables import for_each

x = on_dask(numbers(40, 5))
COMPUTED = {
    "add": lambda: x + 1,
    "exp-multiply-add": lambda: xp.exp(x) * 2 + 1,
    "floor_divide": lambda: x // 3,
    "floor-divide-add": lambda: x // 3 + 1,
    "exp-to-sqrt": lambda: xp.sqrt(xp.abs(xp.exp(x) * 2 + 1)),
    "erf": lambda: xp.special.erf(x),
    "where": lambda: xp.where(on_dask([True] * 5), x, 0.0),
    "cast": lambda: xp.astype(x, xp.float32),
    "sum": lambda: xp.sum(x),
    "multiply-sum": lambda: xp.sum(x * 2),
    "count_nonzero": lambda: xp.count_nonzero(x),
    "moments": lambda: xp.var(x),
    "greater-select": lambda: xp.max(x[x > 0]),
    "argmax": lambda: xp.argmax(x),
    "cumulative_sum": lambda: xp.cumulative_sum(x, axis=0),
    "sort": lambda: xp.sort(x, axis=0),
    "matmul": lambda: x @ x.T,
    "svd": lambda: xp.linalg.svd(x[:5, :])[0],
    "qr": lambda: xp.linalg.qr(on_dask(numbers(200, 2)))[1],
    "fft": lambda: xp.fft.fft(xp.astype(x, xp.complex128)),
    "draw": lambda: xp.random.default_rng(0, device=SMALL).random((9, 9)),
    "arange": lambda: xp.arange(90, device=SMALL),
    "concatenate": lambda: xp.concat([x, x]),
    "take": lambda: xp.take(x, on_dask([1, 3]), axis=0),
    "assign": lambda: written(),
}  # fmt: skip


def written():
    y = xp.asarray(x, copy=True)
    y[1:3, :] = 0.0
    return y


def names(result, optimise):
    (array,) = optimise(result._device.backend.array(result._handle))  # type: ignore[misc]
    return {key_split(key) for key in array.dask}


@for_each("name", COMPUTED)
def test_tasks_are_called_by_their_operations(name):
    found = names(COMPUTED[name](), lambda array: (array,))
    assert name in found, found


@for_each("name", COMPUTED)
def test_no_task_is_called_by_a_hash(name):
    result = COMPUTED[name]()
    for optimise in (lambda array: (array,), dask.optimize):
        for each in names(result, optimise):
            assert re.fullmatch("[a-z][a-z0-9_]*(-[a-z]+)*", each), each
            assert not re.search("[0-9a-f]{8}", each), each


def test_keys_are_short_enough_for_dask_to_keep_their_tokens_when_it_fuses_tasks():
    y = x
    for _ in range(20):
        y = xp.sqrt(xp.abs(xp.logical_not(xp.exp(y) > 1) + xp.log1p(xp.abs(y))))
    (array,) = dask.optimize(xp.sum(y)._handle.array(y._device.backend.grid))
    for key in array.dask:
        assert len(key[0] if isinstance(key, tuple) else key) < 110
    assert float(xp.sum(y)) == float(xp.sum(y + 0)) or np.isnan(float(xp.sum(y)))
