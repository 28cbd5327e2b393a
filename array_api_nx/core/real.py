"""Symbolic real numbers: what a dimension becomes by ``/``, roots and arithmetic with floats.

An expression is kept as it was written, and evaluated by Python's own operators, so that its value
has the bits that the same code gives for plain ints. Nothing is simplified.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from functools import partialmethod
from typing import Any, Final, Self, TypeAlias, final

from .deciding import UnboundError, UndecidedError, decider
from .declined import DECLINED
from .frozen import Frozen, set_slot
from .polynomial import Var

Number: TypeAlias = "int | float | Expression"
Outcome: TypeAlias = Any
"""What an operation gives: a `Number` or NotImplemented, as the operands have it."""

_OPERATIONS: Final[dict[str, Callable[..., int | float]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "neg": operator.neg,
    "abs": abs,
    "float": float,
    "max": max,
}
RELATIONS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Expression(Frozen):
    """A number that depends on variables, and what arithmetic with it gives: a `Real`."""

    __slots__ = ()

    vars: tuple[Var, ...]
    is_whole = False

    @property
    def bounds(self) -> tuple[float, float]:
        """Inclusive bounds of the value."""
        return -math.inf, math.inf

    def evaluated(self) -> int | float | None:
        """The number under the bindings in scope; None if one is missing."""
        raise NotImplementedError

    def source(self, names: Mapping[Var, str]) -> str:
        """Python code for the value, with names for the variables."""
        raise NotImplementedError

    def __neg__(self) -> Outcome:
        return real("neg", self)

    def __pos__(self) -> Self:
        return self

    def __abs__(self) -> Outcome:
        return real("abs", self)

    def _forward(self, other: Number, operation: str) -> Outcome:
        return real(operation, self, other)

    def _backward(self, other: Number, operation: str) -> Outcome:
        return real(operation, other, self)

    def _related(self, other: Number, relation: str) -> bool:
        return compare(self, relation, other)

    __add__ = partialmethod(_forward, operation="+")
    __radd__ = partialmethod(_backward, operation="+")
    __sub__ = partialmethod(_forward, operation="-")
    __rsub__ = partialmethod(_backward, operation="-")
    __mul__ = partialmethod(_forward, operation="*")
    __rmul__ = partialmethod(_backward, operation="*")
    __truediv__ = partialmethod(_forward, operation="/")
    __rtruediv__ = partialmethod(_backward, operation="/")
    __floordiv__ = partialmethod(_forward, operation="//")
    __rfloordiv__ = partialmethod(_backward, operation="//")
    __mod__ = partialmethod(_forward, operation="%")
    __rmod__ = partialmethod(_backward, operation="%")
    __pow__ = partialmethod(_forward, operation="**")
    __rpow__ = partialmethod(_backward, operation="**")
    __lt__ = partialmethod(_related, relation="<")
    __le__ = partialmethod(_related, relation="<=")
    __gt__ = partialmethod(_related, relation=">")
    __ge__ = partialmethod(_related, relation=">=")


@final
class Real(Expression):
    """A real number that depends on variables: an operation and its operands.

    Made by `real` and by arithmetic. Comparisons and ``bool`` answer under the bindings in scope,
    or within `symbolic.deciding`; so does ``float``.
    """

    __slots__ = ("_hash", "operands", "operation", "vars")

    operation: str
    operands: tuple[Number, ...]
    vars: tuple[Var, ...]
    _hash: int

    def __init__(self) -> None:
        raise TypeError("Real has no constructor; divide a Dim")

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Real):
            if self is other or (self._hash == other._hash and _same(self, other)):
                return True
        elif not isinstance(other, int | float | Expression):
            return NotImplemented
        return decider.get() is not None and compare(self, "==", other)

    def __bool__(self) -> bool:
        return compare(self, "!=", 0)

    def __float__(self) -> float:
        return float(_value(self))

    def __trunc__(self) -> int:
        return int(_value(self))

    __int__ = __trunc__

    def __round__(self, digits: int | None = None) -> float:
        return round(_value(self), digits)

    def __floor__(self) -> Any:
        quotient = self._quotient()
        return math.floor(_value(self)) if quotient is None else quotient[0] // quotient[1]

    def __ceil__(self) -> Any:
        quotient = self._quotient()
        return math.ceil(_value(self)) if quotient is None else -(-quotient[0] // quotient[1])

    def _quotient(self) -> tuple[Any, Any] | None:
        """(a, b) for a / b with ints or dimensions, whose floor and ceiling are exact."""
        if self.operation == "/":
            above, below = self.operands
            if _is_whole(above) and _is_whole(below):
                return above, below
        return None

    def evaluated(self) -> int | float | None:
        values = [evaluated(x) for x in self.operands]
        return None if None in values else _OPERATIONS[self.operation](*values)

    def source(self, names: Mapping[Var, str]) -> str:
        parts = [source(operand, names) for operand in self.operands]
        if self.operation in _INFIX:
            return f"({f' {self.operation} '.join(parts)})"
        return (
            f"(-{parts[0]})" if self.operation == "neg" else f"{self.operation}({', '.join(parts)})"
        )

    def __repr__(self) -> str:
        texts = [_text(x) for x in self.operands]
        if self.operation in _INFIX:
            return f" {self.operation} ".join(texts)
        if self.operation == "neg":
            return f"-{texts[0]}"
        return f"{self.operation}({', '.join(map(str, self.operands))})"

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, (self.operation, self.operands)


def _is_whole(x: Number) -> bool:
    """Whether `x` is an int or a dimension."""
    return x.is_whole if isinstance(x, Expression) else isinstance(x, int)


_INFIX: Final = frozenset({"+", "-", "*", "/", "//", "%", "**"})


def _text(operand: Number) -> str:
    text = str(operand)
    return f"({text})" if " " in text else text


def _same(a: Real, b: Real) -> bool:
    if a.operation != b.operation or len(a.operands) != len(b.operands):
        return False
    for x, y in zip(a.operands, b.operands, strict=True):
        if type(x) is not type(y):
            return False
        # What is equal in structure has one text but for variables, which hashes tell apart.
        if x is not y and (hash(x) != hash(y) or repr(x) != repr(y)):
            return False
    return True


def real(operation: str, *operands: Number) -> Outcome:
    """The result of an operation: a number if all operands are, else a `Real`.

    NotImplemented for operands of other types, so that Python asks the other side.
    """
    if not all([isinstance(x, int | float | Expression) for x in operands]):
        return NotImplemented
    if not any([isinstance(x, Expression) for x in operands]):
        return _OPERATIONS[operation](*operands)
    # NumPy's float64 is a float, whose text is no literal.
    plain = [float(x) if isinstance(x, float) else x for x in operands]
    return _restore(operation, tuple(plain))


def _restore(operation: str, operands: tuple[Number, ...]) -> Real:
    result = object.__new__(Real)
    set_slot(result, "operation", operation)
    set_slot(result, "operands", operands)
    set_slot(result, "vars", variables(operands))
    # 1, 1.0 and True are equal, and not one expression.
    set_slot(result, "_hash", hash((operation, tuple([(type(x), x) for x in operands]))))
    return result


def variables(expressions: Sequence[object]) -> tuple[Var, ...]:
    """The variables of several expressions, each once, in order of first appearance."""
    found = [v for x in expressions if isinstance(x, Expression) for v in x.vars]
    return tuple(dict.fromkeys(found))


def _value(expression: Expression) -> int | float:
    """The number under the bindings in scope, or the answer of the decider."""
    found = evaluated(expression)
    if found is not None:
        return found
    decides = decider.get()
    if decides is None:
        names = ", ".join(map(str, expression.vars))
        raise UnboundError(
            f"{expression} has no value: enter `with bind(...)` with a value for each of {names}"
        )
    return decides.value(expression)


def evaluated(expression: Number) -> int | float | None:
    """The number that an expression is under the bindings in scope; None while one is missing."""
    return expression.evaluated() if isinstance(expression, Expression) else expression


def compare(left: Number, relation: str, right: Number) -> bool:
    """``left relation right`` where at least one side is symbolic and one a real number."""
    if not all([isinstance(x, int | float | Expression) for x in (left, right)]):
        return DECLINED
    first, second = evaluated(left), evaluated(right)
    if first is not None and second is not None:
        return RELATIONS[relation](first, second)
    ends = {RELATIONS[relation](x, y) for x in _ends(left, first) for y in _ends(right, second)}
    if len(ends) == 1 and relation not in ("==", "!="):
        return ends.pop()
    decides = decider.get()
    if decides is None:
        names = ", ".join(map(str, variables((left, right))))
        raise UndecidedError(f"cannot decide {left} {relation} {right}; bind {names}")
    return decides.decide(left, relation, right)


def _ends(expression: Number, value: float | None) -> tuple[float, ...]:
    """The least and the greatest value, or both answers' cause where there are no bounds."""
    if value is not None:
        return (value,)
    assert isinstance(expression, Expression)
    return expression.bounds


def largest(candidates: Sequence[Any]) -> Outcome:
    """The largest of several sizes, without those that bounds show to be no larger than another."""
    kept: list[Any] = []
    for x in dict.fromkeys(candidates):
        if any([_at_most(x, y) for y in kept]):
            continue
        kept = [*[y for y in kept if not _at_most(y, x)], x]
    return kept[0] if len(kept) == 1 else real("max", *kept)


def _at_most(x: Any, y: Any) -> bool:
    difference = y - x
    return (difference if isinstance(difference, int) else difference.bounds[0]) >= 0


# ---------------------------------------------------------------------- code


def source(x: Number, names: Mapping[Var, str]) -> str:
    """Python code for the value of a number or expression, with names for its variables."""
    return x.source(names) if isinstance(x, Expression) else f"({x!r})"
