"""The elementwise chapter: values against NumPy, dtypes, promotion, scalars, errors."""

import inspect
import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import array_api_nx as xp
from array_api_nx.frontend import elementwise
from tests.support.docstrings import needs_docstrings
from tests.support.refusals import refused
from tests.support.tables import for_each

BOOL = ("bool",)
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGRAL = (*SIGNED, *UNSIGNED)
REAL_FLOATING = ("float32", "float64")
COMPLEX = ("complex64", "complex128")
FLOATING = (*REAL_FLOATING, *COMPLEX)
REAL = (*INTEGRAL, *REAL_FLOATING)
NUMERIC = (*REAL, *COMPLEX)
ALL = (*BOOL, *NUMERIC)
DISCRETE = (*BOOL, *INTEGRAL)

REAL_PART = {"complex64": "float32", "complex128": "float64"}

# The dtypes that functions take as they are; COMPUTED_IN_FLOAT64 take the discrete ones too.
UNARY_BY_DTYPES = {
    FLOATING: "acos acosh asin asinh atan atanh cos cosh exp expm1 log log1p log2 log10 reciprocal "
    "sin sinh sqrt tan tanh",
    REAL_FLOATING: "signbit",
    NUMERIC: "abs conj imag negative positive real round sign square",
    REAL: "ceil floor trunc",
    DISCRETE: "bitwise_invert",
    ALL: "isfinite isinf isnan logical_not",
}
BINARY_BY_DTYPES = {
    FLOATING: "divide",
    REAL_FLOATING: "atan2 copysign hypot logaddexp nextafter",
    NUMERIC: "pow subtract",
    REAL: "floor_divide remainder",
    (*BOOL, *REAL): "greater greater_equal less less_equal maximum minimum",
    DISCRETE: "bitwise_and bitwise_or bitwise_xor",
    INTEGRAL: "bitwise_left_shift bitwise_right_shift",
    ALL: "add multiply equal not_equal logical_and logical_or logical_xor",
}
COMPARISONS = ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"]
UNARY = {name: dtypes for dtypes, names in UNARY_BY_DTYPES.items() for name in names.split()}
BINARY = {name: dtypes for dtypes, names in BINARY_BY_DTYPES.items() for name in names.split()}
TO_BOOL = {
    *COMPARISONS,
    *["isfinite", "isinf", "isnan", "signbit"],
    *["logical_and", "logical_not", "logical_or", "logical_xor"],
}
COMPUTED_IN_FLOAT64 = {
    name for name, dtypes in (UNARY | BINARY).items() if dtypes in (FLOATING, REAL_FLOATING)
}
NUMPY_NAMES = {
    "bitwise_left_shift": "left_shift",
    "bitwise_right_shift": "right_shift",
    "round": "rint",
}


def sample(dtype, shape, seed=0):
    """Small values of both signs where there are two, zero included."""
    rng = np.random.default_rng([seed, *shape])
    if dtype == "bool":
        return rng.random(shape) < 0.5
    if dtype in UNSIGNED:
        return rng.integers(0, 7, shape).astype(dtype)
    if dtype in SIGNED:
        return rng.integers(-6, 7, shape).astype(dtype)
    x = rng.uniform(-3, 3, shape)
    if dtype in COMPLEX:
        return (x + 1j * rng.uniform(-3, 3, shape)).astype(dtype)
    return x.astype(dtype)


LAYOUTS = {
    "row-major": lambda x: x,
    "column-major": lambda x: x.T,
    "stepped": lambda x: x[::-2, 1::2],
    "broadcast": lambda x: np.broadcast_to(x[:, :1], x.shape),
    "0-d": lambda x: x[1, 1, ...],
    "empty": lambda x: x[:0],
}


def numpy_function(name):
    return getattr(np, NUMPY_NAMES.get(name, name))


def expected_unary(name, x):
    if name in ("ceil", "floor", "round", "trunc") and x.dtype.name in INTEGRAL:
        return x
    if name in ("real", "imag"):
        return np.asarray(getattr(x, name))
    if name in COMPUTED_IN_FLOAT64 and x.dtype.name in DISCRETE:
        x = x.astype("float64")
    if name == "reciprocal":
        return np.asarray(1 / x)
    return np.asarray(numpy_function(name)(x))


def test_the_tables_of_this_file_cover_the_chapter():
    assert sorted({*UNARY, *BINARY, "clip"}) == sorted(elementwise.__all__)
    assert len(elementwise.__all__) == 67


@needs_docstrings
@for_each("name", elementwise.__all__)
def test_functions_are_plain_and_documented(name):
    function = getattr(xp, name)
    assert inspect.isfunction(inspect.unwrap(function))
    assert function.__name__ == name
    parameters = list(inspect.signature(function).parameters.values())
    expected = ["x", "min", "max"] if name == "clip" else ["x"] if name in UNARY else ["x1", "x2"]
    assert [each.name for each in parameters] == expected
    positional = [each for each in parameters if each.kind is inspect.Parameter.POSITIONAL_ONLY]
    assert len(positional) == (1 if name == "clip" else len(expected))
    assert all(each.annotation is not inspect.Parameter.empty for each in parameters)
    doc = inspect.getdoc(function)
    assert doc is not None
    assert doc.endswith("Standard: elementwise functions.")


@for_each("name", UNARY)
def test_unary_values(name):
    function = getattr(xp, name)
    for dtype, layout in product(UNARY[name], LAYOUTS):
        x = LAYOUTS[layout](sample(dtype, (5, 6)))
        before = x.copy()
        array = xp.asarray(x)
        result = function(array)
        expected = expected_unary(name, x)
        assert result.shape == x.shape
        assert result.dtype.name == expected.dtype.name == unary_result(name, dtype), dtype
        np.testing.assert_array_equal(np.asarray(result), expected, f"{dtype}, {layout}")
        np.testing.assert_array_equal(x, before)
        assert not np.shares_memory(np.asarray(result), np.asarray(array)), "a copy is promised"


def unary_result(name, dtype):
    if name in TO_BOOL:
        return "bool"
    return REAL_PART.get(dtype, dtype) if name in ("abs", "imag", "real") else dtype


@for_each("name", [name for name in UNARY if name in COMPUTED_IN_FLOAT64])
@pytest.mark.parametrize("dtype", DISCRETE)
def test_unary_of_integers_and_booleans_is_computed_in_float64(name, dtype):
    x = sample(dtype, (7,))
    result = getattr(xp, name)(xp.asarray(x))
    assert result.dtype is (xp.bool if name == "signbit" else xp.float64)
    np.testing.assert_array_equal(np.asarray(result), expected_unary(name, x))


def operand(name, dtype, shape, which):
    x = sample(dtype, shape, seed=which)
    if which == 1 and dtype in SIGNED and name in ("pow", *NUMPY_NAMES):
        x = np.abs(x)
    if which == 1 and dtype in DISCRETE and name in ("floor_divide", "remainder", "divide"):
        x = np.where(x == 0, np.ones_like(x), x)
    return x


def binary_result(name, dtype):
    if name in TO_BOOL:
        return "bool"
    return "float64" if name in COMPUTED_IN_FLOAT64 and dtype in DISCRETE else dtype


@for_each("name", BINARY)
def test_binary_values(name):
    function, ufunc = getattr(xp, name), numpy_function(name)
    for dtype, layout in product(BINARY[name], LAYOUTS):
        x1, x2 = [LAYOUTS[layout](operand(name, dtype, (5, 6), which)) for which in (0, 1)]
        result = function(xp.asarray(x1), xp.asarray(x2))
        expected = np.asarray(ufunc(x1, x2))
        assert result.shape == x1.shape
        assert result.dtype.name == expected.dtype.name == binary_result(name, dtype)
        np.testing.assert_array_equal(np.asarray(result), expected, f"{dtype}, {layout}")
        memory = np.asarray(result)
        assert not any(np.shares_memory(memory, x) for x in (x1, x2))


@for_each("name", BINARY)
def test_mixed_dtypes_promote_as_in_numpy(name):
    function, ufunc = getattr(xp, name), numpy_function(name)
    for dtype1, dtype2 in product(ALL, repeat=2):
        promoted = np.result_type(dtype1, dtype2).name
        compute = "float64" if name in COMPUTED_IN_FLOAT64 and promoted in DISCRETE else promoted
        x1, x2 = operand(name, dtype1, (4,), 0), operand(name, dtype2, (4,), 1)
        arrays = xp.asarray(x1), xp.asarray(x2)
        if compute not in BINARY[name]:
            refused(TypeError, f"{name} takes .* dtypes, not {promoted}", function, *arrays)
            continue
        result = function(*arrays)
        assert result.dtype.name == binary_result(name, compute), (dtype1, dtype2)
        expected = ufunc(x1.astype(compute), x2.astype(compute))
        np.testing.assert_array_equal(np.asarray(result), expected)


@for_each("name", BINARY)
def test_scalar_on_either_side_is_an_array_of_the_same_dtype(name):
    for dtype in BINARY[name]:
        scalar = True if dtype == "bool" else 2 if dtype in INTEGRAL else 1.5
        x = xp.asarray(operand(name, dtype, (4,), 1))
        full = xp.full((4,), scalar, dtype=x.dtype)
        function = getattr(xp, name)
        for result, expected in (
            (function(x, scalar), function(x, full)),
            (function(scalar, x), function(full, x)),
        ):
            assert result.dtype is expected.dtype
            np.testing.assert_allclose(np.asarray(result), np.asarray(expected), rtol=1e-6)


KIND_WORDS = {
    REAL_FLOATING: "real floating",
    NUMERIC: "numeric",
    REAL: "integral or real floating",
    DISCRETE: "integral or bool",
    INTEGRAL: "integral",
    (*BOOL, *REAL): "integral or real floating or bool",
}


ILLEGAL = {
    name: [
        dtype
        for dtype in ALL
        if dtype not in dtypes and not (name in COMPUTED_IN_FLOAT64 and dtype in DISCRETE)
    ]
    for name, dtypes in (UNARY | BINARY).items()
}


@for_each("name", [name for name, dtypes in ILLEGAL.items() if dtypes])
def test_illegal_dtypes_name_the_legal_kinds(name):
    kinds = KIND_WORDS[(UNARY | BINARY)[name]]
    for dtype in ILLEGAL[name]:
        x = xp.asarray(sample(dtype, (3,)))
        with pytest.raises(TypeError, match=f"{name} takes .*{kinds}.* not {dtype}.*astype"):
            getattr(xp, name)(*([x] if name in UNARY else [x, x]))


@for_each("name", BINARY)
def test_two_scalars(name):
    refused(TypeError, r"at least one argument must be an array.*asarray", getattr(xp, name), 1, 2)


@for_each("name", BINARY)
def test_shapes_that_do_not_broadcast(name):
    x1, x2 = xp.ones((2, 3), dtype=xp.int32), xp.ones((4, 1, 2), dtype=xp.int32)
    function = getattr(xp, name)
    for operands in ((x1, x2), (x1, xp.astype(x2, xp.int16))):
        with pytest.raises(
            ValueError, match=r"\(2, 3\), \(4, 1, 2\) cannot be broadcast.*expand_dims"
        ):
            function(*operands)


def test_shifts():
    x = xp.asarray(np.array([-8, -1, 1, 100], dtype="int8"))
    assert np.asarray(xp.bitwise_right_shift(x, 1)).tolist() == [-4, -1, 0, 50]
    assert np.asarray(xp.bitwise_left_shift(x, 1)).tolist() == [-16, -2, 2, -56]
    assert np.asarray(xp.bitwise_right_shift(x, 100)).tolist() == [-1, -1, 0, 0]
    assert np.asarray(xp.bitwise_left_shift(x, 100)).tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("dtype", INTEGRAL)
def test_integer_division_by_zero_is_zero(dtype):
    x = xp.asarray(sample(dtype, (40,)))
    for name in ("floor_divide", "remainder"):
        assert not np.asarray(getattr(xp, name)(x, 0)).any()


@given(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=4, max_side=4))
def test_broadcasting_is_numpys(shapes):
    x1, x2 = [sample("float64", shape, seed) for seed, shape in enumerate(shapes.input_shapes)]
    result = xp.subtract(xp.asarray(x1), xp.asarray(x2))
    assert result.shape == shapes.result_shape
    np.testing.assert_array_equal(np.asarray(result), x1 - x2)


@for_each("dtype", REAL)
@for_each("limits", [(None, None), (1, None), (None, 3), (1, 3), (3, 1), (2, 2)])
@pytest.mark.parametrize("arrays", [False, True])
def test_clip_values(dtype, limits, arrays):
    for layout in LAYOUTS.values():
        x = layout(sample(dtype, (5, 6)))
        low, high = limits
        expected = x.copy()
        if low is not None:
            expected = np.maximum(expected, np.asarray(low, dtype))
        if high is not None:
            expected = np.minimum(expected, np.asarray(high, dtype))
        given_limits = [
            xp.asarray(np.full(x.shape, limit, dtype)) if arrays and limit is not None else limit
            for limit in limits
        ]
        array = xp.asarray(x)
        result = xp.clip(array, *given_limits)
        assert result.dtype is array.dtype
        np.testing.assert_array_equal(np.asarray(result), expected)
        assert not np.shares_memory(np.asarray(result), np.asarray(array)), "a copy is promised"


def test_clip_by_keywords():
    x = xp.asarray([1.0, 2.0, 3.0])
    assert np.asarray(xp.clip(x, max=2.0)).tolist() == [1.0, 2.0, 2.0]
    assert np.asarray(xp.clip(x, min=2.0)).tolist() == [2.0, 2.0, 3.0]
    assert np.asarray(xp.clip(x, max=2.5, min=1.5)).tolist() == [1.5, 2.0, 2.5]


@given(
    st.sampled_from(INTEGRAL),
    st.lists(st.integers(-(2**70), 2**70), min_size=1),
    st.none() | st.integers(-(2**70), 2**70),
    st.none() | st.integers(-(2**70), 2**70),
)
def test_clip_takes_any_python_int(dtype, values, low, high):
    """Exact where the exact result is representable, and the nearest bound elsewhere."""
    bounds = np.iinfo(dtype)
    values = [min(max(value, bounds.min), bounds.max) for value in values]
    exact = [value if low is None else max(value, low) for value in values]
    exact = [value if high is None else min(value, high) for value in exact]
    expected = [min(max(value, bounds.min), bounds.max) for value in exact]
    result = xp.clip(xp.asarray(np.array(values, dtype=dtype)), low, high)
    assert result.dtype.name == dtype
    assert np.asarray(result).tolist() == expected


@pytest.mark.parametrize("dtype", REAL_FLOATING)
@pytest.mark.parametrize("size", [1, 3, 1_003])
def test_clip_propagates_nan(dtype, size):
    x = xp.ones((size,), dtype=getattr(xp, dtype))
    nans = xp.asarray(np.full(size, np.nan, dtype))
    for nan in (math.nan, nans):
        for result in (
            xp.clip(x, nan, 2.0),
            xp.clip(x, 0.0, nan),
            xp.clip(x, nan),
            xp.clip(x, None, nan),
            xp.clip(x, nan, nan),
            xp.clip(nans, 0.0, 2.0),
            xp.clip(nans, 0.0),
        ):
            assert result.dtype.name == dtype
            assert np.isnan(np.asarray(result)).all()
    assert np.isnan(np.asarray(xp.clip(xp.asarray([1, 2]), math.nan, 3))).all()


@pytest.mark.parametrize(
    ("dtype", "low", "high", "expected"),
    [
        ("int32", 0.5, None, "float64"),
        ("int32", 0.5, 2, "float64"),
        ("float32", 0, 1.5, "float32"),
        ("float32", True, 1.5, "float32"),
        ("bool", 0, 1, "int64"),
        ("int8", "int16", None, "int16"),
        ("int8", 0, "uint8", "int16"),
        ("uint8", -1, "uint16", "uint16"),
        ("float32", "float64", None, "float64"),
        ("int32", None, "float32", "float64"),
        ("float32", "int8", 3, "float32"),
    ],
)
def test_clip_promotes_as_numpy(dtype, low, high, expected):
    x = sample(dtype, (6,))
    limits = [np.full(6, 2, each) if isinstance(each, str) else each for each in (low, high)]
    result = xp.clip(
        xp.asarray(x), *[xp.asarray(y) if isinstance(y, np.ndarray) else y for y in limits]
    )
    assert result.dtype.name == expected
    bounds = [None if each is None else np.asarray(each).astype("float64") for each in limits]
    exact = x.astype("float64")
    if bounds[0] is not None:
        exact = np.maximum(exact, bounds[0])
    if bounds[1] is not None:
        exact = np.minimum(exact, bounds[1])
    np.testing.assert_array_equal(np.asarray(result), exact)


@given(hnp.mutually_broadcastable_shapes(num_shapes=3, max_dims=3, max_side=3))
def test_clip_broadcasts_all_three(shapes):
    x, low, high = [sample("int16", shape, i) for i, shape in enumerate(shapes.input_shapes)]
    arrays = [xp.asarray(each) for each in (x, low, high)]
    result = xp.clip(*arrays)
    assert result.shape == shapes.result_shape
    np.testing.assert_array_equal(np.asarray(result), np.minimum(np.maximum(x, low), high))
    one_sided = xp.clip(arrays[0], arrays[1])
    np.testing.assert_array_equal(np.asarray(one_sided), np.maximum(x, low))


@xp.config_context(operands="strict")
def test_clip_errors():
    x = xp.asarray([1.0, 2.0])
    refused(TypeError, r"min must be an array.*ndarray.*asarray", xp.clip, x, np.zeros(2))
    refused(TypeError, r"max must be an array.*list.*asarray", xp.clip, x, 0.0, [1.0])
    refused(TypeError, r"x must be an array_api_nx array.*asarray", xp.clip, 1.0, 0.0, 1.0)
    refused(TypeError, "clip takes integral or real floating dtypes, not complex", xp.clip, x, 1j)
    with pytest.raises(TypeError, match="clip takes integral or real floating dtypes, not bool"):
        xp.clip(xp.asarray([True]), False, True)
    refused(ValueError, r"\(2,\), \(3,\) cannot be broadcast", xp.clip, x, xp.zeros(3), 1.0)
    with pytest.raises(ValueError, match=r"\(2,\), \(1,\), \(3,\) cannot be broadcast"):
        xp.clip(x, xp.zeros((1,)), xp.zeros(3))


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("size", [1, 7, 40_000])  # the last is deferred
def test_log1p_of_small_complex_numbers_keeps_its_digits(dtype, size):
    generator = np.random.default_rng(size)
    parts = generator.choice([-1, 1], (2, size)) * 2.0 ** generator.uniform(-40, -2, (2, size))
    z = (parts[0] + 1j * parts[1]).astype(dtype)
    a, b = z.real.astype(np.longdouble), z.imag.astype(np.longdouble)
    result = np.from_dlpack(xp.log1p(xp.asarray(z)))
    assert result.dtype == z.dtype
    real = result.real - np.log1p(a * (2 + a) + b * b) / 2
    imag = result.imag - np.arctan2(b, 1 + a)
    assert np.all(np.hypot(real, imag) <= 4 * np.finfo(dtype).eps * np.abs(z))
