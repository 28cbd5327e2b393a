"""Memory that others can write: lent to us by reference, or handed out.

Its readers run at once, so that a later write from outside cannot reach them; with
fusion="always" the user has promised that there is none, and it may be read late.
"""

import copy
import pickle

import numpy as np
import pytest

import array_api_nx as xp
from tests.native.hazards import READS, VIEWS, numbers
from tests.support.arrays import Capsule, DLPackAlone
from tests.support.programs import LARGE, assert_same, deferring, numpy_of, pending, settings
from tests.support.tables import for_each

pytestmark = pytest.mark.usefixtures("threshold")

SHAPE = (4, 6)


def ours(shape=SHAPE):
    """An array with memory of its own."""
    return xp.asarray(numbers(shape), copy=True)


LENT = {
    "asarray": lambda a: xp.asarray(a),
    "asarray copy=False": lambda a: xp.asarray(a, copy=False),
    "asarray of a view": lambda a: xp.asarray(a[::-1])[::-1],
    "asarray of a transpose": lambda a: xp.asarray(a.T).T,
    "memoryview": lambda a: xp.asarray(memoryview(a)),
    "from_dlpack": lambda a: xp.from_dlpack(a),
    "from_dlpack of another library": lambda a: xp.from_dlpack(DLPackAlone(a)),
    "asarray of another library": lambda a: xp.asarray(DLPackAlone(a)),
    "from_dlpack of an array of ours": lambda a: xp.from_dlpack(xp.asarray(a)),
    "buffer": lambda a: xp.reshape(xp.asarray(memoryview(a).cast("B").cast("d")), SHAPE),
}


@for_each("view", VIEWS)
@pytest.mark.parametrize("lend", LENT)
def test_lent_memory_is_read_at_once(lend, view):
    a = numbers(SHAPE)
    with deferring():
        x = LENT[lend](a)
        for name, read in READS.items():
            a[...] = numbers(SHAPE)
            oracle = [np.array(r) for r in read(np, VIEWS[view](np, a), np.float64(3.0))]
            results = read(xp, VIEWS[view](xp, x), 3.0)
            a[...] = -77.0
            for result, right in zip(results, oracle, strict=True):
                assert_same(numpy_of(result), right, f"{lend}, {view}, {name}")


@pytest.mark.parametrize("lend", LENT)
def test_lent_memory_with_ours(lend):
    # One operand that others can write is enough; earlier pending arrays stay right.
    a = numbers(SHAPE)
    with deferring():
        x, mine = LENT[lend](a), ours()
        chain = mine * 2.0
        y = chain + x
        a[...] = -77.0
        z = xp.where(x < 0.0, chain, x)
        a[...] = 55.0
        assert_same(numpy_of(y), numbers(SHAPE) * 3.0)
        assert_same(numpy_of(z), numbers(SHAPE) * 2.0)


@pytest.mark.parametrize("lend", LENT)
def test_writes_to_lent_memory_go_both_ways(lend):
    a = numbers(SHAPE)
    oracle = a.copy()
    with deferring():
        x, mine = LENT[lend](a), ours()
        for target in (x, oracle):
            target[0] = 5.0
            target += 1.0
            target[:, 1:] -= 2.0
        assert_same(a, oracle)
        x[...] = mine * 2.0 + 1.0
        assert_same(a, numbers(SHAPE) * 2.0 + 1.0)
        x[1:] = x[:-1] * 2.0
        oracle = numbers(SHAPE) * 2.0 + 1.0
        oracle[1:] = oracle[:-1] * 2.0
        assert_same(a, oracle)
        a[...] = 3.0
        assert_same(numpy_of(x), np.full(SHAPE, 3.0))


def _twice(a):
    return xp.asarray(a), xp.asarray(a)


def _exported(a):
    x = xp.asarray(a)
    return x, xp.from_dlpack(x)


def _parts(a):
    """Two imports that begin elsewhere than the block, put together again."""
    x, y = xp.asarray(a[::-1]), xp.asarray(a)
    return x[::-1], y


MEETINGS = {
    "forwards": (slice(3, None), slice(None, -3)),
    "backwards": (slice(None, -3), slice(3, None)),
    "flipped": (slice(None), slice(None, None, -1)),
    "the same": (slice(None), slice(None)),
    "stepped": (slice(None, 10, 2), slice(3, 8)),
}


@for_each("size", [12, LARGE + 1000])
@for_each("lend", [_twice, _exported, _parts])
@pytest.mark.parametrize("name", MEETINGS)
def test_two_arrays_over_one_memory_that_overlap(name, lend, size):
    # Only the addresses tell that they do.
    target, source = MEETINGS[name]
    for write in (
        lambda t, s: t.__setitem__(..., s),
        lambda t, s: t.__setitem__(..., s * 2.0 + 1.0),
        lambda t, s: t.__setitem__(..., t - s),
        lambda t, s: t.__iadd__(s),
        lambda t, s: t.__isub__(s * 2.0),
    ):
        a = numbers((size,))
        oracle = a.copy()
        write(oracle[target], oracle[source].copy())
        with settings("large" if size > LARGE else "context"):
            x, y = lend(a)
            earlier = y * 3.0
            write(x[target], y[source])
            assert_same(a, oracle, name)
            assert_same(numpy_of(earlier), numbers((size,)) * 3.0)


def test_read_only_lent_memory():
    a = numbers(SHAPE)
    owner = a.copy()
    borrowed = owner.view()
    borrowed.flags.writeable = False
    with deferring():
        x = xp.asarray(borrowed)
        y = x * 2.0
        # Read-only to the borrower; the owner writes all the same.
        owner[...] = 0.0
        assert_same(numpy_of(y), a * 2.0)
        with pytest.raises(ValueError, match="read-only"):
            x += 1.0


@pytest.mark.parametrize("make", [xp.from_dlpack, xp.asarray])
def test_copies_of_lent_memory_are_ours(make):
    a = numbers(SHAPE)
    with deferring():
        x = make(a, copy=True)
        y = x * 2.0
        assert pending(y)
        a[...] = 0.0
        assert_same(numpy_of(y), numbers(SHAPE) * 2.0)


def _bytes(x):
    return x.view(xp.int64)


EXPORTS = {
    "asarray": np.asarray,
    "asarray copy=False": lambda x: np.asarray(x, copy=False),
    "__array__": lambda x: x.__array__(),
    "from_dlpack": lambda x: np.from_dlpack(x),
    "from_dlpack of a view": lambda x: np.from_dlpack(x[::-1])[::-1],
    "asarray of a transpose": lambda x: np.asarray(x.T).T,
    "asarray of rows": lambda x: _joined([np.asarray(row) for row in x]),
    "bytes": lambda x: np.asarray(_bytes(x)).view(np.float64),
}


def _joined(rows):
    """The one array that neighbouring rows are parts of."""
    return np.lib.stride_tricks.as_strided(rows[0], SHAPE, (rows[0].nbytes, 8))


def chain(x):
    return x * 2.0 + 1.0


@pytest.mark.parametrize("export", EXPORTS)
@for_each("origin", ["memory", "pending", "pending, with a reader"])
def test_handed_out_memory(origin, export):
    a = numbers(SHAPE)
    with deferring():
        x = ours()
        if origin != "memory":
            x = x * 1.0
        readers = [chain(x), xp.sum(x[1:]), x[::-1] - 1.0]
        if origin == "pending":
            readers = []
        e = EXPORTS[export](x)
        assert_same(e, a)
        assert not pending(x)
        # From outside: earlier calls must not see it.
        e[1:] = -5.0
        oracle = a.copy()
        oracle[1:] = -5.0
        for y, right in zip(readers, [a * 2.0 + 1.0, np.sum(a[1:]), a[::-1] - 1.0], strict=False):
            assert_same(numpy_of(y), right)
        assert_same(numpy_of(x), oracle)
        # Later calls run at once.
        y, z = chain(x), xp.max(x[:, ::2], axis=0)
        e[...] = 99.0
        assert_same(numpy_of(y), oracle * 2.0 + 1.0)
        assert_same(numpy_of(z), oracle[:, ::2].max(axis=0))
        # From inside: it shows outside at once.
        x[0] = 3.0
        x -= 1.0
        oracle = np.full(SHAPE, 98.0)
        oracle[0] = 2.0
        assert_same(e, oracle)
        x[...] = chain(ours())
        assert_same(e, a * 2.0 + 1.0)
        x[:, 1:] += x[:, :-1] * 1.0
        oracle = a * 2.0 + 1.0
        oracle[:, 1:] += oracle[:, :-1].copy()
        assert_same(e, oracle)


@pytest.mark.parametrize("export", EXPORTS)
def test_an_export_of_part_shares_the_whole(export):
    a = numbers(SHAPE)
    with deferring():
        wide = xp.concat([ours(), ours()]) * 1.0
        x = wide[4:]
        reader = wide * 2.0
        e = EXPORTS[export](x)
        e[...] = 0.0
        assert_same(numpy_of(reader), np.concatenate([a, a]) * 2.0)
        reader = wide * 2.0
        e[...] = 1.0
        assert_same(numpy_of(reader), np.concatenate([a * 2.0, np.zeros(SHAPE)]))


@pytest.mark.parametrize("origin", ["memory", "pending"])
def test_bytes_read_as_another_dtype(origin):
    a = numbers(SHAPE)
    with deferring():
        x = ours() * 1.0 if origin == "pending" else ours()
        y = x * 2.0
        bits = x.view(xp.int64)
        total = xp.sum(bits * 1)
        x[0] = 1.0
        bits[1:] = 0
        x[:, 3] = 2.0
        oracle = a.copy()
        oracle[0], oracle[1:], oracle[:, 3] = 1.0, 0.0, 2.0
        assert_same(numpy_of(y), a * 2.0)
        assert_same(numpy_of(total), np.sum(a.view(np.int64)))
        assert_same(numpy_of(x), oracle)
        assert_same(numpy_of(bits), oracle.view(np.int64))
        z = x + 1.0
        bits[...] = 0
        assert_same(numpy_of(z), oracle + 1.0)
        assert_same(numpy_of(x), np.zeros(SHAPE))


COPIES = {
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),
    "pickle out of band": lambda x: _out_of_band(x),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "asarray copy=True": lambda x: xp.asarray(x, copy=True),
    "NumPy copy": lambda x: np.array(x),
    "from_dlpack copy=True": lambda x: xp.from_dlpack(x, copy=True),
    "astype": lambda x: xp.astype(x, xp.float64),
    "a list": lambda x: xp.asarray([[float(y) for y in row] for row in x]),
}


def _out_of_band(x):
    buffers = []
    packed = pickle.dumps(x, protocol=5, buffer_callback=buffers.append)
    return pickle.loads(packed, buffers=[bytearray(buffer.raw()) for buffer in buffers])


@for_each("name", COPIES)
@pytest.mark.parametrize("origin", ["memory", "pending", "pending view"])
def test_copies_go_their_own_way(origin, name):
    a = numbers(SHAPE)
    with deferring():
        x = ours()
        if origin == "pending":
            x = x * 1.0
        if origin == "pending view":
            x = (xp.asarray(a.T, copy=True) * 1.0).T
        reader = x + 1.0
        y = COPIES[name](x)
        x[0] = 9.0
        x += 1.0
        assert_same(numpy_of(y), a)
        y[1:] = 4.0
        y *= 2.0
        oracle = a.copy()
        oracle[0] = 9.0
        assert_same(numpy_of(x), oracle + 1.0)
        assert_same(numpy_of(reader), a + 1.0)


def test_a_pickle_buffer_shows_the_memory_as_it_is():
    # Out of band, pickle hands out memory; writes through it must not reach older expressions.
    with deferring():
        x = ours() * 1.0
        reader = x + 1.0
        buffers = []
        pickle.dumps(x, protocol=5, buffer_callback=buffers.append)
        late = x + 2.0
        for buffer in buffers:
            if not buffer.raw().readonly:
                buffer.raw()[:] = bytes(buffer.raw().nbytes)
        assert_same(numpy_of(reader), numbers(SHAPE) + 1.0)
        assert_same(numpy_of(late), numbers(SHAPE) + 2.0)


def _use_memory(shape):
    """Compute results of that shape and drop them, and hold as many for a moment."""
    held = []
    for i in range(6):
        y = xp.full(shape, float(i)) * 2.0
        xp.evaluate(y)
        held.append(y + 1.0)
    xp.evaluate(*held)


HOLDERS = {
    **EXPORTS,
    "a view": lambda x: x[::-1][::-1],
    "iteration": lambda x: next(iter(x)),
    "dlpack capsule": lambda x: DLPackAlone(x),  # type: ignore[arg-type]
    "bytes as an array": _bytes,
}


@for_each(
    ("name", "above"),
    [
        (name, above)
        for name in HOLDERS
        for above in (False, True)
        if not (name == "asarray of rows" and above)
    ],
)
def test_memory_is_kept_for_whoever_still_reads_it(name, above):
    shape = SHAPE if not above else (4, LARGE // 4 + 8)
    with settings("large" if above else "context"):
        x = xp.asarray(numbers(shape), copy=True) * 3.0
        held = HOLDERS[name](x)
        if isinstance(held, DLPackAlone):
            held = held.__dlpack__()
        del x
        _use_memory(shape)
        if type(held).__name__ == "PyCapsule":
            held = np.from_dlpack(Capsule(held))
        now = numpy_of(held)
        if name == "iteration":
            assert_same(now, numbers(shape)[0] * 3.0)
        else:
            assert_same(now.view(np.float64), numbers(shape) * 3.0)


@pytest.mark.parametrize("above", [False, True])
def test_memory_is_kept_for_pending_expressions(above):
    shape = SHAPE if not above else (4, LARGE // 4 + 8)
    a = numbers(shape)
    with settings("large" if above else "context"):
        x = xp.asarray(a, copy=True) * 3.0
        xp.evaluate(x)
        y, row = x + 1.0, x[2]
        del x
        _use_memory(shape)
        assert_same(numpy_of(y), a * 3.0 + 1.0)
        assert_same(numpy_of(row), a[2] * 3.0)


def test_results_never_share_memory():
    with deferring():
        x = ours()
        results = [x * 1.0, x * 1.0, x + 0.0, xp.astype(x, xp.float64), xp.zeros(SHAPE),
                   xp.zeros(SHAPE), xp.where(x > 0.0, x, x), xp.clip(x), +x]  # fmt: skip
        xp.evaluate(*results)
        exports = [np.asarray(y) for y in [x, *results]]
        for i, first in enumerate(exports):
            for second in exports[:i]:
                assert not np.shares_memory(first, second)


@pytest.mark.parametrize("lend", LENT)
def test_always_defers_what_reads_lent_memory(lend):
    a = numbers(SHAPE)
    with settings("always"):
        y = LENT[lend](a) * 2.0
        assert pending(y)
        assert_same(numpy_of(y), a * 2.0)
    with settings("context"):
        y = LENT[lend](a) * 2.0
        assert not pending(y)


@pytest.mark.parametrize("export", EXPORTS)
def test_always_defers_what_reads_handed_out_memory(export):
    a = numbers(SHAPE)
    with settings("always"):
        x = ours()
        early = x + 1.0
        e = EXPORTS[export](x)
        late = x + 2.0
        assert pending(late)
        # Writes through our arrays are seen in time in every mode.
        x[0] = 0.0
        assert_same(numpy_of(early), a + 1.0)
        assert_same(numpy_of(late), a + 2.0)
        assert_same(e[0], np.zeros(6))


@for_each("times", [1, 2, 3, 4, 8])
def test_what_is_small_beside_the_result_is_copied_and_read_late(times):
    """With four times the elements and more, the result waits, and a later write is not seen."""
    lent, other = numbers((50, 4)), numbers((times, 4))
    expected = (lent[:, None, :] - other) ** 2
    with deferring():
        x, y = xp.asarray(lent), xp.asarray(other)
        difference = x[:, None, :] - y[None, :, :]
        assert pending(difference) == (times >= 4)
        result = difference**2
        lent[...] = -1.0
        other[...] = -2.0
        assert_same(numpy_of(result), expected)
        # The memory is still lent: later expressions read its present elements.
        for value in (3.0, 5.0):
            lent[0] = value
            assert_same(numpy_of(x + 0.0), lent)


def test_distances_to_lent_points_need_no_memory_for_the_differences():
    lent = numbers((50, 4))
    with deferring():
        x = xp.asarray(lent)
        squares = (x[:, None, :] - x[None, :9, :]) ** 2
        told = xp.explain(squares)
        assert (told.operations, len(told.passes)) == (2, 1)
        assert_same(
            numpy_of(xp.sum(squares, axis=-1)), ((lent[:, None, :] - lent[:9]) ** 2).sum(-1)
        )


def test_what_is_handed_out_is_copied_likewise():
    a = numbers((50, 4))
    with deferring():
        x = ours((50, 4))
        memory = np.asarray(x)
        result = x[:, None, :] * xp.ones((8, 1))
        assert pending(result)
        memory[...] = 0.0
        assert_same(numpy_of(result), np.broadcast_to(a[:, None, :], (50, 8, 4)))


def test_one_element_of_lent_rows_is_written():
    a = np.eye(50)
    with deferring():
        x = xp.asarray(a)
        x[0, 0] = 7.0
        y = x + 1.0
    expected = np.eye(50)
    expected[0, 0] = 7.0
    assert_same(a, expected)
    assert_same(numpy_of(y), expected + 1.0)
