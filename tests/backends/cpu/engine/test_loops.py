"""Every loop has the bits of its NumPy kernel.

NumPy's loops take other paths at lengths around the widths of vector registers, at odd addresses,
and for strided and constant operands; the bits must not change there. (For operands that run
backwards some do, and nothing is promised.)
"""

import itertools

import numpy as np

import array_api_nx as xp
from array_api_nx.backends.cpu.engine import loops
from array_api_nx.backends.cpu.ufunc_table import BINARY_NEW, UNARY
from array_api_nx.core import dtypes as d
from array_api_nx.primitives import table as p
from tests.support.programs import needs_extension, same_bits
from tests.support.tables import for_each

pytestmark = needs_extension

DTYPES = list(d.NUMPYS)
LENGTHS = [*range(1, 18), 31, 32, 33, 63, 64, 65, 127, 128, 130]


def values(dtype, size, seed):
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


def check(op, inputs):
    """Compare the function of the namespace, which has the loop run, with the kernel of NumPy's, on
    1-d inputs, which may be broadcast or strided."""
    function = getattr(xp, op.name, None)
    expected = kernel_of(op)(*inputs)
    if function is not None:
        found = np.asarray(function(*[xp.asarray(x) for x in inputs]))
        assert same_bits(found, expected), (op, inputs)


def loops_of(*families):
    for op in p.of_family(*families):
        found = [loops.find(op, dtype) for dtype in op.results]
        yield op, [loop for loop in found if loop is not None]


def arguments(op, loop, size):
    made = [values(dtype, size, seed) for seed, dtype in enumerate(loop.inputs)]
    if op is p.POW and loop.output.kind == "i":
        made[1] = made[1] & 7  # NumPy refuses negative exponents
    return made


ELEMENTWISE = [(op, found) for op, found in loops_of("unary", "binary") if found]
BINARY = [(op, found) for op, found in ELEMENTWISE if op.family == "binary"]


def kernel_of(op):
    return UNARY[op] if op.family == "unary" else BINARY_NEW[op]


@for_each(("op", "found"), ELEMENTWISE)
def test_lengths(op, found):
    for loop in found:
        inputs = arguments(op, loop, 130)
        for length in LENGTHS:
            check(op, [x[:length] for x in inputs])
            # from an odd address on
            check(op, [x[1:length] for x in inputs])


@for_each(("op", "found"), ELEMENTWISE)
def test_strides(op, found):
    for loop in found:
        inputs = arguments(op, loop, 201)
        check(op, [x[::2] for x in inputs])
        check(op, [inputs[0][::3], *[x[:67] for x in inputs[1:]]])


@for_each(("op", "found"), BINARY)
def test_constant_operands(op, found):
    for loop in found:
        first, second = arguments(op, loop, 130)
        for k in range(0, 60, 4):
            check(op, [np.broadcast_to(first[k], 130), second])
            if op is not p.POW or second[k] != 0.5:  # which is corrected
                check(op, [first, np.broadcast_to(second[k], 130)])


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
        ("floor_divide", "f"),
        *[("imag", kind) for kind in "iuf"],
    }


def test_rows_say_which_functions_are_corrected():
    """Those of complex numbers that are not NumPy's; parts of numbers are no ufunc's results."""
    others = {op for op in UNARY if d.COMPLEX[0] in op.results and op.numpy[0] in dir(np)}
    others = {op for op in others if UNARY[op] is not getattr(np, op.numpy[0])}
    assert {op for op in UNARY if op.corrected} == others - {p.REAL, p.IMAG, p.ROUND}


def test_loops_are_made_once():
    dtype = np.dtype(np.float64)
    for name in ("add", "imag"):
        op = next(op for op in p.of_family("unary", "binary") if op.name == name)
        assert loops.find(op, dtype) is loops.find(op, np.dtype("float64"))


def test_names_are_those_of_warnings():
    dtype = np.dtype(np.float64)
    found = [loops.find(op, dtype) for op in (p.DIVIDE, p.ABS, p.ROUND, p.POW)]
    assert [loop.name for loop in found if loop] == ["divide", "absolute", "rint", "power"]


@for_each("source", DTYPES)
def test_casts(source):
    for target in DTYPES:
        if (source.kind + target.kind) not in ("fi", "fu", "ci", "cu", "cf"):
            for x in (values(source, 131, 0), values(source, 200, 1)[::3]):
                with np.errstate(all="ignore"):
                    assert same_bits(np.asarray(xp.astype(xp.asarray(x), target)), x.astype(target))


@for_each("dtype", DTYPES)
def test_choices(dtype):
    for length in (1, 7, 64, 131):
        condition = values(np.dtype(bool), length, 0)
        first, second = values(dtype, length, 1), values(dtype, length, 2)
        for chosen in (
            (condition, first, second),
            (condition[::-1], first, second[::-1]),
            (condition, np.broadcast_to(first[0], length), second),
        ):
            found = np.asarray(xp.where(*[xp.asarray(x) for x in chosen]))
            assert same_bits(found, np.where(*chosen))


def test_extremes_pass_over_nan():
    for name, identity in (("max", -np.inf), ("min", np.inf)):
        x = values(np.dtype("float64"), 300, 3)
        ours = xp.asarray(x)
        best = getattr(xp, name)(xp.where(xp.isnan(ours), identity, ours))
        assert float(best) == getattr(np, f"nan{name}")(x)
