"""Steps of arithmetic that follow each other run as one, with the results and the floating-point
errors of steps that run one by one."""

import numpy as np
import pytest

import array_api_nx as xp
from tests.support.programs import needs_extension, numpy_of, same_bits

pytestmark = needs_extension


def test_chains_in_place_that_run_again_read_what_was_there():
    numbers = np.linspace(1, 2, 700_000)
    numbers[5] = 1e200
    x = xp.asarray(numbers, copy=True)
    with pytest.warns(RuntimeWarning, match="overflow encountered in multiply"):
        x[...] = (x + x) * x
    assert same_bits(numpy_of(x), (numbers + numbers) * numbers)


def test_programs_warn_of_the_operation_that_overflowed():
    @xp.compile
    def compute(x):
        return (x * 2 + 1) * x

    x = xp.asarray(np.full(3000, 1e200), copy=True)
    with pytest.warns(RuntimeWarning, match="overflow encountered in multiply"):
        y = np.asarray(compute(x))
    assert np.all(np.isinf(y))


@pytest.mark.parametrize("shape", [(700_001,), (901, 777), (30_000, 23)])
def test_chains_of_large_arrays_run_in_parts(shape):
    """Where memory is fetched ahead. Some results are read by several steps."""
    rng = np.random.default_rng(2)
    arrays = [rng.uniform(-1, 1, shape) for _ in range(3)]
    arrays.append(rng.uniform(-1, 1, (*shape[:-1], 1)))
    arrays.append(rng.uniform(-1, 1, shape[-1:]))

    def compute(a, b, c, column, row):
        d = (a - column) * b + row
        e = -(d * d) / 3 + c
        return (e * d - a) * column + e, (2 - d) * c

    expected = compute(*arrays)
    lazy = [xp.asarray(array, copy=True) for array in arrays]
    for results in (compute(*lazy), xp.compile(compute)(*lazy)):
        for result, wanted in zip(results, expected, strict=True):
            assert same_bits(np.asarray(result), wanted)


def test_programs_of_two_dtypes():
    rng = np.random.default_rng(4)
    narrow, wide = rng.uniform(-1, 1, 3000).astype(np.float32), rng.uniform(-1, 1, 3000)

    def compute(x, y, cast):
        low = cast(((x - x) - x) * x, np.float64)
        high = y - y
        high = high + high
        difference = high - low
        product = (high * low + difference) * difference
        return cast(product, np.float32) * x, cast(difference, np.float32)

    def traced(x, y):
        return compute(
            x, y, lambda z, to: xp.astype(z, xp.float32 if to == np.float32 else xp.float64)
        )

    expected = compute(narrow, wide, np.ndarray.astype)
    computed = xp.compile(traced)(xp.asarray(narrow, copy=True), xp.asarray(wide, copy=True))
    for result, wanted in zip(computed, expected, strict=True):
        assert same_bits(np.asarray(result), wanted)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
@pytest.mark.parametrize("size", [1, 7, 65, 517, 40_003])
@pytest.mark.parametrize("step", [1, 3])
def test_masks_that_are_combined(dtype, size, step):
    """The truths in between stay as the registers have them, in rows and in tiles; those that
    a choice reads are booleans."""
    rng = np.random.default_rng(7)
    arrays = [rng.integers(-9, 9, size * step).astype(dtype)[::step] for _ in range(2)]

    def compute(x, y, where):
        inside = (x > -3) & (x <= 4)
        other = (y < x) | (y == 2)
        return [
            inside & other,
            (inside | other) ^ (x != y),
            ~(inside & other) | ~inside,
            inside & inside,
            where(inside ^ other, x, y + x),
            inside & (where(other, x, y) < 3),
            ((x * x + y * y) < 40) & inside,
        ]

    expected = compute(*arrays, np.where)
    lazy = [xp.asarray(array, copy=True) for array in arrays]
    views = [xp.asarray(np.repeat(array, step), copy=True)[::step] for array in arrays]
    for x, y in (lazy, views):
        for result, wanted in zip(compute(x, y, xp.where), expected, strict=True):
            assert same_bits(np.asarray(result), wanted)
            assert int(xp.count_nonzero(result)) == np.count_nonzero(wanted)
