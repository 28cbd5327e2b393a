"""Elements chosen by their rank along an axis."""

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.extra import selecting
from tests.backends.engines.devices import device as find
from tests.extra.everywhere import DEVICES, layouts_of
from tests.support.refusals import refused
from tests.support.tables import for_each

SHAPE = (4, 3, 6)


def values(dtype, shape=SHAPE, seed=0):
    """Numbers with repetitions, some of them NaN if the dtype has it."""
    rng = np.random.default_rng(seed)
    numbers = rng.integers(-20, 20, shape).astype(dtype)
    if numbers.dtype.kind == "f":
        numbers[rng.random(shape) < 0.2] = np.nan
    return numbers


def check_partition(found, x, kth, axis):
    """Whether `found` is `x`, partitioned at the positions `kth`."""
    borders = sorted({border for k in np.ravel(kth) % x.shape[axis] for border in (k, k + 1)})
    parts = np.split(found, borders, axis)
    ordered = np.concatenate([np.sort(part, axis) for part in parts], axis)
    np.testing.assert_array_equal(ordered, np.sort(x, axis), strict=True)


@for_each("kth", [0, -1, 1, [2, 0], (1, -2, 1), np.int64(1)])
@for_each("axis", [0, 1, -1, None])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "uint8", "bool"])
def test_partition(dtype, axis, kth):
    whole = values(dtype)
    for given in layouts_of(whole):
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
def test_large_partitions(dtype, axis, shape):
    x = values(dtype, shape)
    for kth in (0, [-5, 7], shape[axis] // 2):
        result = xp.extra.partition(xp.asarray(x), kth, axis)
        check_partition(np.asarray(result), x, kth, axis)
        order = xp.extra.argpartition(xp.asarray(x), kth, axis)
        np.testing.assert_array_equal(order, np.argpartition(x, kth, axis), strict=True)


@pytest.mark.parametrize("name", DEVICES)
def test_partition_on_other_devices(name):
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


def test_partition_in_compiled_functions():
    @xp.compile
    def middle(x):
        k = x.shape[1] // 2
        return xp.extra.partition(x, k, 1)[:, k], xp.extra.argpartition(x, [k, -1])[:, -1]

    for shape in ((2, 5), (7, 9), (3, 12)):
        x = values("int64", shape)
        median, greatest = middle(xp.asarray(x))
        np.testing.assert_array_equal(median, np.sort(x, 1)[:, shape[1] // 2])
        np.testing.assert_array_equal(x[np.arange(shape[0]), np.asarray(greatest)], x.max(1))


def test_partition_of_shapes():
    spec = xp.ShapeSpec(("n", 5), xp.float32)
    result = xp.eval_shape(lambda x: xp.extra.partition(x, 2), spec)
    assert repr(result) == repr(spec)
    order = xp.eval_shape(lambda x: xp.extra.argpartition(x, -1, None), spec)
    assert repr(order) == "ShapeSpec((5*n,), int64)"


@for_each("function", [xp.extra.partition, xp.extra.argpartition])
@for_each(
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
def test_partition_refuses(function, shape, dtype, kth, axis, error, words):
    refused(error, words, function, xp.zeros(shape, dtype=getattr(xp, dtype)), kth, axis)


@pytest.mark.parametrize("function", [xp.extra.partition, xp.extra.argpartition])
@xp.config_context(operands="strict")
def test_partition_takes_our_arrays_only(function):
    for x in (np.ones(3), [1.0, 2.0]):
        refused(TypeError, "asarray", function, x, 0)


def check_top(found, x, k, axis, mode, is_sorted):
    """Whether `found` are the `k` first of the elements in the order that `mode` asks for."""
    chosen, indices = np.asarray(found.values), np.asarray(found.indices)
    ordered = np.asarray(xp.sort(xp.asarray(x), axis=axis, descending=mode == "largest"))
    expected = np.take(ordered, np.arange(k), axis)
    assert (chosen.dtype, indices.dtype) == (x.dtype, np.int64)
    np.testing.assert_array_equal(np.take_along_axis(x, indices, axis), chosen)
    if is_sorted:
        np.testing.assert_array_equal(chosen, expected, strict=True)
    np.testing.assert_array_equal(np.sort(chosen, axis), np.sort(expected, axis), strict=True)
    # No element is chosen twice.
    distinct = np.sort(indices, axis)
    assert (np.diff(distinct, axis=axis) > 0).all()


@for_each("mode", ["largest", "smallest"])
@for_each("is_sorted", [True, False])
@for_each("axis", [0, 1, -1])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "uint64", "bool"])
def test_top_k(dtype, axis, is_sorted, mode):
    for x in (values(dtype), values("int32").astype(dtype)):
        for given in layouts_of(x):
            for k in {0, 1, 2, x.shape[axis] - 1, x.shape[axis]}:
                found = xp.extra.top_k(given, k, axis=axis, mode=mode, sorted=is_sorted)
                check_top(found, x, k, axis, mode, is_sorted)


@for_each("mode", ["largest", "smallest"])
@for_each("k", [1, 30, 1000, 5000])
@pytest.mark.parametrize("dtype", ["float64", "int32"])
def test_top_k_of_many(dtype, k, mode):
    x = values("int32", (300_007,)) + np.arange(300_007) // 50_000
    for given in (x.astype(dtype), x[::-1].astype(dtype), values(dtype, (300_007,))):
        for is_sorted in (True, False):
            found = xp.extra.top_k(xp.asarray(given), k, mode=mode, sorted=is_sorted)
            check_top(found, given, k, 0, mode, is_sorted)


def test_top_k_puts_nan_last():
    x = xp.asarray([np.nan, 3.0, np.inf, np.nan, -np.inf])
    largest, smallest = [xp.extra.top_k(x, 4, mode=mode) for mode in ("largest", "smallest")]
    np.testing.assert_array_equal(largest.values, [np.inf, 3, -np.inf, np.nan])
    np.testing.assert_array_equal(smallest.values, [-np.inf, 3, np.inf, np.nan])
    np.testing.assert_array_equal(largest.indices[:3], [2, 1, 4])


@pytest.mark.parametrize("name", DEVICES)
@pytest.mark.parametrize("mode", ["largest", "smallest"])
def test_top_k_on_other_devices(name, mode):
    device = find(name)
    for dtype in ("float64", "int32"):
        x = values(dtype, (7, 9))
        found = xp.extra.top_k(xp.asarray(x, device=device), 4, mode=mode)
        assert found.values.device == found.indices.device == device
        host = type(found)(*[each.to_device("cpu") for each in found])
        check_top(host, x, 4, 1, mode, True)


def test_top_k_in_compiled_functions():
    @xp.compile
    def half(x):
        found = xp.extra.top_k(x, x.shape[0] // 2, axis=0)
        return found.values, found.indices

    for size in (4, 7, 10):
        x = values("float64", (size, 3))
        check_top(selecting.TopK(*half(xp.asarray(x))), x, size // 2, 0, "largest", True)
    spec = xp.eval_shape(lambda x: xp.extra.top_k(x, 3), xp.ShapeSpec(("n", 5), xp.float32))
    assert [repr(each) for each in spec] == [
        "ShapeSpec((n, 3), float32)",
        "ShapeSpec((n, 3), int64)",
    ]


@pytest.mark.parametrize(
    ("k", "options", "error", "words"),
    [
        (-1, {}, ValueError, "k is -1, but axis 1 of size 4 has from 0 to 4"),
        (5, {}, ValueError, "k is 5"),
        (1.0, {}, TypeError, "k must be an int"),
        (1, {"axis": 2}, IndexError, "axis 2 is out of range"),
        (1, {"mode": "most"}, ValueError, "'largest' or 'smallest', not 'most'"),
    ],
)
def test_top_k_refuses(k, options, error, words):
    refused(error, words, xp.extra.top_k, xp.ones((3, 4)), k, **options)
    refused(TypeError, "not complex64", xp.extra.top_k, xp.ones((3, 4), dtype=xp.complex64), 1)


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("dtype", ["float64", "int32", "bool", "complex64"])
def test_put_along_axis(dtype, axis):
    rng = np.random.default_rng(3)
    for sizes in (SHAPE, (2, 3, 6), (4, 1, 1), (1, 2, 1)):
        sizes = tuple([n if i == axis % 3 or n == SHAPE[i] else 1 for i, n in enumerate(sizes)])
        where = rng.integers(-SHAPE[axis], SHAPE[axis], sizes)
        written = rng.integers(0, 9, sizes).astype(dtype)
        for given, value in ((written, xp.asarray(written)), (1, 1), (written[:1], written[:1])):
            for x in layouts_of(values("int32").astype(dtype)):
                expected = np.asarray(x).copy()
                np.put_along_axis(expected, where, given, axis)
                value = xp.asarray(value) if isinstance(value, np.ndarray) else value
                value = bool(value) if dtype == "bool" and isinstance(value, int) else value
                assert xp.extra.put_along_axis(x, xp.asarray(where), value, axis=axis) is None
                np.testing.assert_array_equal(x, expected)


def test_put_along_axis_writes_through_views_and_reads_pending_values_first():
    x = xp.zeros((3, 600_000))
    before = x + 1
    order = xp.asarray([[5, 5, -1]])
    xp.extra.put_along_axis(x[1:2, ...], order, values=xp.asarray([[1.0, 2.0, 3.0]]), axis=1)
    assert float(xp.sum(before)) == x.size
    assert [float(x[1, 5]), float(x[1, -1]), float(xp.sum(x))] == [2.0, 3.0, 5.0]


def test_put_along_axis_of_all_elements():
    x = xp.zeros((2, 3), dtype=xp.int64)
    xp.extra.put_along_axis(x, xp.asarray([4, 0]), xp.asarray([7, 8]), None)
    np.testing.assert_array_equal(x, [[8, 0, 0], [0, 7, 0]])
    refused(ValueError, "copy", xp.extra.put_along_axis, x.T, xp.asarray([4]), 1, axis=None)


@pytest.mark.parametrize("name", ["torch:cpu", "dask"])
def test_put_along_axis_on_other_devices(name):
    device = find(name)
    expected = np.arange(12.0).reshape(3, 4)
    x = xp.asarray(expected, device=device, copy=True)
    where = np.array([[1, 0], [2, 3], [0, 1]])
    xp.extra.put_along_axis(x, xp.asarray(where, device=device), -1.0, 1)
    np.put_along_axis(expected, where, -1.0, 1)
    np.testing.assert_array_equal(np.asarray(x.to_device("cpu")), expected)


def test_put_along_axis_in_compiled_functions():
    @xp.compile
    def ranks(x):
        result = xp.zeros_like(x)
        order = xp.argsort(x, axis=1)
        places = xp.broadcast_to(xp.arange(x.shape[1], dtype=x.dtype), x.shape)
        xp.extra.put_along_axis(result, order, places, 1)
        return result

    for shape in ((2, 3), (4, 5)):
        x = np.random.default_rng(4).permutation(shape[0] * shape[1]).reshape(shape)
        np.testing.assert_array_equal(ranks(xp.asarray(x)), x.argsort(1).argsort(1))


@pytest.mark.parametrize(
    ("x", "indices", "axis", "error", "words"),
    [
        (np.zeros((2, 3)), [[3]], 1, IndexError, "out of"),
        (np.zeros((2, 3)), [1], 1, ValueError, "need as many axes"),
        (np.zeros((2, 3)), [[1]], 2, IndexError, "axis 2 is out of range"),
        (np.zeros((2, 3)), [[1.0]], 1, (TypeError, IndexError), "float64|integer"),
        (np.zeros((2, 3)), np.zeros((3, 1), int), 1, (ValueError, IndexError), "broadcast|shape"),
        (np.broadcast_to(0.0, (2, 3)), [[1]], 1, ValueError, "read-only|share"),
    ],
)
def test_put_along_axis_refuses(x, indices, axis, error, words):
    given = xp.asarray(x)
    refused(error, words, xp.extra.put_along_axis, given, xp.asarray(indices), 1.0, axis)
    np.testing.assert_array_equal(given, np.zeros((2, 3)))
