"""For every function that returns an array: whether it shares memory with its argument.

As in NumPy: what only rearranges axes, selects by basic keys or repeats by strides is a view;
everything else is a copy with memory of its own.
"""

import operator

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx import Array
from tests.support.refusals import refused
from tests.support.sizes import MIDDLE
from tests.support.tables import for_each


def numpy_of(x):
    return np.asarray(x)


def arrays_in(result):
    return [result] if type(result) is Array else list(result)


@pytest.fixture
def x():
    return xp.reshape(xp.arange(1.0, 13.0), (3, 4))


# The argument is 3 by 4 float64, row-major.
SAME = {
    "asarray": lambda x: xp.asarray(x),
    "asarray copy=False": lambda x: xp.asarray(x, copy=False),
    "asarray dtype": lambda x: xp.asarray(x, dtype=xp.float64),
    "astype copy=False": lambda x: xp.astype(x, xp.float64, copy=False),
    "to_device": lambda x: x.to_device(x.device),
}
VIEWS = {
    "broadcast_arrays": lambda x: xp.broadcast_arrays(x, xp.zeros((2, 3, 4)))[0],
    "broadcast_to": lambda x: xp.broadcast_to(x, (2, 3, 4)),
    "broadcast_to same": lambda x: xp.broadcast_to(x, (3, 4)),
    "expand_dims": lambda x: xp.expand_dims(x, axis=1),
    "expand_dims tuple": lambda x: xp.expand_dims(x, axis=(0, -1)),
    "flip": lambda x: xp.flip(x),
    "flip axis": lambda x: xp.flip(x, axis=1),
    "from_dlpack": lambda x: xp.from_dlpack(x),
    "iteration": lambda x: list(x),
    "matrix_transpose": lambda x: xp.matrix_transpose(x),
    "linalg.matrix_transpose": lambda x: xp.linalg.matrix_transpose(x),
    "linalg.diagonal": lambda x: xp.linalg.diagonal(x),
    "moveaxis": lambda x: xp.moveaxis(x, 0, 1),
    "permute_dims": lambda x: xp.permute_dims(x, (1, 0)),
    "reshape": lambda x: xp.reshape(x, (2, 6)),
    "reshape -1": lambda x: xp.reshape(x, (-1,)),
    "reshape copy=False": lambda x: xp.reshape(x, (4, 3), copy=False),
    "reshape of a slice": lambda x: xp.reshape(x[:, 1:2], (3,), copy=False),
    "squeeze": lambda x: xp.squeeze(x[:, None], axis=1),
    "T": lambda x: x.T,
    "to_device": lambda x: x.to_device("cpu"),
    "mT": lambda x: x.mT,
    "unstack": lambda x: xp.unstack(x, axis=1),
    "x[1]": lambda x: x[1],
    "x[1, 2]": lambda x: x[1, 2],
    "x[1:3]": lambda x: x[1:3],
    "x[:, ::-2]": lambda x: x[:, ::-2],
    "x[...]": lambda x: x[...],
    "x[()]": lambda x: x[()],
    "x[None]": lambda x: x[None],
    "x[0-d integer]": lambda x: x[xp.asarray(1)],
}
COPIES = {
    "asarray copy=True": lambda x: xp.asarray(x, copy=True),
    "asarray dtype": lambda x: xp.asarray(x, dtype=xp.float32),
    "asarray list": lambda x: xp.asarray([x]),
    "astype": lambda x: xp.astype(x, xp.float64),
    "astype dtype": lambda x: xp.astype(x, xp.int64),
    "astype dtype copy=False": lambda x: xp.astype(x, xp.float32, copy=False),
    "from_dlpack copy=True": lambda x: xp.from_dlpack(x, copy=True),
    "full": lambda x: xp.full((2,), x[0, 0]),
    "full 0-d": lambda x: xp.full((), x[0, 0]),
    "full_like": lambda x: xp.full_like(x[0, 0], x[0, 0]),
    "meshgrid": lambda x: xp.meshgrid(x[0]),
    "meshgrid two": lambda x: xp.meshgrid(x[0], x[1], indexing="ij"),
    "tril": lambda x: xp.tril(x, k=9),
    "triu": lambda x: xp.triu(x, k=-9),
    "concat one": lambda x: xp.concat([x]),
    "concat": lambda x: xp.concat([x, x]),
    "concat None": lambda x: xp.concat([x], axis=None),
    "stack": lambda x: xp.stack([x]),
    "repeat": lambda x: xp.repeat(x, 1),
    "repeat axis": lambda x: xp.repeat(x, 1, axis=0),
    "reshape copy=True": lambda x: xp.reshape(x, (4, 3), copy=True),
    "reshape same copy=True": lambda x: xp.reshape(x, (3, 4), copy=True),
    "reshape of a transpose": lambda x: xp.reshape(x.T, (12,)),
    "roll": lambda x: xp.roll(x, 0),
    "roll axis": lambda x: xp.roll(x, 0, axis=0),
    "roll no axes": lambda x: xp.roll(x, (), axis=()),
    "roll empty shift": lambda x: xp.roll(x, 4, axis=1),
    "tile": lambda x: xp.tile(x, (1, 1)),
    "tile ()": lambda x: xp.tile(x, ()),
    "tile one": lambda x: xp.tile(x, (1,)),
    "take": lambda x: xp.take(x, xp.asarray([0, 1, 2]), axis=0),
    "take_along_axis": lambda x: xp.take_along_axis(x, xp.zeros((3, 1), dtype=xp.int64)),
    "x[mask]": lambda x: x[x > 0],
    "x[True]": lambda x: x[True],
    "x[array]": lambda x: x[xp.asarray([0, 1])],
    "x[list]": lambda x: x[[0, 1]],
    "x[array, int]": lambda x: x[xp.asarray([0, 1]), 1],
    "x[array, slice]": lambda x: x[xp.asarray([0, 1]), 1:],
    "sort": lambda x: xp.sort(x),
    "where": lambda x: xp.where(xp.asarray(True), x, x),
    "clip": lambda x: xp.clip(x),
    "clip limits": lambda x: xp.clip(x, -100, 100),
    "real": lambda x: xp.real(x),
    "real complex": lambda x: xp.real(xp.astype(x, xp.complex128)),
    "conj": lambda x: xp.conj(x),
    "positive": lambda x: +x,
    "abs": lambda x: abs(x),
    "floor": lambda x: xp.floor(x),
    "floor of integers": lambda x: xp.floor(xp.astype(x, xp.int64)),
    "round": lambda x: xp.round(x),
    "add": lambda x: x + 0,
    "pow": lambda x: x**1,
    "maximum": lambda x: xp.maximum(x, x),
    "sum over no axes": lambda x: xp.sum(x, axis=()),
    "sum": lambda x: xp.sum(x[:1], axis=0),
    "max over no axes": lambda x: xp.max(x, axis=()),
    "mean over no axes": lambda x: xp.mean(x, axis=()),
    "max": lambda x: xp.max(x[:1], axis=0),
    "cumulative_sum": lambda x: xp.cumulative_sum(x[:1], axis=0),
    "diff": lambda x: xp.diff(x, n=0),
    "unique_values": lambda x: xp.unique_values(x[0]),
    "matmul": lambda x: x @ xp.eye(4),
    "linalg.matrix_power": lambda x: xp.linalg.matrix_power(x[:, :3], 1),
    "linalg.trace": lambda x: xp.linalg.trace(x[:1, :1]),
    "linalg.outer": lambda x: xp.linalg.outer(x[0], xp.ones(1)),
    "fft.fftshift": lambda x: xp.fft.fftshift(x[:1, :1]),
    "fft.ifftshift": lambda x: xp.fft.ifftshift(x, axes=()),
    "copy": lambda x: x.__copy__(),
}
INTEGER_COPIES = {
    "floor": xp.floor,
    "ceil": xp.ceil,
    "trunc": xp.trunc,
    "round": xp.round,
    "abs": xp.abs,
    "positive": xp.positive,
    "real": xp.real,
    "conj": xp.conj,
    "bitwise_or": lambda x: x | 0,
    "left_shift": lambda x: x << 0,
    "sum over no axes": lambda x: xp.sum(x, axis=()),
    "clip": lambda x: xp.clip(x),
}
IN_PLACE = [
    *[(name, "int64") for name in ("iadd", "isub", "imul", "ifloordiv", "imod", "ipow")],
    *[
        (name, "float64")
        for name in ("iadd", "isub", "imul", "ifloordiv", "imod", "ipow", "itruediv")
    ],
    *[(name, "complex128") for name in ("iadd", "isub", "imul", "ipow", "itruediv")],
]


@pytest.mark.parametrize("name", SAME)
def test_the_array_itself(name, x):
    assert SAME[name](x) is x


@for_each("name", VIEWS)
def test_views_share_memory(name, x):
    for y in arrays_in(VIEWS[name](x)):
        assert type(y) is Array
        assert y is not x
        assert np.shares_memory(numpy_of(y), numpy_of(x))
        # A write to the array shows in the view.
        x[...] = x + 100.0
        assert bool(xp.all(y > 100.0))
        x[...] = x - 100.0


@for_each("name", [n for n in VIEWS if not n.startswith("broadcast")])
def test_writes_to_views_show(name, x):
    for y in arrays_in(VIEWS[name](x)):
        y[...] = -1.0
        assert int(xp.count_nonzero(x == -1.0)) == y.size
        y -= 4.0
        assert int(xp.count_nonzero(x == -5.0)) == y.size
        x[...] = 0.0


@for_each("name", COPIES)
def test_copies_share_nothing(name, x):
    before = numpy_of(x).copy()
    for y in arrays_in(COPIES[name](x)):
        assert type(y) is Array
        assert y is not x
        assert not np.shares_memory(numpy_of(y), numpy_of(x))
        y[...] = 77
        assert numpy_of(x).tolist() == before.tolist()


@pytest.mark.parametrize("name", INTEGER_COPIES)
def test_functions_that_change_no_integer_still_copy(name):
    for x in (xp.arange(4), xp.reshape(xp.arange(4), (2, 2)).T, xp.asarray(3)):
        y = INTEGER_COPIES[name](x)
        assert y is not x
        assert not np.shares_memory(numpy_of(y), numpy_of(x))


def test_views_of_every_layout_share_memory(x):
    for y in (x.T, x[::-1], x[:, ::2], x[1:, 1:3].T, xp.flip(x.T, axis=0)):
        for name in ("T", "flip", "expand_dims", "x[1:3]", "moveaxis", "unstack"):
            for z in arrays_in(VIEWS[name](y)):
                assert np.shares_memory(numpy_of(z), numpy_of(x))


def test_in_place_operators_write_through_views(x):
    x[1:3] += 1
    x[:, 0] *= 0
    x.T[3] -= 4.0
    row = x[0]
    row **= 2
    assert numpy_of(x).tolist() == [[0, 4, 9, 0], [0, 7, 8, 5], [0, 11, 12, 9]]


def test_in_place_operators_with_index_arrays_write_back(x):
    x[x > 10] = 0.0
    x[[0, 2]] += 1
    x[:, xp.asarray([0])] *= 2
    assert numpy_of(x).tolist() == [[4, 3, 4, 5], [10, 6, 7, 8], [20, 11, 1, 1]]


@pytest.mark.parametrize("view", [lambda x: x.T, lambda x: x[::2], lambda x: x[:, 1:]])
def test_reshape_where_no_view_can_be(view, x):
    y = view(x)
    flat = xp.reshape(y, (-1,))
    assert not np.shares_memory(numpy_of(flat), numpy_of(x))
    assert numpy_of(flat).tolist() == numpy_of(y).reshape(-1).tolist()
    refused(ValueError, r"without a copy: .* use copy=None", xp.reshape, y, (-1,), copy=False)


@pytest.mark.parametrize("copy", [None, False, True])
def test_reshape_of_any_layout(copy, x):
    for y in (x, x.T, x[::-1], x[:, ::2], x[1], x[1:, 1:2], xp.broadcast_to(x[0], (2, 4)), x[:0]):
        split = (*y.shape[:-1], 1, y.shape[-1])
        z = xp.reshape(y, split, copy=copy)
        assert z.shape == split
        assert numpy_of(z).tolist() == numpy_of(y).reshape(split).tolist()
        assert np.shares_memory(numpy_of(z), numpy_of(y)) == (copy is not True and y.size > 0)


def test_broadcast_views_are_read_only_where_elements_repeat(x):
    repeated = xp.broadcast_to(x[0], (3, 4))
    for write in (
        lambda y: y.__setitem__(0, 1.0),
        lambda y: y.__setitem__((0, 0), 1.0),
        lambda y: y.__setitem__(y > 0, 1.0),
        lambda y: y.__setitem__([0], 1.0),
        lambda y: operator.iadd(y, 1.0),
        lambda y: operator.imul(y, x),
        lambda y: operator.imatmul(y, xp.eye(4)),
    ):
        refused(ValueError, r"share memory.*copy it with asarray\(x, copy=True\)", write, repeated)
        assert float(x[0, 0]) == 1.0
    # What repeats nothing can be written.
    whole = xp.broadcast_to(x, (1, 3, 4))
    whole[0, 0, 0] = 9.0
    assert float(x[0, 0]) == 9.0


# Views of an array of shape (3, 4, 4) that repeats a matrix.
VIEWS_OF_REPEATS = {
    "slice": lambda b: b[1:2],
    "index": lambda b: b[1],
    "element": lambda b: b[1, 2, 3],
    "stepped": lambda b: b[2, ::2, ::-1],
    "slice of a slice": lambda b: b[1:][0][1:],
    "x[...]": lambda b: b[0][...],
    "x[None]": lambda b: b[0, None],
    "expand_dims": lambda b: xp.expand_dims(b[0], axis=1),
    "squeeze": lambda b: xp.squeeze(b[:1], axis=0),
    "reshape": lambda b: xp.reshape(b[:1], (2, 8)),
    "reshape of columns": lambda b: xp.reshape(b[0].T, (4, 2, 2)),
    "flip": lambda b: xp.flip(b[0]),
    "permute_dims": lambda b: xp.permute_dims(b, (2, 1, 0))[..., 0],
    "moveaxis": lambda b: xp.moveaxis(b, 0, 1)[:, 2],
    "mT": lambda b: b[0].mT,
    "diagonal": lambda b: xp.linalg.diagonal(b[0]),
    "unstack": lambda b: xp.unstack(b)[1],
    "iteration": lambda b: next(iter(b)),
    "broadcast_to, which repeats nothing": lambda b: xp.broadcast_to(b[0], (1, 4, 4)),
    "broadcast_arrays": lambda b: xp.broadcast_arrays(b[0], xp.zeros(4, device=b.device))[0],
    "asarray": lambda b: xp.asarray(b[0]),
    "astype copy=False": lambda b: xp.astype(b[0], b.dtype, copy=False),
}
BITCASTS = {
    "view": lambda b: b[0].view(xp.int64),
    "view of smaller elements": lambda b: b[0].view(xp.float32)[1:],
}
WRITES = {
    "x[...] =": lambda y: y.__setitem__(..., 7),
    "x[mask] =": lambda y: y.__setitem__(y == y, 7),
    "+=": lambda y: operator.iadd(y, 1),
    "*= array": lambda y: operator.imul(y, y),
    "**= float": lambda y: operator.ipow(y, 2.0) if y.dtype is xp.float64 else operator.ipow(y, 2),
}


@pytest.mark.parametrize("size", [16, MIDDLE])
@for_each("name", [*VIEWS_OF_REPEATS, *BITCASTS])
def test_views_of_broadcast_views_are_read_only(name, size):
    x = xp.arange(float(size))
    for source in (x, x + 1.0):
        matrix = xp.reshape(source[:16], (4, 4))
        before = np.array(matrix)
        y = (VIEWS_OF_REPEATS | BITCASTS)[name](xp.broadcast_to(matrix, (3, 4, 4)))
        for write in WRITES.values():
            refused(ValueError, r"repeated elements.*copy it with asarray\(x, copy", write, y)
        assert not np.asarray(y).flags.writeable
        assert not np.from_dlpack(y).flags.writeable
        np.testing.assert_array_equal(np.asarray(matrix), before)
        # Copies of them can be written.
        for copied in (xp.asarray(y, copy=True), xp.reshape(y, y.shape, copy=True), +y):
            copied[...] = 7
            assert bool(xp.all(copied == 7))
        np.testing.assert_array_equal(np.asarray(matrix), before)


def test_an_in_place_operator_on_a_part_of_a_broadcast_view_changes_nothing(x):
    before = np.array(x)
    repeated = xp.broadcast_to(x, (2, 3, 4))
    with pytest.raises(ValueError, match="view of an array with repeated elements"):
        repeated[0:1] += 1.0
    with pytest.raises(ValueError, match="view of an array with repeated elements"):
        repeated[0] @= xp.eye(4)
    np.testing.assert_array_equal(numpy_of(x), before)


def test_the_same_layout_without_repeats_can_be_written(x):
    # Views are shared by all arrays of one layout: one must not be taken for the other.
    read_only, writable = xp.broadcast_to(x, (2, 3, 4))[0], xp.reshape(x, (3, 4))
    with pytest.raises(ValueError, match="repeated elements"):
        read_only[...] = 0.0
    writable[...] = 5.0
    writable += 1.0
    assert numpy_of(read_only).tolist() == [[6.0] * 4] * 3
    # Nothing is left to protect where there are no elements.
    nothing = xp.broadcast_to(x, (2, 3, 4))[:0]
    nothing[...] = 1.0
    nothing += 1.0


def test_broadcast_arrays_share_and_guard(x):
    row, column = xp.broadcast_arrays(x[0], x[:, :1])
    assert np.shares_memory(numpy_of(row), numpy_of(x))
    assert np.shares_memory(numpy_of(column), numpy_of(x))
    for y in (row, column):
        with pytest.raises(ValueError, match="share memory"):
            y[...] = 0.0


OVERLAPS = {
    "forwards": (slice(1, None), slice(None, -1)),
    "backwards": (slice(None, -1), slice(1, None)),
    "reversed": (slice(None), slice(None, None, -1)),
    "strided": (slice(None, 10, 2), slice(5, 10)),
    "by two": (slice(2, None), slice(None, -2)),
}


@pytest.mark.parametrize("size", [11, 5000])
@for_each(("name", "dtype"), IN_PLACE)
def test_in_place_operators_with_overlapping_operands(name, dtype, size):
    apply = getattr(operator, name)
    start = (np.arange(size) % 3 + 1).astype(dtype)
    for target, source in OVERLAPS.values():
        a, x = start.copy(), xp.asarray(start, copy=True)
        a[target] = apply(a[target].copy(), a[source].copy())
        view = x[target]
        view = apply(view, x[source])
        np.testing.assert_array_equal(numpy_of(x), a)
    # An element of the array itself, broadcast.
    a, x = start.copy(), xp.asarray(start, copy=True)
    a = apply(a, a[1].copy())
    x = apply(x, x[1])
    np.testing.assert_array_equal(numpy_of(x), a)


def test_in_place_with_the_array_itself(x):
    before = numpy_of(x).copy()
    x += x
    x *= x
    x -= x[::-1, ::-1]
    doubled = (2 * before) ** 2
    np.testing.assert_array_equal(numpy_of(x), doubled - doubled[::-1, ::-1])


def test_in_place_of_another_dtype_with_overlap():
    x = xp.arange(6, dtype=xp.int32)
    view = x[1:]
    view += xp.astype(x[:-1], xp.int64, copy=False)
    assert numpy_of(x).tolist() == [0, 1, 3, 5, 7, 9]
    y = xp.arange(6, dtype=xp.float32)
    reverse = y[::-1]
    y += reverse
    assert numpy_of(y).tolist() == [5.0] * 6
