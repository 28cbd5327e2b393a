"""Functions that Numba compiles, with arrays and names of the face."""

import subprocess
import sys
import types

import numpy
import pytest

import array_api_nx.numpy as np
from array_api_nx.numpy import linalg, sqrt

numba = pytest.importorskip("numba", reason="numba is not installed")

TABLE = np.linspace(0.0, 1.0, 5)
TABLES = (TABLE, TABLE + 1)


class Made:
    def __init__(self, x):
        self.x = x


@numba.njit
def total(x):
    found = 0.0
    for i in range(x.shape[0]):
        found += x[i]
    return found


@pytest.mark.parametrize("dtype", ["bool", "int32", "uint8", "float32", "float64", "complex128"])
def test_arrays_are_arguments(dtype):
    x = np.asarray([3, 0, 1, 2]).astype(dtype)
    for part in (x, x[::-1], x[1:], np.stack((x, x), axis=1)[:, 1]):
        assert total(part) == sum(part.tolist())


def test_they_are_what_numpys_are():
    x = np.ones((2, 3))
    for part in (x, x.T, x[:, ::2], np.broadcast_to(x[0], (4, 3)), np.array(2.0)):
        assert numba.typeof(part) == numba.typeof(numpy.asarray(part))


def test_pending_arrays_are_computed():
    assert total(np.arange(10_000) * 2.0 + 1.0) == 10_000.0**2


def test_they_are_written_to():
    @numba.njit
    def fill(x, y):
        x[:] = 7
        y[1] = x[0]

    x, y = np.zeros(10_000), np.arange(10_000)
    later, plain = x + 1, numpy.zeros(3)
    fill(x, y)
    assert (x.sum(), later.sum(), y[1]) == (70_000, 10_000, 7)
    fill(plain, plain)
    assert plain.tolist() == [7.0] * 3


def test_names_of_the_face_are_numpys():
    normal = np.random.normal

    @numba.njit
    def compute(x):
        np.random.seed(1)
        made = np.zeros(3, dtype=np.int32) + x
        norm = linalg.norm(np.ones(4)) + np.linalg.norm(TABLES[1])
        return made, sqrt(x), norm, np.pi, TABLE, normal(0.0, 1.0, 2)

    made, root, norm, pi, table, drawn = compute(9.0)
    assert made.tolist() == [9.0] * 3
    assert (root, pi, table.tolist()) == (3.0, np.pi, TABLE.tolist())
    assert norm == pytest.approx(2 + float(np.linalg.norm(TABLE + 1)))
    np.random.seed(1)
    assert drawn.tolist() == np.random.normal(0.0, 1.0, 2).tolist()


def test_every_name_is_numpys():
    from array_api_nx.numpy.numba_support import _numpys

    for face, numpys in ((np, numpy), (np.linalg, numpy.linalg), (np.fft, numpy.fft)):
        assert _numpys(face) is numpys
        for name in numpys.__all__:
            value = getattr(numpys, name)
            if isinstance(value, numpy.ufunc | types.FunctionType | types.BuiltinFunctionType):
                assert _numpys(getattr(face, name)) is value
    assert _numpys(np.emath) is numpy.emath
    assert _numpys(np.random.default_rng) is np.random.default_rng


def test_declared_types_containers_and_classes():
    declared = numba.njit("float64(float64[:])")(lambda x: x.sum())
    assert declared(np.arange(4.0)) == 6.0
    with pytest.raises(TypeError, match="No matching definition"):
        declared(np.arange(4))
    nested = numba.njit(lambda pair: pair[0].sum() + pair[1][0, 0])
    assert nested((np.ones(3), np.ones((2, 2)))) == 4.0
    parallel = numba.njit(parallel=True)(lambda x: np.sqrt(x) + np.ones_like(x))
    assert parallel(np.arange(3.0) ** 2).tolist() == [1.0, 2.0, 3.0]
    made = numba.experimental.jitclass([("x", numba.float64[:])])(Made)
    kept = np.arange(3.0)
    kept_in = made(kept)
    kept[1] = 5.0
    assert kept_in.x.tolist() == [0.0, 5.0, 2.0]


def test_other_objects_are_refused():
    with pytest.raises(numba.TypingError):
        total("text")


@pytest.mark.parametrize("names", ["numba, array_api_nx.numpy", "array_api_nx.numpy, numba"])
def test_the_order_of_the_imports_does_not_matter(names):
    code = f"import {names}\nprint(numba.typeof(array_api_nx.numpy.ones(2)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "array(float64, 1d, C)\n"
