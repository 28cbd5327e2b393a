"""Comparisons, logic, choices, limits and integers in registers: NumPy's bits and warnings."""

import ctypes
import mmap
import sys

import numpy as np
import pytest

import array_api_nx as xp
from tests.support.implementations import needs_native
from tests.support.processes import python
from tests.support.programs import numpy_of, same_bits

pytestmark = needs_native

SPECIAL = [0.0, -0.0, np.nan, np.inf, -np.inf, 1.5, -1.5, 5e-324]
REGISTERS = ["float64", "float32", "int64", "int32"]
COMPARISONS = ["less", "less_equal", "greater", "greater_equal", "equal", "not_equal"]

# Of two arrays of numbers and two of booleans; `m` is the namespace. Some results are read twice,
# and some of numbers are written where others of booleans, which take less memory, were before.
PROGRAMS = [
    lambda m, x, y, b, c: (x > y) & (x <= 1) | ~(y == x) ^ b,
    lambda m, x, y, b, c: m.where(x > 0, x, -x),
    lambda m, x, y, b, c: m.where((x > 0) & b, y, 1) + m.where(c | b, 2, x),
    lambda m, x, y, b, c: m.where(b, m.where(c, x, y), m.where(b ^ c, x + y, y)) * y,
    lambda m, x, y, b, c: m.where(x != y, 1, m.where(b, x, 0)) - x,
    lambda m, x, y, b, c: m.minimum(m.maximum(x, y), abs(x)) - m.maximum(1, m.minimum(y * x, x)),
    lambda m, x, y, b, c: (m.maximum(x, -1) * y > x) & (m.minimum(y, x) < 1),
    lambda m, x, y, b, c: m.where(b ^ c, x * -2, y) - m.where(b, y, abs(x - y)),
    lambda m, x, y, b, c: (x * x + y * 3 - x) * y - abs(y),
]


def operands(dtype, shape):
    rng = np.random.default_rng(shape[0])
    values = SPECIAL
    if dtype[:3] == "int":
        limits = np.iinfo(dtype)
        values = [0, 1, -1, 7, limits.max, limits.min]
    numbers = [rng.choice(values, shape).astype(dtype) for _ in "xy"]
    return [*numbers, rng.integers(0, 2, shape) > 0, rng.integers(0, 2, shape) > 0]


def assert_numpys(program, arrays):
    with np.errstate(all="ignore"):
        expected = program(np, *arrays)
        found = numpy_of(program(xp, *[xp.asarray(x, copy=True) for x in arrays]))
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    assert same_bits(np.where(np.isnan(found), 0, found), np.where(np.isnan(expected), 0, expected))


@pytest.mark.parametrize("dtype", REGISTERS)
@pytest.mark.parametrize("shape", [(2003,), (10_007,), (801, 13), (30, 1000)])
@pytest.mark.parametrize("program", range(len(PROGRAMS)))
def test_programs(dtype, shape, program):
    arrays = operands(dtype, shape)
    assert_numpys(PROGRAMS[program], arrays)
    if len(shape) == 2:
        assert_numpys(PROGRAMS[program], [arrays[0], arrays[1][:1], arrays[2][:, :1], arrays[3]])


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_comparisons_and_limits_do_not_warn_of_nan(dtype):
    x, y, _, _ = operands(dtype, (5001,))
    mine = [xp.asarray(each, copy=True) for each in (x, y)]
    for name in (*COMPARISONS, "maximum", "minimum"):
        with np.errstate(all="raise"):
            found = numpy_of(getattr(xp, name)(xp.abs(mine[0]), mine[1]))
        expected = getattr(np, name)(abs(x), y)
        assert same_bits(found, expected), name


def test_a_warning_is_of_the_operation_beside_a_comparison():
    x = xp.asarray(np.full(5001, 1e200), copy=True)
    with pytest.warns(RuntimeWarning, match="overflow encountered in multiply"):
        found = numpy_of(xp.where(x * x > x, x, x - 1))
    assert found[0] == 1e200


def test_any_byte_but_0_is_true():
    bytes_ = np.arange(5001, dtype=np.uint8)
    x = xp.asarray(np.linspace(-1, 1, 5001), copy=True)
    mask = xp.asarray(bytes_.view(np.bool_), copy=False)
    expected = np.where(bytes_ != 0, np.abs(np.linspace(-1, 1, 5001)), -1)
    assert same_bits(numpy_of(xp.where(mask, abs(x), -1.0)), expected)


def test_a_choice_is_written_over_its_operands():
    numbers = np.linspace(-1, 1, 5001)
    x = xp.asarray(numbers, copy=True)
    x[1:] = xp.where(x[:-1] > 0.0, x[:-1], x[1:] * 2.0)
    expected = numbers.copy()
    expected[1:] = np.where(numbers[:-1] > 0, numbers[:-1], numbers[1:] * 2)
    assert same_bits(numpy_of(x), expected)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", [2001, 2060, 50_000])
def test_nan_is_found_beside_comparisons(dtype, size):
    rng = np.random.default_rng(size)
    a, b = rng.standard_normal((2, size)).astype(dtype)
    a[rng.random(size) < 0.3] = np.nan
    a[5], b[7] = np.inf, -np.inf
    x, y = xp.asarray(a, copy=True), xp.asarray(b, copy=True)
    with np.errstate(all="raise"):
        for found, expected in (
            (xp.isnan(x) | (y > 0), np.isnan(a) | (b > 0)),
            (~xp.isnan(x) & (x < y) | xp.isnan(y), ~np.isnan(a) & (a < b) | np.isnan(b)),
            (xp.where(xp.isnan(x), y, x), np.where(np.isnan(a), b, a)),
            (xp.isnan(x + y), np.isnan(a + b)),
            (xp.count_nonzero(xp.isnan(x) & (y < 1)), np.count_nonzero(np.isnan(a) & (b < 1))),
        ):
            assert np.asarray(found).tobytes() == np.asarray(expected).tobytes()


@pytest.mark.parametrize("dtype", REGISTERS)
@pytest.mark.parametrize("shape", [(70, 203), (9, 1000), (5, 30, 80)])
def test_rows_whose_operands_repeat(dtype, shape):
    x, y, b, _ = operands(dtype, shape)
    column, row, plane = y[..., :1], y[..., :1, :], b[..., :1]
    assert_numpys(lambda m, x, c, r: m.minimum(x, c + r) * r - c, [x, column, row])
    assert_numpys(lambda m, x, p, r: m.where(p, x * r, x) - r, [x, plane, row])
    mine = xp.asarray(x, copy=True)
    mine[...] = xp.minimum(mine * 3, xp.asarray(column) + xp.asarray(row))
    with np.errstate(all="ignore"):
        expected = np.minimum(x * 3, column + row)
    np.testing.assert_array_equal(numpy_of(mine), expected)


APART = [
    lambda m, x, y: x[::2] * y[::2] + x[1::2],
    lambda m, x, y: m.where(x[::-1] > y, x[::-1], y[::-1] * 2),
    lambda m, x, y: abs(x[::-2] - y[1::2]) * y[::2],
    lambda m, x, y: m.maximum(x[::2], 3 - y[::2]),
    lambda m, x, y: -x[::-1],
]


@pytest.mark.parametrize("dtype", REGISTERS)
@pytest.mark.parametrize("size", [2000, 4138, 20_006])
@pytest.mark.parametrize("program", range(len(APART)))
def test_every_other_number_and_backwards(dtype, size, program):
    x, y = operands(dtype, (size,))[:2]
    assert_numpys(APART[program], [x, y])
    table = [np.resize(each, (40, 1002)) for each in (x, y)]
    assert_numpys(lambda m, x, y: APART[program](m, x.T, y.T).T, [each.T for each in table])
    assert_numpys(lambda m, x, y: x[:, ::2] * y[::-1, 1::2] - x[:, :501], table)


def between_walls(count, dtype):
    """A block of memory that ends, and one that begins, where no memory can be read."""
    page, size = mmap.PAGESIZE, count * np.dtype(dtype).itemsize
    pages = -(-size // page)
    memory = mmap.mmap(-1, (pages + 2) * page)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    for wall in (address, address + (pages + 1) * page):
        assert protect(ctypes.c_void_p(wall), ctypes.c_size_t(page), 0) == 0
    first = np.frombuffer(memory, dtype, count, page)
    return np.frombuffer(memory, dtype, count, (pages + 1) * page - size), first


@pytest.mark.skipif(sys.platform != "linux", reason="pages are protected by Linux's own call")
@pytest.mark.parametrize("dtype", REGISTERS)
@pytest.mark.parametrize("count", [4001, 4015, 4097, 9999])
def test_nothing_beside_the_elements_is_read(dtype, count):
    for memory in between_walls(count, dtype):
        memory[:] = np.arange(count) % 100
        x, plain = xp.asarray(memory, copy=False), memory.copy()
        half = (count + 1) // 2
        assert same_bits(numpy_of(x[::2] * 2 + x[:half]), plain[::2] * 2 + plain[:half])
        assert same_bits(numpy_of(x[::-1] * 3 - x), plain[::-1] * 3 - plain)
        assert same_bits(numpy_of(x[1::2] + x[-2::-2]), plain[1::2] + plain[-2::-2])
        square = int(count**0.5)
        table, right = x[: square**2], plain[: square**2]
        table, right = xp.reshape(table, (square, square)), right.reshape(square, square)
        assert same_bits(numpy_of(table + table.T), right + right.T)


@pytest.mark.slow
@pytest.mark.parametrize("processor", ["baseline", "avx2"])
def test_lesser_processors(processor):
    command = ["-m", "pytest", "-q", "-p", "no:cacheprovider", __file__, "-k", "not lesser"]
    python(*command, ARRAY_API_NX_CPU=processor)
