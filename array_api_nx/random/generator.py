"""The generator of random numbers, and how one is made of a seed."""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable
from math import isinf, prod
from typing import Any

import numpy as np
from numpy.random import SeedSequence

from ..contract.numpy_dtypes import DTypeLike
from ..contract.random_numbers import DRAWN, MAX_NARROW_SPAN, Kind, numbers_per_block
from ..core import dtypes as d
from ..core.dtypes import DType, as_dtype
from ..core.shape import normalise_axis
from ..device import Device, as_device, available
from ..frontend.array import Array
from ..frontend.creation import asarray
from ..frontend.data_type import astype
from ..frontend.dispatch import check_writable, only_array, wrap
from ..frontend.indexing import take, take_along_axis
from ..frontend.manipulation import reshape
from ..frontend.searching import searchsorted
from ..frontend.sorting import argsort
from . import distributions
from .parameters import (
    Parameter,
    Seed,
    Size,
    as_parameter,
    as_seed,
    as_size,
    real_dtype,
    result_shape,
)

__all__ = ["Generator", "default_rng"]

# Counters are ints of 64 bits; a draw that would pass this one is refused.
_LAST_COUNTER = 2**62


def default_rng(seed: Seed | Generator = None, *, device: Device | str | None = None) -> Generator:
    """A generator of random numbers.

    Parameters
    ----------
    seed : int, sequence of int, numpy.random.SeedSequence, Generator or None
        Not negative. None takes fresh entropy from the operating system. A generator is returned
        as it is.
    device : Device or str, optional
        Where the numbers are made; the default device of each draw by default. It changes no bit.

    Returns
    -------
    Generator

    Raises
    ------
    TypeError, ValueError
        If the seed is something else, or negative; or if a generator is given with the name of
        another device.

    Examples
    --------
    >>> import array_api_nx as xp
    >>> rng = xp.random.default_rng(7)
    >>> rng.integers(10, size=(2, 3)).shape
    (2, 3)
    """
    place = None if device is None else as_device(device)
    if isinstance(seed, Generator):
        if place is not None and seed.device is not place:
            raise ValueError("this generator has a device of its own; make one from a seed instead")
        return seed
    return Generator(as_seed(seed), place)


class Generator:
    """Draws random numbers under the names of ``numpy.random.Generator``'s methods.

    Its state is a key of 64 bits, made of the seed, and a counter, which each draw advances by the
    blocks of 64 bits that it used. Generators are pickled and copied with their state. Draws from
    several threads do not overlap; which thread gets which is left to chance.

    Every method returns new arrays, without axes where NumPy returns scalars; leaves the state
    unchanged if it raises an error; and raises TypeError inside `compile` and `eval_shape`, where
    every call would get the same numbers: draw before, and pass the numbers as arguments.
    """

    def __init__(self, seed: SeedSequence, device: Device | None = None) -> None:
        self._seed = seed
        self._device = device
        first, second = seed.generate_state(2, np.uint32).tolist()
        self._key: tuple[int, int] = (first, second)
        self._counter = 0
        self._lock = threading.RLock()

    @property
    def device(self) -> Device | None:
        """Where the numbers are made; None for the default device."""
        return self._device

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._lock = threading.RLock()

    def __repr__(self) -> str:
        return f"Generator(key={self._key}, counter={self._counter}, device={self._device})"

    def spawn(self, n_children: int) -> list[Generator]:
        """Independent generators, as many as asked for, on the same device.

        Their seeds are children of this one's; the next call gives others.

        Raises
        ------
        ValueError
            If the number is negative.
        """
        number = operator.index(n_children)
        if number < 0:
            raise ValueError(f"spawn makes at least 0 generators, not {number}")
        with self._lock:
            return [Generator(child, self._device) for child in self._seed.spawn(number)]

    # ------------------------------------------------------------------ uniform and normal

    def random(self, size: Size = None, dtype: DTypeLike | None = None) -> Array:
        """Numbers from 0 up to, not including, 1, evenly distributed.

        Multiples of 2**-53 (float64) or 2**-24 (float32).

        Parameters
        ----------
        size : int, tuple of int or None
            The shape; None for an array without axes.
        dtype : DType, optional
            float64 by default, where the device has it; or float32.

        Raises
        ------
        TypeError, ValueError
            If `size` is no shape, or the dtype another one.
        """
        return self._reals("uniform", size, dtype)

    def standard_normal(self, size: Size = None, dtype: DTypeLike | None = None) -> Array:
        """Normally distributed numbers of mean 0 and standard deviation 1.

        Quantiles of evenly distributed numbers of 31 (float32) or 63 bits.

        Parameters
        ----------
        size : int, tuple of int or None
            The shape; None for an array without axes.
        dtype : DType, optional
            float64 by default, where the device has it; or float32.

        Raises
        ------
        TypeError, ValueError
            If `size` is no shape, or the dtype another one.
        """
        return self._reals("normal", size, dtype)

    def uniform(self, low: Parameter = 0.0, high: Parameter = 1.0, size: Size = None) -> Array:
        """Numbers from `low` up to `high`, evenly distributed: ``low + (high - low) * random()``.

        Parameters
        ----------
        low, high : Array or float
            Finite, of shapes that broadcast.
        size : int, tuple of int or None
            The shape; None for that of the parameters.

        Raises
        ------
        TypeError, ValueError
            If a parameter is no number, ``high - low`` is infinite or negative, or shapes do not
            broadcast to `size`.
        """
        low, high = as_parameter(low, "low"), as_parameter(high, "high")
        span = high - low
        if not isinstance(span, Array) and isinf(span):
            raise ValueError("high - low must be finite; draw parts of the range by themselves")
        span = as_parameter(span, "high - low", 0.0)
        shifted: Array = low + span * self.random(result_shape(as_size(size), low, high))
        return shifted

    def normal(self, loc: Parameter = 0.0, scale: Parameter = 1.0, size: Size = None) -> Array:
        """Normally distributed numbers: ``loc + scale * standard_normal()``.

        Parameters
        ----------
        loc, scale : Array or float
            Mean and standard deviation, of shapes that broadcast; `scale` at least 0.
        size : int, tuple of int or None
            The shape; None for that of the parameters.

        Raises
        ------
        TypeError, ValueError
            If a parameter is no such number, or shapes do not broadcast to `size`.
        """
        loc, scale = as_parameter(loc, "loc"), as_parameter(scale, "scale", 0.0)
        shifted: Array = loc + scale * self.standard_normal(result_shape(as_size(size), loc, scale))
        return shifted

    # ------------------------------------------------------------------ integers and bytes

    def integers(
        self,
        low: int,
        high: int | None = None,
        size: Size = None,
        dtype: DTypeLike | None = None,
        endpoint: bool = False,
    ) -> Array:
        """Integers from `low` up to `high`, evenly distributed.

        The upper part of the product of random bits (64; 128 for a span above 2**32) and the span:
        probabilities differ from each other by less than one part in 2**32.

        Parameters
        ----------
        low, high : int
            With one number, that is `high` and `low` is 0.
        size : int, tuple of int or None
            The shape; None for an array without axes.
        dtype : DType, optional
            An integer dtype that holds all values; int64 by default, where the device has it.
        endpoint : bool
            Whether `high` is among the values.

        Raises
        ------
        TypeError
            If a bound is no int, or the dtype not integral.
        ValueError
            If there is no value, or one outside the dtype's bounds.
        """
        shape = as_size(size) or ()
        place = as_device(self._device)
        target = place.integral if dtype is None else available(as_dtype(dtype), place)
        if target not in d.INTEGRAL:
            raise TypeError(f"integers are of an integer dtype, not {target}; use astype")
        try:
            first, last = operator.index(low), None if high is None else operator.index(high)
        except TypeError:
            raise TypeError("low and high must be ints; arrays of bounds are not known") from None
        if last is None:
            first, last = 0, first
        last -= not endpoint
        if last < first:
            raise ValueError(f"there are no integers from {first} to {last}; give high above low")
        if first < target.min or last > target.max:
            raise ValueError(f"{target} does not hold all integers from {first} to {last}")
        made = d.uint64 if target is d.uint64 else d.int64
        found = self._draw("integers", shape, made, place, first, last - first + 1)
        return astype(found, target, copy=False)

    def bytes(self, length: int) -> bytes:
        """So many random bytes.

        Raises
        ------
        ValueError
            If `length` is negative.
        """
        (count,) = as_size(operator.index(length)) or (0,)
        words = self._draw("bits", (-(-count // 4),), d.uint32, as_device(self._device))
        return np.asarray(words).astype("<u4").tobytes()[:count]

    # ------------------------------------------------------------------ order

    def permutation(self, x: Array | int, axis: int = 0) -> Array:
        """The numbers below `x`, or the parts of an array along an axis, in random order.

        Parameters
        ----------
        x : Array or int
        axis : int
            Of an array.

        Raises
        ------
        TypeError, ValueError, IndexError
            If `x` is neither, negative, or without that axis.
        """
        if not isinstance(x, Array):
            try:
                count = operator.index(x)
            except TypeError:
                only_array(x)
                raise
            if count < 0:
                raise ValueError(f"there are no permutations of {count} numbers")
            return self._order((count,), 0, as_device(self._device))
        axis = normalise_axis(axis, x.ndim)
        return take(x, self._order((x.shape[axis],), 0, x.device), axis=axis)

    def permuted(self, x: Array, axis: int | None = None) -> Array:
        """A copy with the elements of each row along an axis in an order of its own.

        Parameters
        ----------
        x : Array
        axis : int or None
            None for all elements, whatever their place.

        Raises
        ------
        TypeError, IndexError
            If `x` is no array, or has no such axis.
        """
        only_array(x)
        if axis is None:
            flat = reshape(x, (-1,))
            return reshape(take(flat, self._order(flat.shape, 0, x.device)), x.shape)
        axis = normalise_axis(axis, x.ndim)
        return take_along_axis(x, self._order(x.shape, axis, x.device), axis=axis)

    def shuffle(self, x: Array, axis: int = 0) -> None:
        """Bring the parts of an array along an axis into random order, in place.

        Parameters
        ----------
        x : Array
            Writable.
        axis : int

        Raises
        ------
        TypeError, ValueError, IndexError
            If `x` is no array, read-only, or without that axis.
        """
        only_array(x)
        normalise_axis(axis, x.ndim)
        check_writable(x)
        x[...] = self.permutation(x, axis)

    def choice(
        self,
        a: Array | int,
        size: Size = None,
        replace: bool = True,
        p: Any = None,
        axis: int = 0,
        shuffle: bool = True,
    ) -> Array:
        """A random sample of the numbers below `a`, or of the parts of an array along an axis.

        Parameters
        ----------
        a : Array or int
        size : int, tuple of int or None
            The shape of the sample, which takes the place of `axis` in the result.
        replace : bool
            Whether the same part can be drawn again.
        p : sequence of float or array, optional
            The probability of each, 1-D, with sum 1; equal by default. Read on the host.
        axis : int
            Of an array.
        shuffle : bool
            Taken for NumPy's sake: samples without replacement are always in random order.

        Raises
        ------
        TypeError, ValueError, IndexError
            If `a` is neither array nor int; if there is nothing to draw from, or, without
            replacement, not enough of it; if probabilities are negative or NaN, or do not sum to 1.
        """
        shape = as_size(size) or ()
        count = prod(shape)
        if isinstance(a, Array):
            axis = normalise_axis(axis, a.ndim)
            number, place = a.shape[axis], a.device
        else:
            try:
                number, place = operator.index(a), as_device(self._device)
            except TypeError:
                only_array(a, "a")
                raise
        if number < 0 or (number == 0 and count):
            raise ValueError(f"there is nothing to choose from: a has {number} parts")
        weights = None if p is None else _probabilities(p, number)
        most = number if weights is None else int(np.count_nonzero(weights))
        if not replace and count > most:
            raise ValueError(
                f"{count} cannot be chosen of {most} without replacement; use replace=True"
            )
        if count == 0:
            chosen = asarray(np.zeros(count, np.int64), device=place)
        elif weights is None and replace:
            chosen = self._draw("integers", (count,), d.int64, place, 0, number)
        elif weights is not None and replace:
            # The sum's rounding must not leave a number beyond it.
            steps = np.cumsum(weights)
            steps /= steps[-1]
            numbers = self._draw("uniform", (count,), d.float64, place)
            chosen = searchsorted(asarray(steps, device=place), numbers, side="right")
        elif weights is None:
            chosen = self._order((number,), 0, place)[:count]
        else:
            # One after the other, each by the probabilities of those that are left.
            numbers_left = self._draw("uniform", (count,), d.float64, place)
            chosen = asarray(_without_replacement(weights, np.asarray(numbers_left)), device=place)
        chosen = astype(chosen, place.integral, copy=False)
        if not isinstance(a, Array):
            return reshape(chosen, shape)
        found = take(a, chosen, axis=axis)
        return reshape(found, (*a.shape[:axis], *shape, *a.shape[axis + 1 :]))

    # ------------------------------------------------------------------ other distributions

    def exponential(self, scale: Parameter = 1.0, size: Size = None) -> Array:
        """Exponentially distributed numbers of mean `scale`.

        Parameters
        ----------
        scale : Array or float
            At least 0.
        size : int, tuple of int or None
            The shape; None for that of `scale`.

        Raises
        ------
        TypeError, ValueError
            If `scale` is no such number, or does not broadcast to `size`.
        """
        scale = as_parameter(scale, "scale", 0.0)
        even = self.random(result_shape(as_size(size), scale), d.float64)
        found: Array = scale * distributions.exponential(even)
        return found

    def standard_gamma(self, shape: float, size: Size = None) -> Array:
        """Gamma-distributed numbers of scale 1, float64.

        Parameters
        ----------
        shape : float
            Above 0.
        size : int, tuple of int or None
            The shape of the result; None for an array without axes.

        Raises
        ------
        TypeError, ValueError
            If `shape` is no such number, or `size` no shape.
        """
        shape = _positive(shape, "shape")
        wanted = as_size(size) or ()
        return self._composed(wanted, lambda draw: distributions.gamma(shape, draw))

    def beta(self, a: float, b: float, size: Size = None) -> Array:
        """Beta-distributed numbers: the share of one gamma-distributed number in the sum of two.

        Parameters
        ----------
        a, b : float
            Above 0.
        size : int, tuple of int or None
            The shape of the result; None for an array without axes.

        Raises
        ------
        TypeError, ValueError
            If a parameter is no such number, or `size` no shape.
        """
        a, b = _positive(a, "a"), _positive(b, "b")

        def shares(draw: distributions.Draw) -> Array:
            other = distributions.gamma_logarithm(b, lambda kind, n: draw(kind, n + 10_000))
            return distributions.share(distributions.gamma_logarithm(a, draw), other)

        return self._composed(as_size(size) or (), shares)

    def _composed(
        self, shape: tuple[int, ...], make: Callable[[distributions.Draw], Array]
    ) -> Array:
        """A draw for which every element has a counter, and every attempt a key of its own."""
        place = as_device(self._device)
        count = prod(shape)
        with self._lock:
            base = self._first_of(count)

            def draw(kind: Any, attempt: int) -> Array:
                words = SeedSequence([*self._key, attempt]).generate_state(2, np.uint32)
                key = (int(words[0]), int(words[1]))
                handle = place.backend.draw(kind, key, base, 0, count, d.float64)
                return reshape(wrap(handle, d.float64, place), shape)

            found = make(draw)
            self._counter = base + count
        return found

    # ------------------------------------------------------------------ draws

    def _reals(self, kind: Kind, size: Size, dtype: DTypeLike | None) -> Array:
        place = as_device(self._device)
        return self._draw(kind, as_size(size) or (), real_dtype(dtype, place), place)

    def _first_of(self, blocks: int) -> int:
        """The counter of the first of so many blocks, which the caller is about to draw."""
        if self._counter + blocks > _LAST_COUNTER:
            raise ValueError("this generator is exhausted; make another one with spawn(1)")
        return self._counter

    def _order(self, shape: tuple[int, ...], axis: int, place: Device) -> Array:
        """Random orders along an axis: where the least of random keys are."""
        keys = self._draw("integers", shape, d.int64, place, -(2**63), 2**64)
        return argsort(keys, axis=axis)

    def _draw(
        self,
        kind: Kind,
        shape: tuple[int, ...],
        dtype: DType,
        place: Device,
        low: int = 0,
        span: int = 0,
    ) -> Array:
        count = prod(shape)
        per_block = 1 if kind == "integers" else numbers_per_block(dtype)
        blocks = 2 * count if span > MAX_NARROW_SPAN else -(-count // per_block)
        assert dtype in DRAWN[kind]
        with self._lock:
            base = self._first_of(blocks)
            backend = place.backend
            handle = backend.draw(kind, self._key, base, 0, count, dtype, low, span)
            self._counter = base + blocks
        return reshape(wrap(handle, dtype, place), shape)


def _positive(x: object, name: str) -> float:
    value = as_parameter(x, name, 0.0, strict=True)
    if type(value) is Array or isinf(value):
        raise TypeError(f"{name} must be a finite float; draw for each parameter by itself")
    return float(value)


def _probabilities(p: Any, number: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    weights = np.asarray(p, np.float64)
    if weights.shape != (number,):
        raise ValueError(f"p must be of shape ({number},), not {weights.shape}")
    if not np.all(weights >= 0):
        raise ValueError("probabilities must be at least 0; set negative ones and NaN to 0")
    total = weights.sum()
    if abs(total - 1) > 1e-8:
        raise ValueError(f"probabilities must sum to 1, not {total}; divide them by their sum")
    return weights


def _without_replacement(
    weights: np.ndarray[Any, np.dtype[np.float64]], numbers: np.ndarray[Any, Any]
) -> np.ndarray[Any, np.dtype[np.int64]]:
    left = weights.copy()
    chosen = np.empty(len(numbers), np.int64)
    for i, number in enumerate(numbers):
        steps = np.cumsum(left)
        # Rounding up must not lead beyond the last one that is left.
        last = np.flatnonzero(left)[-1]
        chosen[i] = min(np.searchsorted(steps, number * steps[-1], side="right"), last)
        left[chosen[i]] = 0
    return chosen
