"""Programs that the extension runs without Python, on one thread and on several."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx import Array
from array_api_nx.backends.cpu.policy import limits
from array_api_nx.backends.cpu.programs import running
from array_api_nx.native import native
from tests.support.programs import assert_same

pytestmark = pytest.mark.skipif(native is None, reason="needs the C extension")

rng = np.random.default_rng(11)


def cheap(x: Array, y: Array) -> Array:
    return 2 * x + 3 * y


def costly(x: Array, y: Array) -> tuple[Array, Array]:
    return xp.sin(x) ** 2 + xp.exp(-y), xp.sqrt(abs(x))


def across(x: Array, y: Array) -> Array:
    return (x + y.T) * 2 - x


def counted(x: Array, y: Array) -> Array:
    return xp.count_nonzero((x > 0.2) & (y < 0.5))


def bounds(x: Array, y: Array) -> tuple[Array, ...]:
    """Each task may have accumulators of its own."""
    return xp.any(x > y + 4), xp.max(x - y), xp.all(x > y - 2, axis=0), xp.count_nonzero(x > y)


FUNCTIONS = [cheap, costly, across, counted, bounds]


def moved(x: Array, y: Array) -> tuple[Array, ...]:
    """Each result is shown in another layout than that in which it was computed."""
    part = xp.flip(x * y, axis=0)[1:, ::2]
    return (x - y).T, part, xp.permute_dims(x[:, None] + 1, (1, 2, 0)), xp.reshape(x * 2, (-1,))


REDUCED: dict[str, Callable[[Array], Any]] = {
    "sum": lambda x: xp.sum(x, axis=0),
    "sum of all": xp.sum,
    "mean": lambda x: xp.mean(x, axis=1, keepdims=True),
    "var": lambda x: xp.var(x, axis=0),
    "var of all": lambda x: xp.var(x, correction=1),
    "std": lambda x: xp.std(x, axis=-1, keepdims=True, correction=2.5),
    "no degree of freedom": lambda x: xp.var(x, correction=10**6),
    "standardise": lambda x: (x - xp.mean(x, axis=0)) / xp.std(x, axis=0),
    "softmax": lambda x: xp.exp(x) / xp.sum(xp.exp(x), axis=1, keepdims=True),
    "distances": lambda x: xp.sum((x - x[0, :]) ** 2, axis=-1),
    "of a view": lambda x: xp.mean(x[1:], axis=0),
    "of columns": lambda x: xp.var(x.T, axis=1),
}


def square(n: int, dtype: Any = np.float64) -> Array:
    return xp.asarray(rng.standard_normal((n, n)).astype(dtype), copy=True)


@pytest.fixture
def python_runs(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The runs by Python."""
    runs: list[object] = []
    run = running.PlannedRun.__call__

    def counting(self: running.PlannedRun, *handles: Any) -> Any:
        runs.append(self)
        return run(self, *handles)

    monkeypatch.setattr(running.PlannedRun, "__call__", counting)
    return runs


def same(found: Any, expected: Any) -> None:
    if isinstance(expected, tuple):
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other)
    else:
        assert_same(found, expected)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_kernels_run_without_python_up_to_the_threshold(function, threads, dtype, python_runs):
    compiled = xp.compile(function)
    with xp.config_context(num_threads=threads):
        for n in (7, 200, 316, 400):
            python_runs.clear()
            for _ in range(4):
                x, y = square(n, dtype), square(n, dtype)
                same(compiled(x, y), function(x, y))
            if n * n <= limits.deferred:
                assert len(python_runs) <= 1


@pytest.mark.parametrize("axis", [None, 0])
def test_sums_of_parts_have_the_same_bits_whatever_the_threads(axis, python_runs):
    compiled = xp.compile(lambda x: xp.mean(x * x, axis=axis))
    x = square(400)
    found = []
    for threads in (1, 2, 3, 2):
        with xp.config_context(num_threads=threads):
            found.append(compiled(x))
    assert len(python_runs) <= 1
    expected = np.mean(np.asarray(x) ** 2, axis=axis)
    np.testing.assert_allclose(np.asarray(found[0]), expected, rtol=1e-12)
    for other in found[1:]:
        assert_same(other, found[0])


def test_what_others_account_for_is_left_to_python(python_runs):
    n = int(max(limits.deferred, 10) ** 0.5) + 1
    compiled, x, y = xp.compile(cheap), square(n, np.float32), square(n, np.float32)
    for _ in range(3):
        result = compiled(x, y)
        waits = result + 1
        first = float(result[0, 0])
        result[...] = 0
        assert float(waits[0, 0]) == np.float32(first) + np.float32(1)
    assert len(python_runs) == 3


def test_several_python_threads_run_one_program():
    """Kernels on several threads run without the GIL: meanwhile others leave the program's memory
    alone, and may drop the arguments."""
    functions: list[Callable[..., Any]] = [
        xp.compile(lambda x, y: xp.cumulative_sum(costly(x, y)[0], axis=0)),
        xp.compile(costly),
        xp.compile(lambda x, y: xp.max(xp.sort(x * y, axis=1) + xp.sin(y), axis=0) - x),
    ]
    pairs = [(square(150), square(150)) for _ in range(6)]
    expected = [[each.__wrapped__(*pair) for each in functions] for pair in pairs]
    barrier = threading.Barrier(3)

    def work(thread: int) -> None:
        # Each thread is at other numbers: the same ones in shared memory would go unnoticed.
        cases = list(zip(pairs, expected, strict=True))
        cases = cases[2 * thread :] + cases[: 2 * thread]
        barrier.wait()
        with xp.config_context(num_threads=2):
            for _ in range(8):
                for (x, y), wanted in cases:
                    for function, result in zip(functions, wanted, strict=True):
                        same(function(x * 1, y * 1), result)

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(work, range(3)))


def test_two_python_threads_do_not_share_the_memory_between_kernels():
    @xp.compile
    def centred(x: Array) -> Array:
        sine = xp.sin(x)
        return sine - xp.mean(sine, axis=0)

    arrays = [square(300) for _ in range(2)]
    expected = [np.asarray(centred(x)) for x in arrays]
    barrier = threading.Barrier(2)

    def work(thread: int) -> bool:
        barrier.wait()
        with xp.config_context(num_threads=2):
            x, wanted = arrays[thread], expected[thread]
            return all([np.array_equal(np.asarray(centred(x)), wanted) for _ in range(50)])

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(work, range(2))) == [True, True]


def test_errors_are_warned_of_from_several_threads():
    compiled = xp.compile(lambda x, y: xp.log(x) + y)
    x, y = square(300), square(300)
    with xp.config_context(num_threads=2):
        for _ in range(3):
            with pytest.warns(RuntimeWarning, match="invalid value encountered in log"):
                result = compiled(x, y)
    same(result, xp.log(x) + y)


@pytest.mark.parametrize("name", list(REDUCED))
@pytest.mark.parametrize("n", [130, 185, 300, 361, 400])
def test_sums_have_the_bits_that_they_have_outside_programs(name, n):
    function = REDUCED[name]
    for dtype in (np.float32, np.float64):
        x = square(n, dtype)
        compiled = xp.compile(function)
        for _ in range(3):
            assert_same(compiled(x), function(x))


@pytest.mark.parametrize("name", ["sum", "mean", "var", "std", "standardise", "softmax"])
def test_programs_with_sums_run_without_python(name, python_runs):
    compiled = xp.compile(REDUCED[name])
    x = square(300)
    compiled(x)
    python_runs.clear()
    compiled(x)
    assert not python_runs


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_means_of_complex_products(dtype, axis):
    x = (rng.standard_normal((600, 1)) + 1j).astype(dtype)
    y = (rng.standard_normal((1, 700)) - 2j).astype(dtype)
    compiled = xp.compile(lambda x, y: xp.mean(x * y, axis=axis))
    arrays = xp.asarray(x, copy=True), xp.asarray(y, copy=True)
    expected = np.mean(x * y, axis=axis)
    for _ in range(3):
        np.testing.assert_allclose(np.asarray(compiled(*arrays)), expected, 1e-3, 1e-4)


def test_sums_that_overflow_warn_as_outside_programs():
    x = xp.full((300, 300), 1e308)
    for function in (lambda x: xp.sum(x, axis=0), lambda x: xp.mean(x, axis=1)):
        compiled = xp.compile(function)
        for run in (function, compiled, compiled):
            with pytest.warns(RuntimeWarning, match="overflow encountered in reduce"):
                result = run(x)
            assert xp.all(xp.isinf(result))


@pytest.mark.parametrize("n", [3, 40, 300])
def test_results_in_other_layouts(n, python_runs):
    x, y = square(n), square(n)
    compiled = xp.compile(moved)
    expected = [np.asarray(each) for each in moved(x, y)]
    compiled(x, y)
    python_runs.clear()
    results = compiled(x, y)
    assert not python_runs
    for result, wanted in zip(results, expected, strict=True):
        array = np.asarray(result)
        assert array.strides == wanted.strides
        np.testing.assert_array_equal(array, wanted)
    results[1][...] = 7.0  # no other array has this memory
    for number in (0, 2, 3):
        np.testing.assert_array_equal(np.asarray(results[number]), expected[number])
    for result, wanted in zip(compiled(x, y), expected, strict=True):
        np.testing.assert_array_equal(np.asarray(result), wanted)


WRONG_ORDERS: list[tuple[Any, ...]] = [
    (),
    (1,),
    (-1,),
    ((),),
    ((0, (4,), (8,)),),
    ((1, (4,), (8,), 0),),
    ((0, (5,), (8,), 0),),
    ((0, (4,), (8,), 8),),
    ((0, (4,), (8,), -8),),
    ((0, (4,), (-8,), 0),),
    ((0, (4,), (), 0),),
    ((0, (0,), (8,), 0),),
    ((0, 4, 8, 0),),
    ((0, (4.0,), (8,), 0),),
    ((0, (2**62, 2**62), (8, 8), 0),),
    ((0, (2**40, 2**40), (0, 0), 0),),
    ((0, (2,), (-(2**63),), 0),),
    ((0, (4,), (8,), 2**63 - 1),),
]


@pytest.mark.parametrize("order", WRONG_ORDERS)
def test_layouts_outside_the_memory_are_left_to_python(order):
    compiled: Any = xp.compile(lambda x: x * 4 - x * 2)
    x = xp.asarray([1.0, 2.0, 3.0, 4.0])
    for _ in range(3):
        compiled(x)
    sequence, constants, good, is_single, report, calls = compiled._program
    assert good == (0,)
    program = (sequence, constants, order, is_single, report, calls)
    if not order:
        with pytest.raises(TypeError, match="_program must be"):
            compiled._program = program
        return
    compiled._program = program
    np.testing.assert_array_equal(np.asarray(compiled(x)), [2.0, 4.0, 6.0, 8.0])
