"""Integers between bounds that are arrays."""

from __future__ import annotations

from ..contract.random_numbers import upper_product
from ..core import dtypes as d
from ..frontend.array import Array
from ..frontend.data_type import astype
from ..frontend.searching import where


def integers(words: Array, low: Array, last: Array) -> Array:
    """Integers from `low` to `last`, which are both int64 or both uint64.

    `words` are the random bits, uint32, with one axis more than the result: two words for each
    number, or four for spans above 2**32.
    """
    dtype = low.dtype
    # No number of 64 bits holds a span of 2**64, which is 0 here.
    span = _unsigned(last) - _unsigned(low) + 1
    count = words.shape[-1]
    limbs = [astype(words[..., i], d.uint64) for i in range(count)]
    if count == 2:
        offset = (limbs[1] * span + ((limbs[0] * span) >> 32)) >> 32
        return astype(offset, dtype) + low
    limbs = [limbs[2], limbs[3], limbs[0], limbs[1]]
    high, rest = upper_product(tuple(limbs), (span & 0xFFFFFFFF, span >> 32))
    high, rest = where(span == 0, limbs[3], high), where(span == 0, limbs[2], rest)
    return ((astype(high, dtype) << 32) | astype(rest, dtype)) + low


def _unsigned(x: Array) -> Array:
    """int64 or uint64 modulo 2**64."""
    upper, lower = (x >> 32) & 0xFFFFFFFF, x & 0xFFFFFFFF
    return (astype(upper, d.uint64) << 32) | astype(lower, d.uint64)
