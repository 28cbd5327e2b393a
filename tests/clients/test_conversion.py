"""NumPy, DLPack and pickle: the ways in and out that clients take."""

import copy
import pickle

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.backends.cpu import CPUBackend
from tests.support.implementations import python_answers
from tests.support.refusals import refused
from tests.support.tables import for_each

pytestmark = pytest.mark.slow

DTYPES = xp.__array_namespace_info__().dtypes()


class TestToNumPy:
    def test_refuses_another_device_with_an_error_that_clients_expect(self, monkeypatch):
        x = xp.zeros(2)
        monkeypatch.setattr(CPUBackend, "dlpack_device", lambda self: (2, 0))
        # scikit-learn's type_of_target looks for the method before it calls it.
        assert hasattr(x, "__array__")
        # The device is not asked by C, which takes `cpu` for what it is.
        with (
            python_answers(),
            pytest.raises((TypeError, RuntimeError, ValueError), match="to_device"),
        ):
            np.asarray(x)


class TestFromNumPy:
    @pytest.mark.parametrize("name", DTYPES)
    def test_scalars_and_lists_of_them(self, name):
        scalar = np.ones((), dtype=name)[()]
        for obj, shape in ((scalar, ()), ([scalar, scalar], (2,)), ([[scalar], [scalar]], (2, 1))):
            x = xp.asarray(obj)
            assert x.dtype is DTYPES[name]
            assert x.shape == shape
            assert bool(xp.all(x == 1))


class TestOwnArraysInLists:
    def test_mix_with_numbers_and_nest(self):
        x = xp.asarray([1.0, 2.0])
        assert np.array_equal(np.asarray(xp.asarray([[x[0], 5], [6, x[1]]])), [[1, 5], [6, 2]])
        assert xp.asarray((x, x, x)).shape == (3, 2)


class TestDLPack:
    @pytest.mark.parametrize(
        "obj",
        [[1.0], None, np.array([None]), np.array(["a"]), np.zeros(2, dtype="M8[s]"), np.float16(1)],
        ids=repr,
    )
    def test_failures_are_such_that_clients_try_another_way(self, obj):
        expected = (AttributeError, TypeError, NotImplementedError, BufferError, ValueError)
        refused(expected, None, xp.from_dlpack, obj, device=xp.zeros(1).device)


class TestNumPyOperands:
    @pytest.mark.parametrize("scalar", [np.float64(2), np.float32(2), np.int64(2), np.True_])
    def test_scalars_work_on_either_side(self, scalar):
        for name in ("int32", "float32", "float64", "complex64"):
            array = np.asarray([1, 2, 3], dtype=name)
            x = xp.asarray(array)
            results = (
                (scalar * x, scalar * array),
                (x * scalar, array * scalar),
                (scalar - x, scalar.astype(float) - array),
                (x**scalar, array**scalar),
                (x == scalar, array == scalar),
                (xp.add(x, scalar), array + scalar),
                (xp.where(x == 1, scalar, x), np.where(array == 1, scalar, array)),
            )
            for ours, theirs in results:
                assert type(ours) is xp.Array
                assert np.array_equal(np.asarray(ours), theirs)
            assert (x * scalar).dtype is DTYPES[(array * scalar).dtype.name]

    def test_scalars_work_as_only_argument(self):
        assert float(xp.exp(np.float64(0))) == 1
        assert xp.isnan(np.float32("nan")).dtype is xp.bool
        assert float(xp.sum(np.float64(3))) == 3

    def test_in_place_operators_take_scalars(self):
        x = xp.ones(2, dtype=xp.float32)
        x *= np.float64(3)
        assert x.dtype is xp.float32
        assert np.array_equal(np.asarray(x), [3, 3])

    @pytest.mark.parametrize(
        "operation",
        [
            lambda array, x: array @ x,
            lambda array, x: x @ array,
            lambda array, x: array + x,
            lambda array, x: x - array,
            lambda array, x: array < x,
            lambda array, x: x.__iadd__(array),
            lambda array, x: xp.add(x, array),
        ],
    )
    def test_whole_arrays_are_operands_and_lists_are_refused_with_the_mend(self, operation):
        array = np.asarray([[1.0, 2.0], [3.0, 4.0]])
        result = operation(array, xp.ones((2, 2)))
        assert type(result) is xp.Array
        expected = operation(xp.asarray(array), xp.ones((2, 2)))
        assert np.array_equal(np.asarray(result), np.asarray(expected))
        refused(TypeError, "asarray", operation, array.tolist(), xp.ones((2, 2)))
        with xp.config_context(operands="strict"), pytest.raises(TypeError, match="asarray"):
            operation(array, xp.ones((2, 2)))


class TestCopies:
    @for_each("name", DTYPES)
    @pytest.mark.parametrize(
        "duplicate",
        [lambda obj: pickle.loads(pickle.dumps(obj)), copy.copy, copy.deepcopy],
        ids=["pickle", "copy", "deepcopy"],
    )
    def test_of_arrays_and_dtypes(self, name, duplicate):
        dtype = DTYPES[name]
        assert duplicate(dtype) == dtype
        x = xp.ones((2, 3), dtype=dtype)
        y = duplicate(x)
        assert (y.dtype, y.shape, y.device) == (x.dtype, x.shape, x.device)
        y[0, 0] = xp.zeros((), dtype=y.dtype)
        assert bool(xp.all(x == 1))
        assert int(xp.count_nonzero(y)) == 5
