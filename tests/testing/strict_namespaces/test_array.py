"""The array of strict namespaces: operators, conversions, and what it does not have."""

import copy
import operator
import pickle

import numpy as np
import pytest

import array_api_nx
from array_api_nx.testing import strict
from array_api_nx.testing.strict_namespaces.dtypes import GROUPS, STRICT
from array_api_nx.testing.strict_namespaces.signatures import METHODS
from tests.support.refusals import refused
from tests.support.tables import for_each

xp = strict()

DTYPES = [*STRICT.values()]
OPERATORS = {
    "numeric": ("add", "sub", "mul", "pow"),
    "floating": ("truediv",),
    "real": ("floordiv", "mod", "lt", "le", "gt", "ge"),
    "integer": ("lshift", "rshift"),
    "integer_or_bool": ("and_", "or_", "xor"),
    "any": ("eq", "ne"),
}


def one(dtype):
    return xp.ones((2,), dtype=dtype)


@for_each(
    ("group", "name"), [(group, name) for group, names in OPERATORS.items() for name in names]
)
def test_operators_take_the_dtypes_that_the_standard_names_and_no_other(group, name):
    call = getattr(operator, name)
    in_place = getattr(operator, "i" + name.strip("_"), None)
    for first, strict_first in STRICT.items():
        for second, strict_second in STRICT.items():
            x, y = one(strict_first), one(strict_second)
            if (first, second) in GROUPS[group].pairs:
                expected = call(x._array, y._array)
                result = call(x, y)
                assert type(result) is type(x)
                assert result._array.dtype is expected.dtype
                assert (np.asarray(result._array) == np.asarray(expected)).all()
            else:
                refused(TypeError, r"is defined for|kinds promote", call, x, y)
            if in_place and (first, second) in GROUPS[group].pairs:
                if xp.result_type(x, y) == x.dtype:
                    assert in_place(x, y) is x
                else:
                    refused(TypeError, "In-place Operators", in_place, x, y)


SCALARS = (True, 1, 1.0, 1j)


@for_each("dtype", DTYPES)
def test_scalars_fit_the_kind_of_the_array(dtype):
    x = one(dtype)
    for scalar in SCALARS:
        if isinstance(scalar, bool):
            fits = dtype == xp.bool
        elif isinstance(scalar, int):
            fits = dtype != xp.bool
        elif isinstance(scalar, float):
            fits = xp.isdtype(dtype, ("real floating", "complex floating"))
        else:
            fits = xp.isdtype(dtype, ("real floating", "complex floating"))
        for call in (lambda x, s: x == s, lambda x, s: s != x):
            if fits:
                assert call(x, scalar).dtype == xp.bool
            else:
                refused(TypeError, "scalar", call, x, scalar)


def test_a_complex_scalar_makes_a_real_array_complex_but_not_in_place():
    x = xp.asarray([1.0], dtype=xp.float32)
    assert (x * 1j).dtype == (1j - x).dtype == xp.complex64
    with pytest.raises(TypeError, match="In-place"):
        x *= 1j
    with pytest.raises(TypeError, match="real-valued"):
        x < 1j  # noqa: B015
    refused(TypeError, r"came with 2024\.12", lambda: strict("2023.12").asarray([1.0]) * 1j)


def test_ints_stay_within_the_bounds_of_the_dtype():
    x = xp.asarray([1], dtype=xp.int8)
    assert (x + 127).dtype == xp.int8
    refused(OverflowError, "bounds of int8", lambda: x + 128)


@pytest.mark.parametrize(
    "other",
    [np.ones(2), np.float64(1), np.int64(1), [1.0, 2.0], None, "1", array_api_nx.ones(2),
     strict("2024.12").ones(2)],
    ids=["ndarray", "float64", "int64", "list", "None", "str", "plain", "another"],
)  # fmt: skip
def test_operands_of_others_are_refused_from_both_sides(other):
    x = xp.ones((2,))
    for call in (operator.add, operator.mul, operator.eq, operator.lt):
        refused(TypeError, None, call, x, other)
        refused(TypeError, None, call, other, x)
    with pytest.raises(TypeError):
        x += other


def test_an_operand_of_a_class_that_knows_what_to_do_is_asked():
    class Knows:
        def __radd__(self, other):
            return "known"

    assert xp.ones((2,)) + Knows() == "known"


def test_arrays_of_two_devices_do_not_mix():
    first, second = _two_devices()
    for call in (operator.add, operator.iadd, operator.eq, xp.add, xp.matmul):
        refused(ValueError, "move one of them", call, first, second)
    with pytest.raises(ValueError, match="move one of them"):
        first[...] = second
    refused(ValueError, "move one of them", xp.concat, [first, second])


def _two_devices():
    pytest.importorskip("dask")
    return xp.ones((2,)), xp.ones((2,), device=array_api_nx.Device("dask"))


def test_shifts_by_negative_numbers_are_refused():
    x = xp.asarray([1, 2])
    assert int((x << 1)[0]) == 2
    for call in (operator.lshift, operator.rshift, xp.bitwise_left_shift):
        refused(ValueError, "negative", call, x, -1)
        refused(ValueError, "negative", call, x, xp.asarray([-1, 1]))


def test_conversions_take_one_element_without_axes():
    x = xp.asarray(2.0)
    assert (float(x), int(x), complex(x), bool(x)) == (2.0, 2, 2 + 0j, True)
    assert operator.index(xp.asarray(3)) == 3
    for kind in (float, int, complex, bool):
        refused(TypeError, "zero-dimensional", kind, xp.asarray([2.0]))
    for kind in (float, int):
        refused(TypeError, "which part", kind, xp.asarray(1j))
    refused(TypeError, "integer", operator.index, x)


def test_iteration_is_over_one_axis():
    assert [float(x) for x in xp.asarray([1.0, 2.0])] == [1.0, 2.0]
    assert 2.0 in xp.asarray([1.0, 2.0])
    for shape in ((), (2, 2)):
        refused(TypeError, "iteration", iter, xp.ones(shape))
        with pytest.raises(TypeError, match="itera"):
            assert 1.0 in xp.ones(shape)


@pytest.mark.parametrize(
    ("use", "instead"),
    [
        (lambda x: len(x), r"x\.shape\[0\]"),
        (lambda x: x.sum(), r"xp\.sum\(x\)"),
        (lambda x: x.reshape(2), r"xp\.reshape"),
        (lambda x: x.astype(xp.float32), r"xp\.astype"),
        (lambda x: x.item(), r"float\(x\)"),
        (lambda x: x.nbytes, r"x\.size"),
        (lambda x: x.copy(), r"copy=True"),
        (lambda x: x.dtype.itemsize, "finfo"),
        (lambda x: x.dtype.kind, "isdtype"),
        (lambda x: np.asarray(x), "from_dlpack"),
        (lambda x: x.T, r"x\.mT"),
        (lambda x: type(x)(), r"xp\.asarray"),
    ],
)
def test_what_the_standard_lacks_is_refused_with_what_to_write_instead(use, instead):
    refused((AttributeError, TypeError, ValueError), instead, use, xp.asarray([1.0, 2.0]))


def test_numpy_computes_nothing_with_a_strict_array():
    x = xp.ones((2,))
    for call in (np.sin, np.sum, np.exp):
        refused(TypeError, None, call, x)
    assert np.float64(2).__mul__(x) is NotImplemented


def test_an_array_lists_the_standards_attributes_and_has_no_others_to_set():
    x = xp.ones((2,))
    assert set(dir(x)) == METHODS
    assert not hasattr(x, "sum")
    assert not hasattr(x, "__array_interface__")
    with pytest.raises(AttributeError):
        x.name = "x"
    refused(TypeError, "unhashable", hash, x)


@pytest.mark.parametrize("version", ["2022.12", "2025.12"])
def test_arrays_survive_pickling_and_copying(version):
    xp = strict(version, boolean_indexing=False)
    x = xp.asarray([1.0, 2.0])
    for made in (pickle.loads(pickle.dumps(x)), copy.copy(x), copy.deepcopy(x)):
        assert type(made) is type(x)
        assert made.dtype == x.dtype
        assert bool(xp.all(made == x))
        made[0] = 3.0
    assert float(x[0]) == 1.0


def test_the_namespace_of_an_array_is_that_of_its_version():
    x = xp.ones((2,))
    assert x.__array_namespace__() is xp
    assert x.__array_namespace__(api_version="2025.12") is xp
    for version in ("2024.12", "2021.11"):
        refused(ValueError, r"2025\.12", x.__array_namespace__, api_version=version)


def test_dlpack_goes_out_and_comes_in():
    x = xp.asarray([1.0, 2.0])
    assert np.from_dlpack(x).tolist() == [1.0, 2.0]
    assert x.__dlpack_device__() == (1, 0)
    assert type(xp.from_dlpack(np.ones(2))) is type(x)
    other = strict("2024.12").from_dlpack(x)
    assert type(other) is not type(x)
    first = strict("2022.12").ones((2,))
    first.__dlpack__()
    refused(TypeError, r"came with 2023\.12", first.__dlpack__, copy=True)


def test_devices_are_objects():
    x = xp.ones((2,))
    assert x.to_device(x.device).device == x.device
    for call in (x.to_device, lambda device: xp.ones((2,), device=device)):
        refused(ValueError, r"array_api_nx\.Device", call, "cpu")


def test_in_place_operators_change_the_array_and_writes_show_in_views():
    x = xp.asarray([1.0, 2.0])
    y = x
    x += 1
    assert y is x
    assert float(y[0]) == 2.0
    view = x[:1]
    view[0] = 7.0
    assert float(x[0]) == 7.0


def test_every_group_has_a_dtype_and_every_dtype_promotes_with_itself():
    for group in GROUPS.values():
        assert group.dtypes
        assert {(dtype, dtype) for dtype in group.dtypes} <= group.pairs
