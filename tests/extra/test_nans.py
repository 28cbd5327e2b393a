"""Reductions and scans that leave NaN out, against NumPy's."""

import warnings
from itertools import product

import numpy as np
import pytest

import array_api_nx as xp
from tests.extra.everywhere import everywhere, layouts_of
from tests.support.refusals import refused
from tests.support.tables import for_each

SHAPES = ((7,), (1,), (), (4, 6), (3, 1, 5), (0, 3))
TOTALS = ("nansum", "nanprod")
MEANS = ("nanmean", "nanstd", "nanvar")
EXTREMES = ("nanmax", "nanmin")
INDICES = ("nanargmax", "nanargmin")
SCANS = ("nancumsum", "nancumprod")
REDUCTIONS = (*TOTALS, *MEANS, *EXTREMES, "nanmedian")


def values(dtype, shape, seed=0):
    """Numbers, a third of them NaN if the dtype has it."""
    rng = np.random.default_rng(seed)
    numbers = np.asarray(rng.integers(-9, 9, shape) / 2).astype(dtype)
    if numbers.dtype.kind == "c":
        numbers = numbers * dtype_one(1 - 2j, dtype)
    if numbers.dtype.kind in "fc":
        numbers = np.where(rng.random(shape) < 0.3, dtype_one(np.nan, dtype), numbers)
    return numbers


def dtype_one(value, dtype):
    return np.asarray(value).astype(dtype)[()]


def axes_of(shape):
    several = [(), (0, -1), (1, 0)] if len(shape) > 1 else []
    return [None, *range(-1 if shape else 0, len(shape)), *several]


def numpy_s(name, *args, **keywords):
    with warnings.catch_warnings(action="ignore"):
        try:
            return np.asarray(getattr(np, name)(*args, **keywords))
        except (ValueError, IndexError) as error:
            return error


def check(name, x, expected, **keywords):
    """The function of `x` gives the same result as NumPy's, or raises the same error."""
    call = getattr(xp.extra, name)
    with warnings.catch_warnings(action="ignore"):
        if isinstance(expected, Exception):
            refused(type(expected), None, call, x, **keywords)
            return
        found = call(x, **keywords)
    assert found.device == x.device
    rtol = 3e-6 if expected.dtype.itemsize // (1 + (expected.dtype.kind == "c")) == 4 else 1e-13
    np.testing.assert_allclose(
        np.asarray(found.to_device("cpu")), expected, rtol=rtol, atol=rtol, strict=True
    )


CASES = [
    *product((*TOTALS, *MEANS), ("float64", "float32", "complex64", "complex128", "int16")),
    *product((*EXTREMES, "nanmedian"), ("float64", "float32", "uint8", "bool")),
    *product(INDICES, ("float64", "float32", "int32", "bool")),
    *product(SCANS, ("float64", "float32", "complex128", "uint16", "bool")),
]


@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_as_numpy(name, dtype):
    for shape in SHAPES:
        x = values(dtype, shape)
        for axis in axes_of(shape):
            if name in (*INDICES, *SCANS) and isinstance(axis, tuple):
                continue
            for keywords in ({},) if name in SCANS else ({"keepdims": False}, {"keepdims": True}):
                expected = numpy_s(name, x, axis=axis, **keywords)
                for given in layouts_of(x):
                    check(name, given, expected, axis=axis, **keywords)


SOME = values("float64", (5, 12), seed=1)
SOME[0] = SOME[:, 0] = 1  # each row and column has a number
test_in_traces, test_on_devices = everywhere(
    {
        f"{name} along {axis}": lambda x, name=name, axis=axis: getattr(xp.extra, name)(x, axis)
        for name, axis in product([*REDUCTIONS, *INDICES, *SCANS], [None, 0, 1])
    },
    SOME,
)


@pytest.mark.parametrize("copy", [True, False])
@for_each("name", [*REDUCTIONS, *INDICES, *SCANS])
def test_large(name, copy):
    x = values("float64", (600, 500), seed=2)
    x[:, 7] = 0 if name in INDICES or name in SCANS else np.nan
    for axis in (None, 0, 1):
        expected = numpy_s(name, x, axis=axis)
        check(name, xp.asarray(x, copy=copy), expected, axis=axis)


@pytest.mark.parametrize("axis", [0, 1])
@for_each("name", [*REDUCTIONS, *INDICES, *SCANS])
def test_memory_of_others_may_be_written_afterwards(name, axis):
    x = np.ones((300_000, 2))
    x[5] = -np.inf, np.nan
    expected = numpy_s(name, x, axis=axis)
    found = quiet(lambda: getattr(xp.extra, name)(xp.asarray(x), axis=axis))
    x[:] = 7
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-12)


@pytest.mark.parametrize("name", TOTALS)
def test_dtype_of_totals(name):
    x = values("float32", (4, 3))
    for dtype in ("float64", "complex64"):
        check(name, xp.asarray(x), numpy_s(name, x, 0, dtype), axis=0, dtype=getattr(xp, dtype))
    assert getattr(xp.extra, name)(xp.asarray(x), 0, xp.float64).dtype is xp.float64


@pytest.mark.parametrize("name", MEANS)
def test_dtype_of_means(name):
    call = getattr(xp.extra, name)
    for source in ("float32", "int8"):
        x = values(source, (4, 3))
        # NumPy takes distances from the mean in the dtype of the array.
        found = call(xp.asarray(x), axis=0, dtype=xp.float64)
        expected = numpy_s(name, x, axis=0, dtype="f8")
        np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-6, strict=True)
        assert call(xp.asarray(x), 0, xp.float32).dtype is xp.float32
    with pytest.raises(TypeError, match="floating-point numbers, not int64; convert the result"):
        call(xp.ones(3), dtype=xp.int64)


@pytest.mark.parametrize("name", ["nanstd", "nanvar"])
def test_degrees_of_freedom(name):
    x = values("float64", (4, 6))
    for number in (1, 0.5, 4):
        expected = numpy_s(name, x, axis=0, ddof=number)
        check(name, xp.asarray(x), expected, axis=0, ddof=number)
        check(name, xp.asarray(x), expected, axis=0, correction=number)
    with pytest.raises(ValueError, match="two names of one number; give one"):
        getattr(xp.extra, name)(xp.asarray(x), ddof=1, correction=1)
    with pytest.raises(TypeError, match="must be an int or a float, not 'a'"):
        getattr(xp.extra, name)(xp.asarray(x), ddof="a")


def warned(call):
    """The texts of the warnings of a call, which name this file."""
    with warnings.catch_warnings(record=True, action="always") as caught:
        call()
    for each in caught:
        assert each.category is RuntimeWarning
        assert each.filename == __file__
    return [str(each.message) for each in caught]


@pytest.mark.parametrize("shape", [(2, 3), (2, 200_000), (400_000, 3)])
@for_each(
    ("name", "text"),
    [
        ("nanmean", "Mean of empty slice"),
        ("nanvar", "Degrees of freedom <= 0 for slice."),
        ("nanstd", "Degrees of freedom <= 0 for slice."),
        ("nanmax", "All-NaN slice encountered"),
        ("nanmin", "All-NaN slice encountered"),
        ("nanmedian", "All-NaN slice encountered"),
        ("nansum", ""),
    ],
)
def test_warnings(name, text, shape):
    x = np.ones(shape)
    x[0, 0] = np.nan
    call = getattr(xp.extra, name)
    assert warned(lambda: call(xp.asarray(x), axis=1)) == []
    x[0] = np.nan
    expected = [text] if text else []
    assert warned(lambda: call(xp.asarray(x), axis=1)) == expected
    assert warned(lambda: call(xp.asarray(x, copy=True), axis=1)) == expected
    assert warned(lambda: call(xp.asarray(x[0]))) == expected


def test_warnings_about_no_elements():
    for x in (xp.zeros((0, 3)), xp.zeros((0, 3), dtype=xp.int64)):
        for name in ("nanmean", "nanmedian"):
            assert warned(lambda: getattr(xp.extra, name)(x, axis=0)) == ["Mean of empty slice"]  # noqa: B023
            assert warned(lambda: getattr(xp.extra, name)(x, axis=1)) == []  # noqa: B023


@pytest.mark.parametrize("name", INDICES)
def test_indices_among_nothing_but_nan(name):
    call = getattr(xp.extra, name)
    x = xp.asarray([[1.0, np.nan], [np.nan, np.nan]])
    refused(ValueError, "All-NaN slice encountered", call, x, axis=1)
    # Among infinities of the worse sign NumPy gives the index of a NaN.
    worst = -np.inf if name == "nanargmax" else np.inf
    assert int(call(xp.asarray([np.nan, worst, np.nan]))) == 1


def test_infinities_are_numbers():
    x = xp.asarray([[np.inf, np.nan], [-np.inf, np.nan]])
    assert warned(lambda: xp.extra.nanmax(x, axis=1)) == []
    assert np.array_equal(np.asarray(xp.extra.nanmax(x, axis=1)), [np.inf, -np.inf])
    assert np.array_equal(np.asarray(xp.extra.nanmin(x, axis=1)), [np.inf, -np.inf])


@pytest.mark.parametrize("name", [*REDUCTIONS, *INDICES, *SCANS])
@xp.config_context(operands="strict")
def test_what_is_refused(name):
    call = getattr(xp.extra, name)
    with pytest.raises(
        TypeError, match=r"x must be an array_api_nx array.*convert it with asarray"
    ):
        call(np.ones(3))
    refused(IndexError, "axis", call, xp.ones((2, 3)), axis=2)
    if name in (*EXTREMES, *INDICES, "nanmedian"):
        refused(TypeError, "complex128", call, xp.ones(3, dtype=xp.complex128))


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize(
    "q", [0.3, 1.0, [0.25, 0.5], [0.1, 0.4, 0.6, 0.9], np.float32(0.3)], ids=str
)
def test_nanquantile(q, keepdims):
    for dtype in ("float64", "float32", "int32"):
        for shape in ((7,), (4, 6), (3, 1, 5)):
            x = values(dtype, shape)
            for axis in axes_of(shape):
                if axis == ():
                    continue
                for method in ("linear", "inverted_cdf", "weibull", "midpoint"):
                    keywords = {"axis": axis, "keepdims": keepdims, "method": method}
                    expected = numpy_s("nanquantile", x, q, **keywords)
                    assert isinstance(expected, np.ndarray)
                    found = quiet(lambda: xp.extra.nanquantile(xp.asarray(x), q, **keywords))  # noqa: B023
                    np.testing.assert_allclose(np.asarray(found), expected, rtol=3e-6, strict=True)


def quiet(call):
    with warnings.catch_warnings(action="ignore"):
        return call()


@pytest.mark.parametrize("share", [0.001, 0.9])
@pytest.mark.parametrize("size", [300, 50_000])
def test_medians_of_one_row_with_nan(size, share):
    rng = np.random.default_rng(size)
    x = rng.normal(size=size)
    x[rng.random(size) < share] = np.nan
    x[7] = np.nan
    for shape, options in (
        ((size,), {}),
        ((size,), {"keepdims": True}),
        ((10, -1), {"keepdims": True}),
        ((1, size), {"axis": 1}),
        ((size, 1, 1), {"axis": 0, "keepdims": True}),
    ):
        part = x.reshape(shape)
        for name in ("median", "nanmedian"):
            expected = np.asarray(getattr(np, name)(part, **options))
            found = getattr(xp.extra, name)(xp.asarray(part), **options)
            np.testing.assert_array_equal(np.asarray(found), expected, strict=True)
        for name in ("quantile", "nanquantile"):
            for q in (0.25, [0.1, 0.5, 1.0]):
                expected = np.asarray(getattr(np, name)(part, q, **options))
                found = getattr(xp.extra, name)(xp.asarray(part), q, **options)
                np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-12, strict=True)


def test_nanquantile_of_nothing_but_nan():
    x = np.array([[np.nan, np.nan], [1, 2]])
    text = ["All-NaN slice encountered"]
    assert warned(lambda: xp.extra.nanquantile(xp.asarray(x), 0.5, axis=1)) == text
    assert warned(lambda: xp.extra.nanquantile(xp.asarray(x[0]), 0.5)) == text
    found = quiet(lambda: xp.extra.nanquantile(xp.asarray(x), [0.0, 0.5], 1))
    np.testing.assert_array_equal(np.asarray(found), [[np.nan, 1], [np.nan, 1.5]])
