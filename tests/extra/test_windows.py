"""Sliding windows of an array, and functions of them."""

import tracemalloc
from itertools import product

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import array_api_nx as xp
from tests.extra import everywhere
from tests.extra.everywhere import layouts_of, on, refuses
from tests.support.programs import needs_extension
from tests.support.refusals import refused
from tests.support.tables import for_each

DEVICES = ["cpu", *everywhere.DEVICES]


def check(result, expected):
    """That `result` is `expected`, floats to rounding."""
    found = np.asarray(result.to_device("cpu"))
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-5 if found.dtype == np.float32 else 1e-13)


def test_windows_and_back():
    x = xp.reshape(xp.arange(24, dtype=xp.float64), (2, 3, 4))
    windows = xp.extra.unfold(x, (2, 3), stride=(1, 2), padding=((0, 1), (1, 1)))
    padded = np.pad(np.asarray(x), ((0, 0), (0, 1), (1, 1)))
    seen = sliding_window_view(padded, (2, 3), axis=(1, 2))[:, :, ::2]
    expected = seen.reshape(2, 6, 6).transpose(0, 2, 1)
    assert np.array_equal(np.asarray(windows), expected)
    ones = xp.extra.unfold(xp.ones((3, 4)), (2, 3), stride=(1, 2), padding=((0, 1), (1, 1)))
    count = xp.extra.fold(ones, (3, 4), (2, 3), stride=(1, 2), padding=((0, 1), (1, 1)))
    back = xp.extra.fold(windows, (3, 4), (2, 3), stride=(1, 2), padding=((0, 1), (1, 1)))
    assert np.array_equal(np.asarray(back), np.asarray(x * count))
    assert np.asarray(xp.extra.unfold(xp.asarray([1, 2, 3]), 2)).tolist() == [[1, 2], [2, 3]]


test_windows_refuse = refuses(
    [
        (lambda x: xp.extra.unfold(x, (1, 1, 1)), ValueError, "too few axes for windows of 3"),
        (lambda x: xp.extra.unfold(x, 4), ValueError, r"no window of kernel_size \(4,\)"),
        (lambda x: xp.extra.unfold(x, 0), ValueError, "kernel_size is 0, but must be"),
        (lambda x: xp.extra.unfold(x, 2, stride=(1, 1)), ValueError, r"stride is \(1, 1\)"),
        (lambda x: xp.extra.unfold(x, 2, dilation=1.0), TypeError, "dilation must be an int"),
        (lambda x: xp.extra.fold(x, 5, 2), ValueError, r"does not hold the windows"),
        (lambda x: xp.extra.fold(x > 0, 4, 2), TypeError, "fold adds up numbers, not bool"),
    ],
    lambda: xp.ones((2, 3)),
)


SLIDING = [
    ((7,), 3, None),
    ((7,), (7,), 0),
    ((3, 4, 5), (2, 1, 3), None),
    ((3, 4, 5), 2, 1),
    ((3, 4, 5), (2, 4), (-1, 1)),
    ((3, 4, 5), (2, 3), (2, 2)),
    ((0, 4), 2, 1),
    ((3, 4), (), ()),
]


@pytest.mark.parametrize("device", DEVICES)
@for_each(("shape", "size", "axis"), SLIDING)
def test_sliding_window_view(device, shape, size, axis):
    values = np.arange(np.prod(shape)).reshape(shape)
    expected = sliding_window_view(values, size, axis)
    check(xp.extra.sliding_window_view(on(device, values), size, axis), expected)
    backwards = on(device, values)[::-1]
    check(
        xp.extra.sliding_window_view(backwards, size, axis=axis),
        sliding_window_view(values[::-1], size, axis),
    )


@pytest.mark.parametrize("device", ["cpu", "torch:cpu"])
def test_sliding_windows_are_a_view_that_is_read_only(device):
    x = on(device, np.arange(6.0))
    seen = xp.extra.sliding_window_view(x[1:], 2)
    x[2] = 9.0
    check(seen, np.array([[1.0, 9.0], [9.0, 3.0], [3.0, 4.0], [4.0, 5.0]]))
    with pytest.raises(ValueError, match="cannot write"):
        seen[0, 0] = 1.0
    with pytest.raises(ValueError, match="cannot write"):
        seen[0] += 1.0
    with pytest.raises(ValueError, match="cannot write"):
        xp.extra.sliding_window_view(x, 6)[...] = 1.0


def test_windows_of_a_large_array_take_no_memory():
    x = xp.asarray(np.ones(2_000_000), copy=True)
    tracemalloc.start()
    seen = xp.extra.sliding_window_view(x, 1000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert seen.shape == (1_999_001, 1000)
    assert peak < 100_000


@pytest.mark.parametrize("device", DEVICES)
def test_sliding_windows_in_compiled_functions(device):
    @xp.compile
    def moving(x):
        return xp.sum(xp.extra.sliding_window_view(x, 3, axis=0), axis=-1)

    for size in (5, 9):
        values = np.arange(2.0 * size).reshape(size, 2)
        expected = sliding_window_view(values, 3, axis=0).sum(-1)
        check(moving(on(device, values)), expected)
        check(moving(on(device, values.T.copy()).T), expected)
    assert xp.eval_shape(moving, xp.ones((8, 2))).shape == (6, 2)


@pytest.mark.parametrize(
    ("size", "axis", "error", "words"),
    [
        (2, None, ValueError, "not a size for each of 2 axes"),
        ((2, 2), 1, ValueError, "not a size for each of 1 axes"),
        ((2, 4), None, ValueError, r"no window of shape \(2, 4\) over axes \(0, 1\) fits"),
        ((2, 3), (1, 1), ValueError, "no window"),
        (0, 0, ValueError, "window_shape is 0"),
        (1.5, 0, TypeError, "window_shape must be an int"),
        (2, 2, IndexError, "axis 2"),
    ],
)
def test_sliding_windows_refuse(size, axis, error, words):
    refused(error, words, xp.extra.sliding_window_view, xp.ones((2, 3)), size, axis)


# Shape, kernel_size, and options that both kinds of pooling take.
POOLS = [
    ((9,), 2, {}),
    ((2, 9), 3, {"stride": 2, "padding": 1}),
    ((2, 9), 3, {"stride": 1, "padding": (0, 2)}),
    ((2, 3, 6, 5), (2, 2), {}),
    ((2, 6, 5), (3, 2), {"stride": (1, 2), "padding": ((1, 2), (0, 1))}),
    ((1, 2, 8, 7), (4, 3), {"stride": 1, "padding": 1}),
    ((2, 5, 4, 6), (2, 3, 2), {"stride": (2, 1, 1), "padding": 1}),
    ((2, 5), 1, {}),
    ((2, 5), 1, {"stride": 2}),
    ((0, 5, 5), (2, 2), {"padding": 1}),
]


def pooled(x, size, options, kind):
    """What pooling is, by NumPy's sliding windows; `kind` is "max", "mean" or "inside"."""
    size = size if isinstance(size, tuple) else (size,)
    ndim = len(size)
    stride, spread = options.get("stride", size), options.get("dilation", 1)
    steps = [one if isinstance(one, tuple) else (one,) * ndim for one in (stride, spread)]
    padding = options.get("padding", 0)
    pairs = [padding] * ndim if isinstance(padding, int) else padding
    pairs = [pairs] * ndim if isinstance(padding, tuple) and isinstance(pairs[0], int) else pairs
    reach = [(k - 1) * d + 1 for k, d in zip(size, steps[1], strict=True)]

    def windows(values, fill):
        pads = [(0, 0)] * (x.ndim - ndim) + [p if isinstance(p, tuple) else (p, p) for p in pairs]
        padded = np.pad(values.astype(float), pads, constant_values=fill)
        seen = sliding_window_view(padded, reach, tuple(range(-ndim, 0)))
        return seen[..., *[slice(None, None, step) for step in (*steps[0], *steps[1])]]

    axes = tuple(range(-ndim, 0))
    if kind == "max":
        return windows(x, -np.inf).max(axes).astype(x.dtype)
    count = windows(np.ones(x.shape), 0).sum(axes) if kind == "inside" else np.prod(size)
    return (windows(x, 0).sum(axes) / count).astype(np.mean(np.ones(1, x.dtype)).dtype)


def numbers(shape, dtype):
    values = 20 * np.random.default_rng(0).normal(size=shape)
    return (np.abs(values) if dtype == "uint8" else values).astype(dtype)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8"])
@for_each(("shape", "size", "options"), POOLS)
def test_pooling_is_what_numpy_computes(shape, size, options, dtype):
    values = numbers(shape, dtype)
    expected = [pooled(values, size, options, kind) for kind in ("max", "mean", "inside")]
    if dtype == "float32":
        expected[1:] = [each.astype(dtype) for each in expected[1:]]
    for x in layouts_of(values):
        found = [
            xp.extra.max_pool(x, size, **options),
            xp.extra.mean_pool(x, size, **options),
            xp.extra.mean_pool(x, size, count_include_pad=False, **options),
        ]
        for result, wanted in zip(found, expected, strict=True):
            check(result, wanted)
            result[...] = 0  # which is memory of its own
        check(x, values)


@pytest.mark.parametrize("device", DEVICES)
def test_pooling_on_every_device(device):
    # JAX compiles each operation for each shape.
    for shape, size, options in POOLS[1:4] if device == "jax:cpu" else POOLS:
        values = numbers(shape, "float64")
        x = on(device, values)
        check(xp.extra.max_pool(x, size, **options), pooled(values, size, options, "max"))
        found = xp.extra.mean_pool(x, size, count_include_pad=False, **options)
        assert str(found.device) == device
        check(found, pooled(values, size, options, "inside"))


@pytest.mark.parametrize("dilation", [2, (1, 3)])
def test_dilated_windows(dilation):
    values = numbers((2, 9, 10), "float64")
    for size in ((2, 3), (4, 3)):
        options = {"dilation": dilation, "stride": (1, 2), "padding": (1, 0)}
        expected = pooled(values, size, options, "max")
        check(xp.extra.max_pool(xp.asarray(values), size, **options), expected)


def test_pooling_propagates_nan_and_infinity():
    values = np.arange(16.0).reshape(4, 4)
    values[1, 1], values[2, 3], values[0, 3] = np.nan, -np.inf, np.inf
    for size in ((2, 2), (3, 3), (4, 3)):
        options = {"stride": 1}
        check(
            xp.extra.max_pool(xp.asarray(values), size, **options),
            pooled(values, size, options, "max"),
        )
        check(
            xp.extra.mean_pool(xp.asarray(values), size, **options),
            pooled(values, size, options, "mean"),
        )
    lowest = xp.asarray(np.full((2, 3), -np.inf))
    check(xp.extra.max_pool(lowest, (2, 2), padding=1), np.full((2, 2), -np.inf))


def test_pooling_of_truth():
    x = xp.asarray([True, False, True, True, False, False])
    check(xp.extra.mean_pool(x, 2), np.array([0.5, 1.0, 0.0]))
    check(xp.extra.max_pool(x, 2), np.array([True, True, False]))
    check(xp.extra.max_pool(x, 2, padding=1), np.array([True, True, True, False]))


@pytest.mark.parametrize("ndim", [1, 2, 3])
def test_pooling_is_what_pytorch_computes(ndim):
    torch = pytest.importorskip("torch")
    functional = torch.nn.functional
    most = getattr(functional, f"max_pool{ndim}d")
    mean = getattr(functional, f"avg_pool{ndim}d")
    values = numbers((2, 3, 9, 8, 7)[: 2 + ndim], "float32")
    x, tensor = xp.asarray(values), torch.asarray(values)
    for length, stride, padding in product((2, 3, 5), (None, 1, 2), (0, 1)):
        size = (length,) * ndim
        for dilation in (1, 2) if length == 2 else (1,):
            expected = most(tensor, size, stride, padding, dilation).numpy()
            found = xp.extra.max_pool(x, size, stride=stride, padding=padding, dilation=dilation)
            check(found, expected)
        for count in (True, False):
            expected = mean(tensor, size, stride, padding, count_include_pad=count).numpy()
            found = xp.extra.mean_pool(
                x, size, stride=stride, padding=padding, count_include_pad=count
            )
            np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("device", DEVICES)
def test_pooling_in_compiled_functions(device):
    @xp.compile
    def both(x):
        options = {"stride": 2, "padding": 1}
        return (
            xp.extra.max_pool(x, (3, 2), **options),
            xp.extra.mean_pool(x, (3, 2), count_include_pad=False, **options),
        )

    for size in (4, 7) if device == "jax:cpu" else (4, 7, 9):
        values = numbers((2, size, size + 1), "float64")
        most, mean = both(on(device, values))
        check(most, pooled(values, (3, 2), {"stride": 2, "padding": 1}, "max"))
        check(mean, pooled(values, (3, 2), {"stride": 2, "padding": 1}, "inside"))
    specs = xp.eval_shape(both, xp.ones((5, 8, 8), dtype=xp.float32))
    assert [(spec.shape, spec.dtype) for spec in specs] == [((5, 4, 5), xp.float32)] * 2


@needs_extension
@pytest.mark.parametrize(("size", "stride"), [((2, 2), None), ((3, 3), 4), ((3, 3), 1)])
def test_the_windows_are_not_made(size, stride):
    x = xp.asarray(np.ones((2000, 1000)), copy=True)
    for pool in (xp.extra.max_pool, xp.extra.mean_pool):
        tracemalloc.start()
        result = pool(x, size, stride=stride, padding=1)
        xp.evaluate(result)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert float(result[1, 1]) == 1
        assert peak < 1.1 * x.nbytes + 1.5 * result.nbytes


@pytest.mark.parametrize("name", ["max_pool", "mean_pool"])
@pytest.mark.parametrize(
    ("size", "options", "words"),
    [
        ((1, 1, 1), {}, "too few axes for windows of 3"),
        (4, {}, r"no window of kernel_size \(4,\)"),
        (2, {"padding": 2}, r"windows of kernel_size \(2,\).*would lie in the padding alone"),
        (2, {"stride": 0}, "stride is 0"),
        (2, {"padding": -1}, "must not be negative"),
    ],
)
def test_pooling_refuses(name, size, options, words):
    refused(ValueError, words, getattr(xp.extra, name), xp.ones((2, 3)), size, **options)


def test_pooling_refuses_what_has_no_order():
    with pytest.raises(TypeError, match="not complex128; convert with astype"):
        xp.extra.max_pool(xp.ones((2, 3), dtype=xp.complex128), 2)


def test_windows_are_found_where_numpy_has_them():
    assert xp.lib.stride_tricks.sliding_window_view is xp.extra.sliding_window_view
    assert xp.cross is xp.linalg.cross
    with xp.config_context(extras=False):
        assert not hasattr(xp, "lib")
