import operator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import array_api_nx as xp
from tests.support.arrays import assert_array
from tests.support.refusals import refused
from tests.support.tables import for_each

NUMERIC = ("int8", "uint16", "int64", "float32", "float64", "complex64", "complex128")


def numbers(shape, dtype="float64", seed=0):
    """Small whole numbers, so that products are exact in every dtype."""
    rng = np.random.default_rng([seed, *shape])
    values = rng.integers(0, 4, shape)
    return (values + 1j * rng.integers(0, 4, shape) if "complex" in dtype else values).astype(dtype)


class TestMatmul:
    @pytest.mark.parametrize("dtype", NUMERIC)
    @for_each(
        ("left", "right"),
        [
            ((2, 3), (3, 4)),
            ((3,), (3,)),
            ((3,), (3, 4)),
            ((2, 3), (3,)),
            ((3,), (5, 3, 2)),
            ((5, 2, 3), (3,)),
            ((5, 1, 2, 3), (4, 3, 2)),
            ((2, 0), (0, 3)),
            ((0, 2, 3), (1, 3, 2)),
            ((0,), (0,)),
        ],
    )
    def test_agrees_with_numpy(self, left, right, dtype):
        a, b = numbers(left, dtype, 1), numbers(right, dtype, 2)
        assert_array(xp.matmul(xp.asarray(a), xp.asarray(b)), np.matmul(a, b))
        assert_array(xp.asarray(a) @ xp.asarray(b), np.matmul(a, b))

    def test_promotes(self):
        a, b = numbers((2, 3), "int8"), numbers((3, 2), "float64")
        assert_array(xp.asarray(a) @ xp.asarray(b), a @ b)
        assert (xp.ones((2, 2), dtype=xp.bool) @ xp.ones((2, 2), dtype=xp.bool))[0, 0] == 2

    @pytest.mark.parametrize(
        ("left", "right", "message"),
        [
            ((), (2,), "at least one dimension.*multiply"),
            ((2, 2), (), "at least one dimension.*multiply"),
            ((2, 3), (2, 3), "second last.*matrix_transpose"),
            ((3,), (2,), "only size"),
            ((2, 2, 3), (3, 3, 2), "cannot be broadcast"),
        ],
    )
    def test_refuses_shapes(self, left, right, message):
        refused(ValueError, message, xp.matmul, xp.ones(left), xp.ones(right))

    @xp.config_context(operands="strict")
    def test_refuses_what_is_no_array(self):
        x = xp.ones((2, 2))
        for other in (np.ones((2, 2)), [[1.0, 2.0]]):
            refused(TypeError, "asarray", xp.matmul, x, other)
            refused(TypeError, "asarray", operator.matmul, x, other)
            refused(TypeError, "asarray", operator.matmul, other, x)
        for scalar in (2, 2.0, np.float64(2)):
            refused(TypeError, r"with \*", operator.matmul, x, scalar)
            refused(TypeError, r"with \*", operator.matmul, scalar, x)

    def test_foreign_types_get_their_turn(self):
        class Foreign:
            def __matmul__(self, other):
                return "left"

            def __rmatmul__(self, other):
                return "right"

        x = xp.ones((2, 2))
        assert x @ Foreign() == "right"
        assert Foreign() @ x == "left"


class TestInPlaceMatmul:
    def test_writes_to_the_same_memory(self):
        a = numbers((3, 3))
        x = xp.asarray(a, copy=True)
        whole = x
        x @= x.mT
        assert x is whole
        assert_array(whole, a @ a.T)

    def test_keeps_the_dtype(self):
        x = xp.ones((2, 2), dtype=xp.float32)
        x @= xp.ones((2, 2), dtype=xp.float64)
        assert_array(x, np.full((2, 2), 2, np.float32))

    @pytest.mark.parametrize(
        ("target", "columns", "error", "message"),
        [
            (lambda: xp.ones((2, 2)), 3, ValueError, "cannot change the shape"),
            (lambda: xp.ones((2, 2), dtype=xp.int64), 2, TypeError, "loses data"),
            (lambda: xp.broadcast_to(xp.ones((1, 2)), (2, 2)), 2, ValueError, "asarray"),
        ],
    )
    def test_refuses_and_changes_nothing(self, target, columns, error, message):
        x = target()
        with pytest.raises(error, match=message):
            x @= xp.ones((2, columns))
        assert xp.all(x == 1)


class TestMatrixTranspose:
    @pytest.mark.parametrize("shape", [(2, 3), (4, 2, 3), (0, 3), (1, 1), (2, 1, 3, 2)])
    def test_is_a_view(self, shape):
        a = numbers(shape)
        x = xp.asarray(a, copy=True)
        result = xp.matrix_transpose(x)
        assert_array(result, np.matrix_transpose(a))
        assert_array(x.mT, np.matrix_transpose(a))
        result += 1
        assert_array(x, a + 1)

    @xp.config_context(operands="strict")
    def test_refuses_vectors(self):
        refused(ValueError, r"two dimensions.*expand_dims", xp.matrix_transpose, xp.ones(3))
        refused(TypeError, "asarray", xp.matrix_transpose, np.ones((2, 2)))


class TestTensordot:
    @given(data=st.data())
    def test_agrees_with_numpy(self, data):
        paired = data.draw(st.lists(st.integers(0, 3), max_size=2))
        shapes, axes = [], []
        for _ in range(2):
            free = data.draw(st.lists(st.integers(0, 3), max_size=2))
            sizes = [(n, i) for i, n in enumerate(paired)]
            sizes += [(n, None) for n in free]
            sizes = data.draw(st.permutations(sizes))
            shapes.append(tuple([n for n, _ in sizes]))
            places = {which: axis for axis, (_, which) in enumerate(sizes) if which is not None}
            signs = data.draw(st.lists(st.booleans(), min_size=len(paired), max_size=len(paired)))
            axes.append(tuple([places[i] - len(sizes) * sign for i, sign in enumerate(signs)]))
        dtype = data.draw(st.sampled_from(NUMERIC))
        a, b = numbers(shapes[0], dtype, 1), numbers(shapes[1], dtype, 2)
        result = xp.tensordot(xp.asarray(a), xp.asarray(b), axes=(axes[0], axes[1]))
        assert_array(result, np.asarray(np.tensordot(a, b, axes=(axes[0], axes[1]))))

    @pytest.mark.parametrize("count", [0, 1, 2])
    def test_number_of_axes(self, count):
        a, b = numbers((3, 2, 2)), numbers((2, 2, 4))
        result = xp.tensordot(xp.asarray(a), xp.asarray(b), axes=count)
        assert_array(result, np.tensordot(a, b, axes=count))

    def test_contracts_two_axes_by_default(self):
        a = numbers((2, 3))
        assert_array(xp.tensordot(xp.asarray(a), xp.asarray(a)), np.tensordot(a, a))

    def test_does_not_conjugate(self):
        x = xp.asarray([1j, 2.0])
        assert complex(xp.tensordot(x, x, axes=1)) == 3

    @pytest.mark.parametrize(
        ("axes", "error", "message"),
        [
            (1, ValueError, "same size"),
            (3, ValueError, "from 0 to 2"),
            (-1, ValueError, "from 0 to 2"),
            (([0, 0], [0, 0]), ValueError, "twice"),
            (([0, 1], [0]), ValueError, "as many"),
            (([0],), ValueError, "axes of x1"),
            (([2], [0]), IndexError, "out of range"),
        ],
    )
    def test_refuses_axes(self, axes, error, message):
        x = xp.ones((2, 3))
        refused(error, message, xp.tensordot, x, x, axes=axes)

    def test_refuses_too_many_dimensions(self):
        x = xp.ones((1,) * 40)
        refused(ValueError, "at most 64 dimensions", xp.tensordot, x, x, axes=0)


class TestVecdot:
    @pytest.mark.parametrize("dtype", NUMERIC)
    @for_each(
        ("left", "right", "axis"),
        [
            ((3,), (3,), -1),
            ((2, 3), (2, 3), -1),
            ((2, 3), (3,), -1),
            ((3, 4), (5, 3, 1), -2),
            ((2, 0), (0,), -1),
            ((3, 2), (3, 2), 0),
        ],
    )
    def test_agrees_with_numpy(self, left, right, axis, dtype):
        a, b = numbers(left, dtype, 1), numbers(right, dtype, 2)
        result = xp.vecdot(xp.asarray(a), xp.asarray(b), axis=axis)
        assert_array(result, np.asarray(np.vecdot(a, b, axis=axis)))

    def test_conjugates_the_first(self):
        assert complex(xp.vecdot(xp.asarray([1j]), xp.asarray([2.0 + 0j]))) == -2j

    @pytest.mark.parametrize(
        ("call", "error", "message"),
        [
            (lambda: xp.vecdot(xp.ones(3), xp.ones(1)), ValueError, "sizes 3 and 1"),
            (lambda: xp.vecdot(xp.ones((2, 3)), xp.ones((4, 3))), ValueError, "broadcast"),
            (lambda: xp.vecdot(xp.ones(3), xp.ones(3), axis=1), IndexError, "out of range"),
            (lambda: xp.vecdot(xp.ones(()), xp.ones(3)), IndexError, "0-dimensional"),
            (lambda: xp.vecdot(xp.ones(3), 2.0), TypeError, "asarray"),
        ],
    )
    def test_refuses(self, call, error, message):
        refused(error, message, call)


@for_each(
    ("left", "right"),
    [
        ((50, 400, 20), (20, 9)),
        ((3, 7, 500, 20), (20, 40)),
        ((2000, 1, 20), (20, 3)),
        ((40, 30, 300), (300, 300)),
    ],
)
def test_a_stack_times_one_matrix_is_what_each_of_its_matrices_is(left, right):
    rng = np.random.default_rng(0)
    a, b = rng.integers(-9, 9, left).astype("f8"), rng.integers(-9, 9, right).astype("f8")
    for x in (a, np.asfortranarray(a), np.swapaxes(a, 0, 1), a[::2]):
        for y in (b, np.asfortranarray(b)):
            result = xp.matmul(xp.asarray(x), xp.asarray(y))
            assert np.array_equal(np.asarray(result), np.matmul(x, y))
            assert result.shape == (*x.shape[:-1], y.shape[-1])
