"""Runs of compiled functions, against the functions themselves."""

import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings

import array_api_nx as xp
from tests.support.arrays import normal, standardise
from tests.support.interpreter import SHAPES, TRACEABLE, inputs, programs, run
from tests.support.processes import python
from tests.support.programs import assert_same, numpy_of, settings
from tests.support.refusals import refused
from tests.support.sizes import MANY_TASKS
from tests.support.tables import for_each

ROOT = Path(__file__).parents[1]
rng = np.random.default_rng(3)


@pytest.fixture(params=["auto", "steps"])
def engine(request):
    """Whether the function's calls are made again, or the steps of its program."""
    return request.param


def softmax(x):
    e = xp.exp(x - xp.max(x, axis=1, keepdims=True))
    return e / xp.sum(e, axis=1, keepdims=True)


def nearest(x):
    centres = x[:3, :] + 0.5
    squares = xp.sum(xp.square(centres), axis=1)
    return xp.argmin(squares - 2 * (x @ centres.T), axis=1)


def several(x):
    y = xp.exp(-(x**2))
    return y, y.T @ y, xp.sum(y), [x * 1, xp.astype(y > 0.5, xp.int8)]


def in_place(x):
    y = x + 1.0
    before = y * 2
    part = y[::-1, :] + before
    y[1:, :] = part[1:, :]
    y[0, :] = y[-1, :] * 3
    y += y[::-1, :]
    return y, before, part


def writes(x):
    y = x * 2
    x[...] = x[::-1, :] + y
    x[0, :] *= 2
    return y, x[1:, :]


def indices(x):
    order = xp.argsort(x[:, 0])
    return xp.take(x, order, axis=0), x[order, 0], xp.cumulative_sum(x, axis=1)


def padded(x):
    return xp.concat([x, xp.zeros((2, x.shape[1]))]) + 1, xp.stack([x, x * 2], axis=2)


def views(x):
    return x[1:, :], x.T, x, xp.flip(x, axis=0), x[:0, :], xp.reshape(x.T, (-1,))


def filled(x):
    return xp.zeros((3, 2)), xp.ones(x.shape[0]) * 3, xp.arange(x.shape[0]) + 0.5


def parts_of_each_other(x):
    """Two results of one group of calls; the first one is a part of the second."""
    return x * 2 + 1, (x * 2 + 1) * 3


FUNCTIONS = [
    *[standardise, softmax, nearest, several, in_place, writes, indices, padded, views, filled],
    parts_of_each_other,
]
LAYOUTS = {
    "row-major": lambda x: x,
    "transposed": np.asfortranarray,
    "strided": lambda x: np.repeat(x, 2, axis=1)[:, ::2],
    "flipped": lambda x: x[::-1, ::-1].copy()[::-1, ::-1],
    "unaligned": lambda x: (
        np.frombuffer(b"." + x.tobytes(), np.uint8)[1:].view(x.dtype).reshape(x.shape)
    ),
}


def leaves(x):
    return [leaf for part in x for leaf in leaves(part)] if isinstance(x, tuple | list) else [x]


def check(function, *shapes, engine="auto", calls=2):
    """Compiled and eager results and writes agree on all layouts."""
    compiled = xp.compile(function, engine=engine)
    for shape in shapes:
        values = rng.standard_normal(shape)
        for layout in ("row-major", "transposed", "strided", "flipped"):
            for _ in range(calls):
                # In memory of our own, so that eager code is fused, too.
                mine = xp.asarray(LAYOUTS[layout](values.copy()))
                if layout == "row-major":
                    mine = xp.asarray(mine, copy=True)
                eager = xp.asarray(values, copy=True)
                found, expected = leaves(compiled(mine)), leaves(function(eager))
                for i, (x, y) in enumerate(zip([*found, mine], [*expected, eager], strict=True)):
                    assert x.shape == y.shape
                    assert x.dtype == y.dtype
                    # Sums over other layouts come in another order.
                    np.testing.assert_allclose(
                        numpy_of(x), numpy_of(y), rtol=1e-12, atol=1e-12, err_msg=f"{layout}, {i}"
                    )
                    if layout == "row-major":
                        assert_same(numpy_of(x), numpy_of(y), (shape, i))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_results(function, engine):
    check(function, (5, 4), (300, 7), (8, 2), (3, 3), engine=engine)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_results_at_large_sizes(function):
    check(function, (70_001, 3), calls=1)


@pytest.mark.parametrize("function", [in_place, several, padded, views, filled, writes])
def test_sizes_of_0_and_1(function, engine):
    check(function, (1, 1), (4, 1), (1, 4), engine=engine)


@pytest.mark.parametrize("dtype", [xp.float64, xp.int64, xp.int8])
def test_nothing(dtype, engine):
    def function(x, y):
        z = y * 2 + y
        return xp.sum(x + x, axis=0), xp.max(x + 1, axis=1), z + xp.sum(x), xp.max(z, axis=0)

    compiled = xp.compile(function, engine=engine)
    for _ in range(2):
        x, y = xp.zeros((0, 5), dtype=dtype), xp.asarray(np.arange(12).reshape(3, 4), dtype=dtype)
        for found, expected in zip(compiled(x, y), function(x, y), strict=True):
            assert_same(found, expected)


@pytest.mark.slow
@hypothesis_settings(max_examples=25)
@given(program=programs(TRACEABLE), shapes=SHAPES)
def test_random_programs_step_by_step(program, shapes):
    with settings("context"), np.errstate(all="ignore"):
        function = xp.compile(lambda *arrays: run(program, *arrays), engine="steps")
        for seed, shape in enumerate(shapes):
            mine, eager = inputs(shape, seed), inputs(shape, seed)
            seen, live = function(*mine)
            expected_seen, expected = run(program, *eager)
            assert seen == expected_seen
            for i, (x, y) in enumerate(zip([*live, *mine], [*expected, *eager], strict=True)):
                assert_same(numpy_of(x), numpy_of(y), (shape, i))


@pytest.mark.slow
def test_without_the_extension():
    code = """if True:
        import numpy as np, array_api_nx as xp
        from tests import test_compile_runs as t
        x = np.random.default_rng(0).standard_normal((40, 5))
        for function in t.FUNCTIONS:
            compiled = xp.compile(function)
            for _ in range(2):
                for each in t.leaves(compiled(xp.asarray(x.copy()))):
                    print(t.numpy_of(each).tobytes().hex())
    """
    outputs = [python("-c", code, ARRAY_API_NX_EXTENSION=value) for value in ("0", "1")]
    assert len(outputs[0].split()) > 2 * len(FUNCTIONS)
    assert outputs[0] == outputs[1]


@pytest.mark.parametrize(
    "function", [standardise, several, in_place, indices, padded, filled, parts_of_each_other]
)
def test_results_have_memory_of_their_own(function, engine):
    compiled = xp.compile(function, engine=engine)
    kept = []
    for i in range(4):
        x = normal(6, 4)
        results = leaves(compiled(x))
        kept += [(result, numpy_of(result)) for result in results]
        for a, b in combinations([np.asarray(each) for each in (*[k for k, _ in kept], x)], 2):
            assert not np.shares_memory(a, b), i
        if i == 2:
            # Writes to a result stay there.
            for result in results:
                result[...] = 9
            kept = kept[: -len(results)]
    for result, values in kept:
        assert_same(result, values)


def test_equal_results():
    compiled = xp.compile(lambda x: (x + 1, x + 1, [(x + 1)[1:], xp.sum(x), xp.sum(x)]))
    for n in (4, MANY_TASKS):
        x = normal(n)
        results = leaves(compiled(x))
        for a, b in combinations(results, 2):
            assert not np.shares_memory(np.asarray(a), np.asarray(b))
        assert_same(results[1], x + 1)
        assert_same(results[2], (x + 1)[1:])


@pytest.mark.parametrize("n", [5, MANY_TASKS])
def test_results_that_show_arguments(n):
    outside = normal(n)
    compiled = xp.compile(lambda x: (x[1:], x + 1, outside[::-1], x))
    for _ in range(2):
        x = normal(n)
        part, more, back, same = compiled(x)
        assert same is x
        assert np.shares_memory(np.asarray(part), np.asarray(x))
        assert np.shares_memory(np.asarray(back), np.asarray(outside))
        assert not np.shares_memory(np.asarray(more), np.asarray(x))


def test_unaligned_arguments():
    x = rng.standard_normal((6, 4))
    for function in (standardise, softmax, several):
        mine = xp.asarray(LAYOUTS["unaligned"](x))
        for found, expected in zip(
            leaves(xp.compile(function)(mine)), leaves(function(xp.asarray(x))), strict=True
        ):
            assert_same(found, expected)


def test_many_threads():
    functions = [xp.compile(each) for each in (standardise, several, in_place, nearest)]
    given = [normal(7, 3) for _ in range(40)]
    expected = [[leaves(each.__wrapped__(x * 1)) for each in functions] for x in given]
    barrier = threading.Barrier(4)

    def work(k):
        barrier.wait()
        for _ in range(5):
            for i in range(k, len(given), 4):
                for function, wanted in zip(functions, expected[i], strict=True):
                    for x, y in zip(leaves(function(given[i] * 1)), wanted, strict=True):
                        assert_same(numpy_of(x), numpy_of(y))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))


def test_errors_leave_a_program_as_it_was():
    compiled = xp.compile(lambda x: xp.linalg.inv(x * 2) + 1)
    good, bad = xp.asarray(np.eye(3)), xp.zeros((3, 3))
    expected = numpy_of(compiled(good))
    for _ in range(3):
        refused(np.linalg.LinAlgError, None, compiled, bad)
        assert_same(numpy_of(compiled(good)), expected)


def test_runs_that_a_compiled_callable_declines():
    """As often as it likes: a product that meets invalid values is left to NumPy."""
    compiled = xp.compile(lambda x: xp.linalg.inv(x) @ (x * 1e308 * 10))
    x = xp.asarray(np.eye(3) * 2)
    with np.errstate(all="ignore"):
        expected = numpy_of(compiled.__wrapped__(x))
        for _ in range(12):
            assert_same(numpy_of(compiled(x)), expected)
    with pytest.warns(RuntimeWarning, match="invalid value encountered in matmul"):
        compiled(x)


def divide(x):
    return xp.log(x) / x + xp.sqrt(-x)


def sums(x):
    return xp.sum(x * 1e308 * 10) / xp.std(x) - xp.mean(x)


def matrices(x):
    y = xp.reshape(x, (2, -1)) * 1e200
    return y @ y.T * 2 - 1


def called(function, x, **state):
    """Which warnings came, or the error, and the results."""
    with warnings.catch_warnings(record=True) as caught, np.errstate(**state):
        warnings.simplefilter("always")
        try:
            results = [numpy_of(each) for each in leaves(function(x))]
        except FloatingPointError as error:
            return [str(error)], None
    return sorted({str(each.message) for each in caught}), results


@for_each("function", [divide, sums, matrices])
@for_each(
    "state",
    [
        {"all": "warn"},
        {"all": "ignore"},
        {"all": "raise"},
        {"all": "warn", "divide": "ignore"},
        {"all": "ignore", "over": "raise"},
    ],
)
def test_floating_point_errors(function, state, engine):
    values = np.asarray([0.0, 1.0, -2.0, 3.0, 1e-3, 0.5])
    compiled = xp.compile(function, engine=engine)
    with np.errstate(all="ignore"):
        compiled(xp.asarray(values))
    for _ in range(2):
        found, results = called(compiled, xp.asarray(values), **state)
        expected, wanted = called(function, xp.asarray(values), **state)
        assert found == expected
        assert (results is None) == (wanted is None)
        for x, y in zip(results or (), wanted or (), strict=True):
            assert_same(x, y)


def test_many_operations_and_many_arrays():
    def long(x):
        for i in range(200):
            x = x * (1 + i / 1000) + i
        return x

    def wide(*several):
        return tuple([x * 2 + i for i, x in enumerate(several)])

    arrays = [xp.asarray(np.arange(5.0) + i, copy=True) for i in range(100)]
    for function, arguments in ((long, arrays[:1]), (wide, arrays)):
        compiled = xp.compile(function)
        for _ in range(2):
            found, expected = compiled(*arguments), function(*arguments)
            pairs = (
                zip(found, expected, strict=True) if type(found) is tuple else [(found, expected)]
            )
            for x, y in pairs:
                assert_same(x, y)


EARLY = """
from array_api_nx.backends.cpu import CPUBackend
from array_api_nx.testing.contract.test_programs import check_runs

backend = CPUBackend()
check_runs(backend, backend.prepare)
"""


def test_a_backend_runs_programs_before_any_device_is_used():
    python("-c", EARLY)
