"""Floating-point warnings: none at lines of SciPy and scikit-learn, all others as ever."""

import warnings
from types import ModuleType

import numpy as np
import pytest

import array_api_nx as xp
from tests.support.sizes import DEFERRED, MIDDLE
from tests.support.tables import for_each

pytestmark = pytest.mark.slow

SIZES = (5, MIDDLE, DEFERRED)

# Calls that raise floating-point flags; x is zeros, y is large.
CALLS = {
    "operators": "def call(xp, x, y): return x / x",
    "reflected": "def call(xp, x, y): return 1.0 / x",
    "functions": "def call(xp, x, y): return xp.log(x)",
    "chains": "def call(xp, x, y): return xp.where(x == 0, x, x**2 * xp.log(x))",
    "reductions": "def call(xp, x, y): return xp.sum(y * y)",
    "scans": "def call(xp, x, y): return xp.cumulative_sum(y)",
    "in place": "def call(xp, x, y):\n    y *= y\n    return y",
    "casts": "def call(xp, x, y): return xp.astype(y, xp.float32)",
    "products": "def call(xp, x, y): return y @ y",
    "NumPy's ufuncs": "def call(xp, x, y): return np.log(x)",
    "clip": "def call(xp, x, y): return xp.clip(xp.astype(x, xp.float32), -1e300, 1e300)",
}


def function_of(module, source):
    """A function that was written in a module of that name."""
    made = ModuleType(module)
    made.__dict__["np"] = np
    exec(source, made.__dict__)
    return made.__dict__["call"]  # type: ignore[no-any-return]


def told(function, size):
    x, y = xp.zeros(size), xp.full(size, 1e308)
    with warnings.catch_warnings(record=True, action="always") as caught:
        xp.evaluate(function(xp, x, y))
    return [str(each.message) for each in caught]


@for_each("name", list(CALLS))
def test_lines_of_scipy_and_scikit_learn_give_none(name):
    for size in SIZES:
        assert told(function_of("sklearn.utils.made_up", CALLS[name]), size) == []
        assert told(function_of("scipy.stats.made_up", CALLS[name]), size) == []


@for_each("name", list(CALLS))
def test_other_lines_give_numpys(name):
    for size in SIZES:
        for module in ("program", "sklearnish.made_up", "my.scipy"):
            assert told(function_of(module, CALLS[name]), size), (name, size, module)


@pytest.mark.parametrize("size", SIZES)
def test_the_innermost_line_counts(size):
    """A function of the user's that SciPy calls is the user's."""
    passing_on = function_of("scipy.integrate.made_up", "def call(f, *x): return f(*x)")
    user = function_of("program", CALLS["functions"])
    assert told(lambda *x: passing_on(user, *x), size) == ["divide by zero encountered in log"]


@pytest.mark.parametrize("size", SIZES)
def test_errors_that_the_user_asks_for_are_raised(size):
    call = function_of("scipy.stats.made_up", CALLS["functions"])
    with np.errstate(all="raise"), pytest.raises(FloatingPointError, match="in log"):
        call(xp, xp.zeros(size), xp.zeros(size))


def test_compiled_functions_are_silent_where_their_lines_are():
    ours = function_of("scipy.stats.made_up", CALLS["functions"])
    user = function_of("program", CALLS["operators"])
    compiled = xp.compile(lambda x: ours(xp, x, x) + user(xp, x, x))
    for size in SIZES:
        assert told(lambda xp, x, y: compiled(x), size) == ["invalid value encountered in divide"]


def test_estimators_and_interpolators_are_as_silent_as_with_numpy():
    sklearn = pytest.importorskip("sklearn", minversion="1.9")
    from scipy.interpolate import RBFInterpolator
    from sklearn.mixture import GaussianMixture
    from sklearn.preprocessing import StandardScaler

    data = np.random.default_rng(0).normal(size=(200, 3))
    data[:, 2] = 1.0
    calls = [
        lambda X: StandardScaler().fit(X).transform(X),
        lambda X: GaussianMixture(2, init_params="random", random_state=0).fit(X).means_,
        lambda X: RBFInterpolator(X[:, :2], X[:, 0])(X[:, :2]),
    ]
    for call in calls:
        for X in (data, xp.asarray(data), xp.asarray(data.astype(np.float32))):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                with sklearn.config_context(array_api_dispatch=True):
                    call(X)
            said = [str(each.message) for each in caught]
            assert [each for each in said if "encountered in" in each] == []
