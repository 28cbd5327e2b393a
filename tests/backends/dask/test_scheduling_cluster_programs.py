"""Whole programs on a cluster of two processes: with the bits that threads give here."""

import os
import re
import signal
from threading import Thread

import dask
import numpy as np
import pytest
from dask.utils import key_split

import array_api_nx as xp
from tests.backends.dask.cluster import two_workers

distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")

DEVICE = "dask:chunks=1MiB"
ROWS, COLUMNS = 100_000, 20


def data(rows=ROWS):
    """16 MB in 16 chunks of rows."""
    return xp.random.default_rng(7, device=DEVICE).standard_normal((rows, COLUMNS))


def standardised(x):
    return (x - xp.mean(x, axis=0)) / xp.std(x, axis=0)


def covariance(x):
    z = standardised(x)
    return z.T @ z / x.shape[0]


def components(x):
    return xp.linalg.eigh(covariance(x))[1]


def components_of_rows(x):
    return xp.linalg.svd(standardised(x), full_matrices=False)[2]


def moved_centres(x):
    """A step of Lloyd's iteration."""
    centres = x[:5, :]
    distances = xp.sum((x[:, None, :] - centres[None, :, :]) ** 2, axis=-1)
    nearest = xp.argmin(distances, axis=1)
    belongs = xp.astype(nearest[:, None] == xp.arange(5, device=x.device), x.dtype)
    return belongs.T @ x / xp.sum(belongs, axis=0)[:, None]


def masked_sum(x):
    return xp.sum(x[x > 1] * 2 + 1)


def mean_of_rows(x):
    return xp.mean(x[x[:, 0] > 0, :], axis=0)


def histogram(x):
    bins = xp.astype(xp.floor(xp.clip((x + 4) * 8, 0, 63)), xp.int64)
    return xp.bincount(xp.reshape(bins, (-1,)), minlength=64)


def sorted_columns(x):
    return xp.sort(x, axis=0)


def drawn(x):
    return (
        xp.random.default_rng(3, device=x.device).normal(0.5, 2.0, size=(x.shape[0], 3)) + x[:, :3]
    )


def across(x):
    """Sums and products of arrays that are neither row-major nor column-major."""
    y = xp.permute_dims(xp.reshape(x, (-1, 50, COLUMNS)), (1, 2, 0))[::2, 1:, :]
    return xp.sum(y, axis=(0, 2)) + xp.var(y) + y[3, :, :] @ y[4, :, :].T @ y[3, :, 0]


def scanned(x):
    return xp.cumulative_sum(x, axis=0)[:: ROWS // 10, :]


PROGRAMS = [
    *[standardised, covariance, components, components_of_rows, moved_centres, masked_sum],
    *[mean_of_rows, histogram, sorted_columns, drawn, across, scanned],
]


def on_threads(program, rows=ROWS):
    with dask.config.set(scheduler="threads"):
        return np.asarray(program(data(rows)))


def assert_same_bits(found, expected):
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


@pytest.fixture(scope="module")
def client():
    with two_workers() as client:
        yield client


@pytest.fixture(autouse=True)
def on_the_cluster(in_order):
    with dask.config.set(scheduler=None):
        yield


@pytest.mark.parametrize("program", PROGRAMS)
def test_results_are_those_of_threads_bit_for_bit(client, program):
    expected = on_threads(program)
    with client.as_current():
        assert_same_bits(np.asarray(program(data())), expected)


def test_chunks_that_travelled_are_summed_and_multiplied_as_where_they_were_made(client):
    def received(dask_worker):
        return len(dask_worker.transfer_incoming_log)

    y = xp.permute_dims(xp.reshape(data(), (-1, 50, COLUMNS)), (1, 2, 0))[::2, 1:, :] + 0
    programs = [
        lambda y: xp.sum(y * 2, axis=(0, 2)),
        xp.var,
        lambda y: xp.mean(y[::-1, :, ::3]),
        lambda y: xp.matmul(y, y[:, :1, :].mT),
    ]
    with dask.config.set(scheduler="threads"):
        expected = [np.asarray(program(y)) for program in programs]
    with client.as_current():
        # Held by the first worker alone: the second has to fetch its operands.
        first, second = client.run(os.getpid)
        with dask.annotate(workers=[first], allow_other_workers=False):
            xp.evaluate(y)
        before = sum(client.run(received).values())
        for program, bits in zip(programs, expected, strict=True):
            with dask.annotate(workers=[second], allow_other_workers=False):
                assert_same_bits(np.asarray(program(y)), bits)
        assert sum(client.run(received).values()) > before


def test_a_worker_that_is_killed_while_a_program_runs_changes_no_bit(client):
    def program(x):
        return xp.sum(xp.sort(standardised(x), axis=0)[::7, :], axis=0)

    def finished(dask_scheduler):
        return sum([task.state == "memory" for task in dask_scheduler.tasks.values()])

    rows = 4 * ROWS
    expected = on_threads(program, rows)
    with client.as_current():
        client.wait_for_workers(2)
        victim = next(iter(client.run(os.getpid).values()))
        result = program(data(rows))
        found = []

        def compute():
            with client.as_current():
                found.append(np.asarray(result))

        running = Thread(target=compute)
        running.start()
        while running.is_alive() and client.run_on_scheduler(finished) < 8:
            pass
        assert running.is_alive(), "too soon over for anybody to be killed meanwhile"
        os.kill(victim, signal.SIGKILL)
        running.join()
        assert_same_bits(found[0], expected)
        client.wait_for_workers(2)
        assert victim not in client.run(os.getpid).values()


def test_workers_short_of_memory_spill_and_end():
    def spilled(dask_worker):
        return int(dask_worker.data.spilled_total.disk)

    def program(x):
        return xp.sum(x, axis=0) + xp.max(x)

    rows = 30 * ROWS  # 480 MB
    expected = on_threads(program, rows)
    # The two workers together keep 360 MiB of results in memory: not all chunks of `x`, whatever
    # memory their processes take besides.
    memory = {"distributed.worker.memory.target": 0.3, "distributed.worker.memory.spill": False}
    with dask.config.set(memory), two_workers("600MiB") as client:
        x = data(rows) * 1
        xp.evaluate(x)
        assert_same_bits(np.asarray(program(x)), expected)
        assert sum(client.run(spilled).values()) > 0


def test_a_dashboard_shows_names_of_operations(client):
    names = set()
    with client.as_current():
        for program in PROGRAMS:
            with distributed.get_task_stream(client) as stream:
                np.asarray(program(data(ROWS // 10)))
            names |= {key_split(task["key"]) for task in stream.data}
    assert names
    assert not [name for name in names if re.search("[0-9a-f]{6}", name)]
    for word in ("draw", "moments", "matmul", "eigh", "sort", "bincount", "argmin"):
        assert any([word in name.split("-") for name in names]), (word, names)
