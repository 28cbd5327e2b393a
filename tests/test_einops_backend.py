"""einops on arrays, through its own functions, on every device."""

import importlib.util

import numpy as np
import pytest

import array_api_nx as xp
import array_api_nx.numpy as face
from tests.support.processes import python

einops = pytest.importorskip("einops", reason="einops is not installed")

ENGINES = {"cpu": "numpy", "torch:cpu": "torch", "jax:cpu": "jax", "dask": "dask"}
DEVICES = [name for name, engine in ENGINES.items() if importlib.util.find_spec(engine)]
HOST = np.arange(120.0).reshape(4, 6, 5)

# Each of these is given arrays of ours, then NumPy's.
OPERATIONS = {
    "transpose": lambda x: einops.rearrange(x, "a b c -> c a b"),
    "flatten": lambda x: einops.rearrange(x, "a b c -> a (b c)"),
    "split": lambda x: einops.rearrange(x, "a (b1 b2) c -> b1 a (c b2)", b1=2),
    "ellipsis": lambda x: einops.rearrange(x, "a ... -> ... a 1"),
    "list": lambda x: einops.rearrange([x, 2 * x], "n a b c -> a n b c"),
    "pool": lambda x: einops.reduce(x, "a (b k) c -> a b c", "max", k=2),
    "keep": lambda x: einops.reduce(x, "a b c -> a 1 c", "sum"),
    "mean": lambda x: einops.reduce(x, "a b c -> b", "mean"),
    "min": lambda x: einops.reduce(x, "a b c -> ", "min"),
    "prod": lambda x: einops.reduce(x, "a b c -> b c", "prod"),
    "any": lambda x: einops.reduce(x > 100, "a b c -> a", "any"),
    "all": lambda x: einops.reduce(x > 29, "a b c -> a", "all"),
    "repeat": lambda x: einops.repeat(x, "a b c -> a (b k) c n", k=2, n=3),
    "pack": lambda x: einops.pack([x, x[:, 0, :]], "a * c")[0],
    "unpack": lambda x: einops.unpack(x, [(2,), (), (1, 3)], "a * c")[2],
}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", OPERATIONS)
def test_operations(name, device):
    operation = OPERATIONS[name]
    result, expected = operation(xp.asarray(HOST, device=device)), operation(HOST)
    assert type(result) is xp.Array
    assert str(result.device) == device
    assert str(result.dtype) == expected.dtype.name
    np.testing.assert_allclose(np.asarray(result), expected, rtol=1e-15)


@pytest.mark.parametrize("pattern", ["a b c, c d -> a b d", "a b c, c d -> d"])
def test_einsum(pattern):
    x, y = HOST, HOST[0].T
    result = einops.einsum(xp.asarray(x), xp.asarray(y), pattern)
    assert type(result) is xp.Array
    np.testing.assert_allclose(np.asarray(result), einops.einsum(x, y, pattern), rtol=1e-14)


def test_questions():
    x = xp.asarray(HOST)
    assert einops.parse_shape(x, "a _ c") == {"a": 4, "c": 5}
    assert einops.pack([x, x[:, 0, :]], "a * c")[1] == [(6,), ()]
    assert np.shares_memory(einops.asnumpy(x), np.asarray(x))


def test_views_stay_views():
    x = xp.asarray(HOST, copy=True)
    view = einops.rearrange(x, "a (b k) c -> k b c a", k=3)
    view[0, 0, 0, 0] = -1.0
    assert float(x[0, 0, 0]) == -1.0
    repeated = einops.repeat(x, "a b c -> a b c k", k=2)
    repeated[0, 0, 0, 0] = 7.0
    assert float(x[0, 0, 0]) == -1.0


def test_integers_have_no_mean_as_elsewhere_in_einops():
    with pytest.raises(NotImplementedError, match="not available for non-floating"):
        einops.reduce(xp.ones((2, 3), dtype=xp.int64), "a b -> a", "mean")


def attention(x):
    heads = einops.rearrange(x, "a b (h c) -> h a b c", h=2)
    return heads / einops.reduce(heads, "h a b c -> h a b 1", "sum")


def test_compiled_functions_and_shapes_without_data():
    f = xp.compile(attention)
    for shape in ((3, 4, 6), (5, 2, 8)):
        x = xp.reshape(xp.arange(1.0, 1.0 + np.prod(shape)), shape)
        np.testing.assert_allclose(np.asarray(f(x)), attention(np.asarray(x)), rtol=1e-15)
    result = xp.eval_shape(attention, xp.ShapeSpec(("n", "m", 6), xp.float32))
    assert repr(result) == "ShapeSpec((2, n, m, 3), float32)"


@pytest.mark.parametrize("first", ["einops", "array_api_nx"])
def test_either_may_be_imported_first(first):
    second = {"einops": "array_api_nx", "array_api_nx": "einops"}[first]
    code = (
        f"import {first}, sys; print({second!r} in sys.modules); import {second}\n"
        "x = array_api_nx.zeros((2, 3)); print(einops.rearrange(x, 'a b -> (b a)').shape)\n"
        "print(einops.__spec__.loader is einops.__loader__)"
    )
    printed = python("-W", "error", "-c", code)
    assert printed.split("\n")[:3] == ["False", "(6,)", "True"]


@pytest.mark.parametrize("name", OPERATIONS)
def test_arrays_of_numpys_names(name):
    result, expected = OPERATIONS[name](face.asarray(HOST)), OPERATIONS[name](HOST)
    assert isinstance(result, face.ndarray | np.generic)
    assert type(expected) is np.ndarray or type(result) is type(expected)
    np.testing.assert_allclose(np.asarray(result), expected, rtol=1e-15)
    assert type(einops.rearrange(HOST, "a b c -> c a b")) is np.ndarray
