"""Functions that run in several threads at the same time."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

PATIENCE = 60.0
"""Seconds after which threads are taken to wait for each other for ever."""


def in_thread(function: Callable[[], Any]) -> Any:
    """What a function returns in a new thread."""
    with ThreadPoolExecutor(1) as executor:
        return executor.submit(function).result()


def together(*functions: Callable[[], Any]) -> list[Any]:
    """The results of functions in threads of their own, that start together; raises an error of
    theirs."""
    start = threading.Barrier(len(functions))
    results: list[Any] = [None] * len(functions)
    errors: list[BaseException] = []

    def run(i: int) -> None:
        try:
            start.wait(PATIENCE)
            results[i] = functions[i]()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(i,), daemon=True) for i in range(len(functions))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    if errors:
        raise errors[0]
    assert not any([thread.is_alive() for thread in threads])
    return results
