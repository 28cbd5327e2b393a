"""Clusters of two processes on this machine."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import dask

Client = Any  # distributed.Client, which has no types


@contextmanager
def two_workers(memory_limit: str | int = 0, **environment: str) -> Iterator[Client]:
    """The client of two workers with a thread each; they may be short of memory."""
    import distributed

    with (
        dask.config.set({"distributed.admin.low-level-log-length": 10_000}),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=None,
            memory_limit=memory_limit,
            env=environment,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client
