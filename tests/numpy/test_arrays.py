"""The class of the face's arrays, and the buffers that it gives out."""

from __future__ import annotations

import numpy
import pytest

import array_api_nx.numpy as np


def test_submodules_are_imported_by_their_paths():
    import array_api_nx.numpy.linalg
    from array_api_nx.numpy.testing import assert_array_equal

    assert array_api_nx.numpy.linalg is np.linalg
    assert_array_equal(np.ones(3), [1, 1, 1])
    with pytest.raises(ModuleNotFoundError):
        import array_api_nx.numpy.nothing


def test_numpy_takes_the_same_memory():
    x = np.arange(6.0).reshape(2, 3)
    array = numpy.asarray(x)
    array[0, 0] = 7
    assert x[0, 0] == 7
    assert x.__array_interface__["shape"] == (2, 3)


def test_parts_of_complex_numbers_are_views():
    c = np.array([[1 + 2j, 3 - 4j]] * 2)
    c.real[0] += 10
    c.imag[:, 1] = 0.5
    assert c.tolist() == [[11 + 2j, 13 + 0.5j], [1 + 2j, 3 + 0.5j]]
    assert c.T.real.tolist() == [[11, 1], [13, 3]]
    x = np.ones(3, dtype=np.float32)
    assert x.real is x
    assert x.imag.tolist() == [0, 0, 0]
    large = np.zeros(5000) + 1j
    parts = large.real**2 + large.imag**2
    large[0] = 7
    assert parts.tolist() == [1.0] * 5000
    assert c[:0].imag.shape == (0, 2)


@pytest.mark.parametrize("size", [4, 5000])
def test_powers_of_a_half_are_roots(size):
    x = np.array([-0.0, numpy.inf, 4.0, 2.0] * (size // 4))
    with numpy.errstate(invalid="ignore"):
        expected = numpy.asarray(x) ** 0.5
        assert (x**0.5).tobytes() == expected.tobytes()


def test_results_of_several_arrays_are_of_the_face():
    x = np.arange(6.0)
    parts = np.split(x, 3)
    assert type(parts) is list
    assert {type(part) for part in parts} == {np.ndarray}
    parts[0][0] = 9  # NumPy's are views, too
    assert x[0] == 9
    values, vectors = np.linalg.eigh(np.eye(2))
    assert type(values) is type(vectors) is np.ndarray
    assert type(np.linalg.eigh(np.eye(2))) is type(numpy.linalg.eigh(numpy.eye(2)))
    assert type(np.where(x > 3)[0]) is np.ndarray
    assert np.split(np.array(["a", "b"]), 2)[1].tolist() == ["b"]
