"""The order in which tasks run in this process, and on how many threads."""

import dask
import numpy as np
import pytest
from dask.callbacks import Callback
from dask.local import get_sync

import array_api_nx as xp
from array_api_nx.backends.dask.scheduling import _InOrder
from tests.backends.dask.programs import on_dask


class Held(Callback):  # Dask is untyped
    """The largest number of chunks that were held at a time."""

    def __init__(self):
        self.most = 0
        super().__init__(posttask=self._posttask)

    def _posttask(self, key, result, graph, state, worker):
        held = [key for key in state["cache"] if key.startswith("chunk")]
        self.most = max(self.most, len(held))


def centred(n):
    """Chunks that wait for a mean, and readers that wait for something else as well."""
    graph = {"mean": (sum, [1, 2]), "other": (sum, [1])}
    for i in range(n):
        graph[f"chunk{i}"] = (abs, "mean")
        graph[f"result{i}"] = (max, f"chunk{i}", "other")
    graph["total"] = (sum, [f"result{i}" for i in range(n)])
    return graph


def test_chunks_are_used_as_soon_as_they_are_made():
    with Held() as unordered:
        assert get_sync(centred(20), "total") == 60
    with Held() as ordered, _InOrder():
        assert get_sync(centred(20), "total") == 60
    assert unordered.most == 20
    assert ordered.most == 1


@pytest.mark.parametrize("rows", [3, 100])
def test_tasks_have_a_blas_thread_each_and_one_alone_has_no_more(monkeypatch, rows):
    threadpoolctl = pytest.importorskip("threadpoolctl")

    def threads():
        found = threadpoolctl.ThreadpoolController().select(user_api="blas").info()
        # Our own kernels count as BLAS, and have a limit of their own.
        return {each["num_threads"] for each in found if each["internal_api"] != "array_api_nx"}

    seen = []
    qr = np.linalg.qr

    def watched(*arguments, **options):
        seen.append(threads())
        return qr(*arguments, **options)

    monkeypatch.setattr(np.linalg, "qr", watched)
    before = threads()
    x = on_dask(np.eye(rows, 3))
    with dask.config.set(scheduler="threads"):
        np.asarray(xp.linalg.qr(x)[1])
    assert seen
    assert seen == [{1}] * len(seen), seen
    assert threads() == before
