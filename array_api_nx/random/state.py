"""The state of a generator, and the draws that all distributions are made of."""

from __future__ import annotations

import operator
import os
import threading
from math import prod
from typing import Any, Self
from weakref import WeakSet

import numpy as np
from numpy.random import SeedSequence

from ..contract.arguments import Handle, Kind
from ..contract.numpy_dtypes import DTypeLike
from ..contract.random_numbers import DRAWN, MAX_NARROW_SPAN, numbers_per_block
from ..core import dtypes as d
from ..core.dtypes import DType
from ..core.shape import as_count
from ..device import Device, as_device, available
from ..frontend import standard as xp
from ..frontend.array import Array, wrap
from ..frontend.operands import common_device, on_device
from ..frontend.trees import Stateful
from .parameters import Size, as_size, real_dtype, result_shape

# Counters are ints of 64 bits; a draw that would pass this one is refused.
_LAST_COUNTER = 2**62

# Of 64 bits, those of an index: the others are random, so that of two parts of an array the first
# one comes first with a probability of 1/2 + 2**-41.
_INDEX_BITS = 24

_with_locks: WeakSet[State] = WeakSet()


def _renew_locks() -> None:
    """In a forked child: a lock that another thread held would never be released there."""
    for state in list(_with_locks):
        state._renew_lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_locks)


class State(Stateful):
    """A key of 64 bits, made of the seed, and a counter, which each draw advances."""

    def __init__(self, seed: SeedSequence, device: Device | None = None) -> None:
        self._seed = seed
        self._device = device
        first, second = seed.generate_state(2, np.uint32).tolist()
        self._key: tuple[int, int] = (first, second)
        self._counter = 0
        self._renew_lock()

    @property
    def device(self) -> Device | None:
        """Where the numbers are made; None for the device of array parameters, or the default."""
        return self._device

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._renew_lock()

    def _renew_lock(self) -> None:
        self._lock = threading.RLock()
        _with_locks.add(self)

    # ------------------------------------------------------------------ in compiled functions

    def _arrays(self, device: Any) -> list[Array]:
        place = as_device(device) if self._device is None else self._device
        key = self._key[0] | self._key[1] << 32
        key -= 2**64 if key >= 2**63 else 0
        return [xp.asarray(x, dtype=d.int64, device=place) for x in (key, self._counter)]

    def _advance(self, used: int, *, check: bool = False) -> int:
        reached = self._first_of(used) + used
        if not check:
            self._counter = reached
        return reached

    def _retreat(self, used: int, reached: int) -> None:
        if self._counter == reached:
            self._counter = reached - used

    def __repr__(self) -> str:
        return f"Generator(key={self._key}, counter={self._counter}, device={self._device})"

    def spawn(self, n_children: int) -> list[Self]:
        """Independent generators, as many as asked for, on the same device.

        Their seeds are children of this one's; the next call gives others.

        ValueError: If the number is negative.
        """
        number = operator.index(as_count(n_children, "n_children"))
        with self._lock:
            return [type(self)(child, self._device) for child in self._seed.spawn(number)]

    # ------------------------------------------------------------------ draws

    def _place(self, *parameters: object) -> Device:
        """Where numbers are made: the generator's device, or that of the first array, if any."""
        if self._device is None:
            for x in parameters:
                if type(x) is Array:
                    return x.device
        return as_device(self._device)

    def _first_of(self, blocks: int) -> int:
        """The counter of the first of so many blocks, which the caller is about to draw."""
        if self._counter + blocks > _LAST_COUNTER:
            raise ValueError("this generator is exhausted; make another one with spawn(1)")
        return self._counter

    def _draw(
        self,
        kind: Kind,
        shape: tuple[int, ...],
        dtype: DType,
        place: Device,
        low: int = 0,
        span: int = 0,
        parameters: tuple[Handle | float, ...] = (),
    ) -> Array:
        count = prod(shape)
        per_block = 1 if kind == "integers" else numbers_per_block(dtype)
        blocks = 2 * count if span > MAX_NARROW_SPAN else -(-count // per_block)
        assert dtype in DRAWN[kind]
        handle = self._made(blocks, kind, place, count, dtype, low, span, parameters)
        return xp.reshape(wrap(handle, dtype, place), shape)

    def _made(
        self,
        blocks: int,
        kind: Kind,
        place: Device,
        count: int,
        dtype: DType,
        low: int,
        span: int,
        parameters: tuple[Handle | float, ...],
    ) -> Handle:
        """The numbers of a draw that uses so many blocks."""
        with self._lock:
            # Before they are made: a signal's handler that draws meanwhile gets other numbers.
            reached = self._advance(blocks)
            try:
                return place.backend.draw(
                    kind, self._key, reached - blocks, 0, count, dtype, low, span, parameters
                )
            except BaseException:
                self._retreat(blocks, reached)
                raise

    def _reals(
        self, kind: Kind, size: Size, dtype: DTypeLike | None = None, *parameters: object
    ) -> Array:
        """Uniform or normal numbers for parameters that broadcast to `size`."""
        place = self._place(*parameters)
        shape = result_shape(as_size(size), *parameters)
        result = real_dtype(dtype, place)
        numbers = self._draw(kind, shape, d.COMPUTED_IN[result], place)
        if result in d.NARROW and kind == "uniform":
            # Cut off, because 1 - 2**-24 would be rounded to 1.
            step = float(d.limits(result).epsneg)
            numbers = xp.floor(numbers / step) * step
        return xp.astype(numbers, result, copy=False)

    def _distributed(self, kind: Kind, size: Size, *parameters: Array | float) -> Array:
        """Numbers of a distribution, whose parameters broadcast to `size`."""
        arrays = [x for x in parameters if type(x) is Array]
        devices = [x.device for x in arrays]
        if self._device is not None or not arrays:
            devices.append(as_device(self._device))
        place = common_device(devices)
        available(d.float64, place)
        shape = result_shape(as_size(size), *parameters)
        given: list[Handle | float] = []
        for x in parameters:
            if type(x) is Array:
                whole = xp.broadcast_to(
                    xp.astype(on_device(x, place), d.float64, copy=False), shape
                )
                given.append(xp.reshape(whole, (-1,) if 0 not in shape else (0,))._handle)
            else:
                given.append(float(x))
        (dtype,) = DRAWN[kind]
        return self._draw(kind, shape, dtype, place, parameters=tuple(given))

    def _order(self, shape: tuple[int, ...], axis: int, place: Device) -> Array:
        """Random orders along an axis: that of random keys."""
        count = shape[axis]
        if count > 2**_INDEX_BITS:
            keys = self._draw("integers", shape, d.int64, place, -(2**63), 2**64)
            return xp.argsort(keys, axis=axis)
        # To sort keys with indices in their lower bits is faster than to sort indices by keys.
        span = 2 ** (64 - _INDEX_BITS)
        keys = self._draw("integers", shape, d.int64, place, -span // 2, span)
        column = (count, *[1] * (len(shape) - 1 - axis))
        indices = xp.reshape(xp.arange(count, dtype=d.int64, device=place), column)
        ordered = xp.sort(keys * 2**_INDEX_BITS + indices, axis=axis, stable=False)
        return xp.astype(ordered & (2**_INDEX_BITS - 1), place.integral, copy=False)
