"""top_k."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from .arrays import REAL, dtypes, lists_and_arrays, rows
from .under_test import xp


@given(st.data())
def test_top_k(data: st.DataObject) -> None:
    dtype = data.draw(dtypes(REAL), label="dtype")
    _, x = data.draw(lists_and_arrays(dtype), label="x")
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1), label="axis")
    k = data.draw(st.integers(0, x.shape[axis]), label="k")
    mode = data.draw(st.sampled_from(["largest", "smallest"]), label="mode")

    out = xp.top_k(x, k, axis=axis, mode=mode)

    values, indices = out
    assert out.values is values, "the result has no field values"
    assert out.indices is indices, "the result has no field indices"
    shape = list(x.shape)
    shape[axis] = k
    assert tuple(values.shape) == tuple(shape), f"{values.shape=}, but should be {tuple(shape)}"
    assert tuple(indices.shape) == tuple(shape), f"{indices.shape=}, but should be {tuple(shape)}"
    assert values.dtype == x.dtype, f"{values.dtype=}, but should be {x.dtype}"
    default = xp.asarray([0]).dtype
    assert indices.dtype == default, f"{indices.dtype=}, but should be {default}"
    for row, found, places in zip(
        rows(x, axis), rows(values, axis), rows(indices, axis), strict=True
    ):
        wanted = sorted(row, reverse=mode == "largest")[:k]
        assert sorted(found, reverse=mode == "largest") == wanted, (
            f"{found=}, but should be {wanted}"
        )
        assert [row[int(place)] for place in places] == found, f"{places=} are not those of {found}"
        assert len(set(places)) == k, f"{places=}: a place is there twice"


@given(st.data())
def test_top_k_defaults(data: st.DataObject) -> None:
    dtype = data.draw(dtypes(REAL), label="dtype")
    _, x = data.draw(lists_and_arrays(dtype), label="x")
    k = data.draw(st.integers(1, x.shape[-1]), label="k")
    values, _ = xp.top_k(x, k)
    for row, found in zip(rows(x, -1), rows(values, -1), strict=True):
        wanted = sorted(row, reverse=True)[:k]
        assert sorted(found, reverse=True) == wanted, f"{found=}, but should be {wanted}"


@pytest.mark.parametrize("axis", [-3, 2])
def test_top_k_bad_axis(axis: int) -> None:
    x = xp.ones((2, 3))
    with pytest.raises(Exception):  # noqa: B017, PT011 (the standard does not say which)
        xp.top_k(x, 1, axis=axis)
