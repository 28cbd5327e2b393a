"""How variables vary together."""

import numpy as np
import pytest

import array_api_nx as xp
from tests.extra.everywhere import everywhere, random
from tests.support.refusals import refused
from tests.support.tables import for_each


def values(dtype, *shape, seed=0):
    return random(np.random.default_rng(seed), shape, dtype)


def same(found, expected):
    expected = np.asarray(expected)
    assert found.dtype.name == expected.dtype.name
    np.testing.assert_allclose(
        np.asarray(found.to_device("cpu")), expected, rtol=1e-9, atol=1e-12, strict=True
    )


@for_each("options", [{}, {"rowvar": False}, {"bias": True}, {"ddof": 3}])
@for_each("shape", [(7,), (1, 7), (4, 7), (7, 1), (0, 5)])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "bool", "complex64"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_cov(dtype, shape, options):
    x = values(dtype, *shape)
    expected = np.cov(x, **options)
    if not expected.size and dtype == "complex64":
        # NumPy gives float64 without variables.
        expected = expected.astype(np.complex128)
    for given in (x, np.asfortranarray(x), np.repeat(x, 2, axis=-1)[..., ::2]):
        same(xp.extra.cov(xp.asarray(given), **options), expected)


@pytest.mark.parametrize("shape", [(3, 70_000), (300, 900)], ids=str)
def test_cov_of_many(shape):
    x = values("float64", *shape)
    same(xp.extra.cov(xp.asarray(x)), np.cov(x))
    same(xp.extra.corrcoef(xp.asarray(x) * 1.0), np.corrcoef(x))


@pytest.mark.parametrize("ddof", [None, 0, 1, 2])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_cov_of_weighted_observations(dtype, ddof):
    x = values(dtype, 3, 8)
    often, much = OFTEN, np.abs(values("float64", 8)) + 0.1
    for weights in ({"fweights": often}, {"aweights": much}, {"fweights": often, "aweights": much}):
        ours = {name: xp.asarray(each) for name, each in weights.items()}
        others = weights
        same(xp.extra.cov(xp.asarray(x), ddof=ddof, **ours), np.cov(x, ddof=ddof, **others))


@pytest.mark.parametrize("function", ["cov", "corrcoef"])
@pytest.mark.parametrize("rowvar", [True, False])
def test_more_variables(function, rowvar):
    for first, second in (((3, 6), (2, 6)), ((6,), (6,)), ((2, 6), (6,)), ((6, 2), (6, 3))):
        x, y = values("float32", *first), values("float64", *second, seed=1)
        if x.T.shape[:1] != y.T.shape[:1] and rowvar:
            continue
        if x.shape[0] != 6 and not rowvar:
            continue
        ours, other = getattr(xp.extra, function), getattr(np, function)
        same(ours(xp.asarray(x), xp.asarray(y), rowvar), other(x, y, rowvar))


@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "complex128"])
@pytest.mark.parametrize("shape", [(9,), (4, 9), (9, 4)], ids=str)
def test_corrcoef(dtype, shape):
    x = values(dtype, *shape)
    same(xp.extra.corrcoef(xp.asarray(x)), np.corrcoef(x))
    same(xp.extra.corrcoef(xp.asarray(x), rowvar=False), np.corrcoef(x, rowvar=False))


def test_coefficients_do_not_exceed_one():
    row = values("float64", 50)
    found = xp.extra.corrcoef(xp.asarray(np.array([row, row / 3, -row, row * 1e9])))
    assert float(xp.max(xp.abs(found))) == 1.0


def test_a_narrower_dtype_can_be_asked_for():
    x = values("float32", 3, 9)
    for function in ("cov", "corrcoef"):
        found = getattr(xp.extra, function)(xp.asarray(x), dtype=xp.float32)
        assert found.dtype is xp.float32
        np.testing.assert_allclose(found, getattr(np, function)(x), rtol=1e-4)


def test_too_few_observations():
    found = xp.extra.cov(xp.asarray([[1.0], [2.0]]))
    assert found.shape == (2, 2)
    assert bool(xp.all(xp.isnan(found)))


OFTEN = np.abs(values("int64", 8)) + 1
_, test_on_devices = everywhere(
    {
        "cov": xp.extra.cov,
        "corrcoef": xp.extra.corrcoef,
        "weighted": (lambda x, w: xp.extra.cov(x, fweights=w), (3, 8), OFTEN),
    },
    (3, 8),
)


def test_cov_in_compiled_functions():
    @xp.compile
    def both(x, w):
        return xp.extra.cov(x, aweights=w), xp.extra.corrcoef(x)

    for shape in ((3, 5), (6, 40)):
        x, w = values("float64", *shape), np.abs(values("float64", shape[1]))
        found = both(xp.asarray(x), xp.asarray(w))
        same(found[0], np.cov(x, aweights=w))
        same(found[1], np.corrcoef(x))
    spec = xp.eval_shape(xp.extra.cov, xp.ShapeSpec(("n", "m"), xp.int8))
    assert repr(spec) == "ShapeSpec((n, n), float64)"


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"m": np.ones((2, 2, 2))}, ValueError, r"at most two dimensions, not shapes"),
        ({"y": np.ones(4)}, ValueError, "have 3 and 4 observations"),
        ({"ddof": 1.5}, TypeError, "ddof must be an int"),
        ({"fweights": np.ones(3)}, TypeError, "fweights must be integral, not float64"),
        ({"fweights": np.ones(4, int)}, ValueError, "one weight for each of 3 observations"),
        ({"fweights": np.array([1, 2, -1])}, ValueError, "fweights must not be negative"),
        ({"aweights": np.ones(3) * 1j}, TypeError, "aweights must be real, not complex128"),
        ({"aweights": np.ones((1, 3))}, ValueError, "one weight for each of 3 observations"),
        ({"dtype": xp.int64}, TypeError, "are not int64; give a floating-point dtype"),
    ],
)
def test_cov_refuses(options, error, words):
    arguments = {"m": np.ones((2, 3)), **options}
    ours = {k: xp.asarray(v) if isinstance(v, np.ndarray) else v for k, v in arguments.items()}
    refused(error, words, xp.extra.cov, ours.pop("m"), **ours)


@xp.config_context(operands="strict")
def test_cov_takes_our_arrays_only():
    for function in (xp.extra.cov, xp.extra.corrcoef):
        refused(TypeError, "asarray", function, np.ones((2, 3)))
