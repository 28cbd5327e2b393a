"""Expressions that are written to memory that their operands lie in, too."""

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
