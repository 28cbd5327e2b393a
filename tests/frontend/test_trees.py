"""Nested containers, taken apart and built again."""

import dataclasses
from collections import OrderedDict, defaultdict, namedtuple
from typing import Any

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx import Array
from array_api_nx.frontend.trees import build, flatten, map_leaves
from tests.support.refusals import refused

Pair = namedtuple("Pair", ["first", "second"])


@dataclasses.dataclass(frozen=True, slots=True)
class Point:
    x: Any
    y: Any


class Result(Pair):
    """A named tuple that holds more than its items, as SciPy's results do."""

    def __new__(cls, first, second, *, more):
        self = super().__new__(cls, first, second)
        self.more = more
        return self


class Plain(list):
    """A list of a type of its own."""


def is_array(x):
    return type(x) is Array


A, B = xp.ones(2), xp.zeros(3)


@pytest.mark.parametrize(
    "tree",
    [
        A,
        (A, [B, 3], {"k": A, "l": (None,)}),
        Pair(A, Pair(B, "s")),
        Point(A, [Point(1.5, B)]),
        OrderedDict(b=A, a=B),
        Plain([A, B]),
        Result(A, 1, more=[B]),
        defaultdict(list, {"a": A}),
        (),
        {"x": {}},
    ],
)
def test_round_trip(tree):
    leaves, structure = flatten(tree, is_array)
    assert all(type(x) is Array for x in leaves)
    hash(structure)
    again = build(structure, leaves)
    assert type(again) is type(tree)
    assert flatten(again, is_array)[1] == structure
    assert all(x is y for x, y in zip(flatten(again, is_array)[0], leaves, strict=True))
    mapped = map_leaves(lambda x: 2 if type(x) is Array else x, tree)
    assert flatten(mapped, is_array)[0] == []
    assert type(mapped) is type(tree) or tree is A


def test_named_tuples_keep_what_they_carry():
    mapped = map_leaves(lambda x: 2 if x is A else 3, Result(A, B, more=A))
    assert mapped == (2, 3)
    assert mapped.more == 2


def test_structures_differ_where_trees_do():
    trees = [
        (A,), [A], (A, A), {"a": A}, {"b": A}, (1,), (1.0,), (True,), (0.0,), (-0.0,), ("1",),
        Pair(A, 1), Point(A, 1), Point(A, 2), (A, None), (), [], None,
    ]  # fmt: skip
    structures = [flatten(tree, is_array)[1] for tree in trees]
    assert len(set(structures)) == len(trees)


def test_refused():
    refused(TypeError, "no NumPy array", flatten, [np.ones(2)], is_array)
    refused(TypeError, "not a bytearray; make it hashable", flatten, [bytearray(2)], is_array)
