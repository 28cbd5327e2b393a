"""Sequences of kernels: what they refuse, and that they do what the kernels do one by one.

``sanitize.sh`` runs these tests under AddressSanitizer and valgrind.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from array_api_nx.backends.cpu.engine import loops
from array_api_nx.backends.cpu.engine.kernel import (
    Instruction,
    Kernel,
    KernelOperand,
    TileReduction,
)
from array_api_nx.native import native
from array_api_nx.primitives import table as p
from array_api_nx.primitives.table import Primitive
from tests.support.tables import for_each

pytestmark = pytest.mark.skipif(native is None, reason="no extension")

NDArray = np.ndarray[Any, Any]
F4, F8, I8, BOOL = map(np.dtype, (np.float32, np.float64, np.int64, np.bool_))


def sequence(given: Any, fixed: Any, passes: Any, keeps_gil: bool = True) -> Any:
    assert native is not None
    return native.Sequence(given, fixed, passes, keeps_gil)


def ready(kernel: Kernel) -> Any:
    assert native is not None
    return native.Kernel(**kernel._asdict())


def binary(op: Primitive, shape: tuple[int, int], dtype: np.dtype[Any] = F8) -> Kernel:
    """``operand 2 = op(operand 0, operand 1)`` for rows and columns."""
    loop = loops.find(op, dtype)
    assert loop is not None
    size = dtype.itemsize
    operands = (KernelOperand(size, (max(shape[1], 1) * size, size), 0, "direct"),) * 3
    tile = (4, 16)
    return Kernel(
        shape, tile, 1, 16, -(-shape[1] // 16), operands, (), (Instruction(loop, (0, 1), 2),)
    )


def reduction(
    op: Primitive, shape: tuple[int, int], axis: int, dtype: np.dtype[Any] = F8
) -> Kernel:
    """``operand 1 = op of operand 0`` along one of two axes."""
    found = loops.reduction(op, dtype)
    assert found is not None
    loop, identity = found
    size, kept = dtype.itemsize, loop.output.itemsize
    operands = (
        KernelOperand(size, (shape[1] * size, size), 0, "direct"),
        KernelOperand(kept, (0, kept) if axis == 0 else (kept, 0), 0, "direct"),
    )
    program = (TileReduction(loop, 0, 1, axis == 0, axis == 1, identity),)
    split = 1 - axis
    tile = (4, 16)
    tasks = -(-shape[split] // tile[split])
    return Kernel(shape, tile, split, tile[split], tasks, operands, (), program)


def at(*numbers: int) -> tuple[tuple[int, int], ...]:
    return tuple([(number, 0) for number in numbers])


ADD = binary(p.ADD, (1, 8))
EIGHT = ((8,), F8)


# ---------------------------------------------------------------------- what runs


OPS = {
    F8: (p.ADD, p.MULTIPLY, p.DIVIDE, p.MAXIMUM),
    F4: (p.SUBTRACT, p.DIVIDE, p.MINIMUM),
    I8: (p.ADD, p.MULTIPLY),
}


@settings(max_examples=60)
@given(
    dtype=st.sampled_from(list(OPS)),
    shape=st.tuples(st.integers(1, 9), st.integers(0, 70)),
    picks=st.lists(st.tuples(st.integers(0, 3), *[st.integers(0, 5)] * 3), min_size=1, max_size=8),
    threads=st.sampled_from([1, 3]),
    keeps_gil=st.booleans(),
)
def test_the_same_as_kernels_one_by_one(dtype, shape, picks, threads, keeps_gil):
    """Flags and bits; arrays 0 to 2 come with the call, and 3 to 5 stay."""
    rng = np.random.default_rng(len(picks))
    kernels = [ready(binary(OPS[dtype][i % len(OPS[dtype])], shape, dtype)) for i, *_ in picks]
    arrays = [rng.integers(-2, 3, shape).astype(dtype) for _ in range(6)]
    numbers = [each for _, *each in picks]
    expected = [array.copy() for array in arrays]
    flags = tuple(
        [
            kernel.run([(expected[i], 0) for i in each], threads)
            for kernel, each in zip(kernels, numbers, strict=True)
        ]
    )
    passes = tuple(
        [(kernel, at(*each), threads) for kernel, each in zip(kernels, numbers, strict=True)]
    )
    handed: list[Any] = [arrays[0], SimpleNamespace(array=arrays[1]), arrays[2]]
    whole = sequence(((shape, dtype),) * 3, tuple(arrays[3:]), passes, keeps_gil)
    assert whole.run(handed) == (flags if any(map(any, flags)) else None)
    assert all([mine is array for mine, array in zip(handed, arrays[:3], strict=True)])
    for mine, theirs in zip(arrays, expected, strict=True):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("shape", [(1, 1), (5, 40), (17, 3), (0, 3), (3, 0), (0, 0)])
def test_accumulators_are_started(shape, axis):
    """Also those of a kernel over nothing; and nothing but them is written."""
    x = np.arange(float(np.prod(shape))).reshape(shape)
    count = shape[1 - axis]
    whole = sequence(
        ((shape, F8), ((count + 2,), F8)),
        (),
        ((ready(reduction(p.SUM, shape, axis)), ((0, 0), (1, 8)), 1),),
    )
    memory = np.full(count + 2, 7.0)
    for _ in range(2):
        assert whole.run([x, memory]) is None
        np.testing.assert_array_equal(memory[1 : count + 1], np.sum(x, axis=axis))
        # Of no accumulators nothing but where they would be is known.
        assert memory[0] == 7.0
        assert count == 0 or memory[-1] == 7.0


@for_each("axis", [0, 1])
@for_each("dtype", [F4, F8])
def test_sums_are_divided(dtype, axis):
    """In double precision; in the place of the sums."""
    x = np.arange(35.0).reshape(7, 5).astype(dtype)
    count = x.shape[1 - axis]
    kernel = ready(reduction(p.SUM, x.shape, axis, dtype))
    whole = sequence(
        ((x.shape, dtype), ((count,), dtype)), (), ((kernel, at(0, 1), 1, ((1, 1, 7.5, None),)),)
    )
    result = np.full(count, 3, dtype)
    assert whole.run([x, result]) is None
    expected = (np.add.reduce(x, axis=axis).astype(float) / 7.5).astype(dtype)
    np.testing.assert_array_equal(result, expected)


@for_each("divisor", [6.0, np.nan])
@for_each("dtype", [F4, F8])
@for_each("fixed", [False, True])
def test_sums_of_squares_are_divided(dtype, divisor, fixed):
    """Those of moments, which have memory of their own."""
    x = np.random.default_rng(1).normal(size=(4, 40)).astype(dtype)
    result = np.full(4, 3, dtype)
    moments = np.empty(4, loops.MOMENTS)
    kernel = ready(reduction(p.VAR, x.shape, 1, dtype))
    given: Any = ((x.shape, dtype), ((4,), dtype))
    number = 2 if not fixed else 1
    whole = sequence(
        given[: 2 - fixed],
        (moments, result)[: 1 + fixed],
        ((kernel, at(0, number), 1, ((1, 3 - number, divisor, None),)),),
    )
    for _ in range(2):
        assert whole.run([x, result][: 2 - fixed]) is None
        expected = np.var(x.astype(float), axis=1) * 40 / divisor
        np.testing.assert_allclose(result, expected, rtol=1e-6)


SUM: Final = reduction(p.SUM, (7, 5), 0)
ADDITION: Final = loops.reduction(p.SUM, F8)[0].pointer  # type: ignore[index]
WRONG_OUTCOMES: list[tuple[Any, type[Exception], str]] = [
    (5, TypeError, "the outcomes must be a tuple"),
    ((5,), TypeError, "an outcome must be a tuple"),
    (((1, 1),), ValueError, "an outcome must have 4 to 4 items"),
    (((2, 1, 7.0, None),), ValueError, "an operand must be from 0 to 1, not 2"),
    (((1, 4, 7.0, None),), ValueError, "an array's number must be from 0 to 3, not 4"),
    (((1, -1, 7.0, None),), ValueError, "an array's number must be from 0 to 3, not -1"),
    (((1, 1, "7", None),), TypeError, "must be real number"),
    (((1, 1, None, None),), ValueError, "divided, combined, or both"),
    (((0, 1, 7.0, None),), ValueError, "an outcome is of accumulators"),
    (((1, 0, 7.0, None),), ValueError, "fills its array"),
    (((1, 2, 7.0, None),), ValueError, "elements of other bytes than its accumulators"),
    (((1, 3, 7.0, None),), ValueError, "an array that cannot take it"),
    (((1, 1, 7.0, ADDITION),), ValueError, "accumulators of several tasks need a loop"),
]


@for_each("other", [np.dtype("c8"), np.dtype("i8"), np.dtype("u4"), np.dtype("V8")])
def test_only_real_numbers_are_divided(other):
    """Not what merely takes as many bytes as they do."""
    sums = ready(reduction(p.SUM, (7, 5), 0, F4 if other.itemsize == 4 else F8))
    given = (((7, 5), F4 if other.itemsize == 4 else F8),)
    for arrays, fixed in (((*given, ((5,), other)), ()), (given, (np.zeros(5, other),))):
        with pytest.raises(ValueError, match="what is divided goes to floats or doubles"):
            sequence(arrays, fixed, ((sums, at(0, 1), 1, ((1, 1, 7.0, None),)),))


@for_each(("outcomes", "error", "message"), WRONG_OUTCOMES)
def test_wrong_outcomes(outcomes, error, message):
    given = (((7, 5), F8), ((5,), F8))
    fixed = (np.ones(5, F4), locked(np.ones(5)))
    with pytest.raises(error, match=message):
        sequence(given, fixed, ((ready(SUM), at(0, 1), 1, outcomes),))


def test_what_is_divided_goes_to_memory_that_is_written():
    given = (((7, 5), F8), ((5,), F8), ((5,), F8))
    whole = sequence(given, (), ((ready(SUM), at(0, 1), 1, ((1, 2, 7.0, None),)),))
    x, sums = np.ones((7, 5)), np.zeros(5)
    assert whole.run([x, sums, locked(np.zeros(5))]) is False
    means = np.zeros(5)
    assert whole.run([x, sums, means]) is None
    assert (means == 1).all()


def test_no_accumulators():
    """They need no memory."""
    for fixed in (False, True):
        nothing = np.empty(0)
        described: Any = (((0, 5), F8), ((0,), F8))
        whole = sequence(
            described[: 2 - fixed],
            (nothing,) * fixed,
            ((ready(reduction(p.MAX, (0, 5), 1)), at(0, 1), 1),),
        )
        assert whole.run([np.empty((0, 5)), nothing][: 2 - fixed]) is None


def test_flags_per_pass_and_step():
    division = ready(binary(p.DIVIDE, (1, 2)))
    addition = ready(binary(p.ADD, (1, 2)))
    passes = ((division, at(0, 1, 2), 1), (addition, at(0, 1, 2), 1), (division, at(1, 1, 2), 1))
    whole = sequence((((2,), F8),) * 3, (), passes)
    assert whole.run([np.ones(2), np.asarray([1.0, 0.0])]) == ((1,), (0,), (8,))
    assert whole.run([np.ones(2), np.ones(2)]) is None


def test_what_is_missing_is_made():
    whole = sequence(
        (EIGHT, ((2, 4), F8), ((), F4), ((20_000,), F8)), (), ((ready(ADD), at(0, 0, 1), 1),)
    )
    first: Any = None
    for _ in range(2):
        arrays = [np.arange(8.0)]
        assert whole.run(arrays) is None
        assert [array.shape for array in arrays] == [(8,), (2, 4), (), (20_000,)]
        assert [array.dtype for array in arrays] == [F8, F8, F4, F8]
        assert all([array.flags.c_contiguous and array.flags.writeable for array in arrays])
        np.testing.assert_array_equal(arrays[1].reshape(-1), 2 * np.arange(8.0))
        assert first is None or not np.shares_memory(first, arrays[1])
        first = arrays[1]


def test_no_passes():
    whole = sequence((EIGHT,), (), ())
    assert whole.run([np.ones(8)]) is None
    assert whole.run([np.ones(7)]) is False
    assert sequence((), (), ()).run([]) is None


@pytest.mark.parametrize("keeps_gil", [True, False])
def test_several_threads(keeps_gil):
    """Each call has its own arrays."""
    passes = tuple([(ready(binary(op, (1, 999))), at(0, 1, 2), 1) for op in (p.ADD, p.MULTIPLY)])
    whole = sequence((((999,), F8),) * 3, (), passes, keeps_gil)

    def run(i: int) -> None:
        arrays = [np.full(999, float(i)), np.full(999, 2.0)]
        assert whole.run(arrays) is None
        assert (arrays[2] == 2.0 * i).all()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(run, range(200)))


# ---------------------------------------------------------------------- what a run refuses


def locked(array: NDArray) -> NDArray:
    array.flags.writeable = False
    return array


def shifted(count: int) -> NDArray:
    return np.empty(8 * count + 1, np.uint8)[1:].view(F8)


class Subclass(np.ndarray[Any, Any]):
    pass


NOT_EXPECTED: list[Any] = [
    np.ones(8, F4),
    np.ones(8, I8),
    np.ones(8, ">f8"),
    np.ones(7),
    np.ones((8, 1)),
    np.ones((2, 4)),
    np.ones(16)[::2],
    np.ones(8)[::-1],
    np.ones(8).view(Subclass),
    shifted(8),
    None,
    "array",
    SimpleNamespace(array=None),
    SimpleNamespace(array=np.ones(7)),
    SimpleNamespace(array=[1.0] * 8),
]


@for_each("position", [0, 2])
@for_each("given", NOT_EXPECTED)
def test_arrays_that_are_not_expected(given, position):
    whole = sequence((EIGHT,) * 3, (), ((ready(ADD), at(0, 1, 2), 1),))
    arrays: list[Any] = [np.ones(8), np.ones(8), np.full(8, 5.0)]
    result = arrays[2]
    arrays[position] = given
    assert whole.run(arrays) is False
    assert (result == 5.0).all()


def test_only_what_is_written_must_be_writable():
    whole = sequence((EIGHT,) * 3, (), ((ready(ADD), at(0, 1, 2), 1),))
    assert whole.run([locked(np.ones(8)), np.ones(8), np.ones(8)]) is None
    assert whole.run([np.ones(8), np.ones(8), locked(np.ones(8))]) is False


def test_one_kind_with_another_itemsize():
    """Their elements have one type number."""
    for wanted, other in (("V16", "V8"), ("U2", "U1"), ("V8", "V16")):
        whole = sequence((((4,), np.dtype(wanted)),), (), ())
        assert whole.run([np.empty(4, wanted)]) is None
        assert whole.run([np.empty(4, other)]) is False


def test_memory_of_another_dtype_is_aligned():
    """A kernel of float64 over bytes, which may lie anywhere."""
    whole = sequence(
        (EIGHT, EIGHT, ((64,), np.dtype(np.uint8))), (), ((ready(ADD), at(0, 1, 2), 1),)
    )
    memory = np.empty(65, np.uint8)
    found = [whole.run([np.ones(8), np.ones(8), memory[i : i + 64]]) for i in (0, 1)]
    assert found == [None, False]
    assert (memory[:64].view(F8) == 2.0).all()


def test_bad_lists():
    whole = sequence((EIGHT,), (), ())
    for bad in ((np.ones(8),), np.ones(8), None, [np.ones(8)] * 2):
        with pytest.raises(TypeError, match="run takes a list of at most 1 arrays"):
            whole.run(bad)

    class Fails:
        @property
        def array(self) -> NDArray:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        whole.run([Fails()])


def test_lists_that_change():
    """A property may do so."""
    whole = sequence((EIGHT,) * 2, (), ())
    arrays: list[Any] = []

    class Changes:
        def __init__(self, change: Any) -> None:
            self.change = change

        @property
        def array(self) -> NDArray:
            self.change()
            return np.ones(8)

    arrays += [np.ones(8), Changes(arrays.clear)]
    with pytest.raises(IndexError, match="out of range"):
        whole.run(arrays)
    arrays[:] = [Changes(arrays.pop), np.ones(8)]
    with pytest.raises(RuntimeError, match="changed its length"):
        whole.run(arrays)

    arrays[:] = [np.ones(8), Changes(lambda: arrays.__setitem__(0, np.ones(3)))]
    assert whole.run(arrays) is False

    class Vanishes:
        """Nothing but the list has it, until it is asked; and then it is asked once more."""

        def __init__(self) -> None:
            self.value = np.ones(8)

        def __getattribute__(self, name: str) -> Any:
            if name == "array":
                arrays.clear()
                raise AttributeError(name)
            return object.__getattribute__(self, name)

        def __getattr__(self, name: str) -> NDArray:
            return self.value

    arrays[:] = [Vanishes()]
    with pytest.raises(IndexError, match="out of range"):
        whole.run(arrays)


def test_attributes_that_run_the_sequence():
    whole = sequence((EIGHT,), (), ())

    class Recurs:
        @property
        def array(self) -> NDArray:
            whole.run([Recurs()])
            return np.ones(8)

    with pytest.raises(RecursionError):
        whole.run([Recurs()])


def test_objects_are_not_memory():
    written = ready(binary(p.ADD, (1, 8)))
    plain = ((8,), np.dtype("V8"))
    whole = sequence((EIGHT, EIGHT, plain), (), ((written, at(0, 1, 2), 1),))
    x = np.ones(8)
    assert whole.run([x, x, np.zeros(8, "V8")]) is None
    objects = np.zeros(8, [("object", object)])
    assert whole.run([x, x, objects]) is False
    with pytest.raises(ValueError, match="without objects"):
        written.run([(x, 0), (x, 0), (objects, 0)], 1)
    assert objects["object"].tolist() == [0] * 8


# ---------------------------------------------------------------------- what a description must be


def good() -> dict[str, Any]:
    return {
        "given": (EIGHT, EIGHT),
        "fixed": (np.ones(10),),
        "passes": ((ready(ADD), ((0, 0), (1, 0), (2, 16)), 1),),
    }


def test_a_good_description():
    description = good()
    assert sequence(*description.values()).run([np.ones(8), np.ones(8)]) is None
    assert description["fixed"][0].tolist() == [1.0] * 2 + [2.0] * 8


def one_pass(*sources: Any, kernel: Any = ADD, threads: Any = 1) -> Any:
    return ((ready(kernel), sources, threads),)


BAD: list[tuple[str, Any, type[Exception], str]] = [
    ("given", [EIGHT], TypeError, "the arrays given must be a tuple, not list"),
    ("given", (EIGHT,) * 16385, ValueError, "must have 0 to 16384 items, not 16385"),
    ("given", (8,), TypeError, "an array given must be a tuple, not int"),
    ("given", (((8,),),), ValueError, "an array given must have 2 to 2 items, not 1"),
    ("given", (((8,), "f8"),), TypeError, "needs a NumPy dtype"),
    ("given", (((8,), np.dtype(object)),), TypeError, "a NumPy dtype without objects"),
    ("given", ((("8",), F8),), TypeError, "integer"),
    ("given", (((-8,), F8),), ValueError, "a negative size, -8"),
    ("given", (((2**60,), F8),), ValueError, "too many bytes"),
    ("given", (((2**32, 2**32), F8),), ValueError, "too many bytes"),
    ("given", (((1,) * 65, F8),), ValueError, "dimension"),
    ("fixed", [np.ones(10)], TypeError, "the arrays fixed must be a tuple, not list"),
    ("fixed", (None,), ValueError, "fixed array 0 is no contiguous ndarray"),
    ("fixed", (np.ones(20)[::2],), ValueError, "fixed array 0 is no contiguous ndarray"),
    ("fixed", (np.empty(10, object),), ValueError, "fixed array 0 is no .* of numbers"),
    ("fixed", (shifted(10),), ValueError, "operand 2 is not aligned to 8 bytes"),
    ("fixed", (locked(np.ones(10)),), ValueError, "array 2 is written, but it is read-only"),
    ("fixed", (np.ones(9),), ValueError, "operand 2 covers the bytes 16 to 80, its memory has 72"),
    ("fixed", (), ValueError, "an array's number must be from 0 to 1, not 2"),
    ("passes", [], TypeError, "the passes must be a tuple, not list"),
    ("passes", (None,), TypeError, "a pass must be a tuple"),
    ("passes", ((None, at(0, 1, 2), 1),), TypeError, "a pass begins with a Kernel"),
    ("passes", ((ADD, at(0, 1, 2), 1),), TypeError, "a pass begins with a Kernel"),
    ("passes", one_pass(*at(0, 1)) if native else (), ValueError, "sources must have 3 to 3"),
    ("passes", one_pass(0, 1, 2) if native else (), TypeError, "a source must be a tuple"),
    ("passes", one_pass(*at(0, 1, 3)) if native else (), ValueError, "from 0 to 2, not 3"),
    ("passes", one_pass(*at(-1, 1, 2)) if native else (), ValueError, "from 0 to 2, not -1"),
    ("passes", one_pass(*at(0, 1, 2), threads=0) if native else (), ValueError, "threads must"),
    ("passes", one_pass(*at(0, 1), ("2", 0)) if native else (), TypeError, "integer"),
    (
        "passes",
        one_pass((0, 8), (1, 0), (2, 0)) if native else (),
        ValueError,
        "operand 0 covers the bytes 8 to 72, its memory has 64",
    ),
    (
        "passes",
        one_pass((0, -8), (1, 0), (2, 0)) if native else (),
        ValueError,
        "operand 0 covers the bytes -8 to 56",
    ),
    (
        "passes",
        one_pass((0, 0), (1, 0), (2, 4)) if native else (),
        ValueError,
        "operand 2 is not aligned to 8 bytes",
    ),
    (
        "passes",
        one_pass((0, 0), (1, 0), (2, 2**62)) if native else (),
        ValueError,
        "an offset must be from",
    ),
]


@for_each(("part", "bad", "error", "message"), BAD)
def test_bad_descriptions(part, bad, error, message):
    with pytest.raises(error, match=message):
        sequence(*{**good(), part: bad}.values())


def test_descriptions_of_random_numbers():
    """What a kernel takes for a description of a draw lies inside its memory, and is one."""
    assert native is not None
    loop = loops.find(p.ABS, F8)
    assert loop is not None
    drawn = KernelOperand(8, (0, 0), 0, "packed", numbers=(0, 1))
    out = KernelOperand(8, (0, 8), 0, "direct")
    program = (Instruction(loop, (0,), 1),)
    kernel = ready(Kernel((1, 8), (1, 8), 1, 8, 1, (drawn, out), (), program))
    draw = native.drawing("uniform", F8, 1, 2, 0, 0, 0)
    words = (draw.shape, draw.dtype)
    expected = np.empty(8)
    native.draw(draw, 0, expected)
    passes = ((kernel, at(0, 1), 1),)
    results = np.empty(8)
    sequence((words, EIGHT), (), passes).run([draw, results])
    assert results.tobytes() == expected.tobytes()
    bad = draw.copy()
    bad[0] = 99
    narrow = native.drawing("uniform", F4, 1, 2, 0, 0, 0)
    for wrong in (bad, narrow):
        with pytest.raises(ValueError, match="operand 0 must describe a draw of numbers of 8"):
            sequence((words, EIGHT), (), passes).run([wrong, results])
    for fixed, message in (
        (draw[:7].copy(), "operand 0 covers the bytes 0 to 64, its memory has 56"),
        (shifted(8).view(np.uint64), "operand 0 is not aligned to 8 bytes"),
    ):
        with pytest.raises(ValueError, match=message):
            sequence((EIGHT,), (fixed,), ((kernel, at(1, 0), 1),))


def test_bad_calls():
    assert native is not None
    with pytest.raises(TypeError, match="takes exactly 4 arguments"):
        native.Sequence((), (), ())
    with pytest.raises(TypeError, match="by position"):
        native.Sequence((), (), (), keeps_gil=True)


def test_accumulators_of_nothing_stay_inside():
    """A kernel over nothing reads nothing, but starts its accumulators."""
    kernel = reduction(p.SUM, (0, 3), 0)
    for count in (1, 2):
        with pytest.raises(ValueError, match="operand 1 covers the bytes 0 to 24, its memory has"):
            sequence((((0, 3), F8), ((count,), F8)), (), ((ready(kernel), at(0, 1), 1),))


def per_task(op: Primitive, columns: int, dtype: Any) -> Kernel:
    """A kernel that reduces 44 rows to one, in 11 tasks with accumulators of their own."""
    kernel = reduction(op, (44, columns), 0, dtype)
    data, accumulators = kernel.operands
    stride = columns * accumulators.itemsize
    return kernel._replace(
        operands=(data, accumulators._replace(task_stride=stride)), split=0, step=4, tasks=11
    )


@for_each("columns", [1, 2, 40])
@for_each(
    ("op", "dtype"),
    [(p.SUM, F4), (p.SUM, F8), (p.MAX, F4), (p.ALL, BOOL), (p.COUNT_NONZERO, BOOL), (p.PROD, I8)],
)
@for_each("fixed", [False, True])
@for_each("zero", [0, 1])
def test_accumulators_of_tasks_are_combined(op, dtype, columns, fixed, zero):
    """With the bits of a ufunc that reduces them."""
    x = np.random.default_rng(2).normal(size=(44, columns))
    x = (x > -1).astype(dtype) if np.dtype(dtype).kind in "bi" else x.astype(dtype)
    x[:, 0] = x[:, 0] * dtype.type(zero)
    loop, identity = loops.reduction(op, np.dtype(dtype))  # type: ignore[misc]
    combining = loops.combining(loop)
    assert combining is not None
    parts = np.empty((11, columns), identity.dtype)
    result = np.empty(columns, identity.dtype)
    given: Any = ((x.shape, np.dtype(dtype)), ((columns,), identity.dtype))
    number = 1 if fixed else 2
    whole = sequence(
        given[: 2 - fixed],
        (parts.reshape(-1), result)[: 1 + fixed],
        (
            (
                ready(per_task(op, columns, dtype)),
                at(0, number),
                2,
                ((1, 3 - number, None, combining.pointer),),
            ),
        ),
    )
    for _ in range(2):
        result.view(np.uint8).fill(1)
        assert whole.run([x, result][: 2 - fixed]) is None
        expected = combining.ufunc.reduce(parts, axis=0, dtype=identity.dtype)  # type: ignore[union-attr]
        np.testing.assert_array_equal(result, expected)
        np.testing.assert_allclose(
            expected, loop.ufunc.reduce(x, axis=0, dtype=identity.dtype), rtol=1e-5
        )


def test_combined_and_divided():
    loop, _ = loops.reduction(p.SUM, F8)  # type: ignore[misc]
    combining = loops.combining(loop)
    assert combining is not None
    passes = ((ready(per_task(p.SUM, 3, F8)), at(0, 2), 1, ((1, 1, 44.0, combining.pointer),)),)
    whole = sequence((((44, 3), F8), ((3,), F8)), (np.empty(33),), passes)
    x, means = np.arange(132.0).reshape(44, 3), np.empty(3)
    assert whole.run([x, means]) is None
    np.testing.assert_array_equal(means, x.mean(axis=0))


def test_accumulators_per_task_need_what_combines_them():
    described: Any = (((44, 3), F8), ((3,), F8)), (np.empty(33),)
    kernel = ready(per_task(p.SUM, 3, F8))
    with pytest.raises(ValueError, match="operand 1 has accumulators per task that nothing"):
        sequence(*described, ((kernel, at(0, 2), 1),))
    with pytest.raises(ValueError, match="accumulators of several tasks need a loop"):
        sequence(*described, ((kernel, at(0, 2), 1, ((1, 1, 44.0, None),)),))
    for other in (loops.find(p.ADD, F4), loops.reduction(p.VAR, F8)[0]):  # type: ignore[index]
        with pytest.raises(ValueError, match="takes other elements"):
            sequence(*described, ((kernel, at(0, 2), 1, ((1, 1, None, other.pointer),)),))  # type: ignore[union-attr]
    with pytest.raises(ValueError, match="PyCapsule"):
        sequence(*described, ((kernel, at(0, 2), 1, ((1, 1, None, 5),)),))


@for_each("columns", [1, 2, 40])
@for_each("dtype", [F4, F8])
@for_each("fixed", [False, True])
def test_moments_of_tasks_are_merged(columns, dtype, fixed):
    x = np.random.default_rng(3).normal(1e3, 1, (44, columns)).astype(dtype)
    parts, result = np.empty(11 * columns, loops.MOMENTS), np.empty(columns, dtype)
    given: Any = (x.shape, dtype), (parts.shape, parts.dtype), ((columns,), dtype)
    number = 2 if fixed else 1
    whole = sequence(
        (given[0], given[2]) if fixed else given,
        (parts,) if fixed else (),
        (
            (
                ready(per_task(p.VAR, columns, dtype)),
                at(0, number),
                2,
                ((1, 3 - number, 43.0, None),),
            ),
        ),
    )
    arrays = [x, result] if fixed else [x, parts, result]
    for _ in range(2):
        assert whole.run(arrays) is None
        np.testing.assert_allclose(result, x.astype(F8).var(axis=0, ddof=1), rtol=1e-5)
    x[7, 0] = np.inf
    assert whole.run(arrays) is not None
    assert np.isnan(result[0])
    assert np.isfinite(result[1:]).all()


@for_each("rows", [1, 2, 9])
def test_merged_moments_are_those_of_all(rows):
    """Exactly enough for elements near each other and far from 0."""
    x = 2.0**40 + np.random.default_rng(rows).integers(0, 9, (rows, 3, 50))
    moments = np.zeros((rows, 3), loops.MOMENTS)
    moments["count"], moments["sum"] = 50, x.sum(axis=2)
    moments["reference"] = x[:, :, 0]
    moments["offset"] = (x - x[:, :, :1]).mean(axis=2)
    moments["squares"] = ((x - x[:, :, :1] - moments["offset"][:, :, None]) ** 2).sum(axis=2)
    assert native is not None
    native.merge_moments(moments)
    merged = moments[0]
    near = x - 2.0**40
    np.testing.assert_array_equal(merged["count"], 50 * rows)
    np.testing.assert_array_equal(merged["sum"], x.sum(axis=(0, 2)))
    whole = merged["reference"] - 2.0**40 + merged["offset"]
    np.testing.assert_allclose(whole, near.mean(axis=(0, 2)), rtol=1e-14)
    np.testing.assert_allclose(merged["squares"], near.var(axis=(0, 2)) * 50 * rows, rtol=1e-13)


def test_what_are_no_moments_to_merge():
    assert native is not None
    moments = np.zeros((2, 3), loops.MOMENTS)
    frozen = moments.copy()
    frozen.flags.writeable = False
    for wrong in (moments[0], moments[:0], moments[:, ::2], np.zeros((2, 3)), frozen):
        with pytest.raises(ValueError, match="moments to merge are the rows"):
            native.merge_moments(wrong)
    with pytest.raises(TypeError, match="ndarray"):
        native.merge_moments(moments.tolist())  # type: ignore[arg-type]


def test_no_accumulators_of_no_tasks():
    kernel = reduction(p.SUM, (4, 0), 1)
    accumulators = kernel.operands[1]._replace(task_stride=32)
    kernel = kernel._replace(split=1, step=16, tasks=0, operands=(kernel.operands[0], accumulators))
    adding = loops.find(p.ADD, F8)
    assert adding is not None
    with pytest.raises(ValueError, match="a kernel without tasks has no accumulators for each"):
        sequence(
            (((4, 0), F8), ((4,), F8)),
            (np.empty(4),),
            ((ready(kernel), ((0, 0), (2, 0)), 1, ((1, 1, None, adding.pointer),)),),
        )
