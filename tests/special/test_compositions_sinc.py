"""`sinc`, which needs no SciPy."""

import numpy as np
import pytest

import array_api_nx as xp
from tests.special.operands import same_bits
from tests.support.refusals import refused
from tests.support.sizes import THRESHOLD

VALUES = [0.0, -0.0, 0.5, 1.0, -2.0, 1e-310, 1e-20, 3.7, 1e10, np.nan]


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("threshold", [THRESHOLD, 0])
def test_sinc(dtype, threshold):
    values = np.asarray(VALUES).astype(dtype)
    with xp.config_context(fusion_threshold=threshold):
        result = np.asarray(xp.special.sinc(xp.asarray(values, copy=True)))
    assert same_bits(result, np.sinc(values))


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "uint64"])
def test_sinc_of_integers(dtype):
    values = np.arange(5).astype(dtype)
    assert same_bits(np.asarray(xp.special.sinc(xp.asarray(values))), np.sinc(values))


def test_sinc_is_one_function():
    assert xp.special.sinc is xp.extra.sinc


def test_sinc_refuses_what_is_no_array():
    refused(TypeError, "x must be an array_api_nx array", xp.special.sinc, 0.5)


def test_sinc_in_programs():
    spec = xp.ShapeSpec(("n",), xp.float32)
    assert xp.eval_shape(xp.special.sinc, spec).dtype is xp.float32
    x = xp.asarray([0.0, 0.25, 3.0])
    assert xp.all(xp.compile(xp.special.sinc)(x) == xp.special.sinc(x))
