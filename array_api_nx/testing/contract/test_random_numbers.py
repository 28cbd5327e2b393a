"""Draws of random numbers: the same bits on every backend, whole or in parts."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from ...contract.arguments import Handle, Kind
from ...contract.backend import Backend
from ...contract.random_numbers import DRAWN
from ...core import dtypes as d
from ...core.dtypes import DType
from .layouts import check, in_layouts, limits, spread

KEY = (0x13198A2E, 0x03707344)
BASE = 2**32 - 40  # so that counters pass from one word to two

# The known answers of the Random123 distribution for threefry2x32 with 20 rounds.
KNOWN_ANSWERS = [
    # counter, key, result
    ((0x00000000, 0x00000000), (0x00000000, 0x00000000), (0x6B200159, 0x99BA4EFE)),
    ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
    ((0x243F6A88, 0x85A308D3), (0x13198A2E, 0x03707344), (0xC4923A9C, 0x483DF7A0)),
]

BOUNDS: dict[DType, list[tuple[int, int]]] = {
    d.int64: [(0, 1), (-3, 7), (5, 2**32), (-(2**63), 2**64), (-5, 2**32 + 3), (-9, 3 * 2**61)],
    d.uint64: [(0, 2**31 - 1), (2**63, 1000), (1, 2**40), (0, 2**64)],
}

KINDS: tuple[Kind, ...] = ("bits", "uniform", "normal", "integers")

DRAWS = [
    (kind, dtype, *bounds)
    for kind in KINDS
    for dtype in DRAWN[kind]
    for bounds in BOUNDS.get(dtype, [(0, 0)])
]


def reference(kind: str, dtype: DType, low: int, span: int, first: int, count: int) -> list[int]:
    """Bits and integers, by Python's ints alone."""
    found = []
    for i in range(first, first + count):
        if kind == "bits":
            found.append(words(BASE + i // 2)[i % 2])
        elif span <= 2**32:
            x0, x1 = words(BASE + i)
            found.append(low + ((x1 << 32 | x0) * span >> 64))
        else:
            (a0, a1), (b0, b1) = words(BASE + 2 * i), words(BASE + 2 * i + 1)
            fraction = a1 << 96 | a0 << 64 | b1 << 32 | b0
            found.append(low + (fraction * span >> 128))
    return found


def words(counter: int, key: tuple[int, int] = KEY) -> tuple[int, int]:
    """Threefry-2x32 with 20 rounds, as its authors define it."""
    full = 0xFFFFFFFF
    keys = (*key, key[0] ^ key[1] ^ 0x1BD11BDA)
    x0, x1 = (counter + keys[0]) & full, ((counter >> 32) + keys[1]) & full
    for number in range(20):
        rotation = (13, 15, 26, 6, 17, 29, 16, 24)[number % 8]
        x0 = (x0 + x1) & full
        x1 = ((x1 << rotation | x1 >> (32 - rotation)) & full) ^ x0
        if number % 4 == 3:
            group = number // 4 + 1
            x0 = (x0 + keys[group % 3]) & full
            x1 = (x1 + keys[(group + 1) % 3] + group) & full
    return x0, x1


def test_the_definition_is_threefry() -> None:
    for counter, key, result in KNOWN_ANSWERS:
        assert words(counter[0] | counter[1] << 32, key) == result


def test_threefry(backend: Backend) -> None:
    for shape in ((2,), (5, 1, 3, 2), (0, 2)):
        keys = in_layouts(backend, np.array(KEY, np.uint32))
        counters = in_layouts(backend, spread(limits(d.uint32), shape))
        for key, counter in product(keys, counters):
            pairs = counter.oracle.reshape(-1, 2).tolist()
            first, second = key.oracle.tolist()
            each = [words(x0 | x1 << 32, (first, second)) for x0, x1 in pairs]
            expected = np.array(each, np.uint32).reshape(shape)
            result = backend.threefry(key.handle, counter.handle)
            check(backend, result, expected, key.handle, counter.handle, hint=counter.layout)


@pytest.mark.parametrize(("kind", "dtype", "low", "span"), DRAWS)
def test_draw(backend: Backend, kind: Kind, dtype: DType, low: int, span: int) -> None:
    def drawn(first: int, count: int) -> np.ndarray[tuple[int], np.dtype[np.generic]]:
        handle = backend.draw(kind, KEY, BASE, first, count, dtype, low, span)
        assert backend.dtype(handle) is dtype
        assert backend.shape(handle) == (count,)
        return backend.to_host(handle)

    whole = drawn(0, 1601)
    for first, count in ((0, 0), (0, 1), (1, 1), (7, 600), (1033, 568), (1600, 1)):
        assert drawn(first, count).tolist() == whole[first : first + count].tolist()
    if kind in ("bits", "integers"):
        assert whole[:90].tolist() == reference(kind, dtype, low, span, 0, 90)
        assert drawn(2**33 + 1, 9).tolist() == reference(kind, dtype, low, span, 2**33 + 1, 9)
    else:
        plain = Backend.draw(backend, kind, KEY, BASE, 0, 1601, dtype)
        assert backend.to_host(plain).tobytes() == whole.tobytes()


@pytest.mark.parametrize(
    ("kind", "dtype", "low", "span"),
    [
        ("bits", d.uint32, 0, 0),
        ("uniform", d.float64, 0, 0),
        ("normal", d.float32, 0, 0),
        ("integers", d.int64, -3, 7),
        ("integers", d.int64, -5, 2**32 + 3),
    ],
)
@pytest.mark.parametrize("key", [KEY, (1, 2**32 - 1)])
def test_draw_from(
    backend: Backend, kind: Kind, dtype: DType, low: int, span: int, key: tuple[int, int]
) -> None:
    whole, counter = [
        backend.from_host(np.array(x, np.uint64).astype(np.int64), copy=True)
        for x in (key[0] | key[1] << 32, BASE)
    ]
    for offset, count in ((0, 33), (7, 600), (3, 0)):
        found = backend.draw_from(kind, whole, counter, offset, count, dtype, low, span)
        expected = backend.draw(kind, key, BASE + offset, 0, count, dtype, low, span)
        assert backend.dtype(found) is dtype
        assert backend.to_host(found).tobytes() == backend.to_host(expected).tobytes()


DISTRIBUTIONS: list[tuple[Kind, tuple[float, ...]]] = [
    ("exponential", ()),
    ("gamma", (0.3,)),
    ("gamma", (2.5,)),
    ("beta", (0.5, 20.0)),
    ("poisson", (3.0,)),
    ("poisson", (40.0,)),
    ("binomial", (20.0, 0.3)),
    ("binomial", (200.0, 0.7)),
]


@pytest.mark.parametrize(("kind", "parameters"), DISTRIBUTIONS)
def test_draws_of_distributions(
    backend: Backend, kind: Kind, parameters: tuple[float, ...]
) -> None:
    (dtype,) = DRAWN[kind]
    count = 40  # always, because JAX compiles every operation for every shape

    def drawn(first: int, given: tuple[Handle | float, ...]) -> np.ndarray[Any, Any]:
        handle = backend.draw(kind, KEY, BASE, first, count, dtype, 0, 0, given)
        assert backend.dtype(handle) is dtype
        assert backend.shape(handle) == (count,)
        return backend.to_host(handle)

    whole = drawn(0, parameters)
    assert drawn(7, parameters)[:-7].tobytes() == whole[7:].tobytes()
    plain = Backend.draw(backend, kind, KEY, BASE, 0, count, dtype, 0, 0, parameters)
    assert backend.to_host(plain).tobytes() == whole.tobytes()
    given: list[Handle | float] = list(parameters)
    for i, x in enumerate(parameters):
        given[i] = backend.from_host(np.full(count, x), copy=True)
        assert drawn(0, tuple(given)).tobytes() == whole.tobytes()
    key, counter = [
        backend.from_host(np.array(x, np.uint64).astype(np.int64), copy=True)
        for x in (KEY[0] | KEY[1] << 32, BASE - 9)
    ]
    found = backend.draw_from(kind, key, counter, 9, count, dtype, 0, 0, tuple(given))
    assert backend.to_host(found).tobytes() == whole.tobytes()


@pytest.mark.parametrize(
    ("kind", "bad", "good", "others"),
    [
        ("gamma", (0.0, -1.0, np.nan, np.inf), 2.0, ()),
        ("beta", (0.0, -1.0, np.nan, np.inf), 0.5, (2.0,)),
        ("poisson", (-1.0, np.nan, 1e19, np.inf), 20.0, ()),
        ("binomial", (-1.0, np.nan, 1e17, np.inf), 50.0, (0.5,)),
        ("binomial", (9.0,), 9.0, (1.5,)),
    ],
)
def test_what_is_no_distribution(
    backend: Backend, kind: Kind, bad: tuple[float, ...], good: float, others: tuple[float, ...]
) -> None:
    (dtype,) = DRAWN[kind]
    given = np.full(40, good)
    given[: len(bad)] = bad
    handle = backend.from_host(given, copy=True)
    found = backend.to_host(backend.draw(kind, KEY, BASE, 0, 40, dtype, 0, 0, (handle, *others)))
    lost = np.isnan(found) if dtype is d.float64 else found == -1
    assert lost.tolist() == [others == (1.5,) or i < len(bad) for i in range(40)]


def test_bits_of_reals(backend: Backend) -> None:
    for dtype in DRAWN["uniform"]:
        uniform = backend.to_host(backend.draw("uniform", KEY, BASE, 0, 40, dtype)).tolist()
        if dtype is d.float32:
            halves = [words(BASE + i // 2)[i % 2] for i in range(40)]
            assert uniform == [(half >> 8) / 2**24 for half in halves]
        else:
            pairs = [words(BASE + i) for i in range(40)]
            expected = [((x1 >> 5) * 2**26 + (x0 >> 6)) / 2**53 for x0, x1 in pairs]
            assert uniform == expected
