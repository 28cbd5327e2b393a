"""Nested arguments and results: tuples, lists, dicts and dataclasses with arrays at the leaves.

The functions that call themselves stand at the top of the module: one within another would lead to
itself, and so keep the arrays that it has seen until the garbage collector comes by.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import fields, is_dataclass
from decimal import Decimal
from functools import partial
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from ..core.symbolic import SymbolicShape
from .array import Array

Tree: TypeAlias = Any
"""An object that a user hands in or returns: a container, an array, or any other value."""


class Stateful:
    """An argument that a program takes as arrays, and that advances by what the program uses."""

    _lock: AbstractContextManager[Any]

    def _arrays(self, device: Any) -> list[Tree]:
        """Its state: `PARTS` arrays without axes, on its device, or the given one if it has none.

        The caller holds `_lock` until it has called `_advance`.
        """
        raise NotImplementedError

    @staticmethod
    def _stand_in(arrays: list[Tree]) -> Stateful:
        """Its stand-in while a function is traced."""
        raise NotImplementedError

    def _blocks(self) -> Any:
        """How far its stand-in has advanced, an int or an expression of sizes."""
        raise NotImplementedError

    def _advance(self, used: int, *, check: bool = False) -> int:
        """Advance, and return how far; if `check`, only raise the error of doing so."""
        raise NotImplementedError

    def _retreat(self, used: int, reached: int) -> None:
        """Undo the `_advance` that returned `reached`, unless it has advanced further since."""
        raise NotImplementedError


PARTS: Final = 2
"""The arrays that a program takes for an argument with a state."""

Structure: TypeAlias = Any
"""A tree without its arrays, as `flatten` makes it: hashable, and opaque to others."""


def _parts(x: Tree) -> tuple[Structure, list[Tree]] | None:
    """The kind and the names of the container `x`, and its items; None for a leaf."""
    kind = type(x)
    if isinstance(x, tuple):
        # Named tuples may carry more than their items.
        more = getattr(x, "__dict__", {})
        return (kind, len(x), tuple(more)), [*x, *more.values()]
    if isinstance(x, list):
        return (kind, len(x), ()), list(x)
    if isinstance(x, dict):
        return (kind, 0, tuple(x)), list(x.values())
    if is_dataclass(x) and not isinstance(x, type):
        names = tuple([field.name for field in fields(x)])
        return (kind, 0, names), [getattr(x, name) for name in names]
    return None


def leaves(x: Tree) -> Iterator[Tree]:
    """The leaves of nested containers, in order; `x` itself if it is none."""
    parts = _parts(x)
    if parts is None:
        yield x
    else:
        for part in parts[1]:
            yield from leaves(part)


def _joined(shape: Structure, parts: Sequence[Tree]) -> Tree:
    """The inverse of `_parts`; containers are as they were, without running constructors again."""
    kind, count, names = shape
    if kind in (tuple, SymbolicShape):
        return tuple(parts)
    items, named = parts[:count], zip(names, parts[count:], strict=True)
    if issubclass(kind, tuple):
        result = tuple.__new__(kind, items)
        if names:
            vars(result).update(named)
        return result
    result = kind.__new__(kind)
    if issubclass(kind, list):
        result.extend(items)
    elif issubclass(kind, dict):
        result.update(named)
    else:
        for name, part in named:
            object.__setattr__(result, name, part)
    return result


def flatten(x: Tree, is_leaf: Callable[[Tree], bool]) -> tuple[list[Tree], Structure]:
    """The leaves that are arrays, in order, and the rest: hashable, and equal for equal structure.

    An array that is found several times is one leaf, and where else it stands is part of the
    structure: a function that asks whether two arguments are one array gets the same answer as
    from the arguments themselves.

    is_leaf: Whether an object is an array.
    TypeError: If something that is no array is not hashable.
    """
    leaves: list[Tree] = []
    return leaves, _flattened(x, is_leaf, leaves, {})


def _flattened(
    x: Tree, is_leaf: Callable[[Tree], bool], leaves: list[Tree], numbers: dict[int, int]
) -> Structure:
    """The structure of `x`, whose leaves are appended to `leaves`; their numbers there are entered
    in `numbers`, by the ids of arrays."""
    if is_leaf(x):
        if type(x) is Array:
            number = numbers.setdefault(id(x), len(leaves))
            if number < len(leaves):
                return _Repeated(number)
        leaves.append(x)
        return _Place(type(x)) if isinstance(x, Stateful) else _ARRAY
    parts = _parts(x)
    if parts is None:
        return _static(x)
    shape, inside = parts
    names = exact_key(shape[2]) if isinstance(x, dict) else None
    return shape, names, tuple([_flattened(part, is_leaf, leaves, numbers) for part in inside])


_ARRAY = "an array"


class _Repeated(NamedTuple):
    """Where an array was that stands elsewhere, too: by its number among the leaves."""

    number: int


class _Place(NamedTuple):
    """Where an argument with a state was."""

    kind: type[Stateful]


def _static(x: Tree) -> _Static:
    if isinstance(x, np.ndarray):
        raise TypeError(
            "a compiled function takes no NumPy array; convert it with asarray(...) first"
        )
    if not _is_hashable(x):
        raise TypeError(
            f"a compiled function takes arrays, containers of them, and hashable values, not a "
            f"{type(x).__name__}; make it hashable, or close over it"
        )
    return _Static(x)


class _Static:
    """A value that is no array. 1, 1.0 and True are equal, as are 0.0 and -0.0, but not here."""

    __slots__ = ("key", "value")

    def __init__(self, value: Tree) -> None:
        self.value = value
        self.key = exact_key(value)

    def __eq__(self, other: object) -> bool:
        return type(other) is _Static and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


def exact_key(x: Tree, within: tuple[int, ...] = ()) -> Structure:
    """A hashable that is the same for values that are equal and have the same types in all parts.

    x: Hashable.
    within: The ids of the objects around `x`.
    """
    kind = type(x)
    if kind in _SAME_IF_EQUAL or _has_identity(x) or id(x) in within:
        return kind, x
    if isinstance(x, float | complex | Decimal | np.generic):
        # 0.0 and -0.0 are equal, as are Decimal("1.0") and Decimal("1.00").
        return kind, repr(x)
    within = (*within, id(x))
    parts: Hashable = ()
    if isinstance(x, frozenset):
        parts = frozenset([exact_key(part, within) for part in x])
    elif isinstance(x, tuple):
        parts = tuple([exact_key(part, within) for part in x])
    elif isinstance(x, range | slice):
        parts = tuple([exact_key(part, within) for part in (x.start, x.stop, x.step)])
    # Attributes that are objects with an identity are left to the equality of `x`.
    attributes = [
        (name, exact_key(part, within))
        for name, part in _attributes(x)
        if not _has_identity(part) and _is_hashable(part)
    ]
    return kind, x, parts, frozenset(attributes)


_SAME_IF_EQUAL: Final = frozenset({bool, int, str, bytes})


def _has_identity(x: Tree) -> bool:
    """Whether `x` is equal to itself alone."""
    equal: object = type(x).__eq__
    return equal is object.__eq__


def _attributes(x: Tree) -> Iterator[tuple[str, Tree]]:
    yield from getattr(x, "__dict__", {}).items()
    for each in type(x).__mro__:
        slots = each.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if not name.startswith("__") and hasattr(x, name):
                yield name, getattr(x, name)


def _is_hashable(x: Tree) -> bool:
    try:
        hash(x)
    except TypeError:
        return False
    return True


def build(
    structure: Structure, leaves: Sequence[Tree], states: list[Stateful] | None = None
) -> Tree:
    """The inverse of `flatten`, with other leaves.

    The stand-ins of arguments with a state, each made of `PARTS` leaves, are added to `states`.
    """
    return _built(structure, iter(leaves), [], [] if states is None else states)


def _built(
    structure: Structure, leaves: Iterator[Tree], placed: list[Tree], states: list[Stateful]
) -> Tree:
    """The object of `structure`; the leaves are appended to `placed` as they are put in place."""
    if structure is _ARRAY:
        placed.append(next(leaves))
        return placed[-1]
    if type(structure) is _Repeated:
        return placed[structure.number]
    if type(structure) is _Place:
        states.append(structure.kind._stand_in([next(leaves) for _ in range(PARTS)]))
        placed.append(states[-1])
        return states[-1]
    if type(structure) is _Static:
        return structure.value
    shape, _, inside = structure
    return _joined(shape, [_built(part, leaves, placed, states) for part in inside])


def map_leaves(function: Callable[[Tree], Tree], x: Tree) -> Tree:
    """A copy of nested containers in which `function` was applied to the leaves."""
    parts = _parts(x)
    if parts is None:
        return function(x)
    shape, inside = parts
    return _joined(shape, [map_leaves(function, part) for part in inside])


def template(function: Callable[[Tree], Tree], x: Tree) -> Tree:
    """What makes nested containers again from their leaves.

    For a leaf that is what `function` gives; for a container (callable, templates), where the
    callable takes the tuple of its items, and is None for a tuple.
    """
    parts = _parts(x)
    if parts is None:
        return function(x)
    shape, inside = parts
    kind, _, names = shape
    make: Callable[..., Tree] | None = None
    if kind is list:
        make = list
    elif kind is not tuple:
        # Named tuples have nothing but their items, in general.
        is_plain = issubclass(kind, tuple) and kind is not SymbolicShape and not names
        make = partial(tuple.__new__, kind) if is_plain else partial(_joined, shape)
    return make, tuple([template(function, part) for part in inside])
