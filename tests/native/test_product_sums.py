"""Sums of products: products of integer matrices, and what subscripts sum."""

import random

import numpy
import pytest

import array_api_nx as xp
import array_api_nx.numpy as np
from tests.support.implementations import needs_native

pytestmark = needs_native

INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
NUMBERS = [*INTEGERS, "float32", "float64", "complex64", "complex128"]
SIZES = [1, 2, 3, 4, 5, 8, 17, 40]


def _numbers(rng, shape, dtype, most=5):
    x = rng.integers(-most, most + 1, shape)
    y = rng.integers(-most, most + 1, shape)
    with numpy.errstate(invalid="ignore"):
        return (x + 1j * y if "complex" in dtype else x).astype(dtype)


def _in_some_layout(choice, x):
    """An array with the shape of `x` and elements that lie apart, backwards, or by columns."""
    way = choice.randrange(5)
    if way == 0 and x.ndim > 1:
        x = numpy.repeat(x, 2, axis=1)[:, ::2]
    elif way == 1:
        x = x[::-1]
    elif way == 2 and x.ndim > 1:
        x = x.swapaxes(-1, -2).copy().swapaxes(-1, -2)
    elif way == 3:
        x = numpy.broadcast_to(x[:1], x.shape)
    return x


@pytest.mark.parametrize("dtype", INTEGERS)
def test_products_of_integers_wrap_around_as_numpys(dtype):
    choice, rng = random.Random(dtype), numpy.random.default_rng(0)
    limits = numpy.iinfo(dtype)
    for case in range(150):
        rows, terms, columns = (choice.choice(SIZES) for _ in range(3))
        lead = choice.choice([(), (), (3,), (2, 3), (1,)])
        other = choice.choice([(), lead, lead[-1:], (2, 1)])
        shapes = [
            (terms,) if case % 7 == 0 else (*lead, rows, terms),
            (terms,) if case % 11 == 0 else (*other, terms, columns),
        ]
        x, y = [
            _in_some_layout(choice, rng.integers(limits.min, limits.max, shape, dtype, True))
            for shape in shapes
        ]
        try:
            expected = x @ y
        except ValueError:
            continue  # stacks that do not broadcast
        ours = np.asarray(x) @ np.asarray(y)
        numpy.testing.assert_array_equal(numpy.asarray(ours), expected)
        if isinstance(expected, numpy.ndarray):
            out = np.ones(expected.shape, dtype)
            assert np.matmul(np.asarray(x), np.asarray(y), out=out) is out
            numpy.testing.assert_array_equal(numpy.asarray(out), expected)


@pytest.mark.parametrize("dtype", ["uint8", "int64"])
def test_large_products_of_integers(dtype):
    rng = numpy.random.default_rng(0)
    shapes = [
        ((300, 70), (70, 90)),
        ((2, 90_000), (90_000, 2)),
        ((90_000,), (90_000,)),
        ((50_000, 3), (3,)),
        ((3000, 3, 4), (3000, 4, 3)),
    ]
    for threads in (1, 2, 5):
        for shape, other in shapes:
            x, y = _numbers(rng, shape, dtype, 90), _numbers(rng, other, dtype, 90)
            with xp.config_context(num_threads=threads):
                ours = numpy.asarray(xp.asarray(x) @ xp.asarray(y))
            numpy.testing.assert_array_equal(ours, x @ y)


@pytest.mark.parametrize("dtype", NUMBERS)
def test_subscripts_mean_what_numpys_do(dtype):
    choice, rng = random.Random(dtype), numpy.random.default_rng(1)
    for case in range(300):
        sizes = {letter: choice.choice(SIZES[:-1]) for letter in "abcde"}
        count = choice.choice([1, 2, 2, 3, 3])
        terms = ["".join(choice.choices("abcde", k=choice.choice([1, 2, 3]))) for _ in range(count)]
        met = sorted(set("".join(terms)))
        if numpy.prod([sizes[letter] for letter in met]) > 20_000:
            continue
        result = "".join(choice.sample(met, choice.randint(0, len(met))))
        subscripts = ",".join(terms) + (f"->{result}" if case % 5 else "")
        arrays = [
            _in_some_layout(choice, _numbers(rng, [sizes[letter] for letter in term], dtype))
            for term in terms
        ]
        expected = numpy.einsum(subscripts, *arrays)
        ours = np.einsum(subscripts, *[np.asarray(x) for x in arrays])
        assert isinstance(ours, np.ndarray) == isinstance(expected, numpy.ndarray)
        assert ours.dtype == expected.dtype
        tolerance = 1e-12 if "float64" in dtype or "128" in dtype else 1e-5
        numpy.testing.assert_allclose(
            numpy.asarray(ours), expected, rtol=tolerance, atol=100 * tolerance, err_msg=subscripts
        )


@pytest.mark.parametrize(
    "subscripts", ["ij,ij->i", "ij,ij->j", "ij,ij->", "ij->i", "ij->j", "ij->", "ij,ij,ij->i"]
)
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128", "int16"])
def test_large_sums_have_the_same_bits_on_any_number_of_threads(dtype, subscripts):
    rng = numpy.random.default_rng(2)
    for shape in [(1000, 120), (3, 60_000), (60_000, 3), (300, 700)]:
        x = (rng.normal(size=shape) * (1 + 2j if "complex" in dtype else 9)).astype(dtype)
        operands = [np.asarray(x)] * (1 + subscripts.count(","))
        found = []
        for threads in (1, 2, 5):
            with xp.config_context(num_threads=threads):
                found.append(numpy.asarray(np.einsum(subscripts, *operands)))
        assert found[0].tobytes() == found[1].tobytes() == found[2].tobytes()
        wide = x.astype({"f": "float64", "c": "complex128"}.get(x.dtype.kind, dtype))
        expected = numpy.einsum(subscripts, *[wide] * len(operands))
        scale = numpy.einsum(subscripts, *[abs(wide.astype("complex128"))] * len(operands)).max()
        tolerance = 1e-4 if dtype in ("float32", "complex64") else 1e-13
        numpy.testing.assert_allclose(found[0], expected, rtol=0, atol=tolerance * scale)


def test_three_operands_whose_product_would_be_large_are_left_to_python():
    x = np.ones((300,))
    before = numpy.ones(300)
    assert np.einsum("i,j,k->", x, x, x) == numpy.einsum("i,j,k->", before, before, before)
    y = np.asarray(numpy.arange(90_000.0).reshape(300, 300))
    assert np.einsum("ai,bj,ab->ij", y[:2], y[:3], y[:2, :3]).shape == (300, 300)
