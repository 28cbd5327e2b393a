"""Keys and values that lie in the memory that is written: right is what copies of them give."""

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
import pytest

import array_api_nx as xp
from tests.backends.engines.devices import device
from tests.support.programs import assert_same, settings
from tests.support.tables import for_each

See = Callable[[Any], Any]
"""From a 1-D block, of NumPy or of ours, to a view of it."""

SMALL = [(7,), (40,), (5, 3), (4, 6)]
LARGE = [(33_000,), (11_001, 3), (3, 11_001)]
"""Beyond the elements that C computes at once, and that one tile holds."""


def view_of(rng, shape):
    """A view of a shape, which begins anywhere, runs backwards, has gaps, or is transposed."""
    start, step = int(rng.integers(0, 4)), int(rng.choice([1, 1, -1, 2, -2]))
    transposed = len(shape) == 2 and rng.random() < 0.3

    def see(block):
        line = block[start : start + prod(shape) * abs(step)][::step]
        sizes = shape[::-1] if transposed else shape
        if isinstance(block, xp.Array):
            table = xp.reshape(line, sizes, copy=False)
        else:
            table = np.reshape(line, sizes)
        return table.T if transposed else table

    return see


class Writing:
    """A block of memory, a view of it that is written, and how: once with copies, once without."""

    def __init__(self, seed, place, shapes):
        self.rng = rng = np.random.default_rng(seed)
        self.place = place
        self.shape = shapes[seed % len(shapes)]
        self.kind = KINDS[seed // len(shapes) % len(KINDS)]
        dtype = rng.choice(["bool", "int64", "int8", "float64", "complex64"])
        self.dtype = {"mask": "bool", "rows": "bool", "indices": "int64", "along": "int64"}.get(
            self.kind if rng.random() < 0.5 else "", dtype
        )
        size = 2 * prod(self.shape) + 8
        greatest = 2 if self.dtype == "bool" else min(self.shape[-1], self.shape[0], 100)
        self.block = rng.integers(0, greatest, size).astype(self.dtype)
        # The result of an operation is in some modes still to be computed.
        self.ours = xp.asarray(self.block, device=place, copy=True)
        if rng.random() < 0.5:
            self.ours = xp.where(xp.ones_like(self.ours, dtype=xp.bool), self.ours, self.ours)
        see = view_of(rng, self.shape)
        self.target, self.our_target = see(self.block), see(self.ours)

    def own(self, shape):
        """A view of the block: as a copy, and as it is."""
        see = view_of(self.rng, shape)
        return see(self.block).copy(), see(self.ours)

    def fresh(self, array):
        return array, xp.asarray(array, device=self.place)

    def mask(self, shape):
        if self.dtype == "bool":
            return self.own(shape)
        return self.fresh(self.rng.random(shape) < 0.5)

    def indices(self, size, shape):
        """Some meet, so that the last value must win."""
        if self.dtype == "int64":
            return self.own(shape)
        return self.fresh(self.rng.integers(-size, size, shape))

    def value(self, shape):
        kind = self.rng.random()
        if kind < 0.15 or 0 in shape:
            number = True if self.dtype == "bool" else 1
            return number, number
        if kind < 0.3:
            i = int(self.rng.integers(self.block.size))
            return self.block[i].copy(), self.ours[i, ...]
        return self.own(shape[1:] if len(shape) > 1 and kind < 0.45 else shape)

    def write(self):
        key, our_key = getattr(self, f"key_{self.kind}")()
        expected = self.target.copy()
        if self.kind in ("whole", "in_place", "out"):
            value, our_value = self.value(self.shape)
        else:
            value, our_value = self.value(expected[key].shape)
        if self.kind == "in_place":
            expected ^= value
            self.our_target ^= our_value
        elif self.kind == "out":
            other, our_other = self.own(self.shape)
            add = np.logical_xor if self.dtype == "bool" else np.add
            expected[...] = add(other, value)
            add(our_other, our_value, out=self.our_target)
        elif self.kind == "along":
            if isinstance(value, int):
                value, our_value = self.fresh(np.asarray(value, self.dtype))
            expected[key] = value
            xp.extra.put_along_axis(self.our_target, our_key, our_value, axis=0)
        else:
            expected[key] = value
            self.our_target[our_key] = our_value
        self.target[...] = expected

    # Keys to write to: for NumPy, whose arrays are copies, and for us.

    def key_mask(self):
        return self.mask(self.shape)

    def key_rows(self):
        mask, our_mask = self.mask(self.shape[:1])
        return (mask, ...), (our_mask, ...)

    def key_columns(self):
        mask, our_mask = self.mask(self.shape[-1:])
        return (..., mask), (..., our_mask)

    def key_indices(self):
        size = self.shape[0]
        return self.indices(size, (int(self.rng.choice([1, 3, size])),))

    def key_pairs(self):
        """Index arrays for all axes; with one axis, in a tuple."""
        count = int(self.rng.choice([1, 4]))
        pairs = [self.indices(size, (count,)) for size in self.shape]
        return tuple([one for one, _ in pairs]), tuple([other for _, other in pairs])

    def key_along(self):
        indices, our_indices = self.indices(self.shape[0], self.shape)
        others = np.indices(self.shape, sparse=True)[1:]
        return (indices, *others), our_indices

    def key_whole(self):
        return ..., ...

    def key_in_place(self):
        if self.dtype not in ("bool", "int64", "int8"):
            self.kind = "whole"
        return ..., ...

    key_out = key_whole


KINDS = ("mask", "rows", "columns", "indices", "pairs", "along", "whole", "in_place", "out")


def check(name, shapes, seeds):
    place = xp.Device(name) if name == "cpu" else device(name)
    for seed in seeds:
        writing = Writing(seed, place, shapes)
        hint = seed, writing.kind, writing.dtype, writing.shape
        writing.write()
        host = writing.ours.to_device("cpu")
        assert_same(host, writing.block, hint)
        if writing.dtype == "bool":
            # Bytes that are no element of the block would not be 0 or 1.
            assert np.asarray(host).view(np.uint8).max() <= 1, hint


# Every 36 seeds all kinds of writes meet all shapes. JAX takes a second for each, as it compiles.
SEEDS = {"cpu": range(720), "torch:cpu": range(180), "jax:cpu": range(0, 36, 3), "dask": range(36)}


@pytest.mark.parametrize("name", SEEDS)
def test_keys_and_values_are_read_before_anything_is_written(name):
    check(name, SMALL, SEEDS[name])


@pytest.mark.parametrize("name", ["cpu", "torch:cpu"])
def test_keys_and_values_of_large_arrays_are_read_before_anything_is_written(name):
    check(name, LARGE, range(54))


@pytest.mark.parametrize("mode", ["context", "always"])
def test_keys_and_values_are_read_first_where_operations_wait(mode):
    with settings(mode):
        check("cpu", SMALL, range(720, 1080))


SLICES = [
    (np.s_[1:], np.s_[:-1]),
    (np.s_[:-1], np.s_[1:]),
    (np.s_[1:], np.s_[-2::-1]),
    (np.s_[::2], np.s_[: 1 << 30 : 2]),
]


@for_each("slices", SLICES)
@pytest.mark.parametrize("size", [8, 40_000])
@pytest.mark.parametrize("name", ["cpu", "torch:cpu"])
def test_arrays_over_slices_of_one_ndarray_are_written_as_if_copied_first(name, size, slices):
    """They are independent arrays over one block."""
    place = xp.Device(name) if name == "cpu" else device(name)
    into, of = slices

    def both(block):
        x, y = [xp.asarray(block[key], device=place, copy=False) for key in slices]
        return x, y, block[into].copy(), block[of].copy()

    block = np.arange(size)
    x, y, _, value = both(block)
    x[...] = y
    assert_same(block[into], value)

    block = np.arange(size)
    x, y, expected, value = both(block)
    x += y
    assert_same(block[into], expected + value)

    block = np.arange(size)[::-1] % (size // 2)
    x, y, expected, value = both(block)
    expected[value] = value[::-1]
    x[y] = y[::-1]
    assert_same(block[into], expected)

    block = np.arange(size) % 3 == 0
    x, y, expected, value = both(block)
    count = int(value.sum())
    expected[value] = value[:count]
    x[y] = y[:count]
    assert_same(block[into], expected)


def test_parts_of_complex_numbers_are_read_before_they_are_written():
    for size in (12, 40_000):
        for name in ("cpu", "torch:cpu"):
            place = xp.Device(name) if name == "cpu" else device(name)
            block = np.arange(size) + 1j * np.arange(size)[::-1]
            x = xp.asarray(block, device=place, copy=True)
            x.real[x.imag[::-1] > size // 2] = x.imag[0, ...]
            block.real[block.imag[::-1] > size // 2] = block.imag[0]
            x.imag[...] = x.real[::-1]
            block.imag[...] = block.real[::-1].copy()
            assert_same(x.to_device("cpu"), block, (size, name))
