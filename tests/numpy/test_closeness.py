"""Arrays that are equal or close, by NumPy's formulas on arrays of the face."""

import warnings

import numpy
import pytest

import array_api_nx.numpy as np

DTYPES = ["float16", "float32", "float64", "complex64", "complex128", "int64", "bool"]
SIZES = [0, 1, 30, 3000, 40_000]


def elements(size, dtype, seed):
    rng = numpy.random.default_rng(seed)
    x = rng.normal(size=size) + (rng.normal(size=size) * 1j if dtype[0] == "c" else 0)
    if dtype[0] in "fc":
        x[rng.random(size) < 0.2] = numpy.nan
        x[rng.random(size) < 0.2] = numpy.inf
        x[rng.random(size) < 0.1] = -numpy.inf
    return x.astype(dtype)


def outcome(namespace, name, *args, **named):
    """The result and the warnings of a function, or its error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = getattr(namespace, name)(*args, **named)
        except Exception as error:
            return type(error), str(error)
    messages = sorted({str(warning.message) for warning in caught})
    kind = "array" if hasattr(result, "shape") and result.shape else type(result)
    return kind, numpy.asarray(result).tolist(), messages


def check(name, a, b, **named):
    ours = [np.asarray(x) if type(x) is numpy.ndarray else x for x in (a, b)]
    assert outcome(np, name, *ours, **named) == outcome(numpy, name, a, b, **named)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["isclose", "allclose", "array_equal"])
def test_results_are_numpys(name, dtype, size):
    a = elements(size, dtype, 1)
    near = a if dtype == "bool" else (a * (1 + 1e-6)).astype(dtype)
    wider = {"c": "complex128", "b": "int8"}.get(dtype[0], "float64")
    for b in (a, near, elements(size, dtype, 2), a.astype(wider)):
        check(name, a, b)
        check(name, a, b, equal_nan=True)
    for b in (a[:1], a.reshape(1, -1), a[: size // 2]):
        check(name, a, b)


@pytest.mark.parametrize("name", ["isclose", "allclose", "array_equal"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128", "int64"])
def test_numbers_and_lists_are_operands(dtype, name):
    a = elements(30, dtype, 3)
    for b in (1.0, 1, True, 0.5j, numpy.nan, numpy.inf, numpy.float64(1), [1.0] * 30, a[0], None):
        check(name, a, b)
        check(name, b, a)
    check(name, a[:1].reshape(()), a[0])


@pytest.mark.parametrize("name", ["isclose", "allclose"])
def test_tolerances(name):
    a, b = elements(30, "float64", 4), elements(30, "float64", 4) * (1 + 1e-4)
    for tolerance in (0.0, 1, 1e-3, numpy.inf, numpy.nan, -1.0, numpy.float32(0.1), [0.1] * 30):
        check(name, a, b, rtol=tolerance)
        check(name, a, b, atol=tolerance)
    check(name, a, b, rtol=0.1, atol=0.1)
    large = numpy.full(30, 1e308)
    check(name, large, -large)


def test_arrays_without_axes_give_scalars():
    a, b = np.asarray(1.0), np.asarray(1.0 + 1e-9)
    assert type(np.isclose(a, b)) is numpy.bool
    assert np.isclose(a, b)
    assert type(np.allclose(a, b)) is bool
    assert type(np.array_equal(a, b)) is bool


def test_parameters_have_numpys_names():
    a = np.ones(3)
    assert np.isclose(a=a, b=a).all()
    assert np.allclose(a=a, b=a)
    assert np.array_equal(a1=a, a2=a)
    with pytest.raises(TypeError):
        np.isclose(a)
