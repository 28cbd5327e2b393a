"""Methods and attributes of the face's arrays that C and the standard's functions do not answer."""

import operator
import pickle
import sys
from fractions import Fraction

import numpy
import pytest

import array_api_nx.numpy as np
from tests.numpy.test_functions import signature_of
from tests.support.refusals import refused


def test_every_member_of_numpys_arrays_is_there():
    assert set(vars(numpy.ndarray)) - set(dir(np.ndarray)) == set()


def test_flags_and_setflags_forbid_writing():
    x = np.zeros(3)
    x.flags.writeable = False
    assert not x.flags.writeable
    assert not x.flags["WRITEABLE"]
    with pytest.raises(ValueError, match="read-only"):
        x[0] = 1
    refused(ValueError, "read-only", x.fill, 1)
    y = np.zeros(3)
    y.setflags(write=False)
    with pytest.raises(ValueError, match="read-only"):
        y += 1
    assert repr(y.flags) == repr(numpy.asarray(y).flags)


def test_flat_takes_and_gives_arrays_of_the_face():
    x = np.arange(6.0).reshape(2, 3)
    found = x.flat[np.asarray([True, False, True, False, True, False])]
    assert type(found) is np.ndarray
    assert found.tolist() == [0, 2, 4]
    x.flat[np.asarray([0, 5])] = 9
    assert x.tolist() == [[9, 1, 2], [3, 4, 9]]
    x.flat = np.arange(6)
    assert list(x.flat) == [0, 1, 2, 3, 4, 5]
    assert len(x.flat) == 6
    with pytest.raises(TypeError):
        del x.flat[0]


def test_strides_shape_and_dtype_are_assigned():
    x = np.arange(6.0)
    x.shape = 2, 3
    assert x.tolist() == [[0, 1, 2], [3, 4, 5]]
    x.dtype = np.int64
    assert x.shape == (2, 3)
    assert x[0, 0] == 0


def test_a_view_as_the_class_of_arrays():
    assert type(np.zeros(3).view(np.ndarray)) is np.ndarray


def test_operators_leave_objects_that_refuse_ufuncs_alone():
    class Unit:
        __array_ufunc__ = None

        def __radd__(self, other):
            return "reflected"

    assert np.ones(2).__add__(Unit()) is NotImplemented
    assert np.ones(2) + Unit() == "reflected"
    assert (np.ones(2) == None).tolist() == [False, False]  # noqa: E711


def test_contains_and_divmod():
    assert 3.0 in np.arange(6.0).reshape(2, 3)
    assert 7.0 not in np.arange(6.0)
    quotient, rest = divmod(np.asarray([7.0]), 2)
    assert (quotient.tolist(), rest.tolist()) == ([3.0], [1.0])
    assert divmod(7, np.asarray([2]))[1].tolist() == [1]


@pytest.mark.parametrize("size", [3, 200])
def test_boolean_products_and_powers_have_numpys_dtypes(size):
    x = np.ones((size, size)) > 0
    assert (x @ x).dtype == bool
    assert np.dot(x, x).dtype == bool
    assert (x**2).dtype == numpy.int8
    assert np.linalg.matrix_power(x, 2).dtype == bool


@pytest.mark.parametrize("size", [3, 200])
def test_copies_keep_the_layout(size):
    x = np.ones((size, size + 1)).T
    assert x.copy("K").flags.f_contiguous
    assert x.copy().flags.c_contiguous
    assert np.array(x).flags.f_contiguous
    assert np.zeros_like(x).flags.f_contiguous
    assert np.full_like(x, 3.0).flags.f_contiguous


def test_a_subclass_is_one_of_numpys_class():
    class Named(np.ndarray):
        def total(self):
            return super().sum()

        def __new__(cls):
            return super().__new__(cls, (3,))

    x = Named()
    x[...] = 2
    assert isinstance(x, numpy.ndarray)
    assert x.total() == 6
    assert type(np.ones(3).view(Named)) is Named
    assert type(np.concatenate([np.ones(3), x])) in (np.ndarray, Named)


def test_methods_of_a_subclass_view_it_as_an_array():
    class Named(np.ndarray):
        def __array_ufunc__(self, ufunc, method, *inputs, **options):
            plain = [x.view(np.ndarray) if isinstance(x, Named) else x for x in inputs]
            return getattr(ufunc, method)(*plain, **options).view(Named)

    x = np.arange(3.0).view(Named)
    assert type(x + 1) is Named
    assert type(np.ones(3) * x) is Named
    assert (x + 1).tolist() == [1, 2, 3]
    assert isinstance(x.view(type=np.ndarray), np.ndarray)
    assert x.view(np.int64).dtype == int
    plain = x.view(np.int64, np.ndarray)
    assert type(plain) is type(x.view(np.ndarray)) is numpy.ndarray
    plain[0] = 1
    assert x.view(np.int64).tolist()[0] == 1


def test_subclasses_compute_ufuncs_by_those_of_their_base():
    class Counted(np.ndarray):
        calls = 0

        def __array_ufunc__(self, ufunc, method, *inputs, **options):
            Counted.calls += 1
            plain = [x.view(np.ndarray) if isinstance(x, Counted) else x for x in inputs]
            return super().__array_ufunc__(ufunc, method, *plain, **options)

    x = np.arange(3.0).view(Counted)
    assert np.sin(x).tolist() == numpy.sin(numpy.arange(3.0)).tolist()
    assert (x + 1).tolist() == [1, 2, 3]
    assert Counted.calls == 2


def test_arrays_are_keys_of_a_subclass():
    class Named(np.ndarray):
        pass

    x = np.arange(6).reshape(2, 3).view(Named)
    x[np.asarray([True, False]), np.asarray([2])] = 7
    assert x[np.asarray([0])].tolist() == [[0, 1, 7]]
    assert x[0, 2] == x[(0, 2)] == 7


@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_operators_of_a_subclass_come_first():
    x = np.asarray([[1.0, 2.0], [0.0, 1.0]])
    product = numpy.asarray([[2, 0], [1, 1]]).view(numpy.matrix)
    assert (x * product).tolist() == (numpy.asarray(x) * product).tolist() == [[4, 2], [1, 1]]
    assert (product * x).tolist() == (product * numpy.asarray(x)).tolist() == [[2, 4], [1, 3]]
    masked = numpy.ma.array([1, 2], mask=[False, True])
    for y in (x[0] + masked, x[0] - masked, masked * x[0], x[0] < masked):
        assert isinstance(y, numpy.ma.MaskedArray)
        assert y.mask.tolist() == [False, True]
    assert (x[0] + masked).data.tolist() == (numpy.asarray(x[0]) + masked).data.tolist()


def test_pickles_and_sizes():
    x = np.arange(6.0).reshape(2, 3)
    y = pickle.loads(pickle.dumps(x))
    assert type(y) is np.ndarray
    assert y.tolist() == x.tolist()
    assert sys.getsizeof(x) > x.nbytes


def test_pickles_share_memory_that_is_handed_over_apart():
    x = np.arange(12.0).reshape(3, 4)
    apart = []
    y = pickle.loads(pickle.dumps(x, protocol=5, buffer_callback=apart.append), buffers=apart)
    x[0, 0] = 7
    assert y[0, 0] == 7
    assert pickle.loads(pickle.dumps(x[:, :2])).tolist() == x[:, :2].tolist()


def test_resizing():
    x = np.arange(3)
    x.resize(5)
    assert x.tolist() == [0, 1, 2, 0, 0]
    refused(TypeError, None, x.resize, 5, refcheck="yes")
    y = np.arange(6.0)
    view = y[1:]
    y.resize((2, 3))  # of as many elements: the memory stays
    y[0, 1] = 7
    assert (y.shape, view[0]) == ((2, 3), 7.0)


@pytest.mark.parametrize("key", [0, (0,), slice(None), ..., [0]])
def test_scalars_that_the_dtype_lacks_are_written_as_numpy_writes_them(key):
    for dtype in ("int8", "uint8", "float32"):
        for value in (numpy.int64(300), numpy.uint64(2**64 - 1), numpy.float64(0.1), numpy.int8(3)):
            x, expected = np.zeros(3, dtype), numpy.zeros(3, dtype)
            try:
                expected[key] = value
            except OverflowError:
                with pytest.raises(OverflowError):
                    x[key] = value
            else:
                x[key] = value
                assert x.tolist() == expected.tolist()


def test_methods_have_numpys_signatures():
    names = [name for name in dir(numpy.ndarray) if name[0] != "_"]
    for name in names:
        if callable(numpys := getattr(numpy.ndarray, name)):
            method = getattr(np.ndarray, name)
            assert signature_of(method) == signature_of(numpys), name


def test_products_along_an_axis_without_elements_are_zeros():
    shapes = [((0,), (0,)), ((3, 0), (0,)), ((0,), (0, 2)), ((3, 0), (0, 2)), ((0, 3), (3,))]
    for shape, other in shapes:
        for dtype in ("f8", "c8", "i4", "?"):
            for product in ("dot", "matmul", "vdot"):
                if product == "vdot" and len(shape) + len(other) > 2:
                    continue
                given = numpy.zeros(shape, dtype), numpy.zeros(other, dtype)
                expected = getattr(numpy, product)(*given)
                found = getattr(np, product)(*[np.asarray(x) for x in given])
                assert type(found).__name__ == type(expected).__name__
                assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
                assert numpy.array_equal(found, expected)


def test_the_protocol_of_ufuncs_refuses_what_is_none():
    a = np.array(1)
    for arguments in ((), (1, 2)):
        refused(TypeError, None, a.__array_ufunc__, *arguments)


def test_shapes_are_assigned_where_a_view_has_them():
    x, turned = np.arange(6.0), np.ones((2, 3)).T
    x.shape = 2, -1
    assert x.shape == (2, 3)
    x.shape = 6
    assert x.shape == (6,)
    with pytest.raises(ValueError, match="reshape"):
        x.shape = 4
    with pytest.raises(AttributeError):
        turned.shape = 6
    with pytest.raises(AttributeError):
        del x.shape


@pytest.mark.parametrize("name", ["eq", "ne", "lt", "le", "gt", "ge"])
def test_flat_compares_its_elements(name):
    compare = getattr(operator, name)
    x = np.arange(6.0).reshape(2, 3)
    for other in (2, np.flip(x).ravel(), [0, 1, 2, 3, 4, 6], np.flip(x).flat):
        found = compare(x.flat, other)
        assert type(found) is np.ndarray
        assert found.tolist() == compare(numpy.asarray(x).flat, numpy.asarray(other)).tolist()
    refused(TypeError, "unhashable", hash, x.flat)


class Quantity:
    """A class that computes NumPy's functions itself."""

    def __array_ufunc__(self, ufunc, method, *inputs, **named):
        return ufunc.__name__, len(inputs), sorted(named)

    def __array_function__(self, function, types, args, named):
        return function.__name__, len(args), sorted(named)


@pytest.mark.parametrize("name", ["iadd", "imul", "ipow", "imatmul"])
def test_updates_give_what_the_class_of_the_operand_says(name):
    update = getattr(operator, name)
    assert update(np.ones(3), Quantity()) == update(numpy.ones(3), Quantity())


def test_functions_of_other_classes_get_the_arguments_that_were_given():
    for args in ((np.ones(2), Quantity()), (Quantity(), 2), (Quantity(), np.ones(2), np.ones(2))):
        assert np.outer(*args) == numpy.outer(*args)
    assert np.array_equal(np.ones(2), Quantity()) == ("array_equal", 2, [])


def test_flat_keeps_its_place_and_gives_arrays_of_the_face():
    x = np.arange(6.0).reshape(2, 3)
    flat = x.flat
    assert (next(flat), next(flat), flat.index, flat.coords) == (0.0, 1.0, 2, (0, 2))
    assert list(flat) == [2.0, 3.0, 4.0, 5.0]
    assert type(flat.copy()) is type(flat[1:3]) is np.ndarray
    assert flat.base is x
    flat[0] = 7
    assert (x.flat[0], type(x.flat[-1])) == (7.0, numpy.float64)


class Refusing:
    """Refuses to be an operand of ufuncs."""

    __array_ufunc__ = None

    def __radd__(self, other):
        return type(other)


class First:
    """Goes first, by the older rule."""

    __array_priority__ = 100.0

    def __radd__(self, other):
        return type(other)


@pytest.mark.parametrize("kind", [Refusing, First])
def test_operands_that_compute_themselves_get_the_array(kind):
    x = np.arange(3)
    assert x + kind() in (np.ndarray, numpy.ndarray)
    found = x + Fraction(1, 2)
    assert (type(found), found[1]) == (numpy.ndarray, Fraction(3, 2))


def test_a_list_is_no_element():
    x = np.zeros(2)
    with pytest.raises(ValueError, match="sequence"):
        x[0] = [1]
    x[:1] = [1]
    assert x.tolist() == [1.0, 0.0]


@pytest.mark.parametrize("axis", [None, 1])
def test_no_degrees_of_freedom_are_warned_of(axis):
    x = np.ones((2, 2))
    with pytest.warns(RuntimeWarning, match="Degrees of freedom"):
        found = x.var(axis=axis, ddof=4)
    assert numpy.isnan(found).all() or (found == 0).all()
    assert x.std(axis=1, ddof=1).tolist() == [0.0, 0.0]


class OfNumpys:
    """Computes with NumPy's own arrays alone, as SciPy's sparse arrays do."""

    __array_priority__ = 10.0

    def _compute(self, other):
        return other.sum() + 1 if type(other) is numpy.ndarray else NotImplemented

    __add__ = __radd__ = __sub__ = __rsub__ = __and__ = __rand__ = _compute
    __matmul__ = __rmatmul__ = _compute
    __eq__ = __ne__ = __lt__ = __gt__ = _compute
    __hash__ = None


@pytest.mark.parametrize("name", ["add", "sub", "and_", "matmul", "eq", "ne", "lt", "gt"])
def test_operands_that_know_numpys_arrays_alone_get_them(name):
    compute = getattr(operator, name)
    for x in (np.asarray([1, 2, 3]), np.arange(40_000)):
        assert compute(x, OfNumpys()) == compute(OfNumpys(), x) == x.sum() + 1
    assert compute(numpy.asarray([1, 2]), OfNumpys()) == 4
    with pytest.raises(TypeError, match="unsupported operand"):
        np.ones(3) * OfNumpys()


@pytest.mark.parametrize(
    ("shape", "dtype"), [((3,), None), (4, "S0"), ((2, 3), "f4"), ((0,), int), ((2, 2), "O")]
)
def test_ndarray_makes_arrays_as_numpys_does(shape, dtype):
    found, expected = np.ndarray(shape, dtype), numpy.ndarray(shape, dtype)
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    assert found.itemsize == expected.itemsize
    refused(ValueError, None, np.ndarray, (-1,))
