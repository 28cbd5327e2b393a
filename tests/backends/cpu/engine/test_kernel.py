"""Random expressions in many small tiles and tasks: NumPy's bits, and nothing else is written."""

import hashlib
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import array_api_nx as xp
from tests.support.programs import NDArray, assert_same, needs_extension, numpy_of
from tests.support.programs import settings as ways
from tests.support.small_tiles import small_tiles

pytestmark = needs_extension

DTYPES = ("float64", "float32", "int64", "bool", "int16", "complex128", "uint8")
EXACT = ("abs", "add", "subtract", "multiply", "square", "negative", "maximum", "minimum")
OPERATIONS = {
    "f": (*EXACT, "divide", "sqrt", "exp", "log", "less", "equal", "divide", "add", "multiply"),
    "i": (*EXACT, "greater", "floor_divide"),
    "u": ("add", "multiply", "maximum", "less_equal"),
    "b": ("logical_not", "logical_and", "logical_or", "not_equal"),
    "c": ("add", "subtract", "multiply", "negative", "not_equal"),
}
UNARY = ("abs", "square", "negative", "sqrt", "exp", "log", "logical_not")
SCALARS = {"f": (1.5, 0.0, -3.0), "i": (3, 0, -2), "u": (3, 0, 7), "b": (True, False), "c": (2j, 1)}
REDUCTIONS = ("sum", "max", "min", "any", "all", "count_nonzero", "prod", "mean", "var")
SPECIAL = (0.0, -0.0, np.inf, -np.inf, np.nan, 1e30, 5e-324)
View = Callable[[Any, Any], Any]


def numbers(rng: np.random.Generator, shape: Any, dtype: str, kind: str) -> NDArray:
    """Whole numbers, others, or others with those that raise floating-point flags."""
    if kind == "whole":
        return rng.integers(0 if dtype == "uint8" else -4, 5, shape).astype(dtype)
    values = rng.uniform(0 if dtype == "uint8" else -2, 9, shape)
    if kind == "special" and dtype.startswith("float"):
        odd = rng.random(shape) < 0.05
        values[odd] = rng.choice(SPECIAL, shape)[odd]
    with np.errstate(all="ignore"):
        return values.astype(dtype)


def view(rng: np.random.Generator, shape: Any, repeats: bool) -> tuple[tuple[int, ...], View]:
    """A view of that shape, and the shape of its memory, with gaps, margins and axes in any order.

    With `repeats` it has some elements several times.
    """
    ndim, plain = len(shape), rng.random() < 0.4
    order = rng.permutation(ndim) if not plain and rng.random() < 0.5 else np.arange(ndim)
    steps = [1 if plain else int(rng.choice([1, 1, 1, -1, 2, -2, 3])) for _ in shape]
    kept = [1 if repeats and rng.random() < 0.2 else size for size in shape]
    margins = [0 if plain else int(rng.choice([0, 0, 1, 16])) for _ in shape]
    sizes = [abs(step) * n + more for step, n, more in zip(steps, kept, margins, strict=True)]

    def take(ns: Any, memory: Any) -> Any:
        memory = ns.permute_dims(memory, tuple(np.argsort(order).tolist()))
        part = memory[tuple([slice(None, None, step) for step in steps])]
        part = part[tuple([slice(0, n) for n in kept])]
        return ns.broadcast_to(part, shape) if repeats else part

    return tuple([sizes[axis] for axis in order]), take


def compute(ns: Any, pool: list[Any], choices: list[tuple[int, int]], kept: int = 4) -> list[Any]:
    """Every so many results of a program of element-by-element operations, and the last one.

    Each operation reads the result before, so that all are needed.
    """
    first = len(pool)
    for number, j in choices:
        x, y = pool[-1], pool[-1 - j % len(pool)]
        kind = x.dtype.kind
        if not np.can_cast(y.dtype, x.dtype):
            y = SCALARS[kind][j % len(SCALARS[kind])]
        elif y.dtype != x.dtype:
            y = ns.astype(y, x.dtype)
        names = (*OPERATIONS[kind], "where", "astype")
        match names[number % len(names)]:
            case "where":
                result = ns.where(ns.not_equal(x, 0) if kind != "b" else x, x, y)
            case "astype":
                to = np.dtype(DTYPES[j % len(DTYPES)])
                lossy = kind + to.kind in ("fi", "fu", "ci", "cu", "cf")
                result = ns.astype(x, x.dtype if lossy else to, copy=True)
            case "maximum" | "minimum" as name:  # which take either zero
                result = getattr(ns, name)(x + 0, y + 0)
            case name if name in UNARY:
                result = getattr(ns, name)(x)
            case name:
                result = getattr(ns, name)(*((y, x) if j & 32 else (x, y)))
        # NumPy may round otherwise where it does not read forwards.
        pool = [*pool, np.ascontiguousarray(result) if ns is np else result]
    return [*pool[first:-1:kept], pool[-1]]


def reduced(ns: Any, x: Any, name: str, **how: Any) -> Any:
    if x.dtype.kind == "c" and name in ("max", "min", "var", "prod"):
        name = "any"
    if x.dtype.kind != "f" and name in ("mean", "var"):
        name = "count_nonzero"
    if x.dtype.kind == "b" and name in ("sum", "max", "min", "prod"):
        name = "all"
    with np.errstate(all="ignore"):
        more = {"dtype": x.dtype} if name in ("sum", "prod") else {}
        return getattr(ns, name)(x, **how, **more)


def assert_near(found: NDArray, expected: NDArray, x: NDArray, name: str) -> None:
    """The same, to rounding where the sum of the elements of `x` is not exact."""
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    kind = x.dtype.kind
    with np.errstate(all="ignore"):
        size = np.abs(x).sum()
        is_whole = kind == "f" and bool(np.all(x == np.rint(x)) and size < 2**24)
        if (
            kind not in "fc"
            or name not in ("sum", "prod", "mean", "var")
            or (is_whole and name == "sum")
        ):
            assert_same(found, expected)
        elif name == "prod" or not np.isfinite(np.square(size)):
            return
        else:
            eps = np.finfo(x.dtype).eps
            scale = size * (1 if name != "var" else 1 + size)
            np.testing.assert_allclose(found, expected, rtol=64 * eps, atol=64 * eps * scale)


SHAPES = [
    (300,),
    (7, 40),
    (40, 7),
    (130, 3),
    (3, 5, 20),
    (2, 9, 4, 6),
    (1, 90),
    (90, 1),
    (60, 2, 2),
]


@settings(max_examples=400)
@given(seed=st.integers(0, 2**32 - 1))
def test_random_expressions(seed):
    rng = np.random.default_rng(seed)
    shape = tuple(rng.choice([n, n + 1, max(n - 1, 1)]) for n in SHAPES[rng.integers(len(SHAPES))])
    shape = tuple(map(int, shape))
    kind = rng.choice(["whole", "any", "special"])
    made = [(dtype, *view(rng, shape, True)) for dtype in rng.choice(DTYPES, rng.integers(1, 4))]
    memories = [numbers(rng, sizes, dtype, kind) for dtype, sizes, _ in made]
    choices = rng.integers(0, 64, (rng.integers(1, 12), 2)).tolist()
    axes = [axis for axis in range(len(shape)) if rng.random() < 0.5]
    kept = int(rng.choice([1, 3, 12]))
    reductions = [str(name) for name in rng.choice(REDUCTIONS, rng.integers(0, 3))]
    how = {"axis": tuple(axes) if rng.random() < 0.8 else None, "keepdims": rng.random() < 0.5}
    sizes, window = view(rng, shape, False)
    around = numbers(rng, sizes, "uint8", "whole")

    def run(ns: Any) -> tuple[list[Any], list[Any], Any, Any]:
        pool = [
            take(ns, ns.asarray(m, copy=True))
            for (_, _, take), m in zip(made, memories, strict=True)
        ]
        if ns is np:
            pool = [np.ascontiguousarray(x) for x in pool]
        results = compute(ns, pool, choices, kept)
        last = results[-1]
        value = compute(ns, [last], choices[:3])[-1]
        target = ns.asarray(around.astype(value.dtype), copy=True)
        totals = [reduced(ns, last, name, **how) for name in reductions]
        if ns is xp:
            xp.evaluate(*results[: len(results) // 2], *totals)
        window(ns, target)[...] = value
        return results, totals, target, last

    with warnings.catch_warnings(record=True) as met:
        warnings.simplefilter("always")
        results, totals, target, reducible = run(np)
    constants = {
        "TILE_BYTES": int(rng.choice([16, 64, 256, 2048])),
        "STREAMED_BYTES": int(rng.choice([256, 2**20])),
        "STEPPED_TRAFFIC": int(rng.choice([0, 2**24])),
        "MAX_TASKS": int(rng.choice([1, 6])),
    }
    bits = []
    for threads in (1, 4):
        with small_tiles(**constants), ways("process", num_threads=threads):
            with warnings.catch_warnings(record=True) as found:
                warnings.simplefilter("always")
                ours = run(xp)
                xp.evaluate(*ours[0])
            for x, expected in zip([*ours[0], ours[2]], [*results, target], strict=True):
                assert_same(numpy_of(x), expected, seed)
            for name, total, expected in zip(reductions, ours[1], totals, strict=True):
                assert_near(numpy_of(total), np.asarray(expected), reducible, name)
            bits.append([numpy_of(total).tobytes() for total in ours[1]])
            assert {str(each.message) for each in found} == {str(each.message) for each in met}
    assert bits[0] == bits[1]


BITS = {"float32": "90f5dc2ea3b2e5a8", "float64": "39590db8b444b27b"}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sums_have_the_same_bits_on_every_processor(dtype):
    """They are added up in an order of their own."""
    x = (np.arange(99_000) * 7919 % 1009 / np.asarray(97, dtype)).astype(dtype).reshape(900, 110)
    found = b""
    whole = xp.asarray(x, copy=True)
    for part in (whole, whole[:, ::2], whole[::-1, 1:], whole.T, whole * 0.1):
        for reduce in (xp.sum, xp.mean):
            for axis in (None, 0, 1):
                found += numpy_of(reduce(part, axis=axis)).tobytes()
    assert hashlib.sha256(found).hexdigest()[:16] == BITS[dtype]
