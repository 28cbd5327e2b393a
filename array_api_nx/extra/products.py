"""Einstein summation: `einsum`, in steps that are matrix products where anything is summed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from itertools import combinations
from math import prod
from types import EllipsisType
from typing import Any, Final, NamedTuple, TypeAlias

from ..core import dtypes as d
from ..core.shape import index_of
from ..frontend import standard as xp
from ..frontend.array import Array
from ..frontend.operands import ArrayOrScalar, cast, operands
from .manipulation import diagonal

__all__ = ["einsum"]

Label: TypeAlias = "str | int"
"""The name of an axis: a letter, an int, or a negative int for an axis under an ellipsis, which
is counted from the last of these."""

Path: TypeAlias = "Sequence[tuple[int, ...]]"
"""Which operands are contracted in each step. The result is put at the end."""

Optimize: TypeAlias = "bool | str | Sequence[str | int | tuple[int, ...]]"
_Term: TypeAlias = tuple[Label, ...]
_Sizes: TypeAlias = dict[Label, int]
_Token: TypeAlias = "Label | EllipsisType"


def einsum(
    subscripts: str | Array,
    /,
    *operands: ArrayOrScalar | Sequence[_Token],
    optimize: Optimize = True,
) -> Array:
    """Sums of products of elements, over axes that labels pair.

    The operands are contracted two at a time, in an order that keeps intermediate results small.
    Axes are summed by matrix products. Where none are, elements are multiplied, which for large
    arrays is fused.

    subscripts (str): A letter for each axis of each operand, with commas between operands:
        ``"ij,jk->ik"``. Axes of equal letters have equal sizes, or size 1, and are multiplied with
        each other. After the arrow come the axes of the result, and all others are summed; without
        an arrow, the result has the letters that come once, sorted. ``...`` stands for axes that
        broadcast. A letter that comes twice in one operand takes its diagonal.
    *operands (Array or scalar): Numeric or bool. Instead of `subscripts`, each may be followed by a
        sequence of ints and ``...``, which label its axes; the last sequence, if there is one more,
        is the result's.
    optimize (bool, str or sequence): The order: True or "auto" decides by the number of operands,
        "greedy" takes the smallest results first, "optimal" tries all orders; False goes from the
        left to the right. A sequence of tuples says which operands to contract in each step, as
        `numpy.einsum_path` returns it. Orders are found by opt_einsum, where it is installed, and
        then by any of its names; else all are "greedy".
    Returns: The promoted dtype; for bool, products are "and" and sums are "or". A view of the
        operand if there is only one and nothing is summed, as for transposes and, mostly,
        diagonals; else a new array.
    ValueError: If the subscripts cannot be read or do not fit the operands, or sizes differ.

    >>> x = xp.reshape(xp.arange(6), (2, 3))
    >>> xp.extra.einsum("ij,kj->ik", x, x)
    Array([[ 5, 14],
           [14, 50]], dtype=int64)
    >>> xp.extra.einsum(x, [0, 1], [1])
    Array([3, 5, 7], dtype=int64)
    """
    if type(subscripts) is not str:
        arrays, terms, output = _read_interleaved((subscripts, *operands))
        return _planned(terms, output, arrays, optimize)(arrays)
    arrays = _arrays(operands)
    key = None
    # Sizes that are symbolic must not be compared with others; a path may be in lists.
    if type(sum([sum(x.shape) for x in arrays])) is int and type(optimize) is not list:
        key = (subscripts, optimize, *[x.shape for x in arrays])
        plan = _plans.get(key)
        if plan is not None:
            return plan(arrays)
    plan = _planned(*_read(subscripts, arrays), arrays, optimize)
    if key is not None:
        if len(_plans) >= _MAX_PLANS:
            _plans.clear()
        _plans[key] = plan
    return plan(arrays)


_MAX_PLANS: Final = 1 << 10
_plans: Final[dict[object, Callable[[list[Array]], Array]]] = {}
"""Plans by subscripts and shapes; emptied when full."""


def _arrays(values: Sequence[object]) -> list[Array]:
    """The operands as arrays of one dtype, on one device."""
    if not values:
        raise ValueError("einsum needs at least one operand; give one for each term")
    first = values[0]
    if type(first) is Array:
        for x in values:
            if type(x) is not Array or x._dtype is not first._dtype:
                break
            if x._device is not first._device:
                break
        else:
            return [x for x in values if type(x) is Array]
    found, dtype, device = operands(*values)
    return [
        cast(x, dtype) if type(x) is Array else xp.full((), x, dtype=dtype, device=device)
        for x in found
    ]


# ---------------------------------------------------------------------- reading subscripts


def _read(subscripts: str, arrays: list[Array]) -> tuple[list[_Term], _Term]:
    """The labels of each operand, and those of the result."""
    inputs, arrow, result = subscripts.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if len(terms) != len(arrays):
        raise ValueError(
            f"the subscripts {subscripts!r} have {len(terms)} terms for {len(arrays)} operands; "
            "give one term for each, with commas between them"
        )
    tokens = [_tokens(term, subscripts) for term in terms]
    return _labelled(tokens, _tokens(result, subscripts) if arrow else None, arrays)


def _tokens(term: str, subscripts: str) -> list[_Token]:
    before, dots, after = term.partition("...")
    letters = before + after
    if letters and not letters.isalpha():
        raise ValueError(
            f"the subscripts {subscripts!r} cannot be read at {term!r}: each axis is a letter, "
            "'...' stands for any number of axes once a term, and '->' comes before the result"
        )
    return [*before, *([...] if dots else []), *after]


def _read_interleaved(values: Sequence[object]) -> tuple[list[Array], list[_Term], _Term]:
    """The same of operands that are followed by their labels each."""
    result: list[object] = []
    if len(values) % 2:
        *values, last = values
        result = [last]
    labels = [each for each in (*values[1::2], *result) if isinstance(each, Sequence)]
    if not values or len(labels) < len(values) // 2 + len(result):
        raise ValueError(
            "einsum takes subscripts and operands, or operands that are followed by a sequence of "
            "ints for their axes each; give einsum('ij,jk', x, y) or einsum(x, [0, 1], y, [1, 2])"
        )
    tokens = [[_token(label) for label in each] for each in labels]
    arrays = _arrays(values[0::2])
    if not result:
        return arrays, *_labelled(tokens, None, arrays)
    return arrays, *_labelled(tokens[:-1], tokens[-1], arrays)


def _token(label: object) -> _Token:
    if label is ...:
        return ...
    try:
        number = index_of(label)
    except TypeError:
        number = -1
    if number < 0:
        raise ValueError(f"einsum labels axes with ints from 0 on, or ..., not {label!r}")
    return number


def _labelled(
    tokens: list[list[_Token]], result: list[_Token] | None, arrays: list[Array]
) -> tuple[list[_Term], _Term]:
    """Labels in place of the ellipses, and those of the result if they go without saying."""
    terms = []
    most = 0
    for number, (each, x) in enumerate(zip(tokens, arrays, strict=True), start=1):
        hidden = x.ndim - len(each) + 1 if ... in each else 0
        if hidden < 0 or (... not in each and x.ndim != len(each)):
            raise ValueError(
                f"operand {number} of einsum has shape {x.shape}, but its term has "
                f"{len(each) - (... in each)} labels; give one label for each axis"
            )
        most = max(most, hidden)
        terms.append(_without_ellipsis(each, hidden))
    used = [label for term in terms for label in term]
    if result is None:
        once = [label for label in set(used) if used.count(label) == 1 and not _is_hidden(label)]
        return terms, (*range(-most, 0), *sorted(once))
    output = _without_ellipsis(result, most)
    if most and ... not in result:
        raise ValueError(
            "einsum broadcasts the axes under '...', but the result's term has none; put '...' "
            "there, or give the axes that are to be summed a label"
        )
    for label in output:
        if label not in used or output.count(label) > 1:
            raise ValueError(
                f"the result of einsum has the label {label!r}, which must come once there and in "
                "at least one operand"
            )
    return terms, output


def _without_ellipsis(tokens: list[_Token], hidden: int) -> _Term:
    term: list[Label] = []
    for token in tokens:
        term.extend(range(-hidden, 0) if token is ... else [token])
    return tuple(term)


def _is_hidden(label: Label) -> bool:
    return type(label) is int and label < 0


# ---------------------------------------------------------------------- planning


def _planned(
    terms: list[_Term], output: _Term, arrays: list[Array], optimize: Optimize
) -> Callable[[list[Array]], Array]:
    """The plan for arrays of these shapes."""
    sizes: _Sizes = {}
    for number, (term, x) in enumerate(zip(terms, arrays, strict=True), start=1):
        for label, size in zip(term, x.shape, strict=True):
            known = sizes.setdefault(label, size)
            if known != size:
                if (known != 1 and size != 1) or term.count(label) > 1:
                    name = "under '...'" if _is_hidden(label) else f"with label {label!r}"
                    raise ValueError(
                        f"axes of einsum {name} have sizes {known} and {size}, the latter in "
                        f"operand {number}; they must agree or be 1"
                    )
                sizes[label] = size if known == 1 else known
    # Operands of size 1 on an axis that others have larger do without it.
    there = [
        {label for label, size in zip(term, x.shape, strict=True) if size == sizes[label]}
        for term, x in zip(terms, arrays, strict=True)
    ]
    singles = [
        _single(term, x.shape, there[i], {*output}.union(*there[:i], *there[i + 1 :]))
        for i, (term, x) in enumerate(zip(terms, arrays, strict=True))
    ]
    kept = [single.labels for single in singles]
    pairs: list[tuple[int, int, _Pair]] = []
    present = list(enumerate(kept))
    count = len(kept)
    for step in _path(kept, output, sizes, optimize):
        chosen = [present[i] for i in step]
        present = [each for i, each in enumerate(present) if i not in step]
        while len(chosen) > 1:
            (i, first), (j, second), *rest = chosen
            needed = {*output}.union(*[term for _, term in (*rest, *present)])
            is_last = not rest and not present
            pair = _pair(first, second, needed, sizes, output if is_last else None)
            pairs.append((i, j, pair))
            chosen = [(count, pair.labels), *rest]
            count += 1
        present += chosen
    ((last, labels),) = present
    axes = tuple([labels.index(label) for label in output])
    order = None if axes == tuple(range(len(axes))) else axes

    def run(arrays: list[Array]) -> Array:
        found = [single.run(x) for single, x in zip(singles, arrays, strict=True)]
        for i, j, pair in pairs:
            found.append(pair.run(found[i], found[j]))
        result = found[last]
        if result is arrays[0]:  # whose attributes are its own
            order_ = tuple(range(result.ndim)) if order is None else order
            return xp.permute_dims(result, order_)
        return result if order is None else xp.permute_dims(result, order)

    return run


class _Single(NamedTuple):
    """The steps on one operand before any other: diagonals, sums, and axes of size 1 dropped.

    diagonals: Pairs of axes; their diagonal is kept, as the last axis.
    shape: The shape in the end, if axes of size 1 are to go that another operand has larger.
    labels: Of the axes in the end.
    """

    diagonals: tuple[tuple[int, int], ...]
    summed: tuple[int, ...]
    shape: tuple[int, ...] | None
    labels: _Term

    def run(self, x: Array) -> Array:
        for axis1, axis2 in self.diagonals:
            x = diagonal(x, 0, axis1, axis2)
        if self.summed:
            x = _sum(x, self.summed)
        return x if self.shape is None else xp.reshape(x, self.shape)


def _single(term: _Term, shape: tuple[int, ...], there: set[Label], others: set[Label]) -> _Single:
    """The steps on an operand that has the labels `there`, when others need `others`."""
    labels = list(term)
    extents = dict(zip(term, shape, strict=True))
    diagonals = []
    for label in dict.fromkeys(term):
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            diagonals.append((first, second))
            del labels[second], labels[first]
            labels.append(label)
    is_summed = [label in there and label not in others for label in labels]
    summed = tuple([i for i, drop in enumerate(is_summed) if drop])
    labels = [label for label, drop in zip(labels, is_summed, strict=True) if not drop]
    left = tuple([label for label in labels if label in there])
    reshaped = None if len(left) == len(labels) else tuple([extents[label] for label in left])
    return _Single(tuple(diagonals), summed, reshaped, left)


class _Pair(NamedTuple):
    """How two operands are contracted.

    compute: From both operands, once they are brought into shape, to the result.
    axes1, axes2: In what order to put the axes of each operand first, if not as they are.
    shape1, shape2, shape: What to reshape the operands and the result to, if anything.
    swapped: Whether the operands change places first.
    labels: Of the result.
    """

    compute: Callable[[Array, Array], Array]
    axes1: tuple[int, ...] | None
    axes2: tuple[int, ...] | None
    shape1: tuple[int, ...] | None
    shape2: tuple[int, ...] | None
    shape: tuple[int, ...] | None
    swapped: bool
    labels: _Term

    def run(self, x1: Array, x2: Array) -> Array:
        if self.swapped:
            x1, x2 = x2, x1
        if self.axes1 is not None:
            x1 = xp.permute_dims(x1, self.axes1)
        if self.shape1 is not None:
            x1 = xp.reshape(x1, self.shape1)
        if self.axes2 is not None:
            x2 = xp.permute_dims(x2, self.axes2)
        if self.shape2 is not None:
            x2 = xp.reshape(x2, self.shape2)
        result = self.compute(x1, x2)
        return result if self.shape is None else xp.reshape(result, self.shape)


def _pair(
    first: _Term, second: _Term, needed: set[Label], sizes: _Sizes, output: _Term | None
) -> _Pair:
    """How to contract two operands; `output` is the order that the result is to have, if any."""
    if not [label for label in first if label in second and label not in needed]:
        both = dict.fromkeys((*first, *second))
        order = tuple(both) if output is None else tuple([each for each in output if each in both])
        return _product(first, second, order, sizes)
    swapped = False
    if output is not None:
        # The product has the free axes of its first operand before those of the second.
        free = [label for label in output if (label in first) != (label in second)]
        swapped = bool(free) and free[0] in second
    if swapped:
        first, second = second, first
    batch = [label for label in first if label in second and label in needed]
    # Axes are merged without a copy where they lie in the order of the operand; of the summed ones
    # there can be but one order.
    longer = max(first, second, key=lambda term: prod([_extent(sizes[each]) for each in term]))
    summed = [label for label in longer if label in first and label in second]
    summed = [label for label in summed if label not in needed]
    free1 = [label for label in first if label not in second]
    free2 = [label for label in second if label not in first]
    lead = tuple([sizes[label] for label in batch])
    rows, inner, columns = [
        prod([sizes[label] for label in group]) for group in (free1, summed, free2)
    ]
    # A product with a vector, if there are no stacks; scalar products of stacks are no matmul.
    is_stacked = bool(lead) and bool(free1 or free2)
    shape1 = (*lead, rows, inner) if free1 or is_stacked else (*lead, inner)
    shape2 = (*lead, inner, columns) if free2 or is_stacked else (*lead, inner)
    shape = (*lead, *([rows] if free1 or is_stacked else []))
    shape = (*shape, *([columns] if free2 or is_stacked else []))
    compute = _scalar_products if not free1 and not free2 else _matrix_product
    labels = (*batch, *free1, *free2)
    return _brought(
        compute,
        (first, (*batch, *free1, *summed), shape1),
        (second, (*batch, *summed, *free2), shape2),
        (labels, shape),
        sizes,
        swapped,
    )


def _product(first: _Term, second: _Term, order: _Term, sizes: _Sizes) -> _Pair:
    """Elements multiplied, where nothing is summed."""
    sides = []
    for term in (first, second):
        present = tuple([label for label in order if label in term])
        # Axes in front need not be there to broadcast.
        shape = [sizes[label] if label in term else 1 for label in order]
        start = order.index(present[0]) if present else len(order)
        sides.append((term, present, tuple(shape[start:])))
    shape_ = tuple([sizes[label] for label in order])
    return _brought(xp.multiply, sides[0], sides[1], (order, shape_), sizes, False)


def _brought(
    compute: Callable[[Array, Array], Array],
    first: tuple[_Term, _Term, tuple[int, ...]],
    second: tuple[_Term, _Term, tuple[int, ...]],
    result: tuple[_Term, tuple[int, ...]],
    sizes: _Sizes,
    swapped: bool,
) -> _Pair:
    """A `_Pair` that leaves out what changes nothing.

    Operands are given as their labels as they are, as they are to be ordered, and the shape to
    have then; the result as its labels, and the shape that it is computed in.
    """
    (axes1, shape1), (axes2, shape2) = [
        (
            None if term == order else tuple([term.index(label) for label in order]),
            None if shape == tuple([sizes[label] for label in order]) else shape,
        )
        for term, order, shape in (first, second)
    ]
    labels, computed = result
    final = tuple([sizes[label] for label in labels])
    shape = None if computed == final else final
    return _Pair(compute, axes1, axes2, shape1, shape2, shape, swapped, labels)


def _sum(x: Array, axes: tuple[int, ...]) -> Array:
    return xp.any(x, axis=axes) if x._dtype is d.bool else xp.sum(x, axis=axes, dtype=x._dtype)


def _matrix_product(x1: Array, x2: Array) -> Array:
    if x1._dtype is not d.bool:
        return xp.matmul(x1, x2)
    # Counts of matches, which may be rounded but not to zero.
    return xp.matmul(cast(x1, d.BELOW_DOUBLE[-1]), cast(x2, d.BELOW_DOUBLE[-1])) != 0


def _scalar_products(x1: Array, x2: Array) -> Array:
    if x1.ndim == 1:
        return _matrix_product(x1, x2)
    if x1._dtype is d.bool or x1._dtype in d.COMPLEX:  # which vecdot would conjugate
        return _sum(x1 * x2, (x1.ndim - 1,))
    return xp.vecdot(x1, x2)


# ---------------------------------------------------------------------- paths

_UNKNOWN_SIZE: Final = 64
"""The value of a symbolic size in the choice of an order, which no result depends on."""


def _extent(size: int) -> int:
    return size if type(size) is int else _UNKNOWN_SIZE


def _path(terms: list[_Term], output: _Term, sizes: _Sizes, optimize: Optimize) -> Path:
    """In which order to contract the operands."""
    count = len(terms)
    if isinstance(optimize, list | tuple) and optimize and not isinstance(optimize[0], str):
        return _checked_path(optimize, count)
    if isinstance(optimize, list | tuple) and optimize:
        name, *rest = optimize
        if name == "einsum_path":
            return _checked_path(rest, count)
        optimize = name  # a limit of memory may follow
    if optimize is True:
        optimize = "auto"
    if not optimize or count < 3:
        return [tuple(range(count))]
    extents = {label: _extent(size) for label, size in sizes.items()}
    if find_spec("opt_einsum") is not None:
        from opt_einsum.paths import get_path_fn

        try:
            find = get_path_fn(optimize)
        except KeyError as error:
            raise ValueError(f"einsum finds no order {optimize!r}: {error.args[0]}") from error
        labels, kept = [*map(frozenset, terms)], frozenset(output)
        path: Path = find(labels, kept, extents)
        if optimize == "auto":
            # Of many operands it looks at a part of all orders, which may miss a much cheaper one.
            others = _greedy(labels, kept, extents)
            path = min(path, others, key=lambda each: _cost(each, labels, kept, extents))
        return path
    if optimize not in ("auto", "greedy", "optimal"):
        raise ValueError(
            f"einsum finds no order {optimize!r}; give 'auto', 'greedy', 'optimal' or a path, or "
            "have others by: pip install opt_einsum"
        )
    return _greedy([*map(frozenset, terms)], frozenset(output), extents)


def _checked_path(path: Sequence[Any], count: int) -> Path:
    """A path that the caller gave; operands that it leaves over are contracted in the end."""
    steps = []
    for each in path:
        step = tuple([index_of(i) for i in each]) if isinstance(each, Sequence) else ()
        if not step or len({*step}) != len(step) or not all([0 <= i < count for i in step]):
            raise ValueError(
                f"a path of einsum has the step {each!r} while there are {count} operands; name "
                "different ones, counted from 0"
            )
        steps.append(step)
        count += 1 - len(step)
    return [*steps, tuple(range(count))] if count > 1 else steps


def _cost(
    path: Path, terms: list[frozenset[Label]], output: frozenset[Label], extents: _Sizes
) -> int:
    """How many products of elements all steps of a path compute."""
    cost = 0
    for step in path:
        chosen = [terms[i] for i in step]
        terms = [each for i, each in enumerate(terms) if i not in step]
        union = frozenset().union(*chosen)
        cost += prod([extents[label] for label in union])
        terms.append(union & output.union(*terms))
    return cost


def _greedy(terms: list[frozenset[Label]], output: frozenset[Label], extents: _Sizes) -> Path:
    """The two operands next whose result takes the least memory, less what they took themselves."""

    def size(labels: frozenset[Label]) -> int:
        return prod([extents[label] for label in labels])

    path = []
    while len(terms) > 2:
        best = None
        for i, j in combinations(range(len(terms)), 2):
            others = output.union(*[each for k, each in enumerate(terms) if k not in (i, j)])
            union = terms[i] | terms[j]
            result = union & others
            cost = size(result) - size(terms[i]) - size(terms[j]), size(union)
            if best is None or cost < best[0]:
                best = cost, (i, j), result
        assert best is not None
        _, step, result = best
        terms = [*[each for k, each in enumerate(terms) if k not in step], result]
        path.append(step)
    return [*path, (0, 1)]
