"""Random programs: lists of steps, each a name and three numbers, and what runs them.

The numbers choose among the possible operands of a step, so that every list of steps
is a program, and parts of it can be left out. All elements stay whole and small, so that sums of
floats are exact in any order.
"""

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

import array_api_nx as xp
from array_api_nx import Array
from array_api_nx.contract.numpy_dtypes import zeros_and_ones
from tests.support.programs import NDArray, numpy_of

__all__ = [
    "SHAPES", "STEPS", "TRACEABLE", "WITHIN", "Step", "Traceable", "execute", "inputs", "programs",
    "run",
]  # fmt: skip


class Step(NamedTuple):
    """One operation: what to do, and three numbers that say with what."""

    name: str
    a: int
    b: int
    c: int


DTYPES = (
    xp.float64, xp.float32, xp.int64, xp.int8, xp.uint8, xp.int32, xp.uint16, xp.bool,
    xp.complex128, xp.complex64,
)  # fmt: skip
SCALARS = (2, 1, 0, 3, -1, 5)
_UNSIGNED = (xp.uint8, xp.uint16, xp.uint32, xp.uint64)
_COMPLEX = (xp.complex64, xp.complex128)
_FLOATS = (xp.float32, xp.float64)


def tame(x: Array) -> Array:
    """`x` as small whole numbers (or NaN)."""
    if x.dtype == xp.bool:
        return x
    if x.dtype in _COMPLEX:
        whole = xp.floor(xp.real(x)) + xp.floor(xp.imag(x)) * 1j
        return xp.where(xp.abs(whole) < 16.0, whole, xp.zeros_like(whole))
    if x.dtype in _FLOATS:
        x = xp.floor(x)
    return xp.remainder(x, 17)


def unsigned_zeros(x: Array) -> Array:
    """`x` without -0.0: which zero is the larger one is undefined."""
    return x + 0.0 if x.dtype in _FLOATS else x


def real(x: Array) -> Array:
    return xp.real(x) if x.dtype in _COMPLEX else x


def number(x: Array) -> Array:
    return xp.astype(x, xp.int8) if x.dtype == xp.bool else x


def floating(x: Array) -> Array:
    return x if x.dtype in (*_FLOATS, *_COMPLEX) else xp.astype(x, xp.float64)


def integers(x: Array) -> Array:
    """`x` as int64 from 0 to 16."""
    x = tame(real(number(x)))
    return xp.astype(xp.where(xp.isfinite(x), x, xp.zeros_like(x)), xp.int64)


def shown(x: Array) -> NDArray:
    """The elements. Bools are 0 or 1, as copies may keep other bytes or not."""
    return zeros_and_ones(numpy_of(x))


UNARY: tuple[Callable[[Array], Array], ...] = (
    lambda x: -number(x),
    lambda x: xp.abs(number(x)),
    lambda x: tame(xp.square(number(x))),
    lambda x: xp.sign(real(number(x))),
    lambda x: xp.floor(real(number(x))),
    xp.logical_not,
    xp.isnan,
    lambda x: tame(xp.exp(real(floating(x)) / 8.0) * 5.0),
    lambda x: tame(xp.sqrt(real(floating(x))) * 3.0),
    lambda x: tame(xp.sin(real(floating(x))) * 7.0),
    lambda x: xp.positive(number(x)),
    xp.real,
    lambda x: tame(1.0 / real(floating(x))),
)
BINARY: tuple[Callable[[Any, Any], Array], ...] = (
    lambda x, y: tame(x + y),
    lambda x, y: tame(x - y),
    lambda x, y: tame(x * y),
    xp.less,
    xp.equal,
    lambda x, y: xp.logical_and(x != 0, y),
    lambda x, y: tame(x * 3 / y),
    xp.not_equal,
)
REAL_BINARY: tuple[Callable[[Any, Any], Array], ...] = (
    xp.maximum,
    xp.minimum,
    xp.greater_equal,
    lambda x, y: tame(xp.remainder(x, y)),
    lambda x, y: tame(xp.floor_divide(x, y)),
    lambda x, y: tame(xp.hypot(floating(x), floating(y))),
)
COMPARISONS: tuple[Callable[[Array, Array], Array], ...] = (
    xp.equal, xp.not_equal, xp.less, xp.less_equal, xp.greater, xp.greater_equal, xp.isin,
)  # fmt: skip
# What `integers` are added to: doubles round the sums, and casts wrap them round.
SIGNED_EDGES = (-8, 2**53 - 8, -(2**53) - 8, 2**63 - 17)
UNSIGNED_EDGES = (0, 2**53 - 8, 2**63 - 8, 2**64 - 17)
REDUCTIONS: tuple[Callable[..., Array], ...] = (
    lambda x, **k: tame(xp.sum(number(x), **k)),
    lambda x, **k: xp.max(unsigned_zeros(real(number(x))), **k),
    lambda x, **k: xp.min(unsigned_zeros(real(number(x))), **k),
    lambda x, **k: xp.any(x, **k),
    lambda x, **k: xp.all(x, **k),
    lambda x, **k: xp.count_nonzero(x, **k),
    lambda x, **k: xp.prod(xp.sign(real(number(x))), **k),
    lambda x, **k: tame(xp.mean(real(floating(x)), **k) * 4.0),
    # Sums of squared distances are not exact; no true value lies that near to a whole number.
    lambda x, **k: tame(xp.var(xp.astype(real(x), xp.float64), **k) + 0.31415926),
    lambda x, **k: tame(xp.std(xp.astype(real(x), xp.float64), **k) + 0.31415926),
    lambda x, **k: tame(xp.sum(number(x) * 2 + 1, **k)),
)


class Interpreter:
    """Live arrays, and their elements as seen so far."""

    def __init__(self, shape: tuple[int, ...], limit: int) -> None:
        size = prod(shape)
        values = (np.arange(size) * 7 % 19 - 8.0).reshape(shape)
        self.limit = limit
        self.seen: list[NDArray | str] = []
        self.live: list[Array] = [
            xp.asarray(values, copy=True),
            xp.asarray(np.abs(values).astype(np.float32), copy=True),
            xp.asarray(values.astype(np.int64), copy=True),
            # In the memory of NumPy, with bytes other than 0 and 1.
            xp.asarray(values.astype(np.int8).view(np.bool_)),
        ]

    # ------------------------------------------------------------------ choice

    def one(self, i: int) -> Array:
        return self.live[-1 - i % len(self.live)]

    def fitting(self, x: Array, i: int, *, into: bool = False) -> Array:
        """An array that broadcasts with `x`, or to `x`, to no more than the limit."""
        start = i % len(self.live)
        for y in [*self.live[start:], *self.live[:start]]:
            try:
                shape = xp.broadcast_shapes(x.shape, y.shape)
            except ValueError:
                continue
            if shape == x.shape or (prod(shape) <= self.limit and not into):
                return y
        return x

    def key(self, x: Array, b: int, c: int) -> Any:
        """A basic key."""
        keys: list[Any] = []
        for n in x.shape:
            kind, b = b % 6, b // 2 + c
            start = c % (n + 1)
            keys.append(
                (
                    slice(None),
                    slice(start, None),
                    slice(None, None, -1),
                    slice(start, None, 2),
                    slice(None, None, -2),
                    slice(n // 2, n // 2 + 1),
                )[kind]
            )
        return (*keys, ...)

    def axes(self, x: Array, b: int) -> Any:
        choices: list[Any] = [None, *range(x.ndim)]
        if x.ndim > 1:
            choices += [(0, x.ndim - 1), -1, tuple(range(x.ndim)), ()]
        return choices[b % len(choices)]

    # ------------------------------------------------------------------ steps

    def unary(self, a: int, b: int, c: int) -> Array:
        return UNARY[b % len(UNARY)](self.one(a))

    def binary(self, a: int, b: int, c: int) -> Array:
        x = self.one(a)
        return BINARY[c % len(BINARY)](number(x), self.fitting(x, b))

    def real_binary(self, a: int, b: int, c: int) -> Array:
        x = self.one(a)
        y = unsigned_zeros(real(number(self.fitting(x, b))))
        return REAL_BINARY[c % len(REAL_BINARY)](unsigned_zeros(real(number(x))), y)

    def compare_integers(self, a: int, b: int, c: int) -> Array:
        x = self.one(a)
        signed = integers(x) + SIGNED_EDGES[b % 4]
        unsigned = xp.astype(integers(self.fitting(x, b)), xp.uint64) + UNSIGNED_EDGES[c % 4]
        pair = (unsigned, signed) if c & 32 else (signed, unsigned)
        return COMPARISONS[c // 4 % len(COMPARISONS)](*pair)

    def scalar(self, a: int, b: int, c: int) -> Array:
        x = number(self.one(a))
        operation = BINARY[c % len(BINARY)]
        scalar = SCALARS[b % (4 if x.dtype in _UNSIGNED else len(SCALARS))]
        return operation(x, scalar) if c & 16 or operation in BINARY[5:7] else operation(scalar, x)

    def where(self, a: int, b: int, c: int) -> Array:
        x = self.one(a)
        y = self.fitting(x, b)
        condition = real(self.fitting(x, c)) > 2
        if prod(xp.broadcast_shapes(x.shape, y.shape, condition.shape)) > self.limit:
            return xp.where(x == 0, x, 1 if x.dtype != xp.bool else True)
        return xp.where(condition, x, y)

    def clip(self, a: int, b: int, c: int) -> Array:
        x = unsigned_zeros(real(number(self.one(a))))
        return xp.clip(x, 1 + b % 3 if c & 1 else None, 4 + b % 3 if c & 2 else None)

    def astype(self, a: int, b: int, c: int) -> Array:
        x, dtype = self.one(a), DTYPES[b % len(DTYPES)]
        if x.dtype in _COMPLEX and dtype not in _COMPLEX:
            x = xp.real(x)
        if dtype not in (*_COMPLEX, *_FLOATS) and x.dtype in _FLOATS:
            # Out of range, NaN included, anything may come out.
            x = xp.where(xp.isfinite(x), xp.abs(x), 0.0)
        return xp.astype(x, dtype, copy=bool(c & 1))

    def create(self, a: int, b: int, c: int) -> Array:
        x, dtype = self.one(a), DTYPES[b % len(DTYPES)]
        match c % 5:
            case 0:
                return xp.zeros(x.shape, dtype=dtype)
            case 1:
                return xp.ones_like(x)
            case 2:
                return xp.full(x.shape, b & 1, dtype=dtype)
            case 3:
                return xp.asarray(np.full(x.shape, b & 1, dtype.name))
            case _:
                return xp.asarray(x, copy=True)

    def reduce(self, a: int, b: int, c: int) -> Array:
        x = self.one(a)
        if x.size == 0:
            return xp.sum(number(x), axis=self.axes(x, b))
        operation = REDUCTIONS[c % len(REDUCTIONS)]
        return operation(x, axis=self.axes(x, b), keepdims=bool(c & 16))

    def reduce_and_use(self, a: int, b: int, c: int) -> Array:
        x = number(self.one(a))
        axis = None if x.size == 0 else self.axes(x, b)
        return tame(x - tame(xp.sum(x, axis=axis, keepdims=True)))

    # Movement

    def slice(self, a: int, b: int, c: int) -> Array:
        x = self.one(a)
        return x[self.key(x, b, c)]

    def index(self, a: int, b: int, c: int) -> Array:
        x = self.one(a)
        return x[b % x.shape[0], ...] if x.ndim and x.shape[0] else x[..., None]

    def reshape(self, a: int, b: int, c: int) -> Array:
        x = self.one(a)
        n = x.size
        divisors = [k for k in range(1, 13) if n and n % k == 0] or [0]
        k = divisors[b % len(divisors)]
        # Whether it can be a view depends on the layout of results, which is undefined.
        return xp.reshape(x, (k, n // k) if c & 1 and k else (n,), copy=True)

    def permute(self, a: int, b: int, c: int) -> Array:
        x = self.one(a)
        axes = [(i + b) % x.ndim for i in range(x.ndim)]
        return xp.permute_dims(x, tuple(axes[::-1] if c & 1 else axes))

    def flip(self, a: int, b: int, c: int) -> Array:
        x = self.one(a)
        return xp.flip(x, axis=self.axes(x, b))

    def expand_dims(self, a: int, b: int, c: int) -> Array:
        x = self.one(a)
        if x.ndim > 4:
            return xp.reshape(x, (x.size,), copy=True)
        return xp.expand_dims(x, axis=b % (x.ndim + 1))

    def broadcast(self, a: int, b: int, c: int) -> Array:
        x = self.one(a)
        if x.ndim > 4 or 3 * x.size > self.limit:
            return x[...]
        return xp.broadcast_to(x, (2 + b % 2, *x.shape))

    def concat(self, a: int, b: int, c: int) -> Array:
        x = self.one(a)
        if not x.ndim or 2 * x.size > self.limit:
            return xp.roll(x, b % 5)
        return xp.concat([x, xp.flip(x)], axis=b % x.ndim)

    # Operations without a fused form

    def unfused(self, a: int, b: int, c: int) -> Array:
        x = unsigned_zeros(real(number(self.one(a))))
        flat = xp.reshape(x, (x.size,))
        match c % 4:
            case 0:
                return xp.sort(flat)
            case 1:
                return tame(xp.cumulative_sum(flat))
            case 2:
                return flat[flat > 2]
            case _:
                return xp.take(flat, xp.asarray([0, -1][: min(x.size, 2)], dtype=xp.int64))

    # Writes; their results are seen, not kept

    def in_place(self, a: int, b: int, c: int) -> None:
        x = self.one(a)
        other: Any = self.fitting(x, b, into=True)
        match c % 4:
            case 0:
                other = SCALARS[b % 4]
            case 1:
                other = xp.flip(x)
            case 2:
                other = number(other) * 2
        match c // 4 % 3:
            case 0:
                x += other
            case 1:
                x -= other
            case 2:
                x *= other
        self.keep_tame(x)

    def set_scalar(self, a: int, b: int, c: int) -> None:
        x = self.one(a)
        x[self.key(x, b, c)] = SCALARS[c % 4] if x.dtype != xp.bool else bool(c & 1)

    def set_array(self, a: int, b: int, c: int) -> None:
        x = self.one(a)
        target = x[self.key(x, b, c)]
        target[...] = self.fitting(target, c, into=True)

    def set_own(self, a: int, b: int, c: int) -> None:
        x = self.one(a)
        key = self.key(x, b, c)
        y = xp.flip(x[key])
        x[key] = y if c & 1 else xp.astype(tame(number(y) * 2 + 1), x.dtype)

    def set_shifted(self, a: int, b: int, c: int) -> None:
        x = self.one(a)
        n = 1 + b % 3
        x[n:, ...] = x[:-n, ...] if c & 1 else xp.where(x[:-n, ...] == 0, x[n:, ...], x[:-n, ...])

    def set_reduced(self, a: int, b: int, c: int) -> None:
        x = self.one(a)
        x[0, ...] = xp.astype(tame(xp.sum(real(number(x)), axis=0)), x.dtype)

    def set_masked(self, a: int, b: int, c: int) -> None:
        x = self.one(a)
        y = self.fitting(x, b)
        mask = (real(y) if y.shape == x.shape else real(x)) > 2
        x[mask] = SCALARS[c % 4] if x.dtype != xp.bool else True

    # Writes whose keys and values are views of the target

    def set_by_own_mask(self, a: int, b: int, c: int) -> Array:
        flags = xp.reshape(real(self.one(a)) > 2, (-1,), copy=True)
        n = 1 + b % 3
        into, mask = (flags[n:], flags[:-n]) if c & 1 else (flags[:-n], flags[n:])
        mask = xp.flip(mask) if c & 2 else mask
        into[mask] = flags[b % max(flags.size, 1), ...] if c & 4 else bool(c & 8)
        return flags

    def set_by_own_indices(self, a: int, b: int, c: int) -> Array:
        x = real(number(self.one(a)))
        x = xp.where(xp.isfinite(x), xp.abs(x), 0) if x.dtype in _FLOATS else xp.abs(x)
        indices = xp.reshape(xp.astype(x, xp.int64), (-1,), copy=True)
        n = 1 + b % 3
        indices = xp.remainder(indices, max(indices.size - n, 1))
        into, own = (indices[n:], indices[:-n]) if c & 1 else (indices[:-n], indices[n:])
        into[own] = xp.flip(own) if c & 2 else own
        return indices

    def set_every_second(self, a: int, b: int, c: int) -> None:
        """Through a mask that selects as many elements at every size."""
        x = self.one(a)
        n = x.shape[0]
        mask = xp.arange(n) % 2 == 0
        x[mask] = xp.flip(x, axis=0)[::2, ...] if c & 1 else x[n // 2 :, ...]

    def set_as_many(self, a: int, b: int, c: int) -> Array:
        """Through any mask: how many elements it selects is asked for."""
        x = xp.reshape(self.one(a), (-1,), copy=True)
        y = x[1:] if c & 1 else xp.flip(x)
        mask = y if y.dtype == xp.bool else y != 0
        count = int(xp.count_nonzero(mask))
        x[: y.size][mask] = x[x.size - count :] if c & 2 else x[:count]
        return x

    def keep_tame(self, x: Array) -> None:
        x[...] = tame(x)

    # Handles

    def drop(self, a: int, b: int, c: int) -> None:
        if len(self.live) > 2:
            self.live.pop(-1 - a % len(self.live))

    def evaluate(self, a: int, b: int, c: int) -> None:
        xp.evaluate(*self.live[a % len(self.live) :][: 1 + b % 3])

    def export(self, a: int, b: int, c: int) -> None:
        self.seen.append(shown(self.one(a)))

    def lend(self, a: int, b: int, c: int) -> Array:
        return xp.from_dlpack(self.one(a))

    def probe(self, a: int, b: int, c: int) -> None:
        x = self.one(a)
        self.seen.append(np.asarray(bool(xp.any(x[0, ...] if x.ndim and x.shape[0] else x))))
        if x.size:
            self.seen.append(np.asarray(complex(xp.reshape(x, (x.size,))[b % x.size])))

    # ------------------------------------------------------------------ running

    def step(self, step: Step) -> None:
        try:
            result = getattr(self, step.name)(step.a, step.b, step.c)
        except (IndexError, TypeError, ValueError) as error:
            # Such as a write to a broadcast view; it must be refused in every mode.
            self.seen.append(type(error).__name__)
        else:
            if result is not None:
                self.live.append(result)
                del self.live[:-12]


STEPS = (
    "unary", "binary", "real_binary", "compare_integers", "scalar", "where", "clip", "astype",
    "create", "reduce", "reduce_and_use", "slice", "index", "reshape", "permute", "flip",
    "expand_dims", "broadcast",
    "concat", "unfused", "in_place", "set_scalar", "set_array", "set_own", "set_shifted",
    "set_reduced", "set_masked", "set_by_own_mask", "set_by_own_indices", "set_every_second",
    "set_as_many", "drop", "evaluate", "export", "lend", "probe",
)  # fmt: skip

WITHIN = tuple(
    [name for name in STEPS if name not in ("export", "lend", "probe", "unfused", "set_as_many")]
)
"""The steps that hand no memory out and force nothing by themselves."""

_numbers = st.integers(0, 63)


def programs(names: Sequence[str] = STEPS) -> st.SearchStrategy[list[Step]]:
    """Programs of up to 30 of the steps named."""
    step = st.builds(Step, st.sampled_from(names), _numbers, _numbers, _numbers)
    # Left to itself, a list of up to 30 has five on average.
    return st.lists(step, max_size=8) | st.lists(step, min_size=12, max_size=30)


class Traceable(Interpreter):
    """Steps that can be traced."""

    def create(self, a: int, b: int, c: int) -> Array:
        # NumPy's memory stays outside of the function.
        return super().create(a, b, c + (c % 5 == 3))


TRACEABLE = tuple([name for name in WITHIN if name != "evaluate"])
"""The steps of programs that are compiled."""

_size = st.integers(1, 3) | st.integers(1, 6)
SHAPES = st.lists(st.tuples(_size, _size), min_size=2, max_size=4)


def run(program: list[Step], *arrays: Array) -> tuple[list[NDArray | str], list[Array]]:
    """Everything that a traceable program shows, and the arrays that it leaves."""
    interpreter = Traceable((), 400)
    interpreter.live = list(arrays)
    for step in program:
        interpreter.step(step)
    return interpreter.seen, interpreter.live


def inputs(shape: tuple[int, int], seed: int) -> list[Array]:
    """Arrays of three dtypes that lie in memory in three ways."""
    whole = np.random.default_rng(seed).integers(-8, 9, shape)
    x, y, z = [
        xp.asarray(whole, dtype=dtype, copy=True) for dtype in (xp.float64, xp.float32, xp.int64)
    ]
    match seed % 3:
        case 1:
            y = xp.asarray(y.T, copy=True).T
        case 2:
            z = xp.flip(xp.asarray(xp.flip(z), copy=True))
    return [x, y, z]


def execute(program: list[Step], shape: tuple[int, ...], limit: int = 400) -> list[NDArray | str]:
    """Everything that is seen when a program runs on arrays of a shape, and all that is left.

    Results have up to `limit` elements.
    """
    with np.errstate(all="ignore"):
        interpreter = Interpreter(shape, limit)
        for step in program:
            interpreter.step(step)
        return [*interpreter.seen, *[shown(x) for x in interpreter.live]]
