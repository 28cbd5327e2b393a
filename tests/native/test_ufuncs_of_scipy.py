"""Ufuncs that are no functions of the standard, beside what waits."""

from inspect import unwrap
from types import SimpleNamespace

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.backends.cpu.engine import loops
from array_api_nx.contract.ufuncs import ufunc_loop
from array_api_nx.core import dtypes as d
from tests.support.programs import SETTINGS, assert_same, numpy_of, pending, settings
from tests.support.refusals import refused
from tests.support.sizes import DEFERRED
from tests.support.tables import for_each
from tests.support.threads import together

scipy_special = pytest.importorskip("scipy.special")
# SciPy may have wrapped its ufuncs in functions that dispatch on namespaces.
special = SimpleNamespace(
    **{name: unwrap(getattr(scipy_special, name)) for name in scipy_special.__all__}
)

SIZE = 5003


def samples(dtype="float64"):
    rng = np.random.default_rng(7)
    values = rng.gamma(2.0, 1.0, (2, SIZE)).astype(dtype)
    values[0, :8] = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-38]
    return values[0], values[1]


CHAINS = {
    "one": lambda ns, x, y: special.gammaln(x),
    "chain": lambda ns, x, y: ns.exp(-x * x) * special.erf(x),
    "two arrays": lambda ns, x, y: special.gammainc(y, abs(x)) + special.xlogy(x, y),
    "three": lambda ns, x, y: special.betainc(y, 2.0, 1 / (1 + abs(x))),
    "four": lambda ns, x, y: special.hyp2f1(0.5, y, 2.5, 1 / (2 + abs(x))),
    "NumPy's": lambda ns, x, y: np.fmax(np.cbrt(x), np.exp2(-y)) - np.heaviside(x, 0.5),
    "other dtypes": lambda ns, x, y: np.ldexp(x, ns.astype(y, ns.int32) % 9),
    "predicates": lambda ns, x, y: np.spacing(y) < special.ndtr(x),
    "sum": lambda ns, x, y: ns.sum(np.fmin(special.expit(y), 0.75) > 0.7),
    "broadcast": lambda ns, x, y: special.ndtr(ns.reshape(y[:4], (4, 1))) * special.erfc(x),
    "strided": lambda ns, x, y: special.gammaln(y[::-2]) + special.erf(x[::2][::-1]),
}


@pytest.mark.parametrize("way", SETTINGS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@for_each("name", CHAINS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_chains_have_the_bits_of_numpys_arrays(name, dtype, way):
    function = CHAINS[name]
    a, b = samples(dtype)
    expected = np.asarray(function(np, a, b))
    with settings(way):
        result = function(xp, xp.asarray(a, copy=True), xp.asarray(b, copy=True))
        assert_same(numpy_of(result), expected)


def test_no_ufunc_of_others_is_deferred():
    assert loops.of_ufunc(ufunc_loop(np.fmax, (d.float64,) * 2, (d.float64,))) is not None
    assert loops.of_ufunc(ufunc_loop(special.erf, (d.float32,), (d.float32,))) is not None
    # Functions of integers warn of other numbers.
    assert loops.of_ufunc(ufunc_loop(special.kn, (d.float64,) * 2, (d.float64,))) is None
    assert loops.of_ufunc(ufunc_loop(np.modf, (d.float64,), (d.float64,) * 2)) is None
    other = np.frompyfunc(abs, 1, 1)
    assert loops.of_ufunc(ufunc_loop(other, (d.float64,), (d.float64,))) is None


def test_others_ufuncs_and_several_outputs_run_at_once():
    numba = pytest.importorskip("numba")

    @numba.vectorize(["float64(float64)"])
    def half(x):
        if x < 0:
            raise ValueError("negative")
        return x / 2

    x = xp.linspace(0, 1, DEFERRED)
    result = half(x)
    assert not pending(result)
    assert_same(numpy_of(result), np.asarray(x) / 2)
    refused(ValueError, "negative", half, -x)
    for found, expected in zip(np.modf(x), np.modf(np.asarray(x)), strict=True):
        assert not pending(found)
        assert_same(numpy_of(found), expected)


def test_functions_of_integers_warn_as_scipys_do():
    x = xp.ones(DEFERRED)
    x[-1] = 1.5  # alone, since SciPy warns of each element
    with pytest.warns(RuntimeWarning, match="truncated to an integer"):
        assert not pending(special.kn(x, 2.0))


def test_scipys_errors_are_told_where_somebody_asked_for_them():
    x = xp.flip(xp.arange(DEFERRED, dtype=xp.float64))  # one pole, since SciPy warns of each
    for y in (x, x[-2:]):
        raising = pytest.raises(scipy_special.SpecialFunctionError)
        with scipy_special.errstate(all="raise"), raising:
            special.gammaln(y)
        warning = pytest.warns(scipy_special.SpecialFunctionWarning)
        with scipy_special.errstate(all="warn"), warning:
            special.gammaln(y)


def test_several_threads_compute_at_the_same_time():
    x = xp.linspace(0.1, 3, DEFERRED)
    expected = special.gammaln(np.asarray(x)) * 2

    def compute():
        result = special.gammaln(x + 0.0) * 2
        xp.evaluate(result)
        return result

    results = together(*[compute] * 4)
    assert len(results) == 4
    for result in results:
        assert_same(numpy_of(result), expected)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", CHAINS)
def test_programs_have_the_bits_of_numpys_arrays(name):
    def function(x, y):
        result = CHAINS[name](xp, x, y)
        return result

    a, b = samples()
    x, y = xp.asarray(a), xp.asarray(b)
    assert_same(numpy_of(xp.compile(function)(x, y)), np.asarray(CHAINS[name](np, a, b)))
