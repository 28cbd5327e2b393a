"""Bad input: the type of the error, that it names the rule and the advice, that nothing changed."""

import operator

import array_api_strict
import numpy as np
import pytest

import array_api_nx as xp
from tests.support.elementwise import functions
from tests.support.refusals import refused, refused_unchanged
from tests.support.tables import for_each

HUGE = 2**62


class Alien:
    """An array of a library that only speaks DLPack, as torch's does."""

    def __dlpack__(self, **keywords):
        return np.ones(3).__dlpack__(**keywords)

    def __dlpack_device__(self):
        return (1, 0)


@pytest.fixture
def x():
    return xp.asarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


@pytest.fixture
def i():
    return xp.asarray([3, 1, 2])


@for_each(
    ("call", "message"),
    [
        (lambda x, i: x & x, "bitwise_and takes integral or bool dtypes, not float64; convert"),
        (lambda x, i: ~x, "bitwise_invert takes integral or bool dtypes, not float64"),
        (lambda x, i: i & 1.5, "bitwise_and takes integral or bool dtypes, not float64"),
        (lambda x, i: -(x > 1), "negative takes numeric dtypes, not bool; convert with astype"),
        (lambda x, i: (x > 1) - (x > 1), "subtract takes numeric dtypes, not bool"),
        (lambda x, i: xp.astype(x, xp.complex64) < 1, "less takes .* dtypes, not complex64"),
        (lambda x, i: xp.floor(x * 1j), "floor takes .* dtypes, not complex128; convert"),
        (lambda x, i: xp.take(x, x[0], axis=0), "indices must be integers, not float64; convert"),
        (lambda x, i: xp.take(x, x[0] > 1, axis=0), "indices must be integers, not bool"),
        (lambda x, i: xp.take_along_axis(x, x), "indices must be integers, not float64"),
        (lambda x, i: xp.repeat(i, xp.asarray([1.0])), "repeats must be integers, not float64"),
        (lambda x, i: xp.repeat(i, i > 1), "repeats must be integers, not bool; convert"),
        (lambda x, i: xp.finfo(xp.int8), "takes floating-point dtypes, not int8; use iinfo"),
        (lambda x, i: xp.iinfo(xp.float32), "takes integer dtypes, not float32; use finfo"),
        (lambda x, i: xp.arange(3, dtype=xp.bool), "arange makes numbers, not bool; compare"),
        (lambda x, i: xp.astype(x * 1j, xp.float64), r"imaginary parts; take real\(x\) or imag"),
        (lambda x, i: xp.linspace(0, 1j, 3, dtype=xp.float32), "use a complex dtype"),
        (lambda x, i: xp.full(2, 1j, dtype=xp.float64), "does not fit dtype float64; take its"),
        (lambda x, i: xp.asarray(1j, dtype=xp.int8), "does not fit dtype int8; take its .real"),
        (lambda x, i: xp.zeros(2, dtype="float128"), "one of this namespace's dtypes.*'float128'"),
        (lambda x, i: xp.zeros(2, dtype="i3"), "one of this namespace's dtypes, .*'i3'"),
        (lambda x, i: xp.astype(x, np.longdouble), "not <class 'numpy.longdouble'>"),
        (lambda x, i: x.view(np.dtype("f4").newbyteorder("S")), "byte order.*byteswap"),
        (lambda x, i: xp.zeros(2, dtype=object), "one of this namespace's dtypes, .*'object'"),
        (lambda x, i: xp.zeros(2, dtype="U3"), "one of this namespace's dtypes, .*'U3'"),
        (lambda x, i: xp.isdtype("real floating", "numeric"), "one of this namespace's dtypes"),
        (lambda x, i: xp.isdtype(xp.int8, np.longdouble), "a kind must be a str, a dtype or a tup"),
        (lambda x, i: xp.isdtype(xp.int8, ["bool"]), "a kind must be a str, a dtype or a tuple"),
        (lambda x, i: xp.isdtype(xp.int8, None), "a kind must be a str, a dtype or a tuple"),
        (lambda x, i: xp.result_type("a"), "a dtype must be one of"),
        (lambda x, i: xp.can_cast(1, xp.int8), "a dtype must be one of"),
    ],
)
def test_wrong_dtypes(call, message, x, i):
    refused_unchanged(lambda: call(x, i), TypeError, message, x, i)


def test_unknown_kinds():
    for kind in ("float", "int8", "i1"):
        message = f"no kind '{kind}'.*; kinds: bool, "
        refused_unchanged(lambda kind=kind: xp.isdtype(xp.int8, kind), ValueError, message)
    info = xp.__array_namespace_info__()
    for kind in ("float", 3, ["bool"], ("bool", "float")):
        refused_unchanged(
            lambda kind=kind: info.dtypes(kind=kind), ValueError, "no kind .*; kinds: bool, "
        )


FOREIGN = {
    "numpy": (lambda: np.ones(3), r"a numpy ndarray; convert it with asarray\(...\)"),
    "list": (lambda: [1.0, 2.0, 3.0], r"a list; convert it with asarray\(...\)"),
    "tuple": (lambda: (1.0, 2.0, 3.0), r"a tuple; convert it with asarray\(...\)"),
    "strict": (lambda: array_api_strict.ones(3), "an array_api_strict Array; convert it with fr"),
    "dlpack": (Alien, r"Alien; convert it with from_dlpack\(...\) or asarray\(...\)"),
}


def reflected(function):
    return lambda x, other: function(other, x)


USES = {
    "add": lambda x, o: x + o,
    "iadd": lambda x, o: operator.iadd(x, o),
    "eq": lambda x, o: x == o,
    "matmul": lambda x, o: x @ o,
    "imatmul": lambda x, o: operator.imatmul(x, o),
    "sin": lambda x, o: xp.sin(o),
    "sum": lambda x, o: xp.sum(o),
    "argmax": lambda x, o: xp.argmax(o),
    "cumulative_sum": lambda x, o: xp.cumulative_sum(o),
    "where": lambda x, o: xp.where(x > 1, x, o),
    "where condition": lambda x, o: xp.where(o, x, x),
    "clip": lambda x, o: xp.clip(x, o, None),
    "reshape": lambda x, o: xp.reshape(o, (3,)),
    "permute_dims": lambda x, o: xp.permute_dims(o, (0,)),
    "broadcast_to": lambda x, o: xp.broadcast_to(o, (3,)),
    "broadcast_arrays": lambda x, o: xp.broadcast_arrays(x, o),
    "concat": lambda x, o: xp.concat([x, o]),
    "stack": lambda x, o: xp.stack([o]),
    "flip": lambda x, o: xp.flip(o),
    "roll": lambda x, o: xp.roll(o, 1),
    "tile": lambda x, o: xp.tile(o, (2,)),
    "repeat": lambda x, o: xp.repeat(o, 2),
    "unstack": lambda x, o: xp.unstack(o),
    "squeeze": lambda x, o: xp.squeeze(o, axis=0),
    "expand_dims": lambda x, o: xp.expand_dims(o, axis=0),
    "moveaxis": lambda x, o: xp.moveaxis(o, 0, 0),
    "take": lambda x, o: xp.take(o, xp.asarray([0])),
    "take indices": lambda x, o: xp.take(x, o, axis=0),
    "take_along_axis": lambda x, o: xp.take_along_axis(x, o),
    "setitem": lambda x, o: x.__setitem__(0, o),
    "setitem mask": lambda x, o: x.__setitem__(x > 1, o),
    "astype": lambda x, o: xp.astype(o, xp.int8),
    "zeros_like": lambda x, o: xp.zeros_like(o),
    "full": lambda x, o: xp.full((3,), o),
    "full_like": lambda x, o: xp.full_like(x, o),
    "meshgrid": lambda x, o: xp.meshgrid(o),
    "tril": lambda x, o: xp.tril(o),
    "sort": lambda x, o: xp.sort(o),
    "unique_values": lambda x, o: xp.unique_values(o),
    "isin": lambda x, o: xp.isin(x, o),
    "searchsorted": lambda x, o: xp.searchsorted(x[0], o),
    "nonzero": lambda x, o: xp.nonzero(o),
    "matrix_transpose": lambda x, o: xp.matrix_transpose(o),
    "tensordot": lambda x, o: xp.tensordot(x, o),
    "vecdot": lambda x, o: xp.vecdot(x, o),
    "det": lambda x, o: xp.linalg.det(o),
    "solve": lambda x, o: xp.linalg.solve(o, x),
    "fft": lambda x, o: xp.fft.fft(o),
    "linspace": lambda x, o: xp.linspace(o, 1, 3),
    "all": lambda x, o: xp.all(o),
    "diff": lambda x, o: xp.diff(o),
    **{f"xp.{name}": call for name, call in functions("binary").items()},
    **{f"xp.{name} first": reflected(call) for name, call in functions("binary").items()},
}


@for_each("use", USES)
@pytest.mark.parametrize("library", FOREIGN)
@xp.config_context(operands="strict")
def test_arrays_of_other_libraries(library, use, x):
    make, message = FOREIGN[library]
    refused_unchanged(lambda: USES[use](x, make()), TypeError, message, x)


@for_each("library", ["numpy", "list", "tuple", "dlpack"])
@xp.config_context(operands="strict")
def test_arrays_of_other_libraries_on_the_left(library, x):
    make, message = FOREIGN[library]
    refused_unchanged(lambda: make() + x, TypeError, message, x)
    refused_unchanged(lambda: make() == x, TypeError, message, x)
    refused_unchanged(lambda: make() @ x, TypeError, message, x)


@pytest.mark.parametrize(
    ("value", "article"),
    [(None, "a NoneType"), ("a", "a str"), (object(), "an object"), ({}, "a dict"), (3, "an int")],
)
@xp.config_context(operands="strict")
def test_what_is_no_array_at_all(value, article, x):
    refused_unchanged(lambda: xp.reshape(value, (1,)), TypeError, f"not {article}; .*asarray", x)
    if value != 3:
        message = f"x must be an array_api_nx array, not {article}; .*asarray"
        refused_unchanged(lambda: xp.sqrt(value), TypeError, message)
        message = f"an array_api_nx array or a Python scalar, not {article}; .*asarray"
        refused_unchanged(lambda: xp.add(x, value), TypeError, message, x)
        refused_unchanged(lambda: x.__setitem__(0, value), TypeError, message, x)
        refused_unchanged(lambda: operator.iadd(x, value), TypeError, message, x)


ONE_AXIS = {
    "concat": lambda x, a: xp.concat([x, x], axis=a),
    "stack": lambda x, a: xp.stack([x, x], axis=a),
    "unstack": lambda x, a: xp.unstack(x, axis=a),
    "roll": lambda x, a: xp.roll(x, 1, axis=a),
    "repeat": lambda x, a: xp.repeat(x, 2, axis=a),
    "take": lambda x, a: xp.take(x, xp.asarray([0]), axis=a),
    "take_along_axis": lambda x, a: xp.take_along_axis(x, xp.asarray([[0]]), axis=a),
    "sort": lambda x, a: xp.sort(x, axis=a),
    "argsort": lambda x, a: xp.argsort(x, axis=a),
    "argmax": lambda x, a: xp.argmax(x, axis=a),
    "cumulative_sum": lambda x, a: xp.cumulative_sum(x, axis=a),
    "diff": lambda x, a: xp.diff(x, axis=a),
    "vecdot": lambda x, a: xp.vecdot(x, x, axis=a),
    "fft": lambda x, a: xp.fft.fft(xp.astype(x, xp.complex64), axis=a),
}
SEVERAL_AXES = {
    "sum": lambda x, a: xp.sum(x, axis=a),
    "max": lambda x, a: xp.max(x, axis=a),
    "mean": lambda x, a: xp.mean(x, axis=a),
    "std": lambda x, a: xp.std(x, axis=a),
    "any": lambda x, a: xp.any(x, axis=a),
    "count_nonzero": lambda x, a: xp.count_nonzero(x, axis=a),
    "flip": lambda x, a: xp.flip(x, axis=a),
    "squeeze": lambda x, a: xp.squeeze(x, axis=a),
    "expand_dims": lambda x, a: xp.expand_dims(x, axis=a),
    "permute_dims": lambda x, a: xp.permute_dims(x, a if isinstance(a, tuple) else (a, 0)),
    "moveaxis": lambda x, a: xp.moveaxis(x, a, a),
    "fftshift": lambda x, a: xp.fft.fftshift(x, axes=a),
    "vector_norm": lambda x, a: xp.linalg.vector_norm(x, axis=a),
}


@for_each("name", [*ONE_AXIS, *SEVERAL_AXES])
def test_axes_out_of_range(name, x):
    call = (ONE_AXIS | SEVERAL_AXES)[name]
    for axis in (7, -8, 10**30):
        message = rf"axis {axis} is out of range for \d dimensions; legal: from -\d to \d"
        refused_unchanged(lambda axis=axis: call(x, axis), IndexError, message, x)


@for_each("name", [*ONE_AXIS, *SEVERAL_AXES])
def test_axes_that_are_no_ints(name, x):
    call = (ONE_AXIS | SEVERAL_AXES)[name]
    for axis in (1.5, 1.0, "0", 1j):
        message = r"an axis must be an int, not .*; convert it with int\(\)"
        refused_unchanged(lambda axis=axis: call(x, axis), TypeError, message, x)


@for_each("name", [name for name in SEVERAL_AXES if name != "fftshift"])
def test_axes_named_twice(name, x):
    for axes in ((0, 0), (1, -1)) if name != "expand_dims" else ((0, 0), (1, -3)):
        refused_unchanged(
            lambda axes=axes: SEVERAL_AXES[name](x, axes),
            ValueError,
            "name an axis twice; name each axis once",
            x,
        )


@pytest.mark.parametrize(
    "call",
    [
        lambda x: xp.squeeze(x, axis=None),
        lambda x: xp.expand_dims(x, axis=None),
        lambda x: xp.moveaxis(x, None, None),
        lambda x: xp.moveaxis(x, 0, None),
        lambda x: xp.permute_dims(x, None),
        lambda x: xp.stack([x], axis=None),
        lambda x: xp.unstack(x, axis=None),
        lambda x: xp.sort(x, axis=None),
        lambda x: xp.take_along_axis(x, xp.asarray([[0]]), axis=None),
        lambda x: xp.flip(x, axis=(None,)),
    ],
)
def test_none_is_no_axis_everywhere(call, x):
    refused_unchanged(lambda: call(x), TypeError, "an axis must be an int, not None; name one", x)


def test_a_float_is_no_axis_after_an_int_was(x):
    # 1.0 is equal to 1 and hashes like it: a lookup of the one must not find the other.
    cube = xp.ones((1, 2, 2))
    pairs = [
        (lambda n: xp.permute_dims(x, (n(1), n(0)))),
        (lambda n: xp.flip(x, axis=n(1))),
        (lambda n: xp.flip(x, axis=(n(0), n(1)))),
        (lambda n: xp.expand_dims(x, axis=n(1))),
        (lambda n: xp.squeeze(cube, axis=n(0))),
        (lambda n: xp.squeeze(cube, axis=(n(0),))),
        (lambda n: xp.moveaxis(x, n(0), n(1))),
        (lambda n: xp.moveaxis(x, (n(0),), (n(1),))),
        (lambda n: xp.reshape(x, (n(3), n(2)))),
        (lambda n: xp.broadcast_to(x, (n(2), n(3)))),
        (lambda n: xp.sum(x, axis=n(1))),
    ]
    for call in pairs:
        call(int)
        call(int)
        call(np.int64)
        refused(TypeError, r"must be an int.*; convert", call, float)
    for key in (lambda n: (slice(n(0), n(1)),), lambda n: slice(n(1)), lambda n: (0, slice(n(1)))):
        _ = x[key(int)]
        x[key(int)] = 1.0
        with pytest.raises(IndexError, match=r"bounds of a slice must be ints.*convert them with"):
            _ = x[key(float)]
        with pytest.raises(IndexError, match=r"bounds of a slice must be ints"):
            x[key(float)] = 1.0


@for_each(
    ("call", "error", "message"),
    [
        (lambda x: xp.permute_dims(x, (0,)), ValueError, "do not permute 2 .*name each of .* once"),
        (lambda x: xp.permute_dims(x, 0), ValueError, "do not permute 2 dimensions; name each"),
        (lambda x: xp.moveaxis(x, (0, 1), 0), ValueError, "as many destinations as sources"),
        (lambda x: xp.squeeze(x, axis=0), ValueError, "only axes of size 1 go; select an element"),
        (lambda x: xp.roll(x, (1, 2, 3), axis=(0, 1)), ValueError, "one shift per axis.*; give"),
        (lambda x: xp.roll(x, 1.5), TypeError, r"a shift must be an int.*; convert it with int"),
        (lambda x: xp.cumulative_sum(x), ValueError, r"needs an axis; give axis=..., or flatten"),
        (lambda x: xp.take(x, xp.asarray([0])), ValueError, r"needs an axis; give axis="),
        (lambda x: xp.concat(x), TypeError, "a list or tuple of arrays.*; put the arrays in a l"),
        (lambda x: xp.concat([]), ValueError, r"at least one array; use empty\(...\)"),
        (lambda x: xp.stack([]), ValueError, r"at least one array; use empty\(...\)"),
        (lambda x: xp.concat([x[0, 0]]), ValueError, "at least one dimension; use stack"),
        (lambda x: xp.unstack(x[0, 0]), IndexError, "0-dimensional"),
        (lambda x: xp.tril(x[0]), ValueError, "tril needs matrices.*; add axes with expand_dims"),
        (lambda x: xp.meshgrid(x), ValueError, r"1-dimensional arrays.*; flatten with reshape"),
        (lambda x: xp.meshgrid(x[0], indexing="yx"), ValueError, "must be 'xy' or 'ij', not 'yx'"),
    ],
)
def test_other_arguments_about_axes(call, error, message, x):
    refused_unchanged(lambda: call(x), error, message, x)


@for_each(
    ("call", "message"),
    [
        (lambda x: x + xp.ones(4), r"\(2, 3\), \(4,\) cannot be broadcast.*expand_dims"),
        (lambda x: x < xp.ones((3, 3)), "cannot be broadcast: axis -2 has sizes"),
        (lambda x: xp.where(x > 1, x, xp.ones(2)), "cannot be broadcast"),
        (lambda x: xp.clip(x, xp.ones(2)), "broadcast"),
        (lambda x: operator.iadd(x, xp.ones((2, 2, 3))), "cannot change the shape.*use the operat"),
        (lambda x: operator.iadd(x, xp.ones(2)), "cannot be broadcast"),
        (lambda x: xp.broadcast_to(x, (3, 3)), r"shape \(2, 3\) to \(3, 3\).*insert axes with exp"),
        (lambda x: xp.broadcast_to(x, (3,)), "new axes come in front; insert axes with exp"),
        (lambda x: xp.broadcast_to(x, (2, 0)), "cannot broadcast shape"),
        (lambda x: xp.broadcast_arrays(x, xp.ones(4)), "cannot be broadcast"),
        (lambda x: xp.broadcast_shapes((2,), (3,)), "axis -1 has sizes 2 and 3, and sizes must"),
        (lambda x: xp.concat([x, xp.ones((3, 2))]), r"equal sizes on all other axes.*use broadcas"),
        (lambda x: xp.concat([x, xp.ones(3)]), r"equal sizes on all other axes.*use broadcast_to"),
        (lambda x: xp.concat([x] * 20 + [x.T]), "equal sizes on all other axes, but the shapes"),
        (lambda x: xp.stack([x, x.T]), "needs equal shapes.*; pad or slice .* or use broadcast_a"),
        (lambda x: xp.reshape(x, (4,)), "6 elements cannot become 4; give sizes whose product"),
        (lambda x: xp.reshape(x, (-1, -1)), "at most one size may be -1"),
        (lambda x: xp.reshape(x, (-1, 4)), "no size in place of -1 makes 6 elements; give sizes"),
        (lambda x: xp.reshape(x, (-2, 3)), "none lower; give the others"),
        (lambda x: xp.reshape(x[:0], (0, -1)), "no size in place of -1"),
        (lambda x: xp.reshape(x.T, (6,), copy=False), "without a copy.*use copy=None"),
        (lambda x: xp.take_along_axis(x, xp.asarray([0])), "as many dimensions.*expand_dims"),
        (lambda x: xp.take_along_axis(x, xp.zeros((3, 1), dtype=int)), "cannot be broadcast"),
        (lambda x: xp.take(x, xp.asarray([[0]]), axis=0), "one dimension.*; index with brackets"),
        (lambda x: xp.repeat(x[0], xp.asarray([1, 2])), "one number, or one per element"),
        (lambda x: xp.repeat(x[0], xp.asarray([[1, 2, 3]])), "one number, or one per element"),
        (lambda x: xp.full((2,), x), "must be 0-dimensional.*; use broadcast_to"),
        (lambda x: xp.linspace(x[0], 1, 3), "start must be one number, not an array of shape"),
        (lambda x: x @ x, "matmul|core dimension|inner"),
    ],
)
def test_shapes_that_do_not_fit(call, message, x):
    refused_unchanged(lambda: call(x), ValueError, message, x)


MAKERS = {
    "zeros": xp.zeros,
    "ones": xp.ones,
    "empty": xp.empty,
    "full": lambda shape: xp.full(shape, 1.5),
    "full array": lambda shape: xp.full(shape, xp.asarray(1.5)),
    "broadcast_to": lambda shape: xp.broadcast_to(xp.asarray(1.5), shape),
    "broadcast_shapes": lambda shape: xp.broadcast_shapes(shape),
}


@for_each("name", MAKERS)
@for_each(
    ("shape", "error", "message"),
    [
        ((HUGE, 4), ValueError, r"would span more than 2\*\*63 bytes; give smaller sizes"),
        ((2**40, 0, 2**40), ValueError, r"would span more than 2\*\*63 bytes"),
        (2**63, ValueError, r"would span more than 2\*\*63 bytes"),
        (2**64 + 1, ValueError, r"would span more than 2\*\*63 bytes"),
        ((10**30,), ValueError, r"would span more than 2\*\*63 bytes"),
        ((1,) * 65, ValueError, "at most 64 dimensions, not 65; merge some of them with reshape"),
        ((-1,), ValueError, r"sizes must not be negative, but the shape is \(-1,\)"),
        (-3, ValueError, "sizes must not be negative"),
        ((2, -1), ValueError, "sizes must not be negative"),
        (1.5, TypeError, r"an int or a tuple of ints, not 1.5; convert sizes with int\(\)"),
        ((2.0, 3), TypeError, r"an int or a tuple of ints.*; convert sizes with int\(\)"),
        (None, TypeError, "an int or a tuple of ints, not None"),
        ("3", TypeError, "an int or a tuple of ints"),
        ((None,), TypeError, "an int or a tuple of ints"),
    ],
)
def test_shapes_that_cannot_be(name, shape, error, message):
    refused_unchanged(lambda: MAKERS[name](shape), error, message)


@for_each(
    "call",
    [
        lambda one: xp.eye(2**32, 2**32),
        lambda one: xp.arange(HUGE),
        lambda one: xp.arange(10**30),
        lambda one: xp.arange(0.0, 1e30),
        lambda one: xp.arange(-(2**63), 2**63, dtype=xp.int64),
        lambda one: xp.linspace(0, 1, HUGE),
        lambda one: xp.repeat(xp.ones(3), HUGE),
        lambda one: xp.repeat(xp.ones(4), HUGE),
        lambda one: xp.repeat(xp.ones(3), 2**70),
        lambda one: xp.repeat(xp.ones((2, 8)), 2**60, axis=0),
        lambda one: xp.repeat(xp.ones(4), xp.full(4, HUGE)),
        lambda one: xp.repeat(xp.ones(3), xp.asarray([2**64 - 1, 1, 1], dtype=xp.uint64)),
        lambda one: xp.tile(one, (HUGE, 4)),
        lambda one: xp.tile(xp.ones((2, 2)), (2**40, 2**40)),
        lambda one: xp.tile(xp.ones((1,) * 40), (2**60,) + (1,) * 39),
        lambda one: xp.concat([xp.broadcast_to(one, (2**58,))] * 15 + [one]),
        lambda one: xp.concat([xp.broadcast_to(one, (2**58,))] * 64),
        lambda one: xp.concat([xp.broadcast_to(one, (2**29, 2**29))] * 8, axis=1),
        lambda one: xp.concat([xp.broadcast_to(one, (2**29, 2**29))] * 20, axis=None),
        lambda one: xp.stack([xp.broadcast_to(one, (2**58,))] * 64),
        lambda one: xp.stack([xp.broadcast_to(one, (2**29, 2**29))] * 4, axis=-1),
        lambda one: xp.broadcast_to(one, (2**40, 1)) + xp.broadcast_to(one, (1, 2**40)),
        lambda one: xp.meshgrid(*[xp.broadcast_to(one, (2**20,))] * 4),
        lambda one: xp.reshape(xp.ones((0,)), (0, HUGE, 4)),
        lambda one: xp.broadcast_arrays(
            xp.broadcast_to(one, (2**40, 1)), xp.broadcast_to(one, (1, 2**40))
        ),
        lambda one: xp.tensordot(
            xp.broadcast_to(one, (2**40,)), xp.broadcast_to(one, (2**40,)), axes=0
        ),
        lambda one: xp.fft.fft(xp.ones(3), n=HUGE),
    ],
)
def test_results_that_are_too_large(call):
    refused_unchanged(
        lambda: call(xp.ones(1)), ValueError, r"span more than 2\*\*63 bytes; give smaller sizes"
    )


@pytest.mark.parametrize(
    "call",
    [
        lambda: xp.zeros(2**57),
        lambda: xp.full(2**57, 3),
        lambda: xp.linspace(0, 1, 2**57),
        lambda: xp.repeat(xp.ones(2), 2**56),
        lambda: xp.repeat(xp.ones(2), xp.full(2, 2**56)),
        lambda: xp.tile(xp.ones(2), (2**56,)),
        lambda: xp.asarray(xp.broadcast_to(xp.ones(1), (2**57,)), copy=True),
        lambda: xp.broadcast_to(xp.ones(1), (2**57,)) + 1,
    ],
)
def test_results_that_are_merely_larger_than_memory(call):
    refused(MemoryError, "Unable to allocate", lambda: xp.evaluate(call()))


@for_each(
    ("call", "error", "message"),
    [
        (lambda x: xp.reshape(x, (6.0,)), TypeError, r"a size must be an int.*; convert it with"),
        (lambda x: xp.reshape(x, None), TypeError, "a size must be an int, not None"),
        (lambda x: xp.reshape(x, "6"), TypeError, "a size must be an int, not '6'"),
        (lambda x: xp.repeat(x, [1, 2]), TypeError, r"repeats must be an int, not \[1, 2\]"),
        (lambda x: xp.repeat(x[0], xp.asarray([1, -1, 1])), ValueError, "must not be negative"),
        (lambda x: xp.repeat(x[0], xp.asarray(-1)), ValueError, "repeats must not be negative"),
        (lambda x: xp.arange(0, 3, 0), ValueError, "the step of arange must not be 0; use full"),
        (lambda x: xp.arange(float("inf")), ValueError, "arange needs finite numbers"),
        (lambda x: xp.arange(float("nan")), ValueError, "arange needs finite numbers"),
        (lambda x: xp.arange(0.0, 1e300, 1e-300), ValueError, "more elements.*give a larger step"),
        (lambda x: xp.arange(1j), TypeError, r"stop must be an int or a float, not complex"),
        (lambda x: xp.arange("3"), TypeError, "stop must be an int or a float, not str; convert"),
        (lambda x: xp.arange(x), TypeError, r"not Array of shape \(2, 3\); convert it with int"),
        (lambda x: xp.arange(np.ones(2)), TypeError, r"not ndarray of shape \(2,\)"),
    ],
)
def test_sizes_that_are_none(call, error, message, x):
    refused_unchanged(lambda: call(x), error, message, x)


DEEP = {
    "reshape": lambda deep: xp.reshape(deep, (1,) * 65),
    "expand_dims": lambda deep: xp.expand_dims(deep, axis=0),
    "expand_dims twice": lambda deep: xp.expand_dims(xp.ones((1,) * 63), axis=(0, 1)),
    "broadcast_to": lambda deep: xp.broadcast_to(deep, (1,) * 65),
    "broadcast_shapes": lambda deep: xp.broadcast_shapes((1,) * 65, ()),
    "stack": lambda deep: xp.stack([deep, deep]),
    "zeros": lambda deep: xp.zeros((1,) * 65),
    "zeros list": lambda deep: xp.zeros([1] * 65),
    "full": lambda deep: xp.full((1,) * 65, 0),
    "tile": lambda deep: xp.tile(deep, (1,) * 65),
    "meshgrid": lambda deep: xp.meshgrid(*[xp.ones(1)] * 65),
    "tensordot": lambda deep: xp.tensordot(deep, xp.ones(1), axes=0),
}
DEEP_KEYS = {
    "x[None]": None,
    "x[None, ...]": (None, ...),
    "x[..., None]": (..., None),
    "x[0, None, None]": (0, None, None),
    "x[(None,) * 65]": (None,) * 65,
    "x[True]": True,
    "x[None, array]": (None, [0]),
    "x[2-d array]": [[0]],
    "x[None, mask]": (None, [True]),
}


@for_each("name", DEEP)
def test_more_than_64_dimensions(name):
    deep = xp.ones((1,) * 64)
    refused_unchanged(
        lambda: DEEP[name](deep), ValueError, "at most 64 dimensions, not 65; merge some", deep
    )


@for_each("name", DEEP_KEYS)
def test_more_than_64_dimensions_by_an_index(name):
    deep, key = xp.ones((1,) * 64), DEEP_KEYS[name]
    refused_unchanged(lambda: deep[key], IndexError, "at most 64 dimensions", deep)
    refused_unchanged(lambda: deep.__setitem__(key, 5.0), IndexError, "at most 64 dimensions", deep)


def test_64_dimensions_are_fine():
    deep = xp.ones((1,) * 63)
    for made in (
        deep[None],
        xp.expand_dims(deep, axis=-1),
        xp.stack([deep]),
        xp.broadcast_to(deep, (1,) * 64),
        xp.tile(deep, (1,) * 64),
        xp.meshgrid(*[xp.ones(1)] * 64)[63],
        xp.zeros((1,) * 64),
        deep[[[0]]],
    ):
        assert made.ndim == 64
        assert np.asarray(made + 1).shape == (1,) * 64
    assert xp.tile(deep, (1,) * 60 + (2, 3, 4)).shape == (1,) * 60 + (2, 3, 4)
