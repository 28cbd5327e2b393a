"""Programs made shorter without a change of a bit.

Values never change, so a copy of a value is that value, and two steps that do the same to the same
values give one. What the caller gets must all the same have memory of its own: where two results,
or a result and an argument, come out as one value, a copy remains.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from math import copysign
from typing import Final

from ..contract.program import Argument, Program, Step, Value, ValueView, moved, operands_in
from ..core import dtypes as d
from ..core.dtypes import DType
from ..core.real import Real
from ..core.symbolic import Dim
from ..core.view import View
from ..primitives import table as p
from ..primitives.table import Primitive

# Their results are not determined by their arguments.
_UNDETERMINED: Final = frozenset({"empty"})


def simplify(program: Program) -> Program:
    """A program that gives the same results, bit for bit, in no more steps."""
    return _without_dead_code(_merged(program))


def _merged(program: Program) -> Program:
    """Each value computed once, and steps that change nothing left out."""
    same: dict[int, int] = {}
    seen: dict[Hashable, tuple[int, ...]] = {}
    made: dict[int, Step] = {}
    steps: list[Step] = []

    for step in program.steps:
        arguments, keywords = moved(step.arguments, same), moved(step.keywords, same)
        step = step._replace(arguments=arguments, keywords=keywords)
        unchanged = _unchanged(step, program.values, made)
        if unchanged is not None:
            same[step.results[0]] = unchanged
            continue
        key = step.method, _key(arguments), _key(keywords), step.errors
        if step.method not in _UNDETERMINED and key in seen:
            same.update(zip(step.results, seen[key], strict=True))
            continue
        seen[key] = step.results
        for result in step.results:
            made[result] = step
        steps.append(step)
    return _separated(program, same, steps)


def _separated(program: Program, same: dict[int, int], steps: list[Step]) -> Program:
    """The results of the program, each value that the caller must not see twice copied."""
    values = list(program.values)
    owners: dict[int, int] = {i: i for i in (*range(len(program.inputs)), *program.constants)}
    copies: dict[int, int] = {}
    unchanged: set[int] = set()

    def result(value: int) -> int:
        """The value that stands for `value`, which no other result shares."""
        target = same.get(value, value)
        if value in unchanged or owners.setdefault(target, value) == value:
            return target
        if value not in copies:
            copies[value] = len(values)
            values.append(values[value])
            whole = ValueView(target, View.row_major(values[value].shape))
            steps.append(Step("copy", (whole,), (), (copies[value],)))
        return copies[value]

    inputs = []
    for i, given in enumerate(program.inputs):
        written = given.written
        if written is not None and same.get(written, written) == i:
            # An argument that gets its own value back is not written, and what shows the value
            # shows the argument.
            unchanged.add(written)
            written = None
        elif written is not None:
            written = result(written)
        inputs.append(given._replace(written=written))
    outputs = tuple([ValueView(result(x.value), x.view) for x in program.outputs])
    return replace(
        program, inputs=tuple(inputs), values=tuple(values), steps=tuple(steps), outputs=outputs
    )


def _without_dead_code(program: Program) -> Program:
    """Only the steps that a result depends on, and the constants that those read."""
    needed = {x.value for x in program.outputs}
    needed |= {given.written for given in program.inputs if given.written is not None}
    steps: list[Step] = []
    for step in reversed(program.steps):
        if needed.isdisjoint(step.results):
            continue
        steps.append(step)
        needed |= {x.value for x in operands_in((step.arguments, [x for _, x in step.keywords]))}
    constants = {v: handle for v, handle in program.constants.items() if v in needed}
    return replace(program, steps=tuple(reversed(steps)), constants=constants)


def _key(x: Argument) -> Argument:
    """`x` for comparison: 1, 1.0 and True are equal, as are 0.0 and -0.0, but not the same."""
    if isinstance(x, tuple) and not isinstance(x, ValueView):
        return tuple([_key(part) for part in x])
    if isinstance(x, bool | int | float | complex):
        return type(x), repr(x)
    return x


# ---------------------------------------------------------------------- steps that change nothing


def _unchanged(step: Step, values: tuple[Value, ...], made: dict[int, Step]) -> int | None:
    """The number of the value that the step gives once more, if it does."""
    operand = _whole_operand(step, values)
    if operand is None:
        return None
    result = values[step.results[0]]
    if values[operand].shape != result.shape or values[operand].dtype is not result.dtype:
        return None
    if step.method in ("copy", "cast"):
        return operand
    if step.method == "unary":
        return _undone(step.arguments[0], operand, values, made)
    if step.method == "binary" and _is_identity(*step.arguments, dtype=result.dtype):
        return operand
    return None


def _whole_operand(step: Step, values: tuple[Value, ...]) -> int | None:
    """The only value that a step reads, if it reads it whole and as it lies in memory."""
    found = list(operands_in((step.arguments, [x for _, x in step.keywords])))
    if len(found) != 1 or len(step.results) != 1:
        return None
    (operand,) = found
    if operand.view != View.row_major(values[operand.value].shape):
        return None
    return operand.value


_SELF_INVERSE: Final = frozenset({p.NEGATIVE, p.BITWISE_INVERT, p.CONJ})


def _undone(
    op: Primitive, operand: int, values: tuple[Value, ...], made: dict[int, Step]
) -> int | None:
    if op is p.POSITIVE or (op in (p.CONJ, p.REAL) and values[operand].dtype not in d.COMPLEX):
        return operand
    before = made.get(operand)
    if op not in _SELF_INVERSE or before is None or before.method != "unary":
        return None
    return _whole_operand(before, values) if before.arguments[0] is op else None


def _is_identity(op: Primitive, x1: Argument, x2: Argument, *, dtype: DType) -> bool:
    """Whether ``op(x1, x2)``, of which one is a scalar, has the bits of the other one."""
    first, second = not isinstance(x1, ValueView), not isinstance(x2, ValueView)
    scalar = x1 if first else x2
    # Of complex numbers also the parts that are 0, infinite or NaN would have to agree.
    if not (first or second) or isinstance(scalar, Dim | Real) or dtype in d.COMPLEX:
        return False
    if dtype is d.bool:
        return False
    if op is p.MULTIPLY:
        return bool(scalar == 1)
    if op is p.DIVIDE:
        return second and bool(scalar == 1)
    if op in (p.ADD, p.SUBTRACT) and scalar == 0 and (second or op is p.ADD):
        # 0.0 is the identity of subtraction, and -0.0 that of addition: -0.0 + 0.0 is 0.0.
        negative = copysign(1.0, scalar) < 0
        return dtype in d.INTEGRAL or negative == (op is p.ADD)
    return False
