"""bincount, as it is proposed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from .arrays import dtypes
from .under_test import xp

_INTEGERS = ("int8", "int16", "int32", "int64", "uint8")


@given(st.data())
def test_bincount(data: st.DataObject) -> None:
    dtype = data.draw(dtypes(_INTEGERS), label="dtype")
    numbers = data.draw(st.lists(st.integers(0, 9), min_size=1, max_size=20), label="x")
    minlength = data.draw(st.integers(0, 12), label="minlength")
    x = xp.asarray(numbers, dtype=dtype)

    out = xp.bincount(x, minlength=minlength)

    wanted = [numbers.count(each) for each in range(max(minlength, max(numbers) + 1))]
    assert xp.isdtype(out.dtype, "integral"), f"{out.dtype=}, but should be an integer dtype"
    assert tuple(out.shape) == (len(wanted),), f"{out.shape=}, but should be {(len(wanted),)}"
    assert [int(each) for each in out] == wanted, f"{out=}, but should be {wanted}"


@given(st.data())
def test_bincount_weights(data: st.DataObject) -> None:
    dtype = data.draw(dtypes(("float32", "float64", "int32", "int64")), label="dtype")
    numbers = data.draw(st.lists(st.integers(0, 9), min_size=1, max_size=20), label="x")
    size = len(numbers)
    weigh = data.draw(st.lists(st.integers(-9, 9), min_size=size, max_size=size), label="weights")
    x, weights = xp.asarray(numbers), xp.asarray(weigh, dtype=dtype)

    out = xp.bincount(x, weights)

    wanted = [0] * (max(numbers) + 1)
    for number, weight in zip(numbers, weigh, strict=True):
        wanted[number] += weight
    assert out.dtype == weights.dtype, f"{out.dtype=}, but should be {weights.dtype}"
    assert [float(each) for each in out] == wanted, f"{out=}, but should be {wanted}"
