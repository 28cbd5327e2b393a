"""Convolution against NumPy's products of windows, and against PyTorch where it is installed."""

import tracemalloc
import warnings
from itertools import product

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import array_api_nx as xp
from array_api_nx.extra import convolution
from tests.extra.everywhere import agree, layouts_of, on, random
from tests.support.programs import needs_extension
from tests.support.refusals import refused
from tests.support.sizes import DEFERRED
from tests.support.tables import for_each


def by_numpy(x, kernel, stride=1, dilation=1, padding=0, groups=1):
    """What `conv` is: products of the kernel with NumPy's sliding windows."""
    ndim = x.ndim - 2
    steps = [one if isinstance(one, tuple) else (one,) * ndim for one in (stride, dilation)]
    reach = [(k - 1) * d for k, d in zip(kernel.shape[2:], steps[1], strict=True)]
    if padding == "same":
        padding = tuple([(n // 2, n - n // 2) for n in reach])
    pairs = padding if isinstance(padding, tuple) else [(0 if padding == "valid" else padding,) * 2]
    x = np.pad(x, [(0, 0), (0, 0), *(pairs if len(pairs) == ndim else [*pairs] * ndim)])
    seen = sliding_window_view(x, [n + 1 for n in reach], tuple(range(2, x.ndim)))
    seen = seen[:, :, *[slice(None, None, step) for step in (*steps[0], *steps[1])]]
    axes = [1, *range(-ndim, 0)]
    products = [
        np.tensordot(windows, filters, (axes, [*range(1, ndim + 2)]))
        for windows, filters in zip(
            np.split(seen, groups, 1), np.split(kernel, groups), strict=True
        )
    ]
    return np.moveaxis(np.concatenate(products, -1), -1, 1)


def close(result, expected):
    is_single = expected.dtype in (np.float32, np.complex64)
    agree(result.to_device("cpu"), expected, rtol=1e-4 if is_single else 1e-12)


def numbers(seed, shape, dtype="float64"):
    return random(np.random.default_rng(seed), shape, dtype)


# Shapes of array and kernel, and options.
CASES = [
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
def test_is_what_numpy_computes(shape, kernel, options, dtype):
    a, b = numbers(1, shape, dtype), numbers(2, kernel, dtype)
    expected = by_numpy(a, b, **options)
    for x, y in zip(layouts_of(a), layouts_of(b), strict=True):
        close(xp.extra.conv(x, y, **options), expected)


@pytest.mark.parametrize("device", ["torch:cpu", "jax:cpu", "dask"])
def test_on_other_devices(device):
    # JAX compiles each operation for each shape.
    for shape, kernel, options in CASES[3:6] if device == "jax:cpu" else CASES[:9]:
        a, b = numbers(1, shape), numbers(2, kernel)
        result = xp.extra.conv(on(device, a), on(device, b), **options)
        assert str(result.device) == device
        close(result, by_numpy(a, b, **options))


@pytest.mark.parametrize("block", [1, 7, 50, 200, 1000])
def test_windows_are_made_a_block_at_a_time(block, monkeypatch):
    monkeypatch.setattr(convolution, "_BLOCK", block)
    monkeypatch.setattr(convolution, "_MOST_PRODUCTS", 0)
    for shape, kernel, options in CASES:
        a, b = numbers(1, shape), numbers(2, kernel)
        close(xp.extra.conv(xp.asarray(a), xp.asarray(b), **options), by_numpy(a, b, **options))


def test_dtypes_are_promoted():
    a, b = numbers(1, (1, 2, 5), "float32"), numbers(2, (2, 2, 2), "int32")
    close(xp.extra.conv(xp.asarray(a), xp.asarray(b)), by_numpy(a, b))


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
    sizes = [(5, (4, 2, 3, 3)), (8, (4, 2, 3, 3))]
    if device != "jax:cpu":
        sizes += [(8, (1, 2, 3, 3)), (6, (2, 2, 2, 1))]
    for size, kernel in sizes:
        a, b = numbers(1, (2, 2, size, size + 1)), numbers(2, kernel)
        close(compiled(on(device, a), on(device, b)), by_numpy(a, b, padding=1, stride=2))
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
    refused(error, words, xp.extra.conv, xp.ones(shape), xp.ones(kernel), **options)


@xp.config_context(operands="strict")
def test_refuses_what_is_no_number():
    with pytest.raises(TypeError, match="conv adds up numbers, not bool"):
        xp.extra.conv(xp.ones((1, 1, 3), dtype=bool), xp.ones((1, 1, 1), dtype=bool))
    with pytest.raises(TypeError, match="kernel must be an array_api_nx array"):
        xp.extra.conv(xp.ones((1, 1, 3)), np.ones((1, 1, 1)))


@needs_extension
@pytest.mark.parametrize(("outputs", "more"), [(1, 1_800_000), (2, 9_600_000)])
def test_all_windows_are_not_made(outputs, more):
    rows = DEFERRED // 480 + 1
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
    assert peak < 1.1 * x.nbytes + 1.5 * result.nbytes + more
