"""Which operations wait, which force an evaluation, and limits."""

import operator
import pickle
import tracemalloc
from math import isqrt

import numpy as np
import pytest

import array_api_nx as xp
from tests.native.hazards import numbers
from tests.support.implementations import needs_native
from tests.support.processes import python
from tests.support.programs import LARGE, assert_same, deferring, numpy_of, pending, settings
from tests.support.refusals import refused
from tests.support.sizes import DEFERRED, THRESHOLD
from tests.support.tables import for_each

pytestmark = pytest.mark.usefixtures("threshold")

SHAPE = (4, 6)
MOST_OPERATIONS = 400
"""In an expression (native/expressions/nodes.h)."""


@pytest.fixture
def x():
    return xp.asarray(numbers(SHAPE), copy=True)


ELEMENTWISE = {
    "unary": xp.exp,
    "operator": operator.neg,
    "scalar": lambda x: x + 1,
    "scalar first": lambda x: 2 / x,
    "NumPy scalar": lambda x: x * np.float64(2.0),
    "two arrays": lambda x: x * x[::-1],
    "broadcast": lambda x: x - x[0],
    "comparison": lambda x: x < 3,
    "logical": lambda x: (x > 0) & (x < 5),
    "mixed dtypes": lambda x: x + xp.astype(x > 0, xp.int8),
    "float32": lambda x: xp.sqrt(xp.astype(x, xp.float32)),
    "square of integers": lambda x: xp.astype(x, xp.int16) ** 2,
    "square of float32": lambda x: xp.astype(x, xp.float32) ** 2.0,
    "where": lambda x: xp.where(x > 0, x, 0.0),
    "clip": lambda x: xp.clip(x, -1, 1),
    "astype": lambda x: xp.astype(x, xp.complex128),
    "chain": lambda x: xp.exp(-((x * x + 1.0) ** 2)) / (1 + xp.abs(x - 2.0)),
}
REDUCTIONS = {
    "sum": lambda x: xp.sum(x),
    "sum over the last axis": lambda x: xp.sum(x, axis=-1),
    "sum over the first axis": lambda x: xp.sum(x, axis=0, keepdims=True),
    "sum of a chain": lambda x: xp.sum(x * 2 + 1),
    "prod": lambda x: xp.prod(xp.sign(x), axis=1),
    "max": lambda x: xp.max(x),
    "min": lambda x: xp.min(x, axis=(0, 1)),
    "any": lambda x: xp.any(x > 3),
    "all": lambda x: xp.all(x > 3, axis=0),
    "count_nonzero": lambda x: xp.count_nonzero(x),
    "mean": lambda x: xp.mean(x, axis=0),
    "var": lambda x: xp.var(x, axis=0),
    "std": lambda x: xp.std(x),
    "standardised": lambda x: (x - xp.mean(x, axis=0)) / xp.std(x, axis=0),
    "rows by the sum of their squares": lambda x: (
        xp.square(x - xp.max(x, axis=-1, keepdims=True))
        / xp.sum(xp.square(x - xp.max(x, axis=-1, keepdims=True)), axis=-1, keepdims=True)
    ),
}
MOVEMENT = {
    "T": lambda x: x.T,
    "mT": lambda x: x.mT,
    "row": lambda x: x[1],
    "element": lambda x: x[1, 2],
    "stepped": lambda x: x[::2, ::-3],
    "new axis": lambda x: x[:, None],
    "reshape": lambda x: xp.reshape(x, (3, 8)),
    "permute_dims": lambda x: xp.permute_dims(x, (1, 0)),
    "broadcast_to": lambda x: xp.broadcast_to(x, (2, 4, 6)),
    "broadcast_arrays": lambda x: xp.broadcast_arrays(x, x[0])[1],
    "flip": lambda x: xp.flip(x, axis=1),
    "squeeze": lambda x: xp.squeeze(x[:, :1], axis=1),
    "expand_dims": lambda x: xp.expand_dims(x, axis=0),
    "unstack": lambda x: xp.unstack(x)[0],
    "moveaxis": lambda x: xp.moveaxis(x, 0, 1),
    "iteration": lambda x: list(x)[3],
    "diagonal": lambda x: xp.linalg.diagonal(x),
    "the same dtype": lambda x: xp.astype(x, xp.float64, copy=False),
    "asarray": lambda x: xp.asarray(x),
    "to_device": lambda x: x.to_device("cpu"),
    "chain of movements": lambda x: xp.reshape(x.T[::-1, 1:3], (6, 2, 1))[2:, 0, 0],
}


WAITING = {*ELEMENTWISE, "standardised", "rows by the sum of their squares"}
"""What C records, of few elements: no reductions, and no other functions."""


@for_each("name", [*ELEMENTWISE, *REDUCTIONS])
def test_what_waits(name, x):
    compute = {**ELEMENTWISE, **REDUCTIONS}[name]
    with settings("off"):
        oracle = numpy_of(compute(x))
    with deferring():
        y = compute(x)
        assert pending(y) == (name in WAITING)
        assert pending(compute(x * 1.0)) == (name in WAITING)
        assert_same(numpy_of(y), oracle)
        assert not pending(y)


COMPLEX = {
    "a column": (lambda x: x * x[:, :1] + x, True),
    "a row": (lambda x: x - x[0], True),
    "parts of rows": (lambda x: x[:, 1:] * x[:, :-1], True),
    "absolute values": (lambda x: xp.abs(x[:, 1:]), True),
    "columns": (lambda x: x.T + xp.ones((6, 4)), False),
    "every other element": (lambda x: x[:, ::2] * 2.0, False),
    "rows of one": (lambda x: x[:, :1] * x[:, 1:2], False),
}
"""What waits of complex numbers: where the elements of each row follow one another, or are one."""


@for_each("name", COMPLEX)
@for_each("dtype", ["complex64", "complex128"])
def test_complex_numbers_wait_where_they_lie_in_rows(name, dtype, x):
    compute, waits = COMPLEX[name]
    parts = xp.asarray(numbers((4, 6)) / 7.0)
    z = xp.astype(parts + 1j * xp.flip(parts, axis=0), getattr(xp, dtype))
    with settings("off"):
        oracle = numpy_of(compute(z))
    with deferring():
        y = compute(z)
        assert pending(y) == waits
        assert_same(numpy_of(y), oracle)


@for_each("name", MOVEMENT)
def test_movement_over_pending_stays_pending(name, x):
    move = MOVEMENT[name]
    with deferring():
        y = x * 2.0
        moved = move(y)
        assert pending(y)
        assert pending(moved)
        oracle = numpy_of(move(xp.asarray(numbers(SHAPE) * 2.0)))
        assert_same(numpy_of(moved), oracle)
        assert not pending(y)
        assert_same(numpy_of(y), numbers(SHAPE) * 2.0)


def test_movement_over_memory_is_not_pending(x):
    with deferring():
        for move in MOVEMENT.values():
            assert not pending(move(x))


def test_pending_expressions_read_pending_ones(x):
    with deferring():
        y = x * 2.0
        z = y - 1.0
        w = z * y
        assert all([pending(array) for array in (y, z, w)])
        a = numbers(SHAPE) * 2.0
        assert_same(numpy_of(w), (a - 1.0) * a)


@pytest.mark.parametrize("fusion", ["auto", "always"])
def test_the_default_threshold(fusion):
    with xp.config_context(fusion=fusion, fusion_threshold=THRESHOLD):
        small, large = xp.ones((THRESHOLD,)), xp.ones((DEFERRED,))
        xp.evaluate(small, large)
        assert not pending(small + 1.0)
        assert not pending(xp.sum(small))
        assert pending(large + 1.0)
        assert pending(xp.sum(large))
        # What counts is the result's elements, and for a reduction those that it reads.
        side = isqrt(THRESHOLD) + 1
        row, column = small[:side], xp.reshape(small[:side], (side, 1))
        for _ in range(2):  # as new views, and as views that were used before
            assert pending(row + column)
            assert not pending(row + row)
            assert not pending(column + column)
        assert float(xp.sum(large + 1.0)) == 2.0 * DEFERRED


@pytest.mark.parametrize("threshold", [0, 5, 24])
def test_the_threshold(threshold):
    with xp.config_context(fusion="auto", fusion_threshold=threshold):
        for size in (0, 2, 5, 6, 24, 25):
            x = xp.asarray(np.ones(size), copy=True)
            assert pending(x * 2.0) == (size > threshold)


def test_nothing_is_deferred_without_fusion(x):
    big = xp.asarray(np.ones(DEFERRED), copy=True)
    with xp.config_context(fusion="off", fusion_threshold=0):
        for compute in {**ELEMENTWISE, **REDUCTIONS}.values():
            assert not pending(compute(x))
        assert not pending(big + 1.0)


def test_what_is_pending_stays_right_in_another_context(x):
    with deferring():
        y = x * 2.0
        z = y + 1.0
    with settings("off"):
        w = z * 3.0
        assert not pending(w)
        assert_same(numpy_of(w), (numbers(SHAPE) * 2.0 + 1.0) * 3.0)
        x[...] = 0.0
        assert_same(numpy_of(y), numbers(SHAPE) * 2.0)


QUESTIONS = {
    "shape": lambda x: x.shape,
    "dtype": lambda x: x.dtype,
    "ndim": lambda x: x.ndim,
    "size": lambda x: x.size,
    "device": lambda x: x.device,
    "len": len,
    "type": lambda x: repr(type(x)),
    "namespace": lambda x: x.__array_namespace__(),
    "result_type": lambda x: xp.result_type(x, xp.float32),
    "can_cast": lambda x: xp.can_cast(x, xp.complex64),
    "finfo": lambda x: xp.finfo(x),
    "identity": lambda x: x is not None,
    "dlpack device": lambda x: x.__dlpack_device__(),
    "explain": lambda x: str(xp.explain(x)),
    "iterating": lambda x: list(x),
    "like": lambda x: xp.zeros_like(x),
    "used": lambda x: x * 2.0,
    "broadcast_shapes": lambda x: xp.broadcast_shapes(x.shape, (6,)),
}


@for_each("name", QUESTIONS)
def test_what_does_not_force(name, x):
    with deferring():
        y = x * 2.0
        QUESTIONS[name](y)
        assert pending(y)


FORCES = {
    "an element": lambda y: float(y[0, 1]),
    "a row": lambda y: [float(x) for x in y[0] + 1.0],
    "NumPy": np.asarray,
    "NumPy of a view": lambda y: np.asarray(y[1:]),
    "dlpack": lambda y: np.from_dlpack(y),
    "evaluate": lambda y: xp.evaluate(y),
    "evaluate a view": lambda y: xp.evaluate(y[1:]),
    "sort": lambda y: xp.sort(y),
    "argmax": lambda y: xp.argmax(y),
    "matmul": lambda y: y @ y.T,
    "take": lambda y: xp.take(y, xp.asarray([0]), axis=0),
    "index arrays": lambda y: y[xp.asarray([0])],
    "mask": lambda y: y[y > 0],
    "nonzero": lambda y: xp.nonzero(y),
    "unique_values": lambda y: xp.unique_values(y),
    "cumulative_sum": lambda y: xp.cumulative_sum(y, axis=0),
    "concat": lambda y: xp.concat([y, y]),
    "inverse": lambda y: xp.linalg.svdvals(y),
    "view": lambda y: y.view(xp.int64),
}


@for_each("name", FORCES)
def test_what_forces(name, x):
    with deferring():
        y = x * 2.0
        assert pending(y)
        FORCES[name](y)
        assert not pending(y)
        assert_same(numpy_of(y), numbers(SHAPE) * 2.0)


COPIED = {
    "repr": repr,
    "str": str,
    "format": lambda y: f"{y[0, 0]}",
    "pickle": pickle.dumps,
    "copy": lambda y: xp.asarray(y, copy=True),
    "NumPy copy": lambda y: np.asarray(y.__copy__()),
}


@pytest.mark.parametrize("name", COPIED)
def test_what_copies_hands_nothing_out(name, x):
    # So later readers can still be deferred.
    with deferring():
        y = x * 2.0
        for array in (x, y):
            COPIED[name](array)
            assert pending(array + 1.0)
        assert_same(numpy_of(y), numbers(SHAPE) * 2.0)


def test_index(x):
    with deferring():
        n = xp.count_nonzero(x)
        assert operator.index(n) == np.count_nonzero(numbers(SHAPE))
        assert list(range(5))[xp.sum(xp.ones((2,), dtype=xp.int64))] == 2


def test_writing_evaluates_readers(x):
    with settings("context"):
        y, z, w = x + 1.0, x[1:] - 1.0, x.T
        q = w * 2.0
        other = xp.asarray([1.0], copy=True) + 1.0
        x[0] = 5.0
        assert not any([pending(reader) for reader in (y, z, q)])
        # Arrays that do not read x are still pending.
        assert pending(other)


def test_evaluate_computes_all_its_arguments(x):
    with deferring():
        y = x * 2.0
        arrays = [y, y + 1.0, xp.sum(y), y.T[0], xp.ones((3,)), x]
        assert xp.evaluate(*arrays) is None
        assert not any([pending(array) for array in arrays])
        a = numbers(SHAPE) * 2.0
        for actual, oracle in zip(
            arrays, [a, a + 1.0, a.sum(), a[:, 0], np.ones(3), a / 2.0], strict=True
        ):
            assert_same(numpy_of(actual), oracle)
        assert xp.evaluate() is None


@pytest.mark.parametrize("value", [1.0, None, "x", [1.0]], ids=repr)
def test_evaluate_takes_arrays(value, x):
    refused(TypeError, None, xp.evaluate, value)
    with deferring():
        y = x * 2.0
        refused(TypeError, None, xp.evaluate, y, value)
        assert_same(numpy_of(y), numbers(SHAPE) * 2.0)


def test_results_that_do_not_fit_into_memory(x):
    with deferring():
        y = x[0] * 2.0
        huge = xp.broadcast_to(y, (1 << 43, 6)) + x[1]
        assert huge.shape == (1 << 43, 6)
        for _ in range(2):
            refused(MemoryError, None, xp.evaluate, huge)
        with pytest.raises(MemoryError):
            x[...] = huge[:4] * 2.0
        # While it lives, its operands cannot be handed out.
        del huge
        assert_same(numpy_of(y), numbers(SHAPE)[0] * 2.0)
        x[...] = 3.0
        assert_same(numpy_of(x), np.full(SHAPE, 3.0))


def test_nothing_is_kept_of_what_is_dropped():
    size, rounds = 2 * LARGE, 120
    x = xp.asarray(np.ones(size), copy=True)
    tracemalloc.start()
    try:
        with settings("large"):
            for i in range(rounds):
                y = x * float(i)
                z, equal = y + 1.0, x * float(i)
                y[0] = 5.0
                xp.evaluate(z)
                total = xp.sum(equal - z)
                x += 1.0
                del y, z, equal
                assert float(total) == -size
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # A tenth of one array per round, or the bounded pool.
    assert held < rounds * size * 8 / 10 + (64 << 20) / 10


@pytest.mark.parametrize("mode", ["context", "always"])
def test_long_chains_have_a_cap(mode, x):
    with settings(mode):
        y = x
        depth = 0
        for _ in range(500):
            y = y + 1.0
            depth = max(depth, xp.explain(y).operations)
        assert 1 < depth <= MOST_OPERATIONS < 500
        assert_same(numpy_of(y), numbers(SHAPE) + 500.0)


def test_long_chains_with_live_intermediates(x):
    with deferring():
        arrays = [x]
        for _ in range(500):
            arrays.append(arrays[-1] + 1.0)
        for i in (0, 1, MOST_OPERATIONS - 1, MOST_OPERATIONS, MOST_OPERATIONS + 1, 500):
            assert_same(numpy_of(arrays[i]), numbers(SHAPE) + float(i))


def test_expressions_that_double_are_shared(x):
    # 2^40 operations as a tree.
    with deferring():
        y = x * 0.5
        for _ in range(40):
            y = y + y
        assert_same(numpy_of(y), numbers(SHAPE) * 2.0**39)


def test_many_leaves(x):
    leaves = [xp.asarray(numbers(SHAPE) + float(i), copy=True) for i in range(100)]
    with deferring():
        total = leaves[0]
        for leaf in leaves[1:]:
            total = total + leaf
        assert_same(numpy_of(total), numbers(SHAPE) * 100.0 + 4950.0)
        # As a balanced tree too.
        while len(leaves) > 1:
            pairs = zip(leaves[::2], leaves[1::2], strict=False)
            leaves = [a + b for a, b in pairs] + leaves[len(leaves) // 2 * 2 :]
        assert_same(numpy_of(leaves[0]), numbers(SHAPE) * 100.0 + 4950.0)


def test_many_readers_of_one_pending_array(x):
    a = numbers(SHAPE)
    with deferring():
        y = x * 2.0
        readers = [y + float(i) for i in range(200)]
        x[...] = 0.0
        for i, reader in enumerate(readers):
            assert_same(numpy_of(reader), a * 2.0 + float(i))


def test_many_scalars(x):
    with deferring():
        y = x
        for i in range(50):
            y = y * 1.0 + float(i)
        assert_same(numpy_of(y), numbers(SHAPE) + 1225.0)


def test_rows_of_a_pending_array_one_by_one(x):
    with deferring():
        y = x * 2.0
        sums = [xp.sum(row) for row in y]
        assert [float(total) for total in sums] == list(numbers(SHAPE).sum(axis=1) * 2.0)
        stacked = xp.stack([row * 2.0 for row in y])
        assert_same(numpy_of(stacked), numbers(SHAPE) * 4.0)


def test_without_the_extension_nothing_is_deferred():
    code = (
        "import array_api_nx as xp\n"
        "with xp.config_context(fusion='always', fusion_threshold=0):\n"
        f"    x = xp.ones({DEFERRED}) * 2\n"
        "    print(xp.explain(x).pending, float(xp.sum(x)))\n"
    )
    printed = python("-c", code, ARRAY_API_NX_EXTENSION="0")
    assert printed.split() == ["False", str(2.0 * DEFERRED)]


@needs_native
@pytest.mark.parametrize("dtype", ["bool", "int8", "float16", "float32", "float64"])
def test_narrow_elements_wait_from_as_many_bytes_on(dtype):
    """Operations on them take less time, unless they read what waits already."""
    most = 800 // min(8, np.dtype(dtype).itemsize)
    with xp.config_context(fusion_threshold=100):
        x = xp.ones(most + 1, dtype=getattr(xp, dtype))
        assert not pending(x[:-1] == x[1:])
        waiting = x == x
        assert pending(waiting)
        assert pending(~waiting)
        wide = xp.ones(101) > 0
        assert pending(wide & wide)
        assert pending(xp.astype(x[:101], xp.float64) + 1)
        with xp.config_context(fusion_threshold=500):
            assert not pending(x[:101] == x[:101])
        with xp.config_context(fusion_threshold=0):
            assert pending(x[:1] == x[:1])
