"""Functions of other packages that take NumPy's arrays alone, with arrays of ours."""

import importlib
import inspect

import numpy
import pytest

import array_api_nx as xp
import array_api_nx.numpy as face
from tests.support.processes import python

X = numpy.random.default_rng(3).normal(size=50)
TABLE = numpy.random.default_rng(4).normal(size=(50, 50))
IMAGE = (TABLE > 0).astype(numpy.uint8)


def file_in_memory(h5py):
    file = h5py.File("x", "w", driver="core", backing_store=False)
    return file.create_dataset("x", data=X)


def written(h5py, key, value):
    data = file_in_memory(h5py)
    data[key] = value
    return data[:]


def drawn(cv2, image):
    cv2.circle(image, (10, 10), 5, 255, -1)
    return image


def minimum(cvxpy, target):
    x, wanted = cvxpy.Variable(50), cvxpy.Parameter(50)
    wanted.value = target
    cvxpy.Problem(cvxpy.Minimize(cvxpy.sum_squares(x - wanted))).solve()
    return x.value.round(3)


def interpolated(xarray, x, at):
    array = xarray.DataArray(x, dims=["x"], coords={"x": numpy.arange(50)})
    return array.interp(x=at).values, array.interp({"x": at}).values


# By package, what it gives for what makes arrays of ours, or NumPy's.
CALLS = {
    "blur": ("cv2", lambda cv2, give: cv2.GaussianBlur(give(TABLE), (3, 3), 0)),
    "draw": ("cv2", lambda cv2, give: drawn(cv2, give(IMAGE * 0))),
    "merge": ("cv2", lambda cv2, give: cv2.merge([give(IMAGE), give(IMAGE)])),
    "target": ("cv2", lambda cv2, give: cv2.blur(give(TABLE), (3, 3), dst=give(TABLE * 0))),
    "minimise": ("cvxpy", lambda cvxpy, give: minimum(cvxpy, give(X))),
    "read": ("h5py", lambda h5py, give: file_in_memory(h5py)[give(X > 0)]),
    "write": ("h5py", lambda h5py, give: written(h5py, give(X > 0), 0.0)),
    "fit": (
        "lightgbm",
        lambda lightgbm, give: lightgbm.train(
            {"verbose": -1}, lightgbm.Dataset(give(TABLE), give(X)), 3
        ).predict(give(TABLE)),
    ),
    "column": ("polars", lambda polars, give: polars.Series("x", give(X)).to_numpy()),
    "columns": ("polars", lambda polars, give: polars.DataFrame({"x": give(X)})["x"].to_numpy()),
    "rows": (
        "polars",
        lambda polars, give: polars.DataFrame(TABLE).filter(give(X > 0)).to_numpy(),
    ),
    "product": ("polars", lambda polars, give: (polars.Series(X) * give(X)).to_numpy()),
    "spectrum": ("scipy.signal", lambda signal, give: signal.welch(give(X), nperseg=4)[1]),
    "peaks": ("scipy.signal", lambda signal, give: signal.find_peaks(X, give(X - 0.5))[0]),
    "boost": (
        "catboost",
        lambda catboost, give: (
            catboost.CatBoostRegressor(3, verbose=0, allow_writing_files=False)
            .fit(give(TABLE), give(X))
            .predict(give(TABLE))
        ),
    ),
    "audio": ("librosa", lambda librosa, give: librosa.feature.zero_crossing_rate(y=give(X))),
    "regress": (
        "statsmodels.tsa.api",
        lambda models, give: models.VAR(give(TABLE[:, :2])).fit(1).params,
    ),
    "contours": (
        "skimage.measure",
        lambda measure, give: numpy.concatenate(measure.find_contours(give(TABLE), 0.0)),
    ),
    "skeleton": ("skimage.morphology", lambda shapes, give: shapes.skeletonize(give(TABLE > 0))),
    "closing": ("skimage.morphology", lambda shapes, give: shapes.area_closing(give(IMAGE), 3)),
    "angles": (
        "sklearn.linear_model",
        lambda models, give: models.lars_path(give(TABLE), give(X))[2],
    ),
    "pursuit": (
        "sklearn.linear_model",
        lambda models, give: models.orthogonal_mp_gram(
            give(TABLE.T @ TABLE), give(TABLE.T @ X), n_nonzero_coefs=2
        ),
    ),
    "parameters": (
        "sklearn.model_selection",
        lambda search, give: [each["a"] for each in search.ParameterGrid({"a": give(X)})],
    ),
    "classes": (
        "sklearn.utils.class_weight",
        lambda weights, give: weights.compute_class_weight(
            "balanced", classes=give(numpy.asarray([0, 1])), y=[0, 1, 1]
        ),
    ),
    "interpolate": (
        "xarray",
        lambda xarray, give: interpolated(xarray, give(X), give(numpy.asarray([1.5, 2.5]))),
    ),
}
GIVE = {"standard": xp.asarray, "face": face.array}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("namespace", GIVE)
def test_calls(namespace, name):
    package, call = CALLS[name]
    module = pytest.importorskip(package, reason=f"{package} is not installed")
    result, expected = call(module, GIVE[namespace]), call(module, lambda x: x.copy())
    numpy.testing.assert_array_equal(numpy.asarray(result), numpy.asarray(expected))


FAKE = """
import sys, warnings
from math import dist

class Box:
    def __init__(self, x): self.x = x
    def name(self, *, x=None): return type(x).__module__
    def are_one(self, x, *, y): return x is y
    def warn(self):
        level, frame = 1, sys._getframe()
        while frame.f_code.co_filename == __file__:
            level, frame = level + 1, frame.f_back
        warnings.warn("outside", stacklevel=level)
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A small package, with a row in the table for as long as the test runs."""
    other_packages = importlib.import_module("array_api_nx.other_packages")
    (tmp_path / "boxes_of_arrays.py").write_text(FAKE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    table = {"": "*", "Box": "__init__ are_one name warn"}
    monkeypatch.setitem(other_packages._FUNCTIONS, "boxes_of_arrays", table)
    module = importlib.import_module("boxes_of_arrays")
    other_packages._give_numpys("boxes_of_arrays")
    return module


def test_arguments_are_numpys_in_containers_too(package):
    x, y = xp.ones(3), face.zeros(3)
    for given in (x, [x, y], (x, [y]), {"x": x}):
        found = package.Box(given).x
        assert type(found) is (numpy.ndarray if given is x else type(given))
        if given is not x:
            first, *others = found.values() if isinstance(found, dict) else found
            nested = [each[0] if isinstance(each, list) else each for each in others]
            assert {type(each) for each in (first, *nested)} == {numpy.ndarray}
    assert package.Box(0).name(x=y) == "numpy"
    labels = [1] * 100
    assert package.Box(labels).x is labels
    assert package.Box(labels[:2]).x == labels[:2]
    options = {"a": [1], "b": (2,)}
    assert package.Box(options).x is options
    other = type("Other", (), {"_handle": None})()
    assert package.Box(other).x is other


def test_arrays_share_their_memory(package):
    x = face.arange(100_000) * 2.0
    later = x + 1
    package.Box(x).x[...] = 7.0
    assert x.max() == 7.0
    assert later[0] == 1.0


def test_arguments_that_are_one_array_stay_one(package):
    x, y = face.zeros(3), xp.ones(3)
    for each in (x, y, [x]):
        assert package.Box(0).are_one(each, y=each)
    assert not package.Box(0).are_one(x, y=y)


def test_functions_keep_their_signatures(package):
    assert [*inspect.signature(package.Box.name).parameters] == ["self", "x"]
    assert package.dist(face.zeros(2), [3.0, 4.0]) == 5.0
    assert package.dist.__name__ == "dist"


def test_warnings_name_the_first_line_outside_of_the_package(package):
    with pytest.warns(UserWarning, match="outside") as caught:
        package.Box(0).warn()
    assert [each.filename for each in caught] == [__file__]


def test_long_convolutions_of_scipys_are_by_transforms():
    pytest.importorskip("scipy.signal", reason="scipy is not installed")
    code = """
import array_api_nx as xp
from scipy.signal import choose_conv_method
print(choose_conv_method(xp.ones(90_000), xp.ones(9_000)))
"""
    assert python("-c", code, SCIPY_ARRAY_API="1").strip() == "fft"


def test_none_of_the_packages_is_imported():
    names = ["cv2", "cvxpy", "h5py", "lightgbm", "pandas", "polars", "scipy", "torch", "xarray"]
    code = f"import sys, array_api_nx.numpy; print([x for x in {names} if x in sys.modules])"
    assert python("-c", code).strip() == "[]"
