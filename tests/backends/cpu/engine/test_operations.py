"""Operations that are computed at once, several threads each: NumPy's bits, layout and warnings."""

from concurrent.futures import ThreadPoolExecutor
from copy import copy
from math import prod
from random import Random
from typing import Any

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.backends.cpu.engine import loops, operations
from array_api_nx.backends.cpu.engine.loops import Loop
from array_api_nx.native import native
from array_api_nx.primitives import table as p
from tests.support.alike import DTYPES
from tests.support.numpy_versions import ROUNDS_ALIKE
from tests.support.refusals import refused
from tests.support.sizes import MIDDLE
from tests.support.tables import for_each

NDArray = np.ndarray[Any, Any]

needs_extension = pytest.mark.skipif(native is None, reason="the extension is not built")

BINARY = {
    op: getattr(np, op.numpy) for op in (p.ADD, p.ATAN2, p.DIVIDE, p.HYPOT, p.LESS, p.MAXIMUM)
}
UNARY = {op: getattr(np, op.numpy) for op in (p.ABS, p.EXP, p.ISNAN, p.LOG1P, p.SIN, p.TANH)}
SHAPE = (130, 260)


def memory(dtype: str) -> NDArray:
    rng = np.random.default_rng(7)
    return (rng.standard_normal((2 * SHAPE[0], 2 * SHAPE[1])) * 3).astype(dtype)


def eager(loop: Loop) -> Loop:
    """`loop`, worth several threads for any number of elements."""
    assert loop.operation is not None
    result = copy(loop)
    result.operation = (*loop.operation[:3], 0, *loop.operation[4:])
    return result


def check(computed: NDArray | None, expected: Any) -> bool:
    """Whether something was computed; if so, with NumPy's elements and strides."""
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
@for_each("scalar", [0, 1, 2.5, -0.0, float("inf"), float("nan")])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@for_each("op", BINARY)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_scalars_are_weak(op, dtype, scalar):
    loop = loops.find(op, np.dtype(dtype))
    assert loop is not None
    x = memory(dtype)
    assert check(operations.compute(loop, x, scalar), BINARY[op](x, scalar))
    assert check(operations.compute(loop, scalar, x), BINARY[op](scalar, x))


LENGTHS = (1, 1, 2, 3, 5, 8, 17, 40, 129, 260, 1100, 2049, 5000)
OPS = (*UNARY, *BINARY, p.BITWISE_XOR, p.EQUAL, p.LOGICAL_AND, p.MULTIPLY, p.SQRT, p.SUBTRACT)


def random_operand(rng: Random, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray:
    """A part of an array, with any order of axes and any steps, that broadcasts to `shape`."""
    kept = shape[rng.choice([0, 0, 0, rng.randint(0, len(shape))]) :]
    sizes = [1 if rng.random() < 0.15 else size for size in kept]
    is_plain = rng.random() < 0.3
    steps = [1 if is_plain else rng.choice([1, 1, 1, 1, 2, 3, -1, -2]) for _ in sizes]
    order = list(range(len(sizes)))
    if not is_plain and rng.random() < 0.4:
        rng.shuffle(order)
    margin = 0 if is_plain else rng.choice([0, 0, 1])
    whole = [sizes[dim] * abs(steps[dim]) + margin for dim in order]
    values = np.random.default_rng(rng.randrange(2**32)).standard_normal(whole) * 50
    with np.errstate(all="ignore"):
        x: NDArray = values.astype(dtype).transpose(np.argsort(order))
    x = x[(..., *[slice(None, None, step) for step in steps])]
    x = x[(..., *[slice(0, size) for size in sizes])]
    return np.broadcast_to(x, kept) if rng.random() < 0.1 else x


@needs_extension
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_anything_is_numpys(dtype):
    found = [loops.find(op, np.dtype(dtype)) for op in OPS]
    found += [loops.cast(np.dtype(dtype), np.dtype(other)) for other in DTYPES[::3]]
    known = [loop for loop in found if loop is not None] + [loops.select(np.dtype(dtype))]
    rng = Random(dtype)
    computed = 0
    for _ in range(300):
        loop = rng.choice(known)
        left = rng.choice([50, 3000, 12000, 40000])
        shape: tuple[int, ...] = ()
        for _ in range(rng.randint(0, 5)):
            shape += (rng.choice([length for length in LENGTHS if length <= left]),)
            left //= shape[-1]
        shape = tuple(rng.sample(shape, len(shape)))
        operands: list[Any] = [random_operand(rng, shape, each) for each in loop.inputs]
        if len(operands) == 2 and rng.random() < 0.1:
            operands[1] = operands[0]
        if len(operands) > 1 and rng.random() < 0.25:
            scalars = [False, True] if dtype == "bool" else [0, 1]
            operands[rng.choice([-1, -2])] = rng.choice(scalars)
        with xp.config_context(num_threads=rng.choice([1, 2, 3, 7])):
            result = operations.compute(eager(loop), *operands)
        # Of single elements, NumPy looks at steps that lead nowhere.
        if result is None or result.size > 1:
            if len(operands) == 1 and loop.ufunc is None:
                expected = operands[0].astype(loop.output)
                if result is not None:  # for casts NumPy has an order of axes of its own
                    expected = np.copyto(like := np.empty_like(result), expected) or like
            else:
                expected = (loop.ufunc or np.where)(*operands)
            computed += check(result, expected)
    assert computed > 100


def few(dtype: str, shape: tuple[int, ...], salt: int) -> NDArray:
    values = np.random.default_rng(salt).standard_normal(shape) * 50
    with np.errstate(all="ignore"):
        return np.asarray(values).astype(dtype)


@needs_extension
@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_scalars_that_overflow_are_numpys(dtype):
    loop = loops.find(p.ADD, np.dtype(dtype))
    assert loop is not None
    for x in (few(dtype, (9,), 1), few(dtype, (900,), 1)):
        for scalar in (1e300, -1e300, 3.5e38):
            assert operations.compute(loop, x, scalar) is None
        for scalar in (3e38, float("inf"), float("nan"), -0.0, 5, True):
            assert check(operations.compute(loop, x, scalar), x + scalar)
    if dtype == "complex64":
        assert operations.compute(loop, x, 1e300j) is None
        assert check(operations.compute(loop, x, 2 - 3e-5j), x + (2 - 3e-5j))


@needs_extension
def test_dims_that_are_too_many():
    loop = loops.find(p.NEGATIVE, np.dtype(float))
    assert loop is not None
    for ndim in (30, 31, 32, 33, 64):
        x = np.arange(24.0).reshape((2, 1, 3) + (1,) * (ndim - 4) + (4,))
        assert check(operations.compute(loop, x), -x) == (ndim <= 30)


@needs_extension
def test_what_is_left_to_numpy():
    loop = loops.find(p.ADD, np.dtype(float))
    assert loop is not None
    x = memory("float64")
    unaligned = np.frombuffer(b"\0" * 81, np.uint8)[1:].view(np.float64)
    assert operations.compute(loop, x, x.astype(np.float32)) is None
    assert operations.compute(loop, x, x.astype(">f8")) is None
    assert operations.compute(loop, unaligned, unaligned) is None
    assert operations.compute(loop, x, x[:7]) is None
    assert operations.compute(loop, x[:0], x[:0]) is None
    # NumPy goes over it forwards, where the last bits of exp may be others.
    exp = loops.find(p.EXP, np.dtype(float))
    assert exp is not None
    assert operations.compute(exp, x[::-1]) is None


@needs_extension
@for_each("key", ["[::-1]", "[:, ::-1]", "[::-1, ::-1].T", "[::-1].T[::2]"])
def test_backward_operands_are_laid_out_as_by_numpy(key):
    loop = loops.find(p.MULTIPLY, np.dtype(float))
    assert loop is not None
    x = eval(f"x{key}", {"x": memory("float64")})
    found = operations.compute(loop, x, 2.0)
    assert found is not None
    np.testing.assert_array_equal(found, x * 2.0)
    assert found.strides == (x * 2.0).strides


@needs_extension
def test_the_extension_refuses_what_is_no_operation():
    assert native is not None
    loop = loops.find(p.ADD, np.dtype(float))
    assert loop is not None
    assert loop.operation is not None
    pointer, inputs, output, *rest = loop.operation
    x = np.ones(4)
    with pytest.raises(ValueError, match="dtype 2 is not the loop's"):
        native.compute((pointer, inputs, np.dtype(np.int8), *rest), 1, x, x)
    with pytest.raises(ValueError, match="inputs must have 2 to 2 items"):
        native.compute((pointer, inputs[:1], output, *rest), 1, x, x)
    with pytest.raises(ValueError, match="an operation must have 6 to 6 items"):
        native.compute((pointer, inputs, output), 1, x, x)
    refused(TypeError, "takes 2 operands", native.compute, loop.operation, 1, x)
    refused(ValueError, "threads must be from 1", native.compute, loop.operation, 0, x, x)
    assert native.compute(loop.operation, 1, x, "text") is None
    moments, _ = loops.reduction(p.VAR, np.dtype(float)) or pytest.fail("no moments")
    with pytest.raises(ValueError, match="moments"):
        native.compute((moments.pointer, moments.inputs, moments.output, 1, False, False), 1, x, x)


@needs_extension
@pytest.mark.parametrize("dtype", ["S8", "V8", "M8[s]", "m8[s]", "O", "U2", ">f8", "i4,f4"])
def test_the_extension_refuses_dtypes_that_their_number_does_not_tell(dtype):
    # Elements of another length or meaning could have the number of the dtype that is expected.
    assert native is not None
    refused = np.dtype(dtype)
    taken = np.dtype(np.uint64)
    condition, x = np.ones(4, bool), np.ones(4, taken)
    loop = native.select_loop(8)
    inputs = np.dtype(bool), taken, taken
    assert native.compute((loop, inputs, taken, 9, False, False), 1, condition, x, x).all()
    with pytest.raises(ValueError, match="dtype 3 is not the loop's"):
        native.compute((loop, inputs, refused, 9, False, False), 1, condition, x, x)
    inputs = np.dtype(bool), refused, taken
    with pytest.raises(ValueError, match="dtype 1 is not the loop's"):
        native.compute((loop, inputs, taken, 9, False, False), 1, condition, x, x)


@needs_extension
def test_conversions_that_run_python_code_are_left_to_numpy():
    loop = loops.find(p.ADD, np.dtype(float))
    assert loop is not None
    x = np.ones(100_000)

    class Shrinks(float):
        def __float__(self) -> float:
            raise AssertionError("it is not converted")

    assert operations.compute(loop, x, Shrinks()) is None
    assert operations.compute(loop, Shrinks(), x) is None


@needs_extension
@pytest.mark.parametrize("shape", [(3, 1000), (300, 200), (MIDDLE,)])
def test_more_threads_than_there_could_be(shape):
    loop = loops.find(p.EXP, np.dtype(float))
    assert loop is not None
    x = np.linspace(-1, 1, prod(shape)).reshape(shape)
    expected = np.exp(x)
    for threads in (2**62, 2**63 - 1):
        with xp.config_context(num_threads=threads):
            assert check(operations.compute(eager(loop), x), expected)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("fusion", ["auto", "off"])
def test_warnings_are_numpys(fusion):
    x = xp.asarray(np.linspace(-1, 1, MIDDLE), copy=True)
    with xp.config_context(fusion=fusion):
        with pytest.warns(RuntimeWarning, match="divide by zero encountered in divide"):
            float((x / 0.0)[0])
        with pytest.warns(RuntimeWarning, match="invalid value encountered in sqrt"):
            float(xp.sqrt(x)[0])
        with np.errstate(all="ignore"):
            xp.sqrt(x)
        with np.errstate(invalid="raise"), pytest.raises(FloatingPointError, match="sqrt"):
            xp.sqrt(x)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_one_warning_of_a_scalar(order):
    x = xp.asarray(np.ones((200, 300), np.float32, order=order))
    with pytest.warns(RuntimeWarning) as warned:
        x * 1e300
    assert [str(each.message) for each in warned] == ["overflow encountered in cast"]


def test_the_larger_operand_decides():
    small = xp.asarray(np.arange(200.0)[:, None], copy=True)
    large = xp.asarray(np.arange(300.0) * np.ones((200, 1)), copy=True)
    expected = np.asarray(small) - np.asarray(large)
    assert np.array_equal(np.asarray(small - large), expected)
    assert np.array_equal(np.asarray(large - small), -expected)


def test_squares_and_other_powers():
    x = np.linspace(-3, 3, MIDDLE)
    for exponent in (2, 3, 2.0, 0, 1, *([-1] if ROUNDS_ALIKE else [])):
        with np.errstate(all="ignore"):
            computed = xp.asarray(x, copy=True) ** exponent
            assert np.asarray(computed).tobytes() == (x**exponent).tobytes()
    whole = np.arange(MIDDLE)
    assert np.array_equal(np.asarray(xp.asarray(whole, copy=True) ** 2), whole**2)


@pytest.mark.parametrize("dtype", [xp.float32, xp.float64])
@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("keepdims", [False, True])
def test_sums_means_and_variances(dtype, axis, keepdims):
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
def test_more_is_subtracted_than_there_is():
    x = xp.asarray(memory("float64"), copy=True)
    found = xp.var(x, axis=0, correction=x.shape[0])
    assert xp.all(xp.isnan(found))


def test_sums_do_not_depend_on_the_number_of_threads():
    x = xp.asarray(memory("float64"), copy=True)
    found = []
    for threads in (1, 2, 3):
        with xp.config_context(num_threads=threads):
            found.append([float(xp.sum(x)), float(xp.var(x)), float(xp.sum(x, axis=0)[5])])
    assert found[0] == found[1] == found[2]


def test_threads_reduce_at_the_same_time():
    arrays = [xp.asarray(memory("float64") + i, copy=True) for i in range(8)]

    def reduced(x: xp.Array) -> list[bytes]:
        found = xp.sum(x), xp.mean(x, axis=0), xp.var(x), xp.var(x, axis=1)
        return [np.asarray(each).tobytes() for each in found]

    expected = [reduced(x) for x in arrays]
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda i: reduced(arrays[i % 8]) == expected[i % 8], range(200)):
            assert found


def test_sums_without_fusion_are_numpys():
    data = memory("float64")
    with xp.config_context(fusion="off"):
        assert float(xp.sum(xp.asarray(data, copy=True))) == float(np.sum(data))


@pytest.mark.parametrize("function", [xp.sum, xp.mean])
def test_sums_of_single_elements(function):
    data = memory("float64")[:, None]
    x = xp.asarray(data, copy=True)
    assert np.asarray(function(x, axis=())).tobytes() == data.tobytes()
    assert np.asarray(function(x, axis=1)).tobytes() == data.tobytes()


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_sums_warn_of_overflow():
    x = xp.full(MIDDLE, 1e305)
    with pytest.warns(RuntimeWarning, match="overflow encountered in reduce"):
        total = float(xp.sum(x))
    assert total == float("inf")
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        float(xp.sum(x))


SCANS = {op: getattr(np, op.by.numpy) for op in p.of_family("scan")}


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
    computed = operations.scan(op, x, axis, target)
    expected = SCANS[op].accumulate(x, axis, target)
    if computed is not None and target.kind in "fc":
        assert np.array_equal(np.isnan(computed), np.isnan(expected))
        computed[np.isnan(computed)] = expected[np.isnan(expected)] = 7
    return check(computed, expected)


@needs_extension
@for_each("threads", [1, 2, 3])
@for_each("dtype", ["float32", "float64", "int8", "uint16", "int64", "complex128"])
@pytest.mark.parametrize("op", SCANS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_scans_are_numpys(op, dtype, threads):
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
        is_fast = dtype[0] != "c" and np.dtype(dtype).itemsize > 2
        is_fast = is_fast and op in (p.CUMULATIVE_SUM, p.CUMULATIVE_PROD)
        assert check_scan(op, numbers((70_000,), dtype), 0, dtype) == is_fast
    assert along == 6
    exact = op is p.CUMULATIVE_SUM or (dtype[0] != "c" if op is p.CUMULATIVE_PROD else False)
    assert (across > 4) == (exact or np.dtype(dtype).kind in "iu")


@needs_extension
@pytest.mark.parametrize("source", ["bool", "int8", "float32"])
@pytest.mark.parametrize("target", ["int64", "float64", "complex64"])
def test_scans_of_what_is_cast_first(source, target):
    x = numbers((60, 50), source)
    assert check_scan(p.CUMULATIVE_SUM, x, 0, target)
    assert check_scan(p.CUMULATIVE_SUM, x, 1, target)


@needs_extension
def test_scans_that_are_left_to_numpy():
    x = numbers((60, 50), "float64")
    total = p.CUMULATIVE_SUM
    for array, axis in [
        (x[:, ::2], 0),
        (x[::-1], 1),
        (x.reshape(3, 20, 50).transpose(1, 0, 2), 2),
        (x[:, :7].copy(), 0),
        (x[:0], 0),
        (x[:, :0], 0),
        (x[:0], 1),
        (x[:1], 0),
        (np.frombuffer(b"\0" * 801, np.uint8)[1:].view(np.float64).reshape(10, 10), 1),
    ]:
        assert operations.scan(total, array, axis, array.dtype) is None
    assert operations.scan(total, x, 1, x.dtype) is not None
    for array, axis in [(x[0], 0), (x[:1], 1)]:
        assert operations.scan(total, array, axis, array.dtype) is not None
        assert operations.scan(p.CUMULATIVE_MAX, array, axis, array.dtype) is None


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("axis", [0, 1])
def test_scans_warn_once(axis):
    x = xp.full((200, 300), 1e307)
    with pytest.warns(RuntimeWarning, match="overflow encountered in accumulate") as found:
        xp.cumulative_sum(x, axis=axis)
    assert len(found) == 1
    with np.errstate(over="ignore"):
        xp.cumulative_sum(x, axis=axis)
    with np.errstate(over="raise"), pytest.raises(FloatingPointError, match="accumulate"):
        xp.cumulative_sum(x, axis=axis)


REDUCTIONS = {op: getattr(np, op.by.numpy) for op in (p.SUM, p.PROD, p.MAX, p.MIN, p.ANY, p.ALL)}
EXACT = ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")


@needs_extension
@for_each("threads", [1, 2, 3, 2**62])
@pytest.mark.parametrize("dtype", EXACT)
def test_totals_are_numpys(dtype, threads):
    rng = np.random.default_rng(5)
    for size in (1, 2, 1023, 1024, 1025, 5000, 300_000):
        whole = rng.integers(0, 2 if dtype == "bool" else 100, size).astype(dtype)
        for op, ufunc in REDUCTIONS.items():
            reduction = operations._exact(op, whole.dtype)
            if reduction is None:
                assert (op in (p.ANY, p.ALL)) != (dtype == "bool") or op in (p.SUM, p.PROD)
                continue
            for array in (whole, whole[: size // 5 * 5].reshape(-1, 5).T):
                if array.size > 0:
                    found = native.total((*reduction[:3], 0), threads, array)  # type: ignore[union-attr]
                    check(found, ufunc.reduce(array, axis=None, dtype=whole.dtype))


@needs_extension
@pytest.mark.parametrize("position", [None, 0, 1, 29_999, 30_000, 59_999])
def test_totals_of_booleans(position):
    ones, zeros = np.ones(60_000, bool), np.zeros(60_000, bool)
    if position is not None:
        ones[position], zeros[position] = False, True
    for threads in (1, 2, 5):
        with xp.config_context(num_threads=threads):
            for memory in (ones, zeros):
                x = xp.asarray(memory, copy=True)
                assert bool(xp.all(x)) is bool(memory.all())
                assert bool(xp.any(x)) is bool(memory.any())
                count = xp.count_nonzero(x)
                assert count.dtype is xp.int64
                assert int(count) == memory.sum()
                count[...] = 3
                assert int(count) == 3


@needs_extension
def test_only_whole_pieces_of_integers_have_totals():
    numbers = np.arange(60_000)
    assert operations.total(p.SUM, numbers) == numbers.sum()
    for array in (numbers[::2], numbers[::-1], np.broadcast_to(numbers[:1], 50_000), numbers[:0]):
        assert operations.total(p.SUM, array) is None
        x = xp.asarray(array)
        assert int(xp.sum(x)) == array.sum()
    table = xp.asarray(numbers.reshape(300, 200), copy=True)
    assert xp.sum(table, keepdims=True).shape == (1, 1)
    assert xp.sum(table, axis=0).shape == (200,)
    assert int(xp.sum(table, dtype=xp.int8)) == np.int8(numbers.sum() % 256)
    for dtype in ("float64", "complex64"):
        assert operations.total(p.SUM, numbers.astype(dtype)) is None
    assert operations.total(p.MEAN, numbers) is None


@needs_extension
def test_totals_check_what_they_are_told():
    assert native is not None
    numbers = np.arange(60_000)
    good = operations._exact(p.SUM, numbers.dtype)
    assert good is not None
    pointer, dtype, identity, alone = good
    moments = loops.reduction(p.VAR, np.dtype("f8"))
    unary = loops.find(p.NEGATIVE, numbers.dtype)
    assert moments is not None
    assert unary is not None
    for wrong, error in (
        (good[:3], ValueError),
        (list(good), TypeError),
        ((3, dtype, identity, alone), ValueError),
        ((moments[0].pointer, dtype, identity, alone), ValueError),
        ((unary.pointer, dtype, identity, alone), ValueError),
        ((pointer, np.dtype("i4"), identity, alone), ValueError),
        ((pointer, np.dtype(">i8"), identity, alone), ValueError),
        ((pointer, "int64", identity, alone), ValueError),
        ((pointer, dtype, np.zeros(1, int), alone), ValueError),
        ((pointer, dtype, np.zeros((), "i4"), alone), ValueError),
        ((pointer, dtype, 0, alone), ValueError),
        ((pointer, dtype, identity, -1), ValueError),
    ):
        refused(error, None, native.total, wrong, 2, numbers)
    refused(ValueError, "threads", native.total, good, 0, numbers)
    refused(TypeError, "total takes", native.total, good, 2)
    for array in (numbers.astype("i4"), numbers.astype(">i8"), [1, 2], None):
        assert native.total(good, 2, array) is None
