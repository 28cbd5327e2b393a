"""C implementations of reductions, scans and sorting give what their Python functions give."""

from platform import machine

import numpy as np
import pytest

import array_api_nx as xp
import array_api_nx.numpy as face
from array_api_nx.native import native
from tests.support.alike import DTYPES, compare
from tests.support.implementations import LAYOUTS, arrange
from tests.support.sizes import AT_ONCE, DEFERRED, MANY_TASKS

pytestmark = pytest.mark.skipif(native is None, reason="the extension is not built")

SHAPES = [
    *[(), (1,), (2,), (7,), (8,), (9,), (130,), (0,), (3, 4), (1, 5), (5, 1), (4, 0), (20, 17)],
    *[(2, 3, 4), (3, 1, 4), (1, 1, 1), (9, 2, 5), (2, 3, 1, 4), (2, 2, 3, 2, 2)],
]
SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-310, 3e38, -3e38, 1e300]
if machine() in ("x86_64", "AMD64"):  # elsewhere the compiler decides which of two NaNs a sum gives
    SPECIAL += [-np.nan]


def numbers(rng, dtype, shape):
    kind = np.dtype(dtype).kind
    if kind == "b":
        return rng.random(shape) < rng.choice([0.1, 0.5, 0.9])
    if kind in "iu":
        info = np.iinfo(dtype)
        low, high = (info.min, info.max) if rng.random() < 0.5 else (0, 3)
        return rng.integers(low, high, shape, dtype, endpoint=True)
    with np.errstate(all="ignore"):
        array = np.asarray(rng.normal(size=shape) * 10.0 ** rng.integers(-3, 4), dtype)
        if kind == "c":
            array = np.asarray(array + 1j * rng.normal(size=shape), dtype)
        if rng.random() < 0.5:
            some = rng.random(shape) < rng.choice([0.05, 0.3])
            array = np.where(some, np.asarray(rng.choice(SPECIAL, shape), dtype), array)
        if rng.random() < 0.2:
            array = np.asarray(rng.choice([0.0, -0.0, 1.0], shape), dtype)
    return np.asarray(array)


def make(rng, dtype, shape):
    """An array in some layout; the elements of some are not aligned."""

    def make_numbers(sizes):
        return np.asarray(numbers(rng, dtype, sizes))

    if rng.random() < 0.15:
        array = make_numbers(shape)
        memory = np.ndarray(shape, dtype, np.empty(array.nbytes + 1, np.uint8).data, 1)
        memory[...] = array
        return xp.from_dlpack(memory)
    layout = LAYOUTS[int(rng.integers(len(LAYOUTS)))]
    return xp.from_dlpack(arrange(np, rng, layout, shape, make_numbers))


def axes(rng, ndim):
    """An axis argument, mostly a legal one."""
    choice = rng.integers(8)
    if choice < 2 or ndim == 0:
        return None
    if choice < 5:
        return int(rng.integers(-ndim, ndim))
    if choice < 7:
        count = int(rng.integers(ndim + 1))
        return tuple(int(axis) for axis in rng.permutation(ndim)[:count])
    return [ndim, -ndim - 1, (0, 0), "0", 1.0, np.int64(0), True, [0], (0, -ndim)][rng.integers(9)]


def axis(rng, ndim):
    chosen = axes(rng, ndim)
    return 0 if isinstance(chosen, tuple) and rng.random() < 0.8 else chosen


def cases(seed, count):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        shape = SHAPES[rng.integers(len(SHAPES))]
        yield rng, make(rng, str(rng.choice(DTYPES)), shape)


def one_of(*values):
    return lambda rng, x: values[rng.integers(len(values))]


REDUCTIONS = [xp.sum, xp.prod, xp.max, xp.min, xp.any, xp.all, xp.count_nonzero, xp.mean]

AXES, AXIS = lambda rng, x: axes(rng, x.ndim), lambda rng, x: axis(rng, x.ndim)
TRUTH = one_of(False, True)
DTYPE = lambda rng, x: getattr(xp, str(rng.choice(DTYPES)))  # noqa: E731
CORRECTION = one_of(0, 1, 1.0, 0.5, -1, 1000, np.nan, np.inf, True, "1", 2**70, -(2**60))
ORDER = one_of(2, 2.0, 1, 0, np.inf, None, True, "fro")
# Per keyword, how likely a call has it, and what chooses its value.
KEYWORDS = [
    (REDUCTIONS, {"axis": (0.9, AXES), "keepdims": (0.5, TRUTH), "dtype": (0.1, DTYPE)}),
    (
        [xp.linalg.vector_norm, xp.linalg.norm],
        {"axis": (1, AXES), "keepdims": (0.5, TRUTH), "ord": (0.5, ORDER)},
    ),
    (
        [xp.var, xp.std],
        {"axis": (1, AXES), "keepdims": (0.5, TRUTH), "correction": (0.5, CORRECTION)},
    ),
    (
        [xp.cumulative_sum, xp.cumulative_prod],
        {"axis": (0.9, AXIS), "include_initial": (0.2, TRUTH), "dtype": (0.1, DTYPE)},
    ),
    ([xp.argmax, xp.argmin], {"axis": (0.9, AXIS), "keepdims": (0.5, TRUTH)}),
    (
        [xp.sort, xp.argsort],
        {"axis": (0.7, AXIS), "descending": (0.5, TRUTH), "stable": (0.5, TRUTH)},
    ),
]


@pytest.mark.parametrize(
    ("function", "keywords"),
    [
        pytest.param(function, keywords, id=function.__name__)
        for functions, keywords in KEYWORDS
        for function in functions
    ],
)
def test_keywords(function, keywords):
    for rng, x in cases(1, 300):
        given = {name: get(rng, x) for name, (part, get) in keywords.items() if rng.random() < part}
        compare(function, x, **given)


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint32", "uint64"])
def test_argsort_of_integers_that_repeat(dtype):
    rng = np.random.default_rng(8)
    limits = np.iinfo(dtype)
    for length in (1, 31, 47, 48, 49, 300, 2000):
        for span in (1, 2, length // 2 + 1, length, length + 1, 10 * length):
            for start in (0, limits.min, limits.max - span + 1):
                numbers = rng.integers(0, span, (3, length)).astype(dtype) + np.asarray(
                    start, dtype
                )
                numbers[1].sort()
                x = xp.asarray(numbers, copy=True)
                for descending in (False, True):
                    compare(xp.argsort, x, descending=descending)
                    compare(xp.argsort, x.T, axis=0, descending=descending)
        x = xp.asarray(
            np.full(length, limits.max, dtype) ^ rng.integers(0, 2, length).astype(dtype)
        )
        compare(xp.argsort, x)
    x = xp.asarray(np.tile(np.asarray([limits.max, limits.min], dtype), 40), copy=True)
    compare(xp.argsort, x)


def test_searches():
    scalars = [0, 1, -1, 2.5, np.nan, True, 2**70, 1j, "a", np.float64(1.0), None]
    for rng, x in cases(6, 500):
        dtype = str(x.dtype) if rng.random() < 0.9 else str(rng.choice(DTYPES))
        ascending = make(rng, dtype, (int(rng.integers(1, 40)),))
        # What is found in numbers out of order differs between versions of NumPy.
        if np.dtype(dtype).kind != "c":
            ascending = xp.sort(ascending)
        values = x if rng.random() < 0.8 else scalars[rng.integers(len(scalars))]
        keywords = {}
        if rng.random() < 0.6:
            keywords["side"] = rng.choice(["left", "right"]).item()
        if rng.random() < 0.1:
            keywords["side"] = "middle"
        compare(xp.searchsorted, ascending, values, **keywords)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "int64", "bool"])
@pytest.mark.parametrize("shape", [(AT_ONCE,), (2, 8192), (8192, 2), (17, 900), (20, 40, 20)])
def test_many_elements(dtype, shape):
    """Rows longer than NumPy's buffers, and as long as operations run at once."""
    rng = np.random.default_rng(7)
    for _ in range(2):
        x = make(rng, dtype, shape)
        for function in (*REDUCTIONS, xp.var):
            compare(function, x)
            compare(function, x, axis=0)
            compare(function, x, axis=(0, -1) if x.ndim > 2 else -1, keepdims=True)
        for function in (xp.sort, xp.argsort, xp.argmax, xp.cumulative_sum):
            compare(function, x, axis=0)
            compare(function, x, axis=-1)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sort_keeps_the_signs_of_few_zeros(dtype):
    """Vector instructions that sort may make a zero of the other sign of one."""
    rng = np.random.default_rng(3)
    for size in range(1000, 1100):
        values = rng.normal(size=size).astype(dtype)
        values[rng.permutation(size)[:2]] = -0.0, 0.0
        compare(xp.sort, xp.asarray(values, copy=True))


@pytest.mark.parametrize("mode", ["ignore", "warn", "raise"])
def test_error_states(mode):
    """All errors, also underflow, of which NumPy does not warn unless asked to."""
    tiny = np.asarray([1e-38, 1e-38, 3e-39], np.float32)
    huge = np.asarray([3e38, 3e38, -1.0], np.float32)
    both = np.asarray([np.inf, -np.inf, 1.0])
    for array in (tiny, huge, both, np.stack([tiny, huge])):
        for function in (*REDUCTIONS, xp.var, xp.std):
            with np.errstate(all=mode):
                compare(function, xp.asarray(array))
                compare(function, xp.asarray(array), axis=-1)
        for function in (xp.cumulative_sum, xp.cumulative_prod):
            with np.errstate(all=mode):
                compare(function, xp.asarray(array), axis=-1)


def test_bad_arguments():
    x = xp.asarray([3.0, 1.0, 2.0])
    for function in (*REDUCTIONS, xp.var, xp.sort, xp.argsort, xp.argmax, xp.cumulative_sum):
        compare(function, 1.0)
        compare(function, None)
        compare(function, np.float64(2.0))
        compare(function, np.ones(3))
        compare(function, x, 0)
        compare(function, x, axis=0, unknown=1)
        compare(function, x, keepdims=1)
        compare(function, x, stable=0)


def test_while_small_arrays_are_deferred():
    """C implementations decline while a setting defers small arrays."""
    x = xp.asarray([3.0, 1.0, 2.0])
    with xp.config_context(fusion_threshold=0):
        for function in (*REDUCTIONS, xp.var, xp.std, xp.sort, xp.argsort, xp.argmax):
            compare(function, x)


@pytest.mark.parametrize("function", ["prod", "max", "sum", "mean", "var", "any"])
@pytest.mark.parametrize("dtype", ["int64", "float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("size", [3, 5000, MANY_TASKS, DEFERRED])
def test_nothing_else_has_the_operand(function, dtype, size):
    mine = (np.random.default_rng(1).random(size) * 1e-6 + 1).astype(dtype)
    if mine.dtype.kind == "c" and function in ("max", "var"):
        return  # the standard has none
    call, rtol = getattr(xp, function), 2e-2 if mine.real.dtype == np.float32 else 1e-9
    expected = getattr(np, function)(mine)
    for make in (
        lambda: xp.asarray(mine),
        lambda: xp.asarray(mine) * 1,
        lambda: xp.asarray(mine, copy=True) * 1,
    ):
        assert np.isclose(np.asarray(call(*(make(),))), expected, rtol=rtol, atol=1e-9)


@pytest.mark.parametrize("position", [None, 0, 1, 29_999, 30_000, 59_999])
def test_totals_of_booleans(position):
    ones, zeros = np.ones(60_000, bool), np.zeros(60_000, bool)
    if position is not None:
        ones[position], zeros[position] = False, True
    for threads in (1, 2, 5):
        with xp.config_context(num_threads=threads):
            for memory in (ones, zeros):
                x = xp.asarray(memory, copy=True)
                assert bool(xp.all(x)) is bool(memory.all())
                assert bool(xp.any(x)) is bool(memory.any())
                count = xp.count_nonzero(x)
                assert count.dtype is xp.int64
                assert int(count) == memory.sum()
                count[...] = 3
                assert int(count) == 3


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "uint32", "int64", "uint64"])
def test_integers_are_cast_in_the_pass_that_reduces_them(dtype: str) -> None:
    rng = np.random.default_rng(2)
    for shape in ((DEFERRED,), (3, DEFERRED // 2), (DEFERRED // 16, 8, 3)):
        values = rng.integers(0, 100, shape).astype(dtype)
        for array in (values, values.T, values[..., ::-1], values[::2]):
            x = xp.asarray(array)
            for name in ("sum", "mean", "std", "var"):
                for axis in (None, 0, -1):
                    found = getattr(xp, name)(x, axis=axis)
                    expected = getattr(np, name)(array, axis=axis)
                    assert found.dtype == expected.dtype
                    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128", "int16"])
@pytest.mark.parametrize("shape", [(3, 3), (9, 20), (90, 95), (3, 4, 5)])
def test_windows_are_reduced_as_numpys_buffer_is(dtype, shape):
    """NumPy copies rows that do not follow each other to a buffer, and reduces them as one."""
    rng = np.random.default_rng(5)
    for _ in range(20):
        whole = (3 * rng.random([size + 3 for size in shape]) - 1).astype(dtype)
        window = tuple(slice(1, 1 + size) for size in shape)
        values, x = whole[window], face.array(whole)[window]
        for name in ("sum", "prod", "max", "min", "mean", "std"):
            expected = getattr(values, name)()
            assert getattr(x, name)() == expected, name
            assert getattr(x.T, name)(keepdims=True).item() == getattr(values.T, name)().item(), (
                name
            )


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("size", [7, 70_000])
def test_an_infinite_part_of_a_complex_mean(dtype, size):
    """The standard divides the parts apart, NumPy by a complex number."""
    numbers = np.ones(size, dtype)
    numbers[3] = complex(np.inf, 1)
    mean = complex(xp.mean(xp.asarray(numbers, copy=True)))
    assert (mean.real, mean.imag) == (np.inf, pytest.approx(1 / size))
    with np.errstate(all="ignore"):
        mean, theirs = complex(face.mean(face.array(numbers))), complex(np.mean(numbers))
    assert (mean.real, np.isnan(mean.imag)) == (theirs.real, np.isnan(theirs.imag))
