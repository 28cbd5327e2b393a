"""bfloat16: a row of another package, which arrives when it is asked for."""

import pickle
import textwrap

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.core import dtypes as d
from tests.support.implementations import needs_native
from tests.support.processes import python
from tests.support.refusals import refused
from tests.support.tables import for_each

ml_dtypes = pytest.importorskip("ml_dtypes")

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
DEVICES = ["cpu", "dask", "torch:cpu", "jax:cpu"]
VALUES = [0.5, -1.25, 3.0, 40.0]


@pytest.fixture(params=DEVICES)
def device(request):
    pytest.importorskip(request.param.partition(":")[0] if ":" in request.param else "ml_dtypes")
    if request.param == "dask":
        pytest.importorskip("dask")
    return request.param


def alone(code):
    """What a program prints, in a process of its own."""
    return python("-c", textwrap.dedent(code)).split()


def values(x):
    return np.asarray(x.to_device("cpu")).astype(np.float64)


def test_a_dtype_like_others():
    assert xp.bfloat16 is d.as_dtype("bfloat16") is d.as_dtype(ml_dtypes.bfloat16)
    assert xp.bfloat16 is d.known(BFLOAT16)
    assert d.KIND[xp.bfloat16] == "f"
    assert d.REAL_FLOATING.index(xp.bfloat16) == 1
    info = xp.finfo(xp.bfloat16)
    assert (info.bits, info.eps, info.dtype) == (16, 2.0**-7, xp.bfloat16)
    assert info.max == float(ml_dtypes.finfo(BFLOAT16).max)
    assert xp.isdtype(xp.bfloat16, "real floating")
    assert xp.isdtype(xp.bfloat16, ("bool", xp.bfloat16))
    assert "bfloat16" not in xp.__array_namespace_info__().dtypes()
    assert not d.known(BFLOAT16.newbyteorder("S"))
    assert not d.known(np.dtype(ml_dtypes.float8_e5m2))
    with xp.config_context(extras=False):
        assert not hasattr(xp, "bfloat16")


@pytest.mark.slow
def test_it_arrives_with_the_first_array_of_it():
    assert alone("""
        import sys
        import array_api_nx as xp
        print("ml_dtypes" in sys.modules)
        import ml_dtypes, numpy as np
        x = xp.asarray(np.asarray([1.5], ml_dtypes.bfloat16))
        print(x.dtype, (x * 2)[0], xp.result_type(x, xp.float32))
    """) == ["False", "bfloat16", "3", "float32"]


@pytest.mark.slow
def test_without_the_package_an_error_names_it():
    found = alone("""
        import sys
        sys.modules["ml_dtypes"] = None
        import array_api_nx as xp
        for call in (lambda: xp.bfloat16, lambda: xp.zeros(1, dtype="bfloat16")):
            try:
                call()
            except (AttributeError, ImportError) as error:
                print(type(error).__name__, "ml_dtypes" in str(error), "bfloat16]" in str(error))
        print(hasattr(xp, "bfloat16"), xp.float16)
    """)
    errors = ["AttributeError", "True", "True", "ImportError", "True", "True"]
    assert found == [*errors, "False", "float16"]


@for_each(
    ("other", "result"),
    [
        ("bool", "bfloat16"), ("int8", "bfloat16"), ("uint8", "bfloat16"), ("int16", "float32"),
        ("int64", "float64"), ("bfloat16", "bfloat16"), ("float32", "float32"),
        ("float64", "float64"), ("complex64", "complex64"),
    ],
)  # fmt: skip
def test_promotion(other, result):
    dtype = d.as_dtype(other)
    assert xp.result_type(xp.bfloat16, dtype) is xp.result_type(dtype, xp.bfloat16)
    x = xp.asarray([1.0], dtype=xp.bfloat16) * xp.asarray([1], dtype=dtype)
    assert x.dtype is xp.result_type(xp.bfloat16, dtype) is d.as_dtype(result)
    assert xp.can_cast(xp.bfloat16, dtype) is (result == other)


def test_scalars_are_weak():
    x = xp.asarray(VALUES, dtype=xp.bfloat16)
    for scalar in (True, 2, 2.5):
        assert (x * scalar).dtype is xp.result_type(x, scalar) is xp.bfloat16
    assert (x * 1j).dtype is xp.complex64
    assert float((xp.zeros(1, dtype=xp.bfloat16) + 0.1)[0]) == float(ml_dtypes.bfloat16(0.1))
    assert xp.isinf(x + 10**40)[0]


def test_the_two_of_16_bits_do_not_promote():
    x, y = xp.ones(2, dtype=xp.bfloat16), xp.ones(2, dtype=xp.float16)
    assert not xp.can_cast(xp.bfloat16, xp.float16)
    message = "bfloat16 and float16 have no common dtype .* astype to float32"
    for call in (
        lambda: xp.result_type(x, y),
        lambda: x + y,
        lambda: x < y,
        lambda: x @ y,
        lambda: xp.concat([x, y]),
        lambda: xp.where(x > 0, x, y),
    ):
        refused(TypeError, message, call)
    assert (xp.astype(x, xp.float32) + y).dtype is xp.float32
    assert xp.astype(x, xp.float16).dtype is xp.float16


FUNCTIONS = {
    "operators": lambda x: (x + 1) * x / 3 - x // 2 + x % 2.5,
    "power": lambda x: x**2,
    "exp": xp.exp,
    "sqrt": lambda x: xp.sqrt(abs(x)),
    "nan": lambda x: xp.sqrt(x),
    "where": lambda x: xp.where(x > 1, x, 0.1),
    "clip": lambda x: xp.clip(x, -1, 2.5),
    "sum": xp.sum,
    "prod": xp.prod,
    "mean": xp.mean,
    "var": lambda x: xp.var(x, correction=1),
    "max": xp.max,
    "cumulative_sum": xp.cumulative_sum,
    "sort": lambda x: xp.sort(x, descending=True),
    "unique_values": xp.unique_values,
    "matmul": lambda x: x[:, None] @ x[None, :],
    "vecdot": lambda x: xp.vecdot(x, x),
    "concat": lambda x: xp.concat([x, xp.flip(x)]),
    "take": lambda x: x[::-2],
}


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_functions(function, device):
    x = xp.asarray(VALUES, dtype=xp.bfloat16, device=device)
    found, wide = function(x), function(xp.astype(x, xp.float32))
    assert found.dtype is xp.bfloat16
    # A few operations round to 8 bits each.
    np.testing.assert_allclose(values(found), values(wide), rtol=0.02, atol=0.02)


@pytest.mark.parametrize("compare", [xp.less, xp.equal, xp.not_equal, xp.greater_equal])
def test_comparisons(compare, device):
    x = xp.asarray(VALUES, dtype=xp.bfloat16, device=device)
    expected = compare(xp.asarray(VALUES), 3.0)
    assert compare(x, 3).tolist() == compare(x, x[2]).tolist() == expected.tolist()
    assert [xp.argmax(x).tolist(), xp.argsort(x).tolist()] == [3, [1, 0, 2, 3]]
    assert [bool(xp.any(x)), bool(xp.all(x)), int(xp.count_nonzero(x))] == [True, True, 4]


def test_results_are_rounded_once(device):
    for n in (1_000, 100_000):
        x = xp.ones(n, dtype=xp.bfloat16, device=device)
        assert float(xp.sum(x)) == float(xp.cumulative_sum(x)[-1]) == float(ml_dtypes.bfloat16(n))
        assert float(xp.mean(x)) == 1
        assert xp.sum(x, dtype=xp.float32).dtype is xp.float32
    assert float(xp.sum(xp.ones(1_000), dtype=xp.bfloat16)) == 1000


def test_neighbours():
    x = xp.asarray([1.0, -1.0], dtype=xp.bfloat16)
    assert xp.nextafter(x, 9.0).tolist() == [1 + 2**-7, -1 + 2**-8]


@for_each("dtype", d.NUMPYS)
def test_casts(dtype):
    x = xp.asarray([0.0, 1.0, 5.0], dtype=xp.bfloat16)
    converted = xp.astype(x, dtype)
    assert converted.dtype is dtype
    assert converted.tolist() == np.asarray([0, 1, 5]).astype(dtype).tolist()
    if dtype not in d.COMPLEX:
        assert xp.astype(converted, xp.bfloat16).dtype is xp.bfloat16


def test_writes(device):
    x = xp.asarray(VALUES, dtype=xp.bfloat16, device=device)
    x += 1
    x *= x
    x[0] = 2.5
    x[xp.asarray([1, 2], device=device)] = xp.asarray([1.0, 2.0], dtype=xp.float32, device=device)
    assert (x.dtype, x.tolist()) == (xp.bfloat16, [2.5, 1.0, 2.0, 1680.0])


def test_exchange(device):
    x = xp.asarray(VALUES, dtype=xp.bfloat16, device=device)
    array = np.asarray(x)
    assert (type(array), array.dtype, array.tolist()) == (np.ndarray, BFLOAT16, VALUES)
    for again in (xp.asarray(array, device=device), pickle.loads(pickle.dumps(x))):
        assert (again.dtype, again.tolist()) == (xp.bfloat16, VALUES)
    assert repr(x[:2]).startswith("Array([0.5, -1.25], ")
    assert "dtype=bfloat16" in repr(x)
    assert (x.to_device("cpu") == xp.asarray(VALUES)).tolist() == [True] * 4


@needs_native
def test_dlpack():
    x = xp.asarray(VALUES, dtype=xp.bfloat16)
    again = xp.from_dlpack(x, copy=False)
    again[0] = 7.0
    assert float(x[0]) == 7
    refused(BufferError, "DLPack device", lambda: x.__dlpack__(dl_device=(2, 0)))
    for module in ("torch", "jax.numpy"):
        library = pytest.importorskip(module)
        theirs = library.from_dlpack(x)
        assert str(theirs.dtype).endswith("bfloat16")
        back = xp.from_dlpack(theirs)
        assert (back.dtype, back.tolist()) == (xp.bfloat16, x.tolist())
        assert xp.asarray(theirs).dtype is xp.bfloat16


def test_compiled():
    function = xp.compile(lambda x: xp.sum(xp.exp(x) * 0.5 + x, axis=-1))
    for n in (3, 50_000):
        x = xp.full((2, n), 0.5, dtype=xp.bfloat16)
        found = function(x)
        assert found.dtype is xp.bfloat16
        assert float(found[0]) == pytest.approx(n * 1.324, rel=0.01)


def test_random_numbers():
    x = xp.random.default_rng(1).random(1_000, dtype=xp.bfloat16)
    assert x.dtype is xp.bfloat16
    assert 0 <= float(xp.min(x)) < float(xp.max(x)) < 1


def test_what_is_computed_in_float32():
    x = xp.asarray(VALUES, dtype=xp.bfloat16)
    assert xp.fft.fft(x).dtype is xp.complex64
    refused(TypeError, "astype to float32", lambda: xp.linalg.inv(x[:, None] @ x[None, :]))
    pytest.importorskip("scipy")
    assert xp.special.gammaln(x).dtype is xp.float32
