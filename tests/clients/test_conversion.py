"""NumPy, DLPack and pickle: the ways in and out that clients take."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.backends.cpu import CPUBackend
from tests.support.implementations import python_answers
from tests.support.tables import for_each

pytestmark = pytest.mark.slow

DTYPES = xp.__array_namespace_info__().dtypes()


class TestToNumPy:
    @for_each("shape", [(), (0,), (3,), (2, 0, 3), (2, 3)])
    @for_each("name", DTYPES)
    def test_gives_the_numeric_ndarray(self, name: str, shape: tuple[int, ...]) -> None:
        array = np.asarray(xp.ones(shape, dtype=DTYPES[name]))
        assert type(array) is np.ndarray
        assert array.dtype == np.dtype(name)
        assert array.shape == shape
        assert np.all(array == 1)

    def test_shares_memory_unless_a_copy_is_asked_for(self) -> None:
        x = xp.zeros((2, 3))
        assert np.shares_memory(np.asarray(x), np.asarray(x.T))
        assert not np.shares_memory(np.asarray(x), np.array(x, copy=True))
        assert not np.shares_memory(np.asarray(x), x.__array__(copy=True))
        assert np.shares_memory(np.asarray(x), x.__array__(copy=False))

    def test_converts_to_the_dtype_that_is_asked_for(self) -> None:
        assert np.asarray(xp.arange(3), dtype=np.float32).dtype == np.float32
        assert xp.arange(3).__array__(np.dtype("float32")).dtype == np.float32

    def test_refuses_another_device_with_an_error_that_clients_expect(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
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

    def test_ufuncs_give_our_arrays(self) -> None:
        result = np.sin(xp.asarray([0.0, 1.0]))
        assert type(result) is xp.Array
        assert np.array_equal(result, np.sin([0.0, 1.0]))


def read_only() -> np.ndarray:
    array = np.arange(6.0)
    array.flags.writeable = False
    return array


NDARRAYS: dict[str, Callable[[], np.ndarray]] = {
    "row-major": lambda: np.arange(6.0).reshape(2, 3),
    "column-major": lambda: np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "strided": lambda: np.arange(12.0).reshape(4, 3)[::-2, 1:],
    "read-only": read_only,
    "broadcast": lambda: np.broadcast_to(np.arange(3), (2, 3)),
    "empty": lambda: np.zeros((2, 0)),
    "0-d": lambda: np.array(1.5),
    "byte-swapped": lambda: np.arange(3, dtype=">i4"),
}


class TestFromNumPy:
    @pytest.mark.parametrize("layout", NDARRAYS)
    def test_every_layout(self, layout: str) -> None:
        array = NDARRAYS[layout]()
        x = xp.asarray(array, dtype=None, device=None, copy=None)
        assert x.shape == array.shape
        assert x.dtype is DTYPES[array.dtype.name]
        assert np.array_equal(np.asarray(x), array)

    @pytest.mark.parametrize("layout", NDARRAYS)
    def test_a_copy_is_apart_and_writeable(self, layout: str) -> None:
        array = NDARRAYS[layout]()
        before = array.copy()
        x = xp.asarray(array, copy=True)
        x[...] = 7
        assert np.array_equal(array, before)
        assert np.all(np.asarray(x) == 7)

    def test_shares_memory(self) -> None:
        array = np.zeros((2, 3))
        xp.asarray(array.T)[0, 1] = 5.0
        assert array[1, 0] == 5.0

    @pytest.mark.parametrize("name", DTYPES)
    def test_scalars_and_lists_of_them(self, name: str) -> None:
        scalar = np.ones((), dtype=name)[()]
        for obj, shape in ((scalar, ()), ([scalar, scalar], (2,)), ([[scalar], [scalar]], (2, 1))):
            x = xp.asarray(obj)
            assert x.dtype is DTYPES[name]
            assert x.shape == shape
            assert bool(xp.all(x == 1))

    def test_copy_true_copies_our_own_arrays(self) -> None:
        x = xp.zeros(3)
        y = xp.asarray(x, copy=True)
        y += 1
        assert xp.asarray(x) is x
        assert float(xp.sum(x)) == 0


class TestOwnArraysInLists:
    def test_keep_their_dtype(self) -> None:
        x = xp.asarray([1.0, 2.0], dtype=xp.float32)
        result = xp.asarray([x[0], x[1], x[0]])
        assert result.dtype is xp.float32
        assert np.array_equal(np.asarray(result), [1, 2, 1])

    def test_mix_with_numbers_and_nest(self) -> None:
        x = xp.asarray([1.0, 2.0])
        assert np.array_equal(np.asarray(xp.asarray([[x[0], 5], [6, x[1]]])), [[1, 5], [6, 2]])
        assert xp.asarray((x, x, x)).shape == (3, 2)

    def test_of_different_lengths_are_refused(self) -> None:
        with pytest.raises(ValueError, match="ragged"):
            xp.asarray([xp.zeros(2), xp.zeros(3)])


class TestDLPack:
    @pytest.mark.parametrize("name", DTYPES)
    def test_goes_out_and_comes_in(self, name: str) -> None:
        x = xp.ones((2, 3), dtype=DTYPES[name])
        array = np.from_dlpack(x, device="cpu")
        assert array.dtype == np.dtype(name)
        assert np.shares_memory(array, np.asarray(x))
        y = xp.from_dlpack(array, device=x.device)
        assert y.dtype is x.dtype
        y[0, 0] = xp.zeros((), dtype=y.dtype)
        assert not bool(x[0, 0])

    def test_takes_every_keyword(self) -> None:
        x = xp.zeros(3)
        device = x.__dlpack_device__()
        assert device == (1, 0)
        capsule = x.__dlpack__(stream=None, max_version=(1, 0), dl_device=device, copy=True)
        assert "dltensor" in repr(capsule)

    def test_copies_when_asked(self) -> None:
        array = np.zeros(2)
        xp.from_dlpack(array, copy=True)[0] = 1
        assert array[0] == 0

    @pytest.mark.parametrize(
        "obj",
        [[1.0], None, np.array([None]), np.array(["a"]), np.zeros(2, dtype="M8[s]"), np.float16(1)],
        ids=repr,
    )
    def test_failures_are_such_that_clients_try_another_way(self, obj: Any) -> None:
        expected = (AttributeError, TypeError, NotImplementedError, BufferError, ValueError)
        with pytest.raises(expected):
            xp.from_dlpack(obj, device=xp.zeros(1).device)

    def test_read_only_memory_stays_read_only(self) -> None:
        x = xp.from_dlpack(read_only(), device=xp.zeros(1).device)
        with pytest.raises(ValueError, match=r"asarray\(x, copy=True\)"):
            x[0] = 1


class TestNumPyOperands:
    @pytest.mark.parametrize("scalar", [np.float64(2), np.float32(2), np.int64(2), np.True_])
    def test_scalars_work_on_either_side(self, scalar: np.generic) -> None:
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

    def test_scalars_work_as_only_argument(self) -> None:
        assert float(xp.exp(np.float64(0))) == 1
        assert xp.isnan(np.float32("nan")).dtype is xp.bool
        assert float(xp.sum(np.float64(3))) == 3

    def test_in_place_operators_take_scalars(self) -> None:
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
    def test_whole_arrays_are_operands_and_lists_are_refused_with_the_mend(
        self, operation: Callable[[Any, Any], Any]
    ) -> None:
        array = np.asarray([[1.0, 2.0], [3.0, 4.0]])
        result = operation(array, xp.ones((2, 2)))
        assert type(result) is xp.Array
        expected = operation(xp.asarray(array), xp.ones((2, 2)))
        assert np.array_equal(np.asarray(result), np.asarray(expected))
        with pytest.raises(TypeError, match="asarray"):
            operation(array.tolist(), xp.ones((2, 2)))
        with xp.config_context(operands="strict"), pytest.raises(TypeError, match="asarray"):
            operation(array, xp.ones((2, 2)))


class TestCopies:
    @for_each("name", DTYPES)
    @pytest.mark.parametrize(
        "duplicate",
        [lambda obj: pickle.loads(pickle.dumps(obj)), copy.copy, copy.deepcopy],
        ids=["pickle", "copy", "deepcopy"],
    )
    def test_of_arrays_and_dtypes(self, name: str, duplicate: Callable[[Any], Any]) -> None:
        dtype = DTYPES[name]
        assert duplicate(dtype) == dtype
        x = xp.ones((2, 3), dtype=dtype)
        y = duplicate(x)
        assert (y.dtype, y.shape, y.device) == (x.dtype, x.shape, x.device)
        y[0, 0] = xp.zeros((), dtype=y.dtype)
        assert bool(xp.all(x == 1))
        assert int(xp.count_nonzero(y)) == 5
