"""The short way of operations element by element: what takes it, and that it changes nothing."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx import device
from array_api_nx.backends.cpu import CPUBackend
from array_api_nx.config import hints
from array_api_nx.contract import fast_path
from array_api_nx.contract import primitives as p
from array_api_nx.contract.checked import CheckedBackend
from array_api_nx.contract.fast_path import Route, scalars_of, shorten
from array_api_nx.contract.primitives import Primitive, of_family
from array_api_nx.contract.strided import Tensor
from array_api_nx.core import dtypes as d
from array_api_nx.device import Device, register
from array_api_nx.frontend import dispatch
from array_api_nx.frontend.array import Array

CPU = Device("cpu")
SMALL, LARGE = 40, 40_000

pytestmark = [
    pytest.mark.skipif(fast_path._extension is None, reason="the extension is not built"),
    pytest.mark.skipif(
        CPU.backend.route(p.ADD, d.float64) is None or hints.defer_small or hints.threshold < LARGE,
        reason="everything goes the long way",
    ),
]

LONG: dict[int, Any] = {
    1: getattr(dispatch.unary, "function", None),
    2: getattr(dispatch.binary, "function", None),
}


class Spied:
    """The front end's function for so many operands, with account of what goes the long way."""

    def __init__(self, operands: int) -> None:
        self.long = 0

        def function(*args: Any, **keywords: Any) -> Any:
            self.long += 1
            return LONG[operands](*args, **keywords)

        self.call: Callable[..., Any] = shorten(operands, operands - 1, Array, Device)(function)


@pytest.fixture
def unary() -> Spied:
    return Spied(1)


@pytest.fixture
def binary() -> Spied:
    return Spied(2)


def values(dtype: d.DType, size: int) -> np.ndarray[Any, Any]:
    numbers = np.random.default_rng(size).standard_normal(size) * 3
    return (numbers + 1j if dtype in d.COMPLEX else numbers).astype(dtype.name)


def array(dtype: d.DType, size: int = SMALL) -> Array:
    return xp.asarray(values(dtype, size), copy=True)


def same(x: Array, y: Array) -> None:
    assert type(x) is Array
    assert x.dtype is y.dtype
    assert x.device is y.device
    assert x.shape == y.shape
    assert np.asarray(x).tobytes() == np.asarray(y).tobytes()


# ---------------------------------------------------------------------- what takes it


@pytest.mark.parametrize("size", [SMALL, LARGE])
@pytest.mark.parametrize("op", of_family("unary", "binary"), ids=lambda op: op.name)
def test_the_short_way_gives_what_the_long_way_gives(op: Primitive, size: int) -> None:
    operands = 1 if op.family == "unary" else 2
    for dtype in op.results:
        if dtype in d.INTEGRAL and op in (p.POW, p.TRUNC_DIVIDE):
            continue
        spied = Spied(operands)
        second = xp.asarray(values(dtype, size)[::-1], copy=True)
        arguments = [array(dtype, size), second][:operands]
        with np.errstate(all="ignore"):
            same(spied.call(op, *arguments), LONG[operands](op, *arguments))
        assert spied.long == (CPU.backend.route(op, dtype) is None)


@pytest.mark.parametrize("size", [SMALL, LARGE])
@pytest.mark.parametrize("dtype", d.ALL, ids=str)
def test_scalars_that_leave_the_dtype_as_it_is(dtype: d.DType, size: int, binary: Spied) -> None:
    op = p.NOT_EQUAL if dtype is d.bool else p.ADD
    x = array(dtype, size)
    for scalar in (True, 3, -3, 2.5, 1j):
        fits = dtype.with_scalar[type(scalar)] is dtype and not (
            type(scalar) is int and not dtype.min <= scalar <= dtype.max
        )
        if not fits:
            continue
        same(binary.call(op, x, scalar), LONG[2](op, x, scalar))
        same(binary.call(op, scalar, x), LONG[2](op, scalar, x))
    assert binary.long == 0


@pytest.mark.parametrize(
    "dtype", [d.int8, d.uint8, d.int32, d.uint32, d.int64, d.uint64, d.float64], ids=str
)
def test_ints_at_the_bounds(dtype: d.DType, binary: Spied) -> None:
    x = array(dtype)
    _, low, high = scalars_of(dtype)
    for number in (low, high):
        same(binary.call(p.EQUAL, x, number), LONG[2](p.EQUAL, x, number))
    assert binary.long == 0
    for number in (low - 1, high + 1):
        same(binary.call(p.EQUAL, x, number), LONG[2](p.EQUAL, x, number))
    assert binary.long == 2
    if dtype in d.INTEGRAL and dtype is not d.uint64:
        with pytest.raises(OverflowError, match="out of range"):
            binary.call(p.ADD, x, high + 1)


def test_broadcasting_and_strides(binary: Spied) -> None:
    x = xp.reshape(array(d.float64, LARGE), (200, 200))
    for key in (np.s_[:1, :], np.s_[:, :1], np.s_[0, :], np.s_[0, 0], np.s_[::-1, ::-1]):
        same(binary.call(p.MULTIPLY, x, x[key]), LONG[2](p.MULTIPLY, x, x[key]))
        same(binary.call(p.MULTIPLY, x[key], x), LONG[2](p.MULTIPLY, x[key], x))
    same(binary.call(p.MULTIPLY, x.T, x.T), LONG[2](p.MULTIPLY, x.T, x.T))
    assert binary.call(p.ADD, x[:3, :4], x[0, 0]).shape == (3, 4)
    assert binary.long == 0
    # What is neither row-major nor column-major is NumPy's.
    same(binary.call(p.MULTIPLY, x, x.T), LONG[2](p.MULTIPLY, x, x.T))
    # Pending values are not computed just to look at them.
    pending = xp.reshape(array(d.float64, 400_000) + 1.0, (400, 1000))
    columns = pending[:, :1]
    product = binary.call(p.MULTIPLY, columns, array(d.float64, 1000))
    assert pending._handle.storage.memory is None
    assert product._handle.storage.memory is None


def test_results_without_axes_are_arrays_that_can_be_written(unary: Spied, binary: Spied) -> None:
    x = xp.asarray(3.0)
    for result in (unary.call(p.NEGATIVE, x), binary.call(p.ADD, x, 1)):
        assert result.shape == ()
        assert type(result._handle.array) is np.ndarray
        result[...] = 7.0
        assert float(result) == 7.0
    assert unary.long == binary.long == 0


# ---------------------------------------------------------------------- what does not


def test_what_goes_the_long_way(binary: Spied) -> None:
    x, flags = array(d.float64), array(d.bool)
    for arguments in (
        (x, array(d.float32)),
        (x, array(d.int64)),
        (x, np.float64(2)),
        (x, np.bool_(True)),
        (np.int64(2), x),
        (x, 1j),
        (flags, 2),
        (x, xp.full(400_000, 2.0)[:1]),
    ):
        before = binary.long
        same(binary.call(p.EQUAL, *arguments), LONG[2](p.EQUAL, *arguments))
        assert binary.long == before + 1

    class Mine(float):
        pass

    for arguments, error in (
        ((x, "a"), TypeError),
        ((x, None), TypeError),
        ((x, [1.0]), TypeError),
        ((x, np.ones(SMALL)), TypeError),
        ((1.0, 2.0), TypeError),
        ((x, array(d.float64, SMALL + 1)), ValueError),
        ((array(d.float64, LARGE), array(d.float64, LARGE + 1)), ValueError),
    ):
        before = binary.long
        with pytest.raises(error):
            binary.call(p.ADD, *arguments)
        assert binary.long == before + 1
    assert float(binary.call(p.ADD, x, Mine(1))[0]) == float(x[0]) + 1


def test_operators_leave_strangers_to_python(binary: Spied) -> None:
    assert binary.call(p.ADD, array(d.float64), object(), NotImplemented) is NotImplemented
    assert binary.long == 1


def test_arguments_by_name_and_too_few_of_them(binary: Spied) -> None:
    x = array(d.float64)
    same(binary.call(p.ADD, x, x2=x), x + x)
    same(binary.call(op=p.ADD, x1=x, x2=x, foreign=None), x + x)
    assert binary.long == 2
    with pytest.raises(TypeError, match="missing"):
        binary.call(p.ADD, x)
    with pytest.raises(TypeError, match="missing"):
        binary.call()
    with pytest.raises(TypeError, match="positional"):
        binary.call(p.ADD, x, x, None, None)
    with pytest.raises(TypeError, match="positional"):
        Spied(1).call(p.NEGATIVE, x, None)
    before = binary.long
    same(binary.call(p.ADD, x, x, NotImplemented), x + x)
    assert binary.long == before


def test_arrays_of_other_devices_and_backends(
    binary: Spied, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = array(d.float64)
    traced: list[bool] = []

    @xp.compile
    def function(a: Array) -> Array:
        traced.append(True)
        return a + a

    same(function(x), x + x)
    assert traced

    checked = CheckedBackend(CPU.backend)
    calls = []
    monkeypatch.setattr(
        CheckedBackend, "binary", lambda self, *args: calls.append(args) or self.inner.binary(*args)
    )
    monkeypatch.setattr(CPU, "backend", checked)
    for _ in range(2):
        binary.call(p.ADD, x, x)
    assert len(calls) == 2
    monkeypatch.undo()
    before = binary.long
    binary.call(p.ADD, x, x)
    assert binary.long == before


def test_backends_that_do_otherwise_are_asked() -> None:
    calls = []

    class Counting(CPUBackend):
        __hash__ = None

        def __eq__(self, other: object) -> bool:
            return True

        def binary(self, *args: Any) -> Tensor:
            calls.append(args)
            return super().binary(*args)

    counting = register("counting", Counting)
    try:
        x = xp.asarray(values(d.float64, SMALL), device=counting, copy=True)
        assert counting.backend.route(p.ADD, d.float64) is None
        for _ in range(2):
            assert bool(xp.all(x + x == 2 * x))
        assert len(calls) == 6
    finally:
        del device._devices["counting"]


def test_what_is_no_device_is_not_looked_into(binary: Spied) -> None:
    x = array(d.float64)
    for wrong in (None, 3, "cpu", object()):
        x._device = wrong
        with pytest.raises(AttributeError):
            binary.call(p.ADD, x, 1.0)


@pytest.mark.parametrize("dtype", [d.int64, d.uint8], ids=str)
@pytest.mark.parametrize("size", [SMALL, LARGE])
def test_layouts_are_those_of_the_long_way(dtype: d.DType, size: int) -> None:
    turned = np.asfortranarray(values(dtype, size).reshape(-1, 10))
    x = xp.asarray(turned, copy=False)
    for op in of_family("unary"):
        if dtype in op.results:
            short, long = Spied(1).call(op, x), LONG[1](op, x)
            assert np.asarray(short).strides == np.asarray(long).strides


def test_deferral_is_asked_for(binary: Spied) -> None:
    x = array(d.float64, LARGE)
    with xp.config_context(fusion_threshold=100):
        y = binary.call(p.ADD, x, 1.0)
        assert y._handle.storage.memory is None
        assert binary.long == 1
    same(binary.call(p.ADD, x, 1.0), y)


def test_arrays_without_contents(binary: Spied) -> None:
    empty = Array()
    with pytest.raises(AttributeError):
        binary.call(p.ADD, empty, array(d.float64))
    with pytest.raises(AttributeError):
        binary.call(p.ADD, array(d.float64), empty)


# ---------------------------------------------------------------------- errors and warnings


@pytest.mark.parametrize("size", [SMALL, LARGE])
def test_floating_point_errors(size: int, unary: Spied, binary: Spied) -> None:
    x = xp.zeros(size) + 0.0
    x[1] = 1.0
    for call, kind in (
        (lambda: unary.call(p.LOG, x), "divide by zero encountered in log"),
        (lambda: binary.call(p.DIVIDE, x, x), "invalid value encountered in (true_)?divide"),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            with pytest.warns(RuntimeWarning, match=kind) as caught:
                call()
            assert len(caught) == 1
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("error")
            call()
        with np.errstate(all="raise"), pytest.raises(FloatingPointError, match=kind):
            call()


def test_an_error_of_a_callback_is_raised_by_the_first_call(binary: Spied) -> None:
    calls = []

    def fail(kind: str, flags: int) -> None:
        calls.append(kind)
        raise ValueError(kind)

    x = array(d.float64)
    with np.errstate(all="call", call=fail), pytest.raises(ValueError, match="divide by zero"):
        binary.call(p.DIVIDE, x, 0.0)
    assert calls == ["divide by zero"]


def test_one_thread_or_several(binary: Spied) -> None:
    x = array(d.float64, 200_000)
    several = binary.call(p.ADD, x, x)
    with xp.config_context(num_threads=1):
        same(binary.call(p.ADD, x, x), several)
    assert binary.long == 0


def test_nothing_is_kept(binary: Spied) -> None:
    x, y = array(d.float64), array(d.float64, LARGE)
    kept = (x._handle, y._handle, x._handle.array, x.dtype, CPU, CPU.backend, d.bool, 1.5, 12345)
    binary.call(p.ADD, x, x)
    gc.collect()
    before = [sys.getrefcount(each) for each in kept]
    for _ in range(100):
        binary.call(p.ADD, x, 1.5)
        binary.call(p.ADD, x, 12345)
        binary.call(p.LESS, y, y)
        binary.call(p.ADD, x, np.float64(1))
        with pytest.raises(ValueError, match="broadcast"):
            binary.call(p.ADD, x, y)
    gc.collect()
    after = [sys.getrefcount(each) for each in kept]
    assert all([abs(new - old) < 50 for new, old in zip(after, before, strict=True)])


THRESHOLDS = """
import sys
import array_api_nx as xp
from array_api_nx.backends.cpu.policy import AT_ONCE_MAX
threshold = int(sys.argv[1])
assert AT_ONCE_MAX == min(threshold, 2**14)
for size in (10, 100, 200, 500):
    column, row = xp.ones((size, 1)), xp.ones((1, size))
    for _ in range(2):
        assert bool(xp.explain(column + row).pending) is (size**2 > threshold), size
        assert bool(xp.explain(-(column @ row)).pending) is (size**2 > threshold), size
x = xp.ones(20_000)
assert float((x + x)[0]) == 2.0
"""


@pytest.mark.parametrize("threshold", [1000, 30_000, 10**30])
def test_the_threshold_of_the_process(threshold: int) -> None:
    environment = {**os.environ, "ARRAY_API_NX_FUSION_THRESHOLD": str(threshold)}
    code = [sys.executable, "-c", THRESHOLDS, str(threshold)]
    subprocess.run(code, env=environment, check=True)


# ---------------------------------------------------------------------- routes


class Recorded:
    """A route of `ADD`, in which everything is recorded, and what `attempt` gives is set."""

    def __init__(self, answer: Any = None) -> None:
        self.answer = answer
        self.calls: list[tuple[Any, ...]] = []
        self.asked = 0
        self.route: Any = CPU.backend.route(p.ADD, d.float64)._replace(
            parallel_min=10, attempt=self.attempt, operation="operation", serial_limit=1000,
            threads=self.threads, reported=self.reported,
        )  # fmt: skip

        def function(*args: Any) -> str:
            return "the long way"

        assert fast_path._extension is not None
        self.call = fast_path._extension.Shortcut(
            function, 2, 0, Array, Device, Tensor, hints, self.find
        )

    def find(self, *args: Any) -> Any:
        self.asked += 1
        assert args == (p.ADD, d.float64, CPU.backend)
        return self.route

    def attempt(self, *args: Any) -> Any:
        self.calls.append(args)
        return self.answer

    def threads(self) -> int:
        return 7

    def reported(self, *args: Any) -> Any:
        self.calls.append(args)
        return args[0]


def test_attempt_gets_threads_and_the_limit() -> None:
    answer = np.ones(3)
    recorded = Recorded(answer)
    x, y = array(d.float64, 100), array(d.float64, 2000)
    assert recorded.call(p.ADD, x, 2.0)._handle.array is answer
    assert recorded.call(p.ADD, y, 2.0)._handle.array is answer
    # As if they broadcast to the product of their sizes: it may be more, but never less.
    recorded.call(p.ADD, x, x)
    few, many, product = recorded.calls
    assert few == ("operation", 1, hints.threshold, x._handle.array, 2.0)
    assert many == ("operation", 7, hints.threshold, y._handle.array, 2.0)
    assert product[:3] == ("operation", 7, hints.threshold)
    assert recorded.asked == 1


def test_warnings_are_reported_before_the_result() -> None:
    answer = np.ones(3)
    recorded = Recorded((answer, 4))
    x = array(d.float64, 100)
    assert recorded.call(p.ADD, x, x)._handle.array is answer
    assert recorded.calls[1] == (answer, 4)
    recorded = Recorded((None, 4))
    assert recorded.call(p.ADD, x, x) == "the long way"


def test_what_attempt_declines_goes_the_long_way() -> None:
    recorded = Recorded(None)
    x = array(d.float64, 100)
    assert recorded.call(p.ADD, x, x) == "the long way"
    recorded.route = recorded.route._replace(attempt=None)
    fresh = Recorded(None)
    fresh.route = recorded.route
    assert fresh.call(p.ADD, x, x) == "the long way"
    assert fresh.calls == []


def test_errors_on_the_way_are_raised() -> None:
    recorded = Recorded()
    x = array(d.float64, 2000)

    def fail(*args: Any) -> Any:
        raise MemoryError("no more")

    for field in ("attempt", "threads"):
        fresh = Recorded()
        fresh.route = recorded.route._replace(**{field: fail})
        with pytest.raises(MemoryError, match="no more"):
            fresh.call(p.ADD, x, x)
    fresh = Recorded()
    fresh.route = recorded.route._replace(kernel=fail)
    with pytest.raises(MemoryError, match="no more"):
        fresh.call(p.ADD, array(d.float64, 5), 1.0)
    recorded.find = fail
    fresh = Recorded()
    assert fast_path._extension is not None
    call = fast_path._extension.Shortcut(len, 2, 0, Array, Device, Tensor, hints, fail)
    with pytest.raises(MemoryError, match="no more"):
        call(p.ADD, x, x)


@pytest.mark.parametrize(
    "wrong",
    ["a route", (), (1, 2), (1,) * (len(Route._fields) - 1), ("no number",) * len(Route._fields)],
    ids=repr,
)
def test_what_is_no_route_is_refused(wrong: Any) -> None:
    recorded = Recorded()
    recorded.route = wrong
    with pytest.raises(TypeError, match="a route must be a Route or None"):
        recorded.call(p.ADD, array(d.float64), 1.0)


def test_a_primitive_without_a_route_is_remembered() -> None:
    recorded = Recorded()
    recorded.route = None
    for _ in range(3):
        assert recorded.call(p.ADD, array(d.float64), 1.0) == "the long way"
    assert recorded.asked == 1


def test_a_shortcut_wants_slots_and_one_or_two_operands() -> None:
    extension: Any = fast_path._extension
    good = (len, 2, 0, Array, Device, Tensor, hints, len)
    for position, value, error, words in (
        (1, 0, ValueError, "1 to 2"),
        (1, 3, ValueError, "1 to 2"),
        (3, int, AttributeError, "_handle"),
        (4, int, AttributeError, "backend"),
        (5, int, AttributeError, "array"),
        (6, 3, AttributeError, "defer_small"),
        (3, type("Shell", (), {"_handle": 1}), TypeError, "no slot _handle"),
        (5, "Tensor", TypeError, "type"),
    ):
        arguments: list[Any] = list(good)
        arguments[position] = value
        with pytest.raises(error, match=words):
            extension.Shortcut(*arguments)
    with pytest.raises(TypeError, match="by position"):
        extension.Shortcut(*good, find=len)
    assert extension.Shortcut(*good).function is len
