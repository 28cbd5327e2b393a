"""Compiled functions: which memory they read, write and return, in every layout."""

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx import ShapeSpec
from array_api_nx.compile import TraceError
from array_api_nx.native import native
from tests.support.arrays import normal
from tests.support.programs import assert_same, numpy_of
from tests.support.refusals import refused
from tests.support.tables import for_each


def test_results_have_memory_of_their_own():
    one = xp.asarray([1.0, 2.0, 3.0])

    def call(x):
        return (
            x * 1,
            x * 1,
            xp.asarray(x, copy=True),
            +x,
            xp.asarray([5.0, 6.0]),
            one,
            one[1:],
            x[1:],
        )

    function = xp.compile(call)
    for _ in range(2):
        x = normal(3)
        kept = numpy_of(x)
        *fresh, literal, captured, part, view = function(x)
        for result in fresh:
            assert_same(result, kept)
            result[...] = 0.0
        assert_same(x, kept)
        assert_same(literal, np.asarray([5.0, 6.0]))
        literal[...] = 0.0
        assert captured is one
        assert np.shares_memory(np.asarray(part), np.asarray(one))
        assert np.shares_memory(np.asarray(view), np.asarray(x))


def test_arguments_are_written_as_in_eager_code():
    def call(x, y):
        part = x[1:, ...]
        part += y
        x[0, ...] = part[-1, ...] * 2
        y *= 1
        x[:, 0] = -1.0
        x[x > 1.0] = 1.0
        view = x[::-1, :]
        x += 1
        return x, view, part * 1

    function = xp.compile(call)
    for transposed in (False, True):
        for n in (3, 5):
            x, y = normal(n, 4), normal(4)
            if transposed:
                x = xp.asarray(np.array(np.asarray(x), order="F"))
            mine, eager = xp.asarray(numpy_of(x)), xp.asarray(numpy_of(x))
            if transposed:
                mine = xp.asarray(np.asfortranarray(numpy_of(x)))
            same, view, part = function(mine, y)
            _, expected_view, expected_part = call(eager, y)
            assert same is mine
            assert_same(mine, eager)
            assert_same(view, expected_view)
            assert_same(part, expected_part)
            mine[...] = 7.0
            assert_same(view, np.full((n, 4), 7.0))
    # With the extension the calls of the function serve any order of axes.
    traces = 2 if native is None else 1
    assert function.cache_info()[:3] == (traces, traces, 4)


def test_arguments_that_share_memory():
    def call(x, y):
        x += 1
        return x + y

    function = xp.compile(call)
    x = xp.ones(3)
    assert_same(function(x, xp.ones(3)), np.full(3, 3.0))
    assert_same(function(x, x), np.full(3, 6.0))
    assert_same(x, np.full(3, 3.0))
    assert_same(function(x, x[::-1]), np.full(3, 8.0))
    assert_same(function(x, xp.asarray(np.asarray(x))), np.full(3, 10.0))
    # One array for both, and one that runs backwards, are other kinds of arguments.
    assert function.cache_info()[:3] == (3, 3, 4)


def test_arguments_that_share_memory_with_arrays_from_outside():
    outside = xp.ones(3)

    def call(x):
        x += 1
        return x + outside

    function = xp.compile(call)
    assert_same(function(xp.ones(3)), np.full(3, 3.0))
    assert_same(function(outside[:]), np.full(3, 4.0))
    assert_same(outside, np.full(3, 2.0))


def test_read_only_arguments():
    def call(x):
        x += 1
        return x

    function = xp.compile(call)
    locked = np.ones(3)
    locked.flags.writeable = False
    for _ in range(2):
        with pytest.raises(ValueError, match="cannot write to the array: its memory was handed in"):
            function(xp.asarray(locked))
        with pytest.raises(ValueError, match="several of its elements share memory"):
            function(xp.broadcast_to(xp.ones(1), (3,)))
        assert_same(function(xp.ones(3)), np.full(3, 2.0))
    assert_same(locked, np.ones(3))


def test_programs_are_for_arguments_that_may_be_written_or_for_others():
    def call(x):
        try:
            x += 1
        except ValueError:
            return xp.zeros_like(x)
        return x * 2

    locked = np.ones(3)
    locked.flags.writeable = False
    for first in (0, 1):
        function = xp.compile(call)
        for i in range(first, first + 6):
            if i % 2:
                assert_same(function(xp.asarray(locked)), np.zeros(3))
            else:
                assert_same(function(xp.ones(3)), np.full(3, 4.0))
        assert function.cache_info()[:3] == (2, 2, 6)
    assert_same(locked, np.ones(3))
    # Where nothing is written, it makes no difference.
    plain = xp.compile(lambda x: x + 1)
    for x in (xp.asarray(locked), xp.ones(3)):
        assert_same(plain(x), np.full(3, 2.0))
    assert plain.cache_info()[:3] == (1, 1, 2)


def _write_flat(x):
    flat = xp.reshape(x, (-1,))
    flat[0] = 99.0
    return flat * 1


def _flat_before_write(x):
    flat = xp.reshape(x, (-1,))
    x[...] = 0
    return flat


def _flat_or_error(x):
    try:
        return xp.reshape(x, (-1,), copy=False)
    except ValueError:
        return x * 2


def _add_to_flat(x):
    flat = xp.reshape(x, (-1,))
    try:
        flat += 1
    except ValueError:
        return xp.zeros_like(flat)
    return flat * 1


def _flat_columns(x):
    """Whether it is a view depends on the number of columns."""
    flat = xp.reshape(x[:, ::2], (-1,))
    flat[0] = 99.0
    return flat


def _transposed_flat(x):
    """It is a view only where rows and columns are as many."""
    moved = xp.reshape(x.T, x.shape)
    moved[0, ...] = 7.0
    return moved


LAYOUTS = {
    "row-major": lambda x: x.copy(),
    "gaps": lambda x: x[:, :3],
    "gaps between rows": lambda x: x[::2],
    "gaps between columns": lambda x: x[:, ::2],
    "flipped": lambda x: x[::-1],
    "flipped columns": lambda x: x[:, ::-1],
    "all flipped": lambda x: x[::-1, ::-1],
    "transposed": lambda x: x.T,
    "transposed gaps": lambda x: x[:, :3].T,
    "one column": lambda x: x[:, :1],
    "repeated rows": lambda x: np.broadcast_to(x[:1], (4, 6)),
    "repeated columns": lambda x: np.broadcast_to(x[:, :1], (4, 6)),
}


@for_each("layout", LAYOUTS)
@pytest.mark.parametrize(
    "call",
    [
        _write_flat,
        _flat_before_write,
        _flat_or_error,
        _add_to_flat,
        _flat_columns,
        _transposed_flat,
        lambda x: x[::-1, ...],
        lambda x: xp.reshape(x, (-1,)),
        lambda x: (xp.reshape(x, (-1,)), xp.permute_dims(x, (1, 0))),
    ],
)
def test_views_and_copies_are_those_of_the_layout(call, layout):
    function = xp.compile(call)
    for shape in [(4, 6), (4, 7), (4, 4), (5, 6)]:
        kept = np.arange(float(np.prod(shape))).reshape(shape)
        seen = []
        for each in (call, function):
            memory = kept.copy()
            try:
                found = each(xp.asarray(LAYOUTS[layout](memory)))
            except ValueError as error:
                seen.append((str(error), memory))
                continue
            results = found if isinstance(found, tuple) else (found,)
            for result in results:
                elements = numpy_of(result)
                shares = np.shares_memory(np.asarray(result), memory)
                if np.asarray(result).flags.writeable:
                    result[...] = -1.0
                seen.append((elements, shares, memory.copy()))
        middle = len(seen) // 2
        for expected, actual in zip(seen[:middle], seen[middle:], strict=True):
            for x, y in zip(actual, expected, strict=True):
                assert_same(x, y, (layout, shape)) if isinstance(y, np.ndarray) else None
                assert isinstance(y, np.ndarray) or x == y


def test_layouts_that_make_no_difference_are_compiled():
    """Reshapes that decide nothing that anybody could see."""
    x = np.arange(24.0).reshape(4, 6)
    for call in (
        lambda x: xp.sum(xp.reshape(x, (-1,)) * 2),
        lambda x: xp.argmax(x),
        lambda x: xp.expand_dims(x, axis=0) + 1,
    ):
        function = xp.compile(call)
        for view in LAYOUTS.values():
            assert_same(function(xp.asarray(view(x))), call(xp.asarray(view(x))))
        info = function.cache_info()
        assert info.programs == info.traces


def test_functions_without_a_program():
    function = xp.compile(_write_flat)
    gaps = xp.asarray(np.ones((4, 6))[:, :3])
    function(gaps)
    assert function.cache_info()[:3] == (1, 0, 1)
    with pytest.raises(
        TraceError, match=r"run the function itself.*row-major, as asarray\(x, copy"
    ):
        function.explain(gaps)
    # At these sizes it is a copy, at others it may be a view: then the program does not fit.
    halves = xp.compile(_flat_columns)
    program = halves.lower(ShapeSpec(("n", "m"), xp.float64))
    assert {guard.relation for guard in program.guards} == {"!="}
    for columns, traces in [(5, 1), (7, 1), (6, 2), (8, 2)]:
        x = xp.ones((3, columns))
        halves(x)
        assert (float(x[0, 0]) == 99.0) == (columns % 2 == 0)
        assert halves.cache_info().traces == traces


def test_arguments_that_get_their_own_value():
    def call(x):
        x[...] = x
        return x[::-1], x, xp.asarray(x, copy=True)

    function = xp.compile(call)
    for _ in range(2):
        x = xp.asarray(np.arange(3.0))
        view, same, copied = function(x)
        view[0] = 7.0
        copied[1] = 9.0
        assert same is x
        assert_same(x, np.asarray([0.0, 1.0, 7.0]))


def test_views_of_broadcast_views_are_read_only():
    outside = xp.asarray([5.0, 6.0])

    def parts(x):
        rows = xp.broadcast_to(x, (3, *x.shape))
        computed = xp.broadcast_to(x + 1, (3, *x.shape))
        same = xp.broadcast_to(outside, (3, 2))
        return [
            rows,
            rows[0],
            rows[1:2, 1:],
            xp.flip(rows[1]),
            xp.reshape(rows[:1], x.shape),
            xp.permute_dims(rows, (1, 0))[:, 2],
            computed[0],
            same[0],
        ]

    function = xp.compile(parts)
    for n in (4, 7, 1000):
        x = xp.arange(float(n))
        for found, expected in zip(function(x), parts(x), strict=True):
            assert_same(found, expected)
            for write in (lambda y: y.__setitem__(..., 9.0), lambda y: y.__iadd__(1.0)):
                refused(ValueError, r"repeated elements|share memory", write, found)
            assert not np.asarray(found).flags.writeable
        assert_same(x, np.arange(float(n)))
    assert function.cache_info().traces == 1
    assert np.asarray(outside).tolist() == [5.0, 6.0]


@pytest.mark.parametrize("write", [lambda y: y.__setitem__(..., 9.0), lambda y: y.__iadd__(1.0)])
def test_traced_functions_cannot_write_to_views_of_broadcast_views(write):
    def call(x):
        write(xp.broadcast_to(x, (3, *x.shape))[0])
        return x

    x = xp.ones(4)
    refused(ValueError, "view of an array with repeated elements", xp.compile(call), x)
    assert_same(x, np.ones(4))


def test_read_only_views_as_arguments():
    """The layout alone does not show it; returned views of them are read-only, too."""
    function = xp.compile(lambda x: (x, x[1:], xp.reshape(x, (-1, 1)), x + 1))
    x = xp.arange(4.0)
    for read_only in (xp.broadcast_to(x, (3, 4))[0], xp.broadcast_to(x, (3, 4))[1]):
        *views, computed = function(read_only)
        for y in views:
            with pytest.raises(ValueError, match="view of an array with repeated elements"):
                y[...] = 9.0
        computed[...] = 9.0
    for y in function(x):
        y[...] = 9.0
    assert_same(x, np.full(4, 9.0))


@pytest.mark.parametrize(
    "call",
    [
        lambda x, outside: x * outside + outside[0],
        lambda x, outside: (x * outside + 1) * outside - 2,  # one group of calls
        lambda x, outside: xp.roll(x + outside, 1),
    ],
)
def test_arrays_from_outside_are_read_at_each_call(call):
    outside = xp.asarray([1.0, 2.0, 3.0])
    function = xp.compile(lambda x: call(x, outside))
    x = normal(4, 3)
    for _ in range(3):
        assert_same(function(x), call(x, outside))
        outside *= 2
    outside[0] = 5.0
    assert_same(function(x), call(x, outside))
    assert function.cache_info().traces == 1
