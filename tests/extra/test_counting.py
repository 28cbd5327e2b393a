"""How often values occur."""

import numpy as np
import pytest

import array_api_nx as xp
from tests.backends.engines.devices import device as find
from tests.extra.everywhere import DEVICES, agree, everywhere, on, ours, refuses
from tests.support.refusals import refused
from tests.support.tables import for_each


def numbers(dtype, shape, seed=0):
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return rng.random(shape) < 0.5
    found = rng.standard_normal(shape) * 30 if dtype[0] == "f" else rng.integers(0, 90, shape)
    return found.astype(dtype)


def host(x):
    return np.asarray(x.to_device("cpu"))


@for_each("size", [0, 1, 100, 300_001])
@pytest.mark.parametrize("dtype", ["int64", "int8", "uint32", "uint64", "bool"])
def test_bincount(dtype, size):
    x = numbers(dtype, size)
    for minlength in (0, 5, 200):
        expected = np.bincount(x.astype(np.int64), minlength=minlength)
        for given in (x, x[::-1]):
            result = xp.extra.bincount(xp.asarray(given), minlength=minlength)
            np.testing.assert_array_equal(result, expected, strict=True)


@pytest.mark.parametrize("size", [0, 7, 300_001])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int16", "uint64", "complex128"])
def test_bincount_of_weights(dtype, size):
    x, weights = numbers("int64", size), numbers("int16", size, 1).astype(dtype)
    if np.dtype(dtype).kind in "fc":
        weights /= 7
    if dtype == "complex128":
        weights = weights + 1j * numbers("float64", size, 1)
    result = xp.extra.bincount(xp.asarray(x), xp.asarray(weights), minlength=9)
    expected = np.bincount(x, weights.real, 9)
    if dtype == "complex128":
        expected = expected + 1j * np.bincount(x, weights.imag, 9)
    np.testing.assert_array_equal(result, expected.astype(dtype), strict=True)


def test_bincount_after_deferred_operations():
    x = numbers("int64", 600_000)
    deferred = xp.asarray(x, copy=True) // 2 + 1
    np.testing.assert_array_equal(xp.bincount(deferred), np.bincount(x // 2 + 1))


_, test_bincount_on_devices = everywhere(
    {
        "bincount": (lambda x: xp.extra.bincount(x, minlength=99), numbers("int32", 500)),
        "bincount of weights": (
            lambda x, weights: xp.extra.bincount(x, weights=weights, minlength=99),
            *(numbers("int32", 500), numbers("float64", 500)),
        ),
    }
)


@pytest.mark.parametrize("name", DEVICES)
def test_bincount_refuses_negative_numbers_on_devices(name):
    given = on(name, numbers("int32", 500))
    negative = given - 1 - xp.min(given)
    refused(ValueError, "least element is -1", lambda: host(xp.extra.bincount(negative)))


def test_chunks_are_counted_one_by_one():
    find("dask")
    device = xp.Device("dask", chunks="2kB")
    x, weights = numbers("int64", 1000) * 3, numbers("float64", 1000)
    given, added = xp.asarray(x, device=device), xp.asarray(weights, device=device) * 1
    np.testing.assert_array_equal(host(xp.bincount(given * 1)), np.bincount(x))
    found = host(xp.bincount(given, added, 999))
    np.testing.assert_allclose(found, np.bincount(x, weights, 999), rtol=1e-9, atol=1e-12)
    counts, _ = xp.extra.histogram(added, [-50, 0, 1, 60], weights=added)
    expected, _ = np.histogram(weights, [-50, 0, 1, 60], weights=weights)
    np.testing.assert_allclose(host(counts), expected, rtol=1e-9)


def test_bincount_in_compiled_functions():
    x = xp.asarray([1, 2, 1])
    refused(Exception, "the greatest one", xp.compile(xp.extra.bincount), x)
    spec = xp.eval_shape(lambda x: xp.extra.bincount(x) + 1, xp.ShapeSpec(("n",), xp.int32))
    assert repr(spec) == "ShapeSpec((k,), int64)"


@pytest.mark.parametrize(
    ("x", "options", "error", "words"),
    [
        ([[1, 2]], {}, ValueError, r"one dimension, not shape \(1, 2\); use reshape"),
        ([1, -2], {}, ValueError, "least element is -2"),
        ([1, -2], {"weights": [1.0, 2.0]}, ValueError, "least element is -2"),
        ([1, -2], {"weights": [1, 2]}, ValueError, "least element is -2"),
        ([1.0], {}, TypeError, "bincount takes integral dtypes, not float64"),
        ([1, 2], {"weights": [1.0]}, ValueError, "need the shape of x"),
        ([1], {"weights": [True]}, TypeError, "weights must be numeric, not bool"),
        ([1], {"minlength": -1}, ValueError, "minlength must not be negative, but is -1"),
        ([1], {"minlength": None}, TypeError, "minlength must be an int"),
    ],
)
def test_bincount_refuses(x, options, error, words):
    if "weights" in options:
        options = {"weights": xp.asarray(options["weights"])}
    refused(error, words, xp.extra.bincount, xp.asarray(x), **options)


@xp.config_context(operands="strict")
def test_bincount_takes_our_arrays_only():
    refused(TypeError, "asarray", xp.extra.bincount, np.ones(3, int))
    with pytest.raises(TypeError, match="weights must be an array_api_nx array"):
        xp.extra.bincount(xp.asarray([1]), np.ones(1))


BINS = [
    {},
    {"bins": 1},
    {"bins": 7, "range": (-20, 45.5)},
    {"bins": 33, "range": (5, 5)},
    {"bins": 40, "range": (-20, 45.5)},
    {"bins": 40, "range": (3, 3.5)},
    {"bins": 3, "range": (1, 2)},
    {"bins": 3, "range": (1000, 1001)},
    {"bins": [float(i) ** 1.5 for i in range(30)]},
    {"bins": [-40, -1, 3, 3, 50]},
    {"bins": [0.5, 60.25]},
    {"bins": 5, "density": True},
    {"bins": [-40, 0, 10, 70.0], "density": True},
]


@for_each("options", BINS)
@pytest.mark.parametrize("shape", [(0,), (1,), (13, 11), (300_001,)], ids=str)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8"])
def test_histogram(dtype, shape, options):
    x = numbers(dtype, shape)
    with np.errstate(all="ignore"):
        expected = np.histogram(x, **options)
        found = xp.extra.histogram(xp.asarray(x), **options)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other, strict=True)


@for_each("options", BINS)
@for_each("dtype", ["float64", "float32", "int16", "complex128"])
def test_histogram_of_weights(dtype, options):
    x, weights = numbers("float64", (40, 5)), numbers("int64", (40, 5), 1).astype(dtype)
    expected, _ = np.histogram(x, weights=weights, **options)
    counts, _ = xp.extra.histogram(xp.asarray(x), weights=xp.asarray(weights), **options)
    np.testing.assert_allclose(np.asarray(counts), expected, rtol=1e-6, strict=True)


def test_values_on_edges_are_counted_as_in_numpy():
    edges = np.linspace(-0.3, 1.1, 36)
    x = np.concatenate([edges, np.nextafter(edges, 2), np.nextafter(edges, -2)])
    for bounds in ((-0.3, 1.1), None):
        counts, found = xp.extra.histogram(xp.asarray(x), 35, bounds)
        expected, others = np.histogram(x, 35, bounds)
        np.testing.assert_array_equal(found, others)
        np.testing.assert_array_equal(counts, expected)


def test_nan_lies_in_no_bin():
    x = xp.asarray([np.nan, 1.0, 2.0, np.inf, -np.inf])
    for bins, bounds in (([0.0, 1.5, 3.0], None), (2, (0.0, 3.0)), (50, (0.0, 3.0))):
        counts, _ = xp.extra.histogram(x, bins, bounds)
        expected, _ = np.histogram([1.0, 2.0], bins, bounds)
        np.testing.assert_array_equal(counts, expected)


def test_edges_can_be_an_array():
    edges = xp.asarray([0.0, 1.0, 5.0], dtype=xp.float32)
    counts, found = xp.extra.histogram(xp.asarray([0.5, 1.0, 5.0]), edges)
    assert found is edges
    np.testing.assert_array_equal(counts, [1, 2])


def test_histogram_in_compiled_functions():
    @xp.compile
    def count(x, edges):
        return (
            *xp.extra.histogram(x, 6),
            *xp.extra.histogram(x, 20),
            *xp.extra.histogram(x, edges, weights=x),
        )

    edges = np.array([-9.0, 0, 3, 80])
    for size in (10, 400):
        x = numbers("float64", size)
        found = count(xp.asarray(x), xp.asarray(edges))
        expected = *np.histogram(x, 6), *np.histogram(x, 20), *np.histogram(x, edges, weights=x)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(np.asarray(one), other, rtol=1e-12)
    bins = xp.ShapeSpec(("m",), xp.float64)
    specs = xp.eval_shape(xp.extra.histogram, xp.ShapeSpec(("n",), xp.float32), bins)
    assert [repr(spec) for spec in specs] == ["ShapeSpec((m - 1,), int64)", f"{bins!r}"]
    specs = xp.eval_shape(lambda x: xp.extra.histogram(x, 4), xp.ShapeSpec(("n",), xp.float32))
    assert [repr(spec) for spec in specs] == ["ShapeSpec((4,), int64)", "ShapeSpec((5,), float32)"]


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"bins": 0}, ValueError, "bins is 0, but a histogram has at least one"),
        ({"bins": 1.5}, TypeError, "bins must be an int"),
        ({"bins": "auto"}, TypeError, "not 'auto'; compute edges by a rule"),
        ({"bins": [1.0]}, ValueError, r"1-D and at least 2, not of shape \(1,\)"),
        ({"bins": [1.0, 3.0, 2.0]}, ValueError, "must ascend; sort them"),
        ({"bins": [False, True]}, TypeError, "must be real, not bool"),
        ({"range": (2, 1)}, ValueError, r"finite and ascend, but is \(2, 1\)"),
        ({"range": (0, np.inf)}, ValueError, "finite and ascend"),
        ({"weights": [1.0]}, ValueError, "need the shape of x"),
    ],
)
def test_histogram_refuses(options, error, words):
    if "weights" in options:
        options = {"weights": xp.asarray(options["weights"])}
    refused(error, words, xp.extra.histogram, xp.asarray([1.0, 2.0]), **options)


def test_histogram_refuses_elements_without_a_range():
    for value in (np.nan, np.inf):
        with pytest.raises(ValueError, match="no finite width; give a range"):
            xp.extra.histogram(xp.asarray([1.0, value]))
    refused(TypeError, "not complex128; take abs or real", xp.extra.histogram, xp.asarray([1j]))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "bool"])
def test_histogramdd(dtype):
    rng = np.random.default_rng(8)
    for dimensions in (1, 2, 3):
        for count in (1, 2, 30):
            sample = np.round(rng.normal(size=(count, dimensions)), 1).astype(dtype)
            bins = [
                int(number) if rng.random() < 0.6 else np.sort(rng.normal(size=number + 1)).round(1)
                for number in rng.integers(1, 5, dimensions)
            ]
            weights = rng.random(count) if count > 2 else None
            bounds = [(-1.0, 1.0)] * dimensions if rng.random() < 0.4 else None
            density = bool(count > 2 and rng.random() < 0.3)
            with np.errstate(all="ignore"):
                counts, edges = xp.extra.histogramdd(
                    ours(sample),
                    [each if isinstance(each, int) else ours(each) for each in bins],
                    bounds,
                    density=density,
                    weights=None if weights is None else ours(weights),
                )
                expected = np.histogramdd(sample, bins, bounds, density=density, weights=weights)
            agree(counts, expected[0], (dimensions, count))
            for found, wanted in zip(edges, expected[1], strict=True):
                np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-6)
            columns = [ours(np.ascontiguousarray(column)) for column in sample.T]
            assert_same_counts(xp.extra.histogramdd(columns, 3)[0], np.histogramdd(sample, 3)[0])


def assert_same_counts(found, expected):
    assert found.dtype is xp.float64
    assert np.array_equal(np.asarray(found), expected)


def test_histogram2d():
    x, y = np.random.default_rng(9).random((2, 50))
    edges = [0.0, 0.25, 0.5, 1.0]
    for bins in (4, [2, 3], edges, [edges, 2]):
        counts, x_edges, y_edges = xp.extra.histogram2d(ours(x), ours(y), bins)
        expected = np.histogram2d(x, y, bins)
        assert_same_counts(counts, expected[0])
        agree((x_edges, y_edges), expected[1:], bins)
    counts, *_ = xp.histogram2d(ours(x), ours(y), xp.asarray(edges))
    assert_same_counts(counts, np.histogram2d(x, y, edges)[0])


def test_nan_and_what_is_outside_lie_in_no_box():
    sample = np.array([[0.5, 0.5], [np.nan, 0.5], [0.5, 9.0], [1.0, 1.0]])
    bounds = [(0.0, 1.0), (0.0, 1.0)]
    counts, _ = xp.extra.histogramdd(ours(sample), 2, bounds)
    assert_same_counts(counts, np.histogramdd(sample, 2, bounds)[0])


def counted(sample):
    counts, edges = xp.extra.histogramdd(sample, (3, 2))
    return counts, *edges


test_in_traces, test_on_devices = everywhere(
    {
        "histogramdd": (counted, (40, 2)),
        **{
            f"histogram {i}": (
                lambda x, options=options: xp.extra.histogram(x, **options),
                numbers("float64", 500),
            )
            for i, options in enumerate(BINS[:2] + BINS[4:8])
        },
    }
)


test_histogramdd_refuses = refuses(
    [
        (lambda x: xp.extra.histogramdd(x[0]), ValueError, r"points of shape \(N, D\)"),
        (lambda x: xp.extra.histogramdd(x, (2, 2, 2)), ValueError, "3 items for 2 coordinates"),
        (lambda x: xp.extra.histogramdd(x, 2, [None]), ValueError, "range has 1 items"),
        (lambda x: xp.extra.histogramdd(x, 0), ValueError, "at least one"),
        (lambda x: xp.extra.histogramdd(x, "auto"), ValueError, "4 items for 2"),
        (lambda x: xp.extra.histogramdd(x * 1j), TypeError, "real or bool, not complex128"),
        (lambda x: xp.extra.histogramdd(x, weights=x), ValueError, "weights need the shape"),
        (lambda x: xp.extra.histogramdd(x, weights=x[:, 0] * 1j), TypeError, "must be real"),
        (lambda x: xp.extra.histogramdd([x[:, 0], x[:2, 0]]), ValueError, "of one size"),
        (lambda x: xp.extra.histogramdd(np.ones((3, 2), "U1")), TypeError, "<U1"),
    ],
    lambda: xp.reshape(xp.arange(6.0), (3, 2)),
)
