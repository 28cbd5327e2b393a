"""Transforms of symbolic views, with numbers put in, against NumPy."""

from math import prod

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from array_api_nx.core.symbolic import Dim, dynamic, eval_dim
from array_api_nx.core.symbolic_layout import packed_order
from array_api_nx.core.view import View
from tests.support.refusals import refused

N, M = dynamic("n", min=2, max=50), dynamic("m", min=2, max=50)
SHAPES = [(N,), (N, M), (N, 4), (2, N, 3), (N, N), (1, N, M), (2 * N, M), (N, 6, M)]


def number(x, n, m):
    found = eval_dim(x, {N: n, M: m})
    assert found is not None
    return found


def shown(view, n, m, memory):
    """The elements of a flat block that the view selects at these sizes."""
    sizes = (*view.shape, *view.strides, view.offset)
    concrete = view.at(tuple([number(x, n, m) for x in sizes]))
    concrete.check_fits(memory.size)
    positions = np.full(concrete.shape, concrete.offset)
    for axis, (size, step) in enumerate(zip(concrete.shape, concrete.strides, strict=True)):
        positions += (np.arange(size) * step).reshape(
            [-1 if a == axis else 1 for a in range(concrete.ndim)]
        )
    return memory[positions]


def selected(view, a, b):
    """A selection, and NumPy's key for it."""
    items = []
    keys = []
    for axis, size in enumerate(view.shape):
        match (a + axis * b) % 6:
            case 0:
                items.append((0, size, 1))
                keys.append(lambda n: slice(None))
            case 1:
                items.append((size - 1, size, -1))
                keys.append(lambda n: slice(None, None, -1))
            case 2:
                items.append((1, size - 1, 1))
                keys.append(lambda n: slice(1, None))
            case 3:
                items.append((0, (size + 1) // 2, 2))
                keys.append(lambda n: slice(None, None, 2))
            case 4:
                items.append(size - 1)
                keys.append(lambda n: -1)
            case 5:
                items.append(None)
                keys.append(lambda n: None)
                items.append((0, size, 1))
                keys.append(lambda n: slice(None))
    return tuple(items), [key(0) for key in keys]


def reshapes(shape, a):
    """A shape of as many elements."""
    total = prod(shape)
    merged = [*shape]
    at = a % max(1, len(merged) - 1)
    if len(merged) > 1:
        merged[at : at + 2] = [merged[at] * merged[at + 1]]
    choices = [
        (total,),
        tuple(merged),
        (1, *shape),
        (*shape[:at], 1, *shape[at:]),
        tuple([n for n in shape if type(n) is not int or n != 1]),
        *[
            (*shape[:i], 2, n // 2, *shape[i + 1 :])
            for i, n in enumerate(shape)
            if type(n) is int and n % 2 == 0
        ],
        *[
            (*shape[:i], n // N, N, *shape[i + 1 :])
            for i, n in enumerate(shape)
            if isinstance(n, Dim) and type(n % N) is int
        ],
    ]
    return choices[a % len(choices)]


steps = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 40), st.integers(0, 5)), max_size=6)


@given(st.sampled_from(SHAPES), steps, st.integers(2, 6), st.integers(2, 6))
def test_chains(shape, chain, n, m):
    view = View(shape)
    memory = np.arange(number(prod(shape), n, m))
    array = memory.reshape([number(size, n, m) for size in shape])
    for kind, a, b in chain:
        if any([number(size, n, m) == 0 for size in view.shape]) or view.ndim > 6:
            break
        match kind:
            case 0:
                axes = tuple(
                    [(axis + a) % view.ndim for axis in range(view.ndim)][:: 1 - 2 * (b % 2)]
                )
                view, array = view.permute(axes), array.transpose(axes)
            case 1:
                selection, keys = selected(view, a, b)
                moved = view.slice(selection)
                assert moved is not None
                view, array = moved, array[tuple(keys)]
            case 2:
                marks = tuple([bool((a >> axis) & 1) for axis in range(view.ndim)])
                view = view.flip(marks)
                array = np.flip(array, [axis for axis, mark in enumerate(marks) if mark])
            case 3 if view.ndim:
                target = reshapes(view.shape, a)
                moved = view.reshape(target)
                if moved is not None:
                    view = moved
                    array = array.reshape([number(size, n, m) for size in target])
        assert np.array_equal(shown(view, n, m, memory), array)
        order = view.packed_order
        if order is not None:
            assert view.permute(order).is_row_major


def test_reshapes_that_have_views():
    flipped = View((N, 4, M)).flip((True, False, False))
    assert flipped.reshape((N, 4 * M)) == View((N, 4 * M), (-4 * M, 1), 4 * N * M - 4 * M)
    assert flipped.reshape((N, 2, 2, M)) is not None
    assert flipped.reshape((4 * N, M)) is None
    assert flipped.reshape((N, 1, 4, M)) is not None
    moved = View((N, M)).permute((1, 0))
    assert moved.reshape((M, 1, N)) == View((M, 1, N), (1, 0, M))
    assert moved.reshape((N * M,)) is None
    assert moved.reshape((1, M, N)).reshape((M, N)) == moved
    assert View((N, 6)).permute((1, 0)).reshape((2, 3, N)) == View((2, 3, N), (3, 1, 6))
    refused(ValueError, "cannot reshape", moved.reshape, (N,))


def test_packed_order():
    assert packed_order((N, M), (M, 1)) == (0, 1)
    assert packed_order((N, M), (1, N)) == (1, 0)
    assert packed_order((N, 1, M), (1, 77, N)) == (1, 2, 0)
    assert packed_order((N, M), (2 * M, 1)) is None
    assert packed_order((), ()) == ()
    assert View((2, 3)).pad(((1, 1), (0, 0))).packed_order is None
