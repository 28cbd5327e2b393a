"""Symbolic real numbers: what a dimension becomes by ``/``, roots and arithmetic with floats.

An expression is kept as it was written, and evaluated by Python's own operators, so that its value
has the bits that the same code gives for plain ints. Nothing is simplified.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from functools import partialmethod
from typing import Final, final

from . import polynomial as poly
from .declined import DECLINED
from .frozen import Frozen, set_slot
from .symbolic import (
    Dim,
    DimLike,
    Number,
    Outcome,
    UnboundError,
    UndecidedError,
    Var,
    _decider,
    eval_dim,
)

__all__ = ["Real", "compare", "evaluated", "largest", "real", "source", "variables"]

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
_RELATIONS: Final[dict[str, Callable[[Number, Number], bool]]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@final
class Real(Frozen):
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
        elif not isinstance(other, int | float | Dim):
            return NotImplemented
        return _decider.get() is not None and compare(self, "==", other)

    def __bool__(self) -> bool:
        return compare(self, "!=", 0)

    def __float__(self) -> float:
        return float(_value(self))

    def __trunc__(self) -> int:
        return int(_value(self))

    __int__ = __trunc__

    def __round__(self, digits: int | None = None) -> float:
        return round(_value(self), digits)

    def __floor__(self) -> DimLike:
        quotient = self._quotient()
        return math.floor(_value(self)) if quotient is None else quotient[0] // quotient[1]

    def __ceil__(self) -> DimLike:
        quotient = self._quotient()
        return math.ceil(_value(self)) if quotient is None else -(-quotient[0] // quotient[1])

    def _quotient(self) -> tuple[DimLike, DimLike] | None:
        """(a, b) for a / b with ints or dimensions, whose floor and ceiling are exact."""
        if self.operation == "/":
            above, below = self.operands
            if isinstance(above, int | Dim) and isinstance(below, int | Dim):
                return above, below
        return None

    def __neg__(self) -> Outcome:
        return real("neg", self)

    def __pos__(self) -> Real:
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

    def __repr__(self) -> str:
        texts = [_text(x) for x in self.operands]
        if self.operation in _INFIX:
            return f" {self.operation} ".join(texts)
        if self.operation == "neg":
            return f"-{texts[0]}"
        return f"{self.operation}({', '.join(map(str, self.operands))})"

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, (self.operation, self.operands)


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
    if not all([isinstance(x, int | float | Dim | Real) for x in operands]):
        return NotImplemented
    if not any([isinstance(x, Dim | Real) for x in operands]):
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
    found = [v for x in expressions if isinstance(x, Dim | Real) for v in x.vars]
    return tuple(dict.fromkeys(found))


def _value(expression: Dim | Real) -> int | float:
    """The number under the bindings in scope, or what the decider says."""
    found = evaluated(expression)
    if found is not None:
        return found
    decider = _decider.get()
    if decider is None:
        names = ", ".join(map(str, expression.vars))
        raise UnboundError(
            f"{expression} has no value: enter `with bind(...)` with a value for each of {names}"
        )
    return decider.value(expression)


def evaluated(expression: Number) -> int | float | None:
    """The number that an expression is under the bindings in scope; None while one is missing."""
    if isinstance(expression, Dim):
        return eval_dim(expression)
    if not isinstance(expression, Real):
        return expression
    values = [evaluated(x) for x in expression.operands]
    return None if None in values else _OPERATIONS[expression.operation](*values)


def compare(left: Number, relation: str, right: Number) -> bool:
    """``left relation right`` where at least one side is symbolic and one a real number."""
    if not all([isinstance(x, int | float | Dim | Real) for x in (left, right)]):
        return DECLINED
    first, second = evaluated(left), evaluated(right)
    if first is not None and second is not None:
        return _RELATIONS[relation](first, second)
    ends = {_RELATIONS[relation](x, y) for x in _ends(left, first) for y in _ends(right, second)}
    if len(ends) == 1 and relation not in ("==", "!="):
        return ends.pop()
    decider = _decider.get()
    if decider is None:
        names = ", ".join(map(str, variables((left, right))))
        raise UndecidedError(f"cannot decide {left} {relation} {right}; bind {names}")
    return decider.decide(left, relation, right)


def _ends(expression: Number, value: float | None) -> tuple[float, ...]:
    """The least and the greatest value, or both answers' cause where there are no bounds."""
    if value is not None:
        return (value,)
    return expression.bounds if isinstance(expression, Dim) else (-math.inf, math.inf)


def largest(candidates: Sequence[DimLike]) -> Number:
    """The largest of several sizes, without those that bounds show to be no larger than another."""
    kept: list[DimLike] = []
    for x in dict.fromkeys(candidates):
        if any([_at_most(x, y) for y in kept]):
            continue
        kept = [*[y for y in kept if not _at_most(y, x)], x]
    return kept[0] if len(kept) == 1 else real("max", *kept)


def _at_most(x: DimLike, y: DimLike) -> bool:
    difference = y - x
    return (difference if isinstance(difference, int) else difference.bounds[0]) >= 0


# ---------------------------------------------------------------------- code


def source(x: Number, names: Mapping[Var, str]) -> str:
    """Python code for the value of a number or expression, with names for its variables."""
    if isinstance(x, Dim):
        return _polynomial_source(x._terms, names)
    if not isinstance(x, Real):
        return f"({x!r})"
    parts = [source(operand, names) for operand in x.operands]
    if x.operation in _INFIX:
        return f"({f' {x.operation} '.join(parts)})"
    return f"(-{parts[0]})" if x.operation == "neg" else f"{x.operation}({', '.join(parts)})"


def _polynomial_source(terms: poly.FrozenTerms, names: Mapping[Var, str]) -> str:
    parts = []
    for monomial, coefficient in terms:
        factors = [] if coefficient == 1 and monomial else [f"({coefficient})"]
        for atom in monomial:
            if isinstance(atom, poly.Quotient):
                above = _polynomial_source(atom.numerator, names)
                below = _polynomial_source(atom.denominator, names)
                factors.append(f"({above} // {below})")
            else:
                factors.append(names[atom])
        parts.append("*".join(factors))
    return f"({' + '.join(parts) or '0'})"
