from __future__ import annotations

from typing import Any

import array_api_strict
import numpy as np
import pytest

import array_api_nx
from array_api_nx_conformance.clients import extra_calls

pytest.importorskip("sklearn")


def test_every_public_function_is_called() -> None:
    public = set(extra_calls._package().__all__) - {"__version__", "testing"}
    assert {name.partition(" ")[0] for name in extra_calls.CALLS} == public


@pytest.mark.filterwarnings("ignore:.*is deprecated:DeprecationWarning")
@pytest.mark.parametrize("call", ["pad", "default_dtype", "tril_indices", "broadcast_shapes"])
def test_a_call_on_our_namespace(call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARRAY_API_TESTS_MODULE", "array_api_nx")
    extra_calls.test_agrees(call)


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        (array_api_nx.asarray([1.0, 2.5]), np.asarray([1.0, 2.0])),
        (array_api_nx.asarray([1.0, 2.0]), np.asarray([[1.0, 2.0]])),
        (array_api_nx.asarray([1, 2]), np.asarray([1.0, 2.0])),
        (array_api_strict.asarray([1.0]), np.asarray([1.0])),
        (np.asarray([1.0]), np.asarray([1.0])),
        ([array_api_nx.asarray(1)], (np.asarray(1),)),
        ((array_api_nx.asarray(1),) * 2, (np.asarray(1),)),
        (array_api_nx.float32, np.dtype("float64")),
        (3, 4),
    ],
)
def test_what_differs_fails(actual: Any, expected: Any) -> None:
    with pytest.raises(AssertionError):
        extra_calls._compare(actual, expected, array_api_nx)


def test_names_of_dtypes() -> None:
    for dtype in (np.float64, np.dtype("float64"), array_api_nx.float64, array_api_strict.float64):
        assert extra_calls._dtype(dtype) == "float64"
