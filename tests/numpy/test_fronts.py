"""Calls of NumPy's face that C answers: NumPy's results, whatever the parameters."""

import warnings

import numpy
import pytest

import array_api_nx.numpy as np
from array_api_nx.core.dtypes import CANONICAL
from array_api_nx.numpy.adoption import count_numpys
from array_api_nx.numpy.fronts import FUNCTIONS, METHODS
from tests.support.implementations import needs_call_lists, needs_native
from tests.support.processes import python
from tests.support.refusals import refused

X = numpy.asarray([[3.0, -1.5, 2.0], [0.5, 7.0, -2.0]])
INTS = numpy.asarray([[3, 1, 2], [5, 7, 0]])
V = numpy.asarray([4.0, 1.0, 3.0])
P = numpy.arange(24.0).reshape(2, 3, 4).transpose(1, 2, 0)  # neither by rows nor by columns

# Arguments by position and by name for each row; arrays of the face are given in their place.
CALLS = {
    "sum": [((X,), {}), ((X, 0), {}), ((X,), {"keepdims": True}), ((INTS,), {"dtype": "f4"})],
    "prod": [((V,), {}), ((INTS, 0), {})],
    "max": [((X,), {}), ((X, 0), {})],
    "min": [((X,), {}), ((X,), {"axis": 1})],
    "ptp": [((X,), {}), ((X, 0), {}), ((INTS,), {"axis": -1, "keepdims": True})],
    "any": [((X,), {}), ((X, 0), {})],
    "all": [((X,), {}), ((INTS, 0), {})],
    "mean": [((X,), {}), ((INTS,), {}), ((X, 1), {})],
    "std": [((X,), {}), ((X, 0), {}), ((X,), {"ddof": 1})],
    "var": [((X,), {}), ((X, 0), {})],
    "count_nonzero": [((INTS,), {}), ((INTS, 0), {})],
    **{
        f"nan{name}": [((X,), {}), ((X, 0), {}), ((INTS,), {}), ((V,), {"axis": 0})]
        for name in (
            *("argmax", "argmin", "cumprod", "cumsum", "max", "mean"),
            *("min", "prod", "std", "sum", "var"),
        )
    },
    **{
        name: [
            *[((X,), {}), ((X, 0), {}), ((INTS,), {"axis": 1, "keepdims": True}), ((X > 1,), {})],
            ((X, (0, 1)), {}),
        ]
        for name in ("median", "nanmedian")
    },
    **{
        name: [
            *[((X, 0.3), {}), ((X, [0.3, 0.9], 0), {}), ((INTS, (0.5, 1)), {"keepdims": True})],
            *[((X, 1), {}), ((V, 0.5), {"method": "lower"}), ((V, V[:1] * 0), {})],
        ]
        for name in ("quantile", "nanquantile", "percentile", "nanpercentile")
    },
    "argmax": [((X,), {}), ((X, 0), {})],
    "argmin": [((X,), {}), ((X, 1), {})],
    "cumsum": [((V,), {}), ((X,), {}), ((X, 0), {}), ((INTS, 1, "f8"), {})],
    "cumprod": [((V,), {}), ((X, 1), {})],
    "sort": [((X,), {}), ((X, 0), {}), ((V,), {"kind": "stable"})],
    "argsort": [((V,), {}), ((X, 0), {})],
    "searchsorted": [((numpy.sort(V), 2.0), {}), ((numpy.sort(V), X), {"side": "right"})],
    "take": [((V, 1), {}), ((X, [0, 2]), {}), ((X, [1, 0], 0), {}), ((V, INTS), {"mode": "wrap"}),
             ((X, INTS, 1), {"mode": "clip"}), ((X, [0, 1]), {"mode": "raise", "out": None})],
    "take_along_axis": [((X, INTS[:, :1] % 2, 1), {})],
    "nonzero": [((INTS,), {}), ((V > 2,), {})],
    "clip": [((X, 0, 3), {}), ((X, None, 1), {}), ((X,), {"min": 0})],
    "dot": [
        *[((V, V), {}), ((X, V), {}), ((INTS, INTS.T), {}), ((V, 2.0), {})],
        *[((X, numpy.stack([X.T] * 2)), {}), ((V[:3], numpy.stack([X.T] * 2)), {})],
        *[((numpy.stack([x] * 2), numpy.stack([x.T] * 2)), {}) for x in (X, INTS, X * 1j)],
        ((numpy.stack([X] * 4), X.T), {}),
    ],
    "inner": [
        *[((V, V), {}), ((X, V), {}), ((V, X), {}), ((X, INTS), {}), ((INTS, INTS[0]), {})],
        *[((V > 2, V > 1), {}), ((V, 2.0), {}), ((X[None], X), {}), ((X * 1j, X), {})],
    ],
    "interp": [
        *[((x, numpy.sort(V), V), {}) for x in (X, V, 2.5, 3, [1, 2.5], X.T, INTS)],
        *[((X, INTS[0], V[:3]), {"left": 0, "right": 7.5}), ((V, V, V), {"period": 3.0})],
    ],
    **{
        name: [
            *[((V, V[:2], mode), {}) for mode in ("full", "same", "valid")],
            *[((V[:2], V), {}), ((V[::-1], V[1:3]), {"mode": "same"}), ((INTS[0], INTS[1]), {})],
            *[((V * 1j, V[:3] + 2j, "full"), {}), ((INTS[0], V), {}), ((V, [1, 2.0]), {})],
            *[((V > 2, V > 1), {}), ((V, V, 2), {})],
        ]
        for name in ("convolve", "correlate")
    },
    "einsum": [
        *[(("ij->ji", X), {}), (("ii->i", X @ X.T), {}), (("ij", X), {}), (("ij,j", X, V), {})],
        *[(("ij,kj->ik", X, INTS), {}), (("i,i", V, V), {"optimize": True})],
        *[(("ij,kj->ik", X, X), {"optimize": x}) for x in (True, False, "greedy", None)],
        *[(("ij->j", X), {"optimize": True}), (("ij->", X), {"optimize": False})],
        *[(("i,ij,j", X[:, 0], X, X[0]), {}), (("i,ij,j->", X[:, 0], X, X[0]), {"optimize": True})],
    ],
    "vdot": [
        *[((V, V), {}), ((X, X), {}), ((V * 1j, V), {}), ((INTS[0], V), {}), ((X.T, X.T), {})],
        *[((X, X.T), {}), ((INTS, INTS[::-1]), {}), ((INTS, INTS.reshape(6)), {})],
    ],
    "diff": [((V,), {}), ((X,), {"axis": 0}), ((V, 2), {})],
    "append": [
        *[((V, x), {}) for x in (1.5, 2, V, INTS, [1, 2], True, numpy.float32(2), V[:0])],
        *[((x, 1), {}) for x in (X.T, V[::2], V[:0], INTS[0, 0:1], V > 2)],
        *[((X, X, 0), {}), ((X, INTS), {"axis": 1}), ((X, V), {}), ((V, 1j), {})],
    ],
    "around": [
        *[((X,), {}), ((INTS, 1), {}), ((INTS, -1), {}), ((X.astype("f4") / 3, 3), {})],
        *[((X * 1j, 1), {}), ((V,), {"decimals": 1}), ((INTS.T,), {}), ((V > 2,), {})],
    ],
    "round": [((X * k, d), {}) for k in (1.2345, 1e3) for d in (0, 1, 2, -2, 30)],
    "concatenate": [
        *[(([X, X],), {}), (([X, INTS], 1), {}), (([X, V],), {"axis": None})],
        *[(([X[:1, :1], X[1:, :1], x[:1, :1]],), {"axis": k}) for x in (X, INTS) for k in (0, 1)],
    ],
    "stack": [(([V, V],), {}), (([X, X], 1), {})],
    "hstack": [(([X, X],), {}), (((V, V),), {}), (([X, INTS],), {})],
    "vstack": [(([X, X],), {}), (((V, V),), {}), (([X, V],), {})],
    "dstack": [(([X, X],), {}), (((V, V),), {}), (([X[None], X[None]],), {})],
    "column_stack": [(([X, X],), {}), (((V, V),), {}), (([INTS.T, V[:, None]],), {})],
    "triu": [((X,), {}), ((X.T, 1), {}), ((INTS, -1), {}), ((X[None],), {"k": 2}), ((V,), {})],
    "tril": [((X,), {}), ((V[None, None].T,), {}), ((X.T, -1), {}), ((X[::-1, ::2],), {})],
    "isin": [((INTS, [1, 7]), {}), ((INTS, INTS[0]), {"invert": True})],
    "linalg.inv": [((X[:, :2],), {}), ((numpy.vander(numpy.arange(1.0, 8.0)),), {})],
    "linalg.eigh": [((X[:, :2],), {}), ((INTS[:, 1:],), {}), ((X.T[:2], "U"), {})],
    "linalg.slogdet": [((X[:, :2],), {}), ((X[:, :2] * 0,), {}), ((X[:, :2] * 1j,), {})],
    "linalg.svd": [((x,), {}) for x in (X, X.T, X * 1j, X[:, ::2])]
    + [((X, False), {}), ((X.T,), {"full_matrices": False}), ((X,), {"compute_uv": False})],
    "linalg.svdvals": [((X,), {}), ((X.T[::-1],), {}), ((P,), {})],
    "linalg.eigvalsh": [((X[:, :2],), {}), ((X.T[:2],), {"UPLO": "U"})],
    "linalg.norm": [
        ((X,), {"axis": 1}),
        ((X, 2, 0), {}),
        ((X, None, -1), {"keepdims": True}),
        ((X, 1), {"axis": 1}),
        ((X,), {}),
        ((INTS,), {"axis": 0}),
        ((X * 1e200,), {"axis": 0}),
    ],
    "linalg.det": [((X[:, :2],), {}), ((INTS[:, :2] * 1j,), {}), ((X[:, :2] * 0,), {})],
    "linalg.cholesky": [((X @ X.T,), {}), ((X @ X.T,), {"upper": True})],
    "linalg.matrix_norm": [
        ((X,), {}),
        ((numpy.stack([X, -X]),), {"keepdims": True}),
        ((X,), {"ord": 1}),
        ((INTS,), {"ord": "fro"}),
    ],
    "linalg.vector_norm": [
        ((V,), {}),
        ((X,), {"axis": 1, "keepdims": True}),
        ((X,), {"axis": (1, 0)}),
        ((X.T,), {}),
        ((INTS, ), {"ord": 3}),
    ],
    "linalg.solve": [((X[:, :2], V[:2]), {}), ((X[:, :2].T, X), {}), ((X[:, :2], 1j * X), {})],
    "linalg.outer": [((V, X[0]), {}), ((INTS[0], V), {})],
    "outer": [((V, X[0]), {}), ((INTS[0] > 1, INTS[1] > 2), {}), ((X, V), {}), ((V[::2], 2.0), {})],
    "linalg.matmul": [((X, V), {})],
    **{
        f"fft.{name}": [((X,), {}), ((X[:, ::2], 4, 0), {}), ((INTS,), {"norm": "ortho"})]
        for name in ("fft", "ifft", "rfft", "irfft")
    },
    **{
        f"fft.{name}": [((X,), {}), ((X.T, None, (1, 0)), {}), ((INTS,), {"norm": "forward"})]
        for name in ("fftn", "ifftn", "rfftn", "irfftn", "fft2", "ifft2", "rfft2", "irfft2")
    },
    "tensordot": [((X, X.T, 1), {}), ((X, X), {}), ((X, X, ([0], [0])), {}), ((X, V, 0), {})],
    "array": [
        *[((X,), {}), ((INTS.T,), {}), (([1, 2.5],), {}), ((V,), {"ndmin": 2})],
        *[((x,), {"ndmin": k}) for x in (X.T, V, [1, 2], 3, numpy.float32(2)) for k in (0, 1, 3)],
        *[((x,), {"subok": True, "order": k}) for x in (X, X.T, V, [[1, 2]], 3) for k in "CFKA"],
        *[((range(k),), {}) for k in (0, 3)] + [((range(3, 0, -1), "f4"), {"copy": None})],
    ],
    "asarray": [
        *[((X,), {}), (([[1, 2], [3, 4]],), {}), ((INTS, float), {}), ((X,), {"order": "F"})],
        *[((x,), {"order": k}) for x in (X, X.T, V, [1, 2], 2.5) for k in "CFKA"],
        *[((x,), {"copy": True, "order": k}) for x in (X, X.T) for k in "CFKA"],
        *[((X.T, "f4"), {"order": k}) for k in "CFKA"] + [((X.T,), {"copy": True})],
    ],
    "asanyarray": [((X,), {}), (([1, 2],), {})],
    "zeros": [
        *[((3,), {}), (((2, 2), int), {}), ((2,), {"dtype": "c8"}), ((2, "O"), {})],
        (((9, 8001),), {}),
    ],
    "ones": [((3,), {}), (((2, 2), bool), {}), (((2, 3),), {"order": "F"})],
    "full": [((3, 2), {}), (((2, 2), 1.5, "f4"), {})],
    "zeros_like": [((X,), {}), ((INTS, float), {}), ((X,), {"shape": (4,)}), ((P, "f4"), {})],
    "ones_like": [((X,), {}), ((X,), {"dtype": int}), ((X.T,), {}), ((P,), {"order": "C"})],
    "full_like": [((X, 2), {}), ((INTS, 2.7), {}), ((P, 2), {}), ((P, V[0]), {"order": "F"})],
    "arange": [((4,), {}), ((1, 7, 2), {}), ((0.0, 1.0, 0.25), {}), ((3,), {"dtype": "f4"})],
    "linspace": [((0, 1, 5), {}), ((0, 1), {"num": 3}), ((0, 1, 4), {"endpoint": False})],
    "identity": [((3,), {}), ((3, int), {}), ((2,), {"dtype": "f4"}), ((0,), {})],
    "diag": [
        *[((V,), {}), ((V, 2), {}), ((V[::-2],), {"k": -1}), ((X,), {}), ((X.T, -1), {})],
        ((numpy.arange(250.0)[::-1], 9), {}),
    ],
    "eye": [((3,), {}), ((2, 3, 1), {}), ((2,), {"dtype": int}), ((300, 200, -3, bool), {})],
    "where": [((X > 0, X, 0), {}), ((X > 0,), {}), ((INTS,), {}), ((True, 1, 2), {})],
    "reshape": [((X, (3, 2)), {}), ((X, -1), {}), ((X, (3, 2)), {"order": "F"})],
    "transpose": [((X,), {}), ((X, (1, 0)), {}), ((X,), {"axes": (0, 1)})],
    "repeat": [((V, 2), {}), ((X, 2, 0), {}), ((V, [1, 2, 0]), {})],
    "tile": [((V, 2), {}), ((X, (2, 1)), {})],
    "roll": [((V, 1), {}), ((X, 1, 0), {})],
    "broadcast_to": [((V, (2, 3)), {})],
    "expand_dims": [((V, 0), {}), ((V, (0, 2)), {})],
    "flip": [((V,), {}), ((X, 1), {})],
    "moveaxis": [((X, 0, 1), {})],
    "squeeze": [((X[:, None], 1), {}), ((X[:, None],), {}), ((X[None, :, None],), {})],
    "swapaxes": [((X, 0, 1), {}), ((X[None], -1, 0), {}), ((X, 1, 1), {})],
    "astype": [((X, int), {}), ((X, "f4"), {}), ((X, numpy.float64), {"copy": False})],
    "copy": [((x,), {"order": k} if k else {}) for x in (X, X.T, P, P[::-1]) for k in ("", *"CFK")],
    "fill": [((X.copy(), 2), {}), ((X.copy(), numpy.array(2.5)), {}), ((V.copy(), INTS[0, 0]), {})],
    "flipud": [((X,), {}), ((V,), {})],
    "fliplr": [((X,), {}), ((X[None],), {})],
    "ascontiguousarray": [
        *[((X,), {}), ((X.T,), {}), ((X, int), {}), ((numpy.array(2.0),), {}), ((2.5,), {})],
        *[(([1, 2],), {}), (([[1, 2.5]],), {}), (("a",), {})],
    ],
    "atleast_1d": [
        *[((X,), {}), ((V,), {}), ((V, 2.0), {}), ((3,), {}), ((numpy.array(2.0),), {})],
        *[((True,), {}), (([1, 2],), {}), (([],), {}), ((numpy.float32(2),), {})],
    ],
    "from_dlpack": [((X,), {}), ((X.T,), {"copy": True})],
    "atleast_2d": [((x,), {}) for x in (X, V, V[:0], 2, [1, 2], [[1]])] + [((V, X), {})],
    "atleast_3d": [((X[None],), {}), ((V,), {}), ((X,), {})],
    "copyto": [
        *[((X.copy(), X + 1), {}), ((X.copy(), INTS), {}), ((X.copy(), 3.0), {})],
        *[((X.copy(), X + 1), {"where": X > 1}), ((X.copy(), 3.0), {"where": X.T.T > 1})],
    ],
    "meshgrid": [((V, V[:2]), {}), ((V, V[:2], INTS[0]), {"indexing": "ij"})],
    "pad": [((X, 1), {}), ((X, (1, 2), "edge"), {}), ((V, 2), {"constant_values": 7})],
    "place": [((X.copy(), X > 1, [9.0]), {}), ((X.copy(), X > 1, [9, 8]), {})],
    "putmask": [
        *[((X.copy(), X > 1, 9), {}), ((X.copy(), X > 1, X * 2), {})],
        ((V.copy(), V > 1, INTS), {}),
    ],
    "item": [
        *[((V, 0), {}), ((V, -1), {}), ((V, (1,)), {}), ((X, 4), {}), ((X.T, -2), {})],
        *[((X, 1, -1), {}), ((V[:1],), {}), ((numpy.array(2),), {}), ((V > 2, 0), {})],
    ],
    "tolist": [((x,), {}) for x in (V, X.T, INTS, V > 2, V[:0], X[:0], numpy.array(2.0), X * 1j)],
    "conj": [((x,), {}) for x in (X, X * 1j, INTS.T, numpy.array(1j), V > 2)],
    "view": [
        *[((x,), {}) for x in (X, X.T, numpy.array(2.0))],
        *[((V[::2], x), {}) for x in ("i8", int, numpy.uint64, "f4", "S8", None)],
        *[((X,), {"dtype": "i8"}), ((X, numpy.ndarray), {})],
    ],
    "ravel": [((X,), {}), ((X,), {"order": "F"})],
    "flatten": [((X,), {})],
}  # fmt: skip
CALLS |= {"round": CALLS["around"] + CALLS["round"], "conjugate": CALLS["conj"]}
CALLS |= {"amax": CALLS["max"], "amin": CALLS["min"], "concat": CALLS["concatenate"]}
# What is not initialised is compared by shape and dtype alone.
EMPTY = {
    "empty": [((3,), {}), (((2, 2), int), {})],
    "empty_like": [((X,), {}), ((INTS, float), {}), ((X.T,), {}), ((P,), {}), ((P[:, ::2],), {})],
}


def given(x):
    if isinstance(x, numpy.ndarray):
        return np.array(x)
    return [given(each) for each in x] if type(x) is list else x


def check(found, expected, *, elements=True):
    if isinstance(expected, tuple):
        assert type(found) is type(expected)
        for ours, theirs in zip(found, expected, strict=True):
            check(ours, theirs)
    elif isinstance(expected, numpy.ndarray):
        plain = expected.dtype not in CANONICAL
        assert type(found) is (numpy.ndarray if plain else np.ndarray)
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        steps = zip(found.strides, expected.strides, expected.shape, strict=True)
        assert all([ours == theirs or n < 2 for ours, theirs, n in steps])
        if elements:
            numpy.testing.assert_array_equal(numpy.asarray(found), expected)
    else:
        assert type(found) is type(expected)
        assert found == expected


CASES = [
    pytest.param(name, args, named, id=f"{name}{i}")
    for name in FUNCTIONS
    for i, (args, named) in enumerate(CALLS.get(name, ()))
]
METHOD_CASES = [
    pytest.param(name, args, named, id=f"{name}{i}")
    for name in METHODS
    for i, (args, named) in enumerate(CALLS.get(name, ()))
    if isinstance(args[0], numpy.ndarray)
]


def test_every_row_has_calls():
    assert set(CALLS) | set(EMPTY) >= set(FUNCTIONS) | {x for x in METHODS if x[0] != "_"}


def named_of(module, name):
    for part in name.split("."):
        module = getattr(module, part)
    return module


@pytest.mark.parametrize(("name", "args", "named"), CASES)
def test_functions_give_numpys_results(name, args, named):
    expected = named_of(numpy, name)(*args, **named)
    check(named_of(np, name)(*[given(x) for x in args], **named), expected)


@pytest.mark.parametrize(("name", "args", "named"), METHOD_CASES)
def test_methods_give_numpys_results(name, args, named):
    x = numpy.array(args[0])
    try:
        expected = getattr(x, name)(*args[1:], **named)
    except TypeError as error:
        refused(type(error), None, getattr(np.array(args[0]), name), *args[1:], **named)
        return
    ours = np.array(args[0])
    check(getattr(ours, name)(*[given(each) for each in args[1:]], **named), expected)
    check(ours, x)


@pytest.mark.parametrize("name", EMPTY)
def test_new_memory_has_numpys_shape_and_dtype(name):
    for args, named in EMPTY[name]:
        expected = getattr(numpy, name)(*args, **named)
        found = getattr(np, name)(*[given(x) for x in args], **named)
        check(found, expected, elements=False)


@pytest.mark.parametrize("value", [2.0, numpy.float64(0.5), numpy.float32(0.5), 3, True, 1j])
@pytest.mark.parametrize("name", ["sqrt", "exp", "tanh", "negative", "isfinite", "sign"])
def test_ufuncs_of_scalars_give_scalars(name, value):
    try:
        expected = getattr(numpy, name)(value)
    except TypeError:
        refused(TypeError, None, getattr(np, name), value)
        return
    check(getattr(np, name)(value), expected)


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "i8"])
@pytest.mark.parametrize("name", ["sqrt", "exp", "arctan2", "divide", "add", "floor", "hypot"])
def test_ufuncs_of_integers_give_numpys_dtypes(name, dtype):
    x = numpy.asarray([1, 0, 1], dtype)
    operands = [x] * getattr(numpy, name).nin
    with numpy.errstate(all="ignore"):
        expected = getattr(numpy, name)(*operands)
        check(getattr(np, name)(*[given(each) for each in operands]), expected)


def test_floats_alone_warn_as_numpys_do():
    with pytest.warns(RuntimeWarning, match="invalid value encountered in sqrt"):
        assert numpy.isnan(np.sqrt(-1.0))
    with pytest.warns(RuntimeWarning, match="divide by zero encountered in divide"):
        assert np.divide(1.0, 0.0) == numpy.inf
    with numpy.errstate(all="raise"), pytest.raises(FloatingPointError):
        np.log(0.0)


@needs_native
@needs_call_lists
def test_c_asks_numpy_of_small_arrays_and_counts_it():
    x = np.array(V)
    before = count_numpys(0)
    check(np.interp(1.5, x, x, period=9), numpy.interp(1.5, V, V, period=9))
    assert count_numpys(0) == before + 1
    x.partition(1)
    np.add(x, x)
    assert count_numpys(0) == before + 2
    check(x, numpy.sort(V))  # from Python 3.12 on NumPy reads the buffer, which counts, too


VIEW = numpy.arange(12).reshape(3, 4)[:, :3]  # whose elements do not lie in one run


@needs_native
@needs_call_lists
@pytest.mark.parametrize(
    "function",
    [
        lambda m: m.triu(m.asarray(X)),
        lambda m: 2.5 * m.asarray(VIEW),
        lambda m: m.asarray(VIEW[:2]) * m.asarray(X),
        lambda m: m.asarray(VIEW.T) - 1j,
        lambda m: numpy.float64(2) * m.asarray(V)[:0],
        lambda m: m.asarray(V)[:0] + m.ones(1),
        lambda m: m.asarray(V)[:0] > 1,
        lambda m: m.asarray(V) * [1, 2, 3],
        lambda m: (1.5, 2, 3) - m.asarray(V),
        lambda m: m.asarray(V) == [4, 1, 0],
        lambda m: m.asarray(X) == None,  # noqa: E711
        lambda m: m.asarray(V) != None,  # noqa: E711
        lambda m: m.power(numpy.complex128(1 + 2j), 1.5),
        lambda m: m.sqrt(2),
        lambda m: m.maximum(numpy.float32(2), 3),
        lambda m: m.add(numpy.int8(100), 100),
        lambda m: m.asarray(INTS) @ m.asarray(V),
        lambda m: m.asarray(X).T @ m.asarray(X * 1j),
        lambda m: m.asarray(X).std(ddof=1),
        lambda m: m.concatenate([m.asarray(V)[:0], m.asarray(V)]),
    ],
)
def test_c_leaves_nothing_of_these_to_numpy(function):
    before = count_numpys(0)
    found = function(np)
    assert count_numpys(0) == before
    check(found, function(numpy))


def shifted(a):
    a[1:] += a[:-1]
    return a


def turned(a):
    a[::-1] -= a
    return a


def transposed(a):
    b = a.reshape(3, 3)
    b *= b.T
    return b


def interleaved(a):
    a[::2][:4] += a[1::2]
    return a


@needs_native
@needs_call_lists
@pytest.mark.parametrize("update", [shifted, turned, transposed, interleaved])
def test_c_updates_arrays_that_overlap_their_operand(update):
    ours = np.arange(9.0)
    before = count_numpys(0)
    found = update(ours)
    assert count_numpys(0) == before
    check(found, update(numpy.arange(9.0)))


# Of these NumPy's own meanings of lists are the subject, or the rows leave even arrays to NumPy.
NOT_OF_LISTS = {"empty_like", "isin"}


def listed(x):
    """Arrays among the arguments as the lists that they are, an array of arrays as one of lists."""
    if isinstance(x, numpy.ndarray):
        return x.tolist()
    return type(x)([listed(each) for each in x]) if type(x) in (list, tuple) else x


@pytest.mark.parametrize(("name", "args", "named"), CASES)
def test_lists_are_operands(name, args, named):
    args = [listed(x) for x in args]
    try:
        expected = named_of(numpy, name)(*args, **named)
    except (AttributeError, TypeError, ValueError) as error:
        refused(type(error), None, named_of(np, name), *args, **named)
        return
    check(named_of(np, name)(*args, **named), expected, elements=name not in NOT_OF_LISTS)


LISTS = [
    lambda m: m.sum([1, 2, 3]),
    lambda m: m.mean([[1.0, 2.5], [3, 4]], axis=0),
    lambda m: m.sum(a=[1.0, 2.0]),
    lambda m: m.maximum([1, 2.5], m.asarray(V)[:2]),
    lambda m: m.add([1, 2, 3], [0.5, 1, 2], out=m.zeros(3)),
    lambda m: m.dot([1, 2], [3, 4]),
    lambda m: m.sqrt((1.0, 4.0)),
    lambda m: m.concatenate(([0], m.asarray(V))),
    lambda m: m.stack([m.asarray(V), m.asarray(INTS)[0], m.asarray(V) > 1]),
    lambda m: m.hstack([[0.0], V.tolist(), m.asarray(V)]),
    lambda m: m.clip([1, 5, 9], 2, [6, 6, 6]),
    lambda m: m.where([True, False], [1, 2], 0),
    lambda m: m.asarray(V).take([0, -1]),
    lambda m: m.asarray(X)[[1, 0]],
    lambda m: m.asarray(X)[:, [True, False, True]],
    lambda m: m.asarray(X)[[0, 1], [2, 0]],
    lambda m: m.array([numpy.float64(1.5), 2, 3.0]),
    lambda m: m.array([[1, numpy.float32(2)], [numpy.int8(3), 4]]),
]


@needs_native
@needs_call_lists
@pytest.mark.parametrize("function", LISTS)
def test_c_makes_arrays_of_lists(function):
    before = count_numpys(0)
    found = function(np)
    assert count_numpys(0) == before
    check(found, function(numpy))


def test_products_of_lists_of_booleans_are_numpys():
    check(np.dot([True, False], [True, True]), numpy.dot([True, False], [True, True]))
    refused(TypeError, None, np.subtract, [True], [False])


def test_lists_are_written_by_keys_with_lists_as_numpy_writes_them():
    ours, numpys = np.array(X), X.copy()
    for x in ours, numpys:
        x[[0, 1], [1, 2]] = [8, 9]
        x[:, [0, 2]] += 1
        x[[True, False]] = [[1, 2, 3]]
    check(ours, numpys)


@pytest.mark.parametrize("value", [[1.0], [[1.0]], (1.0,), V[:1], V[:1, None], 2.0, V[0]])
@pytest.mark.parametrize(
    ("shape", "key"),
    [
        *[((), key) for key in ((), ..., None, (..., None))],
        *[((2, 3), key) for key in (0, (0, 1), (0, ...), (0, 1, ...), (None, 0, 0), slice(1))],
        *[((2, 3), key) for key in ([0, 1], (numpy.int64(0), 0), (0, [1]), (0, slice(1, 2)))],
    ],
)
def test_what_is_nested_deeper_than_its_target_is_written_where_numpy_does(shape, key, value):
    ours, numpys = np.zeros(shape), numpy.zeros(shape)
    try:
        numpys[key] = value
    except ValueError as error:
        refused(type(error), str(error), ours.__setitem__, key, value)
    else:
        ours[key] = given(value)
        check(ours, numpys)


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
@pytest.mark.parametrize("size", [3, 40])
def test_indices_of_every_integer_dtype_select(dtype, size):
    low = 0 if dtype[0] == "u" else -3
    keys = numpy.random.default_rng(1).integers(low, 3, size).astype(dtype)
    x, ours = numpy.array(X.T), np.array(X.T)
    for key in (
        keys,
        keys[::2],
        (keys, keys % 2),
        (keys[:, None], [0, 1]),
        (slice(None), keys % 2),
    ):
        own = tuple(map(given, key)) if type(key) is tuple else given(key)
        numpy.testing.assert_array_equal(numpy.asarray(ours[own]), x[key])
        ours[own] = x[key] = 7.0
        check(ours, x)
    refused(IndexError, "out of bounds", ours.__getitem__, np.array([3] * size, dtype))


@pytest.mark.parametrize(
    "x", [X, INTS, V[:0], V > 2, X * 1j, numpy.array(3.0), numpy.tile(V, 5000)]
)
@pytest.mark.parametrize(
    "number", [3, 3.0, 4.5, numpy.int64(1), numpy.nan, True, 3j, numpy.float32(2), None, "a"]
)
def test_numbers_are_looked_for_as_in_numpy(x, number):
    with warnings.catch_warnings(action="ignore"):
        expected = number in x
        found = number in given(x)
    assert type(found) is bool
    assert found is expected


@pytest.mark.parametrize("value", [V, V[:1], [1.0], X])
def test_arrays_are_filled_with_one_element_alone(value):
    x = np.array(X)
    refused(ValueError, None, x.copy().fill, given(value))
    refused(ValueError, None, x.fill, value)
    check(x, X)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u1", "?", "c16"])
@pytest.mark.parametrize("shape", [(0,), (1,), (9,), (300,), (70_000,), (6, 5), (3, 4, 5)])
def test_arrays_are_sorted_in_place(shape, dtype):
    x = (numpy.random.default_rng(2).normal(size=shape) * 50).astype(dtype)
    for named in ({}, {"axis": 0}, {"kind": "stable"}, {"axis": -1, "kind": "heapsort"}):
        for part in (slice(None), slice(None, None, 2), slice(None, None, -1)):
            theirs, ours = x.copy(), np.array(x)
            view = ours[part]
            theirs[part].sort(**named)
            assert view.sort(**named) is None
            check(ours, theirs)
    refused(numpy.exceptions.AxisError, None, np.array(x).sort, 3)
    view = np.broadcast_to(np.array(x), (2, *shape))
    if view.size:
        refused(ValueError, "read-only", view.sort)


@pytest.mark.parametrize("shape", [(7, 2), (2, 7), (2, 5, 3), (1, 4), (4, 1)])
@pytest.mark.parametrize("name", ["tril", "triu"])
def test_triangles_of_tall_and_wide_matrices(name, shape):
    x = numpy.arange(1.0, 1 + numpy.prod(shape)).reshape(shape)
    for k in range(-8, 9):
        for each in (x, x[..., ::-1], x.swapaxes(-1, -2)):
            check(getattr(np, name)(given(each), k), getattr(numpy, name)(each, k))


@needs_native
@needs_call_lists
def test_warnings_name_the_line_that_computes():
    with warnings.catch_warnings(record=True, action="always") as caught:
        x = np.array([0.0, -1.0])
        np.log(x)
    assert [str(each.message) for each in caught] == [
        "divide by zero encountered in log",
        "invalid value encountered in log",
    ]
    assert {each.filename for each in caught} == {__file__}
    assert len({each.lineno for each in caught}) == 1
    with warnings.catch_warnings(action="error"):
        refused(RuntimeWarning, "invalid value encountered in sqrt", np.sqrt, x)


@needs_native
@needs_call_lists
def test_lists_alone_have_c_answer_from_the_second_call_on():
    code = "from array_api_nx.numpy.adoption import count_numpys\n"
    code += "import array_api_nx.numpy as np\n"
    code += "np.sum([1, 2]), np.sum([1, 2]), np.max([1, 2]); print(count_numpys(0))"
    assert python("-c", code).strip() == "1"


def test_empty_arrays_are_updated_in_place_where_shapes_fit():
    x, y = np.ones((2, 0)), np.ones(3)
    same = x
    x += 1
    x *= np.ones((2, 1))
    y[:0] += y[:0]
    assert x is same
    check(y, numpy.ones(3))
    with pytest.raises(ValueError, match="broadcast"):
        x += np.ones((3, 2, 1))
    with pytest.raises(TypeError):
        x += 1j


def test_what_is_broadcast_is_read_only_even_if_nothing_is_repeated():
    x = np.broadcast_to(np.array(V), (1, 3))
    with pytest.raises(ValueError, match="read-only"):
        x += 1


def test_what_numpy_returns_of_an_argument_is_that_argument():
    x = np.array(V)
    assert np.asanyarray(x) is x
    assert np.require(x, requirements="C") is x
    assert np.nan_to_num(x, copy=False) is x or numpy.shares_memory(np.nan_to_num(x, copy=False), x)
    found, mask = np.lib._nanfunctions_impl._replace_nan(np.arange(3), 0)
    assert (type(found), mask) == (np.ndarray, None)
    assert [a is b for a, b in zip(np.broadcast_arrays(x, x), (x, x), strict=True)] == [True, True]
    y = np.array(V)
    assert np.add(x, 2, out=(y,), where=True) is y
    assert np.frexp(x, out=(y, None))[0] is y


def test_a_loop_over_an_array_gives_scalars_and_rows():
    assert [type(e) for e in np.array(V)] == [numpy.float64] * 3
    rows = list(np.array(X))
    assert all(type(row) is np.ndarray for row in rows)
    rows[0][0] = 100
    refused(IndexError, "out of bounds", lambda: np.array(V)[3])
    assert list(reversed(np.array(V))) == [3.0, 1.0, 4.0]


def test_torch_makes_numbers_of_arrays_and_not_of_their_bytes():
    torch = pytest.importorskip("torch")
    assert torch.asarray(np.array(V)).tolist() == V.tolist()


@pytest.mark.parametrize("name", ["reciprocal", "floor", "prod", "matmul"])
def test_numpys_integers_of_every_c_type_have_numpys_results(name):
    for kind in "lqLQ":
        x = numpy.arange(1, 73, dtype=kind).reshape(6, 12)[:, ::2]
        operands = [x] * getattr(getattr(numpy, name), "nin", 1)
        expected = getattr(numpy, name)(*operands)
        found = getattr(np, name)(*operands)
        assert found.dtype == expected.dtype
        numpy.testing.assert_array_equal(numpy.asarray(found), expected)
