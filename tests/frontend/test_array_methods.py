"""Methods and attributes of the array beyond the standard's."""

import inspect
from importlib.util import find_spec
from types import FunctionType

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.frontend import array
from array_api_nx.tracing.recorder import TraceError
from tests.support.docstrings import needs_docstrings
from tests.support.refusals import refused
from tests.support.sizes import THRESHOLD
from tests.support.tables import for_each

DEVICES = ["cpu", "torch:cpu", "jax:cpu", "dask"]
REDUCTIONS = ["all", "any", "max", "mean", "min", "prod", "std", "sum", "var"]
Either = "Any"
"""An array of ours or NumPy's."""


def on(device, values):
    """A copy of `values` on a device; skips the test where its library is missing."""
    module = device.partition(":")[0]
    if module != "cpu" and find_spec(module) is None:
        pytest.skip(f"{module} is not installed")
    return xp.asarray(values, device=device, copy=True)


def check(result, expected, dtype=True):
    """That `result` is NumPy's."""
    assert type(result) is xp.Array
    found, wanted = np.asarray(result.to_device("cpu")), np.asarray(expected)
    assert found.shape == wanted.shape
    assert not dtype or found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, rtol=1e-6 if wanted.dtype.itemsize == 4 else 1e-13)


def numbers(dtype, shape=(3, 1, 4)):
    rng = np.random.default_rng(0)
    if dtype == "bool":
        return rng.random(shape) < 0.5
    if dtype.startswith("complex"):
        return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(dtype)
    return (100 * rng.normal(size=shape)).astype(dtype)


@pytest.mark.parametrize("device", DEVICES)
def test_argsort_is_numpys(device):
    values = numbers("int8", (4, 5))
    x = on(device, values)
    for options in ({}, {"axis": 0}, {"axis": None}, {"kind": "stable"}):
        # The order of equal elements is NumPy's only in stable sorts.
        expected = values.argsort(**options | {"kind": "stable"})
        check(x.argsort(**options), expected)
        check(np.argsort(x, **options), expected)
    refused(TypeError, "no order=", x.argsort, order="a")
    refused(IndexError, None, x.argsort, 2)


@pytest.mark.parametrize("device", DEVICES)
def test_searchsorted_is_numpys(device):
    values, v = np.array([1.0, 2.0, 2.0, 5.0]), np.array([[0.0, 2.0], [5.0, 7.0]])
    x, wanted = on(device, values), on(device, v)
    sorter = np.array([3, 1, 2, 0])
    for side in ("left", "right"):
        check(x.searchsorted(wanted, side), values.searchsorted(v, side))
        check(x.searchsorted(2.0, side), values.searchsorted(2.0, side))
        check(
            on(device, values[::-1]).searchsorted(wanted, side, on(device, sorter)),
            values[::-1].searchsorted(v, side, sorter),
        )


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_positions_of_extremes_are_numpys(name):
    values = numbers("float64")
    x = on("cpu", values)
    for options in ({}, {"axis": 2}, {"axis": -1, "keepdims": True}, {"keepdims": True}):
        check(getattr(x, name)(**options), getattr(values, name)(**options))
        check(getattr(np, name)(x, **options), getattr(np, name)(values, **options))


def test_means_and_variances_have_a_dtype_and_a_correction():
    values = numbers("float32")
    x = on("cpu", values)
    check(x.mean(dtype=xp.float64), values.mean(dtype=np.float64))
    check(x.mean(0, xp.float64), values.mean(0, np.float64))
    check(x.prod(dtype=xp.float64), values.prod(dtype=np.float64))
    for name in ("std", "var"):
        expected = getattr(values, name)(axis=0, dtype=np.float64, ddof=1)
        check(getattr(x, name)(axis=0, dtype=xp.float64, ddof=1), expected)
        check(getattr(x, name)(axis=0, dtype=xp.float64, correction=1), expected)
        check(getattr(np, name)(x, axis=0, ddof=1), getattr(np, name)(values, axis=0, ddof=1))


@pytest.mark.parametrize("device", DEVICES)
def test_rounding_to_decimals_is_numpys(device):
    for dtype in ("float64", "float32", "int64", "int16", "uint8", "complex128"):
        values = numbers(dtype)
        x = on(device, values)
        for decimals in (0, 2, 1, -1, -2, 400):
            if decimals == 400 and dtype.startswith("complex"):
                continue  # NumPy asks for infinity as an integer
            with np.errstate(invalid="ignore", over="ignore"):
                expected = values.round(decimals)
                check(x.round(decimals), expected)
    check(np.round(on(device, numbers("float64")), 2), np.round(numbers("float64"), 2))


def test_rounding_is_numpys_bit_for_bit():
    values = np.array([0.5, 1.5, -2.5, 2.675, 1.005, -0.0, 1e300, np.nan, np.inf, -np.inf])
    for decimals in (0, 1, 2, 3, -1, -2, 22, 23, 24):
        with np.errstate(over="ignore", invalid="ignore"):
            found = np.asarray(xp.asarray(values).round(decimals))
            assert found.tobytes() == values.round(decimals).tobytes()


MOVEMENTS = [
    lambda x: x.transpose(),
    lambda x: x.transpose(None),
    lambda x: x.transpose(2, 0, 1),
    lambda x: x.transpose((0, -1, 1)),
    lambda x: x.transpose([1, 0, 2]),
    lambda x: x.squeeze(),
    lambda x: x.squeeze(1),
    lambda x: x.squeeze(axis=(1,)),
    lambda x: x.ravel(),
    lambda x: x[:, 0].T.squeeze(),
    lambda x: x.T,
]
COPIES = [
    lambda x: x.copy(),
    lambda x: x.copy(order="K"),
    lambda x: x.flatten(),
    lambda x: x.mT.flatten("C"),
    lambda x: x.transpose(2, 0, 1).ravel(),
    lambda x: x.astype(x.dtype),
]


@for_each("call", [*MOVEMENTS, *COPIES])
def test_movement_is_numpys(call):
    values = numbers("int64")
    x = on("cpu", values)
    result = call(x)
    check(result, call(values))
    result[...] = 0
    assert bool((x == 0).all()) == (call in MOVEMENTS)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("threshold", [0, THRESHOLD])
def test_the_transpose_reverses_all_axes(device, threshold):
    for shape in [(), (5,), (2, 3), (2, 3, 4), (2, 1, 3, 0), (2, 3, 1, 4)]:
        values = numbers("float64", shape)
        x = on(device, values)
        with xp.config_context(fusion_threshold=threshold):
            check(x.T, values.T)
            check((2 * x).T + 1, 2 * values.T + 1)
        check(xp.compile(lambda x: x.T + 1)(x), values.T + 1)
        assert xp.eval_shape(lambda x: x.T, x).shape == shape[::-1]
        view = x.T  # writes go through it
        view[...] = 0.0
        check(x, np.zeros(shape))


def test_numpys_functions_call_the_methods():
    values = numbers("float64")
    x = on("cpu", values)
    check(np.transpose(x), values.T)
    check(np.transpose(x, (2, 0, 1)), values.transpose(2, 0, 1))
    check(np.squeeze(x), values.squeeze())
    check(np.squeeze(x, axis=1), values.squeeze(1))
    check(np.reshape(x, (4, 3)), values.reshape(4, 3))


@pytest.mark.parametrize("device", DEVICES)
def test_elements_as_python_scalars(device):
    for dtype in ("float64", "float32", "int8", "bool", "complex128"):
        values = numbers(dtype)
        x = on(device, values)
        assert x.tolist() == values.tolist()
        assert x[0, 0, 0].tolist() == values[0, 0, 0].tolist()
        for position in ((0,), (7,), (-1,), (1, 0, 2), ((2, 0, -1),)):
            found, expected = x.item(*position), values.item(*position)
            assert found == expected
            assert type(found) is type(expected)
        assert x[:1, :, :1].item() == values[0, 0, 0].item()
        assert x[:, 0, 0].item(-1) == values[:, 0, 0].item(-1)
    assert xp.zeros((2, 0)).tolist() == [[], []]


@pytest.mark.parametrize(
    ("position", "error", "words"),
    [
        ((), ValueError, r"one element, not shape \(3, 1, 4\); give a position"),
        ((12,), IndexError, "position 12 is out of range for an array of 12 elements"),
        ((1, 2), ValueError, "2 indices for an array of 3 axes"),
        ((0, 1, 0), IndexError, "out of range"),
        ((1.0,), TypeError, "position must be an int, not 1.0"),
    ],
)
def test_item_refuses(position, error, words):
    refused(error, words, on("cpu", numbers("float64")).item, *position)


def test_astype_is_numpys():
    x = on("cpu", numbers("float64"))
    check(x.astype(xp.int32), numbers("float64").astype(np.int32))
    assert x.astype(xp.float64, copy=False) is x
    assert x.astype(xp.float64) is not x
    assert x.astype(float, casting="safe", order="C", subok=False).dtype is xp.float64
    assert x.astype(xp.float32, casting="same_kind").dtype is xp.float32
    with pytest.raises(TypeError, match="'safe' does not allow float64 to become float32"):
        x.astype(xp.float32, casting="safe")
    with pytest.raises(TypeError, match="'same_kind' does not allow float64 to become int64"):
        x.astype(xp.int64, casting="same_kind")
    refused(TypeError, "'no' does not allow", x.astype, xp.float32, casting="no")
    refused(ValueError, "no casting 'any'; known: 'no'", x.astype, xp.float32, casting="any")
    refused(ValueError, "astype is row-major, not order='F'", x.astype, xp.float32, order="F")


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: x.mean(dtype=xp.int64), TypeError, "mean computes in a floating-point dtype"),
        (lambda x: x.var(ddof=1, correction=1), ValueError, "two names of one parameter"),
        (lambda x: x.round(1.5), TypeError, "decimals must be an int"),
        (lambda x: (x > 0).round(1), TypeError, "round takes numeric dtypes, not bool"),
        (lambda x: x.flatten("F"), ValueError, "flatten is row-major, not order='F'"),
        (lambda x: x.ravel(order="K"), ValueError, "ravel is row-major, not order='K'"),
        (lambda x: x.copy(order="F"), ValueError, "copy is row-major"),
        (lambda x: x.transpose(0, 1), ValueError, "axes"),
        (lambda x: x.squeeze(0), ValueError, "axis 0"),
        (lambda x: setattr(x, "imag", 1.0), TypeError, "no imaginary parts to write to"),
    ],
)
def test_methods_refuse(call, error, words):
    x = on("cpu", numbers("float64"))
    refused(error, words, call, x)
    check(x, numbers("float64"))


NAMES = sorted(
    {
        *[*REDUCTIONS, "argmax", "argmin", "argsort", "astype", "conj", "copy", "flatten", "item"],
        *["ravel", "reshape", "round", "searchsorted", "squeeze", "tolist", "transpose", "view"],
    }
)


@needs_docstrings
@for_each("name", NAMES)
def test_methods_know_their_names_and_say_what_they_do(name):
    method = getattr(xp.Array, name)
    assert method.__name__ == name
    assert inspect.getdoc(method)
    signature = inspect.signature(method)
    assert signature.return_annotation is not inspect.Signature.empty
    for parameter in list(signature.parameters.values())[1:]:
        assert parameter.annotation is not inspect.Parameter.empty


LAYOUTS = [
    lambda x: x,
    lambda x: x.mT,
    lambda x: x[::-1, :, 1::2],
    lambda x: x[0, 0, 0],
    lambda x: x[:0],
]


class TestParts:
    @pytest.mark.parametrize("device", DEVICES)
    @pytest.mark.parametrize("dtype", ["complex64", "complex128"])
    def test_are_numpys(self, dtype, device):
        for layout in LAYOUTS:
            values = numbers(dtype)
            x, a = layout(on(device, values)), layout(values)
            check(x.real, a.real)
            check(x.imag, a.imag)
            check(x.conj(), a.conj())

    @pytest.mark.parametrize("device", ["cpu", "torch:cpu", "dask"])
    def test_are_views(self, device):
        for layout in LAYOUTS:
            values = numbers("complex128")
            whole = on(device, values)
            x, a = layout(whole), layout(values)
            x.real[...] = 2.0
            x.imag[...] = x.imag * 3.0
            if a.ndim:
                a.real[...] = 2.0
                a.imag[...] = a.imag * 3.0
            else:
                values[0, 0, 0] = complex(2.0, 3.0 * values[0, 0, 0].imag)
            check(whole, values)

    @pytest.mark.parametrize("device", DEVICES)
    def test_are_assigned(self, device):
        for layout in LAYOUTS:
            values = numbers("complex64")
            whole = on(device, values)
            x = layout(whole)
            real = np.ones(x.shape[-1:], np.float32)
            x.real = xp.asarray(real, device=device)
            x.imag = float("inf")
            x.real *= 2
            expected = np.full(x.shape, complex(2.0, np.inf), dtype=np.complex64)
            assert np.asarray(x.to_device("cpu")).tobytes() == expected.tobytes()

    def test_of_real_arrays(self):
        x = on("cpu", numbers("float32"))
        assert x.real is x
        assert x.conj() is x
        check(x.imag, np.zeros(x.shape, np.float32))
        with pytest.raises(ValueError, match="cannot write"):
            x.imag[...] = 1.0
        x.real = 3
        assert bool(xp.all(x == 3.0))

    def test_refuse_what_does_not_fit(self):
        z = on("cpu", numbers("complex128"))
        with pytest.raises(ValueError, match="shape"):
            z.real = xp.ones(3)
        with pytest.raises(TypeError, match="1j is no value of dtype float64"):
            z.imag = 1j
        with pytest.raises(ValueError, match="cannot write"):
            xp.broadcast_to(z[0], (2, 1, 4)).real = 1.0
        check(z, numbers("complex128"))


def test_bytes():
    for dtype in ("bool", "int16", "float32", "complex128"):
        values = numbers(dtype)
        x = on("cpu", values)
        assert (x.itemsize, x.nbytes) == (values.itemsize, values.nbytes)
        assert x[:0].nbytes == 0


def standardised(x):
    """Most of the methods in one function."""
    y = (x - x.mean(axis=0)) / x.std(axis=0, ddof=1)
    z = y.round(3).transpose().ravel().astype(xp.complex128)
    z.imag = y.T.copy().flatten()
    total = z.conj().real.sum() + z.imag.max() + y.squeeze().min()
    return y.reshape(-1) * total + xp.astype(x.argmax() + (x > 0).any(), x.dtype)


@pytest.mark.parametrize("device", DEVICES)
def test_methods_in_compiled_functions(device):
    compiled = xp.compile(standardised)
    for rows in (5, 7):
        x = on(device, np.random.default_rng(rows).normal(size=(rows, 3)))
        check(compiled(x), np.asarray(standardised(x).to_device("cpu")))
    spec = xp.eval_shape(standardised, xp.ones((4, 3)))
    assert (spec.shape, spec.dtype) == ((12,), xp.float64)
    refused(TraceError, None, xp.compile(lambda x: x.item(0)), xp.ones(3))


class TestView:
    def test_reads_bytes_as_another_dtype(self):
        z = xp.asarray([[1 + 2j, 3 + 4j]])
        x = z.view(float)
        assert x.dtype is xp.float64
        assert np.asarray(x).tolist() == [[1.0, 2.0, 3.0, 4.0]]
        x[0, 0] = 9.0
        assert complex(z[0, 0]) == 9 + 2j
        assert np.asarray(x.view(xp.complex128)).tolist() == [[9 + 2j, 3 + 4j]]

    def test_of_the_same_dtype_shares_memory(self):
        x = xp.asarray([1.0, 2.0])
        for view in (x.view(), x.view(xp.float64)):
            assert view is not x
            view += 1.0
        assert np.asarray(x).tolist() == [3.0, 4.0]

    def test_of_elements_of_one_size_takes_any_strides(self):
        x = xp.asarray(np.arange(6, dtype=np.int64).reshape(2, 3)).T
        assert np.asarray(x.view(xp.uint64)).tolist() == [[0, 3], [1, 4], [2, 5]]

    def test_refuses_what_bytes_do_not_say(self):
        with pytest.raises(ValueError, match="no whole number of complex128"):
            xp.asarray([1.0, 2.0, 3.0]).view(complex)
        refused(ValueError, "no whole number", xp.asarray(1.0).view, xp.float32)
        with pytest.raises(ValueError, match="contiguous last axis; copy the array"):
            xp.asarray([[1.0, 2.0], [3.0, 4.0]]).T.view(complex)
        refused(TypeError, "convert with astype", xp.asarray([True]).view, xp.uint8)
        refused(TypeError, "convert with astype", xp.asarray([1], dtype=xp.uint8).view, bool)


def test_rounding_and_division_with_remainder_by_pythons_functions():
    x = xp.asarray([1.26, -2.5, 7.0])
    assert (round(x[0]), type(round(x[0]))) == (1, int)
    assert float(round(x[0], 1)) == 1.3
    assert round(x, 1).tolist() == [1.3, -2.5, 7.0]
    assert round(x).tolist() == [1.0, -2.0, 7.0]
    quotient, rest = divmod(x, 2.0)
    assert (quotient.tolist(), rest.tolist()) == ([0.0, -2.0, 3.0], [1.26, 1.5, 1.0])
    assert [part.tolist() for part in divmod(7, xp.asarray([2, 3]))] == [[3, 2], [1, 1]]


def test_fill_writes_one_value():
    x = xp.zeros((2, 3), dtype=xp.int64)
    assert x[:, 1].fill(7) is None
    assert x.tolist() == [[0, 7, 0], [0, 7, 0]]
    refused(TypeError, "no value of dtype int64", x.fill, 0.5)


def test_all_and_any_take_numpys_default_of_out():
    x = xp.asarray([[1, 0], [2, 3]])
    assert xp.all(x, axis=1, out=None).tolist() == [False, True]
    assert bool(xp.any(x, out=None))
    refused(TypeError, r"assign the result, y\[...\] = any", xp.any, x, out=xp.zeros(()))


def test_what_methods_do_has_the_parameters_that_the_class_declares():
    found = []
    for name, declared in array.DECLARED.items():
        body = array.MEANINGS.get(name)
        if isinstance(declared, FunctionType) and body is not None:
            while body.__wrapped__ is not declared:
                body = body.__wrapped__
            assert _parameters(body) == _parameters(declared), name
            found.append(name)
    assert len(found) > 50


def _parameters(function):
    code = function.__code__
    count = code.co_argcount + code.co_kwonlyargcount
    counts = code.co_posonlyargcount, code.co_argcount, code.co_flags & 0b1100
    return (*counts, *code.co_varnames[1:count])  # the array itself may have any name
