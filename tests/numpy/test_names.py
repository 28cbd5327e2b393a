"""Every public name of NumPy: there in the face, and with NumPy's results or exception classes."""

import copy
import importlib
import pickle
import re
import warnings
from pathlib import Path
from types import ModuleType

import numpy
import pytest

import array_api_nx.numpy as face
from array_api_nx.core.dtypes import CANONICAL
from array_api_nx.numpy.names import kind_of
from tests.support.refusals import refused
from tests.support.tables import for_each

PAGE = Path(__file__).parents[2] / "docs" / "numpy-names.md"
MODULES = ["", "linalg", "fft", "emath", "random", "lib.array_utils", "strings"]
MODULES += ["polynomial.polynomial", "polynomial.chebyshev"]

# Functions that write files, print, give uninitialised memory, or change settings of the process.
NOT_CALLED = """
empty empty_like fromfile get_include info memmap ndarray save savetxt savez savez_compressed
set_printoptions setbufsize seterr seterrcall show_config show_runtime test
""".split()  # noqa: SIM905

# Calls that NumPy refuses, or warns of, for a reason of its own, and the face takes.
TAKEN = {"vectorize": "a class of its own"}

# With many elements: of results of the square of these; that take long; whose results depend on the
# last bits, or on the order of elements that should be sorted.
NOT_CALLED_WITH_MANY = """
corrcoef correlate convolve cov cross diag diagflat eig eigvals histogram_bin_edges histogramdd
identity eye ix_ kron lstsq meshgrid multi_dot outer piecewise pinv poly polydiv polyfit repeat
roots searchsorted svd tensordot tensorinv tensorsolve tile tril trim_zeros triu vander
""".split()  # noqa: SIM905


def arguments(np):
    """Sets of up to three arguments; every function takes some of the sets."""
    x, y = np.array([3.0, 1.0, 2.5]), np.array([1.0, 2.0, -1.0])
    m = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 0.25, 2.0]])
    i, b = np.array([0, 2, 1]), np.array([True, False, True])
    c, f = np.array([1 + 2j, 0.5j, -1.0]), np.array([1.5, 2.5, 3.5], dtype=np.float32)
    z, e, s = np.array(2.5), np.array([]), np.array(["a", "bc", "a"])
    u, t = np.array([1, 2, 250], dtype=np.uint8), np.arange(24.0).reshape(2, 3, 4)
    one = [x, m, i, b, c, f, z, e, s, u, t, 2.0, 3, (2, 3), [x, y], [1, 2, 3], "text", None]
    two = [(x, y), (m, x), (m, m), (i, i), (x, 2), (2, x), (m, i), (x, b), (b, x), (c, x), (x, i)]
    two += [(m, 1), (t, 1), (x, (3, 1)), ([x, y], 0), (x, "text"), (e, x), (s, s), (2, 3), (u, u)]
    two += [((2, 3), x), (f, x), (len, x)]
    three = [(x, y, y), (b, x, y), (x, i, y), (m, 0, 1), (x, 0, 2), (2, 3, 4), (x, 1, 0), (m, m, x)]
    return [(), *[(a,) for a in one], *two, *three, (i, x, y), (x, "mean", 2)]


def many_arguments(np):
    """As `arguments`, of so many elements that functions of ours compute them."""
    rng, n = numpy.random.default_rng(0), 9000
    x, y, f = (np.asarray(rng.normal(size=n)) for _ in range(3))
    f = f.astype(np.float32)
    c = np.asarray(rng.normal(size=n) + 1j * rng.normal(size=n))
    i, u = np.asarray(rng.permutation(n)), np.asarray(rng.integers(0, 255, n).astype("u1"))
    b, t = np.asarray(rng.random(n) > 0.5), np.asarray(rng.normal(size=(30, 20, 16)))
    m = np.asarray(rng.normal(size=(96, 96)))
    m = m @ m.T + np.eye(96)
    s, j = m[:, ::-1].T, np.asarray(rng.integers(-5, 96, (96, 96)))
    z = np.asarray([numpy.nan, numpy.inf, -numpy.inf, 0.0, -0.0, 1e300, -1e300] * 1300)
    one = [x, m, i, b, c, f, u, t, z, s, j, [x, y]]
    two = [(x, y), (m, x[:96]), (m, m), (i, i), (x, 2), (2, x), (m, i[:96]), (x, b), (b, x)]
    two += [(c, x), (x, i), (m, 1), (t, 1), (t, -1), (x, (3000, 3)), ([x, y], 0), ([m, s], 1)]
    two += [
        (u, u),
        (f, x),
        (z, z),
        (z, 2.0),
        (m, s),
        (s, 0),
        (i, 3),
        (f, 2.0),
        (f, numpy.float64(2)),
    ]
    two += [(u, 2), (j, j)]
    three = [(x, y, y), (b, x, y), (x, i, y), (m, 0, 1), (t, 0, 2), (x, 0, 2), (x, 1, 0), (m, j, 0)]
    return [*[(a,) for a in one], *two, *three, (t, 1, None), (x, -1, 1.5)]


def outcome(function, args):
    with warnings.catch_warnings(record=True, action="always") as caught:
        numpy.random.seed(3)
        try:
            result = function(*copy.deepcopy(args))
            for each in result if isinstance(result, tuple | list) else (result,):
                if isinstance(each, face.ndarray):
                    numpy.asarray(each)  # what waits warns when it is computed
        except Exception as error:
            return type(error)
    return result, {each.category for each in caught}


def different(actual, expected):
    """What differs between a result of the face and NumPy's."""
    if isinstance(expected, (tuple, list)):
        if type(actual).__name__ != type(expected).__name__ or len(actual) != len(expected):
            return f"{actual!r} instead of {expected!r}"
        found = [different(a, b) for a, b in zip(actual, expected, strict=True)]
        return next((each for each in found if each), None)
    if not isinstance(expected, (numpy.ndarray, numpy.generic)):
        same = type(actual).__name__ == type(expected).__name__
        return None if same else f"{type(actual)} instead of {type(expected)}"
    is_array = isinstance(expected, numpy.ndarray)
    wanted = face.ndarray if is_array and expected.dtype in CANONICAL else type(expected)
    if not isinstance(actual, wanted):
        return f"{type(actual)} instead of {type(expected)}"
    if actual.dtype != expected.dtype or actual.shape != expected.shape:
        return f"{actual.dtype} {actual.shape} instead of {expected.dtype} {expected.shape}"
    one, two = numpy.asarray(actual), numpy.asarray(expected)
    if two.dtype.kind in "fc":
        rtol, atol = (1e-6, 1e-4) if two.dtype in ("f4", "c8") else (1e-11, 1e-14)
        with numpy.errstate(all="ignore"):  # of what waited
            same = numpy.allclose(one, two, rtol=rtol, atol=atol, equal_nan=True)
    else:
        same = two.dtype.kind == "O" or bool((one == two).all())
    return None if same else f"{actual!r} instead of {expected!r}"


def test_every_name_is_there():
    missing = [name for name in numpy.__all__ if not hasattr(face, name)]
    assert missing == []
    assert face.__all__ == numpy.__all__


def test_the_dictionary_has_names_that_nothing_asked_for(monkeypatch):
    monkeypatch.delattr(face, "sinc")
    assert vars(face)["sinc"] is face.sinc
    assert {*numpy.__all__}.intersection(vars(numpy)).difference(vars(face)) == set()


@for_each("module", MODULES)
def test_every_function_gives_numpys_result_or_exception(module):
    check_every_function(module, arguments, NOT_CALLED)


@pytest.mark.slow
@for_each("module", ["", "linalg", "fft"])
def test_every_function_with_many_elements(module):
    check_every_function(module, many_arguments, [*NOT_CALLED, *NOT_CALLED_WITH_MANY])


def check_every_function(module, arguments, left_out):
    numpys, ours = numpy, face
    for part in filter(None, module.split(".")):
        numpys, ours = getattr(numpys, part), getattr(ours, part)
    wrong = []
    for name in numpys.__all__:
        function, other = getattr(numpys, name), getattr(ours, name)
        if not callable(function) or function is other or name in (*left_out, *TAKEN):
            continue
        for args, given in zip(arguments(numpy), arguments(face), strict=True):
            expected, actual = outcome(function, args), outcome(other, given)
            if isinstance(expected, type) or isinstance(actual, type):
                problem = None if actual is expected else f"{actual} instead of {expected}"
            else:
                problem = different(actual[0], expected[0])
                # What waits warns later, and other orders of operations meet other NaNs.
                excused = {RuntimeWarning} if arguments is many_arguments else set()
                if problem is None and (actual[1] ^ expected[1]) - excused:
                    problem = f"warnings {actual[1]} instead of {expected[1]}"
            if problem:
                wrong.append(f"{name}{args}: {problem}")
    assert not wrong, "\n".join(wrong)


def test_streams_of_random_numbers_are_numpys():
    old = []
    for np in (numpy, face):
        np.random.seed(3)
        old.append(np.random.rand(2, 3).tolist() + np.random.permutation(5).tolist())
    assert old[0] == old[1]
    for make in ("default_rng", "RandomState"):
        expected, actual = getattr(numpy.random, make)(7), getattr(face.random, make)(7)
        assert actual.normal(size=4).tolist() == expected.normal(size=4).tolist()
        assert isinstance(actual.normal(size=4), face.ndarray)
        again = pickle.loads(pickle.dumps(actual))
        assert type(again) is type(actual)
        assert again.normal(size=3).tolist() == actual.normal(size=3).tolist()


def test_modules_are_imported_by_name():
    module = importlib.import_module("array_api_nx.numpy.lib.stride_tricks")
    assert module is face.lib.stride_tricks
    refused(ModuleNotFoundError, None, importlib.import_module, "array_api_nx.numpy.nothing")


@pytest.mark.parametrize("name", ["", ".linalg", ".lib.stride_tricks"])
def test_modules_are_pickled_by_name(name):
    module = importlib.import_module(f"array_api_nx.numpy{name}")
    assert pickle.loads(pickle.dumps(module)) is module


def listed():
    """The names of NumPy by kind, modules and their functions included."""
    found = {}
    for module in ("", "linalg", "fft"):
        numpys = getattr(numpy, module) if module else numpy
        for name in sorted(numpys.__all__):
            if not isinstance(getattr(numpys, name), ModuleType):
                path = f"{module}.{name}" if module else name
                found.setdefault(kind_of(path, getattr(numpys, name)), []).append(path)
    return found


def test_the_page_lists_every_name():
    blocks = re.findall(r"## (\w[^\n]*)\n.*?```text\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    dropped = {"row_stack"} if not hasattr(numpy, "row_stack") else set()  # by NumPy 2.5
    found = {title: [n for n in names.split() if n not in dropped] for title, names in blocks}
    assert found == listed()


def test_objects_that_are_called_keep_their_methods() -> None:
    import array_api_nx.numpy.typing as npt

    assert npt.NDArray[face.float64] == numpy.typing.NDArray[numpy.float64]
    assert npt.ArrayLike == numpy.typing.ArrayLike
    x = face.ma.array(face.arange(4), mask=[0, 1, 0, 0])
    assert face.ma.add.reduce(x) == 5
    assert face.ma.add(x, face.arange(4)).tolist() == [0, None, 4, 6]
    assert face.ma.sum(face.arange(4)) == 6


def test_an_array_is_itself_as_an_array():
    x = face.arange(3)
    assert face.asarray(x) is x
    assert face.asarray(x, dtype=int) is x
    assert face.asarray(x, dtype=float).dtype == face.float64
    assert face.asarray(x, copy=True) is not x


def test_numpys_arrays_keep_their_memory():
    array = numpy.zeros(3)
    face.asarray(array)[0] = 1
    assert array[0] == 1
    assert face.asarray([[1, 2], [3, 4]], order="F").strides == (8, 16)
    refused(ValueError, "copy", face.asarray, [1, 2], copy=False)


def test_an_array_on_a_device():
    x = face.asarray([1.0, 2.0], device="cpu")
    assert str(x.device) == "cpu"
    assert face.asarray("a", device="cpu").dtype.kind == "U"
    refused(ValueError, "nowhere", face.asarray, [1.0], device="nowhere")
