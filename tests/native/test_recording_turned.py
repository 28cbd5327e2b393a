"""Operations on column-major arrays wait as others do, with NumPy's elements and layouts."""

import numpy as np
import pytest

import array_api_nx as xp
from tests.support.implementations import count_pending, needs_native
from tests.support.tables import for_each

pytestmark = needs_native

SHAPES = [(300, 400), (40, 50, 60), (3, 4, 5, 600)]

OPERATIONS = {
    "one": lambda ns, f, g, c, row, column: -f,
    "two": lambda ns, f, g, c, row, column: f + g,
    "three": lambda ns, f, g, c, row, column: f * 2 + g,
    "rows as well": lambda ns, f, g, c, row, column: f + c,
    "rows first": lambda ns, f, g, c, row, column: c - f,
    "a vector": lambda ns, f, g, c, row, column: f - row,
    "vectors of few": lambda ns, f, g, c, row, column: f * column,
    "where": lambda ns, f, g, c, row, column: ns.where(f > 0, f, g),
    "exp": lambda ns, f, g, c, row, column: ns.exp(f),
    "cast": lambda ns, f, g, c, row, column: ns.astype(f * 2, np.dtype("float32")),
    "compared": lambda ns, f, g, c, row, column: f > g,
    "largest": lambda ns, f, g, c, row, column: ns.max(f + g, axis=0),
    "largest of two axes": lambda ns, f, g, c, row, column: ns.max(f * g, axis=(0, 1)),
    "kept": lambda ns, f, g, c, row, column: ns.max(f + g, axis=-1, keepdims=True),
    "less the largest": lambda ns, f, g, c, row, column: f - ns.max(f, axis=0, keepdims=True) * 2,
    "any": lambda ns, f, g, c, row, column: ns.any(f > g, axis=0),
}


def made(shape):
    rng = np.random.default_rng(5)
    f, g = [np.asfortranarray(rng.standard_normal(shape)) for _ in range(2)]
    row, column = rng.standard_normal(shape[-1]), rng.standard_normal((*shape[:-1], 1))
    return [f, g, np.ascontiguousarray(f), row, column]


def arrays(of, lent):
    """Of NumPy's memory, or of memory of their own in the same layout."""
    if lent:
        return [xp.asarray(x) for x in of]
    turned = [xp.asarray(np.ascontiguousarray(x.T), copy=True) for x in of[:2]]
    axes = tuple(range(of[0].ndim))[::-1]
    return [
        *[xp.permute_dims(x, axes) for x in turned],
        *[xp.asarray(x, copy=True) for x in of[2:]],
    ]


@for_each("shape", SHAPES)
@for_each("name", OPERATIONS)
@pytest.mark.parametrize("lent", [False, True])
def test_elements_and_layouts_are_numpys(shape, name, lent):
    operands = made(shape)
    expected = OPERATIONS[name](np, *operands)
    found = OPERATIONS[name](xp, *arrays(operands, lent)).__array__()
    assert found.dtype == expected.dtype
    assert found.tobytes() == expected.tobytes()
    assert found.strides == expected.strides


@for_each("shape", SHAPES)
@for_each("axis", [None, 0, -1, (0, 1)])
@pytest.mark.parametrize("name", ["sum", "mean", "var", "std"])
def test_sums_are_near_numpys(shape, axis, name):
    operands = made(shape)
    expected = np.asarray(getattr(np, name)(operands[0] * 2, axis=axis))
    found = np.asarray(getattr(xp, name)(arrays(operands, False)[0] * 2, axis=axis))
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    assert found.strides == expected.strides


def test_they_wait():
    f, g, *_ = arrays(made((300, 400)), False)
    before = count_pending()
    z = xp.exp(f * 2 + g)
    assert count_pending() == before + 3
    float(z[0, 0])
    assert count_pending() == before


def test_writes_come_after_what_waits():
    operands = made((300, 400))
    f, g, c, *_ = arrays(operands, False)
    y = f * 2
    z = y + 1
    y += 1
    y[0] = 5
    f[...] = 0
    expected = operands[0] * 2 + 1
    assert np.array_equal(np.asarray(z), expected)
    expected[0] = 5
    assert np.array_equal(np.asarray(y), expected)
    c[...] = g * 3 + 1
    assert np.array_equal(np.asarray(c), operands[1] * 3 + 1)
    g += g * 2
    assert np.array_equal(np.asarray(g), operands[1] + operands[1] * 2)


@for_each("key", [np.s_[1:-1, 1:], np.s_[:, ::-1], np.s_[::-2, 1:-1]])
def test_views_that_lie_by_columns_wait_as_well(key):
    f = np.asfortranarray(np.random.default_rng(6).integers(-9, 9, (400, 300)).astype(float))
    x = xp.permute_dims(xp.asarray(np.ascontiguousarray(f.T), copy=True), (1, 0))
    for compute in (
        lambda ns, f: f[key] * 2 + 1,
        lambda ns, f: ns.where(f[key] > 0, f[key], 3.0),
        lambda ns, f: ns.astype(f[key], np.dtype("float32")),
        lambda ns, f: ns.sum(f[key], axis=1),
        lambda ns, f: ns.max(f[key] + 1, axis=0),
    ):
        result = compute(xp, x)
        assert count_pending() > 0
        found, expected = np.asarray(result), compute(np, f)
        assert found.tobytes() == expected.tobytes()
        assert found.strides == expected.strides
