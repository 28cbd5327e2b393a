"""Compiled functions: what is traced when, what they do, and what they refuse."""

from __future__ import annotations

import copy
import dataclasses
import gc
import inspect
import math
import pickle
import threading
import tracemalloc
import warnings
import weakref
from collections.abc import Iterator
from typing import Any, NamedTuple

import array_api_compat
import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

import array_api_nx as xp
from array_api_nx import Array, Device, ShapeSpec, device
from array_api_nx.backends.cpu import CPUBackend
from array_api_nx.compile import TraceError
from array_api_nx.contract.checked import ContractError
from array_api_nx.contract.program import Program
from array_api_nx.core.symbolic import UnboundError, UndecidedError, dynamic, eval_dim
from array_api_nx.tracing.backend import Switch
from tests.support.docstrings import needs_docstrings
from tests.support.interpreter import WITHIN, Interpreter, programs
from tests.support.programs import assert_same, numpy_of, settings
from tests.support.tables import for_each

rng = np.random.default_rng(5)


def normal(*shape: int) -> Array:
    return xp.asarray(rng.standard_normal(shape))


def standardise(x: Array) -> Array:
    return (x - xp.mean(x, axis=0)) / xp.std(x, axis=0)


def test_one_trace_for_many_sizes():
    function = xp.compile(standardise)
    for i, n in enumerate((2, 7, 100, 100_000, 3), start=1):
        x = xp.asarray(normal(n, 3), copy=True)
        assert_same(function(x), standardise(x))
        assert function.cache_info()[:3] == (1, 1, i)
    # Nothing asked whether there are as many rows as columns.
    assert function.explain(normal(7, 3)).guards == ()


STEPS = tuple([name for name in WITHIN if name != "evaluate"])


class Traceable(Interpreter):
    """Steps that can be traced."""

    def create(self, a: int, b: int, c: int) -> Array:
        # NumPy's memory stays outside of the function.
        return super().create(a, b, c + (c % 5 == 3))


def run(program: list[Any], *arrays: Array) -> tuple[list[Any], list[Array]]:
    """What the interpreter of fused execution's tests saw, and the arrays it was left with."""
    interpreter = Traceable((), 400)
    interpreter.live = list(arrays)
    for step in program:
        interpreter.step(step)
    return interpreter.seen, interpreter.live


def inputs(shape: tuple[int, ...], seed: int) -> list[Array]:
    """Arrays of three dtypes that lie in memory in three ways."""
    whole = np.random.default_rng(seed).integers(-8, 9, shape)
    x, y, z = [
        xp.asarray(whole, dtype=dtype, copy=True) for dtype in (xp.float64, xp.float32, xp.int64)
    ]
    match seed % 3:
        case 1:
            y = xp.asarray(y.T, copy=True).T
        case 2:
            z = xp.flip(xp.asarray(xp.flip(z), copy=True))
    return [x, y, z]


_size = st.integers(1, 3) | st.integers(1, 6)
SHAPES = st.lists(st.tuples(_size, _size), min_size=2, max_size=4)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["default", "process"])
@hypothesis_settings(max_examples=25)
@given(program=programs(STEPS), shapes=SHAPES)
def test_random_programs(program, shapes, mode):
    """Compiled and eager agree, fused or not, also in what is written to the arguments."""
    function = xp.compile(lambda *arrays: run(program, *arrays))
    with np.errstate(all="ignore"), settings(mode):
        for seed, shape in enumerate(shapes):
            mine, eager = inputs(shape, seed), inputs(shape, seed)
            seen, live = function(*mine)
            expected_seen, expected = run(program, *eager)
            assert seen == expected_seen
            for i, (x, y) in enumerate(zip([*live, *mine], [*expected, *eager], strict=True)):
                assert_same(numpy_of(x), numpy_of(y), (shape, i))


def test_what_makes_a_new_trace():
    function = xp.compile(lambda x, k=2: xp.sum(x, axis=0) * k)
    calls: list[tuple[tuple[Any, ...], int]] = [
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
    with pytest.raises(ValueError, match="matmul of shapes"):
        function(normal(2, 3), normal(4, 5))

    square = xp.compile(lambda x: x + x.shape[0])
    square(normal(3, 3))
    square(normal(4, 4))
    assert square.cache_info().traces == 1
    square(normal(4, 5))
    assert square.cache_info().traces == 2


def branches(x: Array) -> Array:
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
            names: dict[str, Any] = {"__name__": place}
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


SIZES: list[Any] = [
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
    def call(x: Array) -> Array:
        return x * 2 if 12 % (x.shape[0] - 3) == 0 else x

    function = xp.compile(call)
    for n in (5, 6, 8):
        assert_same(function(xp.ones(n)), call(xp.ones(n)))
    with pytest.raises(ZeroDivisionError):
        function(xp.ones(3))


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
    def step(model: Model, batch: dict[str, Any], *rest: Any, scale: float = 1.0) -> Any:
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
    function = xp.compile(lambda x, value: xp.copysign(xp.ones_like(x), x * 0 + value))
    x = xp.ones(3)
    for value in (0.0, -0.0, 1, 1.0, True, math.nan):
        assert_same(function(x, value), function.__wrapped__(x, value))
    assert function.cache_info().traces == 6


@dataclasses.dataclass(frozen=True)
class Scale:
    factor: Any


class Attributes:
    """Equal by a method of its own."""

    __slots__ = ("factor",)

    def __init__(self, factor: Any) -> None:
        self.factor = factor

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Attributes) and self.factor == other.factor

    def __hash__(self) -> int:
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

    def call(x: Array, held: Any) -> Array:
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

    def compile_and_drop() -> None:
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

    def grown() -> int:
        before, _ = tracemalloc.get_traced_memory()
        compile_and_drop()
        return tracemalloc.get_traced_memory()[0] - before

    tracemalloc.start()
    try:
        # What is kept by structure is bounded; each function that stayed would be 16,000 bytes.
        # Other objects of the process may be made meanwhile, but not each time.
        assert any(grown() < 200_000 for _ in range(3))
    finally:
        tracemalloc.stop()


def test_settings_of_errstate_within_the_function():
    def call(x: Array) -> Any:
        with np.errstate(divide="ignore"):
            quiet = 1.0 / x
        with np.errstate(all="raise"):
            checked = x * 2
        return quiet, checked, xp.log(x + 1)

    function = xp.compile(call)
    assert "with errstate(divide='ignore')" in str(function.explain(normal(3)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for x in (xp.asarray([1.0, 0.0]), xp.asarray([0.0, 2.0, 3.0])):
            for found, expected in zip(function(x), call(x), strict=True):
                assert_same(found, expected)
        with pytest.raises(RuntimeWarning, match="divide by zero encountered in log"):
            function(xp.asarray([1.0, -1.0]))
        with pytest.raises(FloatingPointError, match="overflow"):
            function(xp.asarray([1.0, 1e308]))
    assert function.cache_info().traces == 1


def test_nan_is_one_value():
    function = xp.compile(lambda x, values: x + values[0])
    for _ in range(3):
        function(xp.ones(2), [float("nan")])
    assert function.cache_info().traces == 1


@xp.config_context(operands="strict")
def test_arguments_that_are_refused():
    function = xp.compile(lambda x: x)
    with pytest.raises(TypeError, match=r"takes no NumPy array; convert it with asarray"):
        function(np.ones(3))
    with pytest.raises(TypeError, match="hashable values, not a set; make it hashable"):
        function({1, 2})
    with pytest.raises(TypeError, match=r"a ShapeSpec has no elements; use lower"):
        function(ShapeSpec((3,), xp.float64))
    assert function.cache_info().traces == 0


@needs_docstrings
def test_methods_and_metadata():
    class Scaler:
        def __init__(self, factor: float) -> None:
            self.factor = factor

        @xp.compile
        def apply(self, x: Array) -> Array:
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


def test_results_have_memory_of_their_own():
    one = xp.asarray([1.0, 2.0, 3.0])

    def call(x: Array) -> Any:
        return (
            x * 1,
            x * 1,
            xp.asarray(x, copy=True),
            +x,
            xp.asarray([5.0, 6.0]),
            one,
            one[1:],
            x[1:],
        )

    function = xp.compile(call)
    for _ in range(2):
        x = normal(3)
        kept = numpy_of(x)
        *fresh, literal, captured, part, view = function(x)
        for result in fresh:
            assert_same(result, kept)
            result[...] = 0.0
        assert_same(x, kept)
        assert_same(literal, np.asarray([5.0, 6.0]))
        literal[...] = 0.0
        assert captured is one
        assert np.shares_memory(np.asarray(part), np.asarray(one))
        assert np.shares_memory(np.asarray(view), np.asarray(x))


def test_arguments_are_written_as_in_eager_code():
    def call(x: Array, y: Array) -> Any:
        part = x[1:, ...]
        part += y
        x[0, ...] = part[-1, ...] * 2
        y *= 1
        x[:, 0] = -1.0
        x[x > 1.0] = 1.0
        view = x[::-1, :]
        x += 1
        return x, view, part * 1

    function = xp.compile(call)
    for transposed in (False, True):
        for n in (3, 5):
            x, y = normal(n, 4), normal(4)
            if transposed:
                x = xp.asarray(np.array(np.asarray(x), order="F"))
            mine, eager = xp.asarray(numpy_of(x)), xp.asarray(numpy_of(x))
            if transposed:
                mine = xp.asarray(np.asfortranarray(numpy_of(x)))
            same, view, part = function(mine, y)
            _, expected_view, expected_part = call(eager, y)
            assert same is mine
            assert_same(mine, eager)
            assert_same(view, expected_view)
            assert_same(part, expected_part)
            mine[...] = 7.0
            assert_same(view, np.full((n, 4), 7.0))
    assert function.cache_info()[:3] == (2, 2, 4)


def test_arguments_that_share_memory():
    def call(x: Array, y: Array) -> Array:
        x += 1
        return x + y

    function = xp.compile(call)
    x = xp.ones(3)
    assert_same(function(x, xp.ones(3)), np.full(3, 3.0))
    assert_same(function(x, x), np.full(3, 6.0))
    assert_same(x, np.full(3, 3.0))
    assert_same(function(x, x[::-1]), np.full(3, 8.0))
    assert_same(function(x, xp.asarray(np.asarray(x))), np.full(3, 10.0))
    # One array for both, and one that runs backwards, are other kinds of arguments.
    assert function.cache_info()[:3] == (3, 3, 4)


def test_arguments_that_share_memory_with_arrays_from_outside():
    outside = xp.ones(3)

    def call(x: Array) -> Array:
        x += 1
        return x + outside

    function = xp.compile(call)
    assert_same(function(xp.ones(3)), np.full(3, 3.0))
    assert_same(function(outside[:]), np.full(3, 4.0))
    assert_same(outside, np.full(3, 2.0))


def test_read_only_arguments():
    def call(x: Array) -> Array:
        x += 1
        return x

    function = xp.compile(call)
    locked = np.ones(3)
    locked.flags.writeable = False
    for _ in range(2):
        with pytest.raises(ValueError, match="cannot write to the array: its memory was handed in"):
            function(xp.asarray(locked))
        with pytest.raises(ValueError, match="several of its elements share memory"):
            function(xp.broadcast_to(xp.ones(1), (3,)))
        assert_same(function(xp.ones(3)), np.full(3, 2.0))
    assert_same(locked, np.ones(3))


def test_programs_are_for_arguments_that_may_be_written_or_for_others():
    def call(x: Array) -> Array:
        try:
            x += 1
        except ValueError:
            return xp.zeros_like(x)
        return x * 2

    locked = np.ones(3)
    locked.flags.writeable = False
    for first in (0, 1):
        function = xp.compile(call)
        for i in range(first, first + 6):
            if i % 2:
                assert_same(function(xp.asarray(locked)), np.zeros(3))
            else:
                assert_same(function(xp.ones(3)), np.full(3, 4.0))
        assert function.cache_info()[:3] == (2, 2, 6)
    assert_same(locked, np.ones(3))
    # Where nothing is written, it makes no difference.
    plain = xp.compile(lambda x: x + 1)
    for x in (xp.asarray(locked), xp.ones(3)):
        assert_same(plain(x), np.full(3, 2.0))
    assert plain.cache_info()[:3] == (1, 1, 2)


def _write_flat(x: Array) -> Array:
    flat = xp.reshape(x, (-1,))
    flat[0] = 99.0
    return flat * 1


def _flat_before_write(x: Array) -> Array:
    flat = xp.reshape(x, (-1,))
    x[...] = 0
    return flat


def _flat_or_error(x: Array) -> Array:
    try:
        return xp.reshape(x, (-1,), copy=False)
    except ValueError:
        return x * 2


def _add_to_flat(x: Array) -> Array:
    flat = xp.reshape(x, (-1,))
    try:
        flat += 1
    except ValueError:
        return xp.zeros_like(flat)
    return flat * 1


def _flat_columns(x: Array) -> Array:
    """Whether it is a view depends on the number of columns."""
    flat = xp.reshape(x[:, ::2], (-1,))
    flat[0] = 99.0
    return flat


def _transposed_flat(x: Array) -> Array:
    """It is a view only where rows and columns are as many."""
    moved = xp.reshape(x.T, x.shape)
    moved[0, ...] = 7.0
    return moved


LAYOUTS: dict[str, Any] = {
    "row-major": lambda x: x.copy(),
    "gaps": lambda x: x[:, :3],
    "gaps between rows": lambda x: x[::2],
    "gaps between columns": lambda x: x[:, ::2],
    "flipped": lambda x: x[::-1],
    "flipped columns": lambda x: x[:, ::-1],
    "all flipped": lambda x: x[::-1, ::-1],
    "transposed": lambda x: x.T,
    "transposed gaps": lambda x: x[:, :3].T,
    "one column": lambda x: x[:, :1],
    "repeated rows": lambda x: np.broadcast_to(x[:1], (4, 6)),
    "repeated columns": lambda x: np.broadcast_to(x[:, :1], (4, 6)),
}


@for_each("layout", LAYOUTS)
@pytest.mark.parametrize(
    "call",
    [
        _write_flat,
        _flat_before_write,
        _flat_or_error,
        _add_to_flat,
        _flat_columns,
        _transposed_flat,
        lambda x: x[::-1, ...],
        lambda x: xp.reshape(x, (-1,)),
        lambda x: (xp.reshape(x, (-1,)), xp.permute_dims(x, (1, 0))),
    ],
)
def test_views_and_copies_are_those_of_the_layout(call, layout):
    function = xp.compile(call)
    for shape in [(4, 6), (4, 7), (4, 4), (5, 6)]:
        kept = np.arange(float(np.prod(shape))).reshape(shape)
        seen = []
        for each in (call, function):
            memory = kept.copy()
            try:
                found = each(xp.asarray(LAYOUTS[layout](memory)))
            except ValueError as error:
                seen.append((str(error), memory))
                continue
            results = found if isinstance(found, tuple) else (found,)
            for result in results:
                elements = numpy_of(result)
                shares = np.shares_memory(np.asarray(result), memory)
                if np.asarray(result).flags.writeable:
                    result[...] = -1.0
                seen.append((elements, shares, memory.copy()))
        middle = len(seen) // 2
        for expected, actual in zip(seen[:middle], seen[middle:], strict=True):
            for x, y in zip(actual, expected, strict=True):
                assert_same(x, y, (layout, shape)) if isinstance(y, np.ndarray) else None
                assert isinstance(y, np.ndarray) or x == y


def test_layouts_that_make_no_difference_are_compiled():
    """Reshapes that decide nothing that anybody could see."""
    x = np.arange(24.0).reshape(4, 6)
    for call in (
        lambda x: xp.sum(xp.reshape(x, (-1,)) * 2),
        lambda x: xp.argmax(x),
        lambda x: xp.expand_dims(x, axis=0) + 1,
    ):
        function = xp.compile(call)
        for view in LAYOUTS.values():
            assert_same(function(xp.asarray(view(x))), call(xp.asarray(view(x))))
        info = function.cache_info()
        assert info.programs == info.traces


def test_functions_without_a_program():
    function = xp.compile(_write_flat)
    gaps = xp.asarray(np.ones((4, 6))[:, :3])
    function(gaps)
    assert function.cache_info()[:3] == (1, 0, 1)
    with pytest.raises(
        TraceError, match=r"run the function itself.*row-major, as asarray\(x, copy"
    ):
        function.explain(gaps)
    # At these sizes it is a copy, at others it may be a view: then the program does not fit.
    halves = xp.compile(_flat_columns)
    program = halves.lower(ShapeSpec(("n", "m"), xp.float64))
    assert {guard.relation for guard in program.guards} == {"!="}
    for columns, traces in [(5, 1), (7, 1), (6, 2), (8, 2)]:
        x = xp.ones((3, columns))
        halves(x)
        assert (float(x[0, 0]) == 99.0) == (columns % 2 == 0)
        assert halves.cache_info().traces == traces


def test_arguments_that_get_their_own_value():
    def call(x: Array) -> Any:
        x[...] = x
        return x[::-1], x, xp.asarray(x, copy=True)

    function = xp.compile(call)
    for _ in range(2):
        x = xp.asarray(np.arange(3.0))
        view, same, copied = function(x)
        view[0] = 7.0
        copied[1] = 9.0
        assert same is x
        assert_same(x, np.asarray([0.0, 1.0, 7.0]))


def test_views_of_broadcast_views_are_read_only():
    outside = xp.asarray([5.0, 6.0])

    def parts(x: Array) -> list[Array]:
        rows = xp.broadcast_to(x, (3, *x.shape))
        computed = xp.broadcast_to(x + 1, (3, *x.shape))
        same = xp.broadcast_to(outside, (3, 2))
        return [
            rows,
            rows[0],
            rows[1:2, 1:],
            xp.flip(rows[1]),
            xp.reshape(rows[:1], x.shape),
            xp.permute_dims(rows, (1, 0))[:, 2],
            computed[0],
            same[0],
        ]

    function = xp.compile(parts)
    for n in (4, 7, 1000):
        x = xp.arange(float(n))
        for found, expected in zip(function(x), parts(x), strict=True):
            assert_same(found, expected)
            for write in (lambda y: y.__setitem__(..., 9.0), lambda y: y.__iadd__(1.0)):
                with pytest.raises(ValueError, match=r"repeated elements|share memory"):
                    write(found)
            assert not np.asarray(found).flags.writeable
        assert_same(x, np.arange(float(n)))
    assert function.cache_info().traces == 1
    assert np.asarray(outside).tolist() == [5.0, 6.0]


@pytest.mark.parametrize("write", [lambda y: y.__setitem__(..., 9.0), lambda y: y.__iadd__(1.0)])
def test_traced_functions_cannot_write_to_views_of_broadcast_views(write):
    def call(x: Array) -> Array:
        write(xp.broadcast_to(x, (3, *x.shape))[0])
        return x

    x = xp.ones(4)
    with pytest.raises(ValueError, match="view of an array with repeated elements"):
        xp.compile(call)(x)
    assert_same(x, np.ones(4))


def test_read_only_views_as_arguments():
    """The layout alone does not show it; what the program returns of them is read-only, too."""
    function = xp.compile(lambda x: (x, x[1:], xp.reshape(x, (-1, 1)), x + 1))
    x = xp.arange(4.0)
    for read_only in (xp.broadcast_to(x, (3, 4))[0], xp.broadcast_to(x, (3, 4))[1]):
        *views, computed = function(read_only)
        for y in views:
            with pytest.raises(ValueError, match="view of an array with repeated elements"):
                y[...] = 9.0
        computed[...] = 9.0
    for y in function(x):
        y[...] = 9.0
    assert_same(x, np.full(4, 9.0))


def test_arrays_from_outside_are_read_at_each_call():
    weights = xp.asarray([1.0, 2.0, 3.0])
    function = xp.compile(lambda x: x * weights + weights[0])
    x = normal(4, 3)
    for _ in range(2):
        assert_same(function(x), x * weights + weights[0])
        weights *= 2
    assert function.cache_info().traces == 1


def test_layouts():
    call = xp.compile(lambda x: (xp.sum(x + 1, axis=0), x * 2, xp.mean(x.T * x.T, axis=0)))
    x = rng.standard_normal((40, 30, 20))
    layouts = [x, x.transpose(2, 0, 1), x.transpose(1, 0, 2), x[::2], x[:, ::-1], x[..., :1]]
    for array in layouts:
        mine = xp.asarray(array[..., 0] if array.ndim == 3 else array)
        for found, expected in zip(call(mine), call.__wrapped__(mine), strict=True):
            np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-13)


OUTSIDE = xp.asarray([1.0, 2.0, 3.0])


def _write_outside(x: Array) -> None:
    OUTSIDE[0] = x[0, 0]


def _add_outside(x: Array) -> None:
    y = OUTSIDE
    y += x[0, :]


REFUSED: list[tuple[Any, str]] = [
    (lambda x: 1 if xp.any(x > 0) else 2, r"bool\(\) needs the value of an element.*where\(cond"),
    (lambda x: [row for row in [1] if x[0, 0]], r"bool\(\) needs the value"),
    (lambda x: 0 < x[0, 0] < 1, r"bool\(\) needs the value"),
    (lambda x: float(xp.sum(x)), r"float\(\) needs the value of an element.*Python value"),
    (lambda x: int(x[0, 0]), r"int\(\) needs the value of an element.*Python value"),
    (lambda x: complex(x[0, 0]), r"complex\(\) needs the value of an element.*Python value"),
    (lambda x: [1, 2][xp.argmax(x)], r"index\(\) needs the value.*index array"),
    (lambda x: 3.0 in x, r"in needs the value of an element.*any\(x == value\)"),
    (lambda x: f"{x[0, 0]:.3f}", r"a format hands out the elements"),
    (lambda x: xp.nonzero(x), r"nonzero\(\) gives a size that depends on the elements.*mask"),
    (lambda x: xp.where(x > 0), r"where\(\) gives a size that depends on the elements"),
    (lambda x: x[x > 0], r"an index gives a size that depends .*where\(mask, x, 0\)"),
    (lambda x: xp.unique_values(x), r"unique_values\(\) gives a size that depends on the elem"),
    (lambda x: xp.unique_all(x), r"unique_all\(\) gives a size that depends on the elements"),
    (lambda x: xp.unique_counts(x), r"unique_counts\(\) gives a size that depends on the elem"),
    (lambda x: xp.unique_inverse(x), r"unique_inverse\(\) gives a size that depends on the el"),
    (
        lambda x: xp.repeat(x, xp.astype(x[:, 0], xp.int64), axis=0),
        r"repeat\(\) gives a size that depends on the elements.*as a Python int",
    ),
    (lambda x: np.asarray(x), r"conversion to NumPy hands out the elements.*outside of the func"),
    (lambda x: np.add.accumulate(x), r"a method of a ufunc hands out the elements"),
    (lambda x: np.from_dlpack(x), r"from_dlpack hands out the elements"),
    (lambda x: pickle.dumps(x), r"pickle hands out the elements"),
    (_write_outside, r"must not write to an array that it found outside.*copy=True"),
    (_add_outside, r"must not write to an array that it found outside.*as an argument"),
]


@for_each(("call", "message"), REFUSED)
def test_refused(call, message):
    function = xp.compile(call)
    with pytest.raises(TraceError, match=message) as caught:
        function(normal(4, 3))
    line = call.__code__.co_firstlineno
    place = str(caught.value).partition(": ")[0]
    name, _, number = place.rpartition(":")
    assert name == __file__
    assert line <= int(number) <= line + 2
    assert function.cache_info().traces == 0
    # Everything is as it was.
    assert float(xp.sum(xp.ones(3))) == 3.0
    assert_same(OUTSIDE, np.asarray([1.0, 2.0, 3.0]))


def test_arrays_that_left_a_trace():
    kept: list[Array] = []
    function = xp.compile(lambda x: kept.append(x + 1))
    function(normal(3))
    for use in (lambda x: x + 1, lambda x: xp.sum(x), np.asarray, lambda x: x.shape):
        # A checked backend sees first that the handle is none of its own.
        with pytest.raises(
            (TraceError, ContractError), match=r"made while a function was traced.*return it|handle"
        ):
            use(kept[0])


def test_printing_shows_no_elements(capsys):
    function = xp.compile(lambda x: print(x, repr(x), f"{x}"))
    function(normal(4, 3))
    lines = capsys.readouterr().out
    assert lines.count("dtype=float64, being traced)") == 3


def test_elements_that_do_not_depend_on_arguments():
    def call(x: Array) -> Array:
        if xp.asarray(True):
            x = x * float(xp.asarray(3.0)) * int(xp.full((), 2))
        return x + xp.asarray([1.0, 2.0, 3.0]) * np.float64(0.5)

    x = normal(5, 3)
    assert_same(xp.compile(call)(x), call(x))


def test_copies_of_arrays():
    def call(x: Array) -> Any:
        y, z = copy.copy(x), copy.deepcopy(x)
        y += 1
        return y, z

    x = normal(3)
    kept = numpy_of(x)
    y, z = xp.compile(call)(x)
    assert_same(y, kept + 1)
    assert_same(z, kept)
    assert_same(x, kept)


def test_other_threads_compute_meanwhile():
    inside, done = threading.Event(), threading.Event()
    results: list[Any] = []

    def call(x: Array) -> Array:
        inside.set()
        assert done.wait(60)
        return x + 1

    def other() -> None:
        assert inside.wait(60)
        results.append(float(xp.sum(xp.ones(3) * 2)))
        done.set()

    thread = threading.Thread(target=other)
    thread.start()
    x = normal(3)
    assert_same(xp.compile(call)(x), numpy_of(x) + 1)
    thread.join()
    assert results == [6.0]


def test_threads_trace_at_the_same_time():
    barrier = threading.Barrier(2, timeout=60)
    results: dict[int, Any] = {}

    def call(x: Array, k: int) -> Array:
        barrier.wait()
        x = xp.sin(x) * k
        barrier.wait()
        return xp.sum(x, axis=0)

    x = normal(4, 3)
    function = xp.compile(call)
    threads = [
        threading.Thread(target=lambda k=k: results.update({k: function(x, k)})) for k in (2, 3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k in (2, 3):
        assert_same(results[k], xp.sum(xp.sin(x) * k, axis=0))
    assert type(x.device.backend) is not Switch


@pytest.fixture
def fake() -> Iterator[Device]:
    other = device.register("fake:0", CPUBackend)
    try:
        yield other
    finally:
        del device._devices["fake:0"]


def test_other_devices(fake):
    x, y = xp.ones(3, device="cpu"), xp.ones(3, device=fake)
    function = xp.compile(lambda x, y: (y + xp.ones_like(y), y[1:]))
    for _ in range(2):
        for result in function(x, y):
            assert result.device == fake
    assert function(x, y)[0].device == fake
    assert function.cache_info().traces == 1
    function(x, x)
    assert function.cache_info().traces == 2
    assert xp.eval_shape(lambda y: y * 2, ShapeSpec((3,), xp.float64, fake)).device == fake

    def write(x: Array, y: Array) -> None:
        y += 1

    xp.compile(write)(x, y)
    assert_same(y.to_device("cpu"), np.full(3, 2.0))
    for call in (lambda x, y: (x + 1, y + 1), lambda x, y: (x[1:], y[1:])):
        with pytest.raises(TraceError, match=r"must not compute on two devices; compile a func"):
            xp.compile(call)(x, y)
    with pytest.raises(TraceError, match=r"to_device\(\) hands out the elements"):
        xp.compile(lambda x: x.to_device(fake))(x)
    with pytest.raises(ValueError, match="different devices"):
        xp.compile(lambda x, y: x + y)(x, y)


def test_errors_are_those_of_eager_code():
    for call in (lambda x: xp.reshape(x, (7, 7)), lambda x: x + xp.ones(5), lambda x: x[9, 9]):
        with pytest.raises((ValueError, IndexError)) as eager:
            call(normal(4, 3))
        with pytest.raises(type(eager.value)):
            xp.compile(call)(normal(4, 3))


def test_lower():
    function = xp.compile(standardise)
    program = function.lower(ShapeSpec(("rows", 3), xp.float32))
    assert isinstance(program, Program)
    assert function.lower(ShapeSpec(("rows", 3), xp.float32)) is program
    x = xp.astype(normal(6, 3), xp.float32)
    assert function.explain(x).program is program
    assert_same(function(x), standardise(x))
    traces = function.cache_info().traces
    assert function(xp.astype(normal(6, 4), xp.float32)).shape == (6, 4)
    assert function.cache_info().traces == traces + 1
    assert "rows" in str(program)


def test_lower_with_expressions():
    n = dynamic("n", min=3, max=10)
    function = xp.compile(lambda x, y: x + y[::2][: x.shape[0]])
    program = function.lower(ShapeSpec((n,), xp.float64), ShapeSpec((2 * n + 1,), xp.float64))
    x, y = normal(4), normal(9)
    assert function.explain(x, y).program is program
    assert_same(function(x, y), function.__wrapped__(x, y))
    assert function.explain(normal(4), normal(8)).program is not program
    assert function.explain(normal(11), normal(23)).program is not program
    with pytest.raises(ValueError, match=r"no argument has the size n itself"):
        xp.compile(xp.sum).lower(ShapeSpec((2 * n,), xp.float64))


def test_what_specs_leave_open():
    x, y = ShapeSpec(("n",), xp.float64), ShapeSpec(("m",), xp.float64)
    with pytest.raises(UndecidedError, match=r"test_compile.py:\d+: whether .* == .* not known"):
        xp.eval_shape(lambda x, y: x + y, x, y)
    with pytest.raises(UnboundError, match=r"test_compile.py:\d+: the number that n stands"):
        xp.compile(lambda x: x * len(x)).lower(x)
    with pytest.raises(TraceError, match="nonzero"):
        xp.compile(xp.nonzero).lower(x)
    same = xp.eval_shape(lambda x, y: x + y, x, x)
    assert repr(same) == "ShapeSpec((n,), float64)"


def test_specs():
    spec = ShapeSpec(("n", 3, "n"), float)
    assert repr(spec) == "ShapeSpec((n, 3, n), float64)"
    assert spec == ShapeSpec(["n", 3, "n"], xp.float64, "cpu")
    assert hash(spec) == hash(ShapeSpec(("n", 3, "n"), xp.float64))
    assert spec != ShapeSpec(("n", 3, "m"), xp.float64)
    assert pickle.loads(pickle.dumps(spec)) == spec
    assert spec.at(n=4).shape == (4, 3, 4)
    result = xp.eval_shape(lambda x: xp.concat([x, x[1:, ...]]), spec)
    assert repr(result) == "ShapeSpec((2*n - 1, 3, n), float64)"
    assert result.at(n=5) == ShapeSpec((9, 3, 5), xp.float64)
    for shape, error in ((("2n",), ValueError), ((-1,), ValueError), ((1.5,), TypeError)):
        with pytest.raises(error):
            ShapeSpec(shape, xp.float64)
    with pytest.raises(AttributeError, match="immutable"):
        spec.shape = (3,)


def test_pickled_programs():
    program = xp.compile(standardise).lower(ShapeSpec(("n", 3), xp.float32))
    assert program.match(((5, 3),)) == (5,)
    again = pickle.loads(pickle.dumps(program))
    assert str(again) == str(program)
    x = xp.astype(normal(5, 3), xp.float32)
    run = x.device.backend.prepare(again, again.match((x.shape,)))
    (handle,) = run(x._handle)
    assert_same(x.device.backend.to_host(handle), standardise(x))
    outside = xp.ones(3)
    with pytest.raises(TypeError, match=r"reads 1 arrays from outside.*make them arguments"):
        pickle.dumps(xp.compile(lambda x: x + outside).explain(normal(3)))


def test_peak_bytes():
    function = xp.compile(lambda x: xp.sum((x + 1) * (x - 1), axis=0))
    program = function.lower(ShapeSpec(("n", 4), xp.float64))
    # The two operands and the product; then the product and the sums.
    n = program.variables[0]
    assert eval_dim(program.peak_bytes, {n: 10}) == 3 * 10 * 4 * 8
    assert xp.compile(lambda x: x[1:]).lower(ShapeSpec((4,), xp.int8)).peak_bytes == 0


@pytest.mark.parametrize("device", ["test:1", "test:lazy"])
def test_a_function_that_only_writes_runs_on_the_device_of_its_argument(device):
    @xp.compile
    def function(x: Array) -> Array:
        x[0] = 5.0
        return x

    for _ in range(2):
        x = xp.zeros((2, 3), device=device).T
        assert function(x) is x
        assert x.tolist() == [[5.0, 5.0], [0.0, 0.0], [0.0, 0.0]]


def test_a_loop_of_more_than_a_thousand_steps_is_warned_of_at_its_line():
    def add(x: Array, times: int) -> Array:
        for i in range(times):
            x = x + i
        return x

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        xp.compile(add)(xp.ones(3), 1000)
        xp.eval_shape(lambda x: add(x, 1001), ShapeSpec((3,), xp.float64))
    with pytest.warns(
        RuntimeWarning, match="more than 1,000 steps.*compile the function"
    ) as caught:
        assert xp.compile(add)(xp.ones(3), 3000).tolist() == [4498501.0] * 3
    assert len(caught) == 1
    lines, first = inspect.getsourcelines(add)
    assert "x = x + i" in lines[caught[0].lineno - first]
    # What the warning advises.
    step = xp.compile(lambda x, i: x + i)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = xp.ones(3)
        for i in range(3000):
            x = step(x, xp.asarray(float(i)))
    assert x.tolist() == [4498501.0] * 3
    assert step.cache_info().traces == 1


@for_each(
    ("rows", "inner", "columns"), [(3000, 20, 64), (5000, 64, 256), (4099, 3, 129), (70_000, 7, 2)]
)
def test_products_in_wide_tiles_have_all_their_elements(rows, inner, columns):
    """A reduction down the columns has tiles of many rows, which BLAS multiplies part by part."""
    rng = np.random.default_rng(1)
    a = rng.integers(-9, 9, (rows, inner)).astype("f8")
    b = rng.integers(-9, 9, (inner, columns)).astype("f8")
    expected = (7 - 2 * (a @ b)).min(axis=0)
    function = xp.compile(lambda x, y: xp.min(7 - 2 * (x @ y), axis=0))
    transposed = xp.compile(lambda x, y: xp.min(7 - 2 * (x @ y).T, axis=1))
    for left in (a, np.asfortranarray(a)):
        for right in (b, np.asfortranarray(b)):
            x, y = xp.asarray(left), xp.asarray(right)
            assert np.array_equal(np.asarray(function(x, y)), expected)
            assert np.array_equal(np.asarray(transposed(x, y)), expected)
