"""The device meta: shapes and dtypes of everything, elements of nothing."""

import copy
import gc
import sys
import tracemalloc

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.contract.errors import LimitError
from tests.support.refusals import refused
from tests.support.tables import for_each

X = np.arange(24.0).reshape(2, 3, 4)
M = np.random.default_rng(3).normal(size=(2, 3, 3))

CALLS = [
    lambda x, m: xp.sin(x) + 1,
    lambda x, m: x > 2,
    lambda x, m: x + 1j,
    lambda x, m: xp.where(x > 0, x, 0),
    lambda x, m: xp.clip(x, 0, 3),
    lambda x, m: xp.sum(x, axis=1, keepdims=True),
    lambda x, m: xp.mean(x, axis=(0, 2)),
    lambda x, m: xp.std(x),
    lambda x, m: xp.argmax(x, axis=2),
    lambda x, m: xp.cumulative_sum(x, axis=1, include_initial=True),
    lambda x, m: xp.sort(x, axis=0),
    lambda x, m: xp.argsort(x),
    lambda x, m: xp.searchsorted(x[0, 0, :], x),
    lambda x, m: x.mT[1:, ::2, None],
    lambda x, m: xp.reshape(xp.permute_dims(x, (2, 0, 1)), (4, -1)),
    lambda x, m: xp.broadcast_to(x[:, :1, :], (5, 2, 6, 4)),
    lambda x, m: xp.concat([x, x], axis=1),
    lambda x, m: xp.stack([x, x]),
    lambda x, m: xp.roll(x, 1),
    lambda x, m: xp.repeat(x, 3, axis=1),
    lambda x, m: xp.tile(x, (2, 1)),
    lambda x, m: xp.tril(x),
    lambda x, m: xp.astype(x, xp.int32),
    lambda x, m: x.view(xp.int32),
    lambda x, m: xp.take(x, xp.asarray([1, 0, 1], device=x.device), axis=1),
    lambda x, m: x[:, xp.asarray([[0, 1]], device=x.device), 1:],
    lambda x, m: xp.take_along_axis(x, xp.argsort(x, axis=1), axis=1),
    lambda x, m: x @ xp.ones((4, 5), device=x.device),
    lambda x, m: xp.vecdot(x, x),
    lambda x, m: xp.tensordot(x, x, axes=((1, 2), (1, 2))),
    lambda x, m: xp.fft.rfft(x, axis=1),
    lambda x, m: xp.fft.irfftn(xp.fft.rfftn(x)),
    lambda x, m: xp.linalg.svd(x, full_matrices=False),
    lambda x, m: xp.linalg.qr(x, mode="complete"),
    lambda x, m: xp.linalg.eigh(m),
    lambda x, m: xp.linalg.solve(m, m),
    lambda x, m: xp.linalg.inv(m),
    lambda x, m: xp.linalg.slogdet(m),
    lambda x, m: xp.linalg.matrix_norm(m),
    lambda x, m: xp.isin(x, x[0, 0, :]),
    lambda x, m: xp.special.gammaln(x),
    lambda x, m: xp.extra.median(x, axis=1),
    lambda x, m: xp.extra.nanmean(x, axis=0),
    lambda x, m: xp.extra.logsumexp(x, axis=-1),
    lambda x, m: xp.meshgrid(x[0, 0, :], x[0, :, 0]),
    lambda x, m: np.add(x, 1),
]


def described(result):
    results = result if isinstance(result, tuple | list) else [result]
    return [(x.shape, x.dtype) for x in results]


@for_each("call", CALLS)
def test_shapes_and_dtypes_are_those_of_the_cpu(call):
    expected = call(xp.asarray(X), xp.asarray(M))
    with xp.config_context(default_device="meta"):
        found = call(xp.asarray(X), xp.asarray(M))
    assert described(found) == described(expected)
    for x in found if isinstance(found, tuple | list) else [found]:
        assert str(x.device) == "meta"


@pytest.fixture
def x():
    return xp.ones((2, 3), device="meta")


@for_each(
    ("look", "words"),
    [
        (lambda x: bool(x[0, 0]), r"bool\(\) needs the value of an element, .*where\(condition"),
        (lambda x: bool(xp.any(x > 0)), r"bool\(\) needs"),
        (lambda x: float(x[0, 0]), r"float\(\) needs"),
        (lambda x: int(x[0, 0]), r"int\(\) needs"),
        (lambda x: complex(x[0, 0]), r"complex\(\) needs"),
        (lambda x: x[0, 0].item(), r"item\(\) needs"),
        (lambda x: range(xp.asarray(3, device="meta")), r"index\(\) needs"),
        (lambda x: 1.0 in x, r"in needs"),
        (lambda x: x.tolist(), r"tolist\(\) hands out the elements"),
        (lambda x: np.asarray(x), r"conversion to NumPy hands out"),
        (lambda x: np.from_dlpack(x), r"from_dlpack hands out"),
        (lambda x: x.to_device("cpu"), r"to_device\(\) hands out .* on cpu"),
        (lambda x: x[x > 0], r"an index gives a size that depends"),
    ],
)
def test_looks_at_elements_name_the_line(look, words, x):
    with pytest.raises(LimitError, match=rf"test_elementless.py:\d+: {words}") as caught:
        look(x)
    assert "arrays on device meta have a shape and a dtype, and no elements" in str(caught.value)


def test_a_bool_that_decides_is_found_where_it_stands(x):
    line = sys._getframe().f_lineno + 3
    with pytest.raises(LimitError) as caught:
        # The next line is the one that the error names.
        _ = 1 if x[0, 0] > 0 else 2
    assert f"test_elementless.py:{line}: bool() needs" in str(caught.value)


def test_writes_change_shapes_of_nothing(x):
    x[0, :] = 3.0
    x[x > 0] = 0.0
    x[xp.asarray([0, 1], device="meta"), 1] = xp.zeros(2, device="meta")
    x += 1
    x *= x
    assert x.shape == (2, 3)
    with pytest.raises(ValueError, match=r"shapes \(4,\), \(3,\) cannot be broadcast"):
        x[0, :] = xp.ones(4, device="meta")
    with pytest.raises(ValueError, match="cannot write"):
        xp.broadcast_to(x, (4, 2, 3))[0] = 1


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda x: x + xp.ones(4, device="meta"), ValueError),
        (lambda x: x @ x, ValueError),
        (lambda x: xp.sum(x, axis=2), IndexError),
        (lambda x: x[5], IndexError),
        (lambda x: xp.reshape(x, (4,)), ValueError),
        (lambda x: xp.concat([x, x[:, :2]]), ValueError),
        (lambda x: x & x, TypeError),
        (lambda x: xp.linalg.inv(x), ValueError),
        (lambda x: x + xp.ones((2, 3), device="cpu"), ValueError),
        (lambda x: xp.max(x[:0], axis=0), ValueError),
    ],
)
def test_errors_of_shapes_and_dtypes_are_those_of_the_cpu(call, error, x):
    with pytest.raises(error) as caught:
        call(x)
    assert not isinstance(caught.value, LimitError)


def test_arrays_print_without_elements(x):
    assert repr(x) == str(x) == "Array(shape=(2, 3), dtype=float64, device='meta')"


def test_views_know_their_memory(x):
    assert xp.asarray(x) is x
    assert copy.copy(x).shape == (2, 3)
    assert xp.asarray(x, copy=True).shape == (2, 3)
    refused(ValueError, "copy", xp.reshape, x.T, (6,), copy=False)


def test_arrays_of_other_devices_come_in_as_shapes():
    for given in (np.ones((3, 4), np.float32), xp.ones((3, 4), dtype=xp.float32), [[1.0] * 4] * 3):
        x = xp.asarray(given, device="meta", dtype=xp.float32)
        assert (x.shape, x.dtype) == ((3, 4), xp.float32)


def test_nothing_is_kept_of_what_was_computed():
    x = xp.ones((1000, 1000), device="meta")

    def steps(number):
        y = xp.asarray(x, copy=True)
        for _ in range(number):
            y = xp.sin(y) + xp.full((), 2.0, device="meta")
            y[0, 0] = 1.0
            y += xp.reshape(y.T, (1000, 1000))

    steps(10)
    gc.collect()
    tracemalloc.start()
    try:
        steps(10)
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        steps(300)
        gc.collect()
        after, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 20_000
    # No array of a million elements is ever made.
    assert peak < 1_000_000


def test_compiled_functions_and_shapes(x):
    outside = xp.ones(3, device="meta")

    def function(a):
        b = xp.reshape(a.T, (-1,)) * 2
        b[0] = 1.0
        return xp.sum(a + outside, axis=0) + b[:3]

    compiled = xp.compile(function)
    for rows in (2, 5, 2):
        found = compiled(xp.ones((rows, 3), device="meta"))
        assert (found.shape, str(found.device)) == ((3,), "meta")
    spec = xp.ShapeSpec(("n", 3), xp.float32, "meta")
    assert xp.eval_shape(lambda a: a.T @ a, spec).shape == (3, 3)
    assert not x.device.backend.has_elements(x._handle)


def test_is_lazy_array():
    compat = pytest.importorskip("array_api_compat")
    assert compat.is_lazy_array(xp.ones(3, device="meta"))
    assert compat.size(xp.ones(3, device="meta")) == 3
