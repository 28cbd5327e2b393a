"""Functions of NumPy's that are written in Python, on arrays of the face (numpy/rebound.py)."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import numpy
import pytest

import array_api_nx.numpy as np
from array_api_nx.numpy import rebound
from array_api_nx.numpy.adoption import count_numpys
from array_api_nx.numpy.names import faced
from tests.support.implementations import needs_call_lists, needs_native

NAMES = sorted(rebound.REBOUND)

CALLS = {
    "allclose": "(x, x + 1e-12)",
    "apply_over_axes": "(np.sum, m, [0])",
    "argwhere": "(x > 0)",
    "array_equal": "(x, x.copy())",
    "array_split": "(x, 3)",
    "average": "(x, weights=x * x)",
    "bartlett": "(9)",
    "blackman": "(9)",
    "corrcoef": "(x, x[::-1])",
    "cov": "(x, x[::-1])",
    "cross": "(m[:, :3], m[:, -3:])",
    "digitize": "(x, [-1.0, 0.0, 1.0])",
    "extract": "(x > 0, x)",
    "fft.fftfreq": "(9, 0.5)",
    "fft.fftshift": "(m)",
    "fft.ifftshift": "(m)",
    "fft.rfftfreq": "(9, 0.5)",
    "flatnonzero": "(x > 0)",
    "fromfunction": "(lambda i, j: i * 1.5 + j, (3, 4))",
    "gradient": "(m)",
    "hamming": "(9)",
    "hanning": "(9)",
    "histogram": "(x, 20)",
    "histogram2d": "(x, x[::-1], 5)",
    "histogramdd": "(m[:, :2], 3)",
    "i0": "(x)",
    "indices": "((3, 4))",
    "insert": "(x, 3, 5.0)",
    "intersect1d": "(k, k[:9])",
    "isclose": "(x, x[::-1])",
    "kaiser": "(9, 5.0)",
    "kron": "(m[:3], m[:2, :2])",
    "linalg.matrix_power": "(m[:4, :4], 3)",
    "linalg.matrix_rank": "(m[:4, :4])",
    "linalg.multi_dot": "([m, m.T, m])",
    "linalg.pinv": "(m[:6])",
    "linalg.qr": "(m[:6])",
    "linalg.tensorinv": "(m[:4, :4], 1)",
    "linalg.tensorsolve": "(m[:4, :4], x[:4])",
    "meshgrid": "(x[:5], x[:3])",
    "pad": "(m, 2)",
    "piecewise": "(x, [x < 0, x >= 0], [lambda t: -t, 1.0])",
    "polyadd": "(x[:4], x[:6])",
    "polyfit": "(x, x * x, 2)",
    "polysub": "(x[:4], x[:6])",
    "polyval": "([1.0, 2.0, 3.0], x)",
    "rot90": "(m)",
    "setdiff1d": "(k, k[:9])",
    "setxor1d": "(k, k[:9])",
    "sinc": "(x)",
    "sort_complex": "(x)",
    "split": "(x[:12], 3)",
    "trapezoid": "(x, dx=0.1)",
    "tri": "(4, 5)",
    "tril_indices": "(5)",
    "tril_indices_from": "(m[:4, :4])",
    "trim_zeros": "(k)",
    "triu_indices": "(5)",
    "triu_indices_from": "(m[:4, :4])",
    "union1d": "(k, k[:9])",
    "unwrap": "(x * 9)",
}


def call(module: Any, name: str, size: int) -> Any:
    rng = numpy.random.default_rng(len(name))
    x = module.asarray(rng.standard_normal(size))
    m = module.asarray(rng.standard_normal((size // 5, 5)))
    k = module.asarray(rng.integers(0, 50, size))
    return eval(f"np.{name}{CALLS[name]}", {"np": module, "x": x, "m": m, "k": k})


def assert_same(ours: Any, numpys: Any) -> None:
    if isinstance(numpys, tuple | list):
        assert type(ours) is type(numpys)
        for one, other in zip(ours, numpys, strict=True):
            assert_same(one, other)
        return
    assert isinstance(ours, np.ndarray) == isinstance(numpys, numpy.ndarray)
    one, other = numpy.asarray(ours), numpy.asarray(numpys)
    assert (one.dtype, one.shape) == (other.dtype, other.shape)
    numpy.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


def test_every_function_has_a_call():
    assert sorted(CALLS) == sorted(NAMES)


@pytest.mark.parametrize("size", [60, 40_000])
@pytest.mark.parametrize("name", NAMES)
def test_results_are_numpys(name, size):
    size = 600 if name in ("linalg.multi_dot", "apply_over_axes") else size
    assert_same(call(np, name, size), call(numpy, name, size))


@needs_native
@pytest.mark.parametrize("device", ["torch:cpu", "jax:cpu", "dask"])
@pytest.mark.parametrize("name", ["cross", "gradient", "insert", "pad", "trapezoid"])
def test_results_are_on_the_device_of_the_operands(name, device):
    pytest.importorskip(device.partition(":")[0], reason=f"{device} is not installed")
    m = np.asarray(numpy.arange(12.0).reshape(4, 3), device=device)
    x, call = m[0], CALLS[name].replace("3, 5.0", "1, 5.0")
    found = eval(f"np.{name}{call}", {"np": np, "m": m, "x": x})
    for each in found if isinstance(found, tuple | list) else [found]:
        assert not isinstance(each, np.ndarray) or str(each.device) == device


@needs_native
def test_functions_that_are_given_get_arrays_of_the_face():
    met = []
    np.fromfunction(lambda i: met.append(type(i)) or i, (3,))
    np.piecewise(np.arange(3.0), [np.arange(3) > 0], [lambda t: met.append(type(t)) or t])
    assert met == [np.ndarray, np.ndarray]


@needs_call_lists
def test_nothing_is_left_to_numpy():
    x, before = np.linspace(0, 1, 100), count_numpys(0)
    np.polyval([1, 2, 3], x)
    np.trapezoid(x)
    np.cross(x[:3], x[3:6])
    np.piecewise(x, [x < 0.5], [1, 2])
    assert count_numpys(0) - before <= 5  # np.cross asks for the shapes that are broadcast


def test_numpys_functions_stay_as_they_are():
    call(np, "cross", 60)
    call(np, "histogram2d", 60)
    assert type(numpy.cross([1, 2, 3], [3, 2, 1])) is numpy.ndarray
    assert numpy.cross.__wrapped__.__globals__["multiply"] is numpy.multiply


def test_exceptions_are_numpys():
    with pytest.raises(ValueError, match="incompatible dimensions for cross product"):
        np.cross(np.arange(5.0), np.arange(5.0))
    with pytest.raises(ZeroDivisionError, match="Weights sum to zero"):
        np.average(np.arange(3.0), weights=np.zeros(3))
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        np.trapezoid(np.arange(3.0), wrong=1)


def test_classes_that_compute_functions_themselves_do_so():
    class Quantity:
        def __array_function__(self, function, types, args, kwargs):
            return function.__name__

    assert np.polyval([1.0, 2.0], Quantity()) == "polyval"
    assert np.insert(np.arange(3.0), 1, Quantity()) == "insert"
    assert np.linalg.multi_dot([np.eye(2), Quantity()]) == "multi_dot"
    assert np.allclose(np.arange(3.0), b=Quantity()) == "allclose"
    assert np.union1d(np.arange(3.0), ar2=Quantity()) == "union1d"


def test_functions_that_are_given_are_called_once():
    calls = []

    def fail(x):
        calls.append(x)
        raise ValueError("this function failed")

    with pytest.raises(ValueError, match="this function failed"):
        np.piecewise(np.arange(3.0), [np.arange(3) > 0], [fail])
    with pytest.raises(ValueError, match="this function failed"):
        np.fromfunction(fail, (3,))
    assert len(calls) == 2


def test_results_are_arrays_of_the_face():
    assert type(np.quantile(np.ones((2, 3)), 0.5, keepdims=True)) is np.ndarray
    assert type(np.fromfunction(lambda i: numpy.asarray(numpy.sin(i)), (3,))) is np.ndarray


@needs_native
def test_warnings_come_where_a_function_is_called():
    for warned, call in (
        (RuntimeWarning, lambda: np.cov(np.ones(1))),
        (numpy.exceptions.RankWarning, lambda: np.polyfit(np.ones(3), np.ones(3), 2)),
    ):
        with pytest.warns(warned) as seen:
            call()
        assert __file__ in {each.filename for each in seen}


@needs_native
def test_functions_of_modules_are_those_of_the_face():
    for path, name in (("linalg.matrix_rank", "linalg.svd"), ("linalg.tensorinv", "linalg.inv")):
        function = rebound.rebound(attrgetter(path)(numpy), path, faced)
        used = function.__globals__[name.rpartition(".")[2]]
        assert type(used) is type(attrgetter(name)(np)) is not type(function)
