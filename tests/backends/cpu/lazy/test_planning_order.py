"""In which order the steps of a pass run."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.native import native
from tests.support.tables import for_each

pytestmark = pytest.mark.skipif(native is None, reason="without the extension no kernel runs")


def operations(function: Callable[..., Any], arguments: int) -> list[str]:
    run = xp.compile(function).explain(*[xp.ones(100_000) for _ in range(arguments)]).run
    assert run is not None
    (only,) = run.passes
    return [step.operation for step in only.steps]


def test_links_of_a_chain_follow_each_other():
    roots = ["sin", "multiply", "add"]
    assert operations(lambda x, y: x * 2.0 + xp.sin(y), 2) == roots
    assert operations(lambda x, y: xp.sin(y) + x * 2.0, 2) == roots
    found = operations(lambda x, y: (xp.exp(x) * 2.0) * (1.0 / (xp.exp(y) + 1.0)), 2)
    assert found == ["exp", "multiply", "exp", "add", "divide", "multiply"]


def test_what_is_read_twice_comes_before_the_chain():
    def function(x: xp.Array, y: xp.Array) -> xp.Array:
        shared = y + 1.0
        return (xp.exp(x) * 2.0) * shared - shared

    assert operations(function, 2) == ["add", "exp", "multiply", "multiply", "subtract"]


def test_a_loop_that_is_no_link_has_its_chains_computed_first():
    found = operations(lambda x, y: xp.where(xp.abs(x) > 0.5, y * 2.0 - 1.0, y), 2)
    assert found == ["multiply", "subtract", "abs", "greater", "where"]


OVERFLOWING: dict[str, Callable[..., Any]] = {
    "a link that runs last": lambda xp, x, y: (x * 1e300) + xp.sin(y),
    "a loop that is no link": lambda xp, x, y: xp.where(xp.sqrt(-x) > 0, x * x, 1.0 / (y - y)),
    "several": lambda xp, x, y: xp.exp(x) * 2.0 - (x * x) / (xp.log(-x) * (y - y)),
}


@for_each("name", OVERFLOWING)
@pytest.mark.parametrize("fusion", ["auto", "always"])
def test_warnings_come_in_the_order_of_operations(name, fusion):
    function = OVERFLOWING[name]
    x, y = np.full(100_000, 1e300), np.full(100_000, np.inf)
    compiled = xp.compile(lambda x, y: function(xp, x, y))
    ours = xp.asarray(x, copy=True), xp.asarray(y, copy=True)

    def told(call: Callable[[], Any]) -> list[str]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            np.asarray(call())
        return [str(each.message) for each in caught]

    expected = told(lambda: function(np, x, y))
    assert len(expected) > 1
    with xp.config_context(fusion=fusion, fusion_threshold=0):
        assert told(lambda: function(xp, *ours)) == expected
        for _ in range(2):
            assert told(lambda: compiled(*ours)) == expected
