"""Random numbers from counters, made of Threefry's bits by operations that round exactly.

Number `i` of a draw is a function of the key and of ``base + i`` alone. Its bits are the same on
every backend: integers are exact, and reals come of +, -, *, /, comparisons and selections,
each of which IEEE 754 defines to the last bit; square roots are corrected, and logarithms are not
the engine's.
native/engine/draws.c does the same operations in the same order.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import numpy as np

from ..core import dtypes as d
from ..core.dtypes import DType
from . import distributions
from .arguments import Handle, Kind
from .exact_functions import SERIES, exact_log, exact_sqrt, polynomial
from .handle_values import HandleValue, where
from .interface import Interface

_REAL: Final = tuple([dtype for dtype in d.REAL_FLOATING if dtype in d.SELF_COMPUTED])

DRAWN: Final[dict[str, tuple[DType, ...]]] = {
    "bits": (d.uint32,),
    "uniform": _REAL,
    "normal": _REAL,
    "integers": (d.int64, d.uint64),
    "exponential": (d.float64,),
    "gamma": (d.float64,),
    "beta": (d.float64,),
    "poisson": (d.int64,),
    "binomial": (d.int64,),
}
"""The dtypes of each kind."""

PARAMETERS: Final = {"gamma": 1, "beta": 2, "poisson": 1, "binomial": 2}
"""How many parameters kinds have, of those whose numbers are drawn until they are accepted."""

MAX_NARROW_SPAN: Final = 2**32
"""Integers of a wider span take two blocks of 64 bits each."""


def numbers_per_block(dtype: DType) -> int:
    """How many numbers of a narrow draw are made of one block of 64 bits."""
    return 64 // d.bits(dtype)


def draw(
    backend: Interface, kind: Kind, key: tuple[int, int], *numbers: Any, **named: Any
) -> Handle:
    """See `Backend.draw`."""
    keys = backend.from_host(np.array(key, np.uint32), copy=True)
    return _drawn(backend, kind, keys, *numbers, **named)


def draw_from(
    backend: Interface,
    kind: Kind,
    key: Handle,
    counter: Handle,
    offset: int,
    *numbers: Any,
    **named: Any,
) -> Handle:
    """See `Backend.draw_from`."""
    whole = HandleValue(backend, key)
    words = [
        backend.reshape(half.cast(d.uint32).handle, (1,))
        for half in (whole & 0xFFFFFFFF, (whole >> 32) & 0xFFFFFFFF)
    ]
    base = HandleValue(backend, counter) + offset
    return _drawn(backend, kind, backend.cat(words, 0), base, 0, *numbers, **named)


def draw_from_read(
    backend: Interface,
    kind: Kind,
    key: Handle,
    counter: Handle,
    offset: int,
    *numbers: Any,
    **named: Any,
) -> Handle:
    """See `Backend.draw_from`: by `draw`, for backends that can read the state."""
    whole, base = int(backend.item(key).real), int(backend.item(counter).real)
    words = whole & 0xFFFFFFFF, (whole >> 32) & 0xFFFFFFFF
    return backend.draw(kind, words, base + offset, 0, *numbers, **named)


def _drawn(
    backend: Interface,
    kind: Kind,
    keys: Handle,
    base: int | HandleValue,
    first: int,
    count: int,
    dtype: DType,
    low: int = 0,
    span: int = 0,
    parameters: tuple[Handle | float, ...] = (),
) -> Handle:
    if count == 0:
        return backend.empty((0,), dtype)
    if kind in PARAMETERS:
        found = _distributed(backend, kind, keys, base, first, count, parameters)
        return found.cast(dtype).handle if dtype is d.int64 else found.handle
    wide = kind == "integers" and span > MAX_NARROW_SPAN
    if wide:
        return _wide(_words(backend, keys, base + 2 * first, 2 * count), dtype, low, span)
    per_block = numbers_per_block(dtype)
    begin, skipped = divmod(first, per_block)
    blocks = _words(backend, keys, base + begin, -(-(skipped + count) // per_block))
    if per_block == 2:
        flat = backend.reshape(blocks.handle, (2 * backend.shape(blocks.handle)[0],))
        words = HandleValue(backend, backend.slice(flat, ((skipped, count, 1),)))
        if kind == "bits":
            return backend.copy(words.handle)
        if kind == "uniform":
            return ((words >> 8).cast(dtype) * 2.0**-24).handle
        # Below 2**31, ints convert to floats in one instruction.
        odd = (((words >> 2) << 1) | 1).cast(dtype)
        return _normal(odd * 2.0**-32, words & 1, dtype)
    x0, x1 = _column(blocks, 0), _column(blocks, 1)
    if kind == "uniform" or kind == "exponential":
        high, low_bits = (x1 >> 5).cast(d.float64), (x0 >> 6).cast(d.float64)
        even = (high * 2.0**26 + low_bits) * 2.0**-53
        if kind == "uniform":
            return even.handle
        return (-exact_log(1.0 - even, d.float64, where, is_share=True)).handle
    if kind == "normal":
        high, low_bits = (x1 >> 1).cast(d.float64), ((x0 >> 1) | 1).cast(d.float64)
        return _normal((high * 2.0**31 + low_bits) * 2.0**-63, x1 & 1, d.float64)
    # `span` times a fraction of 64 bits; in 2**32 steps, so that no product has more.
    # Engines have all operations for int64, which is enough up to a span of 2**31.
    work = d.int64 if span <= 2**31 else d.uint64
    high, low_bits = x1.cast(work), x0.cast(work)
    value = (_times(high, span) + (_times(low_bits, span) >> 32)) >> 32
    return (value.cast(dtype) + low).handle  # `value` has at most 32 bits


def _distributed(
    backend: Interface,
    kind: Kind,
    keys: Handle,
    base: int | HandleValue,
    first: int,
    count: int,
    parameters: tuple[Handle | float, ...],
) -> HandleValue:
    """Numbers that each have a block of many streams: the key of a stream is a block, too."""

    @cache
    def streams(group: int) -> Handle:
        # No draw has such counters, which are from 2**63 on.
        numbers = [[i, 2**31] for i in range(8 * group, 8 * group + 8)]
        return backend.threefry(keys, backend.from_host(np.array(numbers, np.uint32), copy=True))

    def draw(made: Any, stream: int) -> HandleValue:
        group, which = divmod(stream, 8)
        key = backend.slice(streams(group), (which, (0, 2, 1)))
        handle = _drawn(backend, made, key, base, first, count, d.float64)
        return HandleValue(backend, handle)

    values = [
        HandleValue(backend, backend.full((), d.float64, x) if isinstance(x, float) else x)
        for x in parameters
    ]
    make = getattr(distributions, kind)
    found: HandleValue = make(draw, *values)
    return found


def _words(backend: Interface, keys: Handle, base: int | HandleValue, blocks: int) -> HandleValue:
    """Blocks of two words, of shape (blocks, 2)."""
    if isinstance(base, HandleValue):
        counter = HandleValue(backend, backend.arange(0, blocks, 1, d.int64)) + base
    else:
        counter = HandleValue(backend, backend.arange(base, base + blocks, 1, d.int64))
    halves = [
        backend.reshape(half.cast(d.uint32).handle, (blocks, 1))
        for half in (counter & 0xFFFFFFFF, counter >> 32)
    ]
    return HandleValue(backend, backend.threefry(keys, backend.cat(halves, 1)))


def _column(blocks: HandleValue, which: int) -> HandleValue:
    backend = blocks.backend
    (rows, _) = backend.shape(blocks.handle)
    return HandleValue(backend, backend.slice(blocks.handle, ((0, rows, 1), which)))


def _normal(beyond: HandleValue, negative: HandleValue, dtype: DType) -> Handle:
    """Normal deviates of a probability below 0.5 and a sign."""
    series = SERIES[d.bits(dtype)]
    q = 0.5 - beyond
    r = 0.180625 - q * q
    middle = q * polynomial(r, series.middle) / polynomial(r, series.middle_under)
    squared = -exact_log(beyond, dtype, where, is_share=True)
    r = exact_sqrt(squared, squared.sqrt(), dtype)
    near, far = r - 1.6, r - 5.0
    tail = where(
        r <= 5.0,
        polynomial(near, series.near) / polynomial(near, series.near_under),
        polynomial(far, series.far) / polynomial(far, series.far_under),
    )
    size = where(beyond < 0.075, tail, middle)
    return where(negative.is_zero(), size, -size).handle


def _times(x: HandleValue, factor: int) -> HandleValue:
    """A product of at most 64 bits."""
    return x << 32 if factor == MAX_NARROW_SPAN else x * factor


def _wide(blocks: HandleValue, dtype: DType, low: int, span: int) -> Handle:
    """Integers of a span above 2**32: the upper part of 128 random bits times the span."""
    backend = blocks.backend
    (rows, _) = backend.shape(blocks.handle)
    words = HandleValue(backend, backend.reshape(blocks.handle, (rows // 2, 4)))
    limbs = tuple([_column(words, which).cast(d.uint64) for which in (2, 3, 0, 1)])
    if span == 2**64:
        high, low_bits = limbs[3], limbs[2]
    else:
        high, low_bits = upper_product(limbs, (span & 0xFFFFFFFF, span >> 32))
    # Ints of 64 bits wrap around, signed or not.
    value = (high.cast(dtype) << 32) | low_bits.cast(dtype)
    return (value + low).handle


def upper_product(limbs: tuple[Any, ...], factor: tuple[Any, Any]) -> tuple[Any, Any]:
    """The upper 64 bits of a product of 128 and 64 bits, as two numbers of 32, the greater first.

    Both operands are uint64 limbs of 32 bits, least first.
    """
    # Schoolbook multiplication; no sum exceeds 64 bits.
    total = [limb * 0 for limb in (*limbs, limbs[0], limbs[0])]
    for j, digit in enumerate(factor):
        carry = limbs[0] * 0
        for i, limb in enumerate(limbs):
            carry = carry + total[i + j] + limb * digit
            total[i + j] = carry & 0xFFFFFFFF
            carry = carry >> 32
        total[j + 4] = carry
    return total[5], total[4]
