"""Random numbers from counters, made of Threefry's bits by operations that round exactly.

Number `i` of a draw is a function of the key and of ``base + i`` alone. Its bits are the same on
every backend: integers are exact, and reals come of +, -, *, /, comparisons and selections,
each of which IEEE 754 defines to the last bit; square roots are corrected, and logarithms are not
the engine's.
native/random.c does the same operations in the same order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np

from ..core import dtypes as d
from ..core.dtypes import DType
from . import primitives as p

if TYPE_CHECKING:
    from .backend import Backend, Handle

__all__ = [
    "DRAWN",
    "MAX_NARROW_SPAN",
    "Kind",
    "draw",
    "draw_from",
    "exact_log",
    "exact_log1p",
    "exact_sqrt",
    "numbers_per_block",
    "upper_product",
]

Kind: TypeAlias = Literal["bits", "uniform", "normal", "integers"]
"""What `Backend.draw` makes."""

DRAWN: Final[dict[str, tuple[DType, ...]]] = {
    "bits": (d.uint32,),
    "uniform": (d.float32, d.float64),
    "normal": (d.float32, d.float64),
    "integers": (d.int64, d.uint64),
}
"""The dtypes of each kind."""

MAX_NARROW_SPAN: Final = 2**32
"""Integers of a wider span take two blocks of 64 bits each."""


class _Series(NamedTuple):
    """Coefficients for one dtype, the constant first.

    Quantiles of the normal distribution: M. J. Wichura, Algorithm AS 241, Applied Statistics 37
    (1988), to 7 digits for float32 and to 16 for float64. Logarithm: the minimax series in
    ``(x - 1) / (x + 1)`` of FreeBSD's libm.
    """

    middle: tuple[float, ...]
    middle_under: tuple[float, ...]
    near: tuple[float, ...]
    near_under: tuple[float, ...]
    far: tuple[float, ...]
    far_under: tuple[float, ...]
    log: tuple[float, ...]
    root2: float
    splitter: float
    ln2: tuple[float, float]


_FLOAT64: Final = _Series(
    middle=(
        3.3871328727963666080,
        1.3314166789178437745e2,
        1.9715909503065514427e3,
        1.3731693765509461125e4,
        4.5921953931549871457e4,
        6.7265770927008700853e4,
        3.3430575583588128105e4,
        2.5090809287301226727e3,
    ),
    middle_under=(
        1.0,
        4.2313330701600911252e1,
        6.8718700749205790830e2,
        5.3941960214247511077e3,
        2.1213794301586595867e4,
        3.9307895800092710610e4,
        2.8729085735721942674e4,
        5.2264952788528545610e3,
    ),
    near=(
        1.42343711074968357734,
        4.63033784615654529590,
        5.76949722146069140550,
        3.64784832476320460504,
        1.27045825245236838258,
        2.41780725177450611770e-1,
        2.27238449892691845833e-2,
        7.74545014278341407640e-4,
    ),
    near_under=(
        1.0,
        2.05319162663775882187,
        1.67638483018380384940,
        6.89767334985100004550e-1,
        1.48103976427480074590e-1,
        1.51986665636164571966e-2,
        5.47593808499534494600e-4,
        1.05075007164441684324e-9,
    ),
    far=(
        6.65790464350110377720,
        5.46378491116411436990,
        1.78482653991729133580,
        2.96560571828504891230e-1,
        2.65321895265761230930e-2,
        1.24266094738807843860e-3,
        2.71155556874348757815e-5,
        2.01033439929228813265e-7,
    ),
    far_under=(
        1.0,
        5.99832206555887937690e-1,
        1.36929880922735805310e-1,
        1.48753612908506148525e-2,
        7.86869131145613259100e-4,
        1.84631831751005468180e-5,
        1.42151175831644588870e-7,
        2.04426310338993978564e-15,
    ),
    log=(
        0.6666666666666735130,
        0.3999999999940941908,
        0.2857142874366239149,
        0.2222219843214978396,
        0.1818357216161805012,
        0.1531383769920937332,
        0.1479819860511658591,
    ),
    root2=1.4142135623730951,
    splitter=2.0**27 + 1,
    ln2=(6.93147180369123816490e-01, 1.90821492927058770002e-10),
)
_FLOAT32: Final = _Series(
    middle=(3.3871327179, 50.434271938, 159.29113202, 59.109374720),
    middle_under=(1.0, 17.895169469, 78.757757664, 67.187563600),
    near=(1.4234372777, 2.7568153900, 1.3067284816, 0.17023821103),
    near_under=(1.0, 0.73700164250, 0.12021132975),
    far=(6.6579051150, 3.0812263860, 0.42868294337, 0.017337203997),
    far_under=(1.0, 0.24197894225, 0.012258202635),
    log=(0.66666662693, 0.40000972152, 0.28498786688, 0.24279078841),
    root2=1.41421356,
    splitter=2.0**12 + 1,
    ln2=(0.693359375, -2.12194440e-4),
)
_SERIES: Final = {d.float64: _FLOAT64, d.float32: _FLOAT32}

# The steps by which a number is brought into [1, 2): enough for all normal numbers.
_STEPS: Final = {
    d.float64: (512, 256, 128, 64, 32, 16, 8, 4, 2, 1),
    d.float32: (64, 32, 16, 8, 4, 2, 1),
}


def _polynomial(x: Any, coefficients: tuple[float, ...]) -> Any:
    *rest, result = coefficients
    value: Any = result
    for coefficient in reversed(rest):
        value = value * x + coefficient
    return value


def exact_log(
    x: Any, dtype: DType, where: Callable[[Any, Any, Any], Any], *, is_share: bool = False
) -> Any:
    """The natural logarithm of positive normal numbers, with the same bits everywhere.

    Parameters
    ----------
    x : Any
        Floating-point numbers that Python's operators compute with.
    dtype : DType
        Theirs.
    where : callable
        Selects elements, as the standard's function does.
    is_share : bool
        Whether all numbers are from 2**-63 to 1, which takes fewer operations.
    """
    series = _SERIES[dtype]
    exponent = x * 0.0
    for step in () if is_share else _STEPS[dtype]:
        large = x >= 2.0**step
        x = where(large, x * 2.0**-step, x)
        exponent = where(large, exponent + float(step), exponent)
    for step in _STEPS[dtype]:
        if is_share and step > 32:
            continue
        small = x < 2.0 ** (1 - step)
        x = where(small, x * 2.0**step, x)
        exponent = where(small, exponent - float(step), exponent)
    upper = x > series.root2
    exponent = where(upper, exponent + 1.0, exponent)
    f = where(upper, x * 0.5, x) - 1.0
    high, low = series.ln2
    half, rest = _log_parts(f, series)
    return exponent * high - ((half - (rest + exponent * low)) - f)


def exact_log1p(x: Any, dtype: DType) -> Any:
    """The natural logarithm of ``1 + x``, for x from -0.29 to 0.41; see `exact_log`."""
    half, rest = _log_parts(x, _SERIES[dtype])
    return x - (half - rest)


def _log_parts(f: Any, series: _Series) -> tuple[Any, Any]:
    """The logarithm of ``1 + f`` is f, less the first of these, plus the second."""
    s = f / (f + 2.0)
    z = s * s
    tail = z * _polynomial(z, series.log)
    half = f * f * 0.5
    return half, s * (half + tail)


def exact_sqrt(x: Any, root: Any, dtype: DType) -> Any:
    """Square roots rounded as IEEE 754 asks for; PyTorch's on x86 are wrong by one unit at times.

    The engine's `root` is corrected by what its square lacks, which is computed exactly, by
    products of numbers of half the digits (T. J. Dekker, Numerische Mathematik 18, 1971).
    """
    shifted = root * _SERIES[dtype].splitter
    high = shifted - (shifted - root)
    low = root - high
    lacking = ((x - high * high) - high * low * 2.0) - low * low
    return root + lacking / (root + root)


class _Value:
    """A handle that Python's operators compute with."""

    def __init__(self, backend: Backend, handle: Handle) -> None:
        self.backend = backend
        self.handle = handle

    def _binary(self, op: p.Primitive, other: object, *, reverse: bool = False) -> _Value:
        operand: Any = other.handle if isinstance(other, _Value) else other
        pair = (operand, self.handle) if reverse else (self.handle, operand)
        return _Value(self.backend, self.backend.binary(op, *pair))

    def __add__(self, other: object) -> _Value:
        return self._binary(p.ADD, other)

    def __radd__(self, other: object) -> _Value:
        return self._binary(p.ADD, other)

    def __sub__(self, other: object) -> _Value:
        return self._binary(p.SUBTRACT, other)

    def __rsub__(self, other: object) -> _Value:
        return self._binary(p.SUBTRACT, other, reverse=True)

    def __mul__(self, other: object) -> _Value:
        return self._binary(p.MULTIPLY, other)

    def __rmul__(self, other: object) -> _Value:
        return self._binary(p.MULTIPLY, other)

    def __truediv__(self, other: object) -> _Value:
        return self._binary(p.DIVIDE, other)

    def __rshift__(self, other: int) -> _Value:
        return self._binary(p.BITWISE_RIGHT_SHIFT, other)

    def __lshift__(self, other: int) -> _Value:
        return self._binary(p.BITWISE_LEFT_SHIFT, other)

    def __and__(self, other: int) -> _Value:
        return self._binary(p.BITWISE_AND, other)

    def __or__(self, other: object) -> _Value:
        return self._binary(p.BITWISE_OR, other)

    def __lt__(self, other: object) -> _Value:
        return self._binary(p.LESS, other)

    def __le__(self, other: object) -> _Value:
        return self._binary(p.LESS_EQUAL, other)

    def __gt__(self, other: object) -> _Value:
        return self._binary(p.GREATER, other)

    def __ge__(self, other: object) -> _Value:
        return self._binary(p.GREATER_EQUAL, other)

    def __neg__(self) -> _Value:
        return _Value(self.backend, self.backend.unary(p.NEGATIVE, self.handle))

    def is_zero(self) -> _Value:
        return self._binary(p.EQUAL, 0)

    def sqrt(self) -> _Value:
        return _Value(self.backend, self.backend.unary(p.SQRT, self.handle))

    def cast(self, dtype: DType) -> _Value:
        return _Value(self.backend, self.backend.cast(self.handle, dtype))


def _where(condition: _Value, x1: _Value, x2: _Value) -> _Value:
    backend = condition.backend
    return _Value(backend, backend.where(condition.handle, x1.handle, x2.handle))


def numbers_per_block(dtype: DType) -> int:
    """How many numbers of a narrow draw are made of one block of 64 bits."""
    return 2 if dtype is d.float32 or dtype is d.uint32 else 1


def draw(
    backend: Backend,
    kind: Kind,
    key: tuple[int, int],
    base: int,
    first: int,
    count: int,
    dtype: DType,
    low: int,
    span: int,
) -> Handle:
    """See `Backend.draw`."""
    keys = backend.from_host(np.array(key, np.uint32), copy=True)
    return _drawn(backend, kind, keys, base, first, count, dtype, low, span)


def draw_from(
    backend: Backend,
    kind: Kind,
    key: Handle,
    counter: Handle,
    offset: int,
    count: int,
    dtype: DType,
    low: int,
    span: int,
) -> Handle:
    """See `Backend.draw_from`."""
    whole = _Value(backend, key)
    words = [
        backend.reshape(half.cast(d.uint32).handle, (1,))
        for half in (whole & 0xFFFFFFFF, (whole >> 32) & 0xFFFFFFFF)
    ]
    base = _Value(backend, counter) + offset
    return _drawn(backend, kind, backend.cat(words, 0), base, 0, count, dtype, low, span)


def _drawn(
    backend: Backend,
    kind: Kind,
    keys: Handle,
    base: int | _Value,
    first: int,
    count: int,
    dtype: DType,
    low: int,
    span: int,
) -> Handle:
    if count == 0:
        return backend.empty((0,), dtype)
    wide = kind == "integers" and span > MAX_NARROW_SPAN
    if wide:
        return _wide(_words(backend, keys, base + 2 * first, 2 * count), dtype, low, span)
    per_block = numbers_per_block(dtype)
    begin, skipped = divmod(first, per_block)
    blocks = _words(backend, keys, base + begin, -(-(skipped + count) // per_block))
    if per_block == 2:
        flat = backend.reshape(blocks.handle, (2 * backend.shape(blocks.handle)[0],))
        words = _Value(backend, backend.slice(flat, ((skipped, count, 1),)))
        if kind == "bits":
            return backend.copy(words.handle)
        if kind == "uniform":
            return ((words >> 8).cast(d.float32) * 2.0**-24).handle
        # Below 2**31, ints convert to floats in one instruction.
        odd = (((words >> 2) << 1) | 1).cast(d.float32)
        return _normal(odd * 2.0**-32, words & 1, d.float32)
    x0, x1 = _column(blocks, 0), _column(blocks, 1)
    if kind == "uniform":
        high, low_bits = (x1 >> 5).cast(d.float64), (x0 >> 6).cast(d.float64)
        return ((high * 2.0**26 + low_bits) * 2.0**-53).handle
    if kind == "normal":
        high, low_bits = (x1 >> 1).cast(d.float64), ((x0 >> 1) | 1).cast(d.float64)
        return _normal((high * 2.0**31 + low_bits) * 2.0**-63, x1 & 1, d.float64)
    # `span` times a fraction of 64 bits; in 2**32 steps, so that no product has more.
    # Engines have all operations for int64, which is enough up to a span of 2**31.
    work = d.int64 if span <= 2**31 else d.uint64
    high, low_bits = x1.cast(work), x0.cast(work)
    value = (_times(high, span) + (_times(low_bits, span) >> 32)) >> 32
    return _from(value, dtype, low)


def _words(backend: Backend, keys: Handle, base: int | _Value, blocks: int) -> _Value:
    """Blocks of two words, of shape (blocks, 2)."""
    if isinstance(base, _Value):
        counter = _Value(backend, backend.arange(0, blocks, 1, d.int64)) + base
    else:
        counter = _Value(backend, backend.arange(base, base + blocks, 1, d.int64))
    halves = [
        backend.reshape(half.cast(d.uint32).handle, (blocks, 1))
        for half in (counter & 0xFFFFFFFF, counter >> 32)
    ]
    return _Value(backend, backend.threefry(keys, backend.cat(halves, 1)))


def _column(blocks: _Value, which: int) -> _Value:
    backend = blocks.backend
    (rows, _) = backend.shape(blocks.handle)
    return _Value(backend, backend.slice(blocks.handle, ((0, rows, 1), which)))


def _normal(beyond: _Value, negative: _Value, dtype: DType) -> Handle:
    """Normal deviates of a probability below 0.5 and a sign."""
    series = _SERIES[dtype]
    q = 0.5 - beyond
    r = 0.180625 - q * q
    middle = q * _polynomial(r, series.middle) / _polynomial(r, series.middle_under)
    squared = -exact_log(beyond, dtype, _where, is_share=True)
    r = exact_sqrt(squared, squared.sqrt(), dtype)
    near, far = r - 1.6, r - 5.0
    tail = _where(
        r <= 5.0,
        _polynomial(near, series.near) / _polynomial(near, series.near_under),
        _polynomial(far, series.far) / _polynomial(far, series.far_under),
    )
    size = _where(beyond < 0.075, tail, middle)
    return _where(negative.is_zero(), size, -size).handle


def _times(x: _Value, factor: int) -> _Value:
    """A product of at most 64 bits."""
    return x << 32 if factor == MAX_NARROW_SPAN else x * factor


def _from(offset: _Value, dtype: DType, low: int) -> Handle:
    """`low` plus an offset of at most 32 bits."""
    return (offset.cast(dtype) + low).handle


def _wide(blocks: _Value, dtype: DType, low: int, span: int) -> Handle:
    """Integers of a span above 2**32: the upper part of 128 random bits times the span."""
    backend = blocks.backend
    (rows, _) = backend.shape(blocks.handle)
    words = _Value(backend, backend.reshape(blocks.handle, (rows // 2, 4)))
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
