"""Expressions that are written to memory that their operands lie in, too."""

import warnings

import numpy as np
import pytest

import array_api_nx as xp
from tests.support.implementations import needs_native

pytestmark = needs_native


@pytest.mark.parametrize("dtype", ["float64", "float32", "int16", "complex128"])
@pytest.mark.parametrize("shape", [(3001,), (50_000,), (90, 100), (301, 400)])
def test_targets_between_the_elements_of_operands(dtype, shape):
    rng = np.random.default_rng(shape[0])
    mine = rng.integers(0, 9, shape).astype(dtype)
    ours = xp.asarray(mine, copy=True)
    for _ in range(40):
        # Targets and operands begin anywhere, and step by the same or other steps.
        keys = []
        for _ in range(3):
            steps = rng.choice([1, 2, 3, 4, -2, -1], len(shape))
            keys.append([(int(rng.integers(4)), int(step)) for step in steps])
        if rng.random() < 0.5:
            keys[1] = [
                (start, step) for (start, _), (_, step) in zip(keys[1], keys[0], strict=True)
            ]
        size = [length // 5 for length in shape]
        parts = [
            tuple(
                slice(start, start + step * n, step)
                if step > 0
                else slice(start - step * n, start, step)
                for (start, step), n in zip(key, size, strict=True)
            )
            for key in keys
        ]
        target, one, other = parts
        with np.errstate(all="ignore"):
            mine[target] = (mine[one] - mine[other] * 2).copy()
            ours[target] = ours[one] - ours[other] * 2
            assert np.array_equal(np.asarray(ours), mine, equal_nan=dtype != "int16")
            # A loop writes the elements of a single operation where they lie.
            mine[target] = mine[one] + mine[other]
            ours[target] = ours[one] + ours[other]
            assert np.array_equal(np.asarray(ours), mine, equal_nan=dtype != "int16")


def _messages(namespace, x, y, target, source):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        x[target] = x[source] / y[target] - namespace.sqrt(x[target])
        x[target] += 2 * y[target]
    return {str(warning.message) for warning in caught}


@pytest.mark.parametrize("shift", [0, 1, 5, -5])
@pytest.mark.parametrize("size", [200, 3000, 40_000])
@pytest.mark.parametrize("columns", [1, 3, 9])
def test_columns_are_computed_in_place(columns, size, shift):
    """The loops read elements that are not adjacent where they lie, also in the target."""
    rng = np.random.default_rng(size + shift)
    x, y = rng.normal(size=(2, size + 10, columns))
    y[size // 2, 0] = 0
    ours, others = xp.asarray(x, copy=True), xp.asarray(y, copy=True)
    target = (slice(5, size + 5), 0)
    source = (slice(5 + shift, size + 5 + shift), columns - 1)
    expected = _messages(np, x, y, target, source)
    assert _messages(xp, ours, others, target, source) == expected
    assert len(expected) == 2
    assert np.asarray(ours).tobytes() == x.tobytes()
