"""Convolution against plain loops, and against PyTorch where it is installed."""

from __future__ import annotations

import tracemalloc
import warnings
from itertools import product
from typing import Any

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.contract.numpy_dtypes import NDArray
from array_api_nx.extra import convolution
from tests.extra.everywhere import agree, layouts_of, on, random
from tests.support.programs import needs_extension
from tests.support.sizes import DEFERRED
from tests.support.tables import for_each


def several(value: Any, count: int) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,) * count


def by_loops(
    x: NDArray,
    kernel: NDArray,
    stride: Any = 1,
    dilation: Any = 1,
    padding: Any = 0,
    groups: int = 1,
) -> NDArray:
    """What `conv` is, one window after the other."""
    ndim = x.ndim - 2
    size = kernel.shape[2:]
    stride, dilation = several(stride, ndim), several(dilation, ndim)
    if padding == "same":
        total = [(k - 1) * d for k, d in zip(size, dilation, strict=True)]
        padding = tuple((t // 2, t - t // 2) for t in total)
    elif padding == "valid":
        padding = 0
    pairs = padding if isinstance(padding, tuple) else ((padding, padding),) * ndim
    x = np.pad(x, [(0, 0), (0, 0), *pairs])
    counts = [
        (n - (k - 1) * d - 1) // s + 1
        for n, k, d, s in zip(x.shape[2:], size, dilation, stride, strict=True)
    ]
    outputs = kernel.shape[0]
    dtype = np.result_type(x, kernel)
    result = np.zeros((x.shape[0], outputs, *counts), dtype)
    wide = x.shape[1] // groups
    for place in np.ndindex(*counts):
        key = tuple(
            slice(i * s, i * s + (k - 1) * d + 1, d)
            for i, s, k, d in zip(place, stride, size, dilation, strict=True)
        )
        seen = x[(slice(None), slice(None), *key)]
        for output in range(outputs):
            first = output // (outputs // groups) * wide
            terms = seen[:, first : first + wide] * kernel[output]
            result[(slice(None), output, *place)] = terms.sum(tuple(range(1, terms.ndim)))
    return result


def close(result: xp.Array, expected: NDArray) -> None:
    is_single = expected.dtype in (np.float32, np.complex64)
    agree(result.to_device("cpu"), expected, rtol=1e-4 if is_single else 1e-12)


def numbers(seed: int, shape: tuple[int, ...], dtype: str = "float64") -> NDArray:
    return random(np.random.default_rng(seed), shape, dtype)


# Shapes of array and kernel, and options.
CASES: list[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
    ((2, 3, 9), (4, 3, 3), {}),
    ((2, 3, 9), (1, 3, 4), {"padding": "same", "dilation": 2}),
    ((1, 1, 7), (1, 1, 1), {}),
    ((2, 4, 6, 5), (6, 2, 3, 2), {"groups": 2, "padding": 1}),
    ((2, 4, 6, 5), (4, 1, 3, 2), {"groups": 4, "stride": (2, 1), "padding": ((0, 2), (1, 0))}),
    ((1, 3, 8, 8), (2, 3, 3, 3), {"stride": 2, "dilation": (1, 2), "padding": "valid"}),
    ((1, 3, 8, 8), (1, 3, 3, 3), {"padding": "same"}),
    ((3, 2, 4, 5, 3), (2, 2, 2, 3, 1), {"padding": ((1, 1), (0, 1), (0, 0))}),
    ((1, 2, 2, 3), (2, 2, 2, 2), {"padding": 7, "stride": 3}),
    ((0, 3, 5, 5), (2, 3, 2, 2), {}),
    ((2, 3, 5, 5), (0, 3, 2, 2), {}),
    ((2, 0, 5, 5), (3, 0, 2, 2), {}),
    ((2, 0, 5, 5), (1, 0, 2, 2), {"padding": 1}),
]


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "uint8", "complex128"])
@for_each(("shape", "kernel", "options"), CASES)
def test_is_what_loops_compute(shape, kernel, options, dtype):
    a, b = numbers(1, shape, dtype), numbers(2, kernel, dtype)
    expected = by_loops(a, b, **options)
    for x, y in zip(layouts_of(a), layouts_of(b), strict=True):
        close(xp.extra.conv(x, y, **options), expected)


@pytest.mark.parametrize("device", ["torch:cpu", "jax:cpu", "dask"])
def test_on_other_devices(device):
    # JAX compiles each operation for each shape.
    for shape, kernel, options in CASES[3:6] if device == "jax:cpu" else CASES[:9]:
        a, b = numbers(1, shape), numbers(2, kernel)
        result = xp.extra.conv(on(device, a), on(device, b), **options)
        assert str(result.device) == device
        close(result, by_loops(a, b, **options))


@pytest.mark.parametrize("block", [1, 7, 50, 200, 1000])
def test_windows_are_made_a_block_at_a_time(block, monkeypatch):
    monkeypatch.setattr(convolution, "_BLOCK", block)
    monkeypatch.setattr(convolution, "_MOST_PRODUCTS", 0)
    for shape, kernel, options in CASES:
        a, b = numbers(1, shape), numbers(2, kernel)
        close(xp.extra.conv(xp.asarray(a), xp.asarray(b), **options), by_loops(a, b, **options))


def test_dtypes_are_promoted():
    a, b = numbers(1, (1, 2, 5), "float32"), numbers(2, (2, 2, 2), "int32")
    close(xp.extra.conv(xp.asarray(a), xp.asarray(b)), by_loops(a, b))


@pytest.mark.parametrize("size", ["1d", "2d", "3d"])
def test_is_what_pytorch_computes(size):
    torch = pytest.importorskip("torch")
    function = getattr(torch.nn.functional, f"conv{size}")
    ndim = int(size[0])
    for stride, dilation, padding, groups in product((1, 2), (1, 2), (0, 2, "same"), (1, 3)):
        if padding == "same" and stride != 1:
            continue
        options = {"stride": stride, "dilation": dilation, "padding": padding, "groups": groups}
        a = numbers(1, (2, 6, 9, 8, 7)[: 2 + ndim])
        b = numbers(2, (3, 6 // groups, 3, 2, 2)[: 2 + ndim])
        with warnings.catch_warnings():
            # It pads a copy, and says so.
            warnings.simplefilter("ignore", UserWarning)
            expected = function(torch.asarray(a), torch.asarray(b), **options).numpy()
        close(xp.extra.conv(xp.asarray(a), xp.asarray(b), **options), expected)


@pytest.mark.parametrize("device", ["cpu", "torch:cpu", "jax:cpu", "dask"])
def test_in_compiled_functions(device):
    compiled = xp.compile(lambda x, k: xp.extra.conv(x, k, padding=1, stride=2))
    sizes: list[tuple[int, tuple[int, ...]]] = [(5, (4, 2, 3, 3)), (8, (4, 2, 3, 3))]
    if device != "jax:cpu":
        sizes += [(8, (1, 2, 3, 3)), (6, (2, 2, 2, 1))]
    for size, kernel in sizes:
        a, b = numbers(1, (2, 2, size, size + 1)), numbers(2, kernel)
        close(compiled(on(device, a), on(device, b)), by_loops(a, b, padding=1, stride=2))
    spec = xp.eval_shape(xp.extra.conv, xp.ones((2, 3, 10)), xp.ones((4, 3, 3), dtype=xp.float32))
    assert (spec.shape, spec.dtype) == ((2, 4, 8), xp.float64)


@pytest.mark.parametrize(
    ("shape", "kernel", "options", "error", "words"),
    [
        ((3, 5), (2, 3, 2), {}, ValueError, "a kernel with as many axes"),
        ((3, 5), (2, 3), {}, ValueError, r"\(batch, channels, spatial\.\.\.\)"),
        ((1, 3, 5), (2, 2, 2), {}, ValueError, "3 channels in 1 groups do not agree"),
        ((1, 4, 5), (3, 2, 2), {"groups": 2}, ValueError, "a multiple of groups on its first"),
        ((1, 4, 5), (4, 2, 2), {"groups": 0}, ValueError, "4 channels in 0 groups"),
        ((1, 4, 5), (4, 4, 6), {}, ValueError, "no window of kernel_size"),
        ((1, 4, 5), (4, 4, 2), {"stride": 0}, ValueError, "stride is 0"),
        ((1, 4, 5), (4, 4, 2), {"padding": -1}, ValueError, "must not be negative"),
        ((1, 4, 5), (4, 4, 2), {"padding": "full"}, ValueError, "no padding 'full'; known"),
        ((1, 4, 5), (4, 4, 2), {"padding": "same", "stride": 2}, ValueError, "stride of 1"),
        ((1, 4, 5), (4, 4, 2), {"groups": 1.0}, TypeError, "groups must be an int"),
    ],
)
def test_refuses(shape, kernel, options, error, words):
    with pytest.raises(error, match=words):
        xp.extra.conv(xp.ones(shape), xp.ones(kernel), **options)


@xp.config_context(operands="strict")
def test_refuses_what_is_no_number():
    with pytest.raises(TypeError, match="conv adds up numbers, not bool"):
        xp.extra.conv(xp.ones((1, 1, 3), dtype=bool), xp.ones((1, 1, 1), dtype=bool))
    with pytest.raises(TypeError, match="kernel must be an array_api_nx array"):
        xp.extra.conv(xp.ones((1, 1, 3)), np.ones((1, 1, 1)))


@needs_extension
@pytest.mark.parametrize(("outputs", "more"), [(1, 1_800_000), (2, 9_600_000)])
def test_neither_the_padded_array_nor_its_windows_are_made(outputs, more):
    rows = DEFERRED // 480 + 1  # also without those of which some is padding
    x = xp.asarray(np.ones((1, 1, 2 * rows, 1000), np.float32), copy=True)
    kernel = xp.ones((outputs, 1, 3, 3), dtype=xp.float32)
    tracemalloc.start()
    result = xp.extra.conv(x, kernel, padding=1, stride=2)
    xp.evaluate(result)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert float(result[0, -1, 0, 0]) == 4
    assert float(xp.sum(result, dtype=xp.float64)) == outputs * (
        rows * 500 * 9 - rows * 3 - 500 * 3 + 1
    )
    # All windows have nine times the bytes of a channel of the result, and those of a block 4 MB.
    assert peak < result.nbytes + more
