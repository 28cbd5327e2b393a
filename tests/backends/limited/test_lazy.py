"""Devices whose elements are computed when they are needed."""

import gc
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.backends.limited import lazy
from tests.support.refusals import refused

DEVICE = "test:lazy"


@pytest.fixture
def evaluations(monkeypatch):
    """The reports of evaluations."""
    found = []
    monkeypatch.setattr(lazy, "evaluated", lambda device, why: found.append((device, why)))
    return found


def test_nothing_is_computed_before_somebody_asks(evaluations):
    x = xp.arange(12.0, device=DEVICE)
    y = xp.reshape(xp.sin(x), (3, 4)).T @ xp.ones((3, 2), device=DEVICE)
    y[0, :] = 5.0
    y += 1
    z = xp.where(y > 1, y, 0)[xp.argsort(y[:, 0])]
    assert (z.shape, z.dtype, evaluations) == ((4, 2), xp.float64, [])
    assert xp.explain(z).pending
    assert float(xp.max(z)) == 6.0
    assert evaluations == [(DEVICE, "an element was asked for")]


@pytest.mark.parametrize(
    "ask",
    [
        lambda x: bool(x[0]),
        lambda x: float(x[0]),
        lambda x: int(x[0]),
        lambda x: complex(x[0]),
        lambda x: x[1].item(),
        lambda x: x.tolist(),
        lambda x: np.asarray(x),
        lambda x: np.from_dlpack(x),
        lambda x: memoryview(np.asarray(x)),
        lambda x: repr(x),
        lambda x: x.to_device("cpu"),
        lambda x: pickle.dumps(x),
        lambda x: x[x > 1],
        lambda x: xp.nonzero(x),
        lambda x: xp.unique_values(x),
        lambda x: xp.unique_all(x),
        lambda x: xp.evaluate(x),
        lambda x: 2.0 in x,
    ],
)
def test_what_asks(ask, evaluations):
    x = xp.arange(4.0, device=DEVICE) + 1
    assert evaluations == []
    ask(x)
    assert evaluations
    assert {device for device, _ in evaluations} == {DEVICE}


def test_what_is_computed_is_not_computed_again(evaluations):
    x = xp.arange(4.0, device=DEVICE) + 1
    xp.evaluate(x)
    assert len(evaluations) == 1
    assert not xp.explain(x).pending
    assert x.tolist() == [1, 2, 3, 4]
    assert float(x[1:][0]) == 2.0
    assert len(evaluations) == 1
    assert float(xp.sum(x)) == 10.0
    assert len(evaluations) == 2


def test_index_arrays_and_counts_that_are_known_ask_for_nothing(evaluations):
    x = xp.arange(4.0, device=DEVICE)
    results = (
        xp.take(x, xp.asarray([0, 1], device=DEVICE)),
        x[xp.argsort(x)],
        xp.repeat(x, 2),
        xp.where(x > 1, x, 0),
    )
    x[x > 1] = 0.0
    assert evaluations == []
    assert [y.tolist() for y in (*results, x)] == [
        [0, 1], [0, 1, 2, 3], [0, 0, 1, 1, 2, 2, 3, 3], [0, 0, 2, 3], [0, 1, 0, 0]
    ]  # fmt: skip


def test_repeats_of_each_element():
    x = xp.asarray([[1, 2, 3], [4, 5, 6]], device=DEVICE)
    found = xp.repeat(x, xp.asarray([2, 0, 1], device=DEVICE), axis=1)
    assert found.tolist() == [[1, 1, 3], [4, 4, 6]]


def test_views_share_memory():
    x = xp.zeros((3, 4), device=DEVICE)
    row, flat, turned = x[1, :], xp.reshape(x, (-1,)), x.T
    before = x + 0
    row[:] = 1.0
    flat[0] = 5.0
    turned[3, 2] = 7.0
    expected = np.zeros((3, 4))
    expected[1], expected[0, 0], expected[2, 3] = 1, 5, 7
    for view, oracle in ((x, expected), (flat, expected.ravel()), (turned, expected.T)):
        np.testing.assert_array_equal(np.asarray(view), oracle)
    assert not np.asarray(before).any()


def test_the_host_shares_nothing():
    values = np.ones(3)
    x = xp.asarray(values, device=DEVICE)
    values[0] = 5
    np.asarray(x)[1] = 5
    assert x.tolist() == [1, 1, 1]


def test_errors_that_depend_on_elements_come_with_them():
    singular = xp.linalg.inv(xp.zeros((2, 2), device=DEVICE))
    for _ in range(2):
        refused(np.linalg.LinAlgError, None, singular.tolist)
    outside = xp.take(xp.ones(3, device=DEVICE), xp.asarray([7], device=DEVICE))
    refused(IndexError, None, xp.evaluate, outside)
    with pytest.raises(ValueError, match="negative integer powers"):
        xp.asarray([2], device=DEVICE) ** xp.asarray([-1], device=DEVICE)


def test_a_write_that_fails_writes_nothing():
    x = xp.zeros(3, device=DEVICE)
    x[xp.asarray([7], device=DEVICE)] = 1.0
    refused(IndexError, None, x.tolist)
    x[0] = 2.0
    assert x.tolist() == [2, 0, 0]


def test_errstate_is_that_of_the_operation():
    x = xp.zeros(2, device=DEVICE)
    with np.errstate(divide="ignore", invalid="ignore"):
        quiet = x / x
    loud = 1 / x
    assert np.isnan(np.asarray(quiet)).all()
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        np.asarray(loud)


@pytest.mark.parametrize("device", [DEVICE, "meta"])
def test_random_numbers_are_drawn(device):
    with xp.config_context(default_device=device):
        x = xp.random.default_rng(1).normal(size=(3, 2))
    assert (str(x.device), x.shape, x.dtype) == (device, (3, 2), xp.float64)
    if device == DEVICE:
        assert x.tolist() == xp.random.default_rng(1).normal(size=(3, 2)).tolist()


def test_long_chains_are_computed_without_recursion():
    x = xp.zeros(2, device=DEVICE)
    for _ in range(5_000):
        x = x + 1
    assert x.tolist() == [5_000, 5_000]
    for _ in range(5_000):
        x = x + 1
    del x
    gc.collect()


def test_operands_are_dropped_when_they_were_read():
    x = xp.ones(10, device=DEVICE) + 1
    y = x * 2
    call = y._handle.memory.value.call
    assert call.arguments
    xp.evaluate(y)
    assert (call.arguments, call.keywords) == ((), {})


def test_threads_compute_what_they_share_once(evaluations):
    x = xp.ones((50, 50), device=DEVICE)
    for _ in range(20):
        x = x @ x / 50
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda i: float(x[i, i]), range(40)))
    assert found == pytest.approx([1.0] * 40)


def test_whether_an_array_is_lazy(evaluations):
    compat = pytest.importorskip("array_api_compat")
    x = xp.ones((2, 3), device=DEVICE)
    assert compat.is_lazy_array(x)
    assert compat.is_lazy_array(x[0, 0])
    assert not compat.is_lazy_array(xp.ones(3, device="test:immutable"))
    assert evaluations == []


def test_lazy_apply(evaluations):
    xpx = pytest.importorskip("array_api_extra")
    x = xp.asarray([3.0, 1.0, 2.0], device=DEVICE) * 2

    def on_numpy(a):
        assert type(a) is np.ndarray
        return np.sort(a)

    found = xpx.lazy_apply(on_numpy, x, as_numpy=True)
    assert str(found.device) == DEVICE
    assert found.tolist() == [2, 4, 6]
    assert len(evaluations) == 1
    assert xpx.at(x)[1].set(7.0).tolist() == [6, 7, 4]


def test_scipy_computes_on_it():
    special = pytest.importorskip("scipy.special")
    x = xp.asarray([0.5, 1.5], device=DEVICE)
    np.testing.assert_allclose(np.asarray(xp.special.erf(x)), special.erf([0.5, 1.5]))
