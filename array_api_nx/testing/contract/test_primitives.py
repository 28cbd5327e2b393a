"""Every method that computes, by its trials: all dtypes, all layouts, and its refusals."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from ...contract.arguments import Handle, Keys, Operand
from ...contract.backend import Backend
from ...core import dtypes as d
from ...core.dtypes import DType
from ...primitives import rules
from ...primitives import table as p
from ...primitives.table import Primitive, of_family
from . import trials_axes, trials_elementwise, trials_indexing, trials_matrices, trials_movement
from .layouts import case, check, has, limits, row_major, small, spread
from .trials import Arguments, Trials, called, mapped, run, run_writes

TRIALS: dict[str, Trials] = {
    **trials_movement.TRIALS,
    **trials_elementwise.TRIALS,
    **trials_axes.TRIALS,
    **trials_indexing.TRIALS,
    **trials_matrices.TRIALS,
}


def dtypes_of(method: str) -> list[DType]:
    """The dtypes that a method is tried for."""
    # Methods that are no rows are tried for all dtypes, as are the weights of `bincount`.
    named = method in rules.ROWS and method != "bincount"
    dtypes = rules.ROWS[method].results if named else d.ALL
    return [dtype for dtype in dtypes if any(True for _ in TRIALS[method].arguments(dtype))]


@pytest.mark.parametrize(
    ("method", "dtype"),
    [(method, dtype) for method in TRIALS for dtype in dtypes_of(method)],
    ids=str,
)
def test_method(backend: Backend, method: str, dtype: DType) -> None:
    run(backend, method, dtype, TRIALS[method])


@pytest.mark.parametrize("op", trials_elementwise.ROWS, ids=lambda op: op.name)
def test_elementwise(backend: Backend, op: Primitive) -> None:
    for dtype in [dtype for dtype in op.results if has(backend, dtype)]:
        run(backend, op.family, dtype, trials_elementwise.of_row(op, dtype))


@pytest.mark.parametrize("op", trials_axes.ROWS, ids=lambda op: op.name)
def test_along_axes(backend: Backend, op: Primitive) -> None:
    dtypes = d.ALL if op.by is not None else op.results
    for dtype in [dtype for dtype in dtypes if has(backend, dtype)]:
        run(backend, op.family, dtype, trials_axes.of_row(op, dtype))


@pytest.mark.parametrize("dtype", p.SORT.results, ids=str)
@pytest.mark.parametrize("method", trials_axes.UNSTABLE)
def test_order_of_equal_elements_that_is_open(backend: Backend, dtype: DType, method: str) -> None:
    run(backend, method, dtype, trials_axes.UNSTABLE[method])


# ---------------------------------------------------------------------- methods that write


def assignments(dtype: DType) -> Iterator[Arguments]:
    values = limits(dtype)
    x = small(dtype, (2, 1, 5, 5))
    scalars: list[float] = [True] if dtype is d.bool else [True, 2]
    scalars += [-0.5, np.inf] if dtype in d.FLOATING else []
    for value in (spread(values, x.shape), spread(values, (5, 1)), spread(values, ())):
        yield x, value
    yield x, spread(values, (1, 1, *x.shape))
    for scalar in scalars:
        yield x, scalar
    yield np.asarray(values[0]), np.asarray(values[1])
    yield small(dtype, (3, 0)), small(dtype, (3, 1))


def assign(target: Any, value: Any) -> None:
    target[...] = value


def strided_assignments(dtype: DType) -> Iterator[Arguments]:
    x = small(dtype, (2, 3, 4))
    for view in trials_movement.VIEWS:
        if 0 not in view.strides or not view.size:
            yield x, view, True if dtype is d.bool else 2
            yield x, view, trials_movement.shown(small(dtype, (24,)), view).copy()


def assign_strided(target: Any, view: Any, value: Any) -> None:
    trials_movement.shown(target.reshape(-1), view)[...] = value


WRITES: dict[str, tuple[Callable[[DType], Iterator[Arguments]], Callable[..., None]]] = {
    "assign": (assignments, assign),
    "assign_strided": (strided_assignments, assign_strided),
    "index_set": (trials_indexing.sets, trials_indexing.write),
}


@pytest.mark.parametrize("dtype", d.ALL, ids=str)
@pytest.mark.parametrize("method", WRITES)
def test_writing(backend: Backend, dtype: DType, method: str) -> None:
    trials, write = WRITES[method]
    run_writes(backend, method, trials(dtype), write)


# ---------------------------------------------------------------------- refusals

X = np.arange(24.0).reshape(trials_indexing.SHAPE)
SQUARE = np.ones((2, 3, 3))
REFUSED: list[tuple[str, Arguments, type[Exception], str | None]] = [
    *[
        ("binary", (op, np.ones((2, 3)), np.ones(2)), ValueError, "broadcast")
        for op in of_family("binary")
        if d.float64 in op.results
    ],
    ("where", (np.ones((3, 1), bool), np.ones((0, 4)), np.ones((3, 4))), ValueError, "broadcast"),
    *[
        ("apply", (op, (np.ones((3, 4), np.float32), np.ones(3, np.int32))), ValueError, "broadc")
        for op in trials_elementwise.ONE_RESULT
        if op.inputs == (d.float32, d.int32)
    ],
    *[("index_get", (X, keys), IndexError, None) for keys in trials_indexing.WRONG_KEYS],
    *[
        (method, (x, np.array(indices), axis), IndexError, None)
        for wrong in (3, -4, 2**40)
        for method, x, indices, axis in (
            ("take", np.ones((2, 3)), [0, wrong], 1),
            ("gather", np.ones((2, 3)), [[0], [wrong]], 1),
            ("take", np.empty((2, 0)), [0], 1),
        )
    ],
    ("cat", ([X, X[0]], 1), ValueError, "dimension"),
    ("cat", ([X, np.ones((7, 7, 7, 7))], 1), ValueError, "dimension"),
    *[
        (method, (SQUARE, np.ones((4, 3, 3))), ValueError, "broadcast")
        for method in ("matmul", "vecdot")
    ],
    ("solve", (SQUARE + np.eye(3), np.ones((3, 3, 3))), ValueError, "broadcast"),
    ("solve", (np.zeros((2, 2)), np.zeros((2, 2))), np.linalg.LinAlgError, None),
    ("inv", (np.zeros((2, 2)),), np.linalg.LinAlgError, None),
    *[
        ("cholesky", (-trials_matrices.hermitian(dtype), upper), np.linalg.LinAlgError, None)
        for dtype in p.CHOLESKY.results
        for upper in (False, True)
    ],
    *[
        ("bincount", (np.array([1, -7, 3]), weights, 0, True), ValueError, "least element is -7; ")
        for weights in (None, np.array([1, -7, 3]), np.ones(3))
    ],
]


@pytest.mark.parametrize(("method", "arguments", "error", "words"), REFUSED)
def test_refusals(
    backend: Backend, method: str, arguments: Arguments, error: type[Exception], words: str | None
) -> None:
    given = mapped(np.ndarray, lambda x: case(backend, row_major, x), arguments)
    with pytest.raises(error, match=words):
        backend.evaluate(called(backend, method, given))


@pytest.mark.parametrize("dtype", d.SIGNED, ids=str)
def test_negative_integer_powers_are_refused(backend: Backend, dtype: DType) -> None:
    x = case(backend, row_major, np.array([2, 3, 4], dtype), writable=True)
    exponents = case(backend, row_major, np.array([2, 2, -1], dtype)).handle
    for out in (None, x.handle):
        for exponent in (exponents, -1):
            with pytest.raises(ValueError, match="negative"):
                backend.evaluate(backend.binary(p.POW, x.handle, exponent, out))
    check(backend, x.handle, x.oracle, hint="nothing has changed")


def set_now(backend: Backend, x: Handle, keys: Keys, value: Operand) -> None:
    """Write to `x`, also where that would wait."""
    backend.index_set(x, keys, value)
    backend.evaluate(x)


@pytest.mark.parametrize(
    ("keys", "size", "error", "words"),
    [
        *[(keys, 1, IndexError, None) for keys in trials_indexing.WRONG_KEYS],
        *[(keys, 5, ValueError, r"broadcast|assign") for keys in trials_indexing.KEYS[:6]],
    ],
)
def test_refused_writes_change_nothing(
    backend: Backend, keys: Any, size: int, error: type[Exception], words: str | None
) -> None:
    x = case(backend, row_major, X, writable=True)
    given = mapped(np.ndarray, lambda key: case(backend, row_major, key).handle, keys)
    value = case(backend, row_major, np.full(size, -1.0)[0 if size == 1 else ...]).handle
    for written in (-1.0, value) if size == 1 else (value,):
        with pytest.raises(error, match=words):
            set_now(backend, x.handle, given, written)
        check(backend, x.handle, x.oracle, hint="nothing has changed")
