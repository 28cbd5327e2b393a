"""Indexing by C equals indexing by the Python functions behind it, in every observable respect."""

import operator
import threading

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.native import native
from tests.support.alike import compare
from tests.support.implementations import is_answered_in_c, random_array, random_values
from tests.support.programs import default_process
from tests.support.sizes import DEFERRED
from tests.support.tables import for_each

pytestmark = pytest.mark.skipif(native is None, reason="the extension is not built")

DTYPES = (
    *("bool", "int8", "uint16", "int32", "int64"),
    *("float32", "float64", "complex64", "complex128"),
)


def some_shape(rng, least=0, most=4):
    return tuple(int(n) for n in rng.choice([0, 1, 2, 3, 4, 5], rng.integers(least, most + 1),
                                            p=[0.04, 0.16, 0.2, 0.2, 0.2, 0.2]))  # fmt: skip


def basic_item(rng, size):
    kind = rng.integers(0, 10)
    if kind < 4:
        return int(rng.integers(-size, size)) if size else 0
    if kind < 9:
        bounds = [None, None, *range(-size - 2, size + 3)]
        step = [None, 1, 1, 2, 3, -1, -2, 7, 2**70, -(2**70)][int(rng.integers(0, 10))]
        start, stop = (bounds[int(i)] for i in rng.integers(0, len(bounds), 2))
        return slice(start, stop, step)
    odd = [True, np.int64(0), slice(None, None, 0), slice(1.0, None), 2**70, -size - 1, size, "a"]
    return odd[int(rng.integers(0, len(odd)))]


def basic_key(rng, shape):
    axes = list(shape[: rng.integers(0, len(shape) + 1)])
    if rng.random() < 0.02:
        axes += [*shape, 3]
    items = [basic_item(rng, size) for size in axes]
    for _ in range(int(rng.choice([0, 0, 1, 2]))):
        items.insert(int(rng.integers(0, len(items) + 1)), None)
    if rng.random() < 0.3:
        # What follows the ellipsis names the last axes.
        place = int(rng.integers(0, len(items) + 1))
        items.insert(place, ...)
    if rng.random() < 0.01:
        items.append(...)
    return items[0] if len(items) == 1 and rng.random() < 0.7 else tuple(items)


def index_array(rng, size, shape):
    kind = rng.integers(0, 12)
    if kind == 0:
        mask = rng.integers(0, 2, (size,)).astype(bool)
        return random_array(rng, "bool", (size,)) if rng.random() < 0.3 else xp.asarray(mask)
    if kind == 1:
        return int(rng.integers(-size, size)) if size else 0
    if kind == 2:
        return xp.asarray(int(rng.integers(-size, size)) if size else 0)
    if kind == 3:
        shape = tuple(n if rng.random() < 0.5 else 1 for n in shape)[rng.integers(0, 2) :]
    far = rng.random() < 0.03
    values = rng.integers(-size - far, size + far, shape) if size + far else np.zeros(shape, int)
    dtype = "int32" if kind == 4 else "int64"
    if kind == 5:
        values = np.asfortranarray(values)
    return xp.asarray(values.astype(dtype))


def array_key(rng, shape):
    kind = rng.integers(0, 10)
    if kind < 3 and shape:
        taken = shape[: rng.integers(1, len(shape) + 1)]
        mask = xp.asarray(rng.integers(0, int(rng.choice([1, 2, 2, 2])) + 1, taken).astype(bool))
        if rng.random() < 0.3:
            mask = random_array(rng, "bool", taken)
        return mask if rng.random() < 0.7 else (mask, ...)
    indexed = some_shape(rng, 1, 3)
    share = float(rng.choice([0.3, 0.7, 1.0]))
    items = [
        index_array(rng, size, indexed) if rng.random() < share else basic_item(rng, size)
        for size in shape[: rng.integers(1, len(shape) + 1)]
    ]
    if rng.random() < 0.15:
        items.insert(int(rng.integers(0, len(items) + 1)), None)
    if rng.random() < 0.15:
        items.insert(int(rng.integers(0, len(items) + 1)), ...)
    return items[0] if len(items) == 1 and rng.random() < 0.7 else tuple(items)


def written_back(x, key):
    """What is read is written where it was, if that is legal."""
    result = x[key]
    result[()] = result[()]


@pytest.mark.parametrize("seed", range(4))
def test_reading_by_basic_keys(seed):
    rng = np.random.default_rng(seed)
    for _ in range(250):
        shape = some_shape(rng)
        x = random_array(rng, str(rng.choice(DTYPES)), shape)
        key = basic_key(rng, shape)
        compare(operator.getitem, x, key)
        compare(written_back, x, key)


@pytest.mark.parametrize("seed", range(4))
def test_reading_by_arrays(seed):
    rng = np.random.default_rng(seed)
    for _ in range(250):
        shape = some_shape(rng, 1)
        x = random_array(rng, str(rng.choice(DTYPES)), shape)
        key = array_key(rng, shape)
        compare(operator.getitem, x, key)
        compare(written_back, x, key)


def some_value(rng, x, key):
    kind = rng.integers(0, 12)
    if kind < 3:
        values = [1, 0, True, 1.5, -2.0, np.nan, 1e300, 2**40, 300, -1, 1 + 2j, np.float64(2.0)]
        return values[int(rng.integers(0, len(values)))]
    dtype = str(x.dtype) if kind < 10 else str(rng.choice(DTYPES))
    if kind == 3:
        return random_array(rng, dtype, ())
    try:
        shape = x[key].shape
    except Exception:
        shape = (2,)
    if kind == 4:
        return x[tuple(slice(None, n) for n in shape)][...] if x.ndim == len(shape) else x
    shape = tuple(n if rng.random() < 0.85 else 1 for n in shape)
    if rng.random() < 0.2:
        shape = shape[1:]
    if rng.random() < 0.1:
        shape = (1, *shape)
    if rng.random() < 0.05:
        shape = (*shape, 2)
    return random_array(rng, dtype, shape)


def writable_base(rng, shape, dtype):
    """An array, and a view of it that has the shape."""
    plain = random_values(rng, dtype, tuple(2 * n for n in shape))
    order = [int(i) for i in rng.permutation(len(shape))] if rng.random() < 0.5 else None
    steps = [int(rng.choice([1, 1, -1, 2])) for _ in shape]
    base = xp.asarray(np.array(plain.transpose(order), order="C"), copy=True)
    x = base if order is None else xp.permute_dims(base, tuple(np.argsort(order).tolist()))
    x = x[tuple(slice(None, None, step) for step in steps)]
    return base, x[tuple(slice(None, n) for n in shape)]


@pytest.mark.parametrize("arrays", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_writing(seed, arrays):
    rng = np.random.default_rng(seed + 100)
    for _ in range(250):
        shape = some_shape(rng, 1)
        dtype = str(rng.choice(DTYPES))
        base, x = writable_base(rng, shape, dtype)
        if rng.random() < 0.05:
            x = random_array(rng, dtype, shape)
        key = (array_key if arrays else basic_key)(rng, shape)
        value = some_value(rng, x, key)
        compare(lambda base, *arguments: operator.setitem(*arguments), base, x, key, value)


x = xp.reshape(xp.arange(12.0), (3, 4))
mask, rows = x > 3.0, xp.asarray([True, False, True])
i, j = xp.asarray([2, 0, -1]), xp.asarray([0, 3, 1])
one, row = xp.asarray(1.0), xp.asarray([1.0, 2.0, 3.0, 4.0])
x32, narrow = xp.astype(x, xp.float32), xp.asarray([1.0, 2.0, 3.0], dtype=xp.float32)


@for_each(
    "call",
    [
        lambda: x[0],
        lambda: x[-1, 2],
        lambda: x[:, 1],
        lambda: x[1:, ::-2],
        lambda: x[..., None, 0],
        lambda: x[i[0]],
        lambda: x.__setitem__(0, 1.0),
        lambda: x.__setitem__((1, 2), one),
        lambda: x.__setitem__((slice(None), 1), 2),
        lambda: x.__setitem__(..., row),
        lambda: x.__setitem__((slice(None), 1), narrow),
        lambda: x32.__setitem__((slice(None), 1), row[:3]),
        lambda: x[mask],
        lambda: x[rows],
        lambda: x[:, x[0] >= 0.0],
        lambda: x[i],
        lambda: x[:, i],
        lambda: x[i, ...],
        lambda: x[i, j],
        lambda: x[i, 0],
        lambda: x.__setitem__(mask, 0.0),
        lambda: x.__setitem__(rows, row),
        lambda: x.__setitem__(i, 1.0),
        lambda: x.__setitem__((i, j), row[:3]),
        lambda: x.__setitem__((slice(1, None), i), 0.0),
        lambda: list(x),
        lambda: xp.take(x, i, axis=1),
        lambda: xp.take_along_axis(x, i[:, None], axis=1),
        lambda: xp.nonzero(x),
    ],
)
def test_common_calls_run_no_python(call):
    assert is_answered_in_c(call)


def test_nothing_is_written_if_an_index_is_out_of_range():
    target = xp.zeros(3)
    with pytest.raises(IndexError, match="out of"):
        target[xp.asarray([0, 1, 3])] = 1.0
    assert target.__array__().tolist() == [0.0, 0.0, 0.0]


def test_views_of_pending_arrays_compute_nothing():
    with default_process():
        large = xp.ones(DEFERRED) + 1.0
        storage = large._handle.storage
        assert storage.waits
        view = large[5:10, None]
        assert view.shape == (5, 1)
        assert storage.waits
    assert view.__array__().tolist() == [[2.0]] * 5


@pytest.mark.parametrize("seed", range(4))
def test_taking(seed):
    rng = np.random.default_rng(seed + 200)
    for _ in range(250):
        shape = some_shape(rng)
        x = random_array(rng, str(rng.choice(DTYPES)), shape)
        axes = [*range(-len(shape), len(shape)), len(shape), None, True]
        axis = axes[int(rng.integers(0, len(axes) - (rng.random() < 0.8) * 3))] if shape else None
        given = {} if rng.random() < 0.2 else {"axis": axis}
        size = shape[axis] if shape and type(axis) is int and axis < len(shape) else 1
        kind = rng.integers(0, 3)
        if kind == 0:
            compare(xp.nonzero, x)
            continue
        along = tuple(n if rng.random() < 0.9 else 1 for n in shape)
        if kind == 1:
            along = some_shape(rng, int(rng.random() < 0.9), 1)
        elif shape and type(axis) is int and axis < len(shape) and rng.random() < 0.9:
            along = (
                *along[: axis % len(shape)],
                *some_shape(rng, 1, 1),
                *along[axis % len(shape) + 1 :],
            )
        far = int(rng.random() < 0.05)
        low, high = (-size - far, size + far) if size + far else (0, 1)
        indices = xp.asarray(
            rng.integers(low, high, along).astype(str(rng.choice(["int64", "int8"])))
        )
        if rng.random() < 0.3:
            indices = random_array(rng, "int64", along) % max(size, 1)
        elif rng.random() < 0.1:
            indices = indices[..., ::-1] if indices.ndim else indices
        elif rng.random() < 0.1:
            indices = xp.asarray(np.asarray(indices).astype("uint64"))
        function = xp.take if kind == 1 else xp.take_along_axis
        compare(function, x, indices, **given)


@pytest.mark.parametrize("shape", [(), (0,), (0, 3), (1,), (3,), (3, 4), (2, 1, 3)])
def test_iteration(shape):
    rng = np.random.default_rng(3)
    for _ in range(10):
        compare(list, random_array(rng, "float64", shape))


def test_an_iterator_keeps_its_array_and_its_length():
    rows = iter(xp.asarray([1.0, 2.0]))
    assert iter(rows) is rows
    assert [float(row) for row in rows] == [1.0, 2.0]
    assert list(rows) == []


def test_a_mask_that_another_thread_writes_never_leads_outside():
    """No value is taken from beyond the values, nothing is written beyond the target."""
    count = 500
    mask = np.zeros(1 << 20, bool)
    stop = threading.Event()

    def flicker():
        while not stop.is_set():
            mask.fill(True)  # without the GIL
            mask.fill(False)

    thread = threading.Thread(target=flicker)
    thread.start()
    try:
        key = xp.asarray(mask, copy=False)[-count:]
        around, values = xp.zeros(3 * count), xp.full(2 * count, 7.0)
        target = around[count : 2 * count]
        values[:count] = 1.0
        for length in (count, 1, 0) * 200:
            try:
                target[key] = values[:length]
            except ValueError:
                assert length != 1, "one value fits everywhere"
        assert set(np.unique(np.asarray(target))) <= {0.0, 1.0}
        assert not np.asarray(around[:count]).any()
        assert not np.asarray(around[2 * count :]).any()
    finally:
        stop.set()
        thread.join()
