"""How Dask runs graphs: on a cluster, or here, in an order and with threads that suit."""

from __future__ import annotations

from bisect import insort
from collections.abc import Hashable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from typing import Final

import dask
import dask.array as da
from dask.callbacks import Callback
from dask.diagnostics import ProgressBar
from dask.order import order

from ...config import current
from ...contract.arguments import Native
from ...contract.errors import EngineError
from ...contract.events import evaluated

_SECONDS: Final = 1.0
"""How long a computation lasts before a bar is shown: so long that somebody wonders."""


def compute(*arrays: da.Array, why: str) -> tuple[Native, ...]:
    """The elements of the arrays; `why` they are needed is reported as an event."""
    evaluated("dask", why)
    with _suited(), _explaining(), _bar(client()):
        return dask.compute(*arrays)


def persist(arrays: Sequence[da.Array], progress: bool) -> tuple[da.Array, ...]:
    """The same arrays with chunks in memory, here or on the workers of a cluster."""
    cluster = client()
    evaluated("dask", "evaluate was called")
    bar = ProgressBar() if progress and cluster is None else _bar(cluster)
    with _suited(), bar:
        kept = dask.persist(*arrays)
    if (progress or current().progress) and cluster is not None:
        from distributed import progress as follow

        follow(kept, notebook=False)
    return kept


def client() -> Native:
    """The client of a cluster that is in force, or None."""
    try:
        from distributed import get_client
    except ImportError:
        return None
    try:
        return get_client()
    except ValueError:
        return None


def _bar(cluster: Native) -> AbstractContextManager[object]:
    """A progress bar of tasks in this process, if the settings say so; a cluster has its own."""
    if not current().progress or cluster is not None:
        return nullcontext()
    from tqdm.dask import TqdmCallback

    return TqdmCallback(delay=_SECONDS, miniters=1, unit="task")


@contextmanager
def _explaining() -> Iterator[None]:
    """Say which device failed, and what to do, where a cluster is the reason."""
    try:
        yield
    except Exception as error:
        text = str(error).partition("\n")[0]
        if "Missing dependency" in text or "lost dependencies" in text:
            raise EngineError(
                "device dask failed: elements that evaluate had left on a cluster are gone with "
                "it; make the array anew, and move what is to stay with to_device('cpu') first"
            ) from error
        if type(error).__name__ == "KilledWorker":
            raise EngineError(
                f"device dask failed: {text.partition('. ')[0]}; a worker is ended when it takes "
                "more memory than it may, which smaller chunks can help, as in "
                "Device('dask', chunks='16MiB')"
            ) from error
        if type(error).__module__.partition(".")[0] == "distributed":
            raise EngineError(f"device dask failed: {text}") from error
        raise


@contextmanager
def _suited() -> Iterator[None]:
    """Settings for tasks that run in this process."""
    controller = _controller()
    threads = nullcontext()
    if controller is not None:
        # Dask has a thread per core already, and BLAS libraries wait for each other's threads by
        # spinning. A cluster limits its workers itself. A task that runs alone has one thread as
        # well, because decompositions are rounded otherwise by two.
        threads = controller.limit(limits=1, user_api="blas")
    with threads, _InOrder():
        yield


@cache
def _controller() -> Native:
    """What sets the number of threads of BLAS libraries, if it is installed."""
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return None
    return ThreadpoolController()


class _InOrder(Callback):  # type: ignore[misc]  # Dask is untyped
    """Makes the schedulers of this process run tasks in the order that needs little memory.

    Dask works this order out, but begins with what became ready last. Where many chunks wait for
    one task, such as the mean that is subtracted from them, it would make them all before it comes
    to something else that their readers wait for.
    """

    def _start_state(self, graph: Native, state: dict[str, Native]) -> None:
        self._rank = order(graph)

    def _posttask(
        self, key: Hashable, result: object, graph: object, state: dict[str, Native], _: object
    ) -> None:
        # The last task is the next one to run.
        ready, dependents = state["ready"], state["dependents"][key]
        new = []
        while ready and ready[-1] in dependents:
            new.append(ready.pop())
        for task in new:
            insort(ready, task, key=self._priority)

    def _priority(self, task: Hashable) -> int:
        return -self._rank[task]
