"""The class of the face's arrays, and the buffers that it gives out."""

import warnings

import numpy
import pytest

import array_api_nx.numpy as np
from tests.support.implementations import needs_call_lists, needs_native
from tests.support.refusals import refused


def test_submodules_are_imported_by_their_paths():
    import array_api_nx.numpy.linalg
    from array_api_nx.numpy.testing import assert_array_equal

    assert array_api_nx.numpy.linalg is np.linalg
    assert_array_equal(np.ones(3), [1, 1, 1])
    with pytest.raises(ModuleNotFoundError):
        import array_api_nx.numpy.nothing


def test_numpy_takes_the_same_memory():
    x = np.arange(6.0).reshape(2, 3)
    array = numpy.asarray(x)
    array[0, 0] = 7
    assert x[0, 0] == 7
    assert x.__array_interface__["shape"] == (2, 3)
    assert x.__array_interface__["strides"] == (24, 8)  # NumPy leaves out those in row-major order


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "float32", "complex128"])
def test_numpy_takes_every_layout_and_dtype(dtype):
    array = numpy.arange(24).astype(dtype).reshape(2, 3, 4)
    fixed = array.copy()
    fixed.flags.writeable = False
    for each in (array, array.T, array[::-1, :, 1::2], array[:0], array[1, 2, 3:4], fixed):
        x = np.asarray(each)
        found = numpy.asarray(x)
        del x  # what NumPy was given keeps the memory
        assert (found.dtype, found.strides) == (each.dtype, each.strides)
        assert found.flags.writeable == each.flags.writeable
        numpy.testing.assert_array_equal(found, each)
        assert numpy.shares_memory(found, each) == (each.size > 0)


def test_parts_of_complex_numbers_are_views():
    c = np.array([[1 + 2j, 3 - 4j]] * 2)
    c.real[0] += 10
    c.imag[:, 1] = 0.5
    assert c.tolist() == [[11 + 2j, 13 + 0.5j], [1 + 2j, 3 + 0.5j]]
    assert c.T.real.tolist() == [[11, 1], [13, 3]]
    x = np.ones(3, dtype=np.float32)
    assert x.real is x
    assert x.imag.tolist() == [0, 0, 0]
    large = np.zeros(5000) + 1j
    parts = large.real**2 + large.imag**2
    large[0] = 7
    assert parts.tolist() == [1.0] * 5000
    assert c[:0].imag.shape == (0, 2)


@pytest.mark.parametrize("size", [4, 5000])
def test_powers_of_a_half_are_roots(size):
    x = np.array([-0.0, numpy.inf, 4.0, 2.0] * (size // 4))
    with numpy.errstate(invalid="ignore"):
        expected = numpy.asarray(x) ** 0.5
        assert (x**0.5).tobytes() == expected.tobytes()


def test_results_of_several_arrays_are_of_the_face():
    x = np.arange(6.0)
    parts = np.split(x, 3)
    assert type(parts) is list
    assert {type(part) for part in parts} == {np.ndarray}
    parts[0][0] = 9  # NumPy's are views, too
    assert x[0] == 9
    values, vectors = np.linalg.eigh(np.eye(2))
    assert type(values) is type(vectors) is np.ndarray
    assert type(np.linalg.eigh(np.eye(2))) is type(numpy.linalg.eigh(numpy.eye(2)))
    assert type(np.where(x > 3)[0]) is np.ndarray
    assert np.split(np.array(["a", "b"]), 2)[1].tolist() == ["b"]


def test_what_c_declines_to_write_numpy_writes():
    ints, x = np.arange(4), np.arange(6.0).reshape(2, 3)
    ints[:] = np.asarray([1.5, 2.5, -1.5, 0.0], np.float32)
    x[0, 1:] = [7, 8]
    x[1] = (1, True, 2.5)
    x[:, [0, 2]] = [[5], [6]]
    assert ints.tolist() == [1, 2, -1, 0]
    assert x.tolist() == [[5, 7, 5], [6, 1, 6]]
    for key, value in ((0, [1, 2]), (slice(2), [1, 2]), ((0, 0), np.ones(2))):
        with pytest.raises(ValueError, match=r"broadcast|sequence"):
            x[key] = value
    with pytest.raises((TypeError, ValueError)):
        del x[0]
    large = np.zeros(10**6)
    expression = large + 1
    large[:3] = [4, 5, 6]
    assert expression[1] == 1
    assert large.sum() == 15


_NUMBERS = (
    *(0, 1, -1, 2, 128, -129, 2**63, 2**64, 0.0, 0.5, -2.7, 9.1e18, -9.3e18, numpy.nan, numpy.inf),
    *(True, 0j, 1 + 2j, numpy.True_, numpy.int64(300), numpy.int8(-1), numpy.uint64(2**63 + 5)),
    *(numpy.float64(2.7), numpy.float64(numpy.nan), numpy.float32(300.7), numpy.float16(2.5)),
    *(numpy.complex128(2 + 1j), numpy.longdouble(1.5), numpy.array(3), "a", None),
)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int32", "int64", "uint64", "float32"])
@pytest.mark.parametrize("number", _NUMBERS, ids=repr)
def test_numbers_are_stored_as_numpy_stores_them(dtype, number):
    for key in (..., slice(1, 3), 1):
        seen = []
        for module in (numpy, np):
            x = module.zeros(4, dtype=dtype)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                try:
                    x[key] = number
                except Exception as error:
                    seen.append((type(error), str(error)))
                else:
                    seen.append((x.tolist(), [str(each.message) for each in caught]))
        assert str(seen[0]) == str(seen[1])


def test_parts_of_complex_numbers_and_flat_elements_are_written():
    z = np.arange(4) * (1 + 2j)
    z.imag = np.ones(4)
    z[1:].real *= 2
    z.real[0] = 9
    assert z.tolist() == [9 + 1j, 2 + 1j, 4 + 1j, 6 + 1j]
    x = np.arange(6.0).reshape(2, 3)
    x.real = 3
    x.flat[::2] += np.ones(3)
    assert x.tolist() == [[4, 3, 4], [3, 4, 3]]
    assert type(x.flat[1]) is numpy.float64
    assert type(x.flat[:2]) is np.ndarray


@pytest.mark.parametrize("dtype", [None, "f8", "i4"])
def test_arrays_of_arrays_are_numpys(dtype):
    x, y = numpy.arange(3.0), numpy.arange(3)
    for given in (
        [x, x + 1],
        (y, y),
        [x, y],
        [x[:0], x[:0]],
        [x[0:1].reshape(()), y[0:1].reshape(())],
    ):
        ours = np.array(type(given)([np.asarray(each) for each in given]), dtype)
        expected = numpy.array(given, dtype)
        assert type(ours) is np.ndarray
        assert (ours.dtype, ours.shape) == (expected.dtype, expected.shape)
        assert numpy.array_equal(ours, expected)
    refused(ValueError, "inhomogeneous", np.array, [np.ones(2), np.ones(3)])


def test_ufuncs_of_other_packages_take_and_give_our_arrays():
    add_one = numpy.frompyfunc(lambda a, b: a * b + 1, 2, 1)
    x = np.arange(3)
    assert add_one(x, 2).tolist() == [1, 3, 5]
    assert add_one.outer(x, x).shape == (3, 3)
    assert type(numpy.float_power(x, 2)) is np.ndarray
    out = np.zeros(3)
    assert numpy.float_power(x, 2, out=out) is out
    assert out.tolist() == [0, 1, 4]


def test_arrays_that_were_read_only_can_be_written_again():
    for x in (np.arange(10), np.zeros(10**6), np.ones((3, 4))[1:]):
        x.flags.writeable = False
        with pytest.raises(ValueError, match="read-only"):
            x[0] = 3
        x.flags.writeable = True
        x[0] = 5
        x.setflags(write=False)
        x.setflags(write=True)
        x[0] += 1
        assert x.ravel()[0] == 6


def test_ufuncs_made_of_functions_are_not_kept():
    class Counted:
        count = 0

        def __init__(self):
            Counted.count += 1

        def __del__(self):
            Counted.count -= 1

        def __call__(self, x):
            return x + 1

    for _ in range(3):
        assert numpy.frompyfunc(Counted(), 1, 1)(np.arange(2)).tolist() == [1, 2]
    assert Counted.count == 0


def test_rows_chosen_by_indices():
    rng = numpy.random.default_rng(3)
    for shape in ((40, 1), (40, 3), (40, 20), (40, 100), (2, 40, 1), (2, 40, 3), (40, 5, 6)):
        for dtype in ("int8", "int16", "float32", "float64", "complex128"):
            x = rng.integers(0, 100, shape).astype(dtype)
            indices = rng.permutation(40)[:30]
            axis = shape.index(40)
            key = (slice(None),) * axis + (indices,)
            for each in (x, x[..., ::-1], numpy.asfortranarray(x)):
                y = np.asarray(each.copy("K"))
                numpy.testing.assert_array_equal(numpy.asarray(y[key]), each[key])
                for value in (
                    7,
                    each[key] + 1,
                    (each[key] + 1)[..., :1],
                    numpy.ones(shape[-1], dtype),
                ):
                    expected = each.copy("K")
                    expected[key] = value
                    y[key] = value
                    numpy.testing.assert_array_equal(numpy.asarray(y), expected)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64", "complex128"])
def test_colours_of_an_image_are_copied(dtype):
    for height, width in ((1, 40), (7, 33), (60, 100)):
        for colours in (2, 3, 4):
            x = numpy.arange(height * width * colours).reshape(height, width, colours).astype(dtype)
            y = np.asarray(x)
            for array, found in (
                (x.transpose(2, 0, 1), y.transpose(2, 0, 1)),
                (x.transpose(2, 1, 0), y.transpose(2, 1, 0)),
                (x[..., 0], y[..., 0]),
                (x[:, ::-1, ::-1], y[:, ::-1, ::-1]),
                (x[::2, ::3, 1], y[::2, ::3, 1]),
            ):
                numpy.testing.assert_array_equal(numpy.asarray(found.copy()), array)


@pytest.mark.parametrize("kind", [numpy.uint8, numpy.int16, numpy.int32, numpy.int64, numpy.uint64])
def test_scalars_of_every_integer_dtype_are_keys_of_elements(kind):
    x = np.arange(12.0).reshape(3, 4)
    assert type(x[kind(1), kind(2)]) is numpy.float64
    x[kind(1), 2] = 7
    x[0][kind(3)] = 8
    assert x[1, 2] == 7
    assert x[0, 3] == 8
    refused(IndexError, "out of bounds", lambda: x[kind(4), 0])
    refused(ValueError, "array element", x.__setitem__, (0, kind(1)), np.ones(1))


@pytest.mark.parametrize("shape", [(7,), (3, 4), (2, 3, 4)])
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "int64", "float32", "complex128"])
def test_elements_are_written_by_keys_of_ints(shape, dtype):
    memory = numpy.zeros(shape, dtype)
    x, key = np.zeros(shape, dtype), tuple([n - 1 for n in shape])
    values = [True, numpy.dtype(dtype).type(1), 1, 1.0, numpy.float64(0.5), 2j, [1], 300, "a", None]
    for value in values:
        for at in (key, tuple([-n for n in shape]), tuple([numpy.int64(0) for _ in shape])):
            outcomes = []
            for array in (memory, x):
                try:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        array[at] = value
                    outcomes.append(None)
                except (TypeError, ValueError, OverflowError) as error:
                    outcomes.append(type(error))
            assert outcomes[0] is outcomes[1], (value, at)
            numpy.testing.assert_array_equal(numpy.asarray(x), memory)
            assert type(x[at]) is type(memory[at])
    with pytest.raises(IndexError):
        x[shape] = 1


def test_an_element_is_written_after_what_waits_for_it_was_read():
    x = np.arange(5000.0)
    doubled, view = x * 2, x[10:]
    x[(20,)] = -1.0
    view[0] = numpy.float32(0.5)
    assert (doubled[20], doubled[10]) == (40.0, 20.0)
    assert (x[20], x[(10,)]) == (-1.0, 0.5)
    frozen = np.arange(3.0)
    frozen.setflags(write=False)
    with pytest.raises(ValueError, match="read-only"):
        frozen[1] = 2.0


def test_bytes_are_those_of_the_elements():
    x = np.arange(6.0).reshape(2, 3)
    for part in (x, x.T, x[:, ::2], x[0, 0]):
        assert bytes(part) == part.tobytes() == numpy.asarray(part).tobytes()


def test_magnitudes_squares_and_conjugates_of_booleans_are_numpys():
    rng = numpy.random.default_rng(0)
    for shape in ((), (0,), (1,), (9,), (3, 5), (4, 0), (200, 300), (3, 4, 5)):
        truths = rng.integers(0, 3, shape)
        x = truths.astype(bool)
        y = truths.astype("u1").view(bool)  # bytes that are true, but not 1
        for given in (x, y, x.T, x[..., ::-1] if shape else x, x[..., ::2] if shape else x):
            ours = np.asarray(given)
            for call in (abs, np.abs, np.absolute, lambda a: a**2, lambda a: a.conj()):
                numpys = {np.abs: numpy.abs, np.absolute: numpy.absolute}.get(call, call)
                found, expected = call(ours), numpys(given)
                assert found.dtype == expected.dtype
                assert found.shape == expected.shape
                assert isinstance(found, np.ndarray) == isinstance(expected, numpy.ndarray)
                assert numpy.array_equal(found, expected)
                if isinstance(expected, numpy.ndarray) and expected.size > 1:
                    assert found.__array__().strides == expected.strides
    ours = np.asarray([True, False])
    assert ours.conj() is ours
    out = np.zeros(2, bool)
    assert np.abs(ours, out=out) is out
    assert out.tolist() == [True, False]


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128", "float16"])
def test_whole_numbers_of_numpy_are_written_as_numpys(dtype):
    for number in (0, -3, 2**24 + 1, 2**53, 2**53 + 1, 2**62 + 2**30 + 1, -(2**63)):
        value = numpy.int64(number)
        for key in (0, slice(1, 3), ..., (slice(None),), [0, 2]):
            x, y = np.zeros(4, dtype), numpy.zeros(4, dtype)
            with numpy.errstate(over="ignore"):
                x[key], y[key] = value, value
            assert numpy.asarray(x).tobytes() == y.tobytes()
    x, y = np.zeros(2, dtype), numpy.zeros(2, dtype)
    x[:], y[:] = numpy.uint64(2**64 - 1), numpy.uint64(2**64 - 1)
    assert numpy.asarray(x).tobytes() == y.tobytes()


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_real_parts_are_cast_with_numpys_warning(dtype):
    rng = numpy.random.default_rng(0)
    for shape in ((), (1,), (7,), (3, 5), (1, 4), (4, 1), (200, 300), (2, 3, 4)):
        x = (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)
        x = numpy.asarray(x)
        views = [x, x.T, x.T.copy().T, x[..., ::-1], x[..., ::2]] if shape else [x]
        views += [numpy.broadcast_to(x, (3, *shape)), numpy.swapaxes(x, 0, -1)] if shape else []
        for each in views:
            for to in ("float32", "float64", "float16", "int32", "bool"):
                with warnings.catch_warnings(record=True) as expected_warnings:
                    warnings.simplefilter("always")
                    expected = each.astype(to)
                with warnings.catch_warnings(record=True) as found_warnings:
                    warnings.simplefilter("always")
                    found = np.asarray(each).astype(to)
                found = found.__array__()
                assert found.dtype == expected.dtype
                assert found.tobytes() == expected.tobytes()
                assert found.shape == expected.shape
                assert found.strides == expected.strides
                assert [(w.category, str(w.message)) for w in found_warnings] == [
                    (w.category, str(w.message)) for w in expected_warnings
                ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(numpy.exceptions.ComplexWarning):
            np.asarray([1 + 2j]).astype("float32")


@needs_native
@needs_call_lists
def test_the_warning_of_real_parts_names_the_callers_line():
    with pytest.warns(numpy.exceptions.ComplexWarning) as shown:
        np.asarray([1 + 2j]).astype("float32")
    assert shown[0].filename == __file__


def test_places_of_complex_extremes_are_numpys():
    rng = numpy.random.default_rng(0)
    for dtype in ("complex64", "complex128"):
        for shape in ((1,), (9,), (3, 5), (8, 8), (70, 600), (3, 50_000), (50_000, 3), (3, 4, 5)):
            x = rng.integers(0, 4, shape) + 1j * rng.integers(0, 4, shape)
            x = x.astype(dtype)
            y = x.copy()
            y[rng.random(shape) < 0.1] = complex(numpy.nan, 1)
            y[rng.random(shape) < 0.1] = complex(1, numpy.nan)
            for each in (x, x.T, x[..., ::-1], x[::2], y, y.T.copy().T):
                for name in ("argmax", "argmin", "max", "min", "mean", "std", "sort"):
                    for axis in (-1, 0) if name == "sort" else (None, -1, 0):
                        found = getattr(np, name)(np.asarray(each), axis=axis)
                        expected = getattr(numpy, name)(each, axis=axis)
                        numpy.testing.assert_array_equal(numpy.asarray(found), expected)
    with pytest.raises(ValueError, match="empty"):
        np.asarray(numpy.zeros(0, complex)).argmax()


def test_repeats_of_rows_are_numpys():
    for dtype in ("bool", "int16", "float32", "float64", "complex128"):
        for shape in ((4, 1), (1, 4), (8, 8), (100, 7), (3, 4, 5), (20_000, 3), (1, 1, 1)):
            x = numpy.arange(numpy.prod(shape)).reshape(shape).astype(dtype)
            for each in (x, x.T, x.T.copy().T, x[::-1], x[..., ::2], x[:, :1]):
                for axis in (*range(x.ndim), -2, None):
                    for times in (1, 2, 3):
                        found = np.repeat(np.asarray(each), times, axis=axis)
                        expected = numpy.repeat(each, times, axis=axis)
                        assert found.shape == expected.shape
                        assert numpy.asarray(found).tobytes() == expected.tobytes()


def test_arrays_without_elements_are_those_of_numpy():
    def check(make):
        ours, expected = make(np), make(numpy)
        assert type(ours) is np.ndarray
        assert ours.dtype == expected.dtype
        assert (ours.shape, ours.strides) == (expected.shape, expected.strides)
        assert ours.flags.writeable
        assert ours.flags.c_contiguous == expected.flags.c_contiguous

    for make in (
        lambda m: m.zeros(0),
        lambda m: m.empty((0,), dtype=numpy.int16),
        lambda m: m.full(0, 3.0),
        lambda m: m.zeros((0, 3)),
        lambda m: m.array([]),
        lambda m: m.array((), dtype=complex),
        lambda m: m.asarray([], dtype=bool),
        lambda m: m.array([[]]),
        lambda m: m.zeros(0, dtype=numpy.float32).copy(),
        lambda m: m.arange(5)[:0].copy(),
    ):
        check(make)


def test_views_of_another_dtype_are_the_same_memory():
    x = np.zeros(10_000)
    bits = x.view(np.int64)
    later = bits + 1  # reads the memory, which is written before it is computed
    x[:] = 1.0
    assert later[0] == 1
    assert bits[0] == numpy.float64(1).view(numpy.int64)
    bits[1] = 0
    assert x[1] == 0
