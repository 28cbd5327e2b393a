"""What `explain` says of pending arrays, and that it computes nothing."""

import doctest
import gc
import re
import weakref
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import array_api_nx as xp
from array_api_nx.backends.cpu.engine.schedule import PACKED_COLUMNS, STREAMED_BYTES
from array_api_nx.explain.explanation import Explanation
from array_api_nx.explain.model import PassExplanation
from array_api_nx.frontend import evaluation
from tests.backends.cpu.lazy.hazards import numbers
from tests.support.programs import assert_same, numpy_of, settings
from tests.support.sizes import DEFERRED

SHAPE = (400, 100)
BYTES = 320_000


def array(shape: tuple[int, ...] = SHAPE) -> xp.Array:
    return xp.asarray(numbers(shape), copy=True)


def explained(make: Callable[..., xp.Array], *arrays: xp.Array) -> Explanation:
    """The explanation of what `make` gives, which is pending."""
    with settings("process"), np.errstate(all="ignore"):
        explanation = xp.explain(make(*arrays))
    assert explanation.pending
    return explanation


def only_pass(make: Callable[..., xp.Array], *arrays: xp.Array) -> PassExplanation:
    (only,) = explained(make, *arrays).passes
    return only


def steps(each: PassExplanation) -> list[str]:
    return [f"{step.target} = {step.operation}({', '.join(step.sources)})" for step in each.steps]


def test_nothing_is_computed():
    x = array()
    with settings("process"):
        y = xp.exp(x) * 2.0
        explanation = xp.explain(y)
        assert explanation.pending
        texts = [str(explanation), explanation.dot()]
        assert xp.explain(y).pending
        again = xp.explain(y)
        assert texts == [str(again), again.dot()]
        assert_same(numpy_of(y), np.exp(numbers(SHAPE)) * 2.0)


def test_no_memory_is_kept():
    memory = numbers(SHAPE).copy()
    kept = weakref.ref(memory)
    collects = gc.isenabled()
    gc.disable()
    try:
        with settings("process"), xp.config_context(fusion="always"):
            x = xp.asarray(memory, copy=False)
            y = (x + 1.0) * (x + x)
            assert xp.explain(y).pending
            del memory, x, y
        assert kept() is None
    finally:
        if collects:
            gc.enable()


def test_what_is_computed_is_not_pending():
    x = array()
    with settings("process"):
        assert str(xp.explain(x)) == "computed: nothing is pending"
        y = x + 1.0
        xp.evaluate(y)
        assert not xp.explain(y).pending
        assert xp.explain(y).operations == 0
        assert xp.explain(y).passes == ()
    with settings("off"):
        assert not xp.explain(x + 1.0).pending


def test_a_view_of_a_pending_array_is_pending():
    x = array()
    with settings("process"):
        y = x + 1.0
        assert str(xp.explain(y.T[0])) == str(xp.explain(y))


def test_only_arrays_are_explained():
    with xp.config_context(operands="strict"), pytest.raises(TypeError):
        xp.explain(np.ones(3))  # type: ignore[arg-type]


def test_one_pass():
    explanation = explained(
        lambda x, y, z: xp.exp(-((y * x + z) ** 2)) / (1 + xp.abs(y - x)), array(), array(), array()
    )
    assert explanation.operations == 9
    (only,) = explanation.passes
    assert steps(only) == [
        "r0 = multiply(a, b)",
        "r0 = add(r0, c)",
        "r0 = square(r0)",
        "r0 = negative(r0)",
        "r0 = exp(r0)",
        "r1 = subtract(a, b)",
        "r1 = abs(r1)",
        "r1 = add(1.0, r1)",
        "result = divide(r0, r1)",
    ]
    assert [memory[:5] for memory in (*only.inputs, *only.outputs)] == [
        ("a", "given", "float64", SHAPE, BYTES),
        ("b", "given", "float64", SHAPE, BYTES),
        ("c", "given", "float64", SHAPE, BYTES),
        ("result", "result", "float64", SHAPE, BYTES),
    ]
    assert only.shape == (40_000,)
    assert only.scratch == 2 * 8 * prod(only.tile)


def test_what_is_known_is_computed_once():
    x = array()
    assert steps(only_pass(lambda x: (x + 1.0) * (x + 1.0), x)) == [
        "r0 = add(a, 1.0)",
        "result = multiply(r0, r0)",
    ]


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda x: xp.astype(x, xp.float32) * 0.1, "result = multiply(r0, 0.1)"),
        (lambda x: xp.astype(x, xp.float32) * 0.1, "r0 = astype(a, float32)"),
        (lambda x: xp.where(x > 3, x, 0.0), "result = where(r0, a, 0.0)"),
        (lambda x: (x > 3) & True, "result = bitwise_and(r0, True)"),
        (lambda x: xp.astype(x, xp.complex128) * 1j, "result = multiply(r0, 1j)"),
        (lambda x: 2 / x, "result = divide(2.0, a)"),
        (lambda x: xp.full(x.shape, 2.5) + x, "result = add(2.5, a)"),
        (lambda x: xp.asarray(x, copy=True), "result = copy(a)"),
    ],
)
def test_scalars_and_dtypes(make, expected):
    assert expected in steps(only_pass(make, array()))


def test_filling():
    explanation = explained(lambda: xp.full(SHAPE, 2.5))
    assert explanation.operations == 1
    (only,) = explanation.passes
    assert steps(only) == ["result = full(2.5)"]
    assert only.inputs == ()
    assert only.outputs[0].nbytes == BYTES


@pytest.mark.parametrize(
    ("make", "shape", "note"),
    [
        (lambda x: x + x[::-1], SHAPE, "flipped"),
        (lambda x: x + x[0], (1, 100), "broadcast"),
        (lambda x: x + x[:, :1], (400, 1), "broadcast"),
        (lambda x: x[:, 1:] * x[:, :-1], (400, 99), "strided"),
        (lambda x: x + xp.reshape(x, SHAPE[::-1]).T, SHAPE, "transposed"),
    ],
)
def test_two_views_of_one_array(make, shape, note):
    only = only_pass(make, array())
    assert [memory.name for memory in only.inputs] == ["a", "b"]
    second = only.inputs[1]
    assert second.shape == shape
    assert second.nbytes == 8 * prod(shape)
    assert note in second.note.split(", ")


def test_an_operation_goes_over_memory_in_order():
    only = only_pass(lambda x: -x.T, array())
    assert only.inputs[0].note == ""
    assert only.shape == (40_000,)


def test_a_row_and_a_column_of_one_array():
    only = only_pass(lambda x: x[:400, None] - x[None, :400], array((500,)))
    assert [memory.name for memory in only.inputs] == ["a", "b"]
    assert [memory.shape for memory in only.inputs] == [(400, 1), (1, 400)]
    assert [memory.nbytes for memory in only.inputs] == [3200, 3200]
    assert steps(only) == ["result = subtract(a, b)"]


def test_an_array_has_one_name_in_all_passes():
    first, second = explained(lambda x: x - xp.max(x), array()).passes
    assert [memory.name for memory in first.inputs] == ["a"]
    assert [memory.name for memory in second.inputs] == ["a", "t1"]


def test_a_view_that_is_read_otherwise_has_another_name():
    first, second = explained(lambda x: x[200:] - xp.max(x * 2.0), array((800, 100))).passes
    assert [memory.name for memory in first.inputs] == ["a"]
    assert [memory.name for memory in second.inputs] == ["b", "t1"]
    assert second.inputs[0].note == "another view of a"


def test_a_stored_value_that_is_read_in_two_ways():
    first, second = explained(lambda x: xp.exp(x) + xp.exp(x).T, array((200, 200))).passes
    assert steps(first) == ["t1 = exp(a)"]
    assert steps(second) == ["result = add(t1, t1')"]
    assert [memory.kind for memory in second.inputs] == ["stored", "stored"]
    assert "another view of t1" in second.inputs[1].note


def test_tiles_that_are_copied():
    # A row of so few columns is repeated, and another array is read down its columns.
    x, y = array((1000, PACKED_COLUMNS // 2)), array((1000, 1000))
    repeated = only_pass(lambda x: x - x[0], x).inputs[1]
    assert repeated.note.split(", ")[:2] == ["broadcast", "copied once per task"]
    across = only_pass(lambda y: y - y.T, y).inputs[1]
    assert across.note.split(", ")[:2] == ["transposed", "copied tile by tile"]


def test_large_results_are_written_past_the_caches():
    x = xp.zeros(STREAMED_BYTES // 8)
    xp.evaluate(x)
    large = only_pass(lambda x: x + 1.0, x)
    assert large.outputs[0].note == "written past the caches"
    assert large.scratch == 8 * prod(large.tile)
    small = only_pass(lambda x: x[1:] + 1.0, x)
    assert small.outputs[0].note == ""
    assert small.scratch == 0


def test_scalars_that_are_spread_over_a_tile():
    only = only_pass(lambda x: xp.minimum(xp.maximum(x, 0.5), 2.5), array())
    assert steps(only) == ["r0 = maximum(a, 0.5)", "result = minimum(r0, 2.5)"]
    assert [memory.name for memory in only.inputs] == ["a"]
    assert only.scratch == 3 * 8 * prod(only.tile)


def test_replaced_nan_are_one_operation():
    only = only_pass(lambda x: xp.sum(xp.where(xp.isnan(x), 0, x)), array())
    assert steps(only) == ["r0 = where(isnan(a), 0.0, a)", "result = sum(r0)"]
    only = only_pass(lambda x, y: xp.where(xp.isnan(x), 0, y), array(), array())
    assert steps(only) == ["r0 = isnan(a)", "result = where(r0, 0.0, b)"]
    only = only_pass(lambda x: xp.where(xp.isnan(x), x, 0), array())
    assert steps(only) == ["r0 = isnan(a)", "result = where(r0, a, 0.0)"]


def test_extremes_among_numbers_are_one_operation():
    def largest(x, value, axis=None):
        return xp.max(xp.where(xp.isnan(x), value, x), axis=axis)

    low = -float("inf")
    assert steps(only_pass(lambda x: largest(x, low), array())) == ["result = nanmax(a)"]
    only = only_pass(lambda x: largest(x, low, axis=1), array((300, 400)))
    assert steps(only) == ["result = nanmax(a, axis=1)"]
    only = only_pass(lambda x: xp.min(xp.where(xp.isnan(x), -low, x)), array())
    assert steps(only) == ["result = nanmin(a)"]
    only = only_pass(lambda x: largest(x, -low), array())
    assert steps(only) == ["r0 = where(isnan(a), inf, a)", "result = max(r0)"]


def test_standardised_rows():
    explanation = explained(
        lambda x: (x - xp.mean(x, axis=1, keepdims=True)) / xp.std(x, axis=1, keepdims=True),
        array(),
    )
    assert explanation.operations == 5
    assert [steps(each) for each in explanation.passes] == [
        ["t1 = var(a, axis=1)", "t2 = mean(a, axis=1)"],
        ["t3 = sqrt(t1)"],
        ["r0 = subtract(a, t2)", "result = divide(r0, t3)"],
    ]
    assert [step.kind for step in explanation.passes[0].steps] == ["reduction"] * 2
    assert [memory.name for memory in explanation.passes[0].outputs] == ["t1", "t2"]
    assert [memory.shape for memory in explanation.passes[2].inputs] == [SHAPE, (400, 1), (400, 1)]


def test_distances_from_a_mean_are_computed_once():
    def function(x):
        distances = x - xp.mean(x, axis=1, keepdims=True)
        return distances / xp.sum(distances * distances, axis=1, keepdims=True)

    explanation = explained(function, array())
    assert [steps(each) for each in explanation.passes] == [
        ["t1 = sum(a, axis=1)", "t1 = divide(t1, 100.0)"],
        [
            "r0 = subtract(a, t1)",
            "r1 = multiply(r0, r0)",
            "r2 = sum(r1, axis=1)",
            "result = divide(r0, r2)",
        ],
    ]
    assert [step.kind for step in explanation.passes[0].steps] == ["reduction", "final"]


def test_what_several_passes_read_is_stored():
    x = array()
    with settings("process"):
        kept = xp.sin(x)
        y = xp.exp(kept)
        first, second = xp.explain(y / xp.sum(y)).passes
    assert steps(first) == ["t1 = sin(a)", "t2 = exp(t1)", "t3 = sum(t2)"]
    assert [x.note for x in first.outputs[:2]] == ["kept for another array"] * 2
    assert steps(second) == ["result = divide(t2, t3)"]


@pytest.mark.parametrize(
    ("axis", "expected"),
    [
        (0, "result = max(a, axis=0)"),
        (1, "result = max(a, axis=1)"),
        (2, "result = max(a, axis=1)"),
        ((0, 2), "result = max(a, axis=(0, 2))"),
        ((1, 2), "result = max(a, axis=1)"),
        (None, "result = max(a)"),
    ],
)
def test_axes_are_those_of_the_pass(axis, expected):
    # Neighbouring axes with the same fate are one: (3, 4, 50) is gone over as (3, 200) or (12, 50).
    only = only_pass(lambda x: xp.max(x, axis=axis), array((3, 4, 50)))
    if axis == 1:
        assert only.shape == (3, 4, 50)
    assert steps(only) == [expected]


def test_partial_results():
    x = xp.ones(8 * DEFERRED)
    xp.evaluate(x)
    with settings("default"):
        (only,) = xp.explain(xp.sum(x)).passes
    assert only.tasks > 1
    assert only.outputs[0].nbytes == 8 * only.tasks
    assert only.outputs[0].note == f"in {only.tasks} parts, put together at the end"


OPERATIONS: list[Callable[[xp.Array, xp.Array], xp.Array]] = [
    lambda x, y: x + y,
    lambda x, y: x * y - 1,
    lambda x, y: xp.sin(xp.astype(x, xp.float64)),
    lambda x, y: xp.where(x > y, x, y),
    lambda x, y: xp.astype(x, xp.float32) * 0.5,
    lambda x, y: x[..., ::-1],
    lambda x, y: x.mT,
    lambda x, y: x[1:, ...] + x[:-1, ...],
    lambda x, y: xp.sum(x, axis=-1, keepdims=True),
    lambda x, y: xp.max(x, axis=-2, keepdims=True),
    lambda x, y: xp.std(xp.astype(x, xp.float64), axis=-1, keepdims=True),
    lambda x, y: xp.full(x.shape, 2.5),
    lambda x, y: xp.reshape(x, (*x.shape[::-1],)),
]
LITERAL = re.compile(r"-?(\d|inf|nan)|\(|True|False|axis=|bool|u?int|float|complex")


def assert_complete(explanation: Explanation) -> None:
    """Whatever is used was read or computed before, and whatever was read is used."""
    stored: set[str] = set()
    for each in explanation.passes:
        known = {memory.name for memory in each.inputs}
        assert len(known) == len(each.inputs)
        assert {m.name.rstrip("'") for m in each.inputs if m.kind == "stored"} <= stored
        used = set()
        for step in each.steps:
            names = {source for source in step.sources if not LITERAL.match(source)}
            assert names <= known
            used |= names
            known.add(step.target)
        assert {memory.name for memory in each.inputs} <= used
        assert {memory.name for memory in each.outputs} <= known
        stored |= {memory.name for memory in each.outputs}
    assert explanation.passes[-1].outputs[-1].name == "result"
    assert explanation.dot().startswith("digraph")


@given(
    st.lists(st.tuples(st.sampled_from(OPERATIONS), *[st.integers(0, 40)] * 2), max_size=15),
    st.sampled_from(["context", "process"]),
)
def test_every_program_can_be_explained(program, mode):
    arrays: list[Any] = [array((4, 6)), array((4, 1)), array((1, 6)), array((6, 4)).T]
    with settings(mode), np.errstate(all="ignore"):
        for operation, i, j in program:
            x, y = arrays[-1 - i % len(arrays)], arrays[j % len(arrays)]
            try:
                result = operation(x, y)
            except ValueError:  # shapes that do not go together, or with no elements
                continue
            arrays.append(result)
        for result in arrays[-3:]:
            explanation = xp.explain(result)
            if explanation.pending:
                assert_complete(explanation)
            assert xp.explain(result).pending == explanation.pending


def test_examples_of_the_functions():
    with settings("default", fusion_threshold=10**6 - 1):
        failed, tried = doctest.testmod(evaluation, extraglobs={"xp": xp})
    assert tried > 0
    assert failed == 0
