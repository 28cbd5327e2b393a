"""Compiled by engines, every primitive has its eager results, at special operands too.

Results agree to rounding; NaN, infinities and the signs of zeros are the same. Below the smallest
normal number anything may be zero. Many results come out of one compiled function, because each
takes an engine's compiler a second or more.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.core import dtypes as d
from array_api_nx.frontend.array import wrap
from array_api_nx.primitives import table as p

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning",
    "ignore::FutureWarning",
    "ignore:Torchinductor does not support code generation for complex:UserWarning",
)

ROUNDINGS = 16
"""How many units in the last place a compiled function may be off."""

Function = Callable[..., xp.Array]
Functions = dict[str, Function]


@pytest.fixture
def device(device):
    if device.backend.compiler is None:
        pytest.skip(f"{device} has no compiler")
    return device


def difference(actual, expected, roundings, floor=0.0):
    """How `actual` differs by more than `roundings` and `floor`, or None."""
    if (actual.dtype, actual.shape) != (expected.dtype, expected.shape):
        return f"{actual.dtype} {actual.shape} instead of {expected.dtype} {expected.shape}"
    whole = [actual, expected]
    if expected.dtype.kind == "c":
        actual, expected = [np.stack([x.real, x.imag], axis=-1) for x in whole]
    alike = actual == expected
    if expected.dtype.kind == "f":
        info = np.finfo(expected.dtype)
        alike &= np.signbit(actual) == np.signbit(expected)
        alike |= np.isnan(actual) & np.isnan(expected)
        size = np.abs(expected)
        if whole[0].dtype.kind == "c":
            size = np.abs(whole[1])[..., None]
        near = np.abs(actual - expected) <= roundings * info.eps * size
        alike |= near & (expected != 0) & np.isfinite(expected)
        alike |= np.abs(actual - expected) <= floor
        small = (np.abs(actual) < info.tiny) & (np.abs(expected) < info.tiny)
        alike |= small & ((actual != 0) | (expected != 0))
    if alike.all():
        return None
    where = tuple(np.argwhere(~alike)[0].tolist())
    return f"{actual[where]} instead of {expected[where]} at {where}"


def square_of_rounding(x):
    """The square of the rounding of a mean of elements of `x`; 0.0 where they are complex."""
    elements = np.asarray(x.to_device("cpu"))
    if elements.dtype.kind == "c":
        return 0.0
    largest = np.max(np.abs(elements.astype(np.float64)), initial=0.0, where=elements == elements)
    return (largest * np.finfo(elements.dtype if elements.dtype.kind == "f" else "f8").eps) ** 2


def check(functions, *sets, roundings=ROUNDINGS):
    """Compiled together the functions have their eager results, for each set of arguments."""

    def together(*arrays):
        return [function(*arrays) for function in functions.values()]

    compiled = xp.compile(together, engine="native")
    wrong = {}
    with np.errstate(all="ignore"):
        for arrays in sets:
            expected = together(*arrays)
            for name, mine, other in zip(functions, compiled(*arrays), expected, strict=True):
                pair = [np.asarray(x.to_device("cpu")) for x in (mine, other)]
                # A variance is as far off as the square of what the mean is.
                floor = roundings * square_of_rounding(arrays[0]) if name == "var" else 0.0
                found = difference(*pair, roundings, floor)
                if found is not None:
                    wrong[name, arrays[0].shape] = found
    assert not wrong


SHIFTS = (p.BITWISE_LEFT_SHIFT, p.BITWISE_RIGHT_SHIFT)
WITH_SCALARS = (p.ADD, p.SUBTRACT, p.MULTIPLY, p.DIVIDE, p.POW, p.MAXIMUM)


def specials(dtype):
    kind = np.dtype(dtype.name).kind
    if kind == "b":
        return [False, True]
    if kind in "iu":
        info = np.iinfo(dtype.name)
        edges = [info.min, info.min + 1, info.max // 2, info.max - 1, info.max]
        return [0, 1, 2, 3, 7, 31, 100, *edges, *([-1, -2, -7] if kind == "i" else [])]
    real = np.finfo(dtype.name)
    edges = [float(x) for x in (real.smallest_subnormal, real.tiny, 4 * real.tiny, real.max)]
    if kind == "c":
        parts = [0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan, edges[1], edges[3]]
        return [complex(x, y) for x in parts for y in parts]
    usual = [0.0, 0.5, 1.0, 2.0, 2.5, 3.0, 10.0, 88.0, 1e-3, 1e10, float(real.eps)]
    found = [*usual, *edges, edges[1] / 2, edges[3] / 2, np.inf, np.nan]
    return [*found, *[-x for x in found]]


def scalars(dtype):
    kind = np.dtype(dtype.name).kind
    if kind == "f":
        return [0, 1, 2, -1, 0.0, -0.0, 0.5, -0.5, np.inf, np.nan]
    return {"b": [True], "u": [0, 1, 2], "i": [0, 1, 2], "c": [0, 1, 2, -1]}[kind]


def operands(dtype, flushes):
    """Pairs of special values; without those below the normal numbers, where the engine `flushes`
    them."""
    values = specials(dtype)
    if flushes and dtype in d.REAL_FLOATING:
        tiny = np.finfo(dtype.name).tiny
        values = [x for x in values if x == 0 or not abs(x) < tiny]
    if len(values) > 40:
        rng = np.random.default_rng(0)
        pair = [rng.permutation(np.tile(values, 4)) for _ in range(2)]
    else:
        pair = [x.ravel() for x in np.meshgrid(values, values)]
    return [np.asarray(x).astype(dtype.name) for x in pair]


def apply(op, *arguments):
    like = next(x for x in arguments if isinstance(x, xp.Array))
    handles = [x._handle if isinstance(x, xp.Array) else x for x in arguments]
    method = getattr(like._device.backend, op.family)
    return wrap(method(op, *handles), op.results[like.dtype], like._device)


def unsigned(x):
    return xp.where(x == 0, 0, x)


def elementwise(dtype, is_on_gpu):
    """Functions of two arrays of `dtype` and counts of bits.

    On GPUs either one of zeros of either sign may be the larger.
    """
    found = {}
    for op in p.of_family("unary"):
        if dtype in op.results:
            found[op.name] = lambda x, y, n, op=op: apply(op, x)
    for op in p.of_family("binary"):
        if dtype not in op.results:
            continue
        if op in SHIFTS:
            found[op.name] = lambda x, y, n, op=op: apply(op, x, n)
        elif op in (p.FMAX, p.FMIN):  # of zeros of either sign, either one is the larger
            found[op.name] = lambda x, y, n, op=op: unsigned(apply(op, x, y))
        elif op in (p.MAXIMUM, p.MINIMUM) and dtype in d.REAL_FLOATING and is_on_gpu:
            found[op.name] = lambda x, y, n, op=op: unsigned(apply(op, x, y))
            continue
        elif op is not p.POW or np.dtype(dtype.name).kind not in "iu":
            found[op.name] = lambda x, y, n, op=op: apply(op, x, y)
        for c in scalars(dtype) if op in WITH_SCALARS else ():
            found[f"{op.name}(x, {c!r})"] = lambda x, y, n, op=op, c=c: apply(op, x, c)
            # On GPUs PyTorch, not compiled, multiplies by inverses, which overflow.
            if op is not p.POW and not (is_on_gpu and op is p.DIVIDE and repr(c) == "-0.0"):
                found[f"{op.name}({c!r}, x)"] = lambda x, y, n, op=op, c=c: apply(op, c, x)
    return found


def compilable(functions, *arrays):
    """The functions that neither look at elements nor are NumPy's."""
    known = {}
    for name, function in functions.items():
        kind = name.partition("(")[0]
        if kind not in known:
            explained = xp.compile(function, engine="native").explain(*arrays)
            known[kind] = "not compiled" not in str(explained.how)
    return {name: each for name, each in functions.items() if known[name.partition("(")[0]]}


@pytest.mark.parametrize("dtype", d.NUMPYS, ids=lambda dtype: dtype.name)
def test_primitives_give_the_same_at_special_operands(device, dtype):
    # PyTorch, not compiled, divides a number by float16 through its reciprocal, which overflows
    # below the normal numbers.
    flushes = device.backend.compiler == "jax.jit" or dtype in d.NARROW
    values = operands(dtype, flushes)
    bits = np.arange(values[0].size) % (8 * dtype.itemsize)
    counts = bits.astype(dtype.name if dtype in d.INTEGRAL else "int64")
    arrays = tuple([xp.asarray(x, device=device) for x in (*values, counts)])
    functions = compilable(elementwise(dtype, "cuda" in str(device)), *arrays)
    assert len(functions) > 15
    check(functions, arrays)


IDENTITIES = {
    "log(exp(x))": lambda x: xp.log(xp.exp(x)),
    "exp(x) * exp(-x)": lambda x: xp.exp(x) * xp.exp(-x),
    "exp(x) / exp(x)": lambda x: xp.exp(x) / xp.exp(x),
    "log(x**3)": lambda x: xp.log(x**3),
    "sqrt(x * x)": lambda x: xp.sqrt(x * x),
    "sqrt(square(x))": lambda x: xp.sqrt(xp.square(x)),
    "sqrt(x) * sqrt(x)": lambda x: xp.sqrt(x) * xp.sqrt(x),
    "(x**2) ** 0.5": lambda x: (x**2) ** 0.5,
    "x * 4 / 4": lambda x: x * 4 / 4,
    "x * 1e200 * 1e200 * 1e-300": lambda x: x * 1e200 * 1e200 * 1e-300,
    "x / 1e-300 / 1e300": lambda x: x / 1e-300 / 1e300,
    "x / (x / 3)": lambda x: x / (x / 3),
    "1 / (1 / x)": lambda x: 1 / (1 / x),
    "x + 1e16 - 1e16": lambda x: (x + 1e16) - 1e16,
    "x + x - x": lambda x: x + x - x,
    "x - x": lambda x: x - x,
    "x / x": lambda x: x / x,
    "x * 0": lambda x: x * 0,
    "0 * x": lambda x: 0 * x,
    "0 / x": lambda x: 0 / x,
    "sum(x * 0)": lambda x: xp.sum(x * 0),
    "1 / (x + 0)": lambda x: 1 / (x + 0),
    "1 / (0 + x)": lambda x: 1 / (0 + x),
    "1 / (0 - x)": lambda x: 1 / (0 - x),
    "1 / (x - -0.0)": lambda x: 1 / (x - -0.0),
    "1 / (x + zeros)": lambda x: 1 / (x + xp.zeros_like(x)),
    "1 / (x * -1)": lambda x: 1 / (x * -1),
    "1 / round(x)": lambda x: 1 / xp.round(x),
    "1 / where(x == 0, 0, x)": lambda x: 1 / xp.where(x == 0, 0.0, x),
    "1 / where(x < 0, -x, x)": lambda x: 1 / xp.where(x < 0, -x, x),
    "where(x > 3, x, 3)": lambda x: xp.where(x > 3, x, 3.0),
    "clip(x, -1, 1)": lambda x: xp.clip(x, -1.0, 1.0),
    "not x >= 0": lambda x: xp.logical_not(x >= 0),
    "x == x": lambda x: x == x,
    "x as float32 and back": lambda x: xp.astype(xp.astype(x, xp.float32), xp.float64),
    "x - mean(x)": lambda x: x - xp.mean(x),
    "max(x)": xp.max,
    "min(x)": xp.min,
    "argmax(x)": xp.argmax,
}
EXTREMES = [
    np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 2.0, 0.5, -2.5, 3.0, 800.0, -800.0, 1e200,
    -1e200, 1e308, 1e-200, -1e-200, 1e-300, 0.1, 1e16, 12345.678,
]  # fmt: skip


def test_operations_are_not_joined_by_rules_of_real_numbers(device):
    sets = ([-0.0, 2.0, -3.0], [5.0, 1e200, 0.1, -3.0], EXTREMES, [1e308] * 5)
    check(IDENTITIES, *[(xp.asarray(values, device=device),) for values in sets], roundings=8)


def test_a_zero_is_added_to_a_single_element(device):
    check({"x + 0": lambda x: 1 / (x + 0)}, (xp.asarray([-0.0], device=device),))


LENGTHS = (1, 7, 16, 17, 33, 70)
"""About the lengths of vectors, where an engine compiles each length by itself."""


def reductions(dtype):
    families = p.of_family("reduce", "arg_reduce", "scan", "var")
    known = [op for op in families if dtype in op.results or dtype in op.cast_first]
    return {op.name: getattr(xp, op.name) for op in known}


def contents(dtype):
    """As many elements as the largest of `LENGTHS`, of one sign, of both, and extreme ones."""
    rng, count = np.random.default_rng(3), LENGTHS[-1]
    kind = np.dtype(dtype.name).kind
    if kind == "b":
        drawn = [np.zeros(count), np.ones(count), rng.integers(0, 2, count)]
    elif kind in "iu":
        info = np.iinfo(dtype.name)
        small = rng.integers(1, 120, count)
        whole = rng.integers(info.min, info.max, count, dtype.name, endpoint=True)
        drawn = [small, whole, info.max - rng.integers(0, 3, count).astype(dtype.name)]
        drawn += [-small] if kind == "i" else []
    else:
        small = 1 + rng.random(count)
        holed = np.where(np.arange(count) == 20, np.nan, small)
        drawn = [small, -small, np.where(np.arange(count) % 2, small, -small / 3), holed]
    return [x.astype(dtype.name) for x in drawn]


@pytest.mark.parametrize("dtype", d.NUMPYS, ids=lambda dtype: dtype.name)
def test_reductions_and_scans_of_1_to_70_elements(device, dtype):
    whole = [xp.asarray(x, device=device) for x in contents(dtype)]
    functions = compilable(reductions(dtype), whole[0])
    if device.backend.compiler == "torch.compile" and dtype not in d.COMPLEX:
        # The first length is compiled as a number, and the second leaves it open.
        lengths = sorted(range(1, LENGTHS[-1] + 1), reverse=True)
        check(functions, *[(x[:n],) for n in lengths for x in whole], roundings=1 << 12)
        return
    cut = {
        f"{name} of {n}": lambda x, function=function, n=n: function(x[:n])
        for name, function in functions.items()
        for n in (LENGTHS if dtype not in d.COMPLEX else LENGTHS[1::3])
    }
    check(cut, *[(x,) for x in whole], roundings=1 << 12)


def test_reductions_of_rows_and_columns(device):
    functions = {}
    for op in ("max", "min", "argmax", "argmin", "sum", "cumulative_sum"):
        for axis in (0, 1):
            functions[f"{op}, {axis}"] = partial(getattr(xp, op), axis=axis)
    for name in ("int8", "uint8"):
        values = [np.resize(x, (33, 35)) for x in contents(d.as_dtype(name))]
        check(functions, *[(xp.asarray(x, device=device),) for x in values])
