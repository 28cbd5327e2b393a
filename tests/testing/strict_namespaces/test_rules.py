"""What the standard asks of single functions."""

import math

import numpy as np
import pytest

import array_api_nx
from array_api_nx.testing import strict
from tests.support.refusals import refused

xp = strict()


def test_asarray_takes_scalars_sequences_buffers_and_its_own_arrays():
    x = xp.asarray([[1, 2], [3, 4]])
    assert x.dtype == xp.int64
    assert xp.asarray(x, dtype=xp.float32).dtype == xp.float32
    assert xp.asarray(np.ones((2, 2))).dtype == xp.float64
    assert xp.asarray(1j).dtype == xp.complex128
    copied = xp.asarray(x, copy=True)
    copied[0, 0] = 9
    assert int(x[0, 0]) == 1
    # The official suite makes its expectations so.
    assert xp.asarray([[x[0, 0]], [x[1, 1]]]).shape == (2, 1)


@pytest.mark.parametrize(
    ("obj", "instead"),
    [
        (lambda: array_api_nx.ones(2), "from_dlpack"),
        (lambda: strict("2024.12").ones((2,)), "from_dlpack"),
        (lambda: [xp.asarray(1.0), xp.asarray(2.0)], "stack"),
        (lambda: [[strict("2024.12").ones(())]], "from_dlpack"),
    ],
)
def test_asarray_refuses_arrays_of_others_and_sequences_of_arrays(obj, instead):
    refused(TypeError, instead, xp.asarray, obj())


def test_astype_keeps_both_parts_of_complex_numbers():
    x = xp.asarray([1j])
    assert xp.astype(x, xp.complex64).dtype == xp.complex64
    assert xp.astype(x, xp.bool).dtype == xp.bool
    for dtype in (xp.float64, xp.int8):
        refused(TypeError, r"xp\.real", xp.astype, x, dtype)


def test_can_cast_is_promotion_within_a_kind():
    assert xp.can_cast(xp.int8, xp.int16)
    assert xp.can_cast(xp.asarray([1], dtype=xp.int8), xp.int16)
    assert xp.can_cast(xp.float32, xp.complex64)
    for from_, to in ((xp.int8, xp.float64), (xp.bool, xp.int8), (xp.int64, xp.uint64)):
        assert not xp.can_cast(from_, to)
    refused(TypeError, None, xp.can_cast, np.int8, xp.int16)


def test_limits_have_the_attributes_of_the_standard():
    found = xp.finfo(xp.complex64)
    assert (found.bits, found.eps, found.dtype) == (32, 2.0**-23, xp.float32)
    assert found.min == -found.max
    assert found.smallest_normal == 2.0**-126
    assert xp.iinfo(xp.asarray([1], dtype=xp.uint8)).max == 255
    for name in ("tiny", "resolution", "nmant"):
        assert not hasattr(found, name)
    with pytest.raises(AttributeError):
        found.bits = 1
    refused(TypeError, None, hash, found)
    for name in ("float32", float, np.float32):
        refused(TypeError, None, xp.finfo, name)


def test_isdtype_takes_dtypes_and_the_standards_words():
    assert xp.isdtype(xp.int8, "integral")
    assert xp.isdtype(xp.int8, (xp.float64, "signed integer"))
    assert not xp.isdtype(xp.int8, xp.int16)
    assert xp.isdtype(kind="integral", dtype=xp.int8)
    refused(ValueError, "real floating", xp.isdtype, xp.int8, "integer")
    for kind in (np.int8, int, (("integral",),)):
        refused(TypeError, None, xp.isdtype, xp.int8, kind)
    refused(TypeError, None, xp.isdtype, np.int8, "integral")


def test_result_type_of_arrays_dtypes_and_scalars():
    x = xp.asarray([1.0], dtype=xp.float32)
    assert xp.result_type(x, xp.float64) == xp.float64
    assert xp.result_type(x, 1, 2.0) == xp.float32
    assert xp.result_type(x, 1j) == xp.complex64
    for wrong in ((x, xp.int8), (x, True), (xp.int8, 1.0), (x, np.float32), (x, np.ones(2))):
        refused(TypeError, None, xp.result_type, *wrong)
    refused(ValueError, "at least one array", xp.result_type, 1, 2)


def test_clip_is_defined_within_one_dtype_and_for_ordered_bounds():
    x = xp.asarray([1.0, 5.0, 9.0])
    assert np.from_dlpack(xp.clip(x, 2, 6.0)).tolist() == [2.0, 5.0, 6.0]
    assert np.from_dlpack(xp.clip(x, max=xp.asarray(6.0))).tolist() == [1.0, 5.0, 6.0]
    assert np.from_dlpack(xp.clip(x)).tolist() == [1.0, 5.0, 9.0]
    assert math.isnan(float(xp.clip(x, xp.asarray(math.nan))[0]))
    refused(TypeError, "one dtype", xp.clip, x, xp.asarray(2.0, dtype=xp.float32))
    refused(TypeError, None, xp.clip, xp.asarray([1]), 1.5)
    for low, high in ((6.0, 2.0), (xp.asarray(6.0), 2.0)):
        refused(ValueError, "exchange", xp.clip, x, low, high)


def test_functions_along_axes_want_what_the_standard_says():
    x = xp.ones((2, 3))
    zero = xp.ones(())
    for call in (
        lambda: xp.take(x, xp.asarray([0])),
        lambda: xp.take(x, xp.asarray([[0]]), axis=0),
        lambda: xp.take(zero, xp.asarray([0])),
        lambda: xp.cumulative_sum(zero),
        lambda: xp.nonzero(zero),
        lambda: xp.vecdot(x, x, axis=1),
        lambda: xp.linalg.cross(x, x, axis=1),
        lambda: xp.meshgrid(x, x),
        lambda: xp.meshgrid(xp.ones((2,)), xp.asarray([1, 2])),
    ):
        refused(ValueError, "the standard", call)
    for axes in (1.0, [1, 1], (0, 1), ([0],)):
        refused(TypeError, "axes", xp.tensordot, x, x, axes=axes)
    assert xp.tensordot(x, x, axes=((0, 1), (0, 1))).shape == ()
    first = strict("2022.12")
    y = first.ones((2,))
    refused(ValueError, r"2023\.12", first.tensordot, y, y, axes=((-1,), (0,)))


def test_shapes_that_depend_on_elements_can_be_left_out():
    without = strict(data_dependent_shapes=False)
    x = without.asarray([1, 1, 0])
    for call in (
        without.nonzero,
        without.unique_all,
        without.unique_counts,
        without.unique_inverse,
        without.unique_values,
        lambda x: without.repeat(x, x),
    ):
        refused(RuntimeError, "data_dependent_shapes", call, x)
    assert without.repeat(x, 2).shape == (6,)
    assert x[x > 0].shape == (2,)
    capabilities = without.__array_namespace_info__().capabilities()
    assert capabilities["data-dependent shapes"] is False
