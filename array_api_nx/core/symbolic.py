"""Symbolic dimensions: sizes that are known as expressions before they are known as numbers.

A variable stands for a size within inclusive bounds. Arithmetic on dimensions gives expressions in
one canonical form, so that ``n + 1 == 1 + n`` and ``2*n - n == n``; an expression that comes out
constant is a plain ``int``, so that ``type(d) is int`` tells a concrete dimension from a symbolic
one. Numbers come in by binding, for the length of a block or of one call:

>>> n = dynamic("n", min=1, max=100)
>>> shape = SymbolicShape((n, 2 * n + 1))
>>> with bind({n: 32}):
...     [eval_dim(size) for size in shape]
[32, 65]
>>> [eval_dim(size, {n: 4}) for size in shape]
[4, 9]
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any, Final, TypeAlias

from . import polynomial as poly
from .deciding import BoundsError as BoundsError
from .deciding import Decider as Decider
from .deciding import UnboundError as UnboundError
from .deciding import UndecidedError as UndecidedError
from .deciding import decider
from .deciding import deciding as deciding
from .frozen import set_slot
from .polynomial import Var as Var
from .real import Expression, Real, compare, real
from .real import Outcome as Outcome


def _exact(
    symbol: str, compute: Callable[[DimLike, DimLike], DimLike]
) -> tuple[Callable[[Dim, Any], Any], Callable[[Dim, Any], Any]]:
    """An operator and its reflected form: `compute` of ints and dimensions, else a `Real`."""

    def operate(self: Dim, other: DimLike) -> Outcome:
        return compute(self, other) if isinstance(other, int | Dim) else real(symbol, self, other)

    def reflected(self: Dim, other: DimLike) -> Outcome:
        return compute(other, self) if isinstance(other, int | Dim) else real(symbol, other, self)

    return operate, reflected


def _product(a: DimLike, b: DimLike) -> DimLike:
    for one, other in ((a, b), (b, a)):
        if type(one) is int and one == 1:
            return other  # as in most products of the sizes of a shape
    return _make(poly.multiply(_terms(a), _terms(b)))


def _ordered(
    symbol: str, difference: Callable[[Any, Any], DimLike], limit: int
) -> Callable[[Dim, Any], bool]:
    """A comparison, which holds exactly where the difference is below `limit`."""

    def related(self: Dim, other: DimLike) -> bool:
        if not isinstance(other, int | Dim):
            return compare(self, symbol, other)
        return _below(difference(self, other), limit, (self, symbol, other))

    return related


class Dim(Expression):
    """A dimension that is not constant: an immutable expression in canonical form.

    Made by `dynamic`, `dim_of_var` and arithmetic. ``+``, ``-``, ``*``, ``//`` and ``%`` take ints
    and dimensions on either side, follow Python's integers, and give an ``int`` where the result
    is constant. ``a // b`` is exact where the division of the polynomials is, constant where the
    bounds decide it, and otherwise an atom with bounds of its own; ``a % b`` is
    ``a - (a // b) * b``. Cancelling assumes that a divisor is not zero: ``n*m // m`` is ``n``.
    ``/``, ``**`` with a fraction, and arithmetic with floats give a `Real` (core/real.py).

    ``==`` compares expressions and ignores bindings: a `Dim` never equals an ``int``, and equal
    expressions have equal values. ``<``, ``<=``, ``>``, ``>=`` and ``bool`` answer where the
    bounds, or else the bindings in scope, decide; ``int`` and ``operator.index`` give the value
    under the bindings in scope. Within `deciding` a `Decider` answers what these leave open,
    ``==`` included.
    """

    __slots__ = ("_bounds", "_hash", "_terms", "vars")

    _terms: poly.FrozenTerms
    _hash: int
    _bounds: poly.Interval | None
    vars: tuple[Var, ...]
    is_whole = True

    def __init__(self) -> None:
        raise TypeError("Dim has no constructor; use dynamic(name, min=..., max=...)")

    @property
    def bounds(self) -> tuple[int, int]:
        """Inclusive bounds of the value, by interval arithmetic; the value may not reach them."""
        bounds = self._bounds
        if bounds is None:
            bounds = poly.bounds(dict(self._terms))
            set_slot(self, "_bounds", bounds)
        return bounds

    __add__, __radd__ = _exact("+", lambda a, b: _make(poly.add(_terms(a), _terms(b))))
    __sub__, __rsub__ = _exact("-", lambda a, b: _make(poly.add(_terms(a), poly.negate(_terms(b)))))
    __mul__, __rmul__ = _exact("*", _product)
    __floordiv__, __rfloordiv__ = _exact(
        "//", lambda a, b: _make(poly.floor_divide(_terms(a), _terms(b)))
    )
    __mod__, __rmod__ = _exact("%", lambda a, b: a - a // b * b)

    def __neg__(self) -> DimLike:
        return _make(poly.negate(_terms(self)))

    def __pow__(self, other: DimLike | float) -> Outcome:
        if isinstance(other, int) and other >= 0:
            return math.prod([self] * other)
        return real("**", self, other)

    def __rpow__(self, other: float) -> Outcome:
        if isinstance(other, int):
            return other ** operator.index(self)
        return real("**", other, self)

    def __abs__(self) -> DimLike:
        return -self if self < 0 else self

    def __divmod__(self, other: DimLike) -> tuple[DimLike, DimLike]:
        return self // other, self % other

    def __rdivmod__(self, other: int) -> tuple[DimLike, DimLike]:
        return other // self, other % self

    def __eq__(self, other: object) -> bool:
        decides = decider.get()
        if not isinstance(other, Dim):
            if decides is None or not isinstance(other, int):
                return NotImplemented
        elif self is other or (self._hash == other._hash and self._terms == other._terms):
            return True
        elif decides is None:
            return False
        difference = self - other
        lo, hi = _bounds_in_scope(difference)
        if lo == hi or not poly.may_vanish(_terms(difference)):
            return lo == hi == 0
        return lo <= 0 <= hi and decides.decide(self, "==", other)

    def __hash__(self) -> int:
        return self._hash

    __lt__ = _ordered("<", lambda a, b: a - b, 0)
    __le__ = _ordered("<=", lambda a, b: a - b, 1)
    __gt__ = _ordered(">", lambda a, b: b - a, 0)
    __ge__ = _ordered(">=", lambda a, b: b - a, 1)

    def __bool__(self) -> bool:
        lo, hi = _bounds_in_scope(self)
        if lo > 0 or hi < 0:
            return True
        if lo == hi:
            return False
        return _decided((self, "!=", 0), self, lo, hi)

    def __index__(self) -> int:
        values = _scope.get()
        missing = [v for v in self.vars if v not in values]
        if missing:
            decides = decider.get()
            if decides is not None:
                return int(decides.value(self))
            names = ", ".join(map(str, missing))
            raise UnboundError(
                f"{self} has no value: {names} not bound; enter `with bind(...)` with a value for "
                "each, or pass bindings to eval_dim"
            )
        return poly.evaluate(self._terms, values, {})

    def __float__(self) -> float:
        decides = decider.get()
        if decides is not None and decides.is_nan_test():
            return 1.0
        return float(operator.index(self))

    def evaluated(self) -> int | None:
        return eval_dim(self)

    def source(self, names: Mapping[Var, str]) -> str:
        return poly.source(self._terms, names)

    def __repr__(self) -> str:
        return poly.text(_terms(self), _scope.get())

    def __reduce__(self) -> tuple[object, ...]:
        return _restore_dim, (self._terms,)


DimLike: TypeAlias = int | Dim
Sizes: TypeAlias = tuple[DimLike, ...]
Number: TypeAlias = "int | float | Dim | Real"
"""What a function computes from sizes: a number, or an expression."""
KnownInts: TypeAlias = Any
"""The shape, strides or offset of a `View` where all are known to be ints, which the type of a view
leaves open: ``shape: KnownInts = view.shape``."""

Bindings: TypeAlias = Mapping[Var, int] | Mapping[Dim, int] | Mapping[Var | Dim, int]

_NOTHING_BOUND: Final[Mapping[Var, int]] = {}
_scope: ContextVar[Mapping[Var, int]] = ContextVar("bindings", default=_NOTHING_BOUND)


def _terms(dim: DimLike) -> poly.Terms:
    return dict(dim._terms) if isinstance(dim, Dim) else poly.constant(int(dim))


def _make(terms: poly.Terms) -> DimLike:
    """The dimension of a polynomial: an int if it is constant."""
    value = poly.constant_value(terms)
    return _dim(poly.frozen(terms)) if value is None else value


def _dim(terms: poly.FrozenTerms) -> Dim:
    dim = object.__new__(Dim)
    set_slot(dim, "_terms", terms)
    set_slot(dim, "_hash", hash(terms))
    set_slot(dim, "vars", poly.variables(terms))
    set_slot(dim, "_bounds", None)
    return dim


def _restore_dim(pickled: poly.Pickled) -> DimLike:
    return _make(poly.restore(pickled))


# Creation


def dim_of_var(v: Var) -> Dim:
    """Return the dimension that consists of the variable `v`."""
    return _dim((((v,), 1),))


def dynamic(name: str, *, min: int = 0, max: int = sys.maxsize) -> Dim:
    """Make a fresh variable and return it as a dimension.

    name: For display only: a second variable of the same name is another variable.
    min, max: Inclusive bounds of the value.
    ValueError: If ``min > max``.
    """
    return dim_of_var(Var(name, min, max))


def static(n: int) -> int:
    """Return the constant dimension `n`, which is a plain ``int``.

    TypeError: If `n` is not an integer.
    """
    try:
        return operator.index(n)
    except TypeError:
        raise TypeError(f"a dimension is an integer or a Dim, got {n!r}") from None


# Bindings


def bind(bindings: Bindings) -> AbstractContextManager[None]:
    """Give variables their values for the length of a ``with`` block.

    Blocks nest: the inner value wins and is undone on exit. The values hold in the current thread
    or asynchronous task (its `contextvars` context) only.

    bindings: From `Var`, or a `Dim` that is a bare variable, to int.
    BoundsError: If a value lies outside its variable's bounds; then nothing is bound.
    TypeError: If a key is not a variable or a value not an integer.
    """
    return _bound(_checked(bindings))


@contextmanager
def _bound(values: Mapping[Var, int]) -> Iterator[None]:
    token = _scope.set({**_scope.get(), **values})
    try:
        yield
    finally:
        _scope.reset(token)


def _checked(bindings: Bindings) -> dict[Var, int]:
    values: dict[Var, int] = {}
    for key, given in bindings.items():
        v = key.vars[0] if isinstance(key, Dim) and key == dim_of_var(key.vars[0]) else key
        if not isinstance(v, Var):
            raise TypeError(f"cannot bind {v}: only a variable takes a value; bind its variables")
        try:
            value = operator.index(given)
        except TypeError:
            raise TypeError(f"cannot bind {v} to {given!r}: give an integer") from None
        if not v.min <= value <= v.max:
            raise BoundsError(
                f"cannot bind {v} to {value}: its bounds are [{v.min}, {v.max}]; "
                "give a value inside them or make the variable with wider bounds"
            )
        values[v] = value
    return values


def _values(bindings: Bindings | None) -> Mapping[Var, int]:
    if bindings is None:
        return _scope.get()
    return {**_scope.get(), **_checked(bindings)}


# Evaluation


def eval_dim(dim: DimLike, bindings: Bindings | None = None) -> int | None:
    """Return the value of a dimension, or None while a variable of it is unbound.

    bindings: Taken in addition to, and before, the bindings in scope.
    BoundsError: If a given value lies outside its variable's bounds.
    ZeroDivisionError: If a divisor inside the expression is zero.
    """
    return _eval(dim, _values(bindings), {})


def _eval(dim: DimLike, values: Mapping[Var, int], known: dict[poly.Quotient, int]) -> int | None:
    if not isinstance(dim, Dim):
        return dim
    if not all(v in values for v in dim.vars):
        return None
    return poly.evaluate(dim._terms, values, known)


def _substitute(
    dim: DimLike, values: Mapping[Var, int], known: dict[poly.Quotient, poly.Terms]
) -> DimLike:
    return _make(poly.substitute(dim._terms, values, known)) if isinstance(dim, Dim) else dim


class SymbolicShape(tuple[DimLike, ...]):
    """A shape: an immutable, hashable sequence of dimensions, equal by value.

    A tuple in all else: slices and concatenations are plain tuples, and a static shape equals
    the tuple of its sizes.

    dims: The sizes; none for a scalar.
    TypeError: If an element is neither an integer nor a `Dim`.
    """

    __slots__ = ()

    def __new__(cls, dims: Iterable[DimLike] = ()) -> SymbolicShape:
        return super().__new__(cls, (d if isinstance(d, Dim) else static(d) for d in dims))

    def __eq__(self, other: object) -> bool:
        # Lengths first: tuples would compare the sizes that both have, which may be a question.
        if not isinstance(other, tuple):
            return NotImplemented
        return len(self) == len(other) and tuple.__eq__(self, other)

    __hash__ = tuple.__hash__

    @property
    def vars(self) -> tuple[Var, ...]:
        """The variables of all dimensions, each once, in order of first appearance."""
        return tuple(dict.fromkeys(v for d in self if isinstance(d, Dim) for v in d.vars))

    def __str__(self) -> str:
        return f"[{', '.join(map(str, self))}]"

    def __repr__(self) -> str:
        return f"SymbolicShape({self})"


# Decisions


def _bounds_in_scope(dim: DimLike) -> poly.Interval:
    """Bounds of a dimension, narrowed by the bindings in scope where they leave its sign open."""
    if not isinstance(dim, Dim):
        return dim, dim
    lo, hi = dim.bounds
    if lo <= 0 <= hi and lo != hi:
        values = _scope.get()
        if any(v in values for v in dim.vars):
            narrowed = _substitute(dim, values, {})
            return narrowed.bounds if isinstance(narrowed, Dim) else (narrowed, narrowed)
    return lo, hi


def _below(difference: DimLike, limit: int, question: tuple[DimLike, str, DimLike]) -> bool:
    lo, hi = _bounds_in_scope(difference)
    if hi < limit:
        return True
    if lo >= limit:
        return False
    return _decided(question, difference, lo, hi)


def _decided(question: tuple[DimLike, str, DimLike], dim: DimLike, lo: int, hi: int) -> bool:
    decides = decider.get()
    if decides is not None:
        return decides.decide(*question)
    free = [v for v in SymbolicShape((dim,)).vars if v not in _scope.get()]
    names = ", ".join(f"{v} in [{v.min}, {v.max}]" for v in free)
    raise UndecidedError(
        f"cannot decide {' '.join(map(str, question))}: {dim} lies in [{lo}, {hi}]; "
        f"bind the variables ({names}) or give them tighter bounds"
    )
