"""Products of many rows with a small matrix, and products that are written to an array."""

import numpy as np
import pytest

import array_api_nx as xp
import array_api_nx.numpy as face
from tests.support.implementations import needs_native

pytestmark = needs_native


def _numbers(shape, dtype, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
@pytest.mark.parametrize("rows", [8, 9, 10, 301, 16_385, 100_000])
@pytest.mark.parametrize("terms", [2, 3, 4, 5])
def test_products_are_numpys_to_rounding(terms, rows, dtype):
    x = _numbers((rows, terms), dtype)
    small = _numbers((9, 9), dtype, 1)
    tolerance = 1e-5 if dtype == "float32" else 1e-12
    for columns in (1, 2, 3, 4, 5):
        factors = [
            small[:terms, :columns],
            small[:columns, :terms].T,
            small[:terms, : 2 * columns - 1 : 2],
            small[terms - 1 :: -1, :columns],
        ]
        for factor in factors:
            ours = xp.asarray(x) @ xp.asarray(factor)
            np.testing.assert_allclose(np.asarray(ours), x @ factor, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_a_row_has_the_same_bits_wherever_it_is_computed(threads):
    x, factor = _numbers((70_001, 3), "float64"), _numbers((3, 3), "float64", 1)
    with xp.config_context(num_threads=threads):
        ours = np.asarray(xp.asarray(x) @ xp.asarray(factor))
    for start in (0, 1, 5, 16_380, 32_768, 69_990):
        rows = np.asarray(xp.asarray(x[start : start + 11]) @ xp.asarray(factor))
        assert rows.tobytes() == ours[start : start + 11].tobytes()


@pytest.mark.parametrize("rows", [100, 50_000])
def test_floating_point_errors_are_warned_of(rows):
    large = np.full((rows, 3), 1e200)
    with pytest.warns(RuntimeWarning, match="overflow encountered in matmul"):
        result = xp.asarray(large) @ xp.asarray(large[:3])
    assert np.isposinf(np.asarray(result)).all()


def test_stacks_of_them():
    x, factor = _numbers((4, 50, 3), "float64"), _numbers((3, 2), "float64", 1)
    ours = np.asarray(xp.asarray(x) @ xp.asarray(factor))
    np.testing.assert_allclose(ours, x @ factor, rtol=1e-12, atol=1e-12)
    out = np.empty((4, 50, 2))
    face.matmul(face.asarray(x), face.asarray(factor), out=face.asarray(out))
    np.testing.assert_allclose(out, x @ factor, rtol=1e-12, atol=1e-12)


# ------------------------------------------------------------------ out=


@pytest.mark.parametrize("shape", [(3, 3), (200, 3), (70, 80), (30_000, 3)])
@pytest.mark.parametrize("name", ["matmul", "dot"])
def test_products_are_written_to_out(name, shape):
    x, y = _numbers(shape, "float64"), _numbers((shape[1], 4), "float64", 1)
    for factor in (y, y[:, 0], y.astype("float32")):
        expected = x @ factor
        memories = [np.full(expected.shape, 9.0)]
        if name == "matmul":  # NumPy's dot takes row-major arrays alone
            memories.append(np.full(expected.T.shape, 9.0).T)
            memories.append(np.full((*expected.shape, 2), 9.0)[..., 1])
        for memory in memories:
            out = face.asarray(memory)
            result = getattr(face, name)(face.asarray(x), face.asarray(factor), out=out)
            assert result is out
            np.testing.assert_allclose(memory, expected, rtol=1e-12, atol=1e-12)


def test_an_out_that_is_an_operand():
    x, factor = _numbers((500, 3), "float64"), _numbers((3, 3), "float64", 1)
    expected = x @ factor
    ours = face.asarray(x.copy())
    face.matmul(ours, face.asarray(factor), out=ours)
    np.testing.assert_allclose(np.asarray(ours), expected, rtol=1e-12, atol=1e-12)
    longer = np.concatenate([x, x[:1]])
    ours = face.asarray(longer)
    face.matmul(ours[:-1], face.asarray(factor), out=ours[1:])
    np.testing.assert_allclose(longer[1:], expected, rtol=1e-12, atol=1e-12)


def test_an_out_that_another_expression_reads():
    x, factor = _numbers((20_000, 3), "float64"), _numbers((3, 3), "float64", 1)
    out = face.asarray(np.full((20_000, 3), 2.0))
    waiting = out * 3 + 1
    face.matmul(face.asarray(x), face.asarray(factor), out=out)
    assert (np.asarray(waiting) == 7).all()
    np.testing.assert_allclose(np.asarray(out), x @ factor, rtol=1e-12, atol=1e-12)


def test_an_out_that_is_refused():
    x, factor = face.ones((20, 3)), face.ones((3, 3))
    read_only = face.zeros((20, 3))
    read_only.flags.writeable = False
    for out in (read_only, face.zeros((20, 4)), face.zeros((20, 3), dtype="int64")):
        before = np.array(out)
        expected = None
        try:
            np.matmul(np.ones((20, 3)), np.ones((3, 3)), out=np.asarray(out))
        except (TypeError, ValueError) as error:
            expected = type(error)
        assert expected is not None
        with pytest.raises(expected):
            face.matmul(x, factor, out=out)
        assert (np.asarray(out) == before).all()
