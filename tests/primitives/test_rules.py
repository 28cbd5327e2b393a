"""Each method of the contract has one rule for the shapes and dtypes of its results."""

import inspect

import numpy as np

from array_api_nx.contract.backend import METHODS, Backend
from array_api_nx.contract.derived import NOT_HANDLES, method_of
from array_api_nx.contract.guarantees import OPERANDS, PROMISES, SCALARS
from array_api_nx.core import dtypes as d
from array_api_nx.core.symbolic import dynamic
from array_api_nx.core.view import View
from array_api_nx.primitives import table as p
from array_api_nx.primitives.rules import (
    DTYPES,
    ELEMENTWISE,
    ROW_MAJOR,
    RULED,
    SEVERAL,
    SHAPES,
    SHARING,
    ArrayType,
    DataDependentSizeError,
    fits,
    results_of,
)
from tests.support.refusals import refused
from tests.support.tables import for_each

N = dynamic("n", min=2)
M = dynamic("m", min=2)


def test_methods_that_give_arrays_have_a_rule():
    given = {name for name in METHODS if "Handle" in method_results(name)}
    assert given - {"from_host", "from_native"} == RULED
    assert {*ELEMENTWISE, *SHARING, *ROW_MAJOR} <= RULED


def named(name, *arguments):
    return dict(zip(method_of(name).names, arguments, strict=True))


def method_results(name):
    text = inspect.get_annotations(getattr(Backend, name))["return"]
    return text


@for_each("name", sorted(RULED))
def test_rules_and_guarantees_ask_for_parameters_of_the_method(name):
    rules = [rows[name] for rows in (SHAPES, DTYPES, SEVERAL) if name in rows]
    conditions = [condition for _, condition in PROMISES.get(name, ())]
    for function in (*rules, *conditions):
        assert {*inspect.signature(function).parameters} <= {*method_of(name).names, "call"}
    assert {*OPERANDS.get(name, ()), *SCALARS.get(name, ())} <= {*method_of(name).names}
    assert (name in SHAPES) != (name in SEVERAL)
    assert method_of(name).several == (name in SEVERAL)


@for_each("name", METHODS)
def test_parameters_that_take_handles_are_known_by_their_annotations(name):
    for annotation in method_of(name).annotations:
        takes = any([word in annotation for word in ("Handle", "Operand", "Keys")])
        assert takes == (annotation in NOT_HANDLES)


def test_the_signature_of_a_method_gives_a_value_to_each_parameter():
    reduce = method_of("reduce")
    assert reduce.values((p.SUM, 1, (0,), True), {}) == [p.SUM, 1, (0,), True, None]
    assert reduce.values((p.SUM, 1, (0,)), {"keepdims": True})[-2:] == [True, None]
    sort = method_of("sort")
    assert sort.positional == 2
    assert sort.values((1, 0), {"stable": True, "descending": False}) == [1, 0, False, True]
    assert method_of("apply").values((p.SUM, 1, 2), {}) == [p.SUM, (1, 2)]


SYMBOLIC = [
    ("unary", (p.ABS, ArrayType((N, 3), d.complex64)), ((N, 3), d.float32)),
    ("binary", (p.LESS, ArrayType((N, 1), d.int8), 3, None), ((N, 1), d.bool)),
    ("arange", (0, N, 2, d.int64), ((-(-N // 2),), d.int64)),
    ("arange", (0.0, 1.0, 0.3, d.float64), ((4,), d.float64)),
    ("reduce", (p.ANY, ArrayType((N, 3), d.int8), (0,), True, None), ((1, 3), d.bool)),
    ("cat", ([ArrayType((N, 2), d.bool), ArrayType((M, 2), d.bool)], 0), ((N + M, 2), d.bool)),
    ("take", (ArrayType((N, 5), d.int8), ArrayType((M, 2), d.int64), 1), ((N, M, 2), d.int8)),
    ("bitcast", (ArrayType((N,), d.int64), d.int32), ((2 * N,), d.int32)),
    ("slice", (ArrayType((N, 5), d.int8), ((0, N, 1), 2)), ((N,), d.int8)),
    ("strided", (ArrayType((N,), d.int8), View((2, N))), ((2, N), d.int8)),
    ("matmul", (ArrayType((N, 5), d.int8), ArrayType((5, M), d.int8)), ((N, M), d.int8)),
    ("rfft", (ArrayType((N,), d.float32), (0,), "ortho"), ((N // 2 + 1,), d.complex64)),
    ("eigvals", (ArrayType((N, M, M), d.float32),), ((N, M), d.complex64)),
    ("repeat", (ArrayType((N, 2), d.int8), 3, 0), ((3 * N, 2), d.int8)),
]


@for_each(("name", "arguments", "expected"), SYMBOLIC)
def test_sizes_may_be_symbolic(name, arguments, expected):
    (result,) = results_of(name, named(name, *arguments))
    assert (result.shape, result.dtype) == expected


class Known(ArrayType):
    """An operand with elements."""

    def __init__(self, elements):
        self.elements = np.asarray(elements)
        super().__init__(self.elements.shape, d.CANONICAL[self.elements.dtype])

    def decided_size(self, words, most, count):
        size = count(self.elements)
        return size


NAN = float("nan")
DECIDED = [
    ("nonzero", (Known([[0, 1], [2, 0]]),), (2,)),
    ("unique", (Known([1.0, NAN, NAN, 1.0]),), (3,)),
    ("unique_values", (Known([1.0, NAN, NAN, 1.0]),), (3,)),
    ("unique_counts", (Known([3, 3]),), (1,)),
    ("unique_inverse", (Known([3, 3]),), (1,)),
    ("bincount", (Known([0, 4]), None, 2, True), (5,)),
    ("bincount", (Known([0, 4]), None, 9, True), (9,)),
    ("repeat", (ArrayType((2, 3), d.int8), Known([2, 4]), 0), (6, 3)),
    ("index_get", (ArrayType((3, 2), d.int8), (Known([True, False, True]), None)), (2, 2)),
    ("index_get", (ArrayType((3, 2), d.int8), (None, Known([True, False]))), (3, 1)),
]


@for_each(("name", "arguments", "expected"), DECIDED)
def test_sizes_that_elements_decide(name, arguments, expected):
    assert results_of(name, named(name, *arguments))[0].shape == expected
    unknown = [ArrayType(x.shape, x.dtype) if isinstance(x, Known) else x for x in arguments]
    if name == "index_get":
        unknown[1] = [ArrayType(k.shape, k.dtype) if k is not None else k for k in arguments[1]]
    refused(DataDependentSizeError, None, results_of, name, named(name, *unknown))


@for_each(
    ("shape", "target", "expected"),
    [
        ((3,), (2, 3), True), ((1, 1, 3), (2, 3), True), ((2, 1, 3), (2, 3), False),
        ((2,), (2, 3), False), ((), (2,), True), ((2, 3), (1, 3), False),
    ],
)  # fmt: skip
def test_values_fit_if_they_broadcast_to_the_target(shape, target, expected):
    assert fits(shape, target) is expected
