"""What turns arguments into backend calls: operands, scalars, devices, promotion, results."""

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.core import dtypes as d
from tests.support.refusals import refused
from tests.support.tables import for_each

OPERATORS = {
    "add": lambda a, b: a + b,
    "multiply": lambda a, b: a * b,
    "equal": lambda a, b: a == b,
    "less": lambda a, b: a < b,
    "bitwise_and": lambda a, b: a & b,
}


@pytest.mark.parametrize("name", OPERATORS)
@for_each("scalar", [True, 1, 1.0, 1j, np.float32(1), np.int8(1), np.uint64(1)])
def test_functions_and_operators_treat_scalars_alike(name, scalar):
    function, operator = getattr(xp, name), OPERATORS[name]
    for dtype in d.NUMPYS:
        x = xp.asarray([0, 1], dtype=dtype)
        try:
            expected = function(x, scalar)
        except TypeError:
            for a, b in ((x, scalar), (scalar, x)):
                refused(TypeError, r"takes .* dtypes, not .*; convert", operator, a, b)
        else:
            for found in (operator(x, scalar), operator(scalar, x), function(scalar, x)):
                assert found.dtype is expected.dtype
                if name != "less":
                    assert np.array_equal(np.asarray(found), np.asarray(expected))
