"""Errors for names of NumPy, PyTorch and JAX that the namespace, or its arrays, lack."""

import copy
import inspect
import pickle
import pydoc
import re
import subprocess
import sys
import warnings
from types import ModuleType

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.core.spelling import swapped
from array_api_nx.frontend.missing import TABLES, MissingAttribute, mends
from array_api_nx.primitives.special_functions import ROWS as SPECIAL
from tests.support.refusals import refused
from tests.support.tables import for_each

ARRAY = xp.ones((2, 2))
PLACES = {
    "array_api_nx": (xp, np),
    "array_api_nx.linalg": (xp.linalg, np.linalg),
    "array_api_nx.fft": (xp.fft, np.fft),
    "array_api_nx.random": (xp.random, np.random),
    "Array": (ARRAY, np.ndarray),
}
MAIN, RANDOM = mends("array_api_nx"), mends("array_api_nx.random")
# Submodules of ours that have the name of one of NumPy's, and are there when they are imported.
SUBMODULES = {"core", "fft", "lib", "linalg", "random", "testing"}


def public(owner):
    # Not what another library has put there, as numexpr puts `expm1x` into NumPy.
    names = getattr(owner, "__all__", dir(owner))
    return [name for name in names if not name.startswith("_")]


@pytest.mark.parametrize("place", PLACES)
def test_every_name_of_numpys_is_there_or_has_an_alternative(place):
    ours, theirs = PLACES[place]
    known = {*mends(place), *SUBMODULES}
    assert not [n for n in public(theirs) if not hasattr(ours, n) and n not in known]


@pytest.mark.parametrize("place", PLACES)
def test_no_name_that_is_there_has_an_alternative(place):
    ours, _ = PLACES[place]
    assert not [name for name in mends(place) if hasattr(ours, name)]
    assert ours is not xp or not SUBMODULES & set(mends(place))


def test_no_name_has_two_alternatives():
    for table in TABLES.values():
        names = [each.partition("=")[0] for key in table for each in key.split()]
        assert len(names) == len(set(names))


def test_functions_of_special_have_an_alternative():
    assert {row.name for row in SPECIAL} <= {*MAIN, *dir(xp)}


def test_a_missing_name_imports_nothing():
    # So that a loop over the modules that are there may ask each of them.
    asked = "[hasattr(module, 'missing') for module in sys.modules.values()]"
    subprocess.run(
        [sys.executable, "-c", f"import sys; import array_api_nx.numpy; {asked}"], check=True
    )


def test_no_submodule_of_ours_hides_a_name_of_numpys():
    found = {name for name in public(np) if isinstance(getattr(xp, name, None), ModuleType)}
    assert found <= SUBMODULES


@pytest.mark.parametrize("place", PLACES)
def test_mends_name_what_is_there(place):
    for name, alternative in mends(place).items():
        for path in re.findall(r"\bxp\.([\w.]*\w)", alternative):
            found = xp
            for part in path.split("."):
                found = getattr(found, part, None)
                assert found is not None, (name, alternative)
        if place == "Array":
            for attribute in re.findall(r"\bx\.(\w+)", alternative):
                assert hasattr(ARRAY, attribute)


@pytest.mark.parametrize("place", PLACES)
def test_the_error_tells_the_mend_and_python_does_not_guess(place):
    text = "'Array' object" if place == "Array" else f"module {place!r}"
    for owner in (ARRAY, xp.Array) if place == "Array" else PLACES[place][:1]:
        for name, alternative in mends(place).items():
            with pytest.raises(AttributeError) as caught:
                getattr(owner, name)
            assert str(caught.value) == f"{text} has no attribute {name!r}; {alternative}"
            # Without a name Python guesses nothing.
            assert caught.value.name is None
            assert caught.value.obj is owner


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
        ("x.maen()", "'Array' object has no attribute 'maen'; did you mean 'mean'?"),
        ("x.shpe", "'shpe'. Did you mean: 'shape'?"),
        ("x.astpye", "'astpye'; did you mean 'astype'?"),
        ("x.reshap", "'reshap'. Did you mean: 'reshape'?"),
    ],
)
def test_what_users_read(code, told, capsys):
    try:
        eval(code, {"xp": xp, "x": ARRAY})
    except AttributeError:
        # It is what appends guesses, at the end of a program.
        sys.__excepthook__(*sys.exc_info())
    assert capsys.readouterr().err.splitlines()[-1].endswith(told)


def test_misses_are_quiet():
    for name in ("longdouble", "array", "arcsin", "no_such_name", "__wrapped__", "_private"):
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
ATTRIBUTES = {
    "torch": """
        T abs add_ bool clamp clone contiguous cpu cuda detach device dim dtype expand flatten
        float item is_cuda long masked_fill mm mul_ numel numpy permute requires_grad reshape shape
        sum t to tolist topk unsqueeze zero_
    """,
    "jax.numpy": "at block_until_ready devices item sharding",
}


@pytest.mark.parametrize("library", NAMES)
def test_names_of_other_libraries_are_there_or_have_an_alternative(library):
    ours = xp.random if library.endswith("random") else xp
    names = NAMES[library].split()
    assert not [n for n in names if not hasattr(ours, n) and n not in mends(ours.__name__)]
    theirs = pytest.importorskip(library)
    assert not [name for name in names if not hasattr(theirs, name)]


@pytest.mark.parametrize("library", ATTRIBUTES)
def test_attributes_of_other_libraries_are_there_or_have_an_alternative(library):
    names = ATTRIBUTES[library].split()
    assert not [n for n in names if not hasattr(ARRAY, n) and n not in mends("Array")]
    theirs = pytest.importorskip(library).ones((2, 2))
    assert not [name for name in names if not hasattr(theirs, name)]


def test_an_attribute_whose_letters_changed_places_is_guessed():
    for name in public(ARRAY):
        for word in swapped(name) - {*dir(ARRAY)} - {*mends("Array")}:
            refused(AttributeError, f"'{word}'; did you mean '\\w+'\\?", getattr, ARRAY, word)


def test_arrays_do_not_list_what_they_lack():
    for name in mends("Array"):
        assert type(inspect.getattr_static(xp.Array, name)) is MissingAttribute
    assert not set(mends("Array")) & set(dir(ARRAY))
    assert {"T", "mT", "shape", "sum", "__add__", "__dlpack__"} <= set(dir(ARRAY))
    with pytest.raises(AttributeError) as caught:
        _ = ARRAY.shapes
    assert caught.value.name == "shapes"
    for name in ("fit", "iloc", "pvalue", "__array_interface__", "_private"):
        assert not hasattr(ARRAY, name)
    with pytest.raises(AttributeError):
        ARRAY.flags = None
    assert copy.copy(ARRAY).shape == pickle.loads(pickle.dumps(ARRAY)).shape == (2, 2)
    text = pydoc.render_doc(xp.Array, renderer=pydoc.plaintext)
    assert "Missing: use xp.sort(x), which gives a new array." in text


def test_numpys_functions_that_look_for_methods_do_without():
    x = xp.asarray([3.0, 1.0, 2.0])
    assert np.sort(x).tolist() == [1.0, 2.0, 3.0]
    assert np.argsort(x).tolist() == [1, 2, 0]
    assert np.cumsum(x).tolist() == [3.0, 4.0, 6.0]
    assert np.take(x, [1]).tolist() == [1.0]
    assert np.repeat(x, 2).shape == (6,)


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
    names, *arguments = TENSORS[name]
    expected = getattr(torch, name)(*[converted(torch.asarray, each) for each in arguments])
    np.testing.assert_allclose(result_of_mend(name, names, arguments), np.asarray(expected), 1e-14)


def converted(function, value):
    if isinstance(value, tuple):
        return tuple([converted(function, each) for each in value])
    return function(value) if isinstance(value, np.ndarray) else value


def result_of_mend(name, names, arguments):
    given = [converted(xp.asarray, each) for each in arguments]
    named = dict(zip(names.split(), given, strict=True))
    code = MAIN[name].removeprefix("use ")
    if not re.search(r"[\[( ]|^x\.", code):
        code += f"({', '.join(named)})"
    return np.asarray(eval(code, {"xp": xp, "np": np, **named}))


# Alternatives that are expressions compute the result of NumPy's function.

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
    np.testing.assert_allclose(result_of_mend(name, names, arguments), np.asarray(expected), 1e-14)
