"""Bools whose bytes are other than 0 and 1 mean what zeros and ones mean.

Memory of callers and of other libraries may hold any byte in a bool array, such as a mask of 255s
that was read from a file. Each byte but 0 is true. The oracle of every call is the same call on
zeros and ones.
"""

import copy
import operator
import pickle
import warnings
from typing import Any

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx import Array
from array_api_nx.contract.numpy_dtypes import has_other_bools, zeros_and_ones
from array_api_nx.core import dtypes as d
from tests.backends.engines.devices import device
from tests.support.programs import settings
from tests.support.refusals import refused
from tests.support.tables import for_each

ENGINES = ("torch:cpu", "jax:cpu")


def other_bools(shape, seed=0):
    """A bool array, about half of it zeros, and the others bytes from 1 to 255."""
    rng = np.random.default_rng(seed)
    numbers = rng.integers(1, 256, shape).astype(np.uint8)
    numbers[rng.random(shape) < 0.5] = 0
    numbers[rng.random(shape) < 0.1] = 1
    return numbers.view(np.bool_)


_NOT_ELEMENTS = frozenset(
    {
        "apply_ufunc", "compile", "config_context", "empty", "empty_like", "eval_shape", "explain",
        "roots", "show_config",
    }
)  # fmt: skip
_OPERATORS = (
    "add", "and_", "eq", "floordiv", "ge", "getitem", "gt", "iadd", "iand", "imul", "invert", "ior",
    "ixor", "le", "lshift", "lt", "matmul", "mod", "mul", "ne", "or_", "pow", "rshift", "sub",
    "truediv", "xor",
)  # fmt: skip
_METHODS = (
    "__contains__", "__format__", "__iter__", "__repr__", "astype", "argsort", "cumsum", "dot",
    "max", "mean", "min", "nonzero", "prod", "repeat", "round", "searchsorted", "std", "sum",
    "take", "tolist", "var", "view",
)  # fmt: skip


def _method(name):
    def call(x, *arguments, **options):
        return getattr(x, name)(*arguments, **options)

    return call


def _functions():
    found = {
        name: getattr(space, name)
        for space in (xp, xp.linalg, xp.fft, xp.special, xp.extra)
        for name in space.__all__
        if name not in _NOT_ELEMENTS
    }
    functions = {name: f for name, f in found.items() if callable(f) and not isinstance(f, type)}
    functions.update({f"operator {name}": getattr(operator, name) for name in _OPERATORS})
    functions.update({f"method {name}": _method(name) for name in _METHODS})
    return functions


FUNCTIONS = _functions()
IN_PARTS = (
    "add", "all", "any", "argmax", "argmin", "argsort", "astype", "bitwise_and", "clip", "concat",
    "count_nonzero", "cumulative_prod", "cumulative_sum", "cumulative_max",
    "diff", "equal", "isin", "less", "logical_not", "logical_xor", "max", "mean", "min",
    "multiply", "nonzero", "partition", "prod", "searchsorted", "sort", "std", "subtract", "sum",
    "take", "tensordot", "top_k", "unique_all", "unique_counts", "unique_inverse",
    "unique_values", "var", "vecdot", "where", "operator getitem", "operator iadd",
)  # fmt: skip
"""Functions that have loops of their own for many elements, or divide them."""

Arguments = tuple[Any, ...]
Options = dict[str, Any]


def calls(shape, *, few=False):
    """Arguments with bools among them; a function takes some of these lists, and refuses others."""
    rng = np.random.default_rng(1)
    m, n, row = other_bools(shape, 2), other_bools(shape, 3), other_bools(shape[-1:], 4)
    f = rng.standard_normal(shape)
    u = rng.integers(0, 4, shape).astype(np.uint64)
    yield (m,), {}
    yield (m, n), {}
    yield (row, m), {}
    yield (m, f, f), {}
    yield (f, m, n), {}
    yield ([m, n],), {}
    for other in (2.5, u) if few else (2.5, u, True, 2, 1j, f, f + 1j, u.astype(np.int8)):
        yield (m, other), {}
        yield (other, m), {}
    for dtype in (d.float32,) if few else d.NUMPYS:
        yield (m, dtype), {}
        yield (m,), {"dtype": dtype}
    for axis in range(-1, len(shape) - 1):
        yield (m,), {"axis": axis}
        yield (m, 1), {"axis": axis}
        yield ([m, f],), {"axis": axis}
    yield (m, n, row), {}
    yield (m, n, f), {}
    yield (m, f, u), {}
    yield (m,), {"axis": None}
    yield (m,), {"axis": 0, "keepdims": True}
    yield (m,), {"descending": True}
    yield (m,), {"stable": False}
    yield (m, n), {"invert": True}
    yield (row, m), {"side": "right"}
    yield (m.reshape(-1), u.reshape(-1).astype(np.int64)), {}
    yield (f, 3), {"weights": m}
    yield ("...i,...i->...", m, n), {}
    yield ("...i,...i->...", m, f), {}
    yield ("i...->i...", m), {}


def ours(argument, place, plain):
    """An argument with arrays in place of NumPy's, which are zeros and ones if `plain`."""
    if isinstance(argument, np.ndarray):
        array = zeros_and_ones(argument) if plain else argument
        return xp.asarray(array.copy(), device=place)
    if isinstance(argument, list):
        return [ours(each, place, plain) for each in argument]
    return argument


def shown(value):
    """A result in NumPy's arrays, bools as 0 and 1."""
    if isinstance(value, Array):
        return zeros_and_ones(np.asarray(value.to_device("cpu")))
    if isinstance(value, tuple | list):
        return [shown(each) for each in value]
    return value


def outcome(function, arguments, options, place, plain):
    arrays = [ours(each, place, plain) for each in arguments]
    result = function(*arrays, **{name: ours(x, place, plain) for name, x in options.items()})
    return shown(list(result) if hasattr(result, "__next__") else result)


def equal(x, y):
    if isinstance(x, list):
        return len(x) == len(y) and all(map(equal, x, y))
    if isinstance(x, np.ndarray):
        both = x.dtype == y.dtype and x.shape == y.shape
        return both and np.array_equal(x, y, equal_nan=x.dtype.kind in "fc")
    return bool(x == y) or (x != x and y != y)


def assert_alike(names, shape, place="cpu", *, compiled=False, few=False):
    """Each of these functions gives the same for either; those that took bools are returned."""
    took = set()
    wrong = []
    with warnings.catch_warnings(action="ignore"):
        for name in names:
            for arguments, options in calls(shape, few=few):
                function = xp.compile(FUNCTIONS[name]) if compiled else FUNCTIONS[name]
                try:
                    expected = outcome(function, arguments, options, place, plain=True)
                except Exception:  # these arguments are not for this function
                    continue
                took.add(name)
                actual = outcome(function, arguments, options, place, plain=False)
                if not equal(actual, expected):
                    kinds = [getattr(x, "dtype", x) for x in arguments]
                    wrong.append(
                        f"{name}({kinds}, {options}): {actual} instead of {expected}"[:400]
                    )
    assert not wrong, "\n".join([f"{len(wrong)} calls", *wrong[:10]])
    return took


@pytest.mark.parametrize(
    ("shape", "mode"),
    [((7,), "default"), ((4, 4), "default"), ((3, 70), "default"), ((3, 70), "context")],
)
def test_every_function_reads_any_byte_but_zero_as_true(shape, mode):
    with settings(mode):
        took = assert_alike(FUNCTIONS, shape)
    # The arguments above are for many functions, and for all of these.
    assert len(took) > 230
    assert took >= set(IN_PARTS) - {"tensordot"}


def test_every_function_does_on_many_elements():
    took = assert_alike(IN_PARTS, (50, 1000))
    assert took >= set(IN_PARTS) - {"operator getitem"}


def test_every_function_does_when_it_is_compiled():
    assert len(assert_alike(FUNCTIONS, (3, 5), compiled=True, few=True)) > 150


def test_every_function_does_on_dask():
    pytest.importorskip("dask")
    names = [name for name in IN_PARTS if name != "partition"]
    assert len(assert_alike(names, (3, 5), "dask", few=True)) > 35


@pytest.mark.parametrize("name", ENGINES)
def test_every_function_does_on_engines(name):
    # They get zeros and ones, as is tested below.
    place = device(name)
    names = ("astype", "nonzero", "sum")
    assert assert_alike(names, (3, 5), place, few=True) == set(names)


@for_each(
    "read",
    [
        lambda m: [float(x) for x in m],
        lambda m: [int(x) for x in m],
        lambda m: [complex(x) for x in m],
        lambda m: [bool(x) for x in m],
        lambda m: [x.item() for x in m],
        lambda m: [f"{x}" for x in m],
        lambda m: (repr(m), str(m), m.tolist(), True in m, m == m),
        lambda m: np.asarray(m, dtype=np.float32),
        lambda m: zeros_and_ones(np.asarray(m)),
        lambda m: [*map(int, pickle.loads(pickle.dumps(m)))],
        lambda m: xp.sum(copy.deepcopy(m)),
        lambda m: xp.sum(xp.asarray(m, copy=True)),
        lambda m: xp.sum(xp.from_dlpack(m)),
        lambda m: xp.ones(9)[m],
        lambda m: xp.ones((2, 9))[:, m],
        lambda m: xp.random.default_rng(1).choice(9, (20,), p=m / xp.sum(m)),
        lambda m: np.add(m, 1),
    ],
)
def test_conversions_and_masks_do(read):
    given = other_bools((9,), 5)
    actual, expected = [read(xp.asarray(x)) for x in (given, zeros_and_ones(given))]
    assert equal(shown(actual), shown(expected))


def _written(m):
    x = xp.arange(9.0)
    masked, filled, into = x * 1, xp.zeros(9), x * 1
    counted = xp.zeros(9, dtype=xp.complex64)
    masked[m] = 5.0
    filled[m] = xp.arange(float(xp.count_nonzero(m)))
    into[...] = m
    counted[m] = m[m]
    own = m & True
    own[m] = m[m]
    x += m
    return [masked, filled, into, counted, own, x]


@pytest.mark.parametrize("place", ["cpu", "dask", *ENGINES])
@pytest.mark.parametrize("mode", ["default", "context"])
def test_writes_do(mode, place):
    place = device(place) if place != "cpu" else place
    given = other_bools((9,), 5)
    with settings(mode):
        actual, expected = [
            shown(_written(xp.asarray(x, device=place))) for x in (given, zeros_and_ones(given))
        ]
    assert equal(actual, expected)


@pytest.mark.parametrize("mode", ["default", "context"])
def test_what_the_owner_writes_later_is_read_so(mode):
    memory = np.zeros(40_000, np.uint8)
    with settings(mode):
        x = xp.asarray(memory.view(np.bool_))
        assert int(xp.sum(x)) == 0
        memory[::2] = 255
        assert int(xp.sum(x)) == 20_000
        assert float(xp.sum(x * 2.0)) == 40_000.0
        assert np.shares_memory(memory, np.asarray(x))


@for_each(
    "arrive",
    [
        lambda m, place: xp.asarray(m, device=place),
        lambda m, place: xp.asarray(m, device=place, copy=True),
        lambda m, place: xp.asarray(m[::-1], device=place),
        lambda m, place: xp.asarray(xp.asarray(m), device=place),
        lambda m, place: xp.asarray(m).to_device(place),
        lambda m, place: xp.asarray(m[::3]).to_device(place),
        lambda m, place: xp.asarray(m)[3].to_device(place),
        lambda m, place: xp.from_dlpack(m, device=place),
        lambda m, place: xp.asarray(memoryview(m), device=place),
        lambda m, place: xp.asarray(m, device=place, dtype=xp.bool),
    ],
)
@pytest.mark.parametrize("name", ENGINES)
def test_engines_get_zeros_and_ones(name, arrive):
    place = device(name)
    given = other_bools((30,), 6)
    before = given.view(np.uint8).copy()
    arrived = arrive(given, place)
    assert not has_other_bools(np.asarray(arrived))
    plain = arrive(zeros_and_ones(given), place)
    assert np.array_equal(np.asarray(arrived), np.asarray(plain))
    assert np.array_equal(given.view(np.uint8), before)


def test_memory_of_zeros_and_ones_is_shared_with_torch():
    place = device("torch:cpu")
    given = zeros_and_ones(other_bools((30,)))
    assert np.shares_memory(given, np.asarray(xp.asarray(given, device=place)))
    assert np.shares_memory(given, np.asarray(xp.asarray(given).to_device(place)))


@for_each(
    ("share", "message"),
    [
        (
            lambda m, place: xp.asarray(m, device=place, copy=False),
            "cannot be shared: it has bools other than 0 and 1, which device torch:cpu does not "
            "take; use copy=None",
        ),
        (
            lambda m, place: xp.asarray(xp.asarray(m), device=place, copy=False),
            "cannot move an array from cpu to torch:cpu without a copy; use copy=None",
        ),
    ],
)
def test_torch_shares_no_other_bools(share, message):
    place = device("torch:cpu")
    refused(ValueError, message, share, other_bools((30,)), place)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_a_compiled_function_on_torch_reads_them():
    place = device("torch:cpu")
    given = other_bools((5, 3), 7)

    @xp.compile
    def function(x):
        return [xp.sum(x, axis=-1), xp.flip(x) * 2.0, xp.argsort(x, axis=0), x == xp.flip(x)]

    for _ in range(12):
        actual = shown(function(xp.asarray(given, device=place)))
    assert equal(actual, shown(function(xp.asarray(zeros_and_ones(given), device=place))))
