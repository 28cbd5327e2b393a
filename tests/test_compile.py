"""Compiled functions: traces, guards, sizes and arguments."""

import dataclasses
import gc
import math
import tracemalloc
import warnings
import weakref
from typing import Any, NamedTuple

import array_api_compat
import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx import ShapeSpec
from tests.support.arrays import normal, standardise
from tests.support.docstrings import needs_docstrings
from tests.support.programs import assert_same
from tests.support.refusals import refused
from tests.support.tables import for_each


def test_one_trace_for_many_sizes():
    function = xp.compile(standardise)
    for i, n in enumerate((2, 7, 100, 100_000, 3), start=1):
        x = xp.asarray(normal(n, 3), copy=True)
        assert_same(function(x), standardise(x))
        assert function.cache_info()[:3] == (1, 1, i)
    # Nothing asked whether there are as many rows as columns.
    assert function.explain(normal(7, 3)).guards == ()


def test_what_makes_a_new_trace():
    function = xp.compile(lambda x, k=2: xp.sum(x, axis=0) * k)
    calls = [
        ((normal(3, 4),), 1),
        ((normal(5, 6),), 1),
        ((normal(4, 4),), 1),  # equal sizes fit a program that does not care
        ((normal(3),), 2),  # another number of dimensions
        ((xp.astype(normal(3, 4), xp.float32),), 3),
        ((normal(1, 4),), 4),  # sizes of 0 and 1 are fixed
        ((normal(0, 4),), 5),
        ((normal(1, 9),), 5),
        ((normal(3, 4), 2), 6),  # another way to pass arguments
        ((normal(3, 4), 2.0), 7),  # 2.0 is not 2
        ((normal(5, 4), True), 8),
    ]
    for count, (arguments, traces) in enumerate(calls, start=1):
        assert_same(function(*arguments), function.__wrapped__(*arguments))
        assert function.cache_info()[:3] == (traces, traces, count)
    assert function.cache_info().traces == 8


def test_equal_sizes_share_a_variable_until_they_differ():
    function = xp.compile(lambda x, y: x @ y + x.shape[1])
    for i, (m, k, n) in enumerate([(2, 3, 4), (5, 6, 7), (3, 3, 3), (9, 2, 4)]):
        x, y = normal(m, k), normal(k, n)
        assert_same(function(x, y), function.__wrapped__(x, y))
        assert function.cache_info()[:3] == (1, 1, i + 1)
    refused(ValueError, "matmul of shapes", function, normal(2, 3), normal(4, 5))

    square = xp.compile(lambda x: x + x.shape[0])
    square(normal(3, 3))
    square(normal(4, 4))
    assert square.cache_info().traces == 1
    square(normal(4, 5))
    assert square.cache_info().traces == 2


def branches(x):
    if x.shape[0] == 4:
        return x * 4
    if x.shape[0] < x.shape[1]:
        return x - 1
    if x.shape[0] % 2:
        return x / x.shape[0]
    return x[: x.shape[0] // 2, :]


def test_guards():
    function = xp.compile(branches)
    seen = []
    for shape in [(4, 3), (4, 9), (2, 3), (5, 9), (7, 3), (9, 2), (8, 2), (6, 3)]:
        x = normal(*shape)
        assert_same(function(x), branches(x))
        seen.append(function.cache_info().traces)
    assert seen == [1, 1, 2, 2, 3, 3, 4, 4]
    texts = str(function.explain(normal(8, 2)))
    line = branches.__code__.co_firstlineno
    assert f"n != 4    ({__file__}:{line + 1})" in texts
    assert f"n >= m    ({__file__}:{line + 3})" in texts
    assert f"n - 2*(n//2) == 0    ({__file__}:{line + 5})" in texts


def test_numbers_of_a_size_are_guards():
    for ask in (
        lambda x: x * len(x),
        lambda x: x * int(x.shape[0]),
        lambda x: x * math.sqrt(x.shape[0]),
        lambda x: x * math.isnan(x.shape[0]),
        lambda x: x * [1, 2, 3, 4, 5, 6][x.shape[0]],
        lambda x: sum(list(x), start=xp.zeros(x.shape[1])),
        lambda x: sum([x[i, ...] for i in range(x.shape[0])], start=xp.zeros(x.shape[1])),
    ):
        function = xp.compile(ask)
        for i, n in enumerate((2, 3, 2, 3)):
            x = normal(n, 7)
            assert_same(function(x), ask(x))
            assert function.cache_info()[:3] == (min(i + 1, 2), min(i + 1, 2), i + 1)


def test_libraries_may_ask_whether_a_size_is_known():
    source = """
import math

def size(x):
    return None if math.isnan(math.prod(x.shape)) else math.prod(x.shape)

def eager_shape(x):
    if any(s is None or math.isnan(s) for s in x.shape):
        raise TypeError
    return x.shape

def cov(x):
    return x.shape[0] if not math.isnan(x.shape[0]) else None
"""
    known = {
        "size": "array_api_compat.common._helpers",
        "eager_shape": "some.array_api_extra._lib._helpers",
        "cov": "some.externals.array_api_extra._agnostic._statistical",
    }
    for name, module in known.items():
        for place, traces in ((module, 1), (f"not_{module.rpartition('.')[2]}", 3)):
            names = {"__name__": place}
            exec(source, names)
            function = xp.compile(lambda x, ask=names[name]: [x + 1, ask(x)][0])
            for n in (3, 4, 5):
                function(normal(n))
            assert function.cache_info().traces == traces
    # The same of the library itself.
    function = xp.compile(lambda x: x * array_api_compat.size(x))
    for n in (3, 4, 5):
        function(normal(n))
    assert function.cache_info().traces == 1


def test_programs_are_bounded():
    function = xp.compile(lambda x: x * len(x))
    for n in range(2, 40):
        function(normal(n))
    assert function.cache_info()[:3] == (38, 16, 38)


SIZES = [
    lambda x: x / x.shape[0],
    lambda x: 1 / x.shape[0] * x,
    lambda x: x.shape[0] * x,
    lambda x: x - x.shape[1] / 2,
    lambda x: x * x.shape[0] ** 0.5,
    lambda x: x + (x.shape[0] - 1.5) % 2 - -x.shape[0] / 3.0,
    lambda x: xp.astype(x * 3, xp.int32) // x.shape[0] + x.shape[1],
    lambda x: xp.astype(x * 3, xp.int8) < x.shape[0],
    lambda x: xp.zeros((x.shape[0] + 1, 2)),
    lambda x: xp.full(x.shape[0], x.shape[0]),
    lambda x: xp.full(2, x.shape[0] / 2),
    lambda x: xp.arange(x.shape[0]),
    lambda x: xp.arange(0, x.shape[0], 2),
    lambda x: xp.arange(x.shape[0], -1, -1),
    lambda x: xp.linspace(0, x.shape[0], x.shape[0] + 1),
    lambda x: xp.eye(x.shape[0], x.shape[1]),
    lambda x: x[: x.shape[0] // 2],
    lambda x: x[-2:, ::-1],
    lambda x: x[::2, 1:],
    lambda x: x[x.shape[0] - 1],
    lambda x: xp.reshape(x, (x.shape[0] * x.shape[1],)),
    lambda x: xp.reshape(x, (x.shape[1], -1)),
    lambda x: xp.reshape(x.T, (-1,)),
    lambda x: xp.broadcast_to(x[:1, :], x.shape),
    lambda x: xp.broadcast_to(x, (2, *x.shape)),
    lambda x: xp.concat([x, xp.zeros((1, x.shape[1]))]),
    lambda x: xp.sum(x, axis=0) / (x.shape[0] - 1),
    lambda x: xp.zeros(math.ceil(x.shape[0] / 2)) + math.floor(x.shape[1] / 2),
    lambda x: xp.roll(x, x.shape[0] // 2, axis=0),
    lambda x: xp.tile(x, (2, 1)),
    lambda x: (x.shape[0], x.shape, x.size, x.shape[0] / 2, x.ndim),
    lambda x: xp.asarray(x.shape[0]) + xp.asarray(x.shape[0] / 2),
    lambda x: x[xp.arange(x.shape[0]), 0],
    lambda x: abs(1 - x.shape[0]) * x,
    lambda x: divmod(x.shape[0], 3)[1] * x + x.shape[1] ** 2,
    lambda x: xp.diff(x, axis=0) + xp.mean(x[1:], axis=0),
    lambda x: xp.fft.rfft(x, axis=0),
    lambda x: xp.repeat(x, x.shape[1], axis=0),
    lambda x: xp.where(xp.arange(x.shape[0])[:, None] < x.shape[0] // 2, x, -x),
]


def test_guards_that_divide_by_zero():
    def call(x):
        return x * 2 if 12 % (x.shape[0] - 3) == 0 else x

    function = xp.compile(call)
    for n in (5, 6, 8):
        assert_same(function(xp.ones(n)), call(xp.ones(n)))
    refused(ZeroDivisionError, None, function, xp.ones(3))


@for_each("call", SIZES)
def test_sizes_compute(call):
    """Programs that use sizes give what eager code gives, bit for bit, at sizes not seen before."""
    function = xp.compile(call)
    for i, shape in enumerate([(5, 3), (9, 3), (8, 4), (21, 6), (3, 2)]):
        x = normal(*shape)
        found, expected = function(x), call(x)
        if isinstance(expected, tuple):
            assert found == expected
            assert [type(n) for n in found] == [type(n) for n in expected]
        else:
            assert_same(found, expected)
        assert i or function.cache_info().traces == 1
    assert function.cache_info().traces <= 2


class Pair(NamedTuple):
    first: Any
    second: Any


@dataclasses.dataclass(frozen=True)
class Model:
    weights: Any
    bias: Any
    name: str = "m"


def test_nested_arguments_and_results():
    def step(model, batch, *rest, scale=1.0):
        weights = model.weights - scale * batch["x"][0]
        return Model(weights, [model.bias, batch["x"][1] * 2], model.name), Pair(rest, None)

    function = xp.compile(step)
    for n in (4, 6):
        w, b, x, y = normal(n), normal(2), normal(n), normal(n, n)
        model, pair = function(Model(w, b), {"x": (x, y)}, (w, [b]), 3, scale=2.0)
        assert type(model) is Model
        assert model.name == "m"
        assert_same(model.weights, w - 2.0 * x)
        assert model.bias[0] is b
        assert_same(model.bias[1], y * 2)
        assert type(pair) is Pair
        assert pair.second is None
        assert pair.first[0][0] is w
        assert pair.first[1] == 3
    assert function.cache_info()[:3] == (1, 1, 2)
    function(Model(w, b, "other"), {"x": (x, y)}, (w, [b]), 3, scale=2.0)
    assert function.cache_info().traces == 2


def test_values_that_are_equal_but_not_the_same():
    function = xp.compile(lambda x, value: xp.copysign(xp.ones_like(x), x * 0 + value[0]))
    x = xp.ones(3)
    for value in (0.0, -0.0, 1, 1.0, True, math.nan, float("nan")):
        assert_same(function(x, [value]), function.__wrapped__(x, [value]))
    assert function.cache_info().traces == 6  # every NaN is one value


@dataclasses.dataclass(frozen=True)
class Scale:
    factor: Any


class Attributes:
    """Equal by a method of its own."""

    __slots__ = ("factor",)

    def __init__(self, factor):
        self.factor = factor

    def __eq__(self, other):
        return isinstance(other, Attributes) and self.factor == other.factor

    def __hash__(self):
        return hash(self.factor)


@for_each(
    "hold",
    [
        lambda k: frozenset({k}),
        lambda k: frozenset({(1, frozenset({k}))}),
        lambda k: {k: "value"},
        lambda k: {"key": frozenset({k})},
        lambda k: Scale(k),
        lambda k: frozenset({Scale(k)}),
        lambda k: frozenset({Scale((k,))}),
        lambda k: Attributes(k),
        lambda k: (Attributes((k, 1)),),
        lambda k: [np.float32(k), frozenset({np.float32(k)})],
    ],
)
@for_each(("one", "other"), [(2, 2.0), (1, True), (0.0, -0.0), (0.0, 0)])
def test_parts_that_are_equal_but_not_the_same(hold, one, other):
    seen = []

    def call(x, held):
        seen.append(repr(held))
        return x + 1

    function = xp.compile(call)
    kinds = [repr(hold(one)), repr(hold(other))]
    for _ in range(2):
        for k in (one, other):
            function(xp.ones(2), hold(k))
    if kinds[0] == kinds[1] and "Attributes" not in kinds[0]:
        assert seen == [kinds[0]]  # both are the same float32
    else:
        assert len(seen) == 2


def test_values_that_contain_themselves():
    loop = Attributes(1)
    loop.factor = (loop,)
    type(loop).__hash__ = lambda self: 1
    function = xp.compile(lambda x, held: x + 1)
    assert_same(function(xp.ones(2), loop), np.full(2, 2.0))


@pytest.mark.slow
@pytest.mark.parametrize(
    "call",
    [
        lambda x, y: x + 1,
        lambda x, y: x + y[:1],
        lambda x, y: xp.sum(y) + x,
        lambda x, y: (xp.sort(x) + y[:4], xp.cumulative_sum(y)),
        lambda x, y: [x * 2, {"key": x[::-1] * y[:4]}],
    ],
)
def test_functions_that_are_dropped_take_no_memory(call):
    """Neither programs nor the arrays that functions found outside of themselves."""
    x = xp.ones(4)

    def compile_and_drop():
        for _ in range(30):
            memory = np.ones(1000)
            y = xp.asarray(memory)
            function = xp.compile(lambda x, y=y: call(x, y))
            held = weakref.ref(function), weakref.ref(memory)
            function(x)
            del function, y, memory
            # At once, not when the garbage collector comes by.
            assert [reference() for reference in held] == [None, None]

    gc.disable()
    try:
        compile_and_drop()
    finally:
        gc.enable()

    def grown():
        before, _ = tracemalloc.get_traced_memory()
        compile_and_drop()
        return tracemalloc.get_traced_memory()[0] - before

    tracemalloc.start()
    try:
        # Tables of structures are bounded; each function that stayed would be 16,000 bytes.
        # Other objects of the process may be made meanwhile, but not each time.
        assert any(grown() < 200_000 for _ in range(3))
    finally:
        tracemalloc.stop()


def test_settings_of_errstate_within_the_function():
    def call(x):
        with np.errstate(divide="ignore"):
            quiet = 1.0 / x
        with np.errstate(all="raise"):
            checked = x * 2
        return quiet, checked, xp.log(x + 1)

    function = xp.compile(call)
    assert "with errstate(divide='ignore')" in str(function.explain(normal(3)))
    with warnings.catch_warnings(action="error"):
        for x in (xp.asarray([1.0, 0.0]), xp.asarray([0.0, 2.0, 3.0])):
            for found, expected in zip(function(x), call(x), strict=True):
                assert_same(found, expected)
        with pytest.raises(RuntimeWarning, match="divide by zero encountered in log"):
            function(xp.asarray([1.0, -1.0]))
        refused(FloatingPointError, "overflow", function, xp.asarray([1.0, 1e308]))
    assert function.cache_info().traces == 1


@xp.config_context(operands="strict")
def test_arguments_that_are_refused():
    function = xp.compile(lambda x: x)
    refused(TypeError, r"takes no NumPy array; convert it with asarray", function, np.ones(3))
    refused(TypeError, "hashable values, not a set; make it hashable", function, {1, 2})
    with pytest.raises(TypeError, match=r"a ShapeSpec has no elements; use lower"):
        function(ShapeSpec((3,), xp.float64))
    assert function.cache_info().traces == 0


@needs_docstrings
def test_methods_and_metadata():
    class Scaler:
        def __init__(self, factor):
            self.factor = factor

        @xp.compile
        def apply(self, x):
            """Scale it."""
            return x * self.factor

    x = normal(3)
    two, three = Scaler(2.0), Scaler(3.0)
    assert_same(two.apply(x), x * 2.0)
    assert_same(three.apply(x), x * 3.0)
    assert Scaler.apply.__doc__ == "Scale it."
    assert Scaler.apply.__name__ == "apply"
    assert "Scaler.apply" in repr(Scaler.apply)
    assert Scaler.apply.cache_info()[:3] == (2, 2, 2)


def test_compiled_functions_within_others():
    inner = xp.compile(standardise)
    outer = xp.compile(lambda x: inner(x) + inner(2 * x))
    x = normal(6, 2)
    assert_same(outer(x), standardise(x) + standardise(2 * x))
    assert outer.cache_info()[:3] == (1, 1, 1)
    assert inner.cache_info()[:3] == (0, 0, 0)
