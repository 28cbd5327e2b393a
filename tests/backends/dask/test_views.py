"""Views of arrays on Dask: writes to either show in the other, whatever lies between them."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import array_api_nx as xp
from tests.backends.dask.programs import assert_equal, nothing_computed, numbers, on_dask


@st.composite
def movements(draw, shape):
    """Movements, one after the other, whose results are views."""
    found = []
    values = np.empty(shape)
    for _ in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(["permute", "slice", "expand_dims", "flip", "split"]))
        argument: Any
        if kind == "permute":
            argument = tuple(draw(st.permutations(range(values.ndim))))
            values = values.transpose(argument)
        elif kind == "slice":
            argument = tuple([draw(keys(n)) for n in values.shape])
            values = values[argument]
        elif kind == "expand_dims":
            argument = draw(st.integers(0, values.ndim))
            values = np.expand_dims(values, argument)
        elif kind == "flip":
            argument = draw(st.integers(0, max(0, values.ndim - 1))) if values.ndim else None
            values = values if argument is None else np.flip(values, argument)
        else:
            # The last axis in two.
            if not values.ndim or values.shape[-1] % 2 or not values.size:
                continue
            argument = (*values.shape[:-1], values.shape[-1] // 2, 2)
            values = values.reshape(argument)
        found.append((kind, argument))
    return found


def keys(n):
    slices = st.slices(n)
    return slices | st.integers(-n, n - 1) if n else slices


def moved(x, kind, argument):
    """One movement, of an ndarray or an Array."""
    on_host = isinstance(x, np.ndarray)
    if kind == "slice":
        return x[(*argument, ...)]
    if kind == "permute":
        return x.transpose(argument) if on_host else xp.permute_dims(x, argument)
    if kind == "expand_dims":
        return np.expand_dims(x, argument) if on_host else xp.expand_dims(x, axis=argument)
    if kind == "flip":
        if argument is None:
            return x
        return np.flip(x, argument) if on_host else xp.flip(x, axis=argument)
    # A view in NumPy where strides can express it, and of ours then too.
    return x.reshape(argument) if on_host else xp.reshape(x, argument)


@settings(max_examples=60)
@given(st.data())
def test_writes_go_through_any_chain_of_views(data):
    shape = data.draw(st.sampled_from([(6, 8), (40,), (3, 4, 6), (10, 2)]))
    whole = numbers(*shape)
    x = on_dask(whole)
    views, expected = [x], [whole]
    for _ in range(2):
        part, host = x, whole
        for movement in data.draw(movements(shape)):
            part, host = moved(part, *movement), moved(host, *movement)
        assert part.shape == host.shape
        if np.may_share_memory(host, whole):
            views.append(part)
            expected.append(host)
    for i, (part, host) in enumerate(zip(views, expected, strict=True)):
        value = numbers(*host.shape) + 1000 * (i + 1)
        part[...] = on_dask(value)
        host[...] = value
        part += 1.0
        host += 1.0
        for other, right in zip(views, expected, strict=True):
            assert_equal(other, right)


def test_writing_computes_nothing():
    x = on_dask(numbers(20, 20))
    with nothing_computed():
        x[::2, ::-3] = x[1::2, ::3]
        x.T[3, :] *= 2.0
        x[x < 0] = 0.0


@pytest.mark.parametrize("key", [np.asarray([3, -1, 3, 0]), np.asarray([[1], [2]])])
def test_index_arrays_write_across_chunks(key):
    host = numbers(30, 7)
    x, index = on_dask(host), on_dask(key)
    values = numbers(*key.shape, 7)
    host[key] = values
    x[index, :] = on_dask(values)
    assert_equal(x, host)
    host[:, key % 7] = -1.0
    x[:, index % 7] = -1.0
    assert_equal(x, host)
    columns = np.flip(key) % 7
    host[key, columns] += 5.0
    x[index, on_dask(columns)] += 5.0
    assert_equal(x, host)


def test_masks_write_across_chunks():
    host = numbers(30, 7)
    x = on_dask(host)
    mask = host > 0
    x[on_dask(mask)] = on_dask(np.arange(float(mask.sum())))
    host[mask] = np.arange(float(mask.sum()))
    assert_equal(x, host)
    rows = host[:, 0] > 5
    x[on_dask(rows), :] = on_dask(np.arange(7.0))
    host[rows] = np.arange(7.0)
    assert_equal(x, host)


def test_bytes_are_written_through():
    host = numbers(6, 10) + 1j
    x = on_dask(host)
    backend = x._device.backend
    parts = backend.bitcast(x._handle, xp.float64)
    assert backend.shape(parts) == (6, 20)
    backend.assign(backend.slice(parts, ((0, 6, 1), (1, 10, 2))), 7.0)
    host.imag = 7.0
    assert_equal(x, host)
    with pytest.raises(ValueError, match="copy the array first"):
        backend.bitcast(backend.slice(x._handle, ((0, 6, 1), (0, 5, 2))), xp.float64)


def test_copies_do_not_see_writes():
    x = on_dask(numbers(10, 10))
    copies = [
        xp.asarray(x, copy=True), x + 0.0, xp.astype(x, xp.float32), xp.concat([x]), xp.sort(x),
        xp.reshape(x.T, (100,)), x[xp.asarray([1, 2], device=x.device), :], xp.roll(x, 1),
    ]  # fmt: skip
    before = [np.asarray(each) for each in copies]
    x[...] = 9.0
    for each, values in zip(copies, before, strict=True):
        np.testing.assert_array_equal(np.asarray(each), values)


def test_what_was_handed_out_is_a_copy():
    values = numbers(10)
    x = xp.asarray(values, device=on_dask(values).device)
    values[...] = 0.0
    assert_equal(x, numbers(10))
    out = np.asarray(x)
    out[...] = 1.0
    assert_equal(x, numbers(10))


def test_repeated_elements_are_read_only():
    x = xp.broadcast_to(on_dask(numbers(4)), (3, 4))
    with pytest.raises(ValueError, match="share memory"):
        x[0, 0] = 1.0
    x = xp.broadcast_to(on_dask(numbers(1)), (6,))
    part = xp.reshape(x, (2, 3), copy=False)[:1, :1]
    with pytest.raises(ValueError, match="view of an array with repeated elements"):
        part += 1.0
    nothing = x[6:]
    nothing += 1.0


def test_views_of_repeated_elements_are_read_only():
    x = on_dask(numbers(4))
    same = xp.broadcast_to(x, (1, 4))[0, :]
    same += 1.0
    for part in (
        xp.broadcast_to(x, (3, 4))[1:2, ::-1],
        xp.permute_dims(xp.broadcast_to(x, (3, 2, 4)), (2, 0, 1))[:, 1, 1],
        xp.broadcast_to(xp.broadcast_to(x, (2, 4)), (3, 2, 4))[2, None, 1, :],
    ):
        with pytest.raises(ValueError, match="view of an array with repeated elements"):
            part += 1.0
        with pytest.raises(ValueError, match="view of an array with repeated elements"):
            part[...] = 7.0
    assert_equal(x, numbers(4) + 1.0)
