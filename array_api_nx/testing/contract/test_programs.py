"""The contract's part for programs: how a backend runs them, and the questions of a trace."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

import numpy as np
import pytest

from ...backends.cpu import CPUBackend
from ...contract.arguments import Run
from ...contract.backend import Backend
from ...contract.errors import CannotCompileError
from ...contract.program import Input, Program, Step, Value, ValueView
from ...core import dtypes as d
from ...core.symbolic import dynamic
from ...core.view import View
from ...primitives import table as p
from .layouts import check, in_layouts, row_major, tensor

VALUES = np.arange(1.0, 25.0).reshape(2, 3, 4)


def test_axis_order(backend: Backend) -> None:
    for layout, handle, oracle in in_layouts(backend, VALUES):
        order = backend.axis_order(handle)
        if order is None:
            continue
        if not order.is_packed:
            for axes in permutations(range(oracle.ndim)):
                assert backend.axis_order(backend.permute(handle, axes)) is not None, layout
        if order.axes is None:
            continue
        moved = backend.permute(handle, order.axes)
        check(backend, moved, oracle.transpose(order.axes), hint=layout)
        found = backend.axis_order(moved)
        if order.is_packed:
            assert found is None, layout
        else:
            assert found is not None, layout
            assert found.axes == tuple(range(oracle.ndim)), layout


def test_has_elements(backend: Backend) -> None:
    assert backend.has_elements(tensor(backend, *row_major(VALUES)))


def test_may_overlap(backend: Backend) -> None:
    memory = np.arange(24.0)
    whole = tensor(backend, memory, View((24,)), writable=True)
    part = backend.slice(whole, ((3, 5, 2),))
    for other in (whole, part):
        assert backend.may_overlap(whole, other)
        assert backend.may_overlap(other, whole)
    backwards = backend.flip(part, (True,))
    for other in (whole, part):
        assert backend.may_overlap(backwards, other)
        assert backend.may_overlap(other, backwards)
    if backend.shares_host:
        # Each handle has a storage of its own.
        one, other = [backend.from_host(x, copy=False) for x in (memory[1:], memory[:-1])]
        assert backend.may_overlap(one, other)
        assert backend.may_overlap(other, one)
    fresh = tensor(backend, np.arange(24.0), View((24,)), writable=True)
    if isinstance(backend, CPUBackend):
        again = tensor(backend, memory, View((4, 6)), writable=True)
        assert backend.may_overlap(whole, again)
        assert not backend.may_overlap(whole, fresh)
        assert not backend.may_overlap(part, backend.slice(whole, ((4, 5, 2),)))


def _program() -> Program:
    """Twice the argument, its second column set to the first element; the sums of the columns."""
    n = dynamic("n", min=2)
    shape = (n, 3)
    identity = View.row_major(shape)
    steps = (
        Step("binary", (p.MULTIPLY, ValueView(0, identity), 2.0), (), (1,)),
        Step(
            "update",
            (ValueView(1, identity), View((n,), (3,), 1), ValueView(0, View((), ()))),
            (),
            (2,),
        ),
        Step("reduce", (p.SUM, ValueView(2, identity), (0,), False, None), (), (3,)),
    )
    return Program(
        n.vars,
        (Input(shape, None, 2),),
        (*[Value(shape, d.float64)] * 3, Value((3,), d.float64)),
        {},
        steps,
        (ValueView(3, View((3,))), ValueView(2, View((3, n), (1, 3)))),
        (),
    )


def check_runs(backend: Backend, prepare: Callable[[Program, tuple[int, ...]], Run]) -> None:
    program = _program()
    for size in (2, 5):
        run = prepare(program, (size,))
        for _ in range(2):
            values = np.arange(1.0, 3 * size + 1).reshape(size, 3)
            handle = tensor(backend, *row_major(values), writable=True)
            total, moved = run(handle)
            written = values * 2
            written[:, 1] = 1.0
            check(backend, handle, written)
            check(backend, total, written.sum(axis=0))
            check(backend, moved, written.T)


def test_prepare(backend: Backend) -> None:
    check_runs(backend, backend.prepare)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of PyTorch's, when Inductor is loaded
def test_prepare_compiled(backend: Backend) -> None:
    try:
        check_runs(backend, backend.prepare_compiled)
    except CannotCompileError:
        # An engine that engine="auto" compiles with must accept such programs.
        assert backend.compiler is None or not backend.compiles_unasked
