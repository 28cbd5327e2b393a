"""Small compiled programs that call compiled callables between their kernels."""

from __future__ import annotations

import gc
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.native import native
from tests.support import implementations
from tests.support.tables import for_each

pytestmark = implementations.needs_native


def _softmax(x: Any, y: Any) -> Any:
    powers = xp.exp(x - xp.max(x, axis=1, keepdims=True))
    return powers / xp.sum(powers, axis=1, keepdims=True)


def _several(x: Any, y: Any) -> Any:
    return xp.sum(x * y, axis=0), 2.0 * y, xp.argmin(x[:, ::-1] - y, axis=1)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "softmax": _softmax,
    "several results": _several,
    "matrices": lambda x, y: (x @ xp.matrix_transpose(y)) * 2.0,
    "moments": lambda x, y: xp.mean(x + y, axis=0) / xp.var(y - x, axis=0),
    "truth": lambda x, y: xp.any(x > y, axis=1) & xp.all(x * x >= 0.0, axis=1),
    "extremes": lambda x, y: xp.max(x * y) - xp.min(y, axis=0),
    "order": lambda x, y: xp.sort(x * y, axis=1, descending=True) + 1.0,
    "order, indices": lambda x, y: xp.argsort(x - y, axis=0) + 1,
    "counts": lambda x, y: xp.max(xp.astype(x > y, xp.int64) * 3, axis=1) + 1,
    "indices": lambda x, y: xp.argmax(xp.astype(x, xp.complex128) == 0, axis=0),
    "flipped": lambda x, y: xp.sum(xp.flip(x + y, axis=0)[:, None, :] * 0.5, axis=(0, 1)),
}


@for_each("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", [xp.float32, xp.float64])
def test_results_are_those_of_the_function(name: str, dtype: Any) -> None:
    rng = np.random.default_rng(0)
    function = FUNCTIONS[name]
    for shape in [(3, 4), (40, 30), (7, 5), (3, 4), (60, 50)]:
        compiled = xp.compile(function)  # whose first sizes are planned at once
        for _ in range(3):
            x, y = [xp.astype(xp.asarray(rng.normal(size=shape)), dtype) for _ in range(2)]
            expected, found = function(x, y), compiled(x, y)
            assert implementations.describe(found) == implementations.describe(expected)
        assert implementations.is_answered_in_c(compiled, x, y)


def test_threads_share_a_program_with_a_long_product() -> None:
    """Whose memory no other run may use before the product has been computed."""
    compiled: Any = xp.compile(lambda x: (2 * x) @ x + 1)  # what one thread computes
    rng = np.random.default_rng(4)
    inputs = [xp.asarray(rng.normal(size=(120, 120)), copy=True) for _ in range(4)]
    expected = [np.asarray((2 * x) @ x + 1).tobytes() for x in inputs]
    compiled(inputs[0])
    assert implementations.is_answered_in_c(compiled, inputs[0])

    def runs(number: int) -> bool:
        return all(
            np.asarray(compiled(inputs[number])).tobytes() == expected[number] for _ in range(100)
        )

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(runs, range(4)))


def test_what_is_always_declined_is_not_tried_for_ever() -> None:
    """Here the product of matrices, which are too large for C."""
    compiled: Any = xp.compile(lambda x: xp.exp(xp.exp(x) @ x))
    x = xp.asarray(np.random.default_rng(3).normal(size=(190, 190)))
    expected = np.asarray(xp.exp(xp.exp(x) @ x)).tobytes()
    for _ in range(12):
        assert np.asarray(compiled(x)).tobytes() == expected
    assert not implementations.is_answered_in_c(compiled, x)


def test_arguments_may_be_results_of_the_same_program() -> None:
    step = xp.compile(lambda w, x: w - 0.1 * xp.sum(x * w, axis=0))
    x = xp.asarray(np.random.default_rng(1).normal(size=(9, 4)))
    w = expected = xp.ones(4)
    for _ in range(20):
        w = step(w, x)
        expected = expected - 0.1 * xp.sum(x * expected, axis=0)
    assert np.asarray(w).tobytes() == np.asarray(expected).tobytes()


@pytest.mark.parametrize("mode", ["ignore", "warn", "raise"])
def test_floating_point_errors(mode: Any) -> None:
    """Of a kernel, of a call after it, and of both."""

    def function(x: Any) -> Any:
        return xp.sum(1.0 / x, axis=0) * 2.0

    compiled = xp.compile(function)
    plain = np.full((4, 3), 2.0)
    zero, huge = plain.copy(), plain.copy()
    zero[1, 1] = 0.0
    huge[:, 2] = 1e-308
    for values in (plain, zero, huge, np.where(plain == zero, huge, zero), plain):
        x = xp.asarray(values, copy=True)
        compiled(xp.asarray(plain, copy=True))
        outcomes = []
        for call in (function, compiled):
            with np.errstate(all=mode), warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                try:
                    outcomes.append(np.asarray(call(x)).tobytes())
                except FloatingPointError as error:
                    outcomes.append(str(error))
            outcomes.append(sorted({str(one.message) for one in caught}))
            assert {one.filename for one in caught} <= {__file__}
        assert outcomes[:2] == outcomes[2:]


def test_threads_call_one_program() -> None:
    compiled = xp.compile(_softmax)
    rng = np.random.default_rng(2)
    inputs = [xp.asarray(rng.normal(size=(20, 30))) for _ in range(4)]
    expected = [np.asarray(_softmax(x, x)).tobytes() for x in inputs]
    failures: list[int] = []

    def work(number: int) -> None:
        for i in range(300):
            which = (number + i) % 4
            if np.asarray(compiled(inputs[which], inputs[which])).tobytes() != expected[which]:
                failures.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_finalisers_may_call_the_same_program() -> None:
    compiled = xp.compile(_softmax)
    x, other = xp.asarray(np.eye(6)), xp.asarray(np.full((6, 6), 3.0))
    expected = np.asarray(_softmax(x, x)).tobytes()
    called = []

    class Cycle:
        def __init__(self) -> None:
            self.itself = self

        def __del__(self) -> None:
            called.append(compiled(other, other))

    threshold = gc.get_threshold()
    gc.set_threshold(3)
    try:
        for _ in range(200):
            Cycle()
            assert np.asarray(compiled(x, x)).tobytes() == expected
    finally:
        gc.set_threshold(*threshold)
    assert gc.isenabled()
    assert len(called) > 50


F8 = np.dtype(float)
GOOD = ("sum", ((0, F8, (2, 3), (24, 8), 0),), 1, ("axis",), (0,))
BAD = {
    "name": (("add_up", *GOOD[1:]), ValueError, "add_up has no C implementation"),
    "no operands": ((GOOD[0], (), *GOOD[2:]), ValueError, "operands must have 1 to 3 items"),
    "outside": (
        (GOOD[0], ((0, F8, (2, 3), (24, 8), 8),), *GOOD[2:]), ValueError, "leaves its memory",
    ),
    "before": (
        (GOOD[0], ((0, F8, (2, 3), (24, -8), 0),), *GOOD[2:]), ValueError, "leaves its memory",
    ),
    "number": (
        (GOOD[0], ((7, F8, (2, 3), (24, 8), 0),), *GOOD[2:]), ValueError, "leaves its memory",
    ),
    "strides": (
        (GOOD[0], ((0, F8, (2, 3), (24,), 0),), *GOOD[2:]), ValueError, "strides must have 2",
    ),
    "dtype": (
        (GOOD[0], ((0, np.dtype("f2"), (2, 3), (24, 8), 0),), *GOOD[2:]), TypeError, "dtype of",
    ),
    "result": ((*GOOD[:2], 9, *GOOD[3:]), ValueError, "result of a call has no memory"),
    "values": ((*GOOD[:4], ()), ValueError, "values must have 1 to 5 items"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_descriptions_are_checked(name: str) -> None:
    description, error, words = BAD[name]
    given = (((2, 3), F8), ((3,), F8))
    assert native is not None
    native.Sequence(given, (), (GOOD,), True)
    with pytest.raises(error, match=words):
        native.Sequence(given, (), (GOOD, description), True)


def test_sequences_with_calls_run_over_lists_of_arrays() -> None:
    assert native is not None
    sequence = native.Sequence((((2, 3), F8), ((3,), F8)), (), (GOOD,), True)
    arrays = [np.arange(6.0).reshape(2, 3)]
    assert sequence.run(arrays) is None
    assert arrays[1].shape == (3,)
    # The callable declines a result with floating-point errors.
    assert sequence.run([np.full((2, 3), 1e308)]) is False
