"""Integers are compared exactly, whatever dtypes come together, on every device and way to run."""

import operator
from functools import partial
from itertools import product

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.core import dtypes as d
from tests.backends.engines.devices import device
from tests.extra.everywhere import DEVICES
from tests.support.programs import LARGE, assert_same, settings
from tests.support.refusals import refused
from tests.support.tables import for_each

# PyTorch's own, when Inductor is loaded.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")

OPERATORS = {
    "equal": operator.eq,
    "not_equal": operator.ne,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
}
INTEGERS = [dtype.name for dtype in d.INTEGRAL]
PAIRS = [(one, two) for one, two in product(INTEGERS, INTEGERS) if one != two]
MIXED = [pair for pair in PAIRS if np.result_type(*pair) == np.float64]
PLACES = ("cpu", *DEVICES)
MODES = ("default", "off", "context", "always")

# Doubles round these, and casts between dtypes wrap them round.
EDGES = [
    each + k
    for each in (-(2**63), -(2**53), -(2**31), -128, 0, 128, 2**31, 2**53, 2**63, 2**64)
    for k in (-2, -1, 0, 1, 2)
]

# Python's ints are exact, NumPy's comparisons since version 2.
ORACLE = {name: np.frompyfunc(function, 2, 1) for name, function in OPERATORS.items()}


def find(name):
    return xp.Device(name) if name == "cpu" else device(name)


def edges(name):
    """The numbers of `EDGES` that a dtype holds."""
    limits = np.iinfo(name)
    return np.asarray([x for x in EDGES if limits.min <= x <= limits.max], name)


def exact(name, a, b):
    """A comparison by Python's ints."""
    return ORACLE[name](np.asarray(a, object), np.asarray(b, object)).astype(bool)


def members(x, values):
    known = set(values.ravel().tolist())
    return np.asarray([each in known for each in x.ravel().tolist()], bool).reshape(x.shape)


def places(ordered, x, side):
    """`searchsorted` by Python's ints."""
    before = exact("less" if side == "left" else "less_equal", ordered[:, None], x.ravel())
    return before.sum(axis=0).reshape(x.shape)


def everything(x, y):
    """All that compares two arrays; `y` is ascending and has one axis."""
    column = xp.expand_dims(x, -1)
    compared = [getattr(xp, name)(column, y) for name in OPERATORS]
    reflected = [function(y, column) for function in OPERATORS.values()]
    searched = [xp.searchsorted(y, column, side=side) for side in ("left", "right")]
    return [
        *compared, *reflected, *searched, xp.isin(column, y), xp.isin(column, y, invert=True),
    ]  # fmt: skip


def expected_of(a, b):
    """What `everything` is to give."""
    a = a[..., None]
    found = members(a, b)
    return [
        *[exact(name, a, b) for name in OPERATORS],
        *[exact(name, b, a) for name in OPERATORS],
        *[places(b, a, side) for side in ("left", "right")],
        found, ~found,
    ]  # fmt: skip


def check(arrays, expected, hint):
    for i, (x, each) in enumerate(zip(arrays, expected, strict=True)):
        assert_same(np.asarray(x.to_device("cpu")), each, (hint, i))


@pytest.mark.parametrize("name", PLACES)
def test_integers_of_all_dtypes_are_compared_exactly(name):
    place = find(name)
    for one, two in PAIRS if name == "cpu" else [("int64", "uint64"), ("uint64", "int8")]:
        a, b = edges(one), edges(two)
        x, y = xp.asarray(a, device=place), xp.asarray(b, device=place)
        check(everything(x, y), expected_of(a, b), (one, two))


@for_each(("mode", "pair"), list(product(MODES, MIXED)))
def test_deferred_comparisons_are_exact(mode, pair):
    a, b = [edges(each) for each in pair]
    with settings(mode):
        check(everything(xp.asarray(a), xp.asarray(b)), expected_of(a, b), (mode, *pair))


@for_each("mode", ["default", "large"])
def test_comparisons_of_many_elements_are_exact(mode):
    rng = np.random.default_rng(1)
    a, b = rng.choice(edges("int64"), LARGE), rng.choice(edges("uint64"), LARGE)
    with settings(mode):
        x, y = xp.asarray(a), xp.asarray(b)
        for name, function in OPERATORS.items():
            assert_same(function(x, y), getattr(np, name)(a, b), name)
            # Fused with operations before and after it.
            assert int(xp.sum(xp.where(function(y, x), 1, 0))) == getattr(np, name)(b, a).sum()


@pytest.mark.parametrize("name", PLACES)
def test_compiled_comparisons_are_exact(name):
    # The tenth call of a program is compiled by the engine.
    place = find(name)
    compiled = xp.compile(everything)
    a, b = edges("int32"), edges("uint64")
    expected = expected_of(a, b)
    for call in range(12):
        x, y = [xp.asarray(each, device=place, copy=True) for each in (a, b)]
        check(compiled(x, y), expected, (name, call))


@for_each("pair", MIXED)
def test_layouts_and_shapes_make_no_difference(pair):
    a, b = [edges(each) for each in pair]
    x, y = xp.asarray(a), xp.asarray(b)
    for name, function in OPERATORS.items():
        expected = exact(name, a[::-2, None], b[None, 1::2])
        assert_same(function(x[::-2][:, None], y[None, 1::2]), expected, name)
        assert_same(function(y[:0, None], x), np.empty((0, a.size), bool), name)
        assert_same(function(x[3], y), exact(name, a[3], b), name)
        assert_same(function(x[3], y[4]), exact(name, a[3], b[4]), name)
    refused(ValueError, r"\(2,\), \(3,\) cannot be broadcast", xp.less, x[:2], y[:3])


@for_each(("name", "other"), MIXED)
def test_numpy_scalars_are_compared_exactly(name, other):
    a = edges(name)
    x = xp.asarray(a)
    for scalar in edges(other):
        for comparison, function in OPERATORS.items():
            for left, right, one, two in ((x, scalar, a, scalar), (scalar, x, scalar, a)):
                expected = exact(comparison, one.astype(object), two.astype(object))
                assert_same(function(left, right), expected, (comparison, scalar))
                assert_same(getattr(np, comparison)(left, right), expected, (comparison, scalar))
        assert_same(xp.isin(x, scalar), exact("equal", a, int(scalar)), scalar)
        assert_same(xp.isin(scalar, x), np.asarray(int(scalar) in a.tolist()), scalar)
        assert_same(xp.searchsorted(x, scalar), places(a, np.asarray(int(scalar)), "left"), scalar)


@for_each(("name", "place"), list(product(["bool", *INTEGERS], ["cpu"])))
def test_python_ints_are_compared_exactly(name, place):
    _compare_with_ints(name, place)


@pytest.mark.parametrize("place", DEVICES)
def test_python_ints_are_compared_exactly_on_other_devices(place):
    for name in ("bool", "int8", "int64", "uint64"):
        _compare_with_ints(name, place)


def _compare_with_ints(name, place):
    a = np.asarray([False, True]) if name == "bool" else edges(name)
    x = xp.asarray(a, device=find(place))
    values = a.astype(object) * 1
    for scalar in [-(2**70), *EDGES, 10**40]:
        for comparison, function in OPERATORS.items():
            for got, expected in (
                (function(x, scalar), exact(comparison, values, scalar)),
                (function(scalar, x), exact(comparison, scalar, values)),
            ):
                assert_same(np.asarray(got.to_device("cpu")), expected, (comparison, scalar))
        for side in ("left", "right"):
            found = xp.searchsorted(x, scalar, side=side).to_device("cpu")
            assert_same(np.asarray(found), places(values, np.asarray(scalar, object), side), scalar)
        for invert in (False, True):
            found = xp.isin(x, scalar, invert=invert).to_device("cpu")
            assert_same(np.asarray(found), exact("equal", values, scalar) != invert, scalar)


@pytest.mark.parametrize("name", PLACES)
def test_extras_compare_integers_exactly(name):
    place = find(name)
    put = partial(xp.asarray, device=place)
    x, y = put([2**53 + 1, -1]), put([2**53, 2**64 - 1], dtype=xp.uint64)
    assert not xp.extra.array_equal(x, y)
    assert not xp.extra.array_equal(x[1:], y[1:])
    assert xp.extra.array_equal(put([2**53 + 1]), put([2**53 + 1], dtype=xp.uint64))
    assert int(xp.count_nonzero(x == y)) == 0
    assert 2**53 not in x


def test_a_sorter_goes_with_exact_comparisons():
    a, wanted = edges("uint64")[::-1].copy(), edges("int64")
    x = xp.asarray(a)
    for side in ("left", "right"):
        found = xp.searchsorted(x, xp.asarray(wanted), side=side, sorter=xp.argsort(x))
        assert_same(found, places(a[::-1], wanted, side), side)
