"""The generator of random numbers, and how one is made of a seed."""

from __future__ import annotations

import operator
from math import isinf, prod
from typing import Any, NoReturn

import numpy as np

from ..contract.arguments import Handle, Kind
from ..contract.distributions import GREATEST_MEAN, MOST_TRIALS
from ..contract.numpy_dtypes import DTypeLike
from ..contract.random_numbers import MAX_NARROW_SPAN
from ..core import dtypes as d
from ..core.dtypes import as_dtype
from ..core.shape import as_count, check_shape, normalise_axis
from ..device import Device, as_device, available
from ..frontend import standard as xp
from ..frontend.array import Array
from ..frontend.operands import adopted, check_writable, only_array, own_array
from ..tracing.recorder import TraceError
from .parameters import (
    Parameter,
    Seed,
    Size,
    as_parameter,
    as_seed,
    as_size,
    bounded_integers,
    covariance_factor,
    integer_bounds,
    probabilities,
    result_shape,
    without_replacement,
)
from .state import State


def default_rng(seed: Seed | Generator = None, *, device: Device | str | None = None) -> Generator:
    """A generator of random numbers.

    seed (int, sequence of int, numpy.random.SeedSequence, Generator or None): Not negative. None
        takes fresh entropy from the operating system. A generator is returned as it is.
    device: Where the numbers are made; the default device of each draw by default. It changes no
        bit.
    TypeError, ValueError: If the seed is something else, or negative; or if a generator is given
        with the name of another device.

    >>> rng = xp.random.default_rng(7)
    >>> rng.integers(10, size=(2, 3)).shape
    (2, 3)
    """
    place = None if device is None else as_device(device)
    if isinstance(seed, Generator):
        if place is not None and seed.device != place:
            raise ValueError("this generator has a device of its own; make one from a seed instead")
        return seed
    return Generator(as_seed(seed), place)


class Generator(State):
    """Draws random numbers under the names of ``numpy.random.Generator``'s methods.

    Its state is a key of 64 bits, made of the seed, and a counter, which each draw advances by the
    blocks of 64 bits that it used. Generators are pickled and copied with their state. Draws from
    several threads do not overlap; which thread gets which is left to chance.

    Every method returns new arrays, without axes where NumPy returns scalars, and leaves the state
    unchanged if it raises an error. A function for `compile` or `eval_shape` takes a generator as
    an argument; draws from one outside of the function raise TypeError, because every call would
    get the same numbers.
    """

    # ------------------------------------------------------------------ uniform and normal

    def random(self, size: Size = None, dtype: DTypeLike | None = None) -> Array:
        """Numbers from 0 up to, not including, 1, evenly distributed.

        Multiples of 2**-53 (float64), 2**-24 (float32) or 2**-11 (float16).

        size: The shape; None for an array without axes.
        dtype: float64 by default, where the device has it; or float32, or float16.
        TypeError, ValueError: If `size` is no shape, or the dtype another one.
        """
        return self._reals("uniform", size, dtype)

    def standard_normal(self, size: Size = None, dtype: DTypeLike | None = None) -> Array:
        """Normally distributed numbers of mean 0 and standard deviation 1.

        Quantiles of evenly distributed numbers of 31 (float32, float16) or 63 bits.

        size: The shape; None for an array without axes.
        dtype: float64 by default, where the device has it; or float32, or float16.
        TypeError, ValueError: If `size` is no shape, or the dtype another one.
        """
        return self._reals("normal", size, dtype)

    def uniform(self, low: Parameter = 0.0, high: Parameter = 1.0, size: Size = None) -> Array:
        """Numbers from `low` up to `high`, evenly distributed: ``low + (high - low) * random()``.

        low, high: Finite, of shapes that broadcast.
        TypeError, ValueError: If a parameter is no number, ``high - low`` is infinite or negative,
            or shapes do not broadcast to `size`.
        """
        low, high = as_parameter(low, "low"), as_parameter(high, "high")
        span = high - low
        if not isinstance(span, Array) and isinf(span):
            raise ValueError("high - low must be finite; draw parts of the range by themselves")
        span = as_parameter(span, "high - low", 0.0)
        shifted: Array = low + span * self._reals("uniform", size, None, low, high)
        return shifted

    def normal(self, loc: Parameter = 0.0, scale: Parameter = 1.0, size: Size = None) -> Array:
        """Normally distributed numbers: ``loc + scale * standard_normal()``.

        loc, scale: Mean and standard deviation, of shapes that broadcast; `scale` at least 0.
        TypeError, ValueError: If a parameter is no such number, or shapes do not broadcast to
            `size`.
        """
        loc, scale = as_parameter(loc, "loc"), as_parameter(scale, "scale", 0.0)
        shifted: Array = loc + scale * self._reals("normal", size, None, loc, scale)
        return shifted

    # ------------------------------------------------------------------ integers and bytes

    def integers(
        self,
        low: Array | int,
        high: Array | int | None = None,
        size: Size = None,
        dtype: DTypeLike | None = None,
        endpoint: bool = False,
    ) -> Array:
        """Integers from `low` up to `high`, evenly distributed.

        The upper part of the product of random bits (64; 128 for all numbers if one has a span
        above 2**32) and the span: probabilities differ from each other by less than one part in
        2**32.

        low, high (Array or int): Of shapes that broadcast, and integer dtypes. With one of them,
            that is `high` and `low` is 0.
        size: The shape; None for that of the bounds.
        dtype: An integer dtype that holds all values; int64 by default, where the device has it.
        endpoint: Whether `high` is among the values.
        TypeError: If a bound is no integer, or the dtype not integral.
        ValueError: If there is no value, or one outside the dtype's bounds; or if the bounds do not
            broadcast to `size`.
        """
        place = self._place(low, high)
        target = place.integral if dtype is None else available(as_dtype(dtype), place)
        if target not in d.INTEGRAL:
            raise TypeError(f"integers are of an integer dtype, not {target}; use astype")
        first, last = integer_bounds(low, high, target, endpoint)
        shape = result_shape(as_size(size), first, last)
        made = d.uint64 if target is d.uint64 else d.int64
        if type(first) is not Array and type(last) is not Array:
            found = self._draw("integers", shape, made, place, first, last - first + 1)
            return xp.astype(found, target, copy=False)
        first, last = [
            x if type(x) is Array else xp.asarray(x, dtype=made, device=place)
            for x in (first, last)
        ]
        # A difference that is no int64 is negative.
        span = last - first
        wide = bool(((span < 0) | (span >= MAX_NARROW_SPAN)).any())
        words = self._draw("bits", (*shape, 4 if wide else 2), d.uint32, place)
        return xp.astype(bounded_integers(words, first, last), target, copy=False)

    def bytes(self, length: int) -> bytes:
        """So many random bytes.

        ValueError: If `length` is negative.
        """
        count = operator.index(as_count(length, "length"))
        check_shape((count,))
        words = self._draw("bits", (-(-count // 4),), d.uint32, as_device(self._device))
        return np.asarray(words).astype("<u4").tobytes()[:count]

    # ------------------------------------------------------------------ order

    def permutation(self, x: Array | int, axis: int = 0) -> Array:
        """The numbers below `x`, or the parts of an array along an axis, in random order.

        axis: Of an array.
        TypeError, ValueError, IndexError: If `x` is neither, negative, or without that axis.
        """
        x = adopted(x)
        if not isinstance(x, Array):
            try:
                count = operator.index(x)
            except TypeError:
                own_array(x)
                raise
            if count < 0:
                raise ValueError(f"there are no permutations of {count} numbers")
            return self._order((count,), 0, as_device(self._device))
        axis = normalise_axis(axis, x.ndim)
        return xp.take(x, self._order((x.shape[axis],), 0, x.device), axis=axis)

    def permuted(self, x: Array, axis: int | None = None) -> Array:
        """A copy with the elements of each row along an axis in an order of its own.

        axis: None for all elements, whatever their place.
        TypeError, IndexError: If `x` is no array, or has no such axis.
        """
        x = only_array(x)
        if axis is None:
            flat = xp.reshape(x, (-1,))
            return xp.reshape(xp.take(flat, self._order(flat.shape, 0, x.device)), x.shape)
        axis = normalise_axis(axis, x.ndim)
        return xp.take_along_axis(x, self._order(x.shape, axis, x.device), axis=axis)

    def shuffle(self, x: Array, axis: int = 0) -> None:
        """Bring the parts of an array along an axis into random order, in place.

        x: Writable.
        TypeError, ValueError, IndexError: If `x` is no array, read-only, or without that axis.
        """
        x = own_array(x)
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

        size: The shape of the sample, which takes the place of `axis` in the result.
        replace: Whether the same part can be drawn again.
        p (sequence of float or array, optional): The probability of each, 1-D, with sum 1; equal by
            default. Read on the host.
        axis: Of an array.
        shuffle: Taken for NumPy's sake: samples without replacement are always in random order.
        TypeError, ValueError, IndexError: If `a` is neither array nor int; if there is nothing to
            draw from, or, without replacement, not enough of it; if probabilities are negative or
            NaN, or do not sum to 1.
        """
        shape = as_size(size) or ()
        count = prod(shape)
        a = adopted(a, "a")
        if isinstance(a, Array):
            axis = normalise_axis(axis, a.ndim)
            number, place = a.shape[axis], a.device
        else:
            try:
                number, place = operator.index(a), as_device(self._device)
            except TypeError:
                own_array(a, "a")
                raise
        if number < 0 or (number == 0 and count):
            raise ValueError(f"there is nothing to choose from: a has {number} parts")
        weights = None if p is None else probabilities(p, number)
        most = number if weights is None else int(np.count_nonzero(weights))
        if not replace and count > most:
            raise ValueError(
                f"{count} cannot be chosen of {most} without replacement; use replace=True"
            )
        if count == 0:
            chosen = xp.asarray(np.zeros(count, np.int64), device=place)
        elif weights is None and replace:
            chosen = self._draw("integers", (count,), d.int64, place, 0, number)
        elif weights is not None and replace:
            # The sum's rounding must not leave a number beyond it.
            steps = np.cumsum(weights)
            steps /= steps[-1]
            numbers = self._draw("uniform", (count,), d.float64, place)
            chosen = xp.searchsorted(xp.asarray(steps, device=place), numbers, side="right")
        elif weights is None:
            chosen = self._order((number,), 0, place)[:count]
        else:
            # One after the other, each by the probabilities of those that are left.
            numbers_left = self._draw("uniform", (count,), d.float64, place)
            chosen = xp.asarray(
                without_replacement(weights, np.asarray(numbers_left)), device=place
            )
        chosen = xp.astype(chosen, place.integral, copy=False)
        if not isinstance(a, Array):
            return xp.reshape(chosen, shape)
        found = xp.take(a, chosen, axis=axis)
        return xp.reshape(found, (*a.shape[:axis], *shape, *a.shape[axis + 1 :]))

    # ------------------------------------------------------------------ other distributions

    def exponential(self, scale: Parameter = 1.0, size: Size = None) -> Array:
        """Exponentially distributed numbers of mean `scale`.

        scale: At least 0.
        size: The shape; None for that of `scale`.
        TypeError, ValueError: If `scale` is no such number, or does not broadcast to `size`.
        """
        scale = as_parameter(scale, "scale", 0.0)
        found: Array = scale * self._reals("exponential", size, d.float64, scale)
        return found

    def standard_gamma(self, shape: Parameter, size: Size = None) -> Array:
        """Gamma-distributed numbers of scale 1, float64.

        shape: Above 0.
        size: The shape of the result; None for that of `shape`.
        TypeError, ValueError: If `shape` is no such number, or does not broadcast to `size`.
        """
        shape = as_parameter(shape, "shape", 0.0, _FINITE, strict=True)
        return self._distributed("gamma", size, shape)

    def beta(self, a: Parameter, b: Parameter, size: Size = None) -> Array:
        """Beta-distributed numbers, float64: a gamma-distributed number's share in the sum of two.

        a, b: Above 0, of shapes that broadcast.
        size: The shape of the result; None for that of the parameters.
        TypeError, ValueError: If a parameter is no such number, or shapes do not broadcast to
            `size`.
        """
        a = as_parameter(a, "a", 0.0, _FINITE, strict=True)
        b = as_parameter(b, "b", 0.0, _FINITE, strict=True)
        return self._distributed("beta", size, a, b)

    def poisson(self, lam: Parameter = 1.0, size: Size = None) -> Array:
        """Poisson-distributed integers, int64 where the device has it.

        lam: The mean, from 0 to 9.22337203e18.
        size: The shape; None for that of `lam`.
        TypeError, ValueError: If `lam` is no such number, or does not broadcast to `size`.
        """
        lam = as_parameter(lam, "lam", 0.0, GREATEST_MEAN)
        found = self._distributed("poisson", size, lam)
        return xp.astype(found, found.device.integral, copy=False)

    def binomial(self, n: Array | int, p: Parameter, size: Size = None) -> Array:
        """The number of successes in `n` trials of probability `p`, int64 where the device has it.

        n: From 0 to 2**53.
        p: From 0 to 1. The shapes broadcast.
        TypeError, ValueError: If a parameter is no such number, or shapes do not broadcast to
            `size`.
        """
        n = as_parameter(n, "n", 0, MOST_TRIALS, whole=True)
        p = as_parameter(p, "p", 0.0, 1.0)
        found = self._distributed("binomial", size, n, p)
        return xp.astype(found, found.device.integral, copy=False)

    def multivariate_normal(
        self,
        mean: Any,
        cov: Any,
        size: Size = None,
        check_valid: str = "warn",
        tol: float = 1e-8,
        *,
        method: str = "svd",
    ) -> Array:
        """Vectors of normally distributed numbers with given means and covariances, float64.

        ``mean + standard_normal((*size, N)) @ factor``: devices differ by the rounding of their
        products of matrices.

        mean (Array or array_like): Of shape (N,).
        cov (Array or array_like): Of shape (N, N), symmetric and positive semidefinite. Factorised
            on the host.
        size: The shape of the result without its last axis, which has N elements; () by default.
        check_valid ({"warn", "raise", "ignore"}): What is done about covariances that are not
            symmetric and positive semidefinite.
        tol: How far rounding may lead from that.
        method ({"svd", "eigh", "cholesky"}): How the factor is found; Cholesky's needs positive
            definite covariances.
        TypeError, ValueError: If shapes do not fit or elements are not real; if the covariances are
            none, and `check_valid` is "raise" or `method` "cholesky".
        """
        shape = as_size(size) or ()
        place = self._place(mean, cov)
        centre = mean if type(mean) is Array else xp.asarray(mean, dtype=d.float64, device=place)
        factor = covariance_factor(cov, check_valid, tol, method)
        if centre.shape != factor.shape[1:]:
            raise ValueError(
                f"mean must be of shape {factor.shape[1:]}, as cov is of {factor.shape}, not "
                f"{centre.shape}"
            )
        normal = self._draw("normal", (*shape, len(factor)), d.float64, place)
        return centre + normal @ xp.asarray(factor, device=place)

    @staticmethod
    def _stand_in(arrays: list[Array]) -> TracedGenerator:
        return TracedGenerator(*arrays)


class TracedGenerator(Generator):
    """The stand-in of a generator while a function is traced: its state is two arrays."""

    def __init__(self, key: Array, counter: Array) -> None:
        self._state = key, counter
        self._device = key.device
        self._used: Any = 0

    def __repr__(self) -> str:
        return "Generator(traced)"

    def __reduce__(self) -> NoReturn:
        raise TraceError("a generator cannot be copied while a function is traced; pass another")

    def _blocks(self) -> Any:
        return self._used

    def spawn(self, n_children: int) -> NoReturn:
        raise TraceError("spawn() makes generators outside of the function; pass them as arguments")

    def _made(self, blocks: Any, kind: Kind, place: Device, *rest: Any) -> Handle:
        key, counter = [x._handle for x in self._state]
        handle = place.backend.draw_from(kind, key, counter, self._used, *rest)
        self._used += blocks
        return handle


_FINITE = float(np.finfo(np.float64).max)
