"""Every function that is a ufunc of SciPy: its bits on the CPU, and the same on other devices."""

from importlib.util import find_spec

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.special.scipy_ufuncs import ufunc
from tests.special.operands import DOMAINS, reference, same_bits, special, typical
from tests.support.processes import python
from tests.support.programs import needs_extension
from tests.support.refusals import refused
from tests.support.sizes import THRESHOLD
from tests.support.tables import for_each

pytest.importorskip("scipy")

pytestmark = pytest.mark.filterwarnings(
    "ignore:non-integer arg n is deprecated:DeprecationWarning",
    "ignore:floating point number truncated:RuntimeWarning",
)

DTYPES = ("float32", "float64")
NAMES = sorted(DOMAINS)

# How often one rounding an engine's own function may be off; SciPy's on the host is exact. The
# worst is `psi`, next to its zero at 1.46.
ROUNDINGS = 64


def call(name, operands, device="cpu"):
    return getattr(xp.special, name)(*[xp.asarray(x, device=device, copy=True) for x in operands])


def test_these_are_all_functions_but_those_that_are_compositions():
    assert {*xp.special.__all__} - {*NAMES} == {"multigammaln", "polygamma", "sinc"}
    assert len(xp.special.__all__) == 92
    assert dir(xp.special) == sorted(xp.special.__all__)


@for_each("name", NAMES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_bits_are_those_of_scipy(name, dtype):
    for operands in (special(name, dtype), typical(name, dtype)):
        with np.errstate(all="ignore"):
            assert same_bits(np.asarray(call(name, operands)), reference(name)(*operands))


LAYOUTS = {
    "row-major": lambda x: x,
    "column-major": lambda x: xp.matrix_transpose(xp.asarray(xp.matrix_transpose(x), copy=True)),
    "stepped": lambda x: xp.repeat(x, 3, axis=1)[:, 1::3],
    "flipped": lambda x: xp.flip(xp.asarray(xp.flip(x), copy=True)),
    "moved": lambda x: xp.concat([x[:1, ...], x])[1:, ...],
    "a row for all": lambda x: xp.broadcast_to(x[:1, :], x.shape),
    "a column": lambda x: x[:, 2:3],
    "one element": lambda x: x[1, 1],
    "none": lambda x: x[:0, :],
}


@for_each("layout", LAYOUTS)
@pytest.mark.parametrize("name", ["erf", "gammaln", "xlogy", "betainc", "bdtr"])
@for_each("threshold", [THRESHOLD, 0])
def test_bits_are_the_same_in_every_layout(name, layout, threshold):
    first, *rest = typical(name, "float64", (5, 7))
    with xp.config_context(fusion_threshold=threshold):
        moved = LAYOUTS[layout](xp.asarray(first, copy=True))
        expected = reference(name)(np.asarray(moved), *[x[1, 1] for x in rest])
        ours = getattr(xp.special, name)(moved, *[float(x[1, 1]) for x in rest])
        assert same_bits(np.asarray(ours), np.asarray(expected))
        others = [xp.asarray(x, copy=True) for x in rest]
        if others and moved.shape == first.shape:
            ours = getattr(xp.special, name)(moved, *others)
            assert same_bits(np.asarray(ours), reference(name)(np.asarray(moved), *rest))


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int32", "int64", "uint64"])
@for_each("name", NAMES)
def test_integers_are_promoted_as_by_the_ufunc(name, dtype):
    values = np.arange(6).astype(dtype)
    operands = [values] * len(DOMAINS[name])
    with np.errstate(all="ignore"):
        assert same_bits(np.asarray(call(name, operands)), reference(name)(*operands))


@for_each("name", sorted(name for name in NAMES if len(DOMAINS[name]) > 1))
@pytest.mark.parametrize("dtype", DTYPES)
def test_scalars_and_numpy_scalars_stand_beside_arrays(name, dtype):
    operands = typical(name, dtype)
    whole = [a == "n" for a in DOMAINS[name]]
    for kind in (float, np.float64, np.float32):
        kinds = [int if each else kind for each in whole]
        for place in range(len(operands)):
            mixed = [x if i == place else kinds[i](x[3]) for i, x in enumerate(operands)]
            ours = [xp.asarray(x) if i == place else x for i, x in enumerate(mixed)]
            result = getattr(xp.special, name)(*ours)
            assert same_bits(np.asarray(result), reference(name)(*mixed))


COMPLEX = [name for name in NAMES if "D->D" in reference(name).types]


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@for_each("name", COMPLEX)
def test_complex_numbers_are_taken_where_scipy_takes_them(name, dtype):
    values = np.asarray([0.5 + 1j, -1.5 - 0.25j, 2, 3j], dtype)
    assert same_bits(np.asarray(call(name, [values])), reference(name)(values))


def test_some_functions_take_complex_numbers():
    assert {"erf", "expi", "gamma", "loggamma", "psi", "spence"} <= {*COMPLEX}


@pytest.mark.parametrize("device", ["torch:cpu", "jax:cpu", "dask"])
@for_each("name", NAMES)
def test_other_devices_agree(name, device):
    if find_spec(device.partition(":")[0]) is None:
        pytest.skip(f"{device} is not installed")
    for dtype in DTYPES:
        operands = typical(name, dtype)
        result = call(name, operands, device)
        expected = reference(name)(*operands)
        assert str(result.device) == device
        assert result.dtype is getattr(xp, expected.dtype.name)
        rtol = ROUNDINGS * np.finfo(expected.dtype).eps
        host = np.asarray(result.to_device("cpu"))
        np.testing.assert_allclose(host, expected, rtol=rtol, atol=rtol / 100)


def density(x):
    return xp.exp(-x * x) * xp.special.erf(x) + xp.special.xlogy(2.0, xp.special.ndtr(x))


@pytest.mark.parametrize("shape", [(6,), (40, 50)])
def test_compiled_functions_replay_them(shape):
    f = xp.compile(density)
    for size in (shape, tuple([n + 1 for n in shape])):
        x = xp.asarray(np.random.default_rng(0).normal(size=size), copy=True)
        assert same_bits(np.asarray(f(x)), np.asarray(density(x)))
    assert np.asarray(f(x)).shape == size


@for_each("name", NAMES)
def test_shapes_are_known_without_elements(name):
    operands = typical(name, "float32")
    specs = [xp.ShapeSpec(("n", 3), xp.float32) for _ in operands]
    result = xp.eval_shape(getattr(xp.special, name), *specs)
    expected = reference(name)(*operands)
    assert len(result.shape) == 2
    assert result.shape[1] == 3
    assert result.dtype is getattr(xp, expected.dtype.name)


@needs_extension
@pytest.mark.parametrize("dtype", DTYPES)
def test_deferred_chains_have_the_same_bits(dtype):
    values = np.random.default_rng(1).normal(size=2000).astype(dtype)
    with xp.config_context(fusion="off"):
        expected = np.asarray(density(xp.asarray(values, copy=True)))
    with xp.config_context(fusion_threshold=0):
        ours = density(xp.asarray(values, copy=True))
        assert same_bits(np.asarray(ours), expected)


@xp.config_context(operands="strict")
def test_operands_that_are_no_arrays_are_refused():
    x = xp.ones(3)
    refused(TypeError, r"asarray\(\.\.\.\)", xp.special.erf, np.ones(3))
    refused(TypeError, r"asarray\(\.\.\.\)", xp.special.xlogy, x, [1.0, 2.0, 3.0])
    refused(TypeError, "at least one argument must be an array", xp.special.xlogy, 1.0, 2.0)
    refused(TypeError, "gammaln has no loop for complex128", xp.special.gammaln, xp.asarray([1j]))
    refused(TypeError, "keyword", xp.special.erf, x=x)
    refused(ValueError, "broadcast", xp.special.xlogy, x, xp.ones(4))


def test_the_functions_behind_the_names():
    assert ufunc("psi", 1) is ufunc("digamma", 1)
    assert ufunc("zeta", 1).nin == 1
    assert ufunc("zeta", 2).nin == 2


WITHOUT_SCIPY = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "scipy":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Absent())
import array_api_nx as xp
x = xp.asarray([0.5, 1.0])
assert float(xp.special.sinc(x)[1]) < 1e-15
for name in set(xp.special.__all__) - {"sinc"}:
    function = getattr(xp.special, name)
    for count in (1, 2, 3):
        try:
            function(*[x] * (count - 1), 2 if name == "multigammaln" else x)
        except ImportError as error:
            assert "pip install scipy" in str(error) and error.name == "scipy", error
            break
        except TypeError:
            pass
    else:
        raise AssertionError(name)
"""
LAZY = """
import sys
import array_api_nx as xp
assert not {"scipy", "array_api_nx.special"} & {*sys.modules}
xp.special
assert "scipy" not in sys.modules
xp.special.erf(xp.ones(2))
assert "scipy" in sys.modules
"""


@pytest.mark.parametrize("code", [WITHOUT_SCIPY, LAZY], ids=["without SciPy", "lazy"])
def test_scipy_is_optional_and_imported_late(code):
    python("-c", code)
