"""Reductions of elements that a mask selects: their results, and that no mask is counted."""

import warnings
from collections.abc import Callable

import numpy as np
import pytest

import array_api_nx as xp
from tests.backends.dask.programs import SMALL, Tasks, assert_equal, nothing_computed, on_dask
from tests.support.tables import for_each

Formula = Callable[[xp.Array, xp.Array, xp.Array], xp.Array]

X, Y = np.random.default_rng(0).standard_normal((2, 40, 6))
V = np.random.default_rng(1).standard_normal(40)

REDUCTIONS = {
    "sum": xp.sum,
    "prod": xp.prod,
    "mean": xp.mean,
    "min": xp.min,
    "max": xp.max,
    "var": xp.var,
    "std": xp.std,
    "any": xp.any,
    "all": xp.all,
    "count_nonzero": xp.count_nonzero,
}

SELECTIONS = {
    "elements": lambda x, y, v: x[x > 0.3],
    "rows": lambda x, y, v: x[v > 0, :],
    "rows without a colon": lambda x, y, v: x[v > 0],
    "columns": lambda x, y, v: x[:, v[:6] > 0],
    "of one axis": lambda x, y, v: v[v > 0],
    "of a view": lambda x, y, v: v[::-3][v[::-3] > 0],
    "of a stretched array": lambda x, y, v: xp.broadcast_to(v[:, None], (40, 6))[x > 0],
    "of whole numbers": lambda x, y, v: xp.astype(x * 10, xp.int16)[x > 0],
    "of bools": lambda x, y, v: (x > 0)[y > 0],
    "of complex numbers": lambda x, y, v: xp.astype(x, xp.complex64)[x > 0],
    "inner axes of three": lambda x, y, v: xp.stack([x, y])[:, x > 0],
    "outer axes of three": lambda x, y, v: xp.stack([x, y], axis=-1)[x > 0, :],
    "all": lambda x, y, v: x[x < 100],
}

EXPRESSIONS = {
    "several operations": lambda x, y, v: xp.sum(xp.exp(x[x > 0]) * 2 + 1),
    "two arrays": lambda x, y, v: (lambda m: xp.sum(xp.sqrt(x[m]) * y[m]))(x > 0),
    "a mask that is written twice": lambda x, y, v: xp.sum(x[x > 0.25] * y[x > 0.25]),
    "where": lambda x, y, v: xp.sum(xp.where(x[y > 0] > 1, x[y > 0], y[y > 0])),
    "another dtype": lambda x, y, v: xp.mean(xp.astype(x[x > 0] * 9, xp.int32)),
    "a special function": lambda x, y, v: xp.sum(xp.special.erf(x[x > 0])),
    "limits": lambda x, y, v: xp.sum(xp.clip(x[x > 0], 0.1, 0.5)),
    "a reduction of the same": lambda x, y, v: xp.sum((x[x > 0] - xp.mean(x[x > 0])) ** 2),
    "rows and a row": lambda x, y, v: xp.sum(x[v > 0, :] - y[0, :], axis=0),
    "rows and their mean": lambda x, y, v: xp.var(
        x[v > 0, :] / xp.mean(x[v > 0, :], axis=0, keepdims=True), axis=0
    ),
    "another mask": lambda x, y, v: xp.sum(x[x > 0]) / xp.sum(y[y > 0]),
    "all but": lambda x, y, v: xp.sum(x[~((x > 0) & (y > 0))]),
    "a norm": lambda x, y, v: xp.linalg.vector_norm(x[x > 0]),
    "a method": lambda x, y, v: x[x > 0].max() - x[x > 0].min(),
}

COUNTED = {
    "rows and a column of them": lambda x, y, v: xp.sum(x[v > 0, :] * v[v > 0][:, None]),
    "an axis that is not selected": lambda x, y, v: xp.sum(x[v > 0, :], axis=1),
    "the position of an extreme": lambda x, y, v: xp.argmax(x[x > 0]),
    "a running total": lambda x, y, v: xp.cumulative_sum(x[x > 0]),
    "a view": lambda x, y, v: xp.sum(x[x > 0][::2]),
    "a mask of a selection": lambda x, y, v: xp.sum(x[x > 0][x[x > 0] > 1]),
    "different masks": lambda x, y, v: xp.sum(x[x > 0][:50] + y[y > 0][:50]),
    "an array of that length": lambda x, y, v: (
        lambda z: xp.sum(z + xp.arange(z.size, device=z.device))
    )(x[x > 0]),
    "a median": lambda x, y, v: xp.median(x[x > 0]),
    "a size": lambda x, y, v: xp.sum(x[x > 0]) / x[x > 0].size,
    "what is written": lambda x, y, v: (lambda z: xp.sum(z.__iadd__(1)))(x[x > 0]),
}


def applied(formula, *devices):
    """The results of a formula on each device."""
    return [formula(*[xp.asarray(a, device=device) for a in (X, Y, V)]) for device in devices]


@for_each("selection", SELECTIONS)
def test_reductions_of_selections_are_those_of_the_cpu(selection):
    here, there = applied(SELECTIONS[selection], "cpu", SMALL)
    for name, reduce in REDUCTIONS.items():
        if here.dtype.kind == "b" and name in ("min", "max", "mean", "var", "std"):
            continue
        if here.dtype.kind == "c" and name in ("min", "max"):
            continue
        axes = [None, *range(here.ndim if name in ("sum", "var", "max") else 0)]
        for axis in axes:
            keepdims = axis is None or name == "var"
            expected = reduce(here, axis=axis, keepdims=keepdims)
            rtol = 1e-4 if here.dtype is xp.complex64 else 1e-12
            found = reduce(there, axis=axis, keepdims=keepdims)
            assert found.dtype is expected.dtype, (name, axis)
            assert found.shape == expected.shape, (name, axis)
            np.testing.assert_allclose(
                np.asarray(found), np.asarray(expected), rtol=rtol, err_msg=name
            )


@for_each("name", [*EXPRESSIONS, *COUNTED])
def test_what_is_computed_of_selections_is_what_the_cpu_computes(name):
    here, there = applied({**EXPRESSIONS, **COUNTED}[name], "cpu", SMALL)
    assert_equal(there, np.asarray(here))


@for_each("name", EXPRESSIONS)
def test_no_mask_is_counted_for_a_reduction(name):
    operands = [on_dask(a) for a in (X, Y, V)]
    with nothing_computed():
        result = EXPRESSIONS[name](*operands)
        assert result.ndim < 2
        assert result.dtype in (xp.float64, xp.int64)
    with Tasks() as tasks:
        np.asarray(result)
    assert tasks.count > 0


@for_each("name", REDUCTIONS)
def test_no_mask_is_counted_for_any_reduction(name):
    x, v = on_dask(X), on_dask(V)
    with nothing_computed():
        REDUCTIONS[name](x[x > 0])
        REDUCTIONS[name](x[v > 0, :], axis=0, keepdims=True)
        REDUCTIONS[name](x[:, v[:6] > 0])


def test_what_is_selected_is_made_once_for_the_mask_and_the_sum():
    x = xp.random.default_rng(0, device=SMALL).standard_normal((100, 5))
    layers = list(xp.sum(x[x > 0])._handle.array(x._device.backend.grid).dask.layers)
    assert len([name for name in layers if name.startswith("draw-")]) == 1
    assert not [name for name in layers if name.startswith(("count-", "compress-"))]


@for_each("name", REDUCTIONS)
def test_reductions_of_nothing_are_those_of_the_cpu(name):
    formulas = [
        lambda x, y, v: REDUCTIONS[name](x[x > 100]),
        lambda x, y, v: REDUCTIONS[name](x[v > 100, :], axis=0),
    ]
    for formula in formulas:
        if name in ("min", "max"):
            with pytest.raises(ValueError, match="undefined: there are no elements") as here:
                applied(formula, "cpu")
            with pytest.raises(ValueError, match="undefined: there are no elements") as there:
                np.asarray(applied(formula, SMALL)[0])
            assert str(there.value) == str(here.value)
            continue
        seen = []
        for device in ("cpu", SMALL):
            with warnings.catch_warnings(record=True, action="always") as caught:
                found = np.asarray(applied(formula, device)[0])
            seen.append((found.tolist(), {str(each.message) for each in caught}))
        assert repr(seen[0]) == repr(seen[1])


def test_chunks_without_selected_elements_leave_no_trace():
    x = xp.asarray(np.arange(100, dtype=np.uint16), device=SMALL)
    assert xp.explain(x + 0).chunks[0] == (100,)
    y = xp.asarray(np.arange(-100.0, 0.0), device=SMALL)
    assert len(xp.explain(y + 0).chunks[0]) == 4
    assert float(xp.max(y[y < -90])) == -91
    assert float(xp.mean(y[y < -90])) == np.arange(-100.0, -90.0).mean()
    assert float(xp.var(y[y > -10])) == np.arange(-9.0, 0.0).var()
    assert int(xp.min(x[x > 70])) == 71


def test_a_selection_is_of_what_there_was_when_it_was_made():
    x = on_dask(X)
    mask = x > 0
    chosen = x[mask]
    doubled = chosen * 2
    x[0, :] = 1000.0
    mask[1, :] = True
    assert_equal(xp.sum(chosen), X[X > 0].sum())
    assert_equal(xp.max(doubled), X[X > 0].max() * 2)
    assert_equal(chosen, X[X > 0])


def test_a_sum_has_the_same_bits_before_and_after_somebody_asks_for_the_shape():
    x = on_dask(X)
    chosen = xp.exp(x[x > 1])
    before = float(xp.sum(chosen))
    assert chosen.shape == ((X > 1).sum(),)
    assert float(xp.sum(chosen)) == before
    assert "how many elements the mask selects" in repr(xp.explain(chosen))


def test_warnings_are_those_of_selected_elements_alone():
    x = on_dask(X)
    with warnings.catch_warnings(action="error"):
        xp.evaluate(xp.sum(xp.log(x[x > 0])))


def test_masks_that_differ_in_a_number_are_different():
    x = on_dask(np.asarray([-1.0, 0.0, 1.0, 2.0] * 20))
    for first, second in ((1, 1.5), (0.0, -0.0), (1, True)):
        a, b = x[x * first > 0], x[x * second > 0]
        assert_equal(xp.sum(a + b[: a.size]), np.asarray(a).sum() + np.asarray(b).sum())
