"""The contract's sections "matrices" and "Fourier transforms"."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest

from ...contract.backend import Backend, Handle, Norm, Overlap
from ...contract.numpy_dtypes import NDArray
from ...core import dtypes as d
from ...core.dtypes import DType
from ...primitives import table as p
from .layouts import Case, case, check, in_layouts, limits, row_major, small


def product_of(x1: NDArray, x2: NDArray) -> NDArray:
    """The matrix product as a sum of outer products; 1-D operands are a row and a column."""
    left = x1[None] if x1.ndim == 1 else x1
    right = x2[:, None] if x2.ndim == 1 else x2
    lead = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    result = np.zeros((*lead, left.shape[-2], right.shape[-1]), x1.dtype)
    for k in range(left.shape[-1]):
        result += left[..., :, k, None] * right[..., None, k, :]
    result = result[..., 0] if x2.ndim == 1 else result
    if x1.ndim == 1:
        result = result[..., 0] if x2.ndim == 1 else result[..., 0, :]
    return result


def in_pairs(backend: Backend, x1: NDArray, x2: NDArray) -> Iterator[tuple[Case, Case]]:
    """Every layout on either side."""
    lefts, rights = in_layouts(backend, x1), in_layouts(backend, x2)
    for i, left in enumerate(lefts):
        for step in (1, 3, 7):
            yield left, rights[(step * i + step) % len(rights)]


@pytest.mark.parametrize("dtype", p.MATMUL.results, ids=str)
def test_matmul(backend: Backend, dtype: DType) -> None:
    for shape1, shape2 in (
        ((3, 4), (4, 5)),
        ((2, 1, 3, 4), (5, 4, 3)),
        ((4,), (4,)),
        ((4,), (2, 4, 3)),
        ((2, 3, 4), (4,)),
        ((1, 1), (1, 1)),
    ):
        values = small(dtype, shape1), small(dtype, shape2, start=2)
        for x1, x2 in in_pairs(backend, *values):
            result = backend.matmul(x1.handle, x2.handle)
            expected = product_of(x1.oracle, x2.oracle)
            hint = x1.layout, x2.layout
            check(backend, result, expected, x1.handle, x2.handle, ulp=1, hint=hint)


@pytest.mark.parametrize("dtype", p.MATMUL.results, ids=str)
def test_matmul_of_no_elements_and_of_integers_that_wrap(backend: Backend, dtype: DType) -> None:
    for shape1, shape2 in (
        ((0, 4), (4, 5)),
        ((3, 0), (0, 5)),
        ((3, 4), (4, 0)),
        ((0, 3, 4), (4, 5)),
        ((0,), (0,)),
        ((0,), (0, 3)),
    ):
        x1, x2 = [
            case(backend, row_major, np.empty(shape, dtype.name)) for shape in (shape1, shape2)
        ]
        check(backend, backend.matmul(x1.handle, x2.handle), product_of(x1.oracle, x2.oracle))
    if dtype in d.INTEGRAL:
        x1, x2 = [
            case(backend, row_major, np.resize(limits(dtype), shape)) for shape in ((3, 4), (4, 2))
        ]
        check(backend, backend.matmul(x1.handle, x2.handle), product_of(x1.oracle, x2.oracle))


def test_matmul_and_vecdot_refuse_shapes_that_do_not_broadcast(backend: Backend) -> None:
    x1 = case(backend, row_major, np.ones((2, 3, 3))).handle
    x2 = case(backend, row_major, np.ones((4, 3, 3))).handle
    for method in (backend.matmul, backend.vecdot):
        with pytest.raises(ValueError, match="broadcast"):
            method(x1, x2)


@pytest.mark.parametrize("dtype", p.VECDOT.results, ids=str)
def test_vecdot(backend: Backend, dtype: DType) -> None:
    for shape1, shape2 in (((4,), (4,)), ((2, 1, 4), (3, 4)), ((3, 0), (3, 0)), ((0, 4), (4,))):
        for x1, x2 in in_pairs(backend, small(dtype, shape1), small(dtype, shape2, start=2)):
            terms = np.conj(x1.oracle) * x2.oracle
            expected = np.zeros(terms.shape[:-1], terms.dtype)
            for k in range(terms.shape[-1]):
                expected += terms[..., k]
            result = backend.vecdot(x1.handle, x2.handle)
            hint = x1.layout, x2.layout
            check(backend, result, expected, x1.handle, x2.handle, ulp=1, hint=hint)


@pytest.mark.parametrize("dtype", p.CONVOLVE.results, ids=str)
def test_convolve(backend: Backend, dtype: DType) -> None:
    for size, taps in ((7, 3), (6, 4), (5, 5), (3, 1), (1, 1)):
        for x1, x2 in in_pairs(backend, small(dtype, (size,)), small(dtype, (taps,), start=2)):
            full = np.zeros(size + taps - 1, x1.oracle.dtype)
            for k in range(taps):
                full[k : k + size] += x2.oracle[k] * x1.oracle
            first = (taps - 1) // 2
            hint = x1.layout, x2.layout
            modes: dict[Overlap, NDArray] = {
                "full": full,
                "same": full[first : first + size],
                "valid": full[taps - 1 : size],
            }
            for mode, expected in modes.items():
                result = backend.convolve(x1.handle, x2.handle, mode)
                check(backend, result, expected, x1.handle, x2.handle, ulp=1, hint=hint)


# ---------------------------------------------------------------------- Fourier transforms

NORMS: tuple[Norm, ...] = ("backward", "ortho", "forward")
AXES = [(0,), (2,), (0, 2), (2, 0), (1,), (0, 1, 2)]


def dft(x: NDArray, axes: tuple[int, ...], norm: str, sign: int) -> NDArray:
    """The transform as a product with its matrix, axis by axis."""
    result = x.astype(np.complex128)
    for axis in axes:
        n = x.shape[axis]
        angles = 2 * np.pi / n * (np.arange(n)[:, None] * np.arange(n) % n)
        scale = {"backward": 1 / n if sign > 0 else 1, "ortho": n**-0.5}.get(
            norm, 1 if sign > 0 else 1 / n
        )
        matrix = np.exp(sign * 1j * angles) * scale
        result = np.moveaxis(np.tensordot(matrix, result, (1, axis)), 0, axis)
    return result


def close(backend: Backend, result: Handle, expected: NDArray, dtype: DType, hint: object) -> None:
    assert backend.shape(result) == expected.shape, hint
    assert backend.dtype(result) is dtype, hint
    tolerance = 1e-12 if d.bits(dtype) == 64 else 1e-5
    np.testing.assert_allclose(
        backend.to_host(result), expected, rtol=tolerance, atol=10 * tolerance, err_msg=str(hint)
    )


TRANSFORMS = {"fft": p.FFT.results, "ifft": p.IFFT.results, "rfft": p.RFFT.results}


@pytest.mark.parametrize("method", TRANSFORMS)
def test_transforms(backend: Backend, method: str) -> None:
    for dtype, result_dtype in TRANSFORMS[method].items():
        for x in in_layouts(backend, small(dtype, (3, 1, 4))):
            for axes, norm in product(AXES, NORMS):
                expected = dft(x.oracle, axes, norm, 1 if method == "ifft" else -1)
                if method == "rfft":
                    half = np.arange(x.oracle.shape[axes[-1]] // 2 + 1)
                    expected = expected.take(half, axes[-1])
                result = getattr(backend, method)(x.handle, axes, norm)
                hint = method, dtype, x.layout, axes, norm
                close(backend, result, expected, result_dtype, hint)


@pytest.mark.parametrize("dtype", p.IRFFT.results, ids=str)
def test_irfft(backend: Backend, dtype: DType) -> None:
    real = p.IRFFT.results[dtype]
    for shape in ((3, 1, 4), (2, 3, 5)):
        values = small(real, shape).astype(real.name)
        for axes, norm in product(AXES, NORMS):
            half = np.arange(shape[axes[-1]] // 2 + 1)
            spectrum = dft(values, axes, norm, -1).take(half, axes[-1]).astype(dtype.name)
            for x in in_layouts(backend, spectrum)[:7]:
                result = backend.irfft(x.handle, axes, shape[axes[-1]], norm)
                close(backend, result, values, real, (x.layout, axes, norm))


@pytest.mark.parametrize("method", ["fft", "ifft", "rfft", "irfft"])
def test_transforms_of_empty_batches(backend: Backend, method: str) -> None:
    dtype = d.float64 if method == "rfft" else d.complex128
    x = case(backend, row_major, np.empty((0, 3), dtype.name)).handle
    size = {"irfft": (4,)}.get(method, ())
    result = getattr(backend, method)(x, (1,), *size, "backward")
    length = {"rfft": 2, "irfft": 4}.get(method, 3)
    assert backend.shape(result) == (0, length)
