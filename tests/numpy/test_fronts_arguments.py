"""Arguments of calls of NumPy's face that C answers: those that ask for nothing, those that NumPy's
functions alone know, and `out`."""

import numpy
import pytest

import array_api_nx.numpy as np
from array_api_nx.numpy.adoption import count_numpys
from array_api_nx.numpy.fronts import _DEFAULTS
from tests.numpy.test_fronts import CALLS, EMPTY, V, X, check, given
from tests.support.implementations import needs_call_lists, needs_native
from tests.support.refusals import refused


@needs_native
@needs_call_lists
@pytest.mark.parametrize(("parameter", "value"), _DEFAULTS)
def test_arguments_that_ask_for_nothing_leave_the_call_as_it_is(parameter, value):
    for name in _DEFAULTS[parameter, value].split():
        args, _ = (CALLS | EMPTY)[name][2 if name == "take" else 0]
        modules = (numpy.ndarray, np.ndarray) if name in ("astype", "flatten") else (numpy, np)
        function, ours = [getattr(module, name) for module in modules]
        before = count_numpys(0)
        check(
            ours(*[given(x) for x in args], **{parameter: value}),
            function(*args, **{parameter: value}),
            elements=name not in EMPTY,
        )
        assert count_numpys(0) == before, name


@needs_native
@needs_call_lists
def test_ufuncs_with_their_defaults_are_computed_here():
    x = np.array(X)
    before = count_numpys(0)
    found = np.add(x, x, subok=True, where=True, order="K", casting="same_kind", dtype=None)
    check(found, X + X)
    check(np.exp(x, out=None), numpy.exp(X))
    assert count_numpys(0) == before


def test_parameters_that_numpys_function_lacks_are_refused():
    x = np.array(X)
    refused(TypeError, "where", np.argmax, x, where=True)
    refused(TypeError, "mode", np.sort, x, mode="raise")
    refused(TypeError, "subok", np.sum, x, subok=True)


class Overriding:
    """Computes NumPy's functions itself, and has no elements."""

    def __array_function__(self, function, types, args, named):
        return function.__name__


class Subclass(numpy.ndarray):
    def __array_function__(self, function, types, args, named):
        return f"{function.__name__} of a subclass"


@pytest.mark.parametrize("other", [Overriding(), numpy.ones(3).view(Subclass)])
def test_classes_compute_numpys_functions_that_c_asks(other):
    x, mask = np.array(V), np.array(V > 2)
    for m, own in ((np, x), (numpy, V)):
        expected = "" if type(other) is Overriding else " of a subclass"
        assert m.put(own, [0], other) == f"put{expected}"
        assert m.correlate(own, other) == f"correlate{expected}"
        assert m.lexsort((own, other)) == f"lexsort{expected}"
        assert m.packbits(other) == f"packbits{expected}"
    assert np.putmask(x, mask, other) == f"putmask{expected}"


def test_calls_that_fit_no_parameters_are_refused_in_numpys_words():
    x = np.array(V)
    for call in (
        lambda m, x: m.putmask(x),
        lambda m, x: m.put(x, [0]),
        lambda m, x: m.take(x, [0], mode="other"),
        lambda m, x: m.take(x, [7], mode="raise"),
        lambda m, x: m.repeat(x, repeat=2),
        lambda m, x: m.packbits(x),
        lambda m, x: m.correlate(x, x, mode="other"),
        lambda m, x: m.ravel_multi_index(2, 3),
        lambda m, x: m.choose(x > 2, 2.5),
    ):
        with pytest.raises((TypeError, ValueError, IndexError)) as expected:
            call(numpy, V)
        with pytest.raises(expected.type) as found:
            call(np, x)
        assert str(found.value) == str(expected.value)


def test_copies_of_arrays_of_columns_keep_their_order():
    x = np.array(X).T
    for copied in (np.asarray(x, copy=True), np.array(x, subok=True), x.astype(float)):
        check(copied, X.T.copy("K"))
        copied[0] = 5
    check(x, X.T)
    assert np.asarray(x, order="F") is x


@pytest.mark.parametrize("name", ["atleast_1d", "atleast_2d", "ascontiguousarray", "ravel"])
def test_arrays_without_axes_become_views_with_axes(name):
    x = np.array(2.5)
    view = getattr(np, name)(x)
    view[...] = 4
    assert x[()] == 4
    x[()] = 3
    assert view[0] == 3


def test_new_axes_are_those_of_a_view():
    x = np.array(V)
    for view in (np.array(x, ndmin=3, copy=None), np.atleast_2d(x), np.atleast_2d(x[::2])):
        view[...] = 7
        assert x[0] == 7
        x[0] = 1
    x.flags.writeable = False
    assert not np.atleast_2d(x).flags.writeable
    refused(ValueError, "ndmin", np.array, x, ndmin=65)


@pytest.mark.parametrize("name", ["add", "multiply", "arctan2", "less", "maximum"])
def test_ufuncs_write_into_out(name):
    numpys, ours = getattr(numpy, name), getattr(np, name)
    x, y = np.array(X), np.array(X * 2)
    target = np.zeros(X.shape, bool if name == "less" else float)
    assert ours(x, y, out=target) is target
    check(target, numpys(X, X * 2))
    target[...] = 0
    assert ours(x, y, out=(target,)) is target
    check(target, numpys(X, X * 2))
    if name not in ("less", "maximum"):
        assert ours(x, y, x) is x  # out by position
        check(x, numpys(X, X * 2))
        real = numpy.zeros(X.shape)
        assert ours(y, y, out=real) is real
        numpy.testing.assert_array_equal(real, numpys(X * 2, X * 2))


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "float32", "float64"])
def test_functions_write_into_out_by_its_place(dtype):
    own = (X * 10).astype(dtype)
    calls = {
        "clip": (own, 3, 20),
        "take": (own, numpy.array([1, 0]), 0),
        "dot": (own, own.T.copy()),
        "round": (own, 1),
        "outer": (own[0], own[1]),
    }
    for name, args in calls.items():
        expected = getattr(numpy, name)(*args)
        target = np.empty(expected.shape, expected.dtype)
        given = [np.array(x) if isinstance(x, numpy.ndarray) else x for x in args]
        assert getattr(np, name)(*given, target) is target, name
        numpy.testing.assert_array_equal(target, expected, strict=True)
        if name in ("clip", "round"):
            x = given[0].copy()
            assert getattr(x, name)(*given[1:], x) is x
            numpy.testing.assert_array_equal(x, expected, strict=True)
    # Limits that a dtype lacks limit nothing.
    if dtype == "int8":
        x, low = np.array(own), numpy.clip(own, -300, 5)
        numpy.testing.assert_array_equal(np.clip(x, -300, 5), low, strict=True)


def test_out_of_another_dtype_or_shape_is_numpys():
    x = np.array(X)
    single = np.zeros(X.shape, "f4")
    assert np.add(x, 1, out=single) is single
    check(single, numpy.add(X, 1).astype("f4"))
    refused(TypeError, None, np.add, x, 1.5, out=np.zeros(X.shape, int))
    refused(ValueError, "broadcast", np.add, x, 1, out=np.zeros(3))
    wide = np.zeros((2, *X.shape))
    assert np.add(x, 1, out=wide) is wide
    check(wide, numpy.broadcast_to(X + 1, wide.shape).copy())
    total = np.zeros(3)
    assert np.sum(x, axis=0, out=total) is total
    check(total, X.sum(axis=0))
    element = np.array(0.0)
    assert np.sum(x, out=element) is element
