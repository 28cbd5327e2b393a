"""NumPy's scalars to the left of arrays of the face, and of everything else."""

import operator
import warnings
from fractions import Fraction

import numpy
import pytest

import array_api_nx as xp
import array_api_nx.numpy as np
from tests.support.implementations import needs_native
from tests.support.tables import for_each

NAMES = [
    *["int8", "int16", "int32", "int64", "longlong", "uint8", "uint16", "uint32", "uint64"],
    *[
        "ulonglong",
        "float16",
        "float32",
        "float64",
        "complex64",
        "complex128",
        "bool",
        "longdouble",
    ],
]
OPERATORS = [
    *[operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod],
    *[operator.pow, operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge],
]


def outcome(call, *operands):
    """What a call gives, as far as it can be compared."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            result = call(*operands)
            array = numpy.asarray(result)  # what waits is computed, and warns
        except (TypeError, ValueError, OverflowError) as error:
            return type(error)
    words = {str(each.message).partition(" encountered")[0] for each in told}
    return type(result).__name__, array.dtype, array.shape, array.tolist(), words


@for_each("name", NAMES)
@pytest.mark.parametrize("call", OPERATORS, ids=lambda call: call.__name__)
def test_arrays_of_the_face_answer_as_numpys(name, call):
    scalar = numpy.dtype(name).type(3)
    for other in ("bool", "int8", "int64", "uint64", "float16", "float32", "float64", "complex128"):
        for shape in ((4,), (2, 3), (3000,)):
            values = numpy.resize(numpy.asarray([1, 0, 5, 2], other), shape)
            found, wanted = outcome(call, scalar, np.asarray(values)), outcome(call, scalar, values)
            assert _same(found, wanted), (other, shape, found, wanted)


def _same(found, wanted):
    if isinstance(wanted, type):
        return found is wanted
    same = found[:3] == wanted[:3] and found[4] == wanted[4]
    return same and numpy.allclose(found[3], wanted[3], rtol=1e-3, equal_nan=True)


def test_scalars_with_each_other_and_with_other_objects_are_numpys():
    scalars = [numpy.dtype(name).type(3) for name in NAMES]
    names = ["add", "subtract", "multiply", "divide", "floor_divide", "remainder", "power"]
    for call, name in zip(OPERATORS, names, strict=False):
        for x in scalars:
            for y in scalars:
                # The classes of two integers of 64 bits are interchangeable.
                found, wanted = outcome(call, x, y), outcome(getattr(numpy, name), x, y)
                assert found == wanted or found[1:] == wanted[1:], (call, x, y)
    three = numpy.float64(3)
    assert three * Fraction(1, 2) == 1.5
    assert (three * numpy.arange(3)).tolist() == [0, 3, 6]
    pair = [1, 2]
    assert (numpy.int64(2) * pair, (three - pair).tolist()) == ([1, 2, 1, 2], [2, 1])
    assert {type(2 * three), type(2.5 - three), type(three**2)} == {numpy.float64}
    assert type(three < 4) is numpy.bool
    for wrong in (None, "a", object()):
        with pytest.raises(TypeError):
            three * wrong
    assert (three == None, three != "a") == (False, True)  # noqa: E711  # an operator is called


def test_classes_that_derive_from_numpys_scalars():
    class Length(numpy.float64):
        def __add__(self, other):
            return "a length"

    x = np.asarray([1.0, 2.0])
    assert Length(3) + x == "a length"
    assert (Length(3) * x).tolist() == [3, 6]
    assert type(Length(3) * x) is np.ndarray


def test_arrays_of_the_standards_namespace_answer_by_the_ufunc():
    assert type(numpy.float64(2) * xp.asarray([1.0])) is xp.Array


def test_results_can_wait_and_lie_on_other_devices():
    x = np.asarray(numpy.arange(5000.0))
    assert float((numpy.float64(2) * x + numpy.float32(1))[7]) == 15
    far = np.asarray([1.0, 2.0], device="test:no_host")
    found = numpy.float64(2) - far
    assert (str(found.device), found.tolist()) == ("test:no_host", [1, 0])


class Measured:
    """An object of a program's own, which is given to NumPy as an array of the face."""

    def __init__(self, value):
        self.value = value

    def __array__(self, *args, **options):
        return np.asarray(self.value)


@needs_native  # without the extension the operators are NumPy's alone
@for_each("operation", OPERATORS)
def test_objects_whose_array_is_one_of_the_face(operation):
    for value in (2.0, [1.0, 2.0], [3]):
        for scalar in (numpy.float64(3), numpy.int64(3), numpy.float32(0.5)):
            ours = operation(scalar, Measured(value))
            expected = operation(scalar, numpy.asarray(value))
            assert numpy.asarray(ours).tolist() == expected.tolist()
            assert numpy.asarray(ours).dtype == expected.dtype


def test_errors_of_other_objects_are_numpys():
    class Failing:
        def __array__(self, *args, **options):
            raise ValueError("no elements today")

    for scalar in (numpy.float64(3), numpy.int8(3)):
        with pytest.raises(ValueError, match="no elements today"):
            scalar + Failing()
        with pytest.raises(TypeError):
            scalar + object()
    for power in (-1, numpy.int64(-1)):
        with pytest.raises(ValueError, match="negative integer powers"):
            numpy.int64(2) ** power
