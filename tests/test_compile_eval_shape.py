"""`eval_shape` against eager execution, for every function of the standard."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx import Array, ShapeSpec
from array_api_nx.frontend.trees import flatten
from tests.support.elementwise import rows
from tests.support.programs import assert_same
from tests.support.tables import for_each

STANDARD = json.loads(
    (Path(__file__).parent / "data" / "array_api_2025_12.json").read_text(encoding="utf-8")
)
SECTIONS = STANDARD["sections"]

N, M = 4, 3


def values(*shape, dtype=xp.float64):
    size = int(np.prod(shape))
    return xp.astype(xp.asarray((np.arange(size) * 7 % 5 + 1.0).reshape(shape)), dtype)


A = values(N, M)
V = values(N)
I = values(N, M, dtype=xp.int64)  # noqa: E741
INDEX = values(N, dtype=xp.int64) % N
B = A > 2
C = values(N, M, dtype=xp.complex128)
S = values(M, N, N) + 10 * xp.eye(N)
SYMMETRIC = S + xp.matrix_transpose(S)
CUBE = values(2, N, M)

OPERANDS = {xp.float64: A, xp.complex128: C, xp.int64: I, xp.bool: B}


def operands_of(op):
    """Arrays of dtypes that a function takes: floating-point numbers, or integers, or booleans."""
    taken = [x for dtype, x in OPERANDS.items() if dtype in op.results]
    return taken[:2] if taken[0] is A else taken[:1]


def on_transposed(name):
    return lambda x: getattr(xp, name)(xp.matrix_transpose(x), xp.flip(x[:, :1]).T)


REDUCTIONS = ("all", "any", "count_nonzero", "max", "mean", "min", "prod", "std", "sum", "var")

Call = tuple[Callable[..., object], tuple[object, ...]]

CALLS = {
    **{
        op.name: [(getattr(xp, op.name), (x,)) for x in operands_of(op)] for op in rows("unary")
    },
    **{
        op.name: [
            call
            for x in operands_of(op)
            for call in (
                (getattr(xp, op.name), (x, x)),
                (getattr(xp, op.name), (x, x[0, ...])),
                (on_transposed(op.name), (x,)),
            )
        ]
        for op in rows("binary")
    },
    **{
        name: [
            (getattr(xp, name), (A,)),
            (partial(getattr(xp, name), axis=0), (A,)),
            (partial(getattr(xp, name), axis=-1, keepdims=True), (A,)),
        ]
        for name in REDUCTIONS
    },
    # creation
    "arange": [
        (lambda x: xp.arange(x.shape[0]), (A,)),
        (lambda x: xp.arange(1, 2 * x.shape[0], 2), (A,)),
        (lambda x: xp.arange(x.shape[0], dtype=xp.float32), (A,)),
        (lambda x: xp.arange(x.shape[0], 0, -1), (A,)),
    ],
    "asarray": [(xp.asarray, (A,)), (lambda x: xp.asarray([1.0, 2.0]), (A,))],
    "empty": [(lambda x: xp.empty(x.shape), (A,))],
    "empty_like": [(xp.empty_like, (I,))],
    "eye": [(lambda x: xp.eye(x.shape[0]), (A,)), (lambda x: xp.eye(x.shape[1], k=1), (A,))],
    "from_dlpack": [(xp.from_dlpack, (A,))],
    "full": [
        (lambda x: xp.full((x.shape[0], 2), 3), (A,)),
        (lambda x: xp.full(x.shape[0], x.shape[0]), (A,)),
        (lambda x: xp.full(x.shape, x[0, 0]), (A,)),
    ],
    "full_like": [(lambda x: xp.full_like(x, 3), (I,))],
    "linspace": [
        (lambda x: xp.linspace(0, 1, x.shape[0]), (A,)),
        (lambda x: xp.linspace(0, x.shape[0], 5, endpoint=False), (A,)),
    ],
    "meshgrid": [
        (xp.meshgrid, (V, values(M))),
        (lambda x: xp.meshgrid(x, x, indexing="ij"), (V,)),
    ],
    "ones": [(lambda x: xp.ones(x.shape[::-1], dtype=xp.int8), (A,))],
    "ones_like": [(xp.ones_like, (B,))],
    "tril": [(xp.tril, (A,))],
    "triu": [(lambda x: xp.triu(x, k=1), (CUBE,))],
    "zeros": [(lambda x: xp.zeros((x.shape[0] + 1, x.shape[1] // 2)), (A,))],
    "zeros_like": [(xp.zeros_like, (A,))],
    # data types
    "astype": [(lambda x: xp.astype(x, xp.int8), (A,)), (lambda x: xp.astype(x, x.dtype), (A,))],
    "can_cast": [(lambda x: xp.can_cast(x, xp.float32), (A,))],
    "finfo": [(lambda x: xp.finfo(x).bits, (A,))],
    "iinfo": [(lambda x: xp.iinfo(x).bits, (I,))],
    "isdtype": [(lambda x: xp.isdtype(x.dtype, "numeric"), (A,))],
    "result_type": [(lambda x, y: xp.result_type(x, y, 1.0), (A, I))],
    # elementwise
    "clip": [(lambda x: xp.clip(x, 1, 2), (A,)), (xp.clip, (A, A[0, ...], A))],
    # indexing
    "take": [(lambda x, i: xp.take(x, i, axis=0), (A, INDEX))],
    "take_along_axis": [(lambda x, i: xp.take_along_axis(x, i % 3, axis=1), (A, I))],
    # linear algebra
    "matmul": [
        (lambda x: x @ x.T, (A,)), (xp.matmul, (S, S)), (xp.matmul, (S, V)), (xp.matmul, (V, V)),
    ],
    "matrix_transpose": [(xp.matrix_transpose, (CUBE,))],
    "tensordot": [
        (lambda x: xp.tensordot(x, x, axes=2), (A,)),
        (lambda x, y: xp.tensordot(x, y, axes=((1, 2), (0, 1))), (CUBE, A)),
        (lambda x: xp.tensordot(x, x, axes=0), (A,)),
    ],
    "vecdot": [(xp.vecdot, (A, A)), (lambda x: xp.vecdot(x, x, axis=0), (A,))],
    # manipulation
    "broadcast_arrays": [(xp.broadcast_arrays, (A, values(N, 1), A[0, ...]))],
    "broadcast_shapes": [(lambda x, y: xp.broadcast_shapes(x.shape, y.shape), (A, CUBE))],
    "broadcast_to": [(lambda x, y: xp.broadcast_to(x, y.shape), (A, CUBE))],
    "concat": [
        (lambda x: xp.concat([x, x], axis=1), (A,)),
        (lambda x, y: xp.concat([x, y], axis=None), (A, CUBE)),
    ],
    "expand_dims": [(lambda x: xp.expand_dims(x.T, axis=1), (A,))],
    "flip": [(xp.flip, (A,)), (lambda x: xp.flip(x, axis=0)[1:, ...], (A,))],
    "moveaxis": [(lambda x: xp.moveaxis(x, 0, -1), (CUBE,))],
    "permute_dims": [(lambda x: xp.permute_dims(x, (2, 0, 1)), (CUBE,))],
    "repeat": [
        (lambda x: xp.repeat(x, 2), (A,)),
        (lambda x: xp.repeat(x, x.shape[0], axis=1), (A,)),
    ],
    "reshape": [
        (lambda x: xp.reshape(x, (-1,)), (A,)),
        (lambda x: xp.reshape(x.T, (x.shape[0], -1)), (A,)),
        (lambda x: xp.reshape(x, (x.shape[0] * x.shape[1], 1)), (A,)),
    ],
    "roll": [(lambda x: xp.roll(x, 1), (A,)), (lambda x: xp.roll(x, -1, axis=0), (A,))],
    "squeeze": [(lambda x: xp.squeeze(x[:, :1], axis=1), (A,))],
    "stack": [(lambda x: xp.stack([x, x], axis=1), (A,))],
    "tile": [(lambda x: xp.tile(x, (2, 1, 3)), (A,))],
    "unstack": [(lambda x: xp.unstack(x[:2, ...]), (A,))],
    # searching, sorting, sets
    "argmax": [(xp.argmax, (A,)), (lambda x: xp.argmax(x, axis=0, keepdims=True), (A,))],
    "argmin": [(xp.argmin, (A,))],
    "nonzero": [],
    "searchsorted": [(lambda x, y: xp.searchsorted(xp.sort(x), y), (V, A))],
    "where": [(xp.where, (B, A, I)), (lambda b, x: xp.where(b, x, 0), (B, A))],
    "argsort": [(lambda x: xp.argsort(x, axis=0, descending=True), (A,))],
    "sort": [(xp.sort, (A,))],
    "isin": [(xp.isin, (A, V)), (lambda x: xp.isin(x, 2.0), (A,))],
    "unique_all": [],
    "unique_counts": [],
    "unique_inverse": [],
    "unique_values": [],
    # statistics, utilities
    "cumulative_sum": [
        (lambda x: xp.cumulative_sum(x, axis=0), (A,)),
        (lambda x: xp.cumulative_sum(x, axis=1, include_initial=True), (I,)),
    ],
    "cumulative_prod": [(lambda x: xp.cumulative_prod(x, axis=1), (I,))],
    "diff": [(lambda x: xp.diff(x, axis=0), (A,)), (lambda x: xp.diff(x, n=2), (CUBE,))],
    # linalg
    "linalg.cholesky": [(lambda x: xp.linalg.cholesky(x @ xp.matrix_transpose(x)), (S,))],
    "linalg.cross": [(xp.linalg.cross, (values(N, 3), values(N, 3)))],
    "linalg.det": [(xp.linalg.det, (S,))],
    "linalg.diagonal": [
        (xp.linalg.diagonal, (S,)), (lambda x: xp.linalg.diagonal(x.mT, offset=1), (S,)),
    ],
    "linalg.eig": [(xp.linalg.eig, (S,))],
    "linalg.eigh": [(xp.linalg.eigh, (SYMMETRIC,))],
    "linalg.eigvals": [(xp.linalg.eigvals, (S,))],
    "linalg.eigvalsh": [(xp.linalg.eigvalsh, (SYMMETRIC,))],
    "linalg.inv": [(xp.linalg.inv, (S,))],
    "linalg.matmul": [(xp.linalg.matmul, (S, S))],
    "linalg.matrix_norm": [
        (xp.linalg.matrix_norm, (A,)), (lambda x: xp.linalg.matrix_norm(x, ord=1), (S,)),
        (lambda x: xp.linalg.matrix_norm(x, ord=2, keepdims=True), (S,)),
    ],
    "linalg.matrix_power": [
        (lambda x: xp.linalg.matrix_power(x, 3), (S,)),
        (lambda x: xp.linalg.matrix_power(x, 0), (S,)),
    ],
    "linalg.matrix_rank": [(xp.linalg.matrix_rank, (S,))],
    "linalg.matrix_transpose": [(xp.linalg.matrix_transpose, (S,))],
    "linalg.outer": [(xp.linalg.outer, (V, values(M)))],
    "linalg.pinv": [(xp.linalg.pinv, (S,))],
    "linalg.qr": [(xp.linalg.qr, (S,)), (lambda x: xp.linalg.qr(x, mode="complete"), (S,))],
    "linalg.slogdet": [(xp.linalg.slogdet, (S,))],
    "linalg.solve": [(xp.linalg.solve, (S, S)), (xp.linalg.solve, (S[0, ...], V))],
    "linalg.svd": [
        (xp.linalg.svd, (S,)), (lambda x: xp.linalg.svd(x, full_matrices=False), (S,)),
    ],
    "linalg.svdvals": [(xp.linalg.svdvals, (S,))],
    "linalg.tensordot": [(xp.linalg.tensordot, (A, A))],
    "linalg.trace": [(xp.linalg.trace, (S,))],
    "linalg.vecdot": [(xp.linalg.vecdot, (A, A))],
    "linalg.vector_norm": [
        (xp.linalg.vector_norm, (A,)),
        (lambda x: xp.linalg.vector_norm(x, axis=0, ord=1), (A,)),
        (lambda x: xp.linalg.vector_norm(x, ord=3, keepdims=True), (A,)),
        (lambda x: xp.linalg.vector_norm(x, ord=float("inf")), (C,)),
    ],
    # fft
    "fft.fft": [(xp.fft.fft, (A,)), (lambda x: xp.fft.fft(x, n=8, axis=0), (values(8, M),))],
    "fft.ifft": [(lambda x: xp.fft.ifft(x, axis=0), (C,))],
    "fft.fftn": [(xp.fft.fftn, (A,))],
    "fft.ifftn": [(xp.fft.ifftn, (C,))],
    "fft.rfft": [(xp.fft.rfft, (A,)), (lambda x: xp.fft.rfft(x, axis=0), (A,))],
    "fft.irfft": [(xp.fft.irfft, (C,))],
    "fft.rfftn": [(xp.fft.rfftn, (A,))],
    "fft.irfftn": [(xp.fft.irfftn, (C,))],
    "fft.hfft": [(xp.fft.hfft, (C,))],
    "fft.ihfft": [(xp.fft.ihfft, (A,))],
    "fft.fftfreq": [(lambda x: xp.fft.fftfreq(x.shape[0]), (A,))],
    "fft.rfftfreq": [(lambda x: xp.fft.rfftfreq(x.shape[0], d=0.5), (A,))],
    "fft.fftshift": [(xp.fft.fftshift, (A,))],
    "fft.ifftshift": [(lambda x: xp.fft.ifftshift(x, axes=0), (A,))],
}  # fmt: skip

# Their results' sizes depend on the elements.
FRESH = {
    "nonzero": [(xp.nonzero, (A,)), (lambda x: xp.where(x > 2), (A,))],
    "unique_all": [(xp.unique_all, (A,))],
    "unique_counts": [(xp.unique_counts, (A,))],
    "unique_inverse": [(xp.unique_inverse, (A,))],
    "unique_values": [(xp.unique_values, (A,))],
    "x[mask]": [
        (lambda x, b: x[b], (A, B)),
        (lambda x, b: x[b[:, 0], :1], (A, B)),
        (lambda x, b: x[:, b[0, ...]], (A, B)),
        (lambda x, b: x[b] + 2 * x[b] + xp.nonzero(b)[0], (A, B)),
    ],
    "repeat": [(lambda x, i: xp.repeat(x, i, axis=0), (A, INDEX))],
    "isin": [(xp.isin, (C, C[0, ...]))],
}


def names_of_the_standard():
    elsewhere = ("array_object", "data_types", "info", "fft", "linalg", "constants")
    names = {name for section in SECTIONS if section not in elsewhere for name in SECTIONS[section]}
    return names | {
        f"{section}.{name}" for section in ("fft", "linalg") for name in SECTIONS[section]
    }


def test_every_function_has_a_call():
    assert {name for name in names_of_the_standard() if not name.startswith("__")} == set(CALLS)
    assert all(CALLS[name] or name in FRESH for name in CALLS)


def specs_of(arguments, letters):
    return [ShapeSpec([letters.get(n, n) for n in x.shape], x.dtype) for x in arguments]


def described(x):
    """Nested results with specs for arrays."""
    leaves, structure = flatten(x, lambda x: type(x) in (Array, ShapeSpec))
    return structure, [ShapeSpec(x.shape, x.dtype) if type(x) is Array else x for x in leaves]


CASES = [(name, *call) for name, calls in CALLS.items() for call in calls]


@for_each(("name", "call", "arguments"), CASES)
def test_concrete_specs(name, call, arguments):
    expected = described(call(*arguments))
    assert described(xp.eval_shape(call, *specs_of(arguments, {}))) == expected
    assert described(xp.eval_shape(call, *arguments)) == expected


@for_each(("name", "call", "arguments"), CASES)
def test_symbolic_specs(name, call, arguments):
    _, expected = described(call(*arguments))
    found = xp.eval_shape(call, *specs_of(arguments, {N: "n"}))
    leaves, _ = flatten(found, lambda x: type(x) is ShapeSpec)
    assert [spec.at(n=N) for spec in leaves] == expected


@for_each(("name", "call", "arguments"), [(name, *call) for name in FRESH for call in FRESH[name]])
def test_sizes_that_elements_decide(name, call, arguments):
    _, expected = described(call(*arguments))
    for letters in ({}, {N: "n"}):
        found = xp.eval_shape(call, *specs_of(arguments, letters))
        leaves, _ = flatten(found, lambda x: type(x) is ShapeSpec)
        for spec, true in zip(leaves, expected, strict=True):
            assert spec.dtype == true.dtype
            assert len(spec.shape) == len(true.shape)
            for size, n in zip(spec.at(n=N).shape, true.shape, strict=True):
                low, high = (size, size) if type(size) is int else size.bounds
                assert low <= n <= high
        if name != "isin":
            assert "k" in repr(found)


@for_each(("name", "call", "arguments"), CASES)
def test_compiled(name, call, arguments):
    """The same bits as in eager execution, twice, and with specs as without."""
    function = xp.compile(call)
    for _ in range(2):
        structure, expected = leaves_of(call(*arguments))
        found_structure, found = leaves_of(function(*arguments))
        assert found_structure == structure
        for x, y in zip(found, expected, strict=True):
            assert x.dtype == y.dtype
            assert x.device == y.device
            if "empty" not in name:
                assert_same(np.asarray(x), np.asarray(y))
    assert function.cache_info()[:3] == (1, 1, 2)


def leaves_of(x):
    leaves, structure = flatten(x, lambda x: type(x) is Array)
    return structure, leaves


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda x: x[::2], "ShapeSpec((n - (n//2),), float64)"),
        (lambda x: x[: x.shape[0] // 2], "ShapeSpec((n//2,), float64)"),
        (lambda x: xp.linalg.svdvals(xp.stack([x] * 3)), "ShapeSpec((min(3, n),), float64)"),
        (
            lambda x: xp.concat([xp.linalg.svdvals(xp.stack([x] * 3)), x]),
            "ShapeSpec((n + min(3, n),), float64)",
        ),
        (lambda x: xp.concat([x[x > 0], x[x < 0]]), "ShapeSpec((k + k2,), float64)"),
    ],
)
def test_sizes_are_printed_by_their_names(call, text):
    assert repr(xp.eval_shape(call, ShapeSpec(("n",), xp.float64))) == text


def test_names_of_new_sizes_are_new():
    found = xp.eval_shape(lambda x: xp.nonzero(x), ShapeSpec(("k", "k2"), xp.float64))
    assert repr(found[0]) == "ShapeSpec((k3,), int64)"


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda x: x[:5], r"whether n < 5 is not known of n;"),
        (lambda x: x[-5:], r"whether n - 5 < 0 is not known of n;"),
        (lambda x: xp.nonzero(x)[0][:5], r"whether k < 5 is not known of k;"),
        (lambda x: x @ xp.zeros((x.shape[0] + 1, 2)), r"shapes \[n\] and \[n \+ 1, 2\]"),
        (lambda x: xp.ones(len(x)), r"the number that n stands for"),
        (lambda x: float(x.shape[0] / 3), r"the number that n / 3 stands for"),
    ],
)
def test_errors_name_sizes_by_their_names(call, text):
    with pytest.raises(ValueError, match=text) as caught:
        xp.eval_shape(call, ShapeSpec(("n",), xp.float64))
    assert "#" not in str(caught.value)
