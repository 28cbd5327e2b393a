"""`evaluate` and `explain`: they take the same arguments, and one describes the other's work."""

import inspect

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.native import native
from tests.support.programs import default_process
from tests.support.refusals import refused
from tests.support.sizes import DEFERRED
from tests.support.tables import for_each

needs_deferral = pytest.mark.skipif(
    native is None, reason="without the extension nothing is deferred on cpu"
)


def pending(device="cpu"):
    x = xp.linspace(0.0, 1.0, 1_000_000 if device == "cpu" else 10, device=device)
    y = 2 * x + 1
    return y, xp.sum(y * y), xp.cos(x)


def test_both_have_the_same_parameters():
    evaluate, explain = map(inspect.signature, (xp.evaluate, xp.explain))
    assert evaluate.parameters == explain.parameters


@needs_deferral
def test_several_arrays_are_explained_together():
    y, total, cosine = pending()
    told = xp.explain(y, total)
    # The sum reads y, which is computed in the same pass.
    assert (told.operations, len(told.passes)) == (4, 1)
    assert [each.name for each in told.passes[0].outputs] == ["result1", "result2"]
    assert "result2 = sum(" in str(told)
    assert xp.explain(y, y).operations == xp.explain(y).operations == 2
    assert xp.explain(y, cosine).operations == 3
    assert "result2" in told.dot()
    xp.evaluate(y, total)
    assert not xp.explain(y, total).pending
    assert xp.explain(y, cosine).operations == 1


@pytest.mark.parametrize("device", ["cpu", "test:1", "test:lazy", "torch:cpu", "jax:cpu", "dask"])
def test_containers_of_arrays_are_taken_on_every_device(device):
    if device.partition(":")[0] in ("torch", "jax", "dask"):
        pytest.importorskip(device.partition(":")[0])
    y, total, cosine = pending(device)
    containers = (y, [total]), {"a": cosine, "b": (y,)}
    assert xp.explain(*containers).pending == any(
        [xp.explain(x).pending for x in (y, total, cosine)]
    )
    assert xp.explain(*containers).operations == xp.explain(y, total, cosine).operations
    xp.evaluate(*containers)
    assert not xp.explain(*containers).pending
    for x in (y, total, cosine):
        assert not xp.explain(x).pending


def test_arrays_on_several_devices_are_explained_one_device_after_the_other():
    y, other = pending()[0], pending("test:1")[0]
    told = xp.explain(y, other)
    assert told.operations == xp.explain(y).operations + xp.explain(other).operations
    assert not xp.explain().pending


@for_each("function", [xp.evaluate, xp.explain])
def test_what_is_no_array_is_an_error_that_says_where_it_is(function):
    y = pending()[0]
    refused(TypeError, "argument 2 must be an array_api_nx array, not an int", function, y, 3)
    with pytest.raises(TypeError, match=r"what is in argument 1 must be .* not a NoneType"):
        function((y, {"a": None}))
    assert xp.explain(y).pending == (native is not None)


class TestInOnePass:
    def test_several_reductions_of_shared_memory_wait(self):
        host = np.linspace(-1.0, 1.0, 2 * DEFERRED)
        seen = []

        def function(x):
            found = xp.min(x), {"max": xp.max(x)}
            seen.append(xp.explain(*found))
            return found

        with default_process():
            low, others = xp.extra.in_one_pass(function, xp.asarray(host, copy=False))
            assert not xp.explain(low, others).pending
        assert (float(low), float(others["max"])) == (-1.0, 1.0)
        if native is not None:
            assert (seen[0].operations, len(seen[0].passes)) == (2, 2)

    def test_it_is_a_call_where_nothing_waits(self):
        compiled = xp.compile(lambda x: xp.extra.in_one_pass(lambda x: (xp.min(x), xp.max(x)), x))
        for device in ("cpu", "test:1", "test:lazy"):
            x = xp.asarray([3.0, 1.0, 2.0], device=device)
            for low, high in (
                xp.extra.in_one_pass(lambda x: (xp.min(x), xp.max(x)), x),
                compiled(x),
            ):
                assert (float(low), float(high)) == (1.0, 3.0)

    def test_it_takes_an_array(self):
        refused(TypeError, None, xp.extra.in_one_pass, xp.sum, [1, 2])
