"""Polynomials over bounded integer variables: the canonical form behind `symbolic`.

A polynomial is a sum of terms; a term is an integer coefficient, not 0, and a monomial; a monomial
is a tuple of atoms sorted by id (``n*n`` is ``(n, n)``, the constant's monomial is ``()``); an atom
is a variable or a floor quotient that does not simplify. Quotients are interned, so atoms compare
by identity, and two polynomials are the same expression exactly if their terms are equal.

`Terms`, a dict, is the form to compute with; `frozen` makes the sorted tuple to keep and to hash.
Functions of this module never change their arguments.
"""

from __future__ import annotations

import itertools
import math
import operator
import threading
import uuid
import weakref
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias

from .forks import hold_at_forks
from .frozen import Frozen, set_slot

_ids = itertools.count(1)
_lock = threading.RLock()
hold_at_forks(_lock)


class Var(Frozen):
    """A variable: a size that is not known yet, within bounds.

    Variables compare by identity: two with the same name and bounds are different. A copy is the
    variable itself. A pickle carries a globally unique token: unpickled where the variable (or an
    earlier copy) is alive, it gives that very object; elsewhere it gives a variable that has a new
    id and stays one and the same for all pickles of the original.

    name: For display only; may be empty.
    min, max: Inclusive bounds of the value.
    ValueError: If ``min > max``.
    """

    __slots__ = ("__weakref__", "_token", "id", "max", "min", "name")

    id: int
    name: str
    min: int
    max: int
    _token: str

    def __init__(self, name: str, min: int, max: int) -> None:
        self._setup(name, operator.index(min), operator.index(max), uuid.uuid4().hex)

    def _setup(self, name: str, min: int, max: int, token: str) -> None:
        if min > max:
            raise ValueError(
                f"variable {name!r} has min {min} above max {max}; give bounds with min <= max"
            )
        set_slot(self, "id", next(_ids))
        set_slot(self, "name", name)
        set_slot(self, "min", min)
        set_slot(self, "max", max)
        set_slot(self, "_token", token)
        _vars_by_token[token] = self

    def __str__(self) -> str:
        # The id tells variables apart in code; readers know a size by its name.
        return self.name or "?"

    def __repr__(self) -> str:
        return f"Var({self} in [{self.min}, {self.max}])"

    def __reduce__(self) -> tuple[object, ...]:
        return _restore_var, (self._token, self.name, self.min, self.max)


class Quotient(Frozen):
    """The atom ``numerator // denominator``; made by `floor_divide` alone."""

    __slots__ = ("__weakref__", "denominator", "id", "max", "min", "numerator", "vars")

    id: int
    numerator: FrozenTerms
    denominator: FrozenTerms
    min: int
    max: int
    vars: tuple[Var, ...]

    def __reduce__(self) -> tuple[object, ...]:
        return _restore_quotient, (self.numerator, self.denominator)


Atom: TypeAlias = Var | Quotient
Monomial: TypeAlias = tuple[Atom, ...]
Terms: TypeAlias = dict[Monomial, int]
FrozenTerms: TypeAlias = tuple[tuple[Monomial, int], ...]
Interval: TypeAlias = tuple[int, int]

_ONE: Final[Monomial] = ()
_by_id = operator.attrgetter("id")
_vars_by_token: weakref.WeakValueDictionary[str, Var] = weakref.WeakValueDictionary()
_quotients: weakref.WeakValueDictionary[tuple[FrozenTerms, FrozenTerms], Quotient] = (
    weakref.WeakValueDictionary()
)


def constant(n: int) -> Terms:
    return {_ONE: n} if n else {}


def constant_value(terms: Terms) -> int | None:
    """The value of a polynomial without variables, else None."""
    if not terms:
        return 0
    return terms[_ONE] if terms.keys() == {_ONE} else None


def frozen(terms: Terms) -> FrozenTerms:
    return tuple(sorted(terms.items(), key=lambda term: _order(term[0])))


def variables(terms: Iterable[tuple[Monomial, int]]) -> tuple[Var, ...]:
    """Each variable once, in order of first appearance."""
    found: dict[Var, None] = {}
    for monomial, _ in terms:
        for atom in monomial:
            found.update(dict.fromkeys((atom,) if isinstance(atom, Var) else atom.vars))
    return tuple(found)


def _order(monomial: Monomial) -> tuple[int, list[int]]:
    """Sort key: higher degrees first, then older atoms; division needs it to suit products."""
    return -len(monomial), [atom.id for atom in monomial]


# Arithmetic


def add(a: Terms, b: Terms) -> Terms:
    total = dict(a)
    for monomial, coefficient in b.items():
        total[monomial] = total.get(monomial, 0) + coefficient
    return {monomial: c for monomial, c in total.items() if c}


def negate(a: Terms) -> Terms:
    return {monomial: -coefficient for monomial, coefficient in a.items()}


def multiply(a: Terms, b: Terms) -> Terms:
    total: Terms = {}
    for (m, c), (n, d) in itertools.product(a.items(), b.items()):
        monomial = tuple(sorted(m + n, key=_by_id))
        total[monomial] = total.get(monomial, 0) + c * d
    return {monomial: c for monomial, c in total.items() if c}


def divide_exactly(dividend: Terms, divisor: Terms) -> Terms | None:
    """The polynomial that times `divisor`, which is not zero, is `dividend`; None if none is."""
    quotient, rest = _divide(dividend, divisor)
    return None if rest else quotient


def _divide(dividend: Terms, divisor: Terms) -> tuple[Terms, Terms]:
    """Polynomials (quotient, rest) with dividend == quotient * divisor + rest."""
    lead = min(divisor, key=_order)
    left, quotient, rest = dict(dividend), {}, {}
    while left:
        monomial = min(left, key=_order)
        cofactor = _without(monomial, lead)
        factor = 0 if cofactor is None else left[monomial] // divisor[lead]
        if cofactor is not None and factor:
            quotient[cofactor] = factor
            left = add(left, multiply({cofactor: -factor}, divisor))
        # Later steps change smaller monomials only.
        if monomial in left:
            rest[monomial] = left.pop(monomial)
    return quotient, rest


def _without(monomial: Monomial, divisor: Monomial) -> Monomial | None:
    """``monomial / divisor``, or None where an atom is missing."""
    rest = list(monomial)
    for atom in divisor:
        if atom not in rest:
            return None
        rest.remove(atom)
    return tuple(rest)


def _common(*polynomials: Terms) -> Monomial:
    """The greatest monomial that divides every term."""
    if any(_ONE in terms for terms in polynomials):
        return _ONE
    counts = (Counter(monomial) for terms in polynomials for monomial in terms)
    shared = next(counts)
    for count in counts:
        shared &= count
    return tuple(sorted(shared.elements(), key=_by_id))


def _scaled_down(terms: Terms, shared: Monomial, content: int) -> Terms:
    reduced = ((_without(m, shared), c // content) for m, c in terms.items())
    return {m: c for m, c in reduced if m is not None and c}


def floor_divide(dividend: Terms, divisor: Terms) -> Terms:
    """``dividend // divisor``, simplified; holds wherever the divisor is not zero.

    ZeroDivisionError: If the divisor is zero, or its bounds say that it always is.
    """
    if not divisor:
        raise ZeroDivisionError(f"cannot divide {text(dividend)} by 0; give another divisor")
    if divisor[min(divisor, key=_order)] < 0:
        dividend, divisor = negate(dividend), negate(divisor)
    quotient, rest = _divide(dividend, divisor)
    fraction = _fraction(rest, divisor)
    if len(divisor) == 1 or constant_value(fraction) is not None:
        return add(quotient, fraction)
    # Splitting off the rest of a division by a sum would only widen the bounds.
    return _fraction(dividend, divisor)


def _fraction(numerator: Terms, denominator: Terms) -> Terms:
    """``numerator // denominator`` in lowest terms: as a rule, a constant or a quotient atom."""
    if not numerator:
        return {}
    lo, hi = bounds(denominator)
    added = numerator.get(_ONE, 0)
    shared = _common(numerator, denominator)
    content = math.gcd(*denominator.values(), *(c for m, c in numerator.items() if m))
    if lo <= 0:
        # Dropping a fraction of the constant is right for a positive denominator only.
        content = math.gcd(content, added)
    if shared or content > 1:
        return floor_divide(
            _scaled_down(numerator, shared, content), _scaled_down(denominator, shared, content)
        )
    folded = _as_one_quotient(numerator)
    if folded is not None and constant_value(denominator) is not None:
        # (x//a)//b == x//(a*b) for a constant b > 0
        return floor_divide(folded[0], multiply(folded[1], denominator))
    value = _quotient_bounds(bounds(numerator), (lo, hi))
    if value[0] == value[1]:
        return constant(value[0])
    return {(_intern(frozen(numerator), frozen(denominator), value),): 1}


def _as_one_quotient(terms: Terms) -> tuple[Terms, Terms] | None:
    """(x + a*rest, a) for ``x//a + rest`` with a constant a and no quotient in the rest."""
    quotients = [m for m in terms if any(isinstance(atom, Quotient) for atom in m)]
    if len(quotients) != 1 or len(quotients[0]) != 1 or terms[quotients[0]] != 1:
        return None
    (q,) = quotients[0]
    if not isinstance(q, Quotient) or constant_value(dict(q.denominator)) is None:
        return None
    denominator = dict(q.denominator)
    rest = {m: c for m, c in terms.items() if m != (q,)}
    return add(dict(q.numerator), multiply(denominator, rest)), denominator


def _intern(numerator: FrozenTerms, denominator: FrozenTerms, value: Interval) -> Quotient:
    with _lock:
        atom = _quotients.get((numerator, denominator))
        if atom is None:
            atom = object.__new__(Quotient)
            set_slot(atom, "id", next(_ids))
            set_slot(atom, "numerator", numerator)
            set_slot(atom, "denominator", denominator)
            set_slot(atom, "min", value[0])
            set_slot(atom, "max", value[1])
            set_slot(atom, "vars", variables(numerator + denominator))
            _quotients[numerator, denominator] = atom
        return atom


# Evaluation


def evaluate(
    terms: Iterable[tuple[Monomial, int]],
    values: Mapping[Var, int],
    known: dict[Quotient, int],
) -> int:
    """The value of a polynomial whose variables all have one.

    `known` keeps the values of quotients, which an expression may share many times.
    """
    total = 0
    for monomial, coefficient in terms:
        product = coefficient
        for atom in monomial:
            if isinstance(atom, Var):
                product *= values[atom]
                continue
            if atom not in known:
                divisor = evaluate(atom.denominator, values, known)
                if divisor == 0:
                    raise ZeroDivisionError(
                        f"{_operand(dict(atom.denominator), values)} is 0 in "
                        f"{_atom_text(atom, values)}; bind other values"
                    )
                known[atom] = evaluate(atom.numerator, values, known) // divisor
            product *= known[atom]
        total += product
    return total


def substitute(
    terms: Iterable[tuple[Monomial, int]],
    values: Mapping[Var, int],
    known: dict[Quotient, Terms],
) -> Terms:
    """The polynomial with values put in where there are some; `known` as for `evaluate`."""
    total: Terms = {}
    for monomial, coefficient in terms:
        product = constant(coefficient)
        for atom in monomial:
            if isinstance(atom, Var):
                factor: Terms = constant(values[atom]) if atom in values else {(atom,): 1}
            else:
                if atom not in known:
                    known[atom] = floor_divide(
                        substitute(atom.numerator, values, known),
                        substitute(atom.denominator, values, known),
                    )
                factor = known[atom]
            product = multiply(product, factor)
        total = add(total, product)
    return total


# Pickling


def _restore_var(token: str, name: str, min: int, max: int) -> Var:
    with _lock:
        v = _vars_by_token.get(token)
        if v is None:
            v = object.__new__(Var)
            v._setup(name, min, max, token)
        return v


Pickled: TypeAlias = tuple[tuple[tuple["Var | Terms", ...], int], ...]


def restore(pickled: Pickled) -> Terms:
    """The polynomial of unpickled `FrozenTerms`, in which polynomials stand for quotients.

    Computed again, because another process orders variables by other ids and then may simplify
    in another way.
    """
    total: Terms = {}
    for factors, coefficient in pickled:
        product = constant(coefficient)
        for factor in factors:
            product = multiply(product, {(factor,): 1} if isinstance(factor, Var) else factor)
        total = add(total, product)
    return total


def _restore_quotient(numerator: Pickled, denominator: Pickled) -> Terms:
    return floor_divide(restore(numerator), restore(denominator))


# Bounds


def bounds(terms: Terms) -> Interval:
    """Inclusive bounds of the value, not always the narrowest.

    Taken term by term, ``n - 2*(n//2)`` looks as wide as ``n``. So each quotient ``q = a//b`` with
    ``b > 0`` is replaced where possible, newest first, by ``b*q == a - r`` with ``0 <= r < b``:
    then ``scale * value`` is the value of the remaining polynomial plus at least `slack_lo` and at
    most `slack_hi`.
    """
    lo, hi = _plain_bounds(terms)
    scale, slack_lo, slack_hi = 1, 0, 0
    atoms = {atom for monomial in terms for atom in monomial if isinstance(atom, Quotient)}
    while atoms:
        q = max(atoms, key=_by_id)
        step = _eliminate(terms, q)
        if step is not None:
            terms, factor, (error_lo, error_hi) = step
            scale *= factor
            slack_lo, slack_hi = factor * slack_lo + error_lo, factor * slack_hi + error_hi
            rest_lo, rest_hi = _plain_bounds(terms)
            lo = max(lo, -((-rest_lo - slack_lo) // scale))
            hi = min(hi, (rest_hi + slack_hi) // scale)
        # The quotients inside a numerator are older than the quotient, so this ends.
        atoms = {
            atom
            for monomial in terms
            for atom in monomial
            if isinstance(atom, Quotient) and atom.id < q.id
        }
    return lo, hi


def may_vanish(terms: Terms) -> bool:
    """Whether the value can be 0 as far as bounds show, which may be wider than the truth.

    What all terms share is left out where it is never 0: taken term by term, ``n - m*n`` looks as
    if it could be 0, but ``1 - m`` does not where m is at least 2.
    """
    if not terms:
        return True
    shared = tuple([atom for atom in _common(terms) if atom.min > 0 or atom.max < 0])
    lo, hi = bounds(_scaled_down(terms, shared, 1))
    return lo <= 0 <= hi


def _eliminate(terms: Terms, q: Quotient) -> tuple[Terms, int, Interval] | None:
    """(polynomial without q, factor, error) with factor * terms == polynomial + error."""
    slope = {m: c for monomial, c in terms.items() if (m := _without(monomial, (q,))) is not None}
    denominator = dict(q.denominator)
    denominator_lo, denominator_hi = bounds(denominator)
    if denominator_lo <= 0 or any(q in monomial for monomial in slope):
        return None
    factor = 1
    if constant_value(denominator) is not None:
        factor = denominator_hi // math.gcd(denominator_hi, *slope.values())
    weight = divide_exactly({m: factor * c for m, c in slope.items()}, denominator)
    if weight is None:
        return None
    weight_lo, weight_hi = _plain_bounds(weight)
    rest_max = denominator_hi - 1
    error = min(0, -weight_hi * rest_max), max(0, -weight_lo * rest_max)
    others = {m: factor * c for m, c in terms.items() if q not in m}
    return add(others, multiply(weight, dict(q.numerator))), factor, error


def _plain_bounds(terms: Terms) -> Interval:
    """Interval arithmetic, also with what all terms share taken out, as in ``n*m - n + 1``."""
    added = terms.get(_ONE, 0)
    symbolic = {m: c for m, c in terms.items() if m}
    intervals = [_product(_monomial_bounds(m), (c, c)) for m, c in symbolic.items()]
    lo, hi = sum(i[0] for i in intervals), sum(i[1] for i in intervals)
    shared = _common(symbolic) if len(symbolic) > 1 else _ONE
    if shared:
        others = _plain_bounds(_scaled_down(symbolic, shared, 1))
        factored = _product(_monomial_bounds(shared), others)
        lo, hi = max(lo, factored[0]), min(hi, factored[1])
    return lo + added, hi + added


def _monomial_bounds(monomial: Monomial) -> Interval:
    if len(monomial) == 1:
        return monomial[0].min, monomial[0].max
    total = 1, 1
    for atom, power in Counter(monomial).items():
        ends = atom.min**power, atom.max**power
        lowest = 0 if power % 2 == 0 and atom.min < 0 < atom.max else min(ends)
        total = _product(total, (lowest, max(ends)))
    return total


def _product(a: Interval, b: Interval) -> Interval:
    corners = [x * y for x in a for y in b]
    return min(corners), max(corners)


def _quotient_bounds(numerator: Interval, denominator: Interval) -> Interval:
    lo, hi = denominator
    # A quotient is extreme at the ends, or next to the divisor 0, which is left out.
    divisors = [d for d in (lo, -1, 1, hi) if d and lo <= d <= hi]
    if not divisors:
        raise ZeroDivisionError("cannot divide by a dimension whose bounds are [0, 0]")
    corners = [n // d for n in numerator for d in divisors]
    return min(corners), max(corners)


# Text

_NO_VALUES: Final[Mapping[Var, int]] = {}


def text(terms: Terms, values: Mapping[Var, int] = _NO_VALUES) -> str:
    """Readable text; variables that have values show them."""
    if not terms:
        return "0"
    atom = _only_atom(terms)
    if atom is not None:
        return _atom_text(atom, values)
    parts = []
    for monomial, coefficient in frozen(terms):
        if coefficient == 1 and len(monomial) == 1 and isinstance(monomial[0], Quotient):
            parts.append("+ " + _atom_text(monomial[0], values))
            continue
        factors = [
            _factor(atom, values) + (f"**{power}" if power > 1 else "")
            for atom, power in Counter(monomial).items()
        ]
        if abs(coefficient) != 1 or not factors:
            factors.insert(0, str(abs(coefficient)))
        parts.append(("- " if coefficient < 0 else "+ ") + "*".join(factors))
    joined = " ".join(parts)
    return joined.removeprefix("+ ") if joined[0] == "+" else "-" + joined.removeprefix("- ")


def _only_atom(terms: Terms) -> Atom | None:
    ((monomial, coefficient), *others) = terms.items()
    return monomial[0] if not others and coefficient == 1 and len(monomial) == 1 else None


def _atom_text(atom: Atom, values: Mapping[Var, int]) -> str:
    if isinstance(atom, Var):
        return f"{atom}={values[atom]}" if atom in values else str(atom)
    above, below = dict(atom.numerator), dict(atom.denominator)
    return f"{_operand(above, values)}//{_operand(below, values)}"


def _factor(atom: Atom, values: Mapping[Var, int]) -> str:
    alone = _atom_text(atom, values)
    return alone if isinstance(atom, Var) and atom not in values else f"({alone})"


def _operand(terms: Terms, values: Mapping[Var, int]) -> str:
    atom = _only_atom(terms)
    if atom is not None:
        return _factor(atom, values)
    n = constant_value(terms)
    return f"({text(terms, values)})" if n is None or n < 0 else str(n)


# Code


def source(terms: FrozenTerms, names: Mapping[Var, str]) -> str:
    """Python code for the value, with names for the variables."""
    parts = []
    for monomial, coefficient in terms:
        factors = [] if coefficient == 1 and monomial else [f"({coefficient})"]
        for atom in monomial:
            if isinstance(atom, Quotient):
                above = source(atom.numerator, names)
                below = source(atom.denominator, names)
                factors.append(f"({above} // {below})")
            else:
                factors.append(names[atom])
        parts.append("*".join(factors))
    return f"({' + '.join(parts) or '0'})"
