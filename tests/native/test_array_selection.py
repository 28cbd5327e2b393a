"""Selections of many elements by index arrays and masks, which several threads copy
(native/chapters/array_selection.c, array_keys.c)."""

import numpy as np
import pytest

import array_api_nx as xp
import array_api_nx.numpy as face
from tests.support.implementations import needs_native

pytestmark = needs_native

SHAPE = (60, 50, 40)
"""More elements than one thread copies at a time."""

LAYOUTS = {
    "row-major": lambda x: x,
    "turned": lambda x: x.T,
    "axes swapped": lambda x: x.swapaxes(0, 1),
    "reversed": lambda x: x[::-1, :, ::-1],
    "stepped": lambda x: x[:, ::2],
}


@pytest.fixture(params=[1, 2, 3])
def threads(request):
    with xp.config_context(num_threads=request.param):
        yield


def same(found, expected):
    """The same elements, laid out as NumPy's result is."""
    array = found.__array__()
    np.testing.assert_array_equal(array, expected, strict=True)
    long = [dim for dim, size in enumerate(expected.shape) if size > 1]
    assert [array.strides[dim] for dim in long] == [expected.strides[dim] for dim in long]


def faced(key):
    """The key with arrays of the face."""
    items = key if isinstance(key, tuple) else (key,)
    return tuple(face.asarray(item) if isinstance(item, np.ndarray) else item for item in items)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float64", "int16", "bool", "complex128", "float32"])
def test_indices(dtype, layout, threads):
    rng = np.random.default_rng(5)
    x = LAYOUTS[layout](rng.integers(0, 99, SHAPE).astype(dtype))
    ours = face.asarray(x)
    first, second, third = (
        rng.integers(-size, size, 900).astype(kind)
        for size, kind in zip(x.shape, ("int64", "int32", "int64"), strict=True)
    )
    grid = first.reshape(30, 30)
    for key in [
        first,
        second[:, None] % x.shape[0],
        grid.T,
        (slice(None), second),
        (slice(None, None, -1), slice(None), third),
        (first, second, third),
        (first[:, None], second[:60]),
        (slice(None), second[:, None], third[:50]),
        (first, slice(None), third),
        (None, first, 3),
        (grid[:, :1], grid[:1] % x.shape[1]),
    ]:
        same(ours[faced(key)], x[key])


@pytest.mark.parametrize("layout", LAYOUTS)
def test_masks(layout, threads):
    rng = np.random.default_rng(6)
    x = LAYOUTS[layout](rng.random(SHAPE))
    ours = face.asarray(x)
    for share in (0, 0.01, 0.5, 0.98, 1):
        mask = rng.random(x.shape) < share
        for key in [
            mask,
            np.asfortranarray(mask),
            (None, mask),
            mask[..., 0],
            (slice(None), mask[0]),
            (mask[..., 0], 1),
            (mask[:, 0, 0], slice(None), slice(None, 3)),
            mask[:, 0, 0],
        ]:
            same(ours[faced(key)], x[key])


WRITES = {
    "x[mask] = value": lambda np, x, mask, value: x.__setitem__(mask, value),
    "copyto": lambda np, x, mask, value: np.copyto(x, value, where=mask),
    "putmask": lambda np, x, mask, value: np.putmask(x, mask, value),
    "place": lambda np, x, mask, value: np.place(x, mask, value),
    "planes": lambda np, x, mask, value: x.__setitem__(mask[..., 0], value),
}


def outcome(write, np, x, mask, value):
    try:
        write(np, x, mask, value)
    except (TypeError, ValueError) as error:
        return type(error)
    return None


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", WRITES)
def test_writes_under_masks(name, layout, threads):
    """Also from a source and under a mask that share memory with the target."""
    rng = np.random.default_rng(9)
    write, base = WRITES[name], rng.random(SHAPE)
    for share in (0, 0.01, 0.5, 0.98, 1):
        mask = rng.random(LAYOUTS[layout](base).shape) < share
        planes = int(mask[..., 0].sum())
        others = rng.random(mask.shape)
        for given in [
            *[3.0, 2, np.float64(0.5), [4.0], others[0, 0, :1], others, others[mask]],
            *[others[0, 0], others[0, :planes] if planes < mask.shape[1] else others[0]],
            *["itself, reversed", "its own truths", "its own truths, reversed"],
        ]:
            kind = bool if isinstance(given, str) and "truths" in given else float
            mine, ours = base.astype(kind), face.asarray(base.astype(kind))
            results = []
            for module, whole in ((np, mine), (face, ours)):
                x = LAYOUTS[layout](whole)
                value, truths = given, mask
                if isinstance(given, str):
                    other = x[::-1] if given.endswith("reversed") else x
                    value, truths = (True, other) if kind is bool else (other, mask)
                if module is face:
                    (value,), (truths,) = faced(value), faced(truths)
                results.append(outcome(write, module, x, truths, value))
            assert results[0] is results[1]
            np.testing.assert_array_equal(ours.__array__(), mine, strict=True)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "complex128"])
def test_indices_of_vectors(dtype, threads):
    rng = np.random.default_rng(7)
    x = rng.integers(0, 99, 100_000).astype(dtype)
    ours = face.asarray(x)
    indices = rng.integers(-x.size, x.size, (250, 400))
    for given in (indices, indices.astype("int32"), indices.T, indices[:, ::2], indices % 7):
        same(ours[face.asarray(given)], x[given])
        same(ours[::-1][face.asarray(given)], x[::-1][given])


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_take(axis, layout, threads):
    rng = np.random.default_rng(8)
    x = LAYOUTS[layout](rng.random(SHAPE))
    size, ours = x.shape[axis], face.asarray(x)
    indices = rng.integers(-size, size, 131)
    same(face.take(ours, face.asarray(indices), axis=axis), x.take(indices, axis))
    along = rng.integers(-size, size, x.shape)
    for given in (along, np.take(along, [0], (axis + 1) % 3)):
        found = face.take_along_axis(ours, face.asarray(given), axis=axis)
        np.testing.assert_array_equal(found.__array__(), np.take_along_axis(x, given, axis))


@pytest.mark.parametrize("wrong", [300, -301, 2**62, -(2**63)])
@pytest.mark.parametrize("place", [0, 40_000, 89_999])
def test_indices_that_are_out_of_range(wrong, place, threads):
    x = np.arange(90_000.0).reshape(300, 300)
    ours, vector = face.asarray(x), face.asarray(x[:, 0])
    indices = np.zeros(90_000, np.int64)
    indices[place] = wrong
    given = face.asarray(indices)
    for read, numpys in [
        (lambda: face.take(ours, given, axis=0), lambda: x.take(indices, 0)),
        (lambda: vector[given], lambda: x[:, 0][indices]),
        (lambda: ours[given, given], lambda: x[indices, indices]),
        (
            lambda: face.take_along_axis(ours, given.reshape(300, 300), axis=0),
            lambda: np.take_along_axis(x, indices.reshape(300, 300), 0),
        ),
    ]:
        with pytest.raises(IndexError) as expected:
            numpys()
        with pytest.raises(IndexError) as found:
            read()
        assert str(found.value) == str(expected.value)


@pytest.mark.parametrize("make", [np.array, face.array])
def test_an_index_array_without_axes_selects_a_copy(make):
    """As in NumPy; an int selects a view."""
    x = face.asarray(np.arange(6.0).reshape(2, 3))
    row = x[make(1)]
    row[0] = 9.0
    assert x.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert row.tolist() == [9, 4, 5]
    column = x[:, make(0)]
    column[...] = 7.0
    assert x.tolist() == [[0, 1, 2], [3, 4, 5]]
    x[make(1)] = 8.0
    assert x.tolist() == [[0, 1, 2], [8, 8, 8]]
