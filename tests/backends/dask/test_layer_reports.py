"""What `explain` and `show_config` tell of arrays on Dask."""

import numpy as np

import array_api_nx as xp
from tests.backends.dask.programs import SMALL, numbers, on_dask


def test_what_is_pending():
    x = on_dask(numbers(30, 4))
    found = xp.explain(xp.sum(xp.exp(x) * 2, axis=0))
    assert found.pending
    text = repr(found).splitlines()
    assert text[0] == "pending: 7 tasks in 3 layers of a Dask graph, 32 B in 1 chunk"
    assert any(["exp-multiply-sum(a)" in line for line in text])
    assert any(["reads   a" in line and "(30, 4)" in line and "960 B" in line for line in text])
    assert found.operations == 7
    assert found.chunks == ((4,),)
    assert found.nbytes == 32


def test_what_is_in_memory():
    found = xp.explain(on_dask(numbers(30, 4)))
    assert not found.pending
    assert found.summary.startswith("computed: nothing is pending, 960 B in ")
    assert found.passes == ()


def test_the_graph():
    x = on_dask(numbers(30, 4))
    found = xp.explain(xp.linalg.qr(x @ x.T)[0])
    assert found.dot().startswith("digraph")


def test_many_inputs_have_names():
    arrays = [on_dask(numbers(2)) for _ in range(30)]
    found = xp.explain(xp.concat(arrays))
    given = [memory.name for memory in found.passes[-1].inputs]
    assert sorted(given, key=lambda name: (len(name), name))[24:] == [
        "y", "z", "aa", "ab", "ac", "ad",
    ]  # fmt: skip


def test_runtime_info():
    np.asarray(on_dask(1.0))
    facts = SMALL.backend.runtime_info()
    assert facts["chunks"] == 200
    assert facts["scheduler"] == "this process"
