"""Ufuncs of NumPy and of other libraries on our arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import array_api_nx as xp

SAMPLE = np.asarray([[0.5, -1.25, 3.0], [2.0, 0.0, 7.5]])


def assert_equal(found: Any, expected: Any) -> None:
    if isinstance(expected, tuple):
        assert type(found) is tuple
        for one, other in zip(found, expected, strict=True):
            assert_equal(one, other)
        return
    expected = np.asarray(expected)
    assert type(found) is xp.Array
    assert (found.shape, str(found.dtype)) == (expected.shape, str(expected.dtype))
    np.testing.assert_array_equal(np.asarray(found), expected)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.exp(x),
        lambda x: np.add(x, 1),
        lambda x: np.add(1.5, x),
        lambda x: np.cbrt(x),
        lambda x: np.frexp(x),
        lambda x: np.divmod(x, 2),
        lambda x: divmod(np.float64(7), x + 10),
        lambda x: np.heaviside(x, 0.5),
        lambda x: np.float32(2) * x,
        lambda x: np.float64(3) ** x,
        lambda x: np.float64(2) == x,
        lambda x: np.float64(2) < x,
        lambda x: np.matmul(x, x.T),
        lambda x: np.vecdot(x, x),
        lambda x: np.rint(x),
        lambda x: np.max(x),
        lambda x: np.min(x, axis=1),
        lambda x: np.sum(x),
        lambda x: np.prod(x, axis=0, keepdims=True),
        lambda x: np.any(x),
        lambda x: np.all(x, axis=1),
        lambda x: np.add.outer(x, x),
        lambda x: np.subtract.accumulate(x, axis=1),
        lambda x: np.hypot.reduce(x),
        lambda x: np.add.reduceat(x, [0, 1], axis=1),
    ],
)
def test_ufuncs_give_our_arrays(call: Callable[[Any], Any]) -> None:
    assert_equal(call(xp.asarray(SAMPLE)), call(SAMPLE))


def test_a_numpy_array_is_refused_as_an_operand() -> None:
    x = xp.ones(3)
    for call in (
        lambda: np.add(np.ones(3), x),
        lambda: np.cbrt(x) + np.ones(3),
        lambda: np.hypot(x, [1.0, 2.0, 3.0]),
        lambda: np.ones((3, 3)) @ x,
        lambda: np.fmax(x, np.ones(3), out=np.ones(3)),
    ):
        with pytest.raises(TypeError, match=r"not a .*; convert it with asarray\(...\)"):
            call()


def test_out_takes_our_arrays_and_numpys() -> None:
    x, y = xp.asarray([1.0, 2.0]), xp.zeros(2)
    assert np.add(x, 1, out=y) is y
    assert_equal(y, np.asarray([2.0, 3.0]))
    memory = np.zeros(2)
    assert np.multiply(x, 3, out=memory) is memory
    assert memory.tolist() == [3.0, 6.0]
    with pytest.raises(TypeError, match="loses data; leave out= out"):
        np.divide(x, 2, out=xp.zeros(2, dtype=xp.int64))
    with pytest.raises(ValueError, match="which out= must have"):
        np.add(x, 1, out=xp.zeros(3))
    np.add.at(x, [0, 0], 5.0)
    assert_equal(x, np.asarray([11.0, 2.0]))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: np.exp(x, where=True), TypeError, r"takes no where; use xp.where\("),
        (lambda x: np.exp(x, dtype=np.float32), TypeError, "x.astype first for dtype="),
        (lambda x: np.cbrt(xp.astype(x, xp.int8)), TypeError, "float16, which the standard lacks"),
        (lambda x: np.isnat(x), TypeError, "isnat has no loop for float64; convert"),
        (lambda x: np.frompyfunc(abs, 1, 1)(x), TypeError, "gives object, which the standard"),
        (lambda x: np.fmax(x, xp.ones(4)), ValueError, "cannot be broadcast"),
        (lambda x: np.gcd(xp.asarray([1], dtype=xp.int8), 1000), OverflowError, "out of range"),
        (lambda x: xp.extra.apply_ufunc(np.fmax, x), TypeError, "takes 2 operands, not 1"),
        (lambda x: xp.extra.apply_ufunc(np.fmax, 1.0, 2.0), TypeError, "at least one operand"),
        (lambda x: xp.extra.apply_ufunc(abs, x), TypeError, "takes a ufunc, such as"),
    ],
)
def test_refused(call: Callable[[Any], Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call(xp.ones(3))


def test_other_classes_that_answer_ufuncs_are_asked() -> None:
    class Answers:
        def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> str:
            return f"{ufunc.__name__} of {len(inputs)}"

    assert np.add(xp.ones(2), Answers()) == "add of 2"  # type: ignore[call-overload]
