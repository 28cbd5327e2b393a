"""Operations element by element in C, held against the Python functions that they stand for."""

import inspect
import operator
from functools import partial
from math import isqrt

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx import config
from array_api_nx.frontend import dispatch, elementwise
from array_api_nx.primitives import table as p
from tests.support import implementations
from tests.support.alike import compare
from tests.support.implementations import assert_alike, random_array, random_operands, random_scalar
from tests.support.processes import python
from tests.support.sizes import MIDDLE

pytestmark = implementations.needs_native

# By the type of compiled callables, so that new ones are tested without being listed.
IMPLEMENTATIONS = {
    name: function
    for name, function in vars(elementwise).items()
    if type(function) is type(xp.add) and function.__module__ == elementwise.__name__
}
UNARY = {
    name: f for name, f in IMPLEMENTATIONS.items() if len(inspect.signature(f).parameters) == 1
}
BINARY = {
    name: f for name, f in IMPLEMENTATIONS.items() if len(inspect.signature(f).parameters) == 2
}

OPERATORS = (
    *["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and_", "or_", "xor"],
    *["lshift", "rshift", "matmul"],
)
COMPARISONS = "lt", "le", "eq", "ne", "gt", "ge"
CONVERSIONS = {
    "float": float, "int": int, "bool": bool, "complex": complex, "index": operator.index,
    "len": len, "shape": operator.attrgetter("shape"), "ndim": operator.attrgetter("ndim"),
    "size": operator.attrgetter("size"), "list": lambda x: [float(i) for i in x],
    "format": lambda x: f"{x:.2f}", "hash": hash, "contains": lambda x: 1 in x,
}  # fmt: skip


def _reflected(op):
    return lambda x, y: op(y, x)


def _call_dispatch(function, primitive, *operands):
    return function(primitive, *operands)


BINARY_CALLS = {
    **{name: getattr(operator, name) for name in (*OPERATORS, *COMPARISONS)},
    **{f"{name}, reflected": _reflected(getattr(operator, name)) for name in OPERATORS},
    **BINARY,
    "dispatch.binary": lambda x, y: dispatch.binary(p.ADD, x, y, NotImplemented),
    "pow, three arguments": lambda x, y: pow(x, y, 3),
    "by name": lambda x, y: xp.add(x1=x, x2=y),
    "three arguments": lambda x, y: xp.add(x, y, y),
}
INPLACE_CALLS = {name: getattr(operator, f"i{name.strip('_')}") for name in OPERATORS}
UNARY_CALLS = {
    **{name: getattr(operator, name) for name in ("neg", "pos", "abs", "invert")},
    **UNARY,
    **CONVERSIONS,
    "dispatch.unary": partial(_call_dispatch, dispatch.unary, p.SQRT),
    "by name": lambda x: xp.sin(x=x),
    "two arguments": lambda x: xp.sin(x, x),
    "none": lambda x: xp.sin(),
}


def _cases(name, count):
    """Seeds of random cases, other ones for each name."""
    start = int.from_bytes(name.encode()[-6:], "big")
    return [start + i for i in range(count)]


def test_every_operation_has_its_implementation():
    assert len(UNARY) + len(BINARY) >= 60
    assert {"add", "pow", "nextafter", "logical_xor"} <= {*BINARY}
    assert {"abs", "sqrt", "isnan", "round", "imag"} <= {*UNARY}


@pytest.mark.parametrize("name", BINARY_CALLS)
def test_binary(name):
    for seed in _cases(name, 40):
        make = lambda seed=seed: random_operands(np.random.default_rng(seed))  # noqa: E731
        assert_alike(BINARY_CALLS[name], make, f"{name}, seed {seed}")


@pytest.mark.parametrize("name", INPLACE_CALLS)
def test_in_place(name):
    for seed in _cases(name, 100):
        make = lambda seed=seed: random_operands(np.random.default_rng(seed))  # noqa: E731
        assert_alike(INPLACE_CALLS[name], make, f"{name}, seed {seed}")


@pytest.mark.parametrize("name", UNARY_CALLS)
def test_unary(name):
    for seed in _cases(name, 25):

        def make(seed=seed):
            rng = np.random.default_rng(seed)
            shape = (1,) * int(rng.integers(0, 3)) if name in CONVERSIONS else None
            x = random_array(rng, shape=shape if rng.random() < 0.7 else None)
            return [x if rng.random() < 0.95 else random_scalar(rng)]

        assert_alike(UNARY_CALLS[name], make, f"{name}, seed {seed}")


def test_operands_of_one_dtype_in_all_dtypes():
    """Where most calls are answered in C: 1,500 cases of two arrays, or an array and a scalar."""
    calls = [*BINARY_CALLS.items(), *INPLACE_CALLS.items()]
    for seed in range(1500):
        dtype = implementations.DTYPES[seed % len(implementations.DTYPES)]
        name, call = calls[seed % len(calls)]
        make = lambda seed=seed, dtype=dtype: random_operands(  # noqa: E731
            np.random.default_rng(seed), dtype
        )
        assert_alike(call, make, f"{name}, {dtype}, seed {seed}")


def test_duplicated_arguments_do_as_well():
    rng = np.random.default_rng(3)
    for seed in range(300):
        name = [*BINARY_CALLS][seed % len(BINARY_CALLS)]
        assert_alike(BINARY_CALLS[name], random_operands(rng), name)
        name = [*INPLACE_CALLS][seed % len(INPLACE_CALLS)]
        assert_alike(INPLACE_CALLS[name], random_operands(rng), name)


def test_common_calls_are_answered_in_c():
    """Else the comparisons would compare Python with itself."""
    x, y = xp.asarray([[1.0, 2.0], [3.0, 4.0]]), xp.asarray([[5.0, 6.0], [7.0, 8.0]])
    row, turned, element = xp.asarray([1.0, 2.0]), x.T, xp.asarray(1.0)
    for call in (
        *[lambda: x + y, lambda: x + 1, lambda: 2.5 - x, lambda: x**2, lambda: turned * turned],
        *[lambda: turned + x, lambda: x + row, lambda: x < y, lambda: -x, lambda: abs(x)],
        *[lambda: xp.sqrt(x), lambda: xp.atan2(x, y), lambda: float(element), lambda: len(x)],
        *[lambda: operator.iadd(x, y), lambda: operator.imul(x, 1), lambda: x.shape],
        *[lambda: operator.iadd(x, row), lambda: bool(element), lambda: x.size],
    ):
        assert implementations.is_answered_in_c(call), inspect.getsource(call)


# ---------------------------------------------------------------------- settings


@pytest.mark.parametrize("mode", ["raise", "ignore", "warn", "call", "log"])
def test_what_errstate_asks_for(mode):
    """Errors, their texts and the state of arrays after them; calls with what arguments."""
    heard = []

    class Log:
        def write(self, text):
            heard.append((implementations.is_python_answering(), text))

    def hear(*arguments):
        heard.append((implementations.is_python_answering(), arguments))

    calls = [*BINARY_CALLS.items(), *INPLACE_CALLS.items(), *UNARY_CALLS.items()]
    floats = [xp.float32, xp.float64, xp.complex64, xp.complex128, xp.int8, xp.uint16]
    with np.errstate(all=mode, call=Log() if mode == "log" else hear):
        for seed in range(500):
            name, call = calls[seed % len(calls)]

            def make(seed=seed, name=name):
                rng = np.random.default_rng(seed)
                operands = random_operands(rng, floats[int(rng.integers(len(floats)))])
                return operands[:1] if name in UNARY_CALLS else operands

            assert_alike(call, make, f"{name}, seed {seed}")
    in_c, in_python = ([what for who, what in heard if who is side] for side in (False, True))
    assert in_c == in_python
    assert bool(heard) == (mode in ("call", "log"))


@pytest.mark.parametrize("fusion", ["always", "off"])
def test_deferral(fusion):
    """In every way to run, both give the same."""
    calls = [*BINARY_CALLS.items(), *INPLACE_CALLS.items()]
    with xp.config_context(fusion=fusion):
        for seed in range(400):
            name, call = calls[seed % len(calls)]
            make = lambda seed=seed: random_operands(np.random.default_rng(seed))  # noqa: E731
            assert_alike(call, make, f"{name}, seed {seed}")


def test_sizes_around_the_limits():
    """Above them operations wait, whatever the operands broadcast from."""
    threshold = config.hints.threshold
    calls = (lambda x: x + x, lambda x: x * 2.0, xp.sqrt, lambda x: operator.iadd(x, 1.0))
    for size in (100, MIDDLE, threshold, threshold + 1):
        for call in calls:
            assert_alike(call, [xp.ones(size)])
    small, large = xp.ones(100), xp.ones(threshold + 1)
    assert all([implementations.is_answered_in_c(lambda call=call: call(small)) for call in calls])
    assert all([xp.explain(call(large)).pending for call in calls[:3]])
    side = isqrt(threshold) + 1
    row, column = xp.ones((1, side)), xp.ones((side, 1))
    assert xp.explain(row + column).pending
    assert_alike(operator.add, [row, column])


@pytest.mark.parametrize("device", ["torch:cpu", "jax:cpu", "dask"])
def test_other_devices(device):
    try:
        device = xp.Device(device)
    except (ImportError, ValueError) as error:
        pytest.skip(str(error))
    for seed in range(60):
        rng = np.random.default_rng(seed)
        x = random_array(rng, xp.float32, layout="row-major")
        arguments = [x.to_device(device), x if rng.random() < 0.3 else x.to_device(device)]
        name = ["add", "mul", "lt"][seed % 3]
        seen = assert_alike(getattr(operator, name), arguments, f"{name}, seed {seed}")
        assert seen["exception"] or seen["result: device"] == str(device)


def test_a_checked_backend_is_asked(tmp_path):
    """With ARRAY_API_NX_CHECKED, guarantees are checked in every call: C does not answer."""
    code = (
        "import array_api_nx as xp; from tests.support import implementations\n"
        "x = xp.ones(3)\n"
        "for call in (lambda: x + x, lambda: xp.sin(x), lambda: x * 2, lambda: float(x[0])):\n"
        "    assert not implementations.is_answered_in_c(call)\n"
        "assert (x + x)._handle.array.tolist() == [2, 2, 2]"
    )
    python("-c", code, ARRAY_API_NX_CHECKED="1")


@pytest.mark.parametrize("scalar", [2, 2.0, True, 1, 0, 3, -1, 2**24, 2**24 + 1], ids=str)
def test_powers_and_scalars_of_consequence(scalar):
    """Squares, of which NumPy makes products, and integers that a float may not hold."""
    for seed, dtype in enumerate(implementations.DTYPES):
        x = random_array(np.random.default_rng(seed), dtype, (3, 4), "row-major", "copied")
        for call in (
            *[lambda x: x**scalar, lambda x: scalar**x, lambda x: operator.ipow(x, scalar)],
            *[lambda x: xp.pow(x, scalar), lambda x: xp.pow(scalar, x), lambda x: x - scalar],
        ):
            assert_alike(call, [x], f"{dtype}, {scalar}")


@pytest.mark.parametrize("dtype", ["int16", "int32", "float32", "float64", "complex128"])
def test_many_elements_that_lie_across(dtype):
    """Tiles are turned by squares of a few elements, and at the edges one by one."""
    rng = np.random.default_rng(3)
    for rows, columns in (
        (1, 9000),
        (3, 3001),
        (90, 92),
        (91, 91),
        (97, 110),
        (130, 67),
        (2, 7000),
    ):
        x = xp.asarray(rng.integers(0, 100, (rows, columns)).astype(dtype), copy=True)
        y = xp.asarray(rng.integers(0, 100, (columns, rows)).astype(dtype), copy=True)
        wide = xp.asarray(rng.integers(0, 100, (columns, 2 * rows + 1)).astype(dtype), copy=True)
        compare(xp.add, x, y.T)
        compare(xp.multiply, y.T, x)
        compare(xp.subtract, x, wide[:, 1 : rows + 1].T)
        compare(xp.subtract, x, wide[:, 1::2].T)
        compare(xp.subtract, x, xp.flip(y).T)
        compare(xp.equal, x, y.T)
        assert np.array_equal(np.asarray(x + y.T), np.asarray(x) + np.asarray(y).T)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "uint8", "bool"])
def test_powers_of_arrays(dtype):
    """NumPy has faster functions where the exponents are one number."""
    values = np.asarray([0.0, -0.0, 0.5, 1, 2, -1, 3.7, np.inf, -np.inf, np.nan])
    with np.errstate(invalid="ignore"):
        values = values.astype(dtype)
    vector = xp.asarray(values)
    exponents = [*vector, vector, vector[:1], vector[::-1], xp.broadcast_to(vector[2], (10,))]
    for y in exponents:
        for x in (*vector, vector, vector[::-1], vector[:, None]):
            assert_alike(operator.pow, [x, y], f"{x}, {y}")


def test_updates_along_columns_and_by_own_elements():
    rng = np.random.default_rng(5)
    for rows in (1, 2, 7, 40):
        for call in (operator.iadd, operator.imul, operator.itruediv):
            given = rng.random((rows, 5)) + 1
            for other in (3, given[rows // 2, 2].copy(), given[0, :1].repeat(rows)):
                expected, x = given.copy(), xp.asarray(given.copy())
                call(expected[:, 2], other)
                y = xp.asarray(other) if isinstance(other, np.ndarray) else other
                call(x[:, 2], y)
                assert np.array_equal(np.asarray(x), expected)
            expected, x = given.copy(), xp.asarray(given.copy())
            call(expected[:, 2], expected[rows // 2, 2].copy())
            call(x[:, 2], x[rows // 2, 2])  # an element that is written
            assert np.array_equal(np.asarray(x), expected)
            call(expected[:, 3], expected[:, 1])
            call(x[:, 3], x[:, 1])
            call(expected[:, 3], expected[:, 3].copy())
            call(x[:, 3], x[:, 3])
            assert np.array_equal(np.asarray(x), expected)


def test_quotients_rounded_down_of_infinite_operands():
    """NumPy's are NaN, or -1, where the standard says an infinity, or a zero."""
    vector = xp.asarray([1.0, -3.5, np.inf, 0.0, -np.inf, np.nan, 2.0])
    finite = vector[:2]
    for x in (*vector, vector, finite, vector[::2], finite[::-1], xp.astype(vector, xp.float32)):
        for y in (*vector, vector, finite, 2.0, float("inf"), 3, 0):
            assert_alike(operator.floordiv, [x, y], f"{x}, {y}")
            assert_alike(operator.ifloordiv, [x, y], f"{x}, {y}, in place")
