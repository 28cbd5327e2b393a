"""What `explain` says of arrays that wait, and that it computes nothing."""

import gc
import weakref

import numpy as np
import pytest

import array_api_nx as xp
from tests.support.programs import assert_same, needs_extension, numpy_of, settings

pytestmark = needs_extension

SHAPE = (400, 100)


def array(*shape):
    return xp.asarray(np.arange(np.prod(shape or SHAPE), dtype=float).reshape(shape or SHAPE) / 7)


def explained(make, *arrays):
    """The explanation of what `make` gives, which waits."""
    own = [xp.asarray(x, copy=True) for x in arrays]
    with settings("context"), np.errstate(all="ignore"):
        explanation = xp.explain(make(*own))
    assert explanation.pending
    return explanation


def steps(each):
    return [f"{step.target} = {step.operation}({', '.join(step.sources)})" for step in each.steps]


def test_nothing_is_computed():
    x = array()
    with settings("context"):
        y = xp.exp(-x) * 2.0
        texts = [str(xp.explain(y)), xp.explain(y).dot()]
        assert texts == [str(xp.explain(y)), xp.explain(y).dot()]
        assert xp.explain(y).pending
        assert_same(numpy_of(y), np.exp(-np.asarray(x)) * 2.0)
        assert not xp.explain(y).pending
        assert xp.explain(y).passes == ()


def test_no_memory_is_kept():
    memory = np.ones(SHAPE)
    kept = weakref.ref(memory)
    collects = gc.isenabled()
    gc.disable()
    try:
        with settings("context"), xp.config_context(fusion="always"):
            x = xp.asarray(memory, copy=False)
            y = (x + 1.0) * (x + x)
            assert xp.explain(y).pending
            del memory, x, y
        assert kept() is None
    finally:
        if collects:
            gc.enable()


def test_one_pass():
    told = explained(lambda a, b: xp.exp(-(a * b + a)) / (1 + xp.abs(a - b)), array(), array())
    (only,) = told.passes
    assert told.operations == 8
    assert only.shape == SHAPE
    assert steps(only) == [
        "r0 = multiply(a, b)", "r1 = add(r0, a)", "r2 = negative(r1)", "r3 = exp(r2)",
        "r4 = subtract(a, b)", "r5 = abs(r4)", "r6 = add(1.0, r5)", "result = divide(r3, r6)",
    ]  # fmt: skip
    assert [(each.name, each.kind, each.nbytes) for each in (*only.inputs, *only.outputs)] == [
        ("a", "given", 320_000), ("b", "given", 320_000), ("result", "result", 320_000),
    ]  # fmt: skip
    assert str(told).splitlines()[0] == (
        "pending: 8 operations in 1 pass over memory, 640 kB to be read, 320 kB to be allocated"
    )


def softmax(x):
    powers = xp.exp(x - xp.max(x, axis=1, keepdims=True))
    return powers / xp.sum(powers, axis=1, keepdims=True)


def test_reductions_end_passes():
    told = explained(softmax, array())
    assert [steps(each) for each in told.passes] == [
        ["t1 = max(a, axis=1)"],
        ["r0 = subtract(a, t1)", "t2 = exp(r0)", "t3 = sum(t2, axis=1)"],
        ["result = divide(t2, t3)"],
    ]
    assert [each.note for each in told.passes[2].inputs] == ["", "broadcast"]
    assert [step.kind for step in told.passes[1].steps] == ["elementwise"] * 2 + ["reduction"]


NOTES = [
    (lambda x: x + 1, ""),
    (lambda x: x[:, ::2] + 1, "strided"),
    (lambda x: xp.flip(x) + 1, "flipped"),
    (lambda x: x[:1] + xp.zeros(SHAPE), "broadcast"),
]


@pytest.mark.parametrize(("make", "note"), NOTES)
def test_how_operands_lie(make, note):
    with settings("context"):
        y = make(xp.asarray(array(), copy=True))
        assert xp.explain(y).passes[0].inputs[0].note == note


def test_what_others_show_is_kept():
    with settings("context"):
        x = xp.asarray(array(), copy=True)
        y = x * 2
        z = y + 1
        (only,) = xp.explain(z).passes
        assert [(each.name, each.note) for each in only.outputs] == [
            ("t1", "kept for another array"), ("result", ""),
        ]  # fmt: skip
        both = xp.explain(y, z)
        assert [each.name for each in both.passes[0].outputs] == ["result1", "result2"]
        assert both.operations == 2


def test_casts_and_copies_have_names():
    with settings("context"):
        x = xp.asarray(np.arange(12, dtype=np.int32), copy=True)
        (only,) = xp.explain(xp.astype(x, xp.float64) * 2).passes
        assert [step.operation for step in only.steps] == ["astype", "multiply"]
