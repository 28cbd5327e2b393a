"""What is told of names of NumPy, PyTorch and JAX that the namespace lacks."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from types import ModuleType

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.frontend.missing import FFT, LINALG, MAIN, RANDOM
from tests.support.tables import for_each

PLACES = {
    "array_api_nx": (xp, np, MAIN),
    "array_api_nx.linalg": (xp.linalg, np.linalg, LINALG),
    "array_api_nx.fft": (xp.fft, np.fft, FFT),
    "array_api_nx.random": (xp.random, np.random, RANDOM),
}
# Submodules of ours that have the name of one of NumPy's, and are there when they are imported.
SUBMODULES = {"core", "fft", "lib", "linalg", "random", "testing"}


def public(module: ModuleType) -> list[str]:
    return [name for name in dir(module) if not name.startswith("_")]


@pytest.mark.parametrize("place", PLACES)
def test_every_name_of_numpys_is_there_or_has_an_alternative(place):
    ours, theirs, instead = PLACES[place]
    unknown = [
        name
        for name in public(theirs)
        if not hasattr(ours, name) and name not in {*instead, *SUBMODULES}
    ]
    assert not unknown


@pytest.mark.parametrize("place", PLACES)
def test_no_name_that_is_there_has_an_alternative(place):
    ours, _, instead = PLACES[place]
    assert not [name for name in instead if hasattr(ours, name)]
    assert ours is not xp or not SUBMODULES & set(instead)


def test_no_submodule_of_ours_hides_a_name_of_numpys():
    found = {name for name in public(np) if isinstance(getattr(xp, name, None), ModuleType)}
    assert found <= SUBMODULES


@pytest.mark.parametrize("place", PLACES)
def test_mends_name_what_is_there(place):
    for name, alternative in PLACES[place][2].items():
        for path in re.findall(r"\bxp\.([\w.]*\w)", alternative):
            found: object = xp
            for part in path.split("."):
                found = getattr(found, part, None)
                assert found is not None, (name, alternative)


@pytest.mark.parametrize("place", PLACES)
def test_the_error_tells_the_mend_and_python_does_not_guess(place):
    ours, _, instead = PLACES[place]
    for name, alternative in instead.items():
        with pytest.raises(AttributeError) as caught:
            getattr(ours, name)
        assert str(caught.value) == f"module {place!r} has no attribute {name!r}; {alternative}"
        # Without a name Python guesses nothing.
        assert caught.value.name is None
        assert caught.value.obj is ours


def last_line(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    return (done.stderr or done.stdout).splitlines()[-1]


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("xp.array([1])", "has no attribute 'array'; use xp.asarray"),
        ("xp.arcsin", "has no attribute 'arcsin'; use xp.asin"),
        ("xp.tensor([1])", "has no attribute 'tensor'; use xp.asarray"),
        ("xp.from_numpy", "'from_numpy'; use xp.asarray, which shares memory where it can"),
        ("xp.cat", "has no attribute 'cat'; use xp.concat"),
        ("xp.jit", "has no attribute 'jit'; use xp.compile"),
        ("xp.random.key(0)", "'key'; use xp.random.default_rng(seed), a generator"),
        # A guess is all there is for names that NumPy does not have, either.
        ("xp.asaray", "'asaray'. Did you mean: 'asarray'?"),
        ("xp.linalg.choleski", "'choleski'. Did you mean: 'cholesky'?"),
        # Python has none where letters of a short name changed places.
        ("xp.maen", "has no attribute 'maen'; did you mean 'mean'?"),
        ("xp.smu", "has no attribute 'smu'; did you mean 'sum'?"),
        ("xp.meidan", "has no attribute 'meidan'; did you mean 'median'?"),
        ("xp.linalg.slove", "has no attribute 'slove'; did you mean 'solve'?"),
        ("xp.fft.fft_", "has no attribute 'fft_'. Did you mean: 'fft'?"),
    ],
)
def test_what_users_read(code, told, capsys):
    try:
        eval(code, {"xp": xp})
    except AttributeError:
        # It is what appends guesses, at the end of a program.
        sys.__excepthook__(*sys.exc_info())
    assert capsys.readouterr().err.splitlines()[-1].endswith(told)


def test_mends_are_not_imported_before_a_miss():
    code = (
        "import sys, array_api_nx as xp; hasattr(xp, '_private'), xp.pad, xp.linalg.svd, xp.fft; "
        "print('array_api_nx.frontend.missing' in sys.modules)"
    )
    assert last_line(code) == "False"


def test_misses_are_quiet():
    for name in ("float16", "array", "arcsin", "no_such_name", "__wrapped__", "_private"):
        assert not hasattr(xp, name)
        assert getattr(xp, name, None) is None
        assert name not in dir(xp)


# Names that users of PyTorch and JAX write; whether they are those libraries' is tested where these
# are installed.
NAMES = {
    "torch": """
        as_tensor bmm cat chunk clamp clone conv2d cuda cummax device div eq erf flatten from_numpy
        gather ge gt index_select inverse is_tensor le lerp lgamma lt manual_seed masked_fill
        masked_select max_pool2d mm movedim mul mv ne neg nn no_grad norm numel optim permute qr
        rand randn randint randperm relu repeat_interleave rsqrt scatter set_default_dtype
        set_num_threads sigmoid solve sub svd t tensor topk unbind unsqueeze vmap
    """,
    "jax": """
        ShapeDtypeStruct block_until_ready device_get device_put devices disable_jit grad hessian
        jacfwd jacrev jit jvp lax make_jaxpr nn numpy pmap value_and_grad vjp vmap
    """,
    "jax.random": "PRNGKey bernoulli categorical fold_in key normal permutation split uniform",
    "jax.lax": "cond fori_loop scan stop_gradient top_k while_loop",
}


@pytest.mark.parametrize("library", NAMES)
def test_names_of_other_libraries_are_there_or_have_an_alternative(library):
    ours, instead = (xp.random, RANDOM) if library.endswith("random") else (xp, MAIN)
    names = NAMES[library].split()
    assert not [name for name in names if not hasattr(ours, name) and name not in instead]
    theirs = pytest.importorskip(library)
    assert not [name for name in names if not hasattr(theirs, name)]


# The same for alternatives that are expressions: they say what PyTorch's function computes.

TENSORS = {
    "addmm": ("x1 x2 x3", np.ones((3, 3)), np.eye(3), np.arange(9.0).reshape(3, 3)),
    "cat": ("arrays", (np.ones(2), np.zeros(3))),
    "clamp_min": ("x value", np.asarray([0.5, -1.5]), np.asarray(0.0)),
    "frac": ("x", np.asarray([1.5, -2.25])),
    "flatten": ("x", np.ones((2, 3))),
    "lerp": ("x1 x2 weight", np.zeros(3), np.ones(3), 0.25),
    "logdet": ("x", np.asarray([[2.0, 1.0], [0.0, 3.0]])),
    "masked_select": ("x mask", np.asarray([1.0, 2.0]), np.asarray([True, False])),
    "numel": ("x", np.ones((2, 3))),
    "relu": ("x", np.asarray([1.5, -2.25])),
    "rsqrt": ("x", np.asarray([4.0, 16.0])),
    "t": ("x", np.arange(6.0).reshape(2, 3)),
    "view_as_complex": ("x", np.arange(6.0).reshape(3, 2)),
}


@pytest.mark.parametrize("name", TENSORS)
def test_mends_compute_what_pytorchs_functions_do(name):
    torch = pytest.importorskip("torch")

    def each(function, value):
        if isinstance(value, tuple):
            return tuple(map(function, value))
        return function(value) if isinstance(value, np.ndarray) else value

    names, *arguments = TENSORS[name]
    expected = getattr(torch, name)(*[each(torch.asarray, value) for value in arguments])
    given = dict(zip(names.split(), [each(xp.asarray, value) for value in arguments], strict=True))
    code = MAIN[name].removeprefix("use ")
    if not re.search(r"[\[( ]|^x\.", code):
        code += f"({', '.join(given)})"
    result = eval(code, {"xp": xp, **given})
    np.testing.assert_allclose(np.asarray(result), np.asarray(expected), rtol=1e-14)


# Alternatives that are expressions say what NumPy's function computes.

x1, x2 = np.asarray([[0.5, -1.5, 2.0], [3.0, 0.0, -4.0]]), np.asarray([[1.0, 2.0, -3.0]])
v1, v2 = x1[0], x2[0]
angles, flags = 100 * x1, x1 > 0
ints, others = np.asarray([3, 1, 3, 5]), np.asarray([5, 4, 3, 4])
square, several = np.arange(9.0).reshape(3, 3), np.arange(12.0).reshape(2, 2, 3)
limits = np.asarray([np.inf, -np.inf, np.nan, 1.0])
mixed = np.asarray([1 + 2j, 3, -1j])
EXPRESSIONS = {
    "absolute": ("x", x1),
    "amax": ("x", x1),
    "angle": ("x", mixed),
    "arctan2": ("x1 x2", x1, x2),
    "argwhere": ("x", x1),
    "array_equiv": ("x1 x2", x1, x2),
    "deg2rad": ("x", angles),
    "degrees": ("x", x1),
    "diagflat": ("x", v1),
    "ediff1d": ("x", x1),
    "exp2": ("x", x1),
    "extract": ("condition x", flags, x1),
    "fix": ("x", x1),
    "flatnonzero": ("x", x1),
    "fliplr": ("x", x1),
    "flipud": ("x", x1),
    "float_power": ("x1 x2", ints, others),
    "fmax": ("x1 x2", limits, limits[::-1]),
    "fmin": ("x1 x2", limits, limits[::-1]),
    "fmod": ("x1 x2", x1, x2),
    "intersect1d": ("x1 x2", ints, others),
    "iscomplex": ("x", mixed),
    "iscomplexobj": ("x", mixed),
    "isneginf": ("x", limits),
    "isposinf": ("x", limits),
    "isreal": ("x", mixed),
    "isrealobj": ("x", mixed),
    "ldexp": ("x1 x2", v1, ints[:3]),
    "matvec": ("x1 x2", several, v1),
    "ndim": ("x", x1),
    "ptp": ("x", x1),
    "rad2deg": ("x", x1),
    "radians": ("x", angles),
    "rot90": ("x", square),
    "setdiff1d": ("x1 x2", ints, others),
    "shape": ("x", x1),
    "size": ("x", x1),
    "tri": ("n m", 3, 4),
    "tril_indices": ("n _ m", 3, 0, 4),
    "tril_indices_from": ("x", square),
    "triu_indices": ("n _ m", 3, 0, 4),
    "triu_indices_from": ("x", square),
    "union1d": ("x1 x2", ints, others),
    "vander": ("x n", v1, 4),
    "vdot": ("x1 x2", x1, x1),
    "vecmat": ("x1 x2", several[0, 0, :2], several),
}


UFUNCS = [name for name, text in MAIN.items() if text.endswith("takes arrays and gives them")]


@pytest.mark.parametrize("name", UFUNCS)
def test_ufuncs_that_mends_name_take_arrays_and_give_them(name):
    ufunc = getattr(np, name)
    host = ints if name in ("gcd", "lcm", "bitwise_count") else v1
    result, expected = ufunc(*[xp.asarray(host)] * ufunc.nin), ufunc(*[host] * ufunc.nin)
    if ufunc.nout == 1:
        result, expected = (result,), (expected,)
    for ours, theirs in zip(result, expected, strict=True):
        assert type(ours) is xp.Array
        np.testing.assert_array_equal(np.asarray(ours), theirs)


@for_each("name", [name for name, text in RANDOM.items() if " rng = " in text])
def test_mends_of_drawing_are_methods_of_generators(name):
    method = re.search(r"\brng\.(\w+)\(", RANDOM[name])
    assert method is not None
    assert hasattr(xp.random.Generator, method[1])


# Older versions of NumPy lack two of these functions.
@pytest.mark.parametrize("name", EXPRESSIONS)
def test_mends_compute_what_numpys_functions_do(name):
    names, *arguments = EXPRESSIONS[name]
    with warnings.catch_warnings():  # newer versions of NumPy deprecate some of these functions
        warnings.simplefilter("ignore", DeprecationWarning)
        expected = getattr(np, name)(*arguments)
    ours = [xp.asarray(each) if isinstance(each, np.ndarray) else each for each in arguments]
    given = dict(zip(names.split(), ours, strict=True))
    code = MAIN[name].removeprefix("use ")
    if not re.search(r"[\[( ]|^x\.", code):
        code += f"({', '.join(given)})"
    result = eval(code, {"xp": xp, "np": np, **given})
    np.testing.assert_allclose(np.asarray(result), np.asarray(expected), rtol=1e-14)
