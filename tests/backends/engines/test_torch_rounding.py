"""Where PyTorch's rounding is not IEEE 754's."""

import numpy as np
import pytest

import array_api_nx as xp

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("compiled", [False, True])
def test_the_square_root_of_float32_is_rounded_to_nearest(compiled):
    generator = np.random.default_rng(0)
    a = generator.uniform(0, 2, 10_001) * 2.0 ** generator.integers(-60, 60, 10_001)
    a = np.concatenate([a, [0.0, -0.0, np.inf, -np.inf, np.nan, -1.0]]).astype(np.float32)
    x = xp.asarray(a, device="torch:cpu")
    result = (xp.compile(xp.sqrt) if compiled else xp.sqrt)(x)
    assert str(result.device) == "torch:cpu"
    assert result.dtype == xp.float32
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(np.from_dlpack(result), np.sqrt(a))
