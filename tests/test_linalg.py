from functools import partial
from math import inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import array_api_nx as xp
from array_api_nx import linalg
from tests.support.arrays import assert_close
from tests.support.arrays import normal_numbers as matrices
from tests.support.refusals import refused
from tests.support.tables import for_each

FLOATING = ("float32", "float64", "complex64", "complex128")
REAL_PART = {
    "float32": "float32",
    "float64": "float64",
    "complex64": "float32",
    "complex128": "float64",
}
STACKS = [(), (3,), (2, 1), (0,)]


def square(stack, n, dtype="float64"):
    """Matrices that are far from singular."""
    return (matrices((*stack, n, n), dtype) + 4 * np.eye(n)).astype(dtype)


def hermitian(stack, n, dtype="float64"):
    """Positive-definite matrices."""
    a = matrices((*stack, n, n), dtype)
    return (a @ a.mT.conj() + np.eye(n)).astype(dtype)


close = partial(assert_close, single=2e-4, double=1e-10)


class TestProducts:
    @pytest.mark.parametrize("dtype", ["int8", "int64", "float32", "complex128"])
    @for_each(
        ("left", "right", "axis"),
        [((3,), (3,), -1), ((5, 3), (3,), -1), ((3, 4), (2, 3, 1), -2), ((3, 2), (3, 2), 0)],
    )
    def test_cross(self, left, right, axis, dtype):
        a, b = (8 * matrices(left, seed=1)).astype(dtype), (8 * matrices(right)).astype(dtype)
        close(linalg.cross(xp.asarray(a), xp.asarray(b), axis=axis), np.cross(a, b, axis=axis))

    def test_cross_of_nothing(self):
        assert linalg.cross(xp.ones(3), xp.ones((0, 0, 3))).shape == (0, 0, 3)

    def test_cross_changes_no_argument(self):
        x = xp.asarray([1.0, 2.0, 3.0])
        linalg.cross(x, x)
        assert [float(element) for element in x] == [1, 2, 3]

    @pytest.mark.parametrize(
        ("left", "right", "axis", "error"),
        [
            ((2,), (2,), -1, ValueError),
            ((3,), (1,), -1, ValueError),
            ((3, 2), (3, 4), -2, ValueError),
            ((3,), (3,), 1, IndexError),
            ((), (3,), -1, IndexError),
        ],
    )
    def test_cross_refuses(self, left, right, axis, error):
        with pytest.raises(error, match=r"size 3|broadcast|out of range"):
            linalg.cross(xp.ones(left), xp.ones(right), axis=axis)

    def test_outer(self):
        a, b = np.arange(3, dtype="int8"), np.arange(4.0)
        close(linalg.outer(xp.asarray(a), xp.asarray(b)), np.outer(a, b))
        assert linalg.outer(xp.ones(0), xp.ones(2)).shape == (0, 2)
        refused(ValueError, r"one dimension.*reshape", linalg.outer, xp.ones((2, 2)), xp.ones(2))

    @for_each("n", [-5, -2, -1, 0, 1, 2, 3, 7, 12])
    @for_each("stack", STACKS)
    def test_matrix_power(self, stack, n):
        a = square(stack, 3)
        x = xp.asarray(a, copy=True)
        result = linalg.matrix_power(x, n)
        expected = np.linalg.matrix_power(a, n)
        np.testing.assert_allclose(np.asarray(result), expected, 1e-9, 1e-9)
        assert result.shape == expected.shape
        result += 1
        close(x, a)

    def test_matrix_power_of_integers(self):
        a = np.asarray([[1, 1], [1, 0]])
        close(linalg.matrix_power(xp.asarray(a), 10), np.linalg.matrix_power(a, 10))
        close(linalg.matrix_power(xp.asarray(a), 0), np.eye(2, dtype=np.int64))
        close(linalg.matrix_power(xp.asarray(a), -3), np.linalg.matrix_power(a, -3))

    def test_the_main_namespace_s_functions(self):
        for name in ("matmul", "matrix_transpose", "tensordot", "vecdot"):
            assert getattr(linalg, name) is getattr(xp, name)


class TestDiagonals:
    @given(
        stack=st.lists(st.integers(0, 2), max_size=2),
        rows=st.integers(0, 4),
        columns=st.integers(0, 4),
        offset=st.integers(-6, 6),
        layout=st.sampled_from(["row-major", "column-major", "sliced", "flipped"]),
    )
    def test_agree_with_numpy(self, stack, rows, columns, offset, layout):
        a = np.arange(np.prod([*stack, rows, columns]), dtype=np.int64)
        a = a.reshape(*stack, rows, columns)
        x = xp.asarray(a)
        if layout == "column-major":
            a, x = a.mT, x.mT
        elif layout == "sliced":
            a, x = a[..., :, 1:], x[..., :, 1:]
        elif layout == "flipped":
            a, x = a[..., ::-1, :], x[..., ::-1, :]
        close(linalg.diagonal(x, offset=offset), np.linalg.diagonal(a, offset=offset))
        close(linalg.trace(x, offset=offset), np.asarray(np.linalg.trace(a, offset=offset)))

    @pytest.mark.parametrize("offset", [-2, 0, 1])
    @pytest.mark.parametrize("transposed", [False, True])
    @pytest.mark.parametrize("shape", [(3, 4), (2, 4, 4)])
    def test_is_a_view_of_whole_matrices(self, shape, transposed, offset):
        base = xp.zeros(shape)
        x = base.mT if transposed else base
        part = linalg.diagonal(x, offset=offset)
        part += 1
        assert part.size > 0
        assert float(xp.sum(base)) == part.size
        assert xp.all(linalg.diagonal(x, offset=offset) == 1)

    def test_is_a_copy_of_sliced_matrices(self):
        base = xp.zeros((4, 4))
        part = linalg.diagonal(base[1:, :3])
        part += 1
        assert float(xp.sum(base)) == 0

    @pytest.mark.parametrize(
        ("dtype", "expected"),
        [("int8", "int64"), ("uint16", "uint64"), ("float32", "float32"), ("bool", "int64")],
    )
    def test_trace_widens_integers(self, dtype, expected):
        result = linalg.trace(xp.ones((3, 3), dtype=getattr(xp, dtype)))
        assert str(result.dtype) == expected
        assert int(result) == 3

    def test_trace_in_a_given_dtype(self):
        x = xp.full((2, 2), 200, dtype=xp.uint8)
        assert int(linalg.trace(x, dtype=xp.uint8)) == 400 % 256
        assert linalg.trace(x, dtype=xp.float32).dtype is xp.float32
        refused(ValueError, "two dimensions", linalg.trace, xp.ones(2))


class TestNorms:
    @pytest.mark.parametrize("dtype", FLOATING)
    @for_each("ord", ["fro", "nuc", 1, -1, 2, -2, inf, -inf])
    @for_each("keepdims", [False, True])
    def test_matrix_norm(self, ord, keepdims, dtype):
        a = matrices((2, 4, 3), dtype)
        result = linalg.matrix_norm(xp.asarray(a), ord=ord, keepdims=keepdims)
        close(result, np.linalg.matrix_norm(a, ord=ord, keepdims=keepdims))

    def test_matrix_norm_is_frobenius_by_default(self):
        x = xp.asarray([[3, 0], [0, 4]])
        assert float(linalg.matrix_norm(x)) == float(linalg.matrix_norm(x, ord=None)) == 5

    @pytest.mark.parametrize("shape", [(0, 3), (3, 0), (2, 0, 0)])
    def test_matrix_norm_of_nothing(self, shape):
        x = xp.ones(shape)
        for ord in ("fro", "nuc", 1, 2, inf):
            norm = linalg.matrix_norm(x, ord=ord)
            assert norm.shape == shape[:-2]
            assert xp.all(norm == 0)
        refused(ValueError, "no elements", linalg.matrix_norm, x, ord=-2)

    def test_matrix_norm_refuses(self):
        refused(ValueError, r"ord=3.*vector_norm", linalg.matrix_norm, xp.ones((2, 2)), ord=3)
        refused(ValueError, "two dimensions", linalg.matrix_norm, xp.ones(2))

    @pytest.mark.parametrize("dtype", FLOATING)
    @for_each("ord", [2, 1, 0, -1, -2, inf, -inf, 3, 2.5, 0.5, -3.5])
    @for_each("axis", [None, 0, -1, (0, 2), (-1, 0, 1)])
    def test_vector_norm(self, ord, axis, dtype):
        a = matrices((3, 2, 4), dtype)
        for keepdims in (False, True):
            result = linalg.vector_norm(xp.asarray(a), axis=axis, ord=ord, keepdims=keepdims)
            expected = np.linalg.vector_norm(a, axis=axis, ord=ord, keepdims=keepdims)
            close(result, np.asarray(expected, REAL_PART[dtype]))

    def test_vector_norm_special_cases(self):
        zero = xp.asarray([0.0, 3.0])
        assert float(linalg.vector_norm(zero, ord=-1)) == 0
        assert float(linalg.vector_norm(zero, ord=0)) == 1
        assert float(linalg.vector_norm(xp.asarray([3, 4]))) == 5
        assert float(linalg.vector_norm(xp.asarray([complex(inf, 0), 1j]))) == inf
        assert np.isnan(float(linalg.vector_norm(xp.asarray([nan, 1.0]), ord=inf)))

    def test_vector_norm_of_nothing(self):
        x = xp.ones((0, 3))
        for ord in (2, 1, 0, inf, 3):
            norm = linalg.vector_norm(x, axis=0, ord=ord)
            assert norm.shape == (3,)
            assert xp.all(norm == 0)
        refused(ValueError, "no elements", linalg.vector_norm, x, axis=0, ord=-inf)

    def test_vector_norm_refuses_names(self):
        refused(TypeError, r"real number.*matrix_norm", linalg.vector_norm, xp.ones(2), ord="fro")


class TestRank:
    def test_matrix_rank(self):
        a = np.stack([np.eye(3), np.ones((3, 3)), np.zeros((3, 3)), np.diag([1, 1e-20, 0])])
        result = linalg.matrix_rank(xp.asarray(a))
        close(result, np.asarray([3, 1, 0, 1]))

    @pytest.mark.parametrize("dtype", FLOATING)
    def test_default_tolerance_is_that_of_the_dtype(self, dtype):
        epsilon = np.finfo(dtype).eps
        for factor, rank in ((2, 1), (8, 2)):
            a = np.diag([1, factor * epsilon]).astype(dtype)
            assert int(linalg.matrix_rank(xp.asarray(np.vstack([a, 0 * a])))) == rank

    def test_rtol(self):
        x = xp.asarray(np.diag([8.0, 4.0, 1.0]))
        assert int(linalg.matrix_rank(x, rtol=0.5)) == 1
        assert int(linalg.matrix_rank(x, rtol=0.25)) == 2
        assert int(linalg.matrix_rank(x, rtol=np.float64(0.0))) == 3
        stack = xp.stack([x, x])
        ranks = linalg.matrix_rank(stack, rtol=xp.asarray([0.5, 0.0], dtype=xp.float32))
        close(ranks, np.asarray([1, 3]))

    @pytest.mark.parametrize("dtype", FLOATING)
    @for_each("shape", [(3, 3), (4, 2), (2, 4), (5, 3, 2), (0, 3), (2, 3, 0)])
    def test_pinv(self, shape, dtype):
        a = matrices(shape, dtype)
        close(linalg.pinv(xp.asarray(a)), np.linalg.pinv(a))

    def test_pinv_of_singular_matrices(self):
        a = np.ones((2, 3))
        close(linalg.pinv(xp.asarray(a)), np.linalg.pinv(a))
        close(linalg.pinv(xp.zeros((2, 3))), np.zeros((3, 2)))
        d = np.diag([4.0, 1.0])
        close(linalg.pinv(xp.asarray(d), rtol=0.25), np.diag([0.25, 0.0]))
        stack = linalg.pinv(xp.asarray(np.stack([d, d])), rtol=xp.asarray([0.25, 0.0]))
        close(stack, np.stack([np.diag([0.25, 0.0]), np.diag([0.25, 1.0])]))


class TestDecompositions:
    @pytest.mark.parametrize("dtype", FLOATING)
    @for_each("stack", STACKS)
    @for_each("n", [0, 1, 3])
    def test_cholesky(self, stack, n, dtype):
        a = hermitian(stack, n, dtype)
        lower = linalg.cholesky(xp.asarray(a))
        upper = linalg.cholesky(xp.asarray(a), upper=True)
        close(lower @ xp.asarray(np.asarray(lower).mT.conj()), a)
        close(xp.asarray(np.asarray(upper).mT.conj()) @ upper, a)
        assert xp.all(lower == xp.tril(lower))
        assert xp.all(upper == xp.triu(upper))

    @pytest.mark.parametrize("dtype", FLOATING)
    @for_each("shape", [(3, 3), (4, 2), (2, 4), (3, 2, 2), (0, 3), (3, 0)])
    def test_qr(self, shape, dtype):
        a = matrices(shape, dtype)
        *_, rows, columns = shape
        for mode, inner in (("reduced", min(rows, columns)), ("complete", rows)):
            result = linalg.qr(xp.asarray(a), mode=mode)
            assert result._fields == ("Q", "R")
            assert result.Q.shape[-2:] == (rows, inner)
            assert result.R.shape[-2:] == (inner, columns)
            close(result.Q @ result.R, a)
            assert xp.all(xp.triu(result.R) == result.R)

    @pytest.mark.parametrize("dtype", FLOATING)
    @for_each("shape", [(3, 3), (4, 2), (2, 4), (3, 2, 2), (0, 3), (3, 0)])
    def test_svd(self, shape, dtype):
        a = matrices(shape, dtype)
        *_, rows, columns = shape
        inner = min(rows, columns)
        full = linalg.svd(xp.asarray(a))
        assert full._fields == ("U", "S", "Vh")
        assert full.U.shape[-2:] == (rows, rows)
        assert full.Vh.shape[-2:] == (columns, columns)
        reduced = linalg.svd(xp.asarray(a), full_matrices=False)
        assert reduced.U.shape[-2:] == (rows, inner)
        assert reduced.Vh.shape[-2:] == (inner, columns)
        close((reduced.U * xp.expand_dims(reduced.S, axis=-2)) @ reduced.Vh, a)
        assert str(reduced.S.dtype) == REAL_PART[dtype]
        close(linalg.svdvals(xp.asarray(a)), np.linalg.svdvals(a))

    @pytest.mark.parametrize("dtype", FLOATING)
    @for_each("stack", STACKS)
    def test_eig_is_complex(self, stack, dtype):
        a = hermitian(stack, 3, dtype)
        result = linalg.eig(xp.asarray(a))
        assert result._fields == ("eigenvalues", "eigenvectors")
        expected = {"float32": "complex64", "float64": "complex128"}.get(dtype, dtype)
        assert str(result.eigenvalues.dtype) == str(result.eigenvectors.dtype) == expected
        product = xp.asarray(a.astype(expected)) @ result.eigenvectors
        close(
            result.eigenvectors * xp.expand_dims(result.eigenvalues, axis=-2), np.asarray(product)
        )
        values = linalg.eigvals(xp.asarray(a))
        assert str(values.dtype) == expected
        np.testing.assert_allclose(
            np.sort(np.asarray(values).real, -1), np.linalg.eigvalsh(a), 1e-3, 1e-3
        )

    @pytest.mark.parametrize("dtype", FLOATING)
    @for_each("stack", STACKS)
    def test_eigh(self, stack, dtype):
        a = hermitian(stack, 3, dtype)
        result = linalg.eigh(xp.asarray(a))
        assert result._fields == ("eigenvalues", "eigenvectors")
        close(result.eigenvalues, np.linalg.eigvalsh(a))
        close(linalg.eigvalsh(xp.asarray(a)), np.linalg.eigvalsh(a))
        product = xp.asarray(a) @ result.eigenvectors
        close(
            result.eigenvectors * xp.expand_dims(result.eigenvalues, axis=-2), np.asarray(product)
        )
        assert str(result.eigenvectors.dtype) == dtype

    @pytest.mark.parametrize(
        "name",
        [
            *["cholesky", "det", "eigh", "eigvalsh", "inv", "matrix_norm", "pinv", "slogdet"],
            *["svdvals", "vector_norm"],
        ],
    )
    @for_each("dtype", ["int8", "uint64", "bool"])
    def test_integers_are_computed_in_double_precision(self, name, dtype):
        function = getattr(linalg, name)
        result = function(xp.eye(2, dtype=getattr(xp, dtype)))
        expected = function(xp.eye(2))
        for part, full in zip(
            result if isinstance(result, tuple) else (result,),
            expected if isinstance(expected, tuple) else (expected,),
            strict=True,
        ):
            close(part, np.asarray(full))


class TestEquations:
    @pytest.mark.parametrize("dtype", FLOATING)
    @for_each(
        ("stack", "right", "vector"),
        [
            ((), (3,), True),
            ((), (3, 2), False),
            ((4,), (3,), True),
            # Three rows make a matrix, not a stack of vectors.
            ((3,), (3, 3), False),
            ((2, 1), (4, 3, 2), False),
            ((), (5, 3, 1), False),
            ((0,), (3, 2), False),
            ((), (3, 0), False),
        ],
    )
    def test_solve(self, stack, right, vector, dtype):
        a, b = square(stack, 3, dtype), matrices(right, dtype, 1)
        result = linalg.solve(xp.asarray(a), xp.asarray(b))
        if vector:
            assert result.shape == (*stack, 3)
            close(xp.squeeze(xp.asarray(a) @ result[..., None], axis=-1), b + np.zeros_like(result))
        else:
            product = xp.asarray(a) @ result
            close(product, np.broadcast_to(b, product.shape))

    def test_solve_promotes(self):
        result = linalg.solve(xp.asarray([[2, 0], [0, 4]]), xp.asarray([1.0, 1.0]))
        close(result, np.asarray([0.5, 0.25]))

    @pytest.mark.parametrize(
        ("left", "right", "message"),
        [
            ((2, 3), (2,), "square"),
            ((2,), (2,), "two dimensions"),
            ((2, 2), (3,), "2 rows"),
            ((2, 2), (3, 2), "2 rows"),
            ((2, 2), (), "2 rows"),
            ((2, 3, 3), (4, 3, 1), "broadcast"),
        ],
    )
    def test_solve_refuses_shapes(self, left, right, message):
        refused(ValueError, message, linalg.solve, xp.ones(left), xp.ones(right))

    @pytest.mark.parametrize("dtype", FLOATING)
    @for_each("stack", STACKS)
    @for_each("n", [0, 1, 3])
    def test_inverse_and_determinant(self, stack, n, dtype):
        a = square(stack, n, dtype)
        x = xp.asarray(a)
        close(linalg.inv(x), np.linalg.inv(a))
        close(linalg.det(x), np.asarray(np.linalg.det(a)))
        result = linalg.slogdet(x)
        assert result._fields == ("sign", "logabsdet")
        sign, logabsdet = np.linalg.slogdet(a)
        close(result.sign, np.asarray(sign))
        close(result.logabsdet, np.asarray(logabsdet))

    def test_determinant_of_zero(self):
        sign, logabsdet = linalg.slogdet(xp.zeros((2, 2), dtype=xp.complex64))
        assert complex(sign) == 0
        assert float(logabsdet) == -inf
        assert logabsdet.dtype is xp.float32

    @pytest.mark.parametrize(
        ("call", "advice"),
        [
            (lambda x: linalg.inv(x), "pinv"),
            (lambda x: linalg.solve(x, x), "pinv"),
            (lambda x: linalg.matrix_power(x, -2), "pinv"),
            (lambda x: linalg.cholesky(-x), "eigvalsh"),
            (lambda x: linalg.svd(x * nan), "isfinite"),
            (lambda x: linalg.svdvals(x * nan), "isfinite"),
            (lambda x: linalg.pinv(x * nan), "isfinite"),
            (lambda x: linalg.matrix_rank(x * nan), "isfinite"),
            (lambda x: linalg.eig(x * inf), "isfinite"),
            (lambda x: linalg.eigvals(x * inf), "isfinite"),
        ],
    )
    def test_what_cannot_be_computed(self, call, advice):
        refused(np.linalg.LinAlgError, advice, call, xp.ones((2, 2)))


class TestArguments:
    @pytest.mark.parametrize(
        "name", ["cholesky", "det", "eig", "eigh", "eigvals", "eigvalsh", "inv", "slogdet"]
    )
    def test_square_matrices_only(self, name):
        refused(ValueError, f"{name} needs square.*slice", getattr(linalg, name), xp.ones((2, 3)))
        with pytest.raises(ValueError, match=f"{name} needs matrices.*expand_dims"):
            getattr(linalg, name)(xp.ones(3))

    @pytest.mark.parametrize("name", ["qr", "svd", "svdvals", "pinv", "matrix_rank", "diagonal"])
    def test_matrices_only(self, name):
        refused(ValueError, r"two dimensions.*expand_dims", getattr(linalg, name), xp.ones(3))

    def test_matrix_power_of_square_matrices_only(self):
        refused(ValueError, "matrix_power needs square", linalg.matrix_power, xp.ones((2, 3)), 2)
        refused(TypeError, r"n must be an int, not 0.5", linalg.matrix_power, xp.ones((2, 2)), 0.5)

    def test_mode(self):
        refused(ValueError, "'reduced' or 'complete'", linalg.qr, xp.ones((2, 2)), mode="r")

    @for_each("name", sorted(set(linalg.__all__)))
    @xp.config_context(operands="strict")
    def test_arrays_only(self, name):
        arguments = {"matrix_power": (2,)}
        for pair in ("cross", "matmul", "outer", "solve", "tensordot", "vecdot"):
            arguments[pair] = (xp.ones((3, 3)),)
        with pytest.raises(TypeError, match="asarray"):
            getattr(linalg, name)(np.ones((3, 3)), *arguments.get(name, ()))
