"""Complex numbers in registers: NumPy's bits and warnings, sums, and real numbers beside them."""

import operator
import warnings
from itertools import product

import numpy as np
import pytest

import array_api_nx as xp
from tests.support.implementations import needs_native
from tests.support.processes import python
from tests.support.programs import numpy_of

pytestmark = needs_native

COMPLEX = ["complex64", "complex128"]
SPECIAL = [0.0, -0.0, np.nan, np.inf, -np.inf, 1e30, 1e-30, 5e-324, 1.0, -1.0]

# Of three complex arrays and a real one; `m` is the namespace.
PROGRAMS = {
    "sums": lambda m, x, y, z, r: x + y - z,
    "products": lambda m, x, y, z, r: z - x * y,
    "product of a result and an operand": lambda m, x, y, z, r: z * (x + y) * x,
    "squares": lambda m, x, y, z, r: (x + y) * (x + y) + m.square(z) - x * x,
    "quotients": lambda m, x, y, z, r: x / y - z / (x + 1),
    "quotient of numbers": lambda m, x, y, z, r: (1 - 2j) / x + y / (3 + 0.5j) - 2 / z,
    "conjugates": lambda m, x, y, z, r: m.conj(x) * y - (-z),
    "numbers": lambda m, x, y, z, r: (2 * x + 1j) * (0.5 - 3j) - y,
    "real operands": lambda m, x, y, z, r: x * r + r - y / (r * r),
    "real results": lambda m, x, y, z, r: (x * y) * abs(z) + abs(x * y) - m.real(z) * y,
    "a choice": lambda m, x, y, z, r: m.where(r > 0, x, y * z) + y,
    "a comparison": lambda m, x, y, z, r: (x * y == z) | (x + y != y + x),
    "imaginary": lambda m, x, y, z, r: r + 1j * (r * r),
}


def numbers(shape, dtype, seed, special=0.0):
    rng = np.random.default_rng(seed)
    parts = rng.normal(size=(*shape, 2))
    where = rng.random(parts.shape) < special
    parts[where] = rng.choice(SPECIAL, int(where.sum()))
    with np.errstate(all="ignore"):
        return parts.view(complex)[..., 0].astype(dtype)


def operands(shape, dtype, special=0.0):
    x, y, z = [numbers(shape, dtype, seed, special) for seed in range(3)]
    return x, y, z, numbers(shape, dtype, 4, special).real.copy()


def outcome(function):
    with warnings.catch_warnings(record=True, action="always") as caught:
        found = numpy_of(function())
    return found, sorted({str(each.message) for each in caught})


def assert_numpys(program, arrays, mine=None):
    """The bits are NumPy's, but for those of NaN, and the warnings."""
    mine = mine or [xp.asarray(x, copy=True) for x in arrays]
    found, said = outcome(lambda: program(xp, *mine))
    expected, expected_said = outcome(lambda: program(np, *arrays))
    assert (found.dtype, found.shape, said) == (expected.dtype, expected.shape, expected_said)
    found, expected = [np.ascontiguousarray(x).reshape(-1) for x in (found, expected)]
    if found.dtype.kind == "c":
        found, expected = [x.view(x.real.dtype) for x in (found, expected)]
    same = (found == expected) & (np.signbit(found) == np.signbit(expected))
    assert (same | (np.isnan(found) & np.isnan(expected))).all()


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("special", [0.0, 0.05])
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name, special, dtype):
    # From 256 kB on NumPy writes results over temporary operands, which it makes the first ones.
    for shape in ((2003,), (15_011,), (300, 33), (20, 700)):
        assert_numpys(PROGRAMS[name], operands(shape, dtype, special))


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("name", PROGRAMS)
def test_operands_that_repeat_or_lie_apart(name, dtype):
    x, y, z, r = operands((90, 130), dtype)
    assert_numpys(PROGRAMS[name], (x[:1], y, z[:, :1], r))
    assert_numpys(PROGRAMS[name], (x, y[:, :1], z, r[:, :1]))
    assert_numpys(PROGRAMS[name], (x[:1, :1], y, z, r[:1, :1]))
    assert_numpys(PROGRAMS[name], (x[:, 1:-1], y[:, 2:], z[:, :-2], r[:, :-2]))
    mine = [xp.asarray(each, copy=True)[:, ::2] for each in (x, y, z, r)]
    assert_numpys(PROGRAMS[name], [each[:, ::2] for each in (x, y, z, r)], mine)
    mine = [xp.asarray(each.T, copy=True).T for each in (x, y, z, r)]
    assert_numpys(PROGRAMS[name], [np.asfortranarray(each) for each in (x, y, z, r)], mine)


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("name", PROGRAMS)
def test_elements_between_multiples_of_their_size(name, dtype):
    """Parts lie at multiples of their size; rows and numbers half of a number beside."""
    x, y, z, r = operands((40, 301), dtype)
    memory = np.zeros(x.size * 2 + 41, x.real.dtype)
    part = x.itemsize // 2
    for shape, strides in ((x.shape, (x.strides[0] + part, x.itemsize)), ((x.size,), None)):
        moved = np.ndarray(shape, x.dtype, memory, part, strides)
        moved[...] = x.reshape(shape)
        arrays = (moved, *[each.reshape(shape) for each in (y, z, r)])
        mine = [xp.asarray(each, copy=None) for each in arrays]
        assert_numpys(PROGRAMS[name], arrays, mine)


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("update", [operator.iadd, operator.imul, operator.isub, operator.itruediv])
def test_updates(update, dtype):
    x, y, z, r = operands((5003,), dtype)

    def program(m, x, y, z, r):
        update(x, y * r)
        x[1:] = x[:-1] * z[1:] - x[1:]
        x[...] = m.conj(x) * m.real(x)
        return x

    for values in ((x, y, z, r), operands((150, 70), dtype)):
        arrays = [each.copy() for each in values]
        assert_numpys(program, arrays, [xp.asarray(each, copy=True) for each in values])


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("shape", [(100_003,), (300, 401), (41, 50, 60), (70_000, 3), (3, 70_000)])
def test_sums_and_means(shape, dtype):
    x, y, _, _ = operands(shape, dtype)
    mine = [xp.asarray(each, copy=True) for each in (x, y)]
    accuracy = {"complex64": 1e-4, "complex128": 1e-12}[dtype]
    for axis, keepdims in product((None, *range(x.ndim)), (False, True)):
        for name in ("sum", "mean"):
            found = getattr(xp, name)(mine[0] * mine[1] - 1, axis=axis, keepdims=keepdims)
            expected = getattr(np, name)((x * y - 1).astype(complex), axis=axis, keepdims=keepdims)
            scale = np.sum(abs(x * y - 1), axis=axis, keepdims=keepdims).max()
            assert (str(found.dtype), found.shape) == (dtype, np.shape(expected))
            difference = abs(np.asarray(found) - expected).max()
            assert difference <= accuracy * (
                scale if name == "sum" else scale * np.size(found) / x.size
            )


@pytest.mark.parametrize("dtype", COMPLEX)
def test_sums_are_the_same_on_any_number_of_threads(dtype):
    x = xp.asarray(numbers((300_001,), dtype, 7), copy=True)
    found = set()
    for threads in (1, 2, 5):
        with xp.config_context(num_threads=threads):
            values = [
                xp.sum(x),
                xp.sum(x * x),
                xp.mean(x[::3]),
                xp.sum(xp.reshape(x[:-1], (10, -1)), axis=0),
            ]
            found.add(tuple([np.asarray(each).tobytes() for each in values]))
    assert len(found) == 1


CHECK = """
from tests.native import test_orders_of_pairs as t
for name, dtype in t.product(t.PROGRAMS, t.COMPLEX):
    t.assert_numpys(t.PROGRAMS[name], t.operands((5003,), dtype, 0.01))
"""


@pytest.mark.parametrize("processor", ["baseline", "avx2", "avx512"])
@pytest.mark.parametrize("numpys", ["", "baseline"])
def test_processors(processor, numpys):
    """NumPy's products are rounded as its own vectors have it, whatever vectors are used here."""
    from numpy._core._multiarray_umath import __cpu_dispatch__ as targets

    disabled = {"NPY_DISABLE_CPU_FEATURES": " ".join(targets)} if numpys else {}
    python("-c", CHECK, ARRAY_API_NX_CPU=processor, **disabled)
