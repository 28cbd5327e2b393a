"""The generator: the same bits everywhere, NumPy's methods, state, statistics and errors."""

import copy
import pickle
import threading
from functools import partial
from math import erf
from typing import Any

import numpy as np
import pytest
from numpy.random import SeedSequence

import array_api_nx as xp
from array_api_nx.contract import exact_functions as exact
from tests.backends.engines.devices import device
from tests.extra.everywhere import DEVICES, assert_same
from tests.support.processes import needs_fork, status_of_child
from tests.support.refusals import refused
from tests.support.tables import for_each

Rng = Any

# Most draws have 60 elements, because JAX compiles every operation for every shape.
DRAWS = {
    "random": lambda r: r.random((3, 20)),
    "random float32": lambda r: r.random(33, dtype="float32"),
    "standard_normal": lambda r: r.standard_normal((6, 10)),
    "standard_normal float32": lambda r: r.standard_normal(33, dtype=xp.float32),
    "uniform": lambda r: r.uniform(-2, 5, (3, 20)),
    "normal": lambda r: r.normal(3, 0.25, 60),
    "integers": lambda r: r.integers(-5, 1000, (6, 10)),
    "integers int8": lambda r: r.integers(-128, 127, 60, dtype="int8", endpoint=True),
    "integers wide": lambda r: r.integers(-(2**62), 2**62, 60),
    "integers uint64": lambda r: r.integers(2**64, size=60, dtype="uint64"),
    "integers between arrays": lambda r: r.integers(*on(r, [-3, 5], [[9], [7]])),
    "integers between far arrays": lambda r: r.integers(
        *on(r, [-(2**63), 5], [2**63 - 1, 5]), size=(30, 2), endpoint=True
    ),
    "exponential": lambda r: r.exponential(2.5, 60),
    "standard_gamma": lambda r: r.standard_gamma(*on(r, [2.5, 0.25]), (8, 2)),
    "beta": lambda r: r.beta(0.5, *on(r, [3.0, 0.7])),
    "poisson": lambda r: r.poisson(*on(r, [0.5, 31.0])),
    "binomial": lambda r: r.binomial(*on(r, [12, 10**6]), 0.7),
    "permutation": lambda r: r.permutation(60),
    "choice": lambda r: r.choice(9, (3, 20)),
    "choice with probabilities": lambda r: r.choice(4, 60, p=[0.1, 0.2, 0.3, 0.4]),
    "choice without replacement": lambda r: r.choice(60, 20, replace=False),
    "choice of few": lambda r: r.choice(4, 2, replace=False, p=[0.5, 0.5, 0, 0]),
}

LARGE = {
    "random": lambda r: r.random(200_001),
    "normal float32": lambda r: r.standard_normal(150_001, dtype="float32"),
    "integers": lambda r: r.integers(2**31, size=150_000),
}


def on(rng, *values):
    """Arrays on the generator's device."""
    return tuple([xp.asarray(value, device=rng.device) for value in values])


@pytest.mark.parametrize("name", [*DEVICES, "dask:chunks=100B"])
@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS.keys())
def test_the_same_bits_on_every_device(draw, name):
    place = device(name)
    ours, other = xp.random.default_rng(5), xp.random.default_rng(5, device=place)
    for _ in range(2):  # the second one from where the first one ended
        found = draw(other)
        assert found.device is place
        assert_same(found.to_device("cpu"), draw(ours))


@pytest.mark.parametrize("name", [*DEVICES, "dask:chunks=64KiB"])
@pytest.mark.parametrize("draw", LARGE.values(), ids=LARGE.keys())
def test_the_same_bits_of_large_draws(draw, name):
    found = draw(xp.random.default_rng(5, device=device(name)))
    assert_same(found.to_device("cpu"), draw(xp.random.default_rng(5)))


@pytest.mark.parametrize(
    "draw", [*DRAWS.values(), *LARGE.values()], ids=[*DRAWS, *[f"large {name}" for name in LARGE]]
)
def test_the_same_bits_on_every_number_of_threads(draw):
    with xp.config_context(num_threads=1):
        expected = np.asarray(draw(xp.random.default_rng(8)))
    with xp.config_context(num_threads=2):
        assert_same(draw(xp.random.default_rng(8)), expected)
    with xp.config_context(fusion_threshold=0):
        assert_same(draw(xp.random.default_rng(8)), expected)


@pytest.mark.parametrize("name", DEVICES)
def test_numbers_are_made_where_the_parameters_are(name):
    place = device(name)
    loc = xp.asarray([1.0, 2.0], device=place)
    rng = xp.random.default_rng(5)
    for found in (
        rng.normal(loc, 1.0, (3, 2)),
        rng.integers(xp.asarray([3, 4], device=place)),
        rng.exponential(loc),
    ):
        assert found.device is place


@pytest.mark.parametrize("span", [100, 2**40, 2**64 - 2**10])
@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_integers_between_arrays_are_those_between_ints(dtype, span):
    low = 5 if dtype == "uint64" else -(2**62)
    if low + span > xp.iinfo(dtype).max:
        span //= 4
    expected = xp.random.default_rng(3).integers(low, low + span, 9, dtype)
    lows, highs = xp.full(9, low, dtype=dtype), xp.full(9, low + span, dtype=dtype)
    for bounds in ((lows, highs), (lows, low + span), (low, highs)):
        assert_same(xp.random.default_rng(3).integers(*bounds, dtype=dtype), expected)
        found = xp.random.default_rng(3).integers(bounds[0], bounds[1] - 1, 9, dtype, endpoint=True)
        assert_same(found, expected)


def test_elements_are_drawn_by_their_own_parameters():
    def drawn(name, *parameters):
        return np.asarray(getattr(xp.random.default_rng(6), name)(*parameters, (500, 2)))

    for name, one, other, rest in (
        ("poisson", 3.0, 50.0, ()),
        ("binomial", 15, 100, (0.4,)),
        ("standard_gamma", 0.5, 7.0, ()),
        ("beta", 0.5, 7.0, (2.0,)),
        ("normal", 0.5, 7.0, (2.0,)),
        ("exponential", 0.5, 7.0, ()),
    ):
        both = drawn(name, xp.asarray([one, other]), *rest)
        assert_same(both[:, 0], drawn(name, one, *rest)[:, 0])
        assert_same(both[:, 1], drawn(name, other, *rest)[:, 1])


def test_shapes_of_almost_zero():
    """Their logarithms are beyond all numbers, and the difference of two of them is none, which
    UndefinedBehaviorSanitizer must not see converted to an integer."""
    rng = xp.random.default_rng(8)
    assert_same(rng.standard_gamma(5e-324, 100), np.zeros(100))
    shares = np.asarray(rng.beta(5e-324, 5e-324, 100))
    assert (np.isnan(shares) | ((shares >= 0) & (shares <= 1))).all()


def test_bits_do_not_change_between_versions():
    rng = xp.random.default_rng(7)
    words = np.frombuffer(rng.bytes(16), "<u4").tolist()
    key = SeedSequence(7).generate_state(2, np.uint32)
    backend = xp.Device("cpu").backend
    blocks = backend.threefry(
        backend.from_host(key, copy=True),
        backend.from_host(np.array([[0, 0], [1, 0]], np.uint32), copy=True),
    )
    assert words == backend.to_host(blocks).ravel().tolist()


def test_seeds():
    def first(seed):
        return float(xp.random.default_rng(seed).random())

    assert first(3) == first(np.int64(3)) == first(SeedSequence(3))
    assert first([1, 2]) == first((1, 2))
    assert len({first(seed) for seed in (0, 1, 2**70, (1, 2), (2, 1), None, None)}) == 7
    rng = xp.random.default_rng(3)
    assert xp.random.default_rng(rng) is rng


@pytest.mark.parametrize(
    "duplicate", [copy.copy, copy.deepcopy, lambda r: pickle.loads(pickle.dumps(r))]
)
def test_copies_go_on_from_the_state(duplicate):
    rng = xp.random.default_rng(1)
    rng.random(5)
    other = duplicate(rng)
    assert_same(other.standard_normal(7), rng.standard_normal(7))
    rng.random()
    assert float(other.random()) != float(rng.random())


def test_spawned_generators_differ():
    rng = xp.random.default_rng(1, device="cpu")
    state = repr(rng)
    children = [*rng.spawn(2), *rng.spawn(1)]
    assert repr(rng) == state
    assert len({float(each.random()) for each in (rng, *children)}) == 4
    assert children[0].device is rng.device
    expected = SeedSequence(1).spawn(1)[0]
    assert float(rng.spawn(0) == [] and xp.random.default_rng(expected).random()) == float(
        xp.random.default_rng(1).spawn(1)[0].random()
    )


ERRORS = [
    (lambda r: xp.random.default_rng(-1), ValueError, "negative"),
    (lambda r: xp.random.default_rng("abc"), TypeError, "a seed is"),
    (lambda r: xp.random.default_rng(1.5), TypeError, "a seed is"),
    (lambda r: xp.random.default_rng([1, -2]), ValueError, "negative"),
    (lambda r: xp.random.default_rng(r, device="cpu"), ValueError, "device of its own"),
    (lambda r: r.random(-1), ValueError, "negative"),
    (lambda r: r.random(1.5), TypeError, "size"),
    (lambda r: r.random((2, "a")), TypeError, "size"),
    (lambda r: r.random(3, dtype="int64"), TypeError, "float32 or float64"),
    (lambda r: r.standard_normal(3, dtype="complex128"), TypeError, "float32 or float64"),
    (lambda r: r.uniform(3, 1), ValueError, "high - low"),
    (lambda r: r.uniform(-1e308, 1e308), ValueError, "finite"),
    (lambda r: r.normal(0, -1), ValueError, "scale"),
    (lambda r: r.normal(float("nan")), ValueError, "loc"),
    (lambda r: r.normal(np.zeros(3)), TypeError, "asarray"),
    (lambda r: r.normal(xp.zeros(3), size=4), ValueError, "broadcast"),
    (lambda r: r.exponential(-1), ValueError, "scale"),
    (lambda r: r.standard_gamma(0), ValueError, "shape must be above 0"),
    (lambda r: r.standard_gamma(xp.asarray([1.0, 0.0])), ValueError, "shape must be above 0"),
    (lambda r: r.standard_gamma(xp.ones(3), 4), ValueError, "broadcast"),
    (lambda r: r.beta(1, float("inf")), ValueError, "b must be above 0 and at most"),
    (lambda r: r.poisson(-1.0), ValueError, "lam must be at least 0"),
    (lambda r: r.poisson(1e19), ValueError, "at most 9.2"),
    (lambda r: r.poisson(float("nan")), ValueError, "lam"),
    (lambda r: r.poisson(xp.ones(2) * 1j), TypeError, "real"),
    (lambda r: r.binomial(-1, 0.5), ValueError, "n must be at least 0"),
    (lambda r: r.binomial(2.5, 0.5), TypeError, "an int"),
    (lambda r: r.binomial(xp.ones(2), 0.5), TypeError, "integers"),
    (lambda r: r.binomial(3, xp.asarray([0.5, 1.5])), ValueError, "p must be at least 0 and at"),
    (lambda r: r.multivariate_normal([1, 2], [[1, 2]]), ValueError, r"\(N, N\)"),
    (lambda r: r.multivariate_normal([1, 2, 3], [[1, 0], [0, 1]]), ValueError, "mean must be"),
    (lambda r: r.multivariate_normal([1], [[1]], -1), ValueError, "negative"),
    (lambda r: r.multivariate_normal([1], [[1j]]), TypeError, "real"),
    (lambda r: r.multivariate_normal([1], [[np.inf]]), ValueError, "finite"),
    (lambda r: r.multivariate_normal([1], [[1]], method="lu"), ValueError, "method"),
    (lambda r: r.multivariate_normal([1], [[1]], check_valid="no"), ValueError, "check_valid"),
    (
        lambda r: r.multivariate_normal([0, 0], [[1, 2], [2, 1]], method="cholesky"),
        ValueError,
        "definite",
    ),
    (
        lambda r: r.multivariate_normal([0, 0], [[1, 2], [2, 1]], check_valid="raise"),
        ValueError,
        "semidefinite",
    ),
    (lambda r: r.integers(0), ValueError, "no integers"),
    (lambda r: r.integers(5, 5), ValueError, "no integers"),
    (lambda r: r.integers(300, dtype="uint8"), ValueError, "does not hold"),
    (lambda r: r.integers(1.5), TypeError, "an int"),
    (lambda r: r.integers(xp.asarray([3, 0])), ValueError, "no integers"),
    (lambda r: r.integers(5, xp.asarray([9, 5])), ValueError, "no integers"),
    (lambda r: r.integers(xp.asarray([3.0])), TypeError, "integers, not float64"),
    (lambda r: r.integers(np.asarray([3])), TypeError, "asarray"),
    (lambda r: r.integers(xp.asarray([300]), dtype="uint8"), ValueError, "does not hold"),
    (lambda r: r.integers(xp.asarray([2**63], dtype="uint64")), ValueError, "endpoint=True"),
    (lambda r: r.integers(xp.asarray([3, 4]), size=3), ValueError, "broadcast"),
    (lambda r: r.integers(3, dtype="float64"), TypeError, "integer dtype"),
    (lambda r: r.bytes(-1), ValueError, "negative"),
    (lambda r: r.permutation(-1), ValueError, "permutations"),
    (lambda r: r.permutation([1, 2]), TypeError, "asarray"),
    (lambda r: r.permuted([1, 2]), TypeError, "asarray"),
    (lambda r: r.shuffle([1, 2]), TypeError, "asarray"),
    (lambda r: r.permuted(xp.ones(3), axis=1), IndexError, "axis"),
    (lambda r: r.choice(0, 1), ValueError, "nothing to choose"),
    (lambda r: r.choice(3, 4, replace=False), ValueError, "replace=True"),
    (lambda r: r.choice(2, 2, p=[0.5, 0.4]), ValueError, "sum to 1"),
    (lambda r: r.choice(2, 2, p=[1.5, -0.5]), ValueError, "at least 0"),
    (lambda r: r.choice(2, 2, p=[1.0]), ValueError, "shape"),
    (lambda r: r.choice(3, 2, replace=False, p=[0, 0, 1]), ValueError, "replace=True"),
    (lambda r: r.spawn(-1), ValueError, "n_children must not be negative"),
    (lambda r: xp.eval_shape(lambda x: r.random(3), xp.ones(3)), TypeError, "traced"),
]


@for_each(("call", "kind", "words"), ERRORS)
@xp.config_context(operands="strict")
def test_errors_leave_the_state_as_it_was(call, kind, words):
    rng = xp.random.default_rng(1)
    state = repr(rng)
    refused(kind, words, call, rng)
    assert repr(rng) == state


def test_shapes_and_dtypes():
    rng = xp.random.default_rng(2)
    for size, shape in ((None, ()), (3, (3,)), ((2, 0), (2, 0)), ((), ()), ([2, 3], (2, 3))):
        assert rng.random(size).shape == rng.integers(9, size=size).shape == shape
        assert rng.normal(size=size).shape == rng.choice(5, size).shape == shape
    assert rng.random().dtype == rng.normal().dtype == rng.uniform().dtype == xp.float64
    assert rng.random(2, dtype="float32").dtype == xp.float32
    for dtype in (xp.int8, xp.uint16, xp.int32, xp.uint64):
        assert rng.integers(100, size=2, dtype=dtype).dtype == dtype
    assert len(rng.bytes(7)) == 7
    assert rng.bytes(0) == b""
    assert rng.normal(xp.zeros((3, 1)), xp.ones(4)).shape == (3, 4)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_random_is_even(dtype):
    values = np.asarray(xp.random.default_rng(11).random(200_000, dtype=dtype), np.float64)
    assert 0 <= values.min() < 1e-4
    assert 1 - 1e-4 < values.max() < 1
    assert _chi_square(np.histogram(values, 100, (0, 1))[0], np.full(100, 2000.0)) < 4
    assert abs(np.corrcoef(values[1:], values[:-1])[0, 1]) < 0.01
    assert abs(np.corrcoef(values[2:], values[:-2])[0, 1]) < 0.01


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_standard_normal_is_normal(dtype):
    count = 400_000
    values = np.asarray(xp.random.default_rng(12).standard_normal(count, dtype=dtype), np.float64)
    for power, moment in ((1, 0), (2, 1), (3, 0), (4, 3), (6, 15)):
        spread = np.std(values**power) / count**0.5
        assert abs(np.mean(values**power) - moment) < 4 * spread
    edges = np.linspace(-4.0, 4.0, 81)

    shares = np.diff([(1 + erf(edge / 2**0.5)) / 2 for edge in edges])
    assert _chi_square(np.histogram(values, edges)[0], count * shares) < 4
    assert abs(np.corrcoef(values[1:], values[:-1])[0, 1]) < 0.01


@pytest.mark.parametrize(("dtype", "rtol"), [("float32", 2e-6), ("float64", 2e-15)])
def test_standard_normal_has_the_quantiles(dtype, rtol):
    special = pytest.importorskip("scipy.special")
    values = np.asarray(xp.random.default_rng(12).standard_normal(100_000, dtype=dtype))
    if dtype == "float32":
        raw = np.frombuffer(xp.random.default_rng(12).bytes(400_000), "<u4")
        beyond = ((raw >> 2) * 2.0 + 1) / 2**32
    else:
        raw = np.frombuffer(xp.random.default_rng(12).bytes(800_000), "<u4")
        beyond = ((raw[1::2] >> 1) * 2.0**31 + ((raw[::2] >> 1) | 1)) / 2**63
        raw = raw[1::2]
    expected = np.where(raw & 1, 1, -1) * special.ndtri(beyond)
    near = abs(expected) < 0.1  # where 0.5 - p has few digits
    np.testing.assert_allclose(values[~near], expected[~near], 20 * rtol)
    np.testing.assert_allclose(values[near], expected[near], 0, rtol)


@pytest.mark.parametrize(
    ("draw", "cumulative", "edges"),
    [
        (lambda r, n: r.exponential(2.0, n), ("gammainc", 1.0, 0.5), np.linspace(0, 9, 40)),
        (lambda r, n: r.standard_gamma(0.3, n), ("gammainc", 0.3, 1), np.linspace(0, 2, 40)),
        (lambda r, n: r.standard_gamma(4.5, n), ("gammainc", 4.5, 1), np.linspace(0, 12, 40)),
        (lambda r, n: r.beta(0.5, 2, n), ("betainc", 0.5, 2), np.linspace(0, 0.95, 40)),
        (lambda r, n: r.beta(3, 1.5, n), ("betainc", 3, 1.5), np.linspace(0, 1, 40)),
    ],
)
def test_distributions(draw, cumulative, edges):
    special = pytest.importorskip("scipy.special")
    count = 100_000
    values = np.asarray(draw(xp.random.default_rng(21), count))
    assert values.dtype == np.float64
    name, first, second = cumulative
    if name == "betainc":
        shares, mean = special.betainc(first, second, edges), first / (first + second)
    else:
        shares, mean = special.gammainc(first, second * edges), first / second
    assert abs(values.mean() - mean) < 4 * values.std() / count**0.5
    counts = np.histogram(values, edges)[0]
    assert _chi_square(counts, count * np.diff(shares)) < 4
    assert abs(np.corrcoef(values[1:], values[:-1])[0, 1]) < 0.015


@pytest.mark.parametrize("mean", [0.4, 9.9, 10.0, 33.0, 1e5])
def test_poisson(mean):
    special = pytest.importorskip("scipy.special")
    values = np.asarray(xp.random.default_rng(22).poisson(mean, 60_000))
    _check_whole(values, mean, mean**0.5, lambda k: special.pdtr(k, mean))


@pytest.mark.parametrize(
    ("n", "p"), [(8, 0.3), (24, 0.41), (20, 0.5), (3000, 0.9), (90, 0.97), (10**9, 0.2)]
)
def test_binomial(n, p):
    special = pytest.importorskip("scipy.special")
    values = np.asarray(xp.random.default_rng(23).binomial(n, p, 60_000))
    assert values.max() <= n
    deviation = (n * p * (1 - p)) ** 0.5
    _check_whole(values, n * p, deviation, lambda k: special.betaincc(k + 1.0, n - k, p), n)


def _check_whole(values, mean, deviation, cumulative, most=2.0**62):
    assert values.dtype == np.int64
    assert abs(values.mean() - mean) < 4 * deviation / len(values) ** 0.5
    ends = np.unique(np.floor(mean + deviation * np.linspace(-2.5, 2.5, 40)))
    ends = ends[(ends >= 0) & (ends < most)]
    shares = np.diff(np.concatenate([[0.0], cumulative(ends), [1.0]]))
    counts = np.histogram(values, np.concatenate([[-0.5], ends + 0.5, [2.0**62]]))[0]
    assert counts.sum() == len(values)
    assert _chi_square(counts, shares * len(values)) < 4
    assert abs(np.corrcoef(values[1:], values[:-1])[0, 1]) < 0.015


def test_whole_numbers_at_their_limits():
    rng = xp.random.default_rng(24)
    assert np.asarray(rng.poisson(0.0, 5)).tolist() == [0] * 5
    assert np.asarray(rng.binomial(7, xp.asarray([0.0, 1.0]))).tolist() == [0, 7]
    assert np.asarray(rng.binomial(0, 0.5, 3)).tolist() == [0] * 3
    for mean in (1e15, 9.2e18):
        values = np.asarray(rng.poisson(mean, 500), np.float64)
        assert abs((values - mean).mean()) < 4 * (mean / 500) ** 0.5
        assert 0.8 < values.std() / mean**0.5 < 1.2
    values = np.asarray(rng.binomial(2**53, 0.5, 500), np.float64)
    assert 0.8 < values.std() / 2**25.5 < 1.2


@pytest.mark.parametrize("method", ["svd", "eigh", "cholesky"])
def test_multivariate_normal(method):
    mean, cov = [1.0, -2.0, 0.5], [[2.0, 1.0, 0.0], [1.0, 3.0, -1.0], [0.0, -1.0, 1.5]]
    rng = xp.random.default_rng(25)
    values = rng.multivariate_normal(mean, xp.asarray(cov), (200, 200), method=method)
    assert values.shape == (200, 200, 3)
    rows = np.asarray(values).reshape(-1, 3)
    np.testing.assert_allclose(rows.mean(0), mean, atol=0.05)
    np.testing.assert_allclose(np.cov(rows.T), cov, atol=0.1)
    assert rng.multivariate_normal(mean, cov).shape == (3,)


def test_covariances_that_are_none_warn():
    rng = xp.random.default_rng(26)
    with pytest.warns(RuntimeWarning, match="semidefinite"):
        rng.multivariate_normal([0, 0], [[1, 2], [2, 1]])
    rng.multivariate_normal([0, 0], [[1, 2], [2, 1]], check_valid="ignore")


@pytest.mark.parametrize("name", DEVICES)
def test_multivariate_normal_agrees_on_every_device(name):
    mean = xp.asarray([1.0, 2.0], device=device(name))
    found = xp.random.default_rng(27).multivariate_normal(mean, [[2, 1], [1, 3]], 30)
    expected = xp.random.default_rng(27).multivariate_normal([1, 2], [[2, 1], [1, 3]], 30)
    assert found.device is mean.device
    np.testing.assert_allclose(np.asarray(found.to_device("cpu")), np.asarray(expected), 1e-14)


def test_integers_are_even():
    values = np.asarray(xp.random.default_rng(13).integers(-3, 4, 70_000))
    counts = np.bincount(values + 3)
    assert len(counts) == 7
    assert _chi_square(counts, np.full(7, 10_000.0)) < 4
    wide = np.asarray(xp.random.default_rng(13).integers(0, 3 * 2**61, 60_000))
    assert _chi_square(np.histogram(wide, 30, (0, 3 * 2**61))[0], np.full(30, 2000.0)) < 4


def test_orders_are_even():
    rng = xp.random.default_rng(14)
    rows = xp.broadcast_to(xp.arange(3), (12_000, 3))
    found = np.asarray(rng.permuted(rows, axis=1))
    assert (np.sort(found, 1) == [0, 1, 2]).all()
    counts = np.bincount(found @ [9, 3, 1])
    assert _chi_square(counts[counts > 0], np.full(6, 2000.0)) < 4


def test_parts_keep_together():
    rng = xp.random.default_rng(15)
    x = xp.reshape(xp.arange(24), (4, 6))
    for axis in (0, 1, -1):
        moved = np.asarray(rng.permutation(x, axis))
        wholes = np.sort(moved, axis)
        assert (wholes == np.sort(np.asarray(x), axis)).all()
        assert (
            np.diff(moved, axis=1 - axis % 2) == np.diff(np.asarray(x), axis=1 - axis % 2)
        ).all()
        shuffled = xp.asarray(x, copy=True)
        assert rng.shuffle(shuffled, axis) is None
        assert (np.sort(np.asarray(shuffled), axis) == wholes).all()
        assert rng.choice(x, (2, 5), axis=axis).shape == ((2, 5, 6) if axis == 0 else (4, 2, 5))
    assert sorted(np.asarray(rng.permuted(x)).ravel().tolist()) == list(range(24))


def test_choice_follows_the_probabilities():
    rng = xp.random.default_rng(16)
    p = np.array([0.1, 0, 0.4, 0.5])
    counts = np.bincount(np.asarray(rng.choice(4, 20_000, p=p)), minlength=4)
    assert counts[1] == 0
    assert _chi_square(counts[p > 0], 20_000 * p[p > 0]) < 4
    few = [tuple(rng.choice(4, 2, replace=False, p=p).to_device("cpu")) for _ in range(200)]
    assert all(int(one) != int(other) and 1 not in (int(one), int(other)) for one, other in few)
    alone = np.asarray(rng.choice(10, 10, replace=False))
    assert sorted(alone.tolist()) == list(range(10))


def _chi_square(counts, expected):
    """Distance from the expected counts, in standard deviations of the chi-square distribution."""
    freedom = len(counts) - 1
    return float((np.sum((counts - expected) ** 2 / expected) - freedom) / (2 * freedom) ** 0.5)


def test_exact_functions():
    rng = np.random.default_rng(3)
    below = -rng.exponential(50, 5000)
    values = exact.exact_exp(below, np.floor, np.where)
    np.testing.assert_allclose(values, np.exp(below), 1e-15)
    limits = exact.exact_exp(np.array([0.0, -1e4]), np.floor, np.where)
    assert limits.tolist() == [1, 0]
    positive = rng.lognormal(0, 50, 5000)
    found = exact.exact_log(positive, xp.float64, np.where)
    np.testing.assert_allclose(found, np.log(positive), 1e-15)
    shares = np.concatenate([2.0 ** -np.arange(64), rng.random(5000)])
    found = exact.exact_log(shares, xp.float64, np.where, is_share=True)
    np.testing.assert_array_equal(found, exact.exact_log(shares, xp.float64, np.where))
    near = np.linspace(-0.25, 0.25, 5001)
    np.testing.assert_allclose(exact.exact_log1p(near, xp.float64), np.log1p(near), 1e-15)
    special = pytest.importorskip("scipy.special")
    x = np.linspace(1.0, 60.0, 500)
    expected = special.gammaln(x) - (x - 0.5) * np.log(x) + x - 0.5 * np.log(2 * np.pi)
    np.testing.assert_allclose(exact.stirling(x), expected, 0, 1e-5)
    np.testing.assert_allclose(exact.stirling(x[x > 6]), expected[x > 6], 0, 2e-13)


def test_an_exhausted_generator_says_so_and_stays_as_it_is():
    rng = xp.random.default_rng(1)
    rng._counter = before = 2**62 - 1
    for draw in (rng.random, rng.standard_normal, partial(rng.standard_gamma, 2.0)):
        refused(ValueError, r"exhausted.*spawn", draw, size=10)
        assert rng._counter == before


@needs_fork
def test_a_child_draws_that_was_forked_while_another_thread_drew():
    rng = xp.random.default_rng(3)
    expected = float(copy.copy(rng).random())
    is_held, may_end = threading.Event(), threading.Event()

    def hold():
        with rng._lock:
            is_held.set()
            may_end.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    is_held.wait()
    status = status_of_child(lambda: float(rng.random()) == expected)
    may_end.set()
    thread.join()
    assert status == 0
