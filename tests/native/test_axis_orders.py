"""Arrays whose axes lie in any order in memory: NumPy's elements, and its layouts, in C."""

from itertools import permutations

import numpy
import pytest

import array_api_nx as xp
from array_api_nx import numpy as np
from tests.support.implementations import count_pending, needs_call_lists, needs_native
from tests.support.sizes import AT_ONCE, THRESHOLD

pytestmark = needs_native

ORDERS = [order for order in permutations(range(3)) if order != (0, 1, 2)]
SHAPES = {"few": (3, 4, 5), "waiting": (12, 20, 30), "many": (40, 50, 60)}
assert numpy.prod(SHAPES["few"]) < THRESHOLD < numpy.prod(SHAPES["waiting"]) < AT_ONCE
assert numpy.prod(SHAPES["many"]) > AT_ONCE

ELEMENTWISE = {
    "one": lambda np, x, y: -x,
    "two": lambda np, x, y: x + y,
    "a number": lambda np, x, y: x * 2,
    "a chain": lambda np, x, y: np.exp(x * 2 - y) + x,
    "compared": lambda np, x, y: x > y,
    "rows in front": lambda np, x, y: x - x[:1],
    "columns": lambda np, x, y: x * x[..., :1],
    "fewer axes": lambda np, x, y: x + x[0],
    "another order": lambda np, x, y: x + np.ascontiguousarray(x),
    "another order first": lambda np, x, y: np.ascontiguousarray(x) - x,
    "backwards": lambda np, x, y: x[::-1] * y[:, ::-1],
    "steps": lambda np, x, y: x[:, 1::2] + 1,
    "chosen": lambda np, x, y: np.where(x > 0, x, y),
    "cast": lambda np, x, y: x.astype(numpy.float32),
    "cast of a view": lambda np, x, y: x[:, 1:].astype(numpy.float32),
    "mixed": lambda np, x, y: x.astype(numpy.int32) + y,
    "copied": lambda np, x, y: np.copy(x),
    "rolled": lambda np, x, y: np.roll(x, 1, axis=0),
    "an axis more": lambda np, x, y: x[:, None] - y[0],
}
REDUCTIONS = {
    "largest": lambda np, x, axis: x.max(axis=axis),
    "largest of a chain": lambda np, x, axis: (x * 2 + 1).max(axis=axis),
    "kept": lambda np, x, axis: (x + 1).min(axis=axis, keepdims=True),
    "any": lambda np, x, axis: (x > 2).any(axis=axis),
}


def made(shape, order):
    """Two arrays of a shape, of NumPy and of the face, whose axes lie in an order in memory."""
    rng = numpy.random.default_rng(3)
    back = numpy.argsort(order)
    rows = [rng.standard_normal([shape[axis] for axis in order]) for _ in range(2)]
    return [x.transpose(back) for x in rows], [np.array(x).transpose(back) for x in rows]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("size", SHAPES)
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elements_and_layouts_are_numpys(name, size, order):
    numpys, ours = made(SHAPES[size], order)
    expected = ELEMENTWISE[name](numpy, *numpys)
    found = ELEMENTWISE[name](np, *ours).__array__()
    assert found.dtype == expected.dtype
    assert found.tobytes() == expected.tobytes()
    assert found.strides == expected.strides


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("size", SHAPES)
@pytest.mark.parametrize("axis", [0, 1, 2, (0, 1), (0, 2), (1, 2), None])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_are_numpys(name, axis, size, order):
    numpys, ours = made(SHAPES[size], order)
    expected = numpy.asarray(REDUCTIONS[name](numpy, numpys[0], axis))
    found = numpy.asarray(REDUCTIONS[name](np, ours[0], axis))
    assert found.dtype == expected.dtype
    assert found.tobytes() == expected.tobytes()
    if "kept" not in name:
        assert found.strides == expected.strides


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("size", SHAPES)
@pytest.mark.parametrize("axis", [0, 1, 2, (0, 2), None])
@pytest.mark.parametrize("name", ["sum", "mean", "var", "prod"])
def test_sums_are_near_numpys(name, axis, size, order):
    numpys, ours = made(SHAPES[size], order)
    for x, y in ((numpys[0], ours[0]), (numpys[0] * 0.5 + 1, ours[0] * 0.5 + 1)):
        expected = numpy.asarray(getattr(x, name)(axis=axis))
        found = numpy.asarray(getattr(y, name)(axis=axis))
        numpy.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
        assert found.strides == expected.strides


@needs_call_lists
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("size", SHAPES)
def test_numbers_are_rounded_to_rows(size, order):
    """As `round` does by NumPy's own choice."""
    numpys, ours = made(SHAPES[size], order)
    expected, found = numpy.round(numpys[0], 2), np.round(ours[0], 2).__array__()
    assert found.tobytes() == expected.tobytes()
    assert found.strides == expected.strides


@needs_call_lists
@pytest.mark.parametrize("order", ORDERS)
def test_they_wait_and_are_written_straight_into_other_arrays(order):
    numpys, ours = made(SHAPES["waiting"], order)
    before = count_pending()
    waiting = ours[0] * 2 + ours[1]
    assert count_pending() == before + 2
    expected = numpys[0] * 2 + numpys[1]
    for target_order in ((0, 1, 2), *ORDERS):
        target = made(SHAPES["waiting"], target_order)[1][0]
        target[...] = ours[0] * 2 + ours[1]
        assert target.__array__().tobytes() == expected.tobytes()
        target[1:, :, 2:] = (ours[0] * 3 - 1)[1:, :, 2:]
        part = (numpys[0] * 3 - 1)[1:, :, 2:]
        assert target[1:, :, 2:].__array__().tobytes() == part.tobytes()
        target[:1] = waiting[:1]
        assert target[:1].__array__().tobytes() == expected[:1].tobytes()
    ours[0][...] = 0
    assert waiting.__array__().tobytes() == expected.tobytes()
    assert waiting.__array__().strides == expected.strides


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("size", SHAPES)
def test_they_are_updated(size, order):
    numpys, ours = made(SHAPES[size], order)
    for arrays in (numpys, ours):
        x, y = arrays
        x += y
        x *= 2
        x[1:] -= y[:-1]
        x[:, ::2] /= 3
    assert ours[0].__array__().tobytes() == numpys[0].tobytes()
    assert ours[0].__array__().strides == numpys[0].strides


def test_axes_of_one_element():
    """NumPy's loops of column-major arrays do not look at these; its iterators pass them by."""
    rng = numpy.random.default_rng(4)
    for shape in ((3, 1, 4), (1, 3, 4), (4, 3, 1), (2, 1, 1, 3)):
        for order in permutations(range(len(shape))):
            x = rng.standard_normal([shape[axis] for axis in order]).transpose(numpy.argsort(order))
            for threshold in (0, THRESHOLD):
                with xp.config_context(fusion_threshold=threshold):
                    y = np.array(numpy.ascontiguousarray(x.transpose(order)))
                    y = y.transpose(numpy.argsort(order).tolist())
                    for compute in (
                        lambda x: x + 1,
                        lambda x: x[::-1] * x,
                        lambda x: x * x[..., :1],
                    ):
                        found, expected = compute(y).__array__(), compute(x)
                        assert found.tobytes() == expected.tobytes()
                        assert found.strides == expected.strides
