"""The namespaces of the table."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Implementation:
    """A namespace, what it is in a few words, and the variables that it is judged with."""

    name: str
    description: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)


IMPLEMENTATIONS = (
    Implementation(
        "array_api_nx",
        "arrays of its own, fused on the CPU; PyTorch, JAX, CuPy and Dask as devices",
    ),
    Implementation("array_api_strict", "the standard and nothing beyond, on NumPy, for tests"),
    Implementation("numpy", "NumPy itself"),
    Implementation("array_api_compat.numpy", "NumPy, wrapped by array-api-compat"),
    Implementation("array_api_compat.torch", "PyTorch, wrapped by array-api-compat"),
    Implementation(
        # Its arrays have 32 bits at most otherwise; its own CI runs the suite so, too.
        "jax.numpy",
        "JAX itself",
        {"JAX_ENABLE_X64": "1"},
    ),
    Implementation("array_api_compat.dask.array", "Dask, wrapped by array-api-compat"),
    Implementation("array_api_compat.cupy", "CuPy on a GPU, wrapped by array-api-compat"),
)


def named(name: str) -> Implementation:
    """The implementation of that name; one without a description if the list has none."""
    known = {each.name: each for each in IMPLEMENTATIONS}
    return known.get(name, Implementation(name))


@contextmanager
def variables(of: Implementation) -> Iterator[None]:
    """Set the variables of an implementation, where the user has not."""
    added = {name: value for name, value in of.variables.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)
