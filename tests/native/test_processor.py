"""Functions that are compiled for several processors give the same bits on all."""

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.native import native
from tests.support.implementations import needs_native

pytestmark = needs_native

# Of the results below: on each processor, and by each compiler.
HASHES = {
    "fused float32": "83de81b002c2",
    "sum float32": "0d7e5b0bf5f5",
    "mean float32": "0a8d09162f42",
    "var float32": "b720df0cdf91",
    "max float32": "4e3b12b94416",
    "argmax float32": "f8f85dc0123b",
    "cumulative_sum float32": "303b33769bb7",
    "columns float32": "136202407605",
    "selected float32": "0cb8225690b6",
    "inverses float32": "7665aefe4169",
    "fused float64": "0957e3e0052b",
    "sum float64": "57edf848bb17",
    "mean float64": "d6a908205fc5",
    "var float64": "ec9970b896e2",
    "max float64": "73fbb9ab28d9",
    "argmax float64": "f8f85dc0123b",
    "cumulative_sum float64": "522ac3266833",
    "columns float64": "bf2866498309",
    "selected float64": "bbb892ca46c1",
    "inverses float64": "59fc8011a7c1",
    "integers": "24b600ac4749",
    "random": "76c95dd04850",
    "standard_normal": "cbf2d19fc4a9",
    "gamma": "abc3198c494f",
    "poisson": "6b955075299a",
}


def operands(dtype):
    """Two arrays whose elements come from integers, so that they are the same everywhere."""
    numbers = np.arange(60_000, dtype=np.uint64) ** 3 * np.uint64(2654435761) % np.uint64(1 << 32)
    first = (numbers.astype(np.float64) / (1 << 20) - 2000).astype(dtype)
    return xp.asarray(first), xp.asarray(first[::-1] + dtype(3000))


def results():
    """Names of what hot functions compute, and arrays."""
    for dtype in (np.float32, np.float64):
        x, y = operands(dtype)
        name = dtype.__name__
        yield f"fused {name}", xp.sqrt(xp.abs((x * 2 + y) / (y - x * 0.5))) - x
        for function in (xp.sum, xp.mean, xp.var, xp.max, xp.argmax, xp.cumulative_sum):
            yield f"{function.__name__} {name}", function(x * y)
        columns = xp.reshape(x, (600, 100))
        yield f"columns {name}", xp.stack([xp.sum(columns, axis=0), xp.var(columns, axis=0)])
        yield f"selected {name}", xp.where(x > y / 2, x, y)[x > 0]
        yield f"inverses {name}", xp.linalg.inv(xp.reshape(x, (-1, 4, 4))[:600, ...])
    integers = xp.astype(x, xp.int64)
    yield "integers", xp.stack([xp.sort(integers), xp.take(integers, xp.argsort(integers))])
    for name in ("random", "standard_normal"):
        yield name, getattr(xp.random.default_rng(7), name)(10_001)
    yield "gamma", xp.random.default_rng(7).standard_gamma(2.5, 10_001)
    yield "poisson", xp.random.default_rng(7).poisson(30.0, 10_001)


def hashes():
    return {
        name: hashlib.sha256(np.ascontiguousarray(np.asarray(array)).tobytes()).hexdigest()[:12]
        for name, array in results()
    }


def in_process(processor):
    return subprocess.run(
        [sys.executable, "-m", "tests.native.test_processor"],
        env={**os.environ, "ARRAY_API_NX_CPU": processor}, capture_output=True, text=True,
    )  # fmt: skip


def test_results_are_the_same_by_every_compiler():
    found = hashes()
    assert {name: found[name] for name in HASHES} == HASHES


@pytest.mark.slow
@pytest.mark.parametrize("processor", ["baseline", "avx2", "avx512"])
def test_results_are_the_same_on_every_processor(processor):
    chosen, *lines = in_process(processor).stdout.splitlines()
    names = ["baseline", "avx2", "avx512"]
    assert names.index(chosen) <= names.index(processor)
    assert lines == [f"{name}: {found}" for name, found in hashes().items()]


@pytest.mark.slow
def test_an_unknown_processor_is_refused():
    assert "must be 'baseline', 'avx2' or 'avx512', not 'sse'" in in_process("sse").stderr


if __name__ == "__main__":
    assert native is not None
    print(native.PROCESSOR)
    for name, found in hashes().items():
        print(f"{name}: {found}")
