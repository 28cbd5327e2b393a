"""Sums of products of elements by C are those of NumPy's einsum."""

import numpy
import pytest

import array_api_nx.numpy as np
from tests.support.implementations import needs_native

pytestmark = needs_native

_INTEGERS = [f"{kind}int{bits}" for kind in ("", "u") for bits in (8, 16, 32, 64)]
_FLOATS = ["float32", "float64", "complex64", "complex128"]
_PATTERNS = (
    *("ij,ij->i", "ij,ij->j", "ij,ij->", "ij,ji->i", "ij,ji->", "ijk,ijk->ki", "ijk,ikj->i"),
    *("ijk,jik->k", "i,i->", "ij,j->i", "i,ij->j", "ij,jk->ik", "ij,ij->ji", "ijk,k->ij"),
)
_LAYOUTS = {
    "rows": lambda x: x.copy(),
    "columns": lambda x: x.T.copy().T,
    "apart": lambda x: x.repeat(2, -1)[..., ::2],
    "backwards": lambda x: x[..., ::-1],
    "first backwards": lambda x: x[::-1],
    "repeated": lambda x: numpy.broadcast_to(x[:1], x.shape),
    "repeated last": lambda x: numpy.broadcast_to(x[..., :1], x.shape),
    "cut": lambda x: numpy.concatenate([x, x], -1)[..., : x.shape[-1]],
}


def _numbers(shape, dtype, rng):
    x = rng.integers(-100, 100, shape).astype(dtype)
    return x * (0.3 + 0.7j) if dtype.startswith("c") else x * 0.3 if dtype in _FLOATS else x


def _check(subscripts, x, y):
    found = np.einsum(subscripts, np.asarray(x), np.asarray(y))
    with numpy.errstate(all="ignore"):
        expected = numpy.einsum(subscripts, x, y)
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    assert isinstance(found, np.ndarray) == isinstance(expected, numpy.ndarray)
    found = numpy.asarray(found)
    if x.dtype.kind in "iu":
        assert numpy.array_equal(found, expected), subscripts
    else:
        eps = numpy.finfo(x.dtype).eps
        largest = numpy.einsum(subscripts, abs(x), abs(y)).max()
        wide = "c16" if x.dtype.kind == "c" else "f8"
        exact = numpy.einsum(subscripts, x.astype(wide), y.astype(wide))
        allowed = (64 + 4 * x.size**0.5) * eps * largest + 2 * abs(expected - exact).max()
        assert (abs(found - exact) <= allowed).all(), subscripts


@pytest.mark.parametrize("dtype", [*_INTEGERS, *_FLOATS])
@pytest.mark.parametrize("layout", _LAYOUTS)
@pytest.mark.parametrize("size", [1, 2, 3, 5, 17, 40])
def test_layouts(dtype, layout, size):
    rng = numpy.random.default_rng(size)
    for subscripts in _PATTERNS:
        terms = subscripts.partition("->")[0].split(",")
        x, y = (_numbers((size,) * len(term), dtype, rng) for term in terms)
        place = _LAYOUTS[layout]
        _check(subscripts, place(x), place(y))
        _check(subscripts, place(x), y)
        _check(subscripts, x, place(y))


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", *_FLOATS])
@pytest.mark.parametrize("shape", [(300, 400), (3, 70_001), (70_001, 3), (2, 9, 9_001)])
def test_many_on_several_threads(dtype, shape):
    rng = numpy.random.default_rng(0)
    letters = "ijk"[: len(shape)]
    for result in ("", letters[0], letters[-1], letters[:-1], letters[::-1][:-1]):
        x, y = (_numbers(shape, dtype, rng) for _ in range(2))
        subscripts = f"{letters},{letters}->{result}"
        _check(subscripts, x, y)
        _check(subscripts, x[::-1], x[::-1])
        _check(subscripts, x.T.copy().T, y)


@pytest.mark.parametrize("dtype", _FLOATS)
def test_special_numbers(dtype):
    special = numpy.array([0.0, -0.0, 1, numpy.inf, -numpy.inf, numpy.nan, 1e30], dtype)
    with numpy.errstate(all="ignore"):
        for length in (1, 3, 6, 20, 100):
            x = numpy.ones((7, 7, length), dtype)
            x[:, :, length // 2] = special[:, None]
            y = numpy.ones((7, 7, length), dtype)
            y[:, :, length // 2] = special
            for subscripts in ("ijk,ijk->ij", "ijk,ijk->k", "ijk,ijk->"):
                found = numpy.asarray(np.einsum(subscripts, np.asarray(x), np.asarray(y)))
                expected = numpy.einsum(subscripts, x, y)
                for part in ("real", "imag"):
                    a, b = getattr(found, part), getattr(expected, part)
                    assert numpy.array_equal(numpy.isnan(a), numpy.isnan(b))
                    assert numpy.allclose(a, b, rtol=1e-5, equal_nan=True)
                    assert numpy.array_equal(numpy.signbit(a[a == 0]), numpy.signbit(b[b == 0]))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_long_sums_are_as_accurate(dtype):
    rng = numpy.random.default_rng(1)
    x, y = (rng.standard_normal((2, 200_000)).astype(dtype) for _ in range(2))
    wide = "clongdouble" if dtype.startswith("c") else "longdouble"
    exact = (x.astype(wide) * y.astype(wide)).sum(1)
    found = numpy.asarray(np.einsum("ij,ij->i", np.asarray(x), np.asarray(y)))
    numpys = abs(numpy.einsum("ij,ij->i", x, y) - exact)
    allowed = numpy.finfo(dtype).eps * 200_000**0.5 * 10
    assert (abs(found - exact) <= numpy.maximum(numpys, allowed)).all()


def test_the_axes_of_results_lie_as_numpys():
    x = numpy.ones((4, 5, 6))
    for layout in (x, x.T.copy().T):
        for subscripts in ("ijk,ijk->ij", "ijk,ijk->ji", "ijk,ijk->jk", "ijk,ijk->kj"):
            expected = numpy.einsum(subscripts, layout, layout)
            found = np.einsum(subscripts, np.asarray(layout), np.asarray(layout))
            assert numpy.asarray(found).strides == expected.strides


def test_booleans_and_half_precision_are_numpys():
    x = numpy.arange(20).reshape(4, 5) % 3
    for dtype in ("bool", "float16"):
        y = x.astype(dtype)
        for subscripts in ("ij,ij->i", "ij,ij->", "ij,ij->ij", "ij->j"):
            operands = [y] * (1 + subscripts.count(","))
            found = np.einsum(subscripts, *map(np.asarray, operands))
            expected = numpy.einsum(subscripts, *operands)
            assert found.dtype == expected.dtype
            assert numpy.array_equal(found, expected)
