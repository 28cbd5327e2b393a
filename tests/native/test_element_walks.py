"""Operations that do not wait, on several threads: NumPy's bits, layout and warnings."""

from random import Random

import numpy as np
import pytest

import array_api_nx as xp
from tests.support.alike import DTYPES
from tests.support.implementations import needs_native
from tests.support.numpy_versions import ROUNDS_ALIKE
from tests.support.sizes import MIDDLE
from tests.support.tables import for_each

SHAPE = (260, 520)


def memory(dtype):
    return (np.random.default_rng(7).standard_normal(SHAPE) * 3).astype(dtype)


def check(found, expected):
    """NumPy's elements and strides."""
    computed = np.asarray(found)
    assert (computed.dtype, computed.shape) == (expected.dtype, expected.shape)
    assert computed.tobytes() == expected.tobytes()
    for a, b, n in zip(computed.strides, expected.strides, expected.shape, strict=True):
        assert a == b or n <= 1


LENGTHS = (1, 1, 2, 3, 5, 8, 17, 40, 129, 260, 1100, 2049, 5000)
BINARY = {
    name: getattr(np, {"atan2": "arctan2"}.get(name, name))
    for name in ("add", "atan2", "divide", "hypot", "less", "maximum", "multiply", "equal")
}
UNARY = {name: getattr(np, name) for name in ("abs", "exp", "isnan", "sin", "negative", "sqrt")}
NUMERIC = ("abs", "negative", "maximum", "add", "multiply", "less")
FLOATING = ("atan2", "divide", "hypot", "exp", "isnan", "sin", "sqrt")


def random_operand(rng, shape, dtype):
    """A part of an array, with any order of axes and any steps, that broadcasts to `shape`."""
    kept = shape[rng.choice([0, 0, 0, rng.randint(0, len(shape))]) :]
    sizes = [1 if rng.random() < 0.15 else size for size in kept]
    is_plain = rng.random() < 0.3
    steps = [1 if is_plain else rng.choice([1, 1, 1, 1, 2, 3, -1, -2]) for _ in sizes]
    order = list(range(len(sizes)))
    if not is_plain and rng.random() < 0.4:
        rng.shuffle(order)
    margin = 0 if is_plain else rng.choice([0, 0, 1])
    whole = [sizes[dim] * abs(steps[dim]) + margin for dim in order]
    values = np.random.default_rng(rng.randrange(2**32)).standard_normal(whole) * 50
    with np.errstate(all="ignore"):
        x = values.astype(dtype).transpose(np.argsort(order))
    x = x[(..., *[slice(None, None, step) for step in steps])]
    x = x[(..., *[slice(0, size) for size in sizes])]
    return np.broadcast_to(x, kept) if rng.random() < 0.1 else x


@needs_native
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_anything_is_numpys(dtype):
    kind = np.dtype(dtype).kind
    left_out = {"f": (), "c": ("atan2", "hypot", "less", "maximum", "sqrt", "exp", "sin")}
    names = [
        name
        for name in (*UNARY, *BINARY, "where")
        if name not in left_out.get(kind, FLOATING) and not (kind == "b" and name in NUMERIC)
    ]
    rng = Random(dtype)
    for _ in range(200):
        name = rng.choice(names)
        left = rng.choice([50, 3000, 12000, 200_000])
        shape = ()
        for _ in range(rng.randint(0, 5)):
            shape += (rng.choice([length for length in LENGTHS if length <= left]),)
            left //= shape[-1]
        shape = tuple(rng.sample(shape, len(shape)))
        inputs = [dtype] if name in UNARY else [dtype, dtype]
        operands = [random_operand(rng, shape, np.dtype(each)) for each in inputs]
        if name == "where":
            operands.insert(0, random_operand(rng, shape, np.dtype(bool)))
        if name in BINARY and rng.random() < 0.25:
            operands[rng.choice([0, 1])] = rng.choice([False, True] if kind == "b" else [0, 1])
        ours = [xp.asarray(x) if isinstance(x, np.ndarray) else x for x in operands]
        with xp.config_context(fusion="off", num_threads=rng.choice([1, 2, 3, 7])):
            result = getattr(xp, name)(*ours)
        # Of single elements, NumPy looks at steps that lead nowhere.
        if result.size > 1:
            function = (UNARY | BINARY | {"where": np.where})[name]
            check(result, np.asarray(function(*operands)))


@needs_native
@for_each("key", ["[::-1]", "[:, ::-1]", "[::-1, ::-1].T", "[::-1].T[::2]"])
def test_backward_operands_are_laid_out_as_by_numpy(key):
    x = eval(f"x{key}", {"x": memory("float64")})
    with xp.config_context(fusion="off"):
        check(xp.asarray(x) * 2.0, x * 2.0)


@needs_native
def test_more_threads_than_there_could_be():
    x = memory("float64")
    for threads in (2**62, 2**63 - 1):
        with xp.config_context(num_threads=threads, fusion="off"):
            check(xp.exp(xp.asarray(x)), np.exp(x))


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("fusion", ["auto", "off"])
def test_warnings_are_numpys(fusion):
    x = xp.asarray(np.linspace(-1, 1, MIDDLE), copy=True)
    with xp.config_context(fusion=fusion):
        with pytest.warns(RuntimeWarning, match="divide by zero encountered in divide"):
            float((x / 0.0)[0])
        with pytest.warns(RuntimeWarning, match="invalid value encountered in sqrt"):
            float(xp.sqrt(x)[0])
        with np.errstate(all="ignore"):
            xp.sqrt(x)
        with np.errstate(invalid="raise"), pytest.raises(FloatingPointError, match="sqrt"):
            xp.sqrt(x)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_one_warning_of_a_scalar(order):
    x = xp.asarray(np.ones((200, 300), np.float32, order=order))
    with pytest.warns(RuntimeWarning) as warned:
        x * 1e300
    assert [str(each.message) for each in warned] == ["overflow encountered in cast"]


def test_the_larger_operand_decides():
    small = xp.asarray(np.arange(200.0)[:, None], copy=True)
    large = xp.asarray(np.arange(300.0) * np.ones((200, 1)), copy=True)
    expected = np.asarray(small) - np.asarray(large)
    assert np.array_equal(np.asarray(small - large), expected)
    assert np.array_equal(np.asarray(large - small), -expected)


def test_squares_and_other_powers():
    x = np.linspace(-3, 3, MIDDLE)
    for exponent in (2, 3, 2.0, 0, 1, *([-1] if ROUNDS_ALIKE else [])):
        with np.errstate(all="ignore"):
            computed = xp.asarray(x, copy=True) ** exponent
            assert np.asarray(computed).tobytes() == (x**exponent).tobytes()
    whole = np.arange(MIDDLE)
    assert np.array_equal(np.asarray(xp.asarray(whole, copy=True) ** 2), whole**2)
