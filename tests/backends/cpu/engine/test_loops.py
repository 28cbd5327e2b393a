"""Every loop has the bits of its NumPy kernel.

NumPy's loops take other paths at lengths around the widths of vector registers, at odd addresses,
and for strided and constant operands; the bits must not change there. (For operands that run
backwards some do, and nothing is promised.)
"""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.backends.cpu.engine import loops, operations
from array_api_nx.backends.cpu.ufunc_table import BINARY_NEW, REDUCE, UNARY
from array_api_nx.contract.numpy_dtypes import COMPILED
from array_api_nx.core import dtypes as d
from array_api_nx.primitives import table as p
from array_api_nx.primitives.table import Primitive
from tests.support.programs import needs_extension, same_bits, settings
from tests.support.tables import for_each

pytestmark = needs_extension

NDArray = np.ndarray[Any, Any]

DTYPES = list(d.NUMPYS)
LENGTHS = [*range(1, 18), 31, 32, 33, 63, 64, 65, 127, 128, 130]


def values(dtype: np.dtype[Any], size: int, seed: int) -> NDArray:
    """Special values among ordinary ones."""
    rng = np.random.default_rng(seed)
    if dtype.kind == "b":
        return rng.integers(0, 2, size).astype(bool)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        special = np.array([0, 1, 2, 7, info.min, info.max, info.max - 1], dtype)
        ordinary = rng.integers(info.min, info.max, size, dtype, endpoint=True)
        small = rng.integers(0, 20, size).astype(dtype)
        if dtype.kind == "i":
            special[2], small[::2] = -1, -small[::2]
        ordinary[1::2] = small[1::2]
    else:
        part = np.empty(0, dtype).real.dtype
        info = np.finfo(part)
        numbers = [0, -0.0, 1, -1, 0.5, 2, np.inf, -np.inf, np.nan, info.max, -info.max, info.tiny]
        numbers += [info.smallest_subnormal, 1e-5, 88.7, 709.5, -745.2, 1e5]
        special = np.array(numbers, part)
        ordinary = rng.standard_normal(2 * size).astype(part)
        ordinary *= rng.choice(np.array([1, 100, 1e-3], part), 2 * size)
        if dtype.kind == "c":
            special = np.array(list(itertools.product(numbers[:9], numbers[:9])), part)
            special = special.view(dtype).ravel()
            ordinary = ordinary.view(dtype)
    ordinary = ordinary[:size]
    places = rng.choice(size, size // 3, replace=False)
    ordinary[places] = rng.choice(special, len(places))
    return ordinary


def check(loop: loops.Loop, kernel: Callable[..., Any], inputs: list[NDArray]) -> None:
    """Compare the loop with `kernel` on 1-d inputs, which may be broadcast or strided."""
    expected = kernel(*inputs)
    assert expected.dtype == loop.output
    found = operations.compute(loop, *inputs)
    if found is None:  # NumPy computes it
        backwards = any([x.strides[0] < 0 for x in inputs])
        assert backwards or expected.size == 0 or loop.name == "positive"
    else:
        assert same_bits(found, expected), (loop, inputs)


def loops_of(*families: str) -> Iterator[tuple[Primitive, list[loops.Loop]]]:
    for op in p.of_family(*families):
        found = [loops.find(op, dtype) for dtype in op.results]
        yield op, [loop for loop in found if loop is not None]


def arguments(op: Primitive, loop: loops.Loop, size: int) -> list[NDArray]:
    made = [values(dtype, size, seed) for seed, dtype in enumerate(loop.inputs)]
    if op is p.POW and loop.output.kind == "i":
        made[1] = made[1] & 7  # NumPy refuses negative exponents
    return made


ELEMENTWISE = [(op, found) for op, found in loops_of("unary", "binary") if found]
BINARY = [(op, found) for op, found in ELEMENTWISE if op.family == "binary"]


def kernel_of(op: Primitive) -> Callable[..., Any]:
    return UNARY[op] if op.family == "unary" else BINARY_NEW[op]


@for_each(("op", "found"), ELEMENTWISE)
def test_lengths(op, found):
    for loop in found:
        inputs = arguments(op, loop, 130)
        for length in LENGTHS:
            check(loop, kernel_of(op), [x[:length] for x in inputs])
            # from an odd address on
            check(loop, kernel_of(op), [x[1:length] for x in inputs])


@for_each(("op", "found"), ELEMENTWISE)
def test_strides(op, found):
    for loop in found:
        inputs = arguments(op, loop, 201)
        check(loop, kernel_of(op), [x[::2] for x in inputs])
        check(loop, kernel_of(op), [inputs[0][::3], *[x[:67] for x in inputs[1:]]])


@for_each(("op", "found"), BINARY)
def test_constant_operands(op, found):
    for loop in found:
        first, second = arguments(op, loop, 130)
        for k in range(0, 60, 4):
            check(loop, kernel_of(op), [np.broadcast_to(first[k], 130), second])
            if op is not p.POW or second[k] != 0.5:  # which is corrected
                check(loop, kernel_of(op), [first, np.broadcast_to(second[k], 130)])


@for_each(("op", "found"), ELEMENTWISE)
def test_calls_with_numpy(op, found):
    for loop in found:
        inputs = arguments(op, loop, 100)
        expected = kernel_of(op)(*inputs)
        out = np.zeros(100, loop.output)
        loop.call(*inputs, out=out)
        assert same_bits(out, expected)
        for x in inputs:
            if x.dtype == loop.output:  # in place
                copies = [each.copy() for each in inputs]
                place = copies[[each is x for each in inputs].index(True)]
                loop.call(*copies, out=place)
                assert same_bits(place, expected)


def test_every_loop_of_the_table():
    missing = {
        (op.name, dtype.kind)
        for op in p.of_family("unary", "binary")
        for dtype in op.results
        if dtype in DTYPES and loops.find(op, dtype) is None
    }
    complex_floating = [
        "acosh", "expm1", "imag", "log1p", "real", "reciprocal", "sign", "tan", "tanh",
    ]  # fmt: skip
    assert missing == {
        *[(name, "c") for name in complex_floating],
        ("erf", "f"),
        ("floor_divide", "f"),
        *[("imag", kind) for kind in "iuf"],
        *[("trunc_divide", kind) for kind in "iu"],
    }


def test_loops_are_made_once():
    dtype = np.dtype(np.float64)
    for name in ("add", "erf"):
        op = next(op for op in p.of_family("unary", "binary") if op.name == name)
        assert loops.find(op, dtype) is loops.find(op, np.dtype("float64"))
    assert loops.cast(dtype, dtype) is loops.cast(dtype, dtype)
    assert loops.select(dtype) is loops.select(dtype)
    assert loops.reduction(p.SUM, dtype) is loops.reduction(p.SUM, dtype)


def test_names_are_those_of_warnings():
    dtype = np.dtype(np.float64)
    found = [loops.find(op, dtype) for op in (p.DIVIDE, p.ABS, p.ROUND, p.POW)]
    assert [loop.name for loop in found if loop] == ["divide", "absolute", "rint", "power"]
    assert loops.select(dtype).name == "where"


@for_each("source", DTYPES)
def test_casts(source):
    # A build of C11 alone has no float16.
    compiled = COMPILED or DTYPES
    for target in DTYPES:
        loop = loops.cast(source, target)
        is_compiled = source in compiled and target in compiled
        if not is_compiled or (source.kind + target.kind) in ("fi", "fu", "ci", "cu", "cf"):
            assert loop is None
        else:
            assert loop is not None
            for length in (1, 7, 64, 131):
                check(loop, lambda x: x.astype(target), [values(source, length, 0)])  # noqa: B023
            check(loop, lambda x: x.astype(target), [values(source, 200, 1)[::3]])  # noqa: B023


@for_each("dtype", DTYPES)
def test_select(dtype):
    loop = loops.select(dtype)
    for length in (1, 7, 64, 131):
        condition = values(np.dtype(bool), length, 0)
        first, second = values(dtype, length, 1), values(dtype, length, 2)
        check(loop, np.where, [condition, first, second])
        check(loop, np.where, [condition[::-1], first, second[::-1]])
        check(loop, np.where, [condition, np.broadcast_to(first[0], length), second])
        for place in (first, second):
            copies = [condition, first.copy(), second.copy()]
            out = copies[1 if place is first else 2]
            loop.call(*copies, out=out)
            assert same_bits(out, np.where(condition, first, second))


REDUCTIONS = [p.SUM, p.PROD, p.MAX, p.MIN, p.ANY, p.ALL, p.COUNT_NONZERO]


@pytest.mark.parametrize("op", REDUCTIONS)
def test_reductions(op):
    found = 0
    for dtype in DTYPES:
        reduction = loops.reduction(op, dtype)
        if reduction is None:
            continue
        found += 1
        loop, identity = reduction
        assert loop.name == "reduce"
        assert identity.shape == ()
        assert identity.dtype == loop.output == loop.inputs[0]
        assert loop.inputs[1] == dtype
        for length in (1, 2, 9, 130):
            x = values(dtype, length, length)
            expected = (
                np.asarray(np.count_nonzero(x), np.int64)
                if op is p.COUNT_NONZERO
                else REDUCE[op](x, axis=0, dtype=dtype if op is p.SUM or op is p.PROD else None)
            )
            total = identity.copy()
            for each in (x[:1], x[1:]) if dtype.kind not in "fc" else (x,):
                assert loop.ufunc is not None
                assert loop.call is not None
                loop.call(
                    total, loop.ufunc.reduce(each, dtype=loop.output, initial=identity), out=total
                )
            assert same_bits(total, np.asarray(expected))
    every = {
        each: len([dtype for dtype in each.results if dtype in DTYPES])
        for each in (p.PROD, p.MAX, p.MIN)
    }
    every[p.SUM] = every[p.PROD] - 1  # float16's are added up in float32
    assert found == every.get(op, 1)


@for_each("dtype", DTYPES)
@pytest.mark.parametrize("op", [p.MAX, p.MIN])
def test_extremes_pass_over_nan(op, dtype):
    loop = loops.extreme(op, dtype)
    assert (loop is not None) is (dtype in d.SELF_COMPUTED and dtype.kind == "f")
    if loop is None:
        return
    identity = -np.inf if op is p.MAX else np.inf
    for length in (*LENGTHS, 300):
        x = values(dtype, length, length)
        x[length // 2] = np.nan
        expected = REDUCE[op](np.where(np.isnan(x), dtype.type(identity), x), axis=0, dtype=None)
        for memory, step in ((x, 1), (np.repeat(x, 3), 3)):
            with settings("process"):
                ours = xp.asarray(memory, copy=True)[::step]
                best = getattr(xp, op.name)(xp.where(xp.isnan(ours), identity, ours))
                # Of 0.0 and -0.0 either one is the largest.
                assert float(best) == float(expected)
        before = values(dtype, length, 1)
        before[np.isnan(before) | (before == 0)] = 1
        check(loop, np.fmax if op is p.MAX else np.fmin, [before, x])


@pytest.mark.parametrize("op", [p.ADD, p.MULTIPLY, p.MAXIMUM])
def test_running_loops(op):
    found = 0
    for dtype in DTYPES:
        ordinary, loop = loops.find(op, dtype), loops.running(op, dtype)
        if ordinary is None or loop is None:
            assert loop is None
            continue
        found += loop is not ordinary
        assert loop.ufunc is ordinary.ufunc
        for length in LENGTHS:
            first, second = values(dtype, length, 1), values(dtype, length, 2)
            with np.errstate(all="ignore"):
                check(loop, loop.ufunc, [first, second])
                check(loop, loop.ufunc, [first, np.broadcast_to(second[0], length)])
    assert found == (0 if op is p.MAXIMUM else 4)
