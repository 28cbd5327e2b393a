"""Compiled functions: errors of traces, and programs of shapes without data."""

import copy
import inspect
import pickle
import threading
import warnings

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx import ShapeSpec
from array_api_nx.compile import TraceError
from array_api_nx.contract.checked_call import ContractError
from array_api_nx.contract.program import Program
from array_api_nx.core.symbolic import UnboundError, UndecidedError, dynamic, eval_dim
from array_api_nx.tracing.backend import Switch
from tests.support.arrays import normal, standardise
from tests.support.programs import assert_same, numpy_of
from tests.support.refusals import refused
from tests.support.tables import for_each
from tests.support.threads import together

OUTSIDE = xp.asarray([1.0, 2.0, 3.0])


def _write_outside(x):
    OUTSIDE[0] = x[0, 0]


def _add_outside(x):
    y = OUTSIDE
    y += x[0, :]


REFUSED = [
    (lambda x: 1 if xp.any(x > 0) else 2, r"bool\(\) needs the value of an element.*where\(cond"),
    (lambda x: [row for row in [1] if x[0, 0]], r"bool\(\) needs the value"),
    (lambda x: 0 < x[0, 0] < 1, r"bool\(\) needs the value"),
    (lambda x: float(xp.sum(x)), r"float\(\) needs the value of an element.*Python value"),
    (lambda x: int(x[0, 0]), r"int\(\) needs the value of an element.*Python value"),
    (lambda x: complex(x[0, 0]), r"complex\(\) needs the value of an element.*Python value"),
    (lambda x: [1, 2][xp.argmax(x)], r"index\(\) needs the value.*index array"),
    (lambda x: 3.0 in x, r"in needs the value of an element.*any\(x == value\)"),
    (lambda x: f"{x[0, 0]:.3f}", r"a format hands out the elements"),
    (lambda x: xp.nonzero(x), r"nonzero\(\) gives a size that depends on the elements.*mask"),
    (lambda x: xp.where(x > 0), r"where\(\) gives a size that depends on the elements"),
    (lambda x: x[x > 0], r"an index gives a size that depends .*where\(mask, x, 0\)"),
    (lambda x: xp.unique_values(x), r"unique_values\(\) gives a size that depends on the elem"),
    (lambda x: xp.unique_all(x), r"unique_all\(\) gives a size that depends on the elements"),
    (lambda x: xp.unique_counts(x), r"unique_counts\(\) gives a size that depends on the elem"),
    (lambda x: xp.unique_inverse(x), r"unique_inverse\(\) gives a size that depends on the el"),
    (
        lambda x: xp.repeat(x, xp.astype(x[:, 0], xp.int64), axis=0),
        r"repeat\(\) gives a size that depends on the elements.*as a Python int",
    ),
    (lambda x: np.asarray(x), r"conversion to NumPy hands out the elements.*outside of the func"),
    (lambda x: np.add.accumulate(x), r"a method of a ufunc hands out the elements"),
    (lambda x: np.from_dlpack(x), r"from_dlpack hands out the elements"),
    (lambda x: pickle.dumps(x), r"pickle hands out the elements"),
    (_write_outside, r"must not write to an array that it found outside.*copy=True"),
    (_add_outside, r"must not write to an array that it found outside.*as an argument"),
]


@for_each(("call", "message"), REFUSED)
def test_refused(call, message):
    function = xp.compile(call)
    with pytest.raises(TraceError, match=message) as caught:
        function(normal(4, 3))
    line = call.__code__.co_firstlineno
    place = str(caught.value).partition(": ")[0]
    name, _, number = place.rpartition(":")
    assert name == __file__
    assert line <= int(number) <= line + 2
    assert function.cache_info().traces == 0
    # Everything is as it was.
    assert float(xp.sum(xp.ones(3))) == 3.0
    assert_same(OUTSIDE, np.asarray([1.0, 2.0, 3.0]))


def test_arrays_that_left_a_trace():
    kept = []
    function = xp.compile(lambda x: kept.append(x + 1))
    function(normal(3))
    for use in (lambda x: x + 1, lambda x: xp.sum(x), np.asarray, lambda x: x.shape):
        # A checked backend sees first that the handle is none of its own.
        with pytest.raises(
            (TraceError, ContractError), match=r"made while a function was traced.*return it|handle"
        ):
            use(kept[0])


def test_printing_shows_no_elements(capsys):
    function = xp.compile(lambda x: print(x, repr(x), f"{x}"))
    function(normal(4, 3))
    lines = capsys.readouterr().out
    assert lines.count("dtype=float64, being traced)") == 3


def test_elements_that_do_not_depend_on_arguments():
    def call(x):
        if xp.asarray(True):
            x = x * float(xp.asarray(3.0)) * int(xp.full((), 2))
        return x + xp.asarray([1.0, 2.0, 3.0]) * np.float64(0.5)

    x = normal(5, 3)
    assert_same(xp.compile(call)(x), call(x))


def test_copies_of_arrays():
    def call(x):
        y, z = copy.copy(x), copy.deepcopy(x)
        y += 1
        return y, z

    x = normal(3)
    kept = numpy_of(x)
    y, z = xp.compile(call)(x)
    assert_same(y, kept + 1)
    assert_same(z, kept)
    assert_same(x, kept)


def test_threads_trace_at_the_same_time():
    barrier = threading.Barrier(2, timeout=60)
    results = {}

    def call(x, k):
        barrier.wait()
        x = xp.sin(x) * k
        barrier.wait()
        return xp.sum(x, axis=0)

    x = normal(4, 3)
    function = xp.compile(call)
    together(*[lambda k=k: results.update({k: function(x, k)}) for k in (2, 3)])
    for k in (2, 3):
        assert_same(results[k], xp.sum(xp.sin(x) * k, axis=0))
    assert type(x.device.backend) is not Switch


def test_other_devices(fake):
    x, y = xp.ones(3, device="cpu"), xp.ones(3, device=fake)
    function = xp.compile(lambda x, y: (y + xp.ones_like(y), y[1:]))
    for _ in range(2):
        for result in function(x, y):
            assert result.device == fake
    assert function(x, y)[0].device == fake
    assert function.cache_info().traces == 1
    function(x, x)
    assert function.cache_info().traces == 2
    assert xp.eval_shape(lambda y: y * 2, ShapeSpec((3,), xp.float64, fake)).device == fake

    def write(x, y):
        y += 1

    xp.compile(write)(x, y)
    assert_same(y.to_device("cpu"), np.full(3, 2.0))
    for call in (lambda x, y: (x + 1, y + 1), lambda x, y: (x[1:], y[1:])):
        with pytest.raises(TraceError, match=r"must not compute on two devices; compile a func"):
            xp.compile(call)(x, y)
    with pytest.raises(TraceError, match=r"to_device\(\) hands out the elements"):
        xp.compile(lambda x: x.to_device(fake))(x)
    refused(ValueError, "different devices", xp.compile(lambda x, y: x + y), x, y)


def test_errors_are_those_of_eager_code():
    for call in (lambda x: xp.reshape(x, (7, 7)), lambda x: x + xp.ones(5), lambda x: x[9, 9]):
        with pytest.raises((ValueError, IndexError)) as eager:
            call(normal(4, 3))
        refused(type(eager.value), None, xp.compile(call), normal(4, 3))


def test_lower():
    function = xp.compile(standardise)
    program = function.lower(ShapeSpec(("rows", 3), xp.float32))
    assert isinstance(program, Program)
    assert function.lower(ShapeSpec(("rows", 3), xp.float32)) is program
    x = xp.astype(normal(6, 3), xp.float32)
    assert function.explain(x).program is program
    assert_same(function(x), standardise(x))
    traces = function.cache_info().traces
    assert function(xp.astype(normal(6, 4), xp.float32)).shape == (6, 4)
    assert function.cache_info().traces == traces + 1
    assert "rows" in str(program)


def test_lower_with_expressions():
    n = dynamic("n", min=3, max=10)
    function = xp.compile(lambda x, y: x + y[::2][: x.shape[0]])
    program = function.lower(ShapeSpec((n,), xp.float64), ShapeSpec((2 * n + 1,), xp.float64))
    x, y = normal(4), normal(9)
    assert function.explain(x, y).program is program
    assert_same(function(x, y), function.__wrapped__(x, y))
    assert function.explain(normal(4), normal(8)).program is not program
    assert function.explain(normal(11), normal(23)).program is not program
    with pytest.raises(ValueError, match=r"no argument has the size n itself"):
        xp.compile(xp.sum).lower(ShapeSpec((2 * n,), xp.float64))


def test_what_specs_leave_open():
    x, y = ShapeSpec(("n",), xp.float64), ShapeSpec(("m",), xp.float64)
    with pytest.raises(
        UndecidedError, match=r"test_compile_traces.py:\d+: whether .* == .* not known"
    ):
        xp.eval_shape(lambda x, y: x + y, x, y)
    with pytest.raises(UnboundError, match=r"test_compile_traces.py:\d+: the number that n stands"):
        xp.compile(lambda x: x * len(x)).lower(x)
    refused(TraceError, "nonzero", xp.compile(xp.nonzero).lower, x)
    same = xp.eval_shape(lambda x, y: x + y, x, x)
    assert repr(same) == "ShapeSpec((n,), float64)"


def test_specs():
    spec = ShapeSpec(("n", 3, "n"), float)
    assert repr(spec) == "ShapeSpec((n, 3, n), float64)"
    assert spec == ShapeSpec(["n", 3, "n"], xp.float64, "cpu")
    assert hash(spec) == hash(ShapeSpec(("n", 3, "n"), xp.float64))
    assert spec != ShapeSpec(("n", 3, "m"), xp.float64)
    assert pickle.loads(pickle.dumps(spec)) == spec
    assert spec.at(n=4).shape == (4, 3, 4)
    result = xp.eval_shape(lambda x: xp.concat([x, x[1:, ...]]), spec)
    assert repr(result) == "ShapeSpec((2*n - 1, 3, n), float64)"
    assert result.at(n=5) == ShapeSpec((9, 3, 5), xp.float64)
    for shape, error in ((("2n",), ValueError), ((-1,), ValueError), ((1.5,), TypeError)):
        refused(error, None, ShapeSpec, shape, xp.float64)
    with pytest.raises(AttributeError, match="immutable"):
        spec.shape = (3,)


def test_peak_bytes():
    function = xp.compile(lambda x: xp.sum((x + 1) * (x - 1), axis=0))
    program = function.lower(ShapeSpec(("n", 4), xp.float64))
    # The two operands and the product; then the product and the sums.
    n = program.variables[0]
    assert eval_dim(program.peak_bytes, {n: 10}) == 3 * 10 * 4 * 8
    assert xp.compile(lambda x: x[1:]).lower(ShapeSpec((4,), xp.int8)).peak_bytes == 0


@pytest.mark.parametrize("device", ["test:1", "test:lazy"])
def test_a_function_that_only_writes_runs_on_the_device_of_its_argument(device):
    @xp.compile
    def function(x):
        x[0] = 5.0
        return x

    for _ in range(2):
        x = xp.zeros((2, 3), device=device).T
        assert function(x) is x
        assert x.tolist() == [[5.0, 5.0], [0.0, 0.0], [0.0, 0.0]]


def test_a_loop_of_more_than_a_thousand_steps_is_warned_of_at_its_line():
    def add(x, times):
        for i in range(times):
            x = x + i
        return x

    with warnings.catch_warnings(action="error"):
        xp.compile(add)(xp.ones(3), 1000)
        xp.eval_shape(lambda x: add(x, 1001), ShapeSpec((3,), xp.float64))
    with pytest.warns(
        RuntimeWarning, match="more than 1,000 steps.*compile the function"
    ) as caught:
        assert xp.compile(add)(xp.ones(3), 3000).tolist() == [4498501.0] * 3
    assert len(caught) == 1
    lines, first = inspect.getsourcelines(add)
    assert "x = x + i" in lines[caught[0].lineno - first]
    # The advice of the warning.
    step = xp.compile(lambda x, i: x + i)
    with warnings.catch_warnings(action="error"):
        x = xp.ones(3)
        for i in range(3000):
            x = step(x, xp.asarray(float(i)))
    assert x.tolist() == [4498501.0] * 3
    assert step.cache_info().traces == 1


@for_each(
    ("rows", "inner", "columns"), [(3000, 20, 64), (5000, 64, 256), (4099, 3, 129), (70_000, 7, 2)]
)
def test_products_in_wide_tiles_have_all_their_elements(rows, inner, columns):
    """A reduction down the columns has tiles of many rows, which BLAS multiplies part by part."""
    rng = np.random.default_rng(1)
    a = rng.integers(-9, 9, (rows, inner)).astype("f8")
    b = rng.integers(-9, 9, (inner, columns)).astype("f8")
    expected = (7 - 2 * (a @ b)).min(axis=0)
    function = xp.compile(lambda x, y: xp.min(7 - 2 * (x @ y), axis=0))
    transposed = xp.compile(lambda x, y: xp.min(7 - 2 * (x @ y).T, axis=1))
    for left in (a, np.asfortranarray(a)):
        for right in (b, np.asfortranarray(b)):
            x, y = xp.asarray(left), xp.asarray(right)
            assert np.array_equal(np.asarray(function(x, y)), expected)
            assert np.array_equal(np.asarray(transposed(x, y)), expected)


def test_arrays_in_a_list_are_one_array_of_the_trace():
    def rotation(angle):
        c, s = xp.cos(angle), xp.sin(angle)
        return xp.asarray([[c, -s, 0], [s, c, 0], [0, 0, 1]])

    angle = xp.asarray(0.5)
    compiled = xp.compile(rotation)
    for _ in range(2):
        assert compiled(angle).tolist() == rotation(angle).tolist()
