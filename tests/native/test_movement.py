"""Movement and joining in C give what the Python functions behind them give."""

from math import isqrt

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.native import native
from tests.support.arrays import address
from tests.support.implementations import assert_alike, random_array
from tests.support.sizes import DEFERRED

pytestmark = pytest.mark.skipif(native is None, reason="without the extension there is no C")

DTYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "c8", "c16"]


def a_shape(rng, sizes=(0, 1, 1, 2, 3, 4), most=5):
    return tuple(int(n) for n in rng.choice(sizes, rng.integers(0, most + 1)))


def a_maker(rng, shape, dtype):
    """What makes equal arrays of one layout again and again, each with memory of its own."""
    seed, is_view, is_derived = int(rng.integers(2**31)), rng.random() < 0.5, rng.random() < 0.2

    def make():
        x = random_array(np.random.default_rng(seed), dtype, shape)
        if is_view:  # then it has a view and no array yet
            x = x[0:] if shape else x[...]
        # What comes from a view with repeated elements is not to be written.
        return xp.broadcast_to(x, (2, *shape))[1, ...] if is_derived else x

    return make


def made_of(makers):
    """Arrays of makers, or of what is within lists and tuples."""
    return type(makers)(map(made_of, makers)) if isinstance(makers, list | tuple) else makers()


def compare(function, makers, *args, **kwargs):
    """C and Python give the same results, and the same views of these."""

    def call(*arrays):
        results = function(*arrays, *args, **kwargs)
        several = [results] if type(results) is xp.Array else results
        views = [(x[None], xp.reshape(x, (x.size,))) for x in several if x.ndim < 64]
        offsets = [address(np.asarray(x)) - address(x._handle.storage.memory) for x in several]
        return results, views, offsets

    assert_alike(call, lambda: made_of(makers), f"{function}, {args}, {kwargs}")


def some_axes(rng, ndim):
    """Axes for `ndim` dimensions, most of them right."""
    count = int(rng.integers(0, ndim + 1)) if rng.random() < 0.7 else min(1, ndim)
    axes = [int(a) for a in rng.permutation(max(ndim, 1))[:count]]
    axes = [a - ndim if rng.random() < 0.3 else a for a in axes]
    kind = rng.random()
    if kind < 0.03:
        axes.append(int(rng.integers(-ndim - 2, ndim + 3)))
    elif kind < 0.06 and axes:
        axes.append(axes[0])
    if len(axes) == 1 and rng.random() < 0.7:
        return axes[0]
    return tuple(axes) if rng.random() < 0.8 else axes


def a_factoring(rng, size):
    """A shape of `size` elements."""
    shape = []
    while size > 1:
        n = int(rng.choice([n for n in range(2, size + 1) if size % n == 0]))
        shape.append(n)
        size //= n
    for _ in range(rng.integers(0, 3)):
        shape.insert(int(rng.integers(0, len(shape) + 1)), 1)
    return tuple(shape) if size else (*shape, 0, *rng.choice([1, 2, 3], 2).tolist())


def movements(rng, shape):
    """Calls of each movement of an array of a shape: function, positional and named arguments."""
    ndim, size = len(shape), int(np.prod(shape))
    yield xp.permute_dims, (tuple(int(a) for a in rng.permutation(ndim)),), {}
    yield xp.permute_dims, (), {"axes": some_axes(rng, ndim)}
    axes = some_axes(rng, ndim)
    count = 1 if isinstance(axes, int) else len(axes)
    targets = tuple(int(a) for a in rng.permutation(max(ndim, count))[:count])
    yield xp.moveaxis, (axes, targets if count != 1 else targets[0]), {}
    yield xp.moveaxis, (axes, some_axes(rng, ndim)), {}
    yield xp.expand_dims, (), {"axis": some_axes(rng, ndim + int(rng.integers(1, 3)))}
    ones = tuple([a for a in range(ndim) if shape[a] == 1 and rng.random() < 0.7])
    yield xp.squeeze, (ones,), {}
    yield xp.squeeze, (), {"axis": some_axes(rng, ndim)}
    yield xp.flip, (), {}
    yield xp.flip, (), {"axis": some_axes(rng, ndim)}
    yield xp.unstack, (), {"axis": int(rng.integers(-ndim - 1, ndim + 1))}
    yield xp.unstack, (), {}
    yield xp.linalg.diagonal, (), {}
    yield xp.linalg.diagonal, (), {"offset": int(rng.integers(-4, 5))}
    yield (lambda x: x.T), (), {}
    yield (lambda x: x.mT), (), {}
    yield xp.matrix_transpose, (), {}
    wide = [int(rng.integers(0, 4)) if n == 1 else n for n in shape]
    wide = [*a_shape(rng, (0, 1, 2, 3), 2), *wide]
    yield xp.broadcast_to, (tuple(wide) if rng.random() < 0.8 else wide,), {}
    yield xp.broadcast_to, (shape,), {}
    yield xp.broadcast_to, (), {"shape": a_shape(rng)}
    for _ in range(3):
        new = list(a_factoring(rng, size))
        if new and rng.random() < 0.3:
            new[int(rng.integers(len(new)))] = -1
        copy = rng.choice([None, None, True, False])
        yield xp.reshape, (tuple(new),), {} if copy is None else {"copy": bool(copy)}
    yield xp.reshape, (shape,), {"copy": None}
    yield xp.reshape, (-1,), {}
    yield (
        xp.reshape,
        (
            list(
                a_shape(rng, (-1, -1, 0, 1, 2, 3)),
            ),
        ),
        {},
    )
    yield xp.reshape, (), {"shape": size, "copy": True}


def copies(rng, shape):
    ndim = len(shape)
    axis = None if rng.random() < 0.4 else int(rng.integers(-ndim - 1, ndim + 1))
    yield xp.repeat, (int(rng.integers(-1, 4)),), {"axis": axis}
    yield xp.repeat, (2,), {}
    yield xp.tile, (a_shape(rng, (-1, 0, 1, 1, 1, 2, 2, 3, 3)),), {}
    yield xp.tile, ([2, 1],), {}
    yield xp.roll, (int(rng.integers(-9, 9)),), {"axis": axis}
    yield xp.roll, (3,), {}
    axes = some_axes(rng, ndim)
    count = 1 if isinstance(axes, int) else len(axes)
    yield xp.roll, (tuple(rng.integers(-9, 9, count).tolist()),), {"axis": axes}
    yield xp.roll, (tuple(rng.integers(-9, 9, int(rng.integers(0, 3))).tolist()),), {"axis": axis}
    yield xp.roll, (), {"shift": 10**30, "axis": axes}


@pytest.mark.parametrize("seed", range(8))
def test_movement_is_that_of_python(seed):
    rng = np.random.default_rng(seed)
    for _ in range(5):
        shape = a_shape(rng)
        make = a_maker(rng, shape, str(rng.choice(DTYPES)))
        for function, args, kwargs in movements(rng, shape):
            compare(function, [make], *args, **kwargs)


@pytest.mark.parametrize("seed", range(8))
def test_repeating_and_rolling_are_those_of_python(seed):
    rng = np.random.default_rng(seed)
    for _ in range(8):
        shape = a_shape(rng)
        make = a_maker(rng, shape, str(rng.choice(DTYPES)))
        for function, args, kwargs in copies(rng, shape):
            compare(function, [make], *args, **kwargs)


@pytest.mark.parametrize("seed", range(8))
def test_joining_is_that_of_python(seed):
    rng = np.random.default_rng(seed)
    for _ in range(30):
        shape = a_shape(rng, (0, 1, 2, 3, 4) if rng.random() < 0.1 else (1, 2, 3, 4), 4)
        ndim = len(shape)
        dtype = str(rng.choice(DTYPES))
        axis = int(rng.integers(-ndim - 1, ndim + 1))
        makers = []
        for _ in range(rng.integers(0, 4) if rng.random() < 0.2 else 2):
            sizes = list(shape)
            if ndim and rng.random() < 0.5:
                sizes[axis if -ndim <= axis < ndim else 0] = int(rng.integers(1, 4))
            odd = rng.random() < 0.05
            makers.append(a_maker(rng, tuple(sizes), str(rng.choice(DTYPES)) if odd else dtype))
        together = makers if rng.random() < 0.5 else tuple(makers)
        compare(xp.concat, [together], axis=axis)
        compare(xp.concat, [together], axis=None)
        compare(xp.concat, [together])
        compare(xp.broadcast_arrays, makers)
        alike = [a_maker(rng, shape, dtype) for _ in makers]
        compare(xp.stack, [alike], axis=axis)
        compare(xp.stack, [alike])


# Older versions of NumPy compare arrays of up to 32 axes alone.
@pytest.mark.parametrize(
    "call",
    [
        lambda x: xp.permute_dims(x, 1),
        lambda x: xp.permute_dims(x, None),
        lambda x: xp.permute_dims(x, (1.0, 0)),
        lambda x: xp.permute_dims(x, (True, False)),
        lambda x: xp.permute_dims(x, iter((1, 0))),
        lambda x: xp.permute_dims(x),
        lambda x: xp.permute_dims(x, (0, 1), 2),
        lambda x: xp.permute_dims(x, axes=(1, 0), axis=0),
        lambda x: xp.permute_dims(axes=(1, 0)),
        lambda x: xp.permute_dims(x=x, axes=(1, 0)),
        lambda x: xp.permute_dims(np.asarray(x), (1, 0)),
        lambda x: xp.moveaxis(x, None, 0),
        lambda x: xp.moveaxis(x, 0, destination=1),
        lambda x: xp.expand_dims(x, axis=None),
        lambda x: xp.expand_dims(x, range(2)),
        lambda x: xp.expand_dims(x, [0] * 80),
        lambda x: xp.expand_dims(x, tuple(range(62))),
        lambda x: xp.expand_dims(x, tuple(range(63))),
        lambda x: xp.squeeze(x, None),
        lambda x: xp.flip(x, axis=1.0),
        lambda x: xp.flip(x, 1),
        lambda x: xp.unstack(x, axis=None),
        lambda x: xp.unstack(x, 0),
        lambda x: xp.unstack(x, axis=True),
        lambda x: xp.reshape(x, (2, 3.0)),
        lambda x: xp.reshape(x, True),
        lambda x: xp.reshape(x, (-2, -3)),
        lambda x: xp.reshape(x, (-1, -1)),
        lambda x: xp.reshape(x, (-1, 0)),
        lambda x: xp.reshape(x, (2**40, 2**40)),
        lambda x: xp.reshape(x, (2**70, 0)),
        lambda x: xp.reshape(x, "12"),
        lambda x: xp.reshape(x, np.int64(6)),
        lambda x: xp.reshape(x, (6,), copy=1),
        lambda x: xp.reshape(x, (6,), None),
        lambda x: xp.reshape(x.T, (6,), copy=False),
        lambda x: xp.broadcast_to(x, (2**31, 2**31, 2, 3)),
        lambda x: xp.broadcast_to(x, (1,) * 62 + (2, 3)),
        lambda x: xp.broadcast_to(x, (1,) * 63 + (2, 3)),
        lambda x: xp.broadcast_to(x, (-1, 3)),
        lambda x: xp.broadcast_to(x, (0, 2**62, 2, 3)),
        lambda x: xp.broadcast_to(xp.broadcast_to(x, (4, 2, 3))[0], (2, 3)),
        lambda x: xp.flip(xp.broadcast_to(x, (4, 2, 3))[1:2]),
        lambda x: xp.reshape(xp.broadcast_to(x, (4, 2, 3))[1], (3, 2)),
        lambda x: xp.broadcast_arrays(x, xp.ones((2, 1)), xp.ones(())),
        lambda x: xp.broadcast_arrays(x, xp.ones(4)),
        lambda x: xp.broadcast_arrays(x, 1.0),
        lambda x: xp.broadcast_arrays(),
        lambda x: xp.concat(x),
        lambda x: xp.concat([]),
        lambda x: xp.concat([x, 1.0]),
        lambda x: xp.concat([x, x], 0),
        lambda x: xp.concat(iter([x, x])),
        lambda x: xp.concat([x, xp.ones((2, 3), dtype=xp.float32)]),
        lambda x: xp.concat([x, xp.ones((2, 3, 1))]),
        lambda x: xp.concat([x] * 40, axis=1),
        lambda x: xp.stack([x] * 40, axis=2),
        lambda x: xp.stack([x, x.T]),
        lambda x: xp.stack((x, x), axis=None),
        lambda x: xp.repeat(x, 2.0),
        lambda x: xp.repeat(x, True),
        lambda x: xp.repeat(x, 2**62),
        lambda x: xp.repeat(x, 3, 0),
        lambda x: xp.repeat(x, xp.asarray([1, 2]), axis=0),
        lambda x: xp.tile(x, 3),
        lambda x: xp.tile(x, (2**40, 2**40)),
        lambda x: xp.tile(x, (1,) * 70),
        lambda x: xp.roll(x, 1.0),
        lambda x: xp.roll(x, (1, 2), axis=(0,)),
        lambda x: xp.roll(x, (1,), axis=(0, 1)),
        lambda x: xp.roll(x, (), axis=0),
        lambda x: xp.roll(x, (), axis=()),
        lambda x: xp.roll(x, 1, axis=()),
        lambda x: xp.roll(x, 1, axis=(0, 0, 1)),
        lambda x: xp.roll(x, 1, 0),
    ],
)
def test_unusual_arguments_are_left_to_python(call):
    compare(call, [lambda: xp.asarray(np.arange(6.0).reshape(2, 3), copy=True)])
    compare(call, [lambda: xp.asarray(np.arange(6.0).reshape(3, 2), copy=False).T])


def test_pending_arrays_are_moved_without_being_computed():
    side = 10 * (isqrt(DEFERRED) // 10 + 1)
    x = xp.ones((side, side)) + 1.0
    storage = x._handle.storage
    assert storage.waits
    moved = [
        x.T, x.mT, xp.flip(x), xp.reshape(x, (10, -1)), xp.expand_dims(x, axis=0),
        xp.broadcast_to(x, (2, side, side)), xp.moveaxis(x, 0, 1), xp.unstack(x)[5],
    ]  # fmt: skip
    assert storage.waits
    assert all([y._handle.storage is storage for y in moved])
    assert float(xp.sum(moved[-1])) == 2 * side


def test_views_show_later_writes():
    x = xp.zeros((3, 4))
    views = [x.T, xp.flip(x, axis=0), xp.reshape(x, (12,)), xp.broadcast_to(x, (2, 3, 4))]
    x[1, 2] = 5.0
    assert [float(xp.max(view)) for view in views] == [5.0] * 4
    views[1][0, 0] = 7.0
    assert float(x[2, 0]) == 7.0


def test_memory_goes_with_the_last_view():
    x = xp.reshape(xp.arange(12.0), (3, 4))
    row = xp.unstack(xp.flip(x.T), axis=1)[0]
    del x
    assert np.asarray(row).tolist() == [11.0, 10.0, 9.0, 8.0]
