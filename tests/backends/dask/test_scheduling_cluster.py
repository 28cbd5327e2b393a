"""Dask on a cluster of two processes on this machine."""

import os
import signal
from types import SimpleNamespace

import dask
import numpy as np
import pytest

import array_api_nx as xp
from tests.backends.dask.cluster import two_workers
from tests.backends.dask.formulas import FORMULAS, assert_alike
from tests.backends.dask.programs import SMALL, assert_equal, numbers, on_dask
from tests.support.refusals import refused
from tests.support.tables import for_each

distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")


@pytest.fixture(scope="module")
def client():
    # The workers defer operations on small chunks, as on large ones.
    with two_workers(ARRAY_API_NX_FUSION_THRESHOLD="0") as client:
        yield client


@pytest.fixture(autouse=True)
def on_the_cluster(client, in_order):
    with dask.config.set(scheduler=None), client.as_current():
        yield


def test_the_active_client_computes(client):
    assert SMALL.backend.runtime_info()["scheduler"] == client.scheduler.address
    x = on_dask(numbers(30, 4))
    z = (x - xp.mean(x, axis=0)) / xp.std(x, axis=0)
    a = numbers(30, 4)
    assert_equal(z, (a - a.mean(axis=0)) / a.std(axis=0))
    assert_equal(xp.linalg.svdvals(z), np.linalg.svd(np.asarray(z), compute_uv=False))
    assert_equal(x[x > 3], a[a > 3])
    assert_equal(xp.unique_values(x), np.unique(a))


def test_chunks_travel_between_workers(client):
    a = numbers(200)
    x = on_dask(a) + 0
    xp.evaluate(x)

    for name in FORMULAS:
        assert_alike(name, x, xp.asarray(a))


@for_each("n", [1, 10, 100, 1000])
def test_statistics_of_columns_of_any_length(client, n):
    x = xp.random.default_rng(0, device="dask:chunks=4kB").standard_normal((n, 10))
    y = xp.random.default_rng(0).standard_normal((n, 10))
    formulas = [
        lambda x: xp.max((x - xp.mean(x, axis=0)) / (xp.std(x, axis=0) + 1)),
        lambda x: xp.sum((x - xp.mean(x, axis=0)) ** 2),
        lambda x: xp.sum(x * x, axis=0),
    ]
    for formula in formulas:
        np.testing.assert_allclose(np.asarray(formula(x)), np.asarray(formula(y)), rtol=1e-9)


def test_evaluate_keeps_chunks_on_the_workers(client):
    x = on_dask(numbers(40, 10)) * 2
    xp.evaluate(x)
    assert not xp.explain(x).pending
    chunks = x._device.backend.array(x._handle)
    held = client.who_has(distributed.futures_of(chunks))
    assert len(held) == chunks.npartitions
    assert_equal(x, numbers(40, 10) * 2)


def test_a_worker_that_dies_loses_nothing(client):
    x = on_dask(numbers(40, 10)) * 2
    xp.evaluate(x)
    y = xp.cumulative_sum(x, axis=0)
    victim = next(iter(client.run(os.getpid).values()))
    os.kill(victim, signal.SIGKILL)
    assert_equal(y, (numbers(40, 10) * 2).cumsum(axis=0))
    assert_equal(x, numbers(40, 10) * 2)
    client.wait_for_workers(2)
    assert victim not in client.run(os.getpid).values()


def test_a_progress_bar_when_asked(capsys):
    device = xp.Device("dask", chunks=200, progress=True)
    xp.evaluate(xp.sum(xp.ones((5, 5), device=device)))
    assert "Completed" in capsys.readouterr().out


def test_what_a_cluster_held_goes_with_it_and_nothing_else(client):
    x = on_dask(numbers(40, 10))
    y = x * 2
    with (
        distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=None) as cluster,
        distributed.Client(cluster),
    ):
        xp.evaluate(y)
    gone = r"device dask failed: .* gone with it; make"
    for ask in (np.asarray, lambda x: float(xp.sum(x)), lambda x: bool(xp.any(x + 1))):
        refused(RuntimeError, gone, ask, y)
    with dask.config.set(scheduler="threads"), pytest.raises(RuntimeError, match=gone):
        float(xp.sum(y))
    assert_equal(x, numbers(40, 10))


def test_a_program_that_was_written_beside_a_cluster_runs_without_it(client):
    x = xp.random.default_rng(0, device="dask:chunks=8kB").standard_normal((500, 100))
    y = xp.sort(x, axis=0) + xp.reshape(xp.sort(x, axis=1), (500, 100))[::-1, :]
    with dask.config.set(scheduler="threads"):
        expected = np.sort(np.asarray(x), axis=0) + np.sort(np.asarray(x), axis=1)[::-1]
        np.testing.assert_array_equal(np.asarray(y), expected)


def test_a_task_that_ends_its_workers_is_an_error_that_names_the_device(client):
    from distributed.scheduler import KilledWorker

    from array_api_nx.backends.dask import scheduling

    last = SimpleNamespace(address="tcp://worker")
    killed = r"device dask failed: Attempted .* smaller chunks"
    with pytest.raises(RuntimeError, match=killed), scheduling._explaining():
        raise KilledWorker("task", last, 3)
