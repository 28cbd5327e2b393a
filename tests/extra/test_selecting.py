"""Elements chosen by their rank along an axis."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import array_api_nx as xp
from tests.backends.engines.devices import device as find

NDArray = np.ndarray[Any, Any]
SHAPE = (4, 3, 6)
OTHER_DEVICES = ("torch:cpu", "jax:cpu", "dask")


def values(dtype: str, shape: tuple[int, ...] = SHAPE, seed: int = 0) -> NDArray:
    """Numbers with repetitions, some of them NaN if the dtype has it."""
    rng = np.random.default_rng(seed)
    numbers = rng.integers(-20, 20, shape).astype(dtype)
    if numbers.dtype.kind == "f":
        numbers[rng.random(shape) < 0.2] = np.nan
    return numbers


def layouts(x: NDArray) -> list[xp.Array]:
    """Arrays with the elements of `x` in different orders in memory."""
    axes = tuple(range(x.ndim))[::-1]
    wide = np.repeat(x, 2, axis=-1)
    return [
        xp.asarray(x, copy=True),
        xp.permute_dims(xp.asarray(np.ascontiguousarray(x.T)), axes),
        xp.asarray(wide)[..., ::2],
        xp.flip(xp.asarray(np.flip(x).copy())),
    ]


# ---------------------------------------------------------------------- partitions


def check_partition(found: NDArray, x: NDArray, kth: Any, axis: int) -> None:
    """Whether `found` is `x`, partitioned at the positions `kth`."""
    borders = sorted({border for k in np.ravel(kth) % x.shape[axis] for border in (k, k + 1)})
    parts = np.split(found, borders, axis)
    ordered = np.concatenate([np.sort(part, axis) for part in parts], axis)
    np.testing.assert_array_equal(ordered, np.sort(x, axis), strict=True)


@pytest.mark.parametrize("kth", [0, -1, 1, [2, 0], (1, -2, 1), np.int64(1)], ids=str)
@pytest.mark.parametrize("axis", [0, 1, -1, None])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "uint8", "bool"])
def test_partition(dtype: str, axis: int | None, kth: Any) -> None:
    whole = values(dtype)
    for given in layouts(whole):
        result = xp.extra.partition(given, kth, axis)
        order = xp.extra.argpartition(given, kth, axis)
        assert order.dtype is xp.int64
        x, along = (whole.reshape(-1), 0) if axis is None else (whole, axis)
        check_partition(np.asarray(result), x, kth, along)
        check_partition(np.take_along_axis(x, np.asarray(order), along), x, kth, along)
        np.testing.assert_array_equal(np.asarray(given), whole)


@pytest.mark.parametrize("shape", [(100_003,), (300, 1000), (1000, 300)], ids=str)
@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize("dtype", ["float64", "int32"])
def test_large_partitions_are_numpy_s(dtype: str, axis: int, shape: tuple[int, ...]) -> None:
    x = values(dtype, shape)
    for kth in (0, [-5, 7], shape[axis] // 2):
        result = xp.extra.partition(xp.asarray(x), kth, axis)
        np.testing.assert_array_equal(result, np.partition(x, kth, axis), strict=True)
        order = xp.extra.argpartition(xp.asarray(x), kth, axis)
        np.testing.assert_array_equal(order, np.argpartition(x, kth, axis), strict=True)


@pytest.mark.parametrize("name", OTHER_DEVICES)
def test_partition_on_other_devices(name: str) -> None:
    device = find(name)
    x = values("float64", (7, 9))
    given = xp.asarray(x, device=device)
    for kth in (0, [3, -1]):
        result = xp.extra.partition(given, kth, 1)
        order = xp.extra.argpartition(given, kth, 1)
        assert result.device == order.device == device
        check_partition(np.asarray(result.to_device("cpu")), x, kth, 1)
        indices = np.asarray(order.to_device("cpu"))
        check_partition(np.take_along_axis(x, indices, 1), x, kth, 1)


def test_partition_in_compiled_functions() -> None:
    @xp.compile
    def middle(x: xp.Array) -> tuple[xp.Array, xp.Array]:
        k = x.shape[1] // 2
        return xp.extra.partition(x, k, 1)[:, k], xp.extra.argpartition(x, [k, -1])[:, -1]

    for shape in ((2, 5), (7, 9), (3, 12)):
        x = values("int64", shape)
        median, greatest = middle(xp.asarray(x))
        np.testing.assert_array_equal(median, np.sort(x, 1)[:, shape[1] // 2])
        np.testing.assert_array_equal(x[np.arange(shape[0]), np.asarray(greatest)], x.max(1))


def test_partition_of_shapes() -> None:
    spec = xp.ShapeSpec(("n", 5), xp.float32)
    result = xp.eval_shape(lambda x: xp.extra.partition(x, 2), spec)
    assert repr(result) == repr(spec)
    order = xp.eval_shape(lambda x: xp.extra.argpartition(x, -1, None), spec)
    assert repr(order) == "ShapeSpec((5*n,), int64)"


@pytest.mark.parametrize("function", [xp.extra.partition, xp.extra.argpartition])
@pytest.mark.parametrize(
    ("shape", "dtype", "kth", "axis", "error", "words"),
    [
        ((3, 4), "float64", 4, -1, ValueError, "kth 4 is out of range for axis 1 of size 4"),
        ((3, 4), "float64", [0, -4], 0, ValueError, "kth -4 is out of range .* from -3 to 2"),
        ((3, 0), "float64", 0, -1, ValueError, "legal: none"),
        ((3, 4), "float64", [], -1, ValueError, "names no position"),
        ((3, 4), "float64", 1.5, -1, TypeError, "kth must be an int, not 1.5"),
        ((3, 4), "float64", 1, 2, IndexError, "axis 2 is out of range"),
        ((), "float64", 0, -1, IndexError, "the array is 0-dimensional"),
        ((3, 4), "complex64", 1, -1, TypeError, "not complex64; convert"),
    ],
)
def test_partition_refuses(
    function: Any,
    shape: tuple[int, ...],
    dtype: str,
    kth: Any,
    axis: int,
    error: type[Exception],
    words: str,
) -> None:
    with pytest.raises(error, match=words):
        function(xp.zeros(shape, dtype=getattr(xp, dtype)), kth, axis)


@pytest.mark.parametrize("function", [xp.extra.partition, xp.extra.argpartition])
def test_partition_takes_our_arrays_only(function: Any) -> None:
    for x in (np.ones(3), [1.0, 2.0]):
        with pytest.raises(TypeError, match="asarray"):
            function(x, 0)
