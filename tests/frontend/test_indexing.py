"""Indexing with brackets, take and take_along_axis: values against NumPy for keys of every kind."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import array_api_nx as xp
from tests.support.arrays import assert_array
from tests.support.refusals import refused
from tests.support.tables import for_each

shapes = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)
LAYOUTS = [
    lambda a: a,
    lambda a: a.T,
    lambda a: a[(..., *[slice(None, None, -1) for _ in a.shape])],
    lambda a: np.repeat(a, 2, -1)[..., ::2] if a.ndim else a,
]


def numbers(shape, layout=LAYOUTS[0]):
    return layout(np.arange(int(np.prod(shape))).reshape(shape))


@st.composite
def mixed_keys(draw, shape):
    """Ints, slices, None, an ellipsis, integer arrays that broadcast, and masks, mixed at will."""
    broadcast = draw(st.sampled_from([(), (1,), (3,), (2, 1), (2, 3)]))
    items = []
    axis = 0
    end = draw(st.integers(0, len(shape)))
    while axis < end:
        size = shape[axis]
        kinds = ["slice", "slice", "none"]
        if size:
            kinds += ["int", "array"]
        if broadcast in ((), (1,)):
            kinds.append("mask")
        kind = draw(st.sampled_from(kinds))
        if kind == "none":
            assume(len(items) < 8)
            items.append(None)
            continue
        if kind == "slice":
            items.append(draw(st.slices(size)))
        elif kind == "int":
            items.append(draw(st.integers(-size, size - 1)))
        elif kind == "array":
            some = draw(st.sampled_from([broadcast, (1,) * len(broadcast)]))
            values = draw(hnp.arrays("int64", some, elements=st.integers(-size, size - 1)))
            items.append(values)
        else:
            # One element at most is true, so that it broadcasts with the others.
            mask = np.zeros(size, bool)
            if size:
                mask[draw(st.integers(0, size - 1))] = True
                broadcast = (1,)
            else:
                assume(not any(isinstance(item, np.ndarray) for item in items))
                broadcast = (0,)
            items.append(mask)
        axis += 1
    if draw(st.booleans()):
        items.append(...)
    return tuple(items)


def ours(key):
    if isinstance(key, tuple):
        return tuple(ours(item) for item in key)
    return xp.asarray(key, copy=True) if isinstance(key, np.ndarray) else key


@settings(max_examples=60)
@given(shapes, st.sampled_from(LAYOUTS), st.data())
def test_basic_keys(shape, layout, data):
    a = numbers(shape, layout)
    key = data.draw(hnp.basic_indices(a.shape, allow_newaxis=True, allow_ellipsis=True))
    x = xp.asarray(a)
    for _ in range(2):
        found = x[key]
        assert_array(found, np.asarray(a[key]))
        assert found.size == 0 or np.shares_memory(np.asarray(found), a)


@settings(max_examples=60)
@given(shapes, st.sampled_from(LAYOUTS), st.data())
def test_mixed_keys(shape, layout, data):
    a = numbers(shape, layout)
    key = data.draw(mixed_keys(a.shape))
    try:
        expected = np.asarray(a[key])
    except IndexError:
        refused(IndexError, None, lambda: xp.asarray(a)[ours(key)])
    else:
        assert_array(xp.asarray(a)[ours(key)], expected)


@settings(max_examples=60)
@given(shapes, st.sampled_from(LAYOUTS), st.data())
def test_masks(shape, layout, data):
    a = numbers(shape, layout)
    whole = data.draw(hnp.arrays("bool", a.shape))
    assert_array(xp.asarray(a)[xp.asarray(whole)], a[whole])
    axes = data.draw(st.integers(0, a.ndim))
    part = data.draw(hnp.arrays("bool", a.shape[:axes]))
    assert_array(xp.asarray(a)[xp.asarray(part)], a[part])
    assert_array(xp.asarray(a)[xp.asarray(part), ...], a[part, ...])
    tail = data.draw(hnp.arrays("bool", a.shape[axes:]))
    assert_array(xp.asarray(a)[..., xp.asarray(tail)], a[..., tail])


@for_each(
    "key",
    [
        0,
        -1,
        np.int64(1),
        np.uint8(1),
        True,
        False,
        np.True_,
        [0, 1],
        [],
        [[0, 1], [1, 0]],
        [True, False],
        (0, [0, 2]),
        ([1], slice(None), None),
        (None, [0, 1], ..., 0),
        (slice(None), [[0], [2]], [1, 2]),
        ([0, 1], slice(None), [1, 2]),
        (0, slice(None), [1, 2]),
        (True, 0),
        (0, True, slice(1)),
        (False, [0]),
        np.asarray([1, 0]),
        np.asarray([True, False]),
        np.asarray(1),
        (np.asarray([0, 1]), np.asarray([[0], [2]])),
        np.zeros((0,), bool),
        np.zeros((2, 0), bool),
        (..., np.zeros((0,), "int64")),
        slice(np.int64(0), np.int64(1)),
        slice(10**30),
        slice(None, None, 10**30),
        slice(None, None, -(10**30)),
    ],
)
def test_keys_beyond_the_standard(key):
    a = numbers((2, 3, 4))
    x = xp.asarray(a)
    try:
        expected = np.asarray(a[key])
    except IndexError:
        # NumPy refuses masks whose empty axes do not match; here they select nothing.
        expected = a[np.zeros(a.shape[: key.ndim], bool)]
    assert_array(x[key], expected)


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "uint32", "uint64"])
def test_index_arrays_of_every_integer_dtype(dtype):
    a = numbers((3, 4))
    where = np.asarray([0, 2, 1], dtype)
    key = xp.asarray(where)
    for each, theirs in ((key, where), ((key, 0), (where, 0)), ((..., key), (..., where))):
        assert_array(xp.asarray(a)[each], a[theirs])
    assert_array(xp.take(xp.asarray(a), key, axis=1), a.take(where.astype("int64"), 1))
    assert_array(xp.asarray(a)[key[1]], a[2])


def test_arrays_as_bounds_of_slices():
    x = xp.arange(10)
    assert_array(x[xp.asarray(2) : xp.asarray(8) : xp.asarray(3)], np.arange(10)[2:8:3])
    assert_array(x[xp.asarray(2) : 4], np.arange(2, 4))


def test_0d_arrays():
    x = xp.asarray(5)
    for key in ((), ..., (...,)):
        assert_array(x[key], np.asarray(5))
    assert_array(x[None], np.asarray([5]))
    assert_array(x[True], np.asarray([5]))
    assert_array(x[xp.asarray(False)], np.zeros(0, "int64"))
    x[()] = 6
    x[...] += 1
    assert int(x) == 7
    x[xp.asarray(True)] = 9
    assert int(x) == 9


def test_an_index_of_an_axis_of_no_size():
    x = xp.ones((0, 3))
    assert x[xp.asarray([], dtype=xp.int64)].shape == (0, 3)
    assert x[[]].shape == (0, 3)
    assert x[xp.zeros((0,), dtype=xp.bool)].shape == (0, 3)
    assert x[:, [0, 1]].shape == (0, 2)
    refused(IndexError, None, lambda: x[[0]])


@settings(max_examples=60)
@given(shapes, st.sampled_from(LAYOUTS), st.data())
def test_setting_basic_keys(shape, layout, data):
    a = numbers(shape, layout)
    key = data.draw(hnp.basic_indices(a.shape, allow_newaxis=True, allow_ellipsis=True))
    target = np.asarray(a[key]).shape
    value = data.draw(
        st.one_of(
            st.just(np.asarray(-1)),
            st.just(-numbers(target) - 1),
            # NumPy has no more axes than the selection where that is an element.
            st.just(-numbers((1, 1, *target) if target else ()) - 1),
            st.just(-numbers(target[1:]) - 1),
        )
    )
    b = a.copy()
    b[key] = value
    x = xp.asarray(a, copy=True)
    x[key] = xp.asarray(value)
    assert_array(x, b)
    x[key] = 7
    b[key] = 7
    assert_array(x, b)


@settings(max_examples=60)
@given(shapes, st.sampled_from(LAYOUTS), st.data())
def test_setting_mixed_keys(shape, layout, data):
    a = numbers(shape, layout)
    key = data.draw(mixed_keys(a.shape))
    try:
        target = np.asarray(a[key]).shape
    except IndexError:
        return
    x, b = xp.asarray(a, copy=True), a.copy()
    x[ours(key)] = -1
    b[key] = -1
    assert_array(x, b)
    # Where an index occurs twice, one value for all leaves no question which one stays.
    value = np.full(target[1:], -2)
    x[ours(key)] = xp.asarray(value)
    b[key] = value
    assert_array(x, b)


@settings(max_examples=60)
@given(shapes, st.sampled_from(LAYOUTS), st.data())
def test_setting_masks(shape, layout, data):
    a = numbers(shape, layout)
    mask = data.draw(hnp.arrays("bool", a.shape))
    x, b = xp.asarray(a, copy=True), a.copy()
    values = -1 - np.arange(int(mask.sum()))
    x[xp.asarray(mask)] = xp.asarray(values)
    b[mask] = values
    assert_array(x, b)
    x[xp.asarray(mask)] = 5
    b[mask] = 5
    assert_array(x, b)


def test_setting_writes_to_the_viewed_memory():
    a = numbers((3, 4))
    x = xp.asarray(a)
    x[1:][:, ::2] = 0
    x.T[3, [0, 1]] = xp.asarray([50, 60])
    x[x > 55] = -1
    assert a.tolist() == [[0, 1, 2, 50], [0, 5, 0, -1], [0, 9, 0, 11]]


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        ("float32", 2),
        ("float32", True),
        ("float32", 2.5),
        ("float32", np.float64(2.5)),
        ("complex64", 2.5),
        ("complex64", 1j),
        ("int8", True),
        ("int8", -5),
        ("bool", False),
        ("uint64", 2**64 - 1),
    ],
)
def test_setting_scalars(dtype, value):
    x, a = xp.ones(3, dtype=getattr(xp, dtype)), np.ones(3, dtype)
    x[1] = value
    a[1] = value
    assert_array(x, a)
    x[xp.asarray([0])] = value
    a[[0]] = value
    assert_array(x, a)


@pytest.mark.parametrize(
    ("target", "source"),
    [
        ("float32", "float64"),
        ("float64", "int64"),
        ("complex64", "float64"),
        ("int8", "int64"),
        ("int64", "uint8"),
        ("uint8", "bool"),
    ],
)
def test_setting_promotes_the_value_within_its_kind(target, source):
    x, a = xp.zeros(3, dtype=getattr(xp, target)), np.zeros(3, target)
    value = np.asarray([1, 0, 1], source)
    for key in (slice(None), [0, 1, 2], [True, True, True]):
        x[key] = xp.asarray(value)
        a[key] = value
        assert_array(x, a)
        x[key] = 0


def test_the_table_of_selections_is_bounded():
    from array_api_nx.frontend import indexing

    x = xp.zeros(3 * indexing._MAX_SELECTIONS)
    for i in range(indexing._MAX_SELECTIONS + 10):
        assert x[i:].shape == (x.size - i,)
    assert len(indexing.selections) <= indexing._MAX_SELECTIONS


@settings(max_examples=60)
@given(hnp.array_shapes(max_dims=4, max_side=4), st.sampled_from(LAYOUTS), st.data())
def test_take(shape, layout, data):
    a = numbers(shape, layout)
    axis = data.draw(st.integers(-a.ndim, a.ndim - 1))
    size = a.shape[axis]
    where = np.asarray(data.draw(st.lists(st.integers(-size, size - 1), max_size=5)), "int64")
    assert_array(xp.take(xp.asarray(a), xp.asarray(where), axis=axis), a.take(where, axis))
    if a.ndim == 1:
        assert_array(xp.take(xp.asarray(a), xp.asarray(where)), a.take(where))
    if where.size:
        expected = a.take(where[0], axis)
        assert_array(xp.take(xp.asarray(a), xp.asarray(where[0]), axis=axis), expected)


@settings(max_examples=60)
@given(hnp.array_shapes(max_dims=4, max_side=4), st.sampled_from(LAYOUTS), st.data())
def test_take_along_axis(shape, layout, data):
    a = numbers(shape, layout)
    axis = data.draw(st.integers(-a.ndim, a.ndim - 1))
    size = a.shape[axis]
    other = [data.draw(st.sampled_from([n, 1])) for n in a.shape]
    other[axis] = data.draw(st.integers(0, 4))
    where = data.draw(hnp.arrays("int64", tuple(other), elements=st.integers(-size, size - 1)))
    x, indices = xp.asarray(a), xp.asarray(where)
    assert_array(xp.take_along_axis(x, indices, axis=axis), np.take_along_axis(a, where, axis))
    if axis == -1:
        assert_array(xp.take_along_axis(x, indices), np.take_along_axis(a, where, -1))


def test_take_along_axis_broadcasts_both_ways():
    a = numbers((1, 3))
    where = np.asarray([[0], [2], [-1]])
    expected = np.take_along_axis(np.broadcast_to(a, (3, 3)), where, 1)
    assert_array(xp.take_along_axis(xp.asarray(a), xp.asarray(where)), expected)
    smallest = xp.argsort(xp.asarray([3, 1, 2]))
    assert_array(xp.take_along_axis(xp.asarray([3, 1, 2]), smallest), np.asarray([1, 2, 3]))


@pytest.mark.parametrize("device", ["cpu", "torch:cpu", "jax:cpu", "dask"])
@pytest.mark.parametrize("shape", [(), (1,), (1, 1, 1)])
def test_one_number_in_a_numpy_array_is_written_as_a_number(shape, device):
    if device != "cpu":
        pytest.importorskip(device.partition(":")[0])
    x = xp.zeros((2, 3), device=device)
    x[1, :] = np.full(shape, 9.0)
    x[0, 0] = np.full(shape, 7, dtype="int64")
    np.testing.assert_array_equal(np.asarray(x.to_device("cpu")), [[7, 0, 0], [9, 9, 9]])
    with pytest.raises(TypeError, match="complex128"):
        x[...] = np.full(shape, 1j)
