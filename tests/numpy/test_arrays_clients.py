"""Other libraries with arrays of the face: see docs/how-to/from-numpy-in-one-word.md."""

import io
import operator
import subprocess
import sys

import numpy
import pytest

import array_api_nx
import array_api_nx.numpy as np
from tests.support.refusals import refused


def data():
    return np.linspace(0.0, 1.0, 20), np.array([[4.0, 1.0], [1.0, 3.0]])


def test_matplotlib_draws_them():
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    x, m = data()
    figure, axes = pyplot.subplots(1, 4)
    (line,) = axes[0].plot(x, np.sin(x))
    axes[0].fill_between(x, np.sin(x), 0.0, where=x > 0.5)
    axes[1].scatter(x, x, c=x, s=20 * x)
    axes[2].contourf(*np.meshgrid(x, x), np.outer(x, x))
    axes[3].imshow(m)
    figure.savefig(io.BytesIO())
    assert line.get_ydata().tolist() == numpy.sin(numpy.linspace(0.0, 1.0, 20)).tolist()
    pyplot.close(figure)


def test_matplotlib_takes_columns_for_samples():
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    matplotlib.use("Agg")
    from matplotlib import cbook, pyplot

    x = np.arange(12.0).reshape(6, 2)
    figure, axes = pyplot.subplots()
    for made in (x, x[:, 0]):
        counts, edges, _ = axes.hist(made, bins=4)
        expected, expected_edges, _ = axes.hist(numpy.asarray(made), bins=4)
        assert counts.tolist() == expected.tolist()
        assert edges.tolist() == expected_edges.tolist()
    assert [box["med"] for box in cbook.boxplot_stats(x)] == [5.0, 6.0]
    assert len(axes.violinplot(x)["bodies"]) == 2
    pyplot.close(figure)


def test_pillow_makes_images():
    image = pytest.importorskip("PIL.Image")
    x = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    for part in (x, x[::-1], x[..., 1], x[..., 0].T, x[..., 2].astype(np.float32)):
        numpy.testing.assert_array_equal(numpy.asarray(image.fromarray(part)), numpy.asarray(part))


def test_pandas_takes_them_as_data():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    x, _ = data()
    frame = pandas.DataFrame({"a": x, "b": np.ones(20)})
    assert type(np.sin(frame.a)) is type(np.add(frame.a, x)) is type(x * frame.a) is pandas.Series
    assert type(np.asarray(frame.a)) is np.ndarray
    assert len(frame[x > 0.5]) == 10


def test_sympy_leaves_them_their_operators():
    sympy = pytest.importorskip("sympy", reason="sympy is not installed")
    numbers = sympy.Symbol("x"), sympy.Float(2.5), sympy.Integer(7), sympy.I
    for x, plain in ((data()[0] + 1, numpy.linspace(1.0, 2.0, 20)), (np.arange(1, 4), [1, 2, 3])):
        for number in numbers:
            for function in (operator.mul, operator.sub, operator.pow, operator.truediv):
                found, expected = function(number, x), function(number, numpy.asarray(plain))
                assert type(found) is type(expected)
                assert found.tolist() == expected.tolist()
        assert (sympy.Float(1.5) < x).tolist() == [each > 1.5 for each in plain]
        assert sympy.sympify(x) == sympy.Array(list(plain))
        with pytest.raises(sympy.SympifyError):
            sympy.sympify(x, strict=True)


def test_netcdf4_writes_them():
    netcdf4 = pytest.importorskip("netCDF4", reason="netCDF4 is not installed")
    x, _ = data()
    with netcdf4.Dataset("x.nc", "w", diskless=True) as dataset:
        dataset.createDimension("axis", x.size)
        variable = dataset.createVariable("x", x.dtype, ("axis",))
        variable[:] = x
        variable[::2] = x[1::2]
        assert variable[:].tolist() == np.repeat(x[1::2], 2).tolist()


def test_xarray_keeps_them():
    xarray = pytest.importorskip("xarray", reason="xarray is not installed")
    _, m = data()
    kept = xarray.DataArray(m, dims=("i", "j"))
    assert type(kept.data) is np.ndarray
    assert float(kept.mean("i").sum()) == 4.5


SCIPY = """
import array_api_nx.numpy as np
import numpy
from scipy import integrate, linalg, ndimage, optimize, signal, sparse, stats
m = np.array([[4.0, 1.0], [1.0, 3.0]])
x = np.linspace(0.0, 1.0, 20)
got = [
    linalg.inv(m), linalg.svd(m)[1], ndimage.gaussian_filter(m, 1),
    sparse.csr_array(m) @ np.ones(2),
    optimize.minimize(lambda v: np.sum((v - 1) ** 2), np.zeros(3)).x,
    optimize.minimize(
        lambda v: np.sum(v**2), np.ones(3), jac=lambda v: np.array(2 * v), method="L-BFGS-B"
    ).x,
    integrate.solve_ivp(lambda t, u: -u, (0, 1), np.ones(2)).y,
    signal.lfilter(*signal.butter(2, 0.3), x), stats.zscore(x),
]
print(all([isinstance(each, np.ndarray) for each in got]), type(np.sqrt(got[0])) is np.ndarray)
"""


def test_scipy_computes_with_them():
    pytest.importorskip("scipy", reason="SciPy is not installed")
    # In a process whose SciPy does not read SCIPY_ARRAY_API, as is its default.
    command = ["-c", f"import os; os.environ.pop('SCIPY_ARRAY_API', None)\n{SCIPY}"]
    result = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False)
    assert result.stdout.split() == ["True", "True"], result.stderr


def test_scipys_sparse_arrays_are_operands():
    sparse = pytest.importorskip("scipy.sparse", reason="SciPy is not installed")
    for kind in (sparse.csr_array, sparse.coo_matrix):
        matrix, x = kind(numpy.eye(3)), np.arange(9.0).reshape(3, 3)
        for compute in (operator.add, operator.sub, operator.matmul, operator.ne):
            array = numpy.asarray(x)
            numpy.testing.assert_array_equal(compute(matrix, x), compute(matrix, array))
            numpy.testing.assert_array_equal(compute(x, matrix), compute(array, matrix))


def test_scipys_iterative_solvers_take_them_for_matrices():
    linalg = pytest.importorskip("scipy.sparse.linalg", reason="SciPy is not installed")
    rng = numpy.random.default_rng(1)
    half = rng.random((20, 20))
    matrix = half @ half.T + 20 * numpy.eye(20) + 1j * (half - half.T)
    ours, vector = np.asarray(matrix), np.ones(20)
    found, failed = linalg.cg(ours, vector, rtol=1e-10)
    assert not failed
    numpy.testing.assert_allclose(numpy.asarray(ours @ found), numpy.ones(20), rtol=1e-6)
    operator = linalg.aslinearoperator(ours)
    numpy.testing.assert_allclose(operator.rmatvec(vector), matrix.conj().T @ numpy.ones(20))
    largest = linalg.eigsh(ours, 2, return_eigenvectors=False)
    numpy.testing.assert_allclose(largest, numpy.linalg.eigvalsh(matrix)[-2:])


def test_scipy_with_array_api_support_gives_the_standards_arrays():
    stats = pytest.importorskip("scipy.stats", reason="SciPy is not installed")
    x, _ = data()
    assert x.__array_namespace__() is array_api_nx
    ranks = stats.rankdata(x)
    assert type(ranks) is array_api_nx.Array
    assert type(x + ranks) is np.ndarray
    refused(TypeError, "Multiple namespaces", stats.ttest_ind, x, numpy.ones(20))


def test_scikit_learn_fits_and_predicts():
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    from sklearn import config_context
    from sklearn.decomposition import PCA
    from sklearn.linear_model import LinearRegression

    x = np.random.default_rng(0).random((60, 3))
    y = x @ np.array([1.0, 2.0, 3.0])
    assert np.allclose(LinearRegression().fit(x, y).predict(x), y)
    assert type(PCA(2).fit_transform(x)) is numpy.ndarray
    with config_context(array_api_dispatch=True):
        assert type(PCA(2, svd_solver="full").fit_transform(x)) is array_api_nx.Array


@pytest.mark.parametrize("device", ["torch:cpu", "jax:cpu", "dask"])
def test_other_devices(device):
    name = device.partition(":")[0]
    pytest.importorskip(name, reason=f"{name} is not installed")
    x = np.asarray([[3.0, 1.0], [2.0, 4.0]], device=device)
    for made in (x + 1, np.sin(x), x.T, np.partition(x, 1), np.frexp(x)[0], x[x > 1], x.copy()):
        assert type(made) is np.ndarray
        assert str(made.device) == device
    assert type(np.sum(x)) is type(x[0, 1]) is numpy.float64
    np.put(x, [0], 5.0)
    np.add(x, 1, out=x)
    x[1] *= 2
    assert x.tolist() == [[6.0, 2.0], [6.0, 10.0]]
    with array_api_nx.config_context(default_device=device):
        made = [np.zeros(3), np.array([1, 2]), np.random.default_rng(0).random(3)]
        assert {str(each.device) for each in made} == {device}
