"""Operations that are computed at once, several threads each: NumPy's bits, layout and warnings."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx import primitives as p
from array_api_nx.backends.cpu import single
from array_api_nx.backends.cpu.fusion import loops
from array_api_nx.backends.cpu.fusion.compiled import extension

NDArray = np.ndarray[Any, Any]

needs_extension = pytest.mark.skipif(extension is None, reason="the extension is not built")

BINARY = {
    p.ADD: np.add,
    p.ATAN2: np.arctan2,
    p.DIVIDE: np.true_divide,
    p.HYPOT: np.hypot,
    p.LESS: np.less,
    p.MAXIMUM: np.maximum,
}
UNARY = {
    p.ABS: np.absolute,
    p.EXP: np.exp,
    p.ISNAN: np.isnan,
    p.LOG1P: np.log1p,
    p.SIN: np.sin,
    p.TANH: np.tanh,
}
SHAPE = (130, 260)


def memory(dtype: str) -> NDArray:
    rng = np.random.default_rng(7)
    return (rng.standard_normal((2 * SHAPE[0], 2 * SHAPE[1])) * 3).astype(dtype)


def layouts(dtype: str) -> Iterator[NDArray]:
    """Arrays that broadcast to `SHAPE`, in all layouts that are told apart."""
    rows, columns = SHAPE
    whole = memory(dtype)
    yield whole[:rows, :columns].copy()
    yield whole[:rows, :columns]
    yield np.asfortranarray(whole[:rows, :columns])
    yield np.ascontiguousarray(whole[:columns, :rows]).T
    yield whole[::2, ::2]
    yield whole[:rows, ::-2]
    yield whole[::-2, :columns]
    yield whole[::-2, ::-2]
    yield whole[:1, :columns]
    yield whole[:rows, :1]
    yield whole[0, :columns]
    yield np.broadcast_to(whole[3, :columns], SHAPE)
    yield whole[0, 0, ...]


def check(computed: NDArray | None, expected: Any) -> bool:
    """Whether anything was computed; if so, it is what NumPy gives, and lies as NumPy's does."""
    if computed is None:
        return False
    expected = np.asarray(expected)
    assert (computed.dtype, computed.shape) == (expected.dtype, expected.shape)
    assert computed.tobytes() == expected.tobytes()
    steps = [
        (a, b)
        for a, b, n in zip(computed.strides, expected.strides, expected.shape, strict=True)
        if n > 1
    ]
    assert all([a == b for a, b in steps])
    return True


@needs_extension
@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "complex64"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_binary_is_numpys_in_every_layout(dtype: str, threads: int) -> None:
    computed = 0
    with xp.config_context(num_threads=threads):
        for (op, ufunc), x1, x2 in product(BINARY.items(), layouts(dtype), layouts(dtype)):
            loop = loops.find(op, np.dtype(dtype))
            if loop is not None and x1.size * x2.size > 1:
                computed += check(single.compute(loop, 2**60, x1, x2), ufunc(x1, x2))
    assert computed > 200


@needs_extension
@pytest.mark.parametrize("dtype", ["float32", "float64", "int8"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_unary_is_numpys_in_every_layout(dtype: str) -> None:
    computed = 0
    for (op, ufunc), x in product(UNARY.items(), layouts(dtype)):
        loop = loops.find(op, np.dtype(dtype))
        if loop is not None:
            computed += check(single.compute(loop, 2**60, x), ufunc(x))
    assert computed > 6


@needs_extension
@pytest.mark.parametrize("scalar", [0, 1, 2.5, -0.0, float("inf"), float("nan")])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("op", BINARY)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_scalars_are_weak(op: Any, dtype: str, scalar: float) -> None:
    loop = loops.find(op, np.dtype(dtype))
    assert loop is not None
    x = memory(dtype)
    assert check(single.compute(loop, 2**60, x, scalar), BINARY[op](x, scalar))
    assert check(single.compute(loop, 2**60, scalar, x), BINARY[op](scalar, x))


@needs_extension
@pytest.mark.parametrize("source", ["bool", "uint8", "int64", "float32", "complex128"])
@pytest.mark.parametrize("target", ["bool", "int32", "float32", "float64", "complex64"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_casts_are_numpys(source: str, target: str) -> None:
    loop = loops.cast(np.dtype(source), np.dtype(target))
    if loop is None:
        assert np.dtype(source).kind in "fc"
        assert np.dtype(target).kind in "iuf"
        return
    for x in layouts(source):
        expected = x.astype(target)
        if x.ndim == 2 and x.strides[0] == 0:
            expected = expected.copy()  # row-major; NumPy casts it column by column
        check(single.compute(loop, 2**60, x), expected)


@needs_extension
@pytest.mark.parametrize("dtype", ["int8", "int16", "float32", "float64", "complex128"])
def test_selection_is_numpys(dtype: str) -> None:
    loop = loops.select(np.dtype(dtype))
    for mask, x in product(layouts("float32"), layouts(dtype)):
        condition = mask > 0
        expected = np.where(condition, x, np.dtype(dtype).type(3))
        if expected.ndim:
            check(single.compute(loop, 2**60, condition, x, 3), expected)


@needs_extension
def test_more_dims_than_rows_and_columns() -> None:
    loop = loops.find(p.SUBTRACT, np.dtype(float))
    assert loop is not None
    rng = np.random.default_rng(3)
    whole = rng.random((6, 5, 8, 7))
    small = rng.random((5, 1, 7))
    for x in (whole, whole[::2, :, 1:, ::3], whole[:, ::-1], np.zeros((1, 1, 1, 1))):
        other = small[..., : x.shape[-1]]
        assert check(single.compute(loop, 2**60, x, other), x - other)
        assert check(single.compute(loop, 2**60, other, x), other - x)


@needs_extension
def test_what_is_left_to_numpy() -> None:
    loop = loops.find(p.ADD, np.dtype(float))
    assert loop is not None
    x = memory("float64")
    unaligned = np.frombuffer(b"\0" * 81, np.uint8)[1:].view(np.float64)
    assert single.compute(loop, 2**60, x, x.astype(np.float32)) is None
    assert single.compute(loop, 2**60, x, x.astype(">f8")) is None
    assert single.compute(loop, 2**60, unaligned, unaligned) is None
    assert single.compute(loop, 2**60, x, x[:7]) is None
    assert single.compute(loop, 2**60, x[:0], x[:0]) is None
    assert single.compute(loop, x.size - 1, x, x) is None
    assert single.compute(loop, x.size, x, x) is not None
    assert single.compute(loop, x.size, x[:, :1], x[:1]) is not None
    assert single.compute(loop, x.size - 1, x[:, :1], x[:1]) is None
    # Others would be other memory than NumPy's, seen in another order.
    assert single.compute(loop, 2**60, x[::-1], 1.0) is None


@needs_extension
def test_the_extension_refuses_what_is_no_operation() -> None:
    assert extension is not None
    loop = loops.find(p.ADD, np.dtype(float))
    assert loop is not None
    assert loop.operation is not None
    pointer, inputs, output, *rest = loop.operation
    x = np.ones(4)
    with pytest.raises(ValueError, match="dtype 2 is not the loop's"):
        extension.compute((pointer, inputs, np.dtype(np.int8), *rest), 1, 9, x, x)
    with pytest.raises(ValueError, match="inputs must have 2 to 2 items"):
        extension.compute((pointer, inputs[:1], output, *rest), 1, 9, x, x)
    with pytest.raises(ValueError, match="an operation must have 6 to 6 items"):
        extension.compute((pointer, inputs, output), 1, 9, x, x)
    with pytest.raises(TypeError, match="takes 2 operands"):
        extension.compute(loop.operation, 1, 9, x)
    with pytest.raises(ValueError, match="threads must be from 1"):
        extension.compute(loop.operation, 0, 9, x, x)
    with pytest.raises(ValueError, match="could not convert"):
        extension.compute(loop.operation, 1, 9, x, "text")
    moments, _ = loops.reduction(p.VAR, np.dtype(float)) or pytest.fail("no moments")
    with pytest.raises(ValueError, match="moments"):
        extension.compute(
            (moments.pointer, moments.inputs, moments.output, 1, False, False), 1, 9, x, x
        )


# ---------------------------------------------------------------------- through the frontend

LARGE = 40_000


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("fusion", ["auto", "off"])
def test_warnings_are_numpys(fusion: Any) -> None:
    x = xp.asarray(np.linspace(-1, 1, LARGE), copy=True)
    with xp.config_context(fusion=fusion):
        with pytest.warns(RuntimeWarning, match="divide by zero encountered in divide"):
            x / 0.0
        with pytest.warns(RuntimeWarning, match="invalid value encountered in sqrt"):
            xp.sqrt(x)
        with np.errstate(all="ignore"):
            xp.sqrt(x)
        with np.errstate(invalid="raise"), pytest.raises(FloatingPointError, match="sqrt"):
            xp.sqrt(x)


def test_the_larger_operand_decides() -> None:
    small = xp.asarray(np.arange(200.0)[:, None], copy=True)
    large = xp.asarray(np.arange(300.0) * np.ones((200, 1)), copy=True)
    expected = np.asarray(small) - np.asarray(large)
    assert np.array_equal(np.asarray(small - large), expected)
    assert np.array_equal(np.asarray(large - small), -expected)


def test_squares_and_other_powers() -> None:
    x = np.linspace(-3, 3, LARGE)
    for exponent in (2, 3, 2.0, -1, 0, 1):
        with np.errstate(all="ignore"):
            computed = xp.asarray(x, copy=True) ** exponent
            assert np.asarray(computed).tobytes() == (x**exponent).tobytes()
    whole = np.arange(LARGE)
    assert np.array_equal(np.asarray(xp.asarray(whole, copy=True) ** 2), whole**2)


@pytest.mark.parametrize("dtype", [xp.float32, xp.float64])
@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("keepdims", [False, True])
def test_sums_means_and_variances(dtype: Any, axis: int | None, keepdims: bool) -> None:
    x = xp.asarray(memory("float64"), dtype=dtype, copy=True)
    data = np.asarray(x, dtype=np.float64)
    tolerance = 1e-5 if dtype is xp.float32 else 1e-13
    options: dict[str, Any] = {"axis": axis, "keepdims": keepdims}
    for ours, expected in [
        (xp.sum(x, **options), np.sum(data, **options)),
        (xp.mean(x, **options), np.mean(data, **options)),
        (xp.var(x, **options), np.var(data, **options)),
        (xp.var(x, correction=1, **options), np.var(data, ddof=1, **options)),
        (xp.std(x, **options), np.std(data, **options)),
    ]:
        assert ours.dtype == dtype
        assert ours.shape == expected.shape
        np.testing.assert_allclose(np.asarray(ours), expected, rtol=tolerance, atol=tolerance * 9)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_more_is_subtracted_than_there_is() -> None:
    x = xp.asarray(memory("float64"), copy=True)
    found = xp.var(x, axis=0, correction=x.shape[0])
    assert xp.all(xp.isnan(found))


def test_sums_do_not_depend_on_the_number_of_threads() -> None:
    x = xp.asarray(memory("float64"), copy=True)
    found = []
    for threads in (1, 2, 3):
        with xp.config_context(num_threads=threads):
            found.append([float(xp.sum(x)), float(xp.var(x)), float(xp.sum(x, axis=0)[5])])
    assert found[0] == found[1] == found[2]


def test_sums_without_fusion_are_numpys() -> None:
    data = memory("float64")
    with xp.config_context(fusion="off"):
        assert float(xp.sum(xp.asarray(data, copy=True))) == float(np.sum(data))


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_sums_warn_of_overflow() -> None:
    x = xp.full(LARGE, 1e305)
    with pytest.warns(RuntimeWarning, match="overflow encountered in reduce"):
        total = float(xp.sum(x))
    assert total == float("inf")
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        float(xp.sum(x))


# ---------------------------------------------------------------------- scans

SCANS = {
    p.CUMULATIVE_SUM: np.add,
    p.CUMULATIVE_PROD: np.multiply,
    p.CUMULATIVE_MAX: np.maximum,
    p.CUMULATIVE_MIN: np.minimum,
}


def numbers(shape: tuple[int, ...], dtype: str) -> NDArray:
    """With zeros of either sign and NaN."""
    rng = np.random.default_rng(17)
    values = rng.integers(-3, 4, shape) * 0.3
    if dtype.startswith(("float", "complex")):
        values[rng.random(shape) < 0.3] *= -0.0
        values[rng.random(shape) < 0.0005] = np.nan
    if dtype.startswith("complex"):
        values = values + 1j * rng.standard_normal(shape)
    return values.astype(dtype)


def check_scan(op: Any, x: NDArray, axis: int, dtype: str) -> bool:
    """As `check`, for scans; all NaN are one value."""
    target = np.dtype(dtype)
    computed = single.scan(op, x, axis, target)
    expected = SCANS[op].accumulate(x, axis, target)
    if computed is not None and target.kind in "fc":
        assert np.array_equal(np.isnan(computed), np.isnan(expected))
        computed[np.isnan(computed)] = expected[np.isnan(expected)] = 7
    return check(computed, expected)


@needs_extension
@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "uint16", "int64", "complex128"])
@pytest.mark.parametrize("op", SCANS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_scans_are_numpys(op: Any, dtype: str, threads: int) -> None:
    along = across = 0
    with xp.config_context(num_threads=threads):
        for shape in [(30, 40), (2, 3000), (3000, 20), (5, 70, 33), (40, 3, 21), (1, 9, 5000)]:
            x = numbers(shape, dtype)
            for axis in range(len(shape)):
                found = check_scan(op, x, axis, dtype)
                if axis == len(shape) - 1:
                    along += found
                else:
                    across += found
                assert check_scan(op, x.T, len(shape) - 1 - axis, dtype) == found
    assert along == 6
    exact = op is p.CUMULATIVE_SUM or (dtype[0] != "c" if op is p.CUMULATIVE_PROD else False)
    assert (across > 4) == (exact or np.dtype(dtype).kind in "iu")


@needs_extension
@pytest.mark.parametrize("source", ["bool", "int8", "float32"])
@pytest.mark.parametrize("target", ["int64", "float64", "complex64"])
def test_scans_of_what_is_cast_first(source: str, target: str) -> None:
    x = numbers((60, 50), source)
    assert check_scan(p.CUMULATIVE_SUM, x, 0, target)
    assert check_scan(p.CUMULATIVE_SUM, x, 1, target)


@needs_extension
def test_scans_that_are_left_to_numpy() -> None:
    x = numbers((60, 50), "float64")
    total = p.CUMULATIVE_SUM
    for array, axis in [
        (x[:, ::2], 0),
        (x[::-1], 1),
        (x.reshape(3, 20, 50).transpose(1, 0, 2), 2),
        (x[0], 0),
        (x[:1], 1),
        (x[:, :1], 0),
        (x[:, :7].copy(), 0),
        (x[:0], 0),
        (x[:, :0], 0),
        (x[:0], 1),
        (x[:1], 0),
        (np.frombuffer(b"\0" * 801, np.uint8)[1:].view(np.float64).reshape(10, 10), 1),
    ]:
        assert single.scan(total, array, axis, array.dtype) is None
    with np.errstate(over="raise"):
        assert single.scan(total, x, 1, x.dtype) is None
    assert single.scan(total, x, 1, x.dtype) is not None


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("axis", [0, 1])
def test_scans_warn_once(axis: int) -> None:
    x = xp.full((200, 300), 1e307)
    with pytest.warns(RuntimeWarning, match="overflow encountered in accumulate") as found:
        xp.cumulative_sum(x, axis=axis)
    assert len(found) == 1
    with np.errstate(over="ignore"):
        xp.cumulative_sum(x, axis=axis)
    with np.errstate(over="raise"), pytest.raises(FloatingPointError, match="accumulate"):
        xp.cumulative_sum(x, axis=axis)
