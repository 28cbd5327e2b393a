"""Arrays put together from the elements of others, and other orders of axes and elements."""

import numpy as np
import pytest

import array_api_nx as xp
from tests.extra.everywhere import DTYPES, assert_same, everywhere, ours, refuses
from tests.support.implementations import random_array
from tests.support.programs import needs_extension
from tests.support.refusals import refused
from tests.support.sizes import THRESHOLD
from tests.support.tables import for_each

MODES = ("edge", "reflect", "symmetric", "wrap")


@pytest.mark.parametrize("threshold", [THRESHOLD, 0])
@for_each("widths", [0, 1, (2, 0), [(1, 2), (0, 3)], ((0, 0), (4, 0)), [(1, 2)]])
@for_each(("dtype", "value"), [("int8", 7), ("float32", np.inf), ("bool", 0)])
def test_pad(widths, dtype, value, threshold):
    values = np.arange(12).reshape(3, 4).astype(dtype)
    with xp.config_context(fusion_threshold=threshold):
        result = xp.extra.pad(xp.asarray(values, copy=True), widths, constant_values=value)
        assert result.dtype is getattr(xp, dtype)
        expected = np.pad(values, widths, constant_values=value)
        assert np.array_equal(np.asarray(result), expected)
        total = xp.sum(xp.astype(result, xp.float64))
        assert float(total) == float(np.sum(expected.astype(np.float64)))


@pytest.mark.parametrize("threshold", [THRESHOLD, 0])
@for_each("mode", MODES)
@for_each("dtype", ["bool", "int8", "float64", "complex64"])
def test_pad_with_elements(mode, dtype, threshold):
    rng = np.random.default_rng(1)
    for shape in ((), (1,), (2,), (5,), (3, 4), (2, 1, 3)):
        for widths in (0, 1, (2, 0), (0, 7), 9, [(1, 2)]):
            x = random_array(rng, dtype, shape)
            with xp.config_context(fusion_threshold=threshold):
                result = xp.extra.pad(x, widths, mode)
            assert_same(result, np.pad(np.asarray(x), widths, mode), (shape, widths))
            assert not np.may_share_memory(np.asarray(result), np.asarray(x))


@pytest.mark.parametrize(
    "values", [(1, 2), [(1, 2), (3, 4)], [(5, 6)], ((7, 7), (8, 8)), 3], ids=str
)
@pytest.mark.parametrize("widths", [0, 2, [(1, 0), (0, 2)]], ids=str)
def test_pad_with_a_constant_per_side(widths, values):
    x = np.arange(6.0).reshape(2, 3)
    result = xp.extra.pad(ours(x), widths, "constant", constant_values=values)
    assert_same(result, np.pad(x, widths, constant_values=values))


def test_pad_is_called_as_numpys():
    x = np.arange(4)
    for pad, array in ((np.pad, x), (xp.pad, ours(x))):
        result = pad(array, pad_width=((1, 2),), mode="wrap")
        assert np.asarray(result).tolist() == [3, 0, 1, 2, 3, 0, 1]


@pytest.mark.parametrize(
    ("widths", "value", "error", "words"),
    [
        (-1, 0, ValueError, "must not be negative; slice"),
        (((1, 1), (1, 1), (1, 1)), 0, ValueError, "2 axes need as many pairs"),
        (((1,), (1, 1)), 0, ValueError, "2 axes need as many pairs"),
        (1.5, 0, TypeError, "pad_width must be an int, not 1.5"),
        (1, 1.5, TypeError, "1.5 is no value of dtype int64"),
        (1, "a", TypeError, "'a'"),
        (1, (1, 2, 3), ValueError, "2 axes have as many pairs of sides"),
        (1, [(1, 2), (3, 4), (5, 6)], ValueError, "2 axes have as many pairs of sides"),
        (1, (1, 2.5), TypeError, "2.5 is no value of dtype int64"),
    ],
)
def test_pad_refuses(widths, value, error, words):
    with pytest.raises(error, match=words):
        xp.extra.pad(xp.ones((2, 3), dtype=xp.int64), widths, constant_values=value)


def test_pad_refuses_modes():
    refused(ValueError, "no mode 'mean'; give 'constant'", xp.extra.pad, xp.ones(3), 1, "mean")
    with pytest.raises(ValueError, match=r"axis 1 of shape \(2, 0\) has none; use mode 'constant'"):
        xp.extra.pad(xp.ones((2, 0)), 1, "edge")
    assert xp.extra.pad(xp.ones((2, 0)), ((1, 1), (0, 0)), "edge").shape == (4, 0)


@needs_extension
@pytest.mark.parametrize("dtype", DTYPES)
def test_concatenate_transpose_ravel_diagonal(dtype):
    rng = np.random.default_rng(2)
    for shape in ((3, 4), (2, 3, 4), (1, 0), (4, 1, 3)):
        x = random_array(rng, dtype, shape)
        y = random_array(rng, dtype, shape)
        a, b = np.asarray(x), np.asarray(y)
        for axis in (0, -1, None):
            assert_same(xp.extra.concatenate([x, y], axis=axis), np.concatenate([a, b], axis))
            assert_same(xp.extra.concatenate((x, y), axis), np.concatenate([a, b], axis))
        for axes in (None, tuple(range(a.ndim)), [-1, *range(a.ndim - 1)]):
            result = xp.extra.transpose(x, axes)
            assert_same(result, np.transpose(a, axes))
            assert np.may_share_memory(np.asarray(result), a) or a.size == 0
        for order in ("C", "F"):
            result = xp.extra.ravel(x, order)
            assert_same(result, np.ravel(a, order))
        for offset in (-2, 0, 1, 9):
            for axis1, axis2 in ((0, 1), (-1, 0), (1, -2 if a.ndim > 2 else 0)):
                if axis1 % a.ndim != axis2 % a.ndim:
                    assert_same(
                        xp.extra.diagonal(x, offset, axis1, axis2),
                        np.diagonal(a, offset, axis1, axis2),
                    )


def test_ravel_gives_a_view_where_it_can():
    x = xp.reshape(xp.arange(6), (2, 3))
    xp.extra.ravel(x)[0] = 9
    xp.extra.ravel(xp.extra.transpose(x), "F")[1] = 8
    xp.extra.ravel(x, "F")[2] = -1
    assert np.asarray(x).tolist() == [[9, 8, 2], [3, 4, 5]]


def test_concatenate_promotes():
    result = xp.extra.concatenate([xp.ones(2, dtype=xp.int8), xp.ones((1,), dtype=xp.int16)])
    assert result.dtype is xp.int16


test_movement_refuses = refuses(
    [
        (lambda x: xp.extra.ravel(x, "K"), ValueError, "'C' or 'F', not 'K'"),
        (lambda x: xp.extra.diagonal(x[0]), ValueError, r"shape is \(3,\); insert axes"),
        (lambda x: xp.extra.diagonal(x, 0, 1, 1), ValueError, "name an axis twice"),
        (lambda x: xp.extra.transpose(x, (0, 0)), ValueError, "twice"),
        (lambda x: xp.extra.transpose(x, (0, 5)), IndexError, "out of range"),
        (lambda x: xp.extra.concatenate([]), ValueError, "at least one array"),
        (lambda x: xp.extra.concatenate([x, [1.0]]), TypeError, "asarray"),
        (lambda x: xp.extra.transpose([1]), TypeError, "asarray"),
        (lambda x: xp.extra.pad([1.0], 1), TypeError, "asarray"),
    ],
    lambda: xp.ones((2, 3)),
)


CALLS = {
    "constant": lambda x: xp.extra.pad(x, (1, 2), constant_values=(3, 4)),
    **{mode: lambda x, mode=mode: xp.extra.pad(x, ((2, 1), (0, 9)), mode) for mode in MODES},
    "concatenate": lambda x: xp.extra.concatenate([x, 2 * x], axis=1),
    "diagonal": lambda x: xp.extra.diagonal(x, 1),
    "ravel": lambda x: xp.extra.ravel(x, "F"),
    "transpose": lambda x: xp.extra.transpose(x),
}

test_in_traces, test_on_devices = everywhere(CALLS, (3, 4))
