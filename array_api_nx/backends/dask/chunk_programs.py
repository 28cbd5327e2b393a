"""Programs that become one layer of a Dask graph: each task runs all of the steps on one chunk.

The chunks are those of a *frame*: the shape that the results have in common, or its first axis. Of
each value it is worked out, from the results backwards, which of its axes are cut as which axis of
the frame; other axes are in one piece, and a value without cuts is the same for every task.
Where a step would have to see elements of other chunks, or one value would have to be cut in two
ways, there is no such layer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from operator import itemgetter
from typing import Final, NamedTuple, NoReturn, TypeAlias

import dask.array as da
import numpy as np

from ...contract.arguments import Run
from ...contract.errors import CannotCompileError
from ...contract.numpy_dtypes import NDArray
from ...contract.program import Argument, Input, Program, Step, Value, ValueView, operands_in
from ...contract.replay import kept_values, resolved
from ...core.real import evaluated
from ...core.shape import broadcast_shapes
from ...core.symbolic import KnownInts, bind
from ...core.view import View
from ...primitives import table as p
from .expressions import chunk_handle, host, task_settings
from .layers import Chunks, Grid, Task, finer, joint, layer, positions, rechunked, tidy

_ELEMENTWISE: Final = frozenset({"unary", "binary", "where", "clip", "apply", "cast", "copy"})
_MATRICES: Final = frozenset({"inv", "cholesky"})
_ALONG_AXIS: Final = frozenset({"scan", "sort", "argsort"})


class CutView(NamedTuple):
    """An operand of a step, and how what its view shows is cut."""

    value: int
    view: View
    cuts: Cuts


Cuts: TypeAlias = "tuple[int | None, ...]"
"""For each axis, the axis of the frame as which it is cut, or None."""


def build(program: Program, sizes: KnownInts) -> BlockProgram:
    """The program for the chunks of whatever frame it can be cut along.

    Raises CannotCompileError if there is none; names the step that is in the way.
    """
    fixed = _with_numbers(program, sizes)
    kept = [fixed.values[value].shape for value in kept_values(fixed)]
    if not kept:
        raise CannotCompileError("the program computes nothing; use engine='steps' for it")
    try:
        return _Cutter(fixed, broadcast_shapes(*kept)).result()
    except (CannotCompileError, ValueError):
        return _Cutter(fixed, kept[0][:1]).result()


def _with_numbers(program: Program, sizes: KnownInts) -> Program:
    """The program at these sizes, its outside arrays being further inputs, and its outputs the
    values that are needed after the steps."""
    numbers = dict(zip(program.symbols, program.evaluate(*sizes), strict=True))
    given = [*range(len(program.inputs)), *program.constants]
    order = [*given, *[i for i in range(len(program.values)) if i not in given]]
    number_of = {old: new for new, old in enumerate(order)}

    def fixed(x: Argument) -> Argument:
        if isinstance(x, ValueView):
            return ValueView(number_of[x.value], resolved(x.view, numbers))
        if isinstance(x, tuple):
            return tuple([fixed(part) for part in x])
        return resolved(x, numbers)

    with bind(dict(zip(program.variables, sizes, strict=True))):
        shapes: list[KnownInts] = [
            tuple([evaluated(n) for n in value.shape]) for value in program.values
        ]
    steps = [
        Step(
            step.method,
            fixed(step.arguments),
            tuple([(name, fixed(x)) for name, x in step.keywords]),
            tuple([number_of[i] for i in step.results]),
            step.errors,
        )
        for step in program.steps
    ]
    return Program(
        (),
        tuple([Input(shapes[i], None, None) for i in given]),
        tuple([Value(shapes[i], program.values[i].dtype) for i in order]),
        {},
        tuple(steps),
        tuple([ValueView(number_of[i], View.row_major(shapes[i])) for i in kept_values(program)]),
        (),
    )


class _Cutter:
    """How the values of a program, at known sizes, are cut; in `found`, by their numbers."""

    def __init__(self, program: Program, frame: KnownInts) -> None:
        self.program = program
        self.frame = frame
        self.step: Step | None = None
        self.found: dict[int, Cuts] = {}
        self.views: dict[int, Cuts] = {}
        for operand in program.outputs:
            shape = operand.view.shape
            # A frame of one axis is the first of each result, else they broadcast to it.
            first = 0 if len(frame) == 1 else len(frame) - len(shape)
            cuts = tuple(
                [
                    first + i if first + i < len(frame) and n == frame[first + i] > 1 else None
                    for i, n in enumerate(shape)
                ]
            )
            if not shape or (not _is_cut(cuts) and prod(frame) > 1):
                self.refuse()
            self.want(operand, cuts)
        for step in reversed(program.steps):
            self.step = step
            self.visit(step)

    def result(self) -> BlockProgram:
        def marked(x: Argument) -> Argument:
            if isinstance(x, ValueView):
                return CutView(x.value, x.view, self.views[id(x)])
            if isinstance(x, tuple):
                return tuple([marked(part) for part in x])
            return x

        program = self.program
        steps = tuple(
            [
                step._replace(arguments=marked(step.arguments), keywords=marked(step.keywords))
                for step in program.steps
                if step.results[0] in self.found
            ]
        )
        return BlockProgram(replace(program, steps=steps), self.found, self.frame)

    def refuse(self) -> NoReturn:
        if self.step is None:
            raise CannotCompileError(
                "the results have no axis in common along which chunks could be computed one by "
                "one; use engine='steps' for this function"
            )
        raise CannotCompileError(
            f"the step {self.program.step_text(self.step)} is not computed chunk by chunk along "
            "with the others, because it needs elements of several chunks; use engine='steps' for "
            "this function"
        )

    def visit(self, step: Step) -> None:
        """Cut the operands of a step as its results need it."""
        cuts = self.found.get(step.results[0])
        if cuts is None:
            return  # no result needs it
        operands = list(operands_in((step.arguments, [x for _, x in step.keywords])))
        shape = self.program.values[step.results[0]].shape
        if not _is_cut(cuts) and len(step.results) == 1:
            # The same for all tasks.
            for operand in operands:
                self.want(operand, (None,) * operand.view.ndim)
        elif step.method in _ELEMENTWISE:
            if step.method == "binary" and step.arguments[0] is p.POW and len(operands) > 1:
                self.refuse()  # negative integers among the exponents are an error at once
            for operand in operands:
                self.want(operand, _broadcast(cuts, shape, operand.view.shape))
        elif step.method in ("reduce", "var"):
            x, axes, keepdims = step.arguments[step.method == "reduce" :][:3]
            kept = iter(cuts)
            wanted: list[int | None] = []
            for axis in range(x.view.ndim):
                if axis not in axes or keepdims:
                    cut = next(kept)
                wanted.append(None if axis in axes else cut)
            self.want(x, tuple(wanted))
        elif step.method in _ALONG_AXIS or step.method == "arg_reduce":
            x, axis, *rest = step.arguments[step.method in ("scan", "arg_reduce") :]
            if step.method == "arg_reduce" and not rest[0]:
                cuts = (*cuts[:axis], None, *cuts[axis:])
            if cuts[axis] is not None:
                self.refuse()
            self.want(x, cuts)
        elif step.method == "cat":
            if cuts[step.arguments[1]] is not None:
                self.refuse()
            for operand in operands:
                self.want(operand, cuts)
        elif step.method == "vecdot":
            for operand in operands:
                self.want(operand, (*_broadcast(cuts, shape, operand.view.shape[:-1]), None))
        elif step.method in _MATRICES:
            if _is_cut(cuts[-2:]):
                self.refuse()
            self.want(operands[0], cuts)
        elif step.method == "matmul" and min([x.view.ndim for x in operands]) >= 2:
            first, second = operands
            outer, outer_shape = cuts[:-2], shape[:-2]
            left = _broadcast(outer, outer_shape, first.view.shape[:-2])
            right = _broadcast(outer, outer_shape, second.view.shape[:-2])
            self.want(first, (*left, cuts[-2], None))
            self.want(second, (*right, None, cuts[-1]))
        else:
            self.refuse()

    def want(self, operand: ValueView, cuts: Cuts) -> None:
        """Have an operand cut so."""
        shape = self.program.values[operand.value].shape
        view = operand.view
        self.views[id(operand)] = cuts
        own: list[int | None] = [None] * len(shape)
        for axis, cut in enumerate(cuts):
            if cut is None or view.strides[axis] == 0:
                continue
            source = _source(shape, view, axis)
            if source is None or own[source] not in (None, cut):
                self.refuse()
            own[source] = cut
        if self.found.setdefault(operand.value, tuple(own)) != tuple(own):
            self.refuse()
        if not _is_cut(own) or _is_plain(shape, view):
            return
        if _is_cut(own[1:]) or not _is_within_rows(shape, view):
            self.refuse()


def _is_cut(cuts: Sequence[int | None]) -> bool:
    return any([cut is not None for cut in cuts])


def _broadcast(cuts: Cuts, shape: KnownInts, own: KnownInts) -> Cuts:
    """`cuts` of a result for an operand that broadcasts to it."""
    first = len(shape) - len(own)
    return tuple([cuts[first + i] if n == shape[first + i] else None for i, n in enumerate(own)])


def _source(shape: KnownInts, view: View, axis: int) -> int | None:
    """The axis of a row-major block that an axis of a view of it goes along, from end to end."""
    size, stride = view.shape[axis], view.strides[axis]
    strides = View.row_major(tuple(shape)).strides
    for own, (n, step) in enumerate(zip(shape, strides, strict=True)):
        if n == size and step == stride and n > 1:
            return own
    return None


def _is_plain(shape: KnownInts, view: View) -> bool:
    """Whether each axis of a view is one of the block's, or one of size 1 or without a stride."""
    found = [
        _source(shape, view, axis)
        for axis in range(view.ndim)
        if view.shape[axis] > 1 and view.strides[axis] != 0
    ]
    return view.mask is None and view.offset == 0 and None not in found


def _is_within_rows(shape: KnownInts, view: View) -> bool:
    """Whether a view's first axis is the block's, and the others stay in one of its rows."""
    row = prod(shape[1:])
    if view.mask is not None or not view.ndim or _source(shape, view, 0) != 0:
        return False
    low, high = View(view.shape[1:], view.strides[1:], view.offset).extent
    return bool(low >= 0 and high <= row)


class BlockProgram:
    """The function of a task, which can be pickled: all steps, on chunks of the inputs.

    `program`: at known sizes, with a `CutView` for each operand.
    `cuts`: see `Cuts`; by the numbers of the values, for those that are needed.
    `frame`: the shape of the frame.
    """

    def __init__(self, program: Program, cuts: dict[int, Cuts], frame: KnownInts) -> None:
        self.program = program
        self.cuts = cuts
        self.frame = frame
        self._runs: dict[tuple[int, ...], Run] = {}

    def __reduce__(self) -> tuple[object, ...]:
        return BlockProgram, (self.program, self.cuts, self.frame)

    def __repr__(self) -> str:
        return f"<program of {len(self.program.steps)} steps>"

    def __call__(self, sizes: KnownInts, *chunks: NDArray) -> tuple[NDArray, ...]:
        """`sizes` are those of the chunk of the frame."""
        with task_settings():
            run = self._runs.get(sizes)
            if run is None:
                run = self._runs[sizes] = host.prepare(self.at(sizes), ())
            given = [chunk_handle(chunk) for chunk in chunks]
            return tuple([host.to_host(result) for result in run(*given)])

    def at(self, sizes: KnownInts) -> Program:
        """The program for a chunk of the frame."""
        program = self.program
        values = [
            Value(
                _cut_shape(value.shape, self.cuts[i], sizes) if i in self.cuts else (), value.dtype
            )
            for i, value in enumerate(program.values)
        ]

        def cut(x: Argument) -> Argument:
            if isinstance(x, CutView):
                return ValueView(
                    x.value,
                    _cut_view(x, program.values[x.value].shape, values[x.value].shape, sizes),
                )
            if isinstance(x, tuple):
                return tuple([cut(part) for part in x])
            return x

        return Program(
            (),
            tuple([Input(values[i].shape, None, None) for i in range(len(program.inputs))]),
            tuple(values),
            {},
            tuple(
                [
                    step._replace(arguments=cut(step.arguments), keywords=cut(step.keywords))
                    for step in program.steps
                ]
            ),
            tuple([ValueView(i, View.row_major(values[i].shape)) for i, _ in program.outputs]),
            (),
        )

    def graph(self, arrays: Sequence[da.Array], grid: Grid) -> list[da.Array]:
        """The results: one layer, whose tasks compute all of them, and one that takes each out."""
        arrays = [tidy(x) for x in arrays]
        values = self.program.values
        frame = self._chunks(arrays, grid)
        indices = list(positions([len(sizes) for sizes in frame]))
        pieces = {i: _chunks_of(values[i].shape, cuts, frame) for i, cuts in self.cuts.items()}
        given = {i: rechunked(x, pieces[i]) for i, x in enumerate(arrays) if i in pieces}
        unused = [np.empty((), x.dtype) for x in arrays]
        tasks = {}
        for index in indices:
            chunks: list[Task] = list(unused)
            for i, x in given.items():
                chunks[i] = (x.name, *_position(self.cuts[i], index))
            sizes = tuple([c[i] for c, i in zip(frame, index, strict=True)])
            tasks[index] = (self, sizes, *chunks)
        whole = layer("program", tasks, list(given.values()), frame, np.dtype(object))
        return [
            layer(
                f"program-{which}",
                {
                    _position(self.cuts[number], index): (
                        itemgetter(which),
                        (whole.name, *index),
                    )
                    for index in indices
                },
                [whole],
                pieces[number],
                values[number].dtype,
            )
            for which, (number, _) in enumerate(self.program.outputs)
        ]

    def _chunks(self, arrays: Sequence[da.Array], grid: Grid) -> Chunks:
        """The chunks of the frame: where any of the inputs has a border, of the right size."""
        divisions: list[list[tuple[int, ...]]] = [[(n,)] for n in self.frame]
        for number, array in enumerate(arrays):
            for cut, sizes in zip(self.cuts.get(number, ()), array.chunks, strict=False):
                if cut is not None:
                    divisions[cut].append(sizes)
        widest = max(
            [
                prod([n for n, cut in zip(value.shape, self.cuts[i], strict=True) if cut is None])
                * value.dtype.itemsize
                for i, value in enumerate(self.program.values)
                if _is_cut(self.cuts.get(i, ()))
            ],
            default=1,
        )
        return finer(tuple(map(joint, divisions)), self.frame, widest, grid)


def _chunks_of(shape: KnownInts, cuts: Cuts, frame: Chunks) -> Chunks:
    return tuple([(n,) if cut is None else frame[cut] for n, cut in zip(shape, cuts, strict=True)])


def _cut_shape(shape: KnownInts, cuts: Cuts, sizes: KnownInts) -> tuple[int, ...]:
    return tuple([n if cut is None else sizes[cut] for n, cut in zip(shape, cuts, strict=True)])


def _cut_view(x: CutView, shape: KnownInts, chunk: KnownInts, sizes: KnownInts) -> View:
    """The part of a view that lies in one chunk of its value, as a view of that chunk."""
    view = x.view
    if not _is_cut(x.cuts):
        return view
    strides = view.strides
    if _is_plain(shape, view):
        own = View.row_major(chunk).strides
        sources = [
            None if n == 1 or step == 0 else _source(shape, view, axis)
            for axis, (n, step) in enumerate(zip(view.shape, strides, strict=True))
        ]
        strides = tuple([0 if source is None else own[source] for source in sources])
    return View(_cut_shape(view.shape, x.cuts, sizes), strides, view.offset)


def _position(cuts: Cuts, index: tuple[int, ...]) -> tuple[int, ...]:
    """The chunk of a value for a chunk of the frame."""
    return tuple([0 if cut is None else index[cut] for cut in cuts])
