"""NumPy's arrays, and its scalars, as operands: wherever arrays of this package are taken."""

import doctest
import inspect
import operator
from importlib import import_module
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx import Array
from array_api_nx.tracing.recorder import current
from tests.support.docstrings import needs_docstrings
from tests.support.modules import load
from tests.support.refusals import refused
from tests.support.tables import for_each

ROOT = Path(__file__).parents[2]
DEVICES = ["cpu", "torch:cpu", "jax:cpu", "dask"]


def need(device):
    if device != "cpu":
        pytest.importorskip(device.partition(":")[0])


def on_host(x):
    return np.asarray(x.to_device("cpu"))


def is_alike(x, y):
    if type(x) is not Array:
        parts = isinstance(x, list | tuple)
        return type(x) is type(y) and (not parts or all(map(is_alike, x, y)))
    if type(y) is not Array or (x.dtype, x.device, x.shape) != (y.dtype, y.device, y.shape):
        return False
    return np.array_equal(
        x, y, equal_nan=xp.isdtype(x.dtype, ("real floating", "complex floating"))
    )


def replaced(x, numbers, which):
    """`x` with copies in place of its arrays: NumPy's for those whose numbers are in `which`."""
    if type(x) is Array:
        if next(numbers) in which:
            return np.array(x)
        # A sum of what is pending may be rounded otherwise.
        return xp.asarray(x if current.get() is not None else np.array(x), copy=True)
    if type(x) in (list, tuple):
        return type(x)([replaced(each, numbers, which) for each in x])
    return x


class Checked:
    """A namespace whose functions are also called with NumPy's arrays, one and all."""

    def __init__(self, module, called, failed):
        self.module, self.called, self.failed = module, called, failed

    def __getattr__(self, name):
        value = getattr(self.module, name)
        if isinstance(value, ModuleType):
            return Checked(value, self.called, self.failed)
        if isinstance(value, type) or not hasattr(value, "__qualname__"):
            return value
        return lambda *args, **named: self.call(
            f"{self.module.__name__}.{name}", value, args, named
        )

    def call(self, name, function, args, named):
        given = [*args, *named.values()]

        def answer(which):
            new = replaced(given, count(), which)
            return function(*new[: len(args)], **dict(zip(named, new[len(args) :], strict=True)))

        numbers = count()
        replaced(given, numbers, set())
        total = next(numbers)
        if total and name not in WRITING and current.get() is None:
            self.called.add(name)
            expected = answer(set())
            for which in (set(range(total)), *[{i} for i in range(total)]):
                try:
                    if not is_alike(expected, answer(which)):
                        self.failed.append(f"{name} of other arguments {which}")
                except Exception as error:
                    self.failed.append(f"{name} of {which}: {type(error).__name__}: {error}")
        return function(*args, **named)


# Functions that write to an argument, have undefined elements, or inspect an argument.
WRITING = {
    f"array_api_nx.{name}"
    for name in ("asarray", "empty_like", "evaluate", "explain", "extra.put_along_axis")
}


@needs_docstrings
def test_every_function_takes_numpys_arrays():
    pages = load(ROOT / "docs" / "_site" / "pages.py")
    called = set()
    failed = []
    parse = doctest.DocTestParser().get_examples
    for module in ("", ".linalg", ".fft", ".extra", ".special"):
        where = f"array_api_nx{module}"
        if module == ".special":
            pytest.importorskip("scipy")
        for name in import_module(where).__all__:
            value = getattr(import_module(where), name)
            text = inspect.getdoc(value) or ""
            program = {"xp": Checked(xp, called, failed), "np": np}
            for example in parse(f"{text}\n{pages.examples(where).get(name, '')}"):
                if "import array_api_nx" in example.source:
                    continue
                try:
                    exec(compile(example.source, name, "single"), program)
                except Exception:
                    assert example.exc_msg is not None or "Checked" in example.source, name
                    break
    assert failed == []
    assert len(called) > 250


A = np.asarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
B = np.asarray([[3.0, 1.0, 2.0], [2.0, 7.0, 1.0]])
OPERATORS = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")
CALLS = {
    **{name: getattr(operator, name) for name in (*OPERATORS, "eq", "ne", "lt", "le", "gt", "ge")},
    "matmul": lambda x, y: x @ y.T,
    "maximum": lambda x, y: xp.maximum(x, y),
    "concat": lambda x, y: xp.concat([x, y, x]),
    "stack": lambda x, y: xp.stack((x, y), axis=1),
    "where": lambda x, y: xp.where(x > 2, x, y),
    "clip": lambda x, y: xp.clip(x, y, 4),
    "searchsorted": lambda x, y: xp.searchsorted(xp.asarray([1.0, 4.0]), x) + y,
    "tensordot": lambda x, y: xp.tensordot(x, y, axes=((1,), (1,))),
    "isin": lambda x, y: xp.isin(x, y),
    "hypot": lambda x, y: np.hypot(x, y),
    "solve": lambda x, y: xp.linalg.solve(x[:, :2], y),
    "einsum": lambda x, y: xp.extra.einsum("ab,cb", x, y),
    "interp": lambda x, y: xp.extra.interp(x, xp.asarray([1.0, 5.0]), xp.asarray([0.0, 1.0])) + y,
}


@pytest.mark.parametrize("device", DEVICES)
@for_each("name", CALLS)
def test_numpys_arrays_are_operands_on_either_side(name, device):
    need(device)
    call = CALLS[name]
    with xp.config_context(default_device=device):
        x, y = xp.asarray(A), xp.asarray(B)
        expected = call(x, y)
        committed = xp.asarray(A, device=device), xp.asarray(B, device=device)
    results = [call(committed[0], B), call(A, committed[1])]
    with xp.config_context(default_device=device):
        results += [call(x, B), call(A, y)]
    for result in results:
        assert type(result) is Array
        assert (result.device, result.dtype) == (expected.device, expected.dtype)
        np.testing.assert_allclose(on_host(result), on_host(expected), rtol=1e-14)


@pytest.mark.parametrize("device", DEVICES)
def test_numpys_arrays_are_written_to_arrays(device):
    need(device)
    x, expected = xp.asarray(A, copy=True, device=device), A.copy()
    for name in OPERATORS[:3]:
        x = getattr(operator, f"i{name}")(x, B)
        expected = getattr(operator, f"i{name}")(expected, B)
    x[0, :] = expected[0] = B[1]
    x[B > 2] = expected[B > 2] = np.asarray([7.0, 8.0])
    x[np.asarray([1, 0]), np.asarray([0, 1])] = expected[[1, 0], [0, 1]] = np.asarray([1, 2])
    np.testing.assert_array_equal(on_host(x), expected)
    with pytest.raises(TypeError, match="loses data"):
        x[...] = B + 1j


def test_an_array_is_written_to_numpys_by_its_operator():
    a, x = A.copy(), xp.asarray(B)
    same = a
    a += x
    assert a is same
    np.testing.assert_array_equal(a, A + B)


def test_what_shares_memory_is_read_before_it_is_written():
    x = xp.asarray(np.arange(9.0).reshape(3, 3), copy=True)
    expected = np.arange(9.0).reshape(3, 3)
    x += np.asarray(x).T
    np.testing.assert_array_equal(x, expected + expected.T)
    big = xp.asarray(np.arange(2e6), copy=True)
    view = np.asarray(big)
    doubled = 2 * view + big  # runs before the memory is written
    view[:] = 0
    assert float(doubled[3]) == 9.0


def layouts():
    read_only = A.copy()
    read_only.flags.writeable = False
    packed = np.zeros(7, [("a", "u1"), ("b", "f8")])["b"][:6]
    packed[:] = A.ravel()
    return {
        "rows": A,
        "columns": np.asfortranarray(A),
        "flipped": A[::-1, ::-1],
        "stepped": np.repeat(A, 2, axis=1)[:, ::2],
        "broadcast": np.broadcast_to(A[0], (2, 3)),
        "read-only": read_only,
        "unaligned": packed.reshape(2, 3),
        "swapped": A.astype(">f8"),
        "one row": A[:1],
        "without axes": np.asarray(3.0),
        "empty": np.zeros((0, 3)),
        "single": A.astype("float32"),
        "integers": A.astype("int16"),
        "unsigned": A.astype("uint64"),
        "bools": A > 2,
        "complex": A * 1j,
    }


@pytest.mark.parametrize("device", DEVICES)
@for_each(("name", "a"), layouts().items())
def test_layouts_and_dtypes(name, a, device):
    need(device)
    before = a.copy()
    for dtype in ("float32", "int8") if device == "cpu" else ("float32",):
        x = xp.ones((1, 3), dtype=dtype, device=device)
        for result in (x + a, a + x, xp.add(a, x)):
            expected = x + xp.asarray(a, device=device)
            assert (result.dtype, result.shape) == (expected.dtype, expected.shape)
            np.testing.assert_array_equal(on_host(result), on_host(expected))
    np.testing.assert_array_equal(a, before)


def test_views_share_the_memory_of_numpys_array():
    a = np.arange(6.0)
    for view in (xp.reshape(a, (2, 3)), xp.flip(a), xp.permute_dims(a.reshape(2, 3), (1, 0))):
        assert np.shares_memory(np.asarray(view), a)
    fixed = a.copy()
    fixed.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        xp.reshape(fixed, (2, 3))[0, 0] = 1.0


@for_each("dtype", [object, "longdouble", "U3", "datetime64[s]", [("a", "f8")]])
def test_dtypes_that_the_standard_lacks_are_named(dtype):
    x, a = xp.ones(3), np.zeros(3, dtype)
    name = str(a.dtype).replace("[", r"\[").replace("(", r"\(").replace("<", ".")
    for call in (
        lambda: x + a,
        lambda: xp.sin(a),
        lambda: xp.where(x > 1, a, x),
        lambda: xp.concat([x, a]),
        lambda: operator.iadd(x, a),
        lambda: x.__setitem__(..., a),
    ):
        refused(TypeError, rf"dtype {name[:8]}.*which the standard lacks; conv", call)


class Lengths(np.ndarray):
    """NumPy's array with a unit, which answers calls of ufuncs itself."""

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        return NotImplemented


@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_arrays_that_mean_more_than_their_elements_are_refused():
    x = xp.ones((2, 2))
    for a in (np.matrix([[1.0, 2.0]]), np.ones(2).view(Lengths)):
        with pytest.raises(TypeError, match=r"mean more .*asarray\(numpy.asarray\(x\)\)"):
            _ = x + a
    refused(TypeError, r"mask.*filled", lambda: x + np.ma.masked_array([1.0, 2.0], [True, False]))


def test_other_classes_over_plain_memory_are_operands(tmp_path):
    a = np.memmap(tmp_path / "a", "float64", "w+", shape=(3,))
    a[:] = 2.0
    for result in (xp.ones(3) * a, a * xp.ones(3)):
        assert type(result) is Array
        assert float(xp.sum(result)) == 6.0


@for_each("value", [[1.0, 2.0], (1.0, 2.0), "a", None, {1.0}])
def test_what_is_no_array_stays_an_error(value):
    x = xp.ones(2)
    for call in (lambda: x + value, lambda: xp.exp(value), lambda: x.__setitem__(..., value)):
        refused(TypeError, None, call)


@for_each("name", ["exp", "sqrt", "isnan", "abs", "negative", "sign", "square", "floor"])
def test_unary_functions_take_python_scalars(name):
    function = getattr(xp, name)
    for value in (0.25, 2, -1.5):
        if value >= 0 or name != "sqrt":
            result = function(value)
            expected = function(xp.asarray(value))
            assert type(result) is Array
            assert (result.dtype, result.shape) == (expected.dtype, ())
            assert float(result) == float(expected)


def test_python_scalars_have_their_dtypes_rules():
    assert xp.logical_not(True).dtype is xp.bool
    assert xp.conj(1j).dtype is xp.complex128
    refused(TypeError, r"bitwise_invert takes .* dtypes, not float64", xp.bitwise_invert, 0.5)
    refused(TypeError, "negative takes numeric dtypes, not bool", xp.negative, True)
    refused(OverflowError, None, xp.abs, 2**70)
    refused(TypeError, "at least one argument must be an array", xp.add, 1, 2)


VALUES = {
    "where": lambda x, value: xp.where(x > 2, value, x),
    "full": lambda x, value: xp.full(3, value, dtype=x.dtype),
    "full_like": lambda x, value: xp.full_like(x, value),
    "clip": lambda x, value: xp.clip(x, value, None),
    "pad": lambda x, value: xp.extra.pad(x, 1, constant_values=value),
    "pad pairs": lambda x, value: xp.extra.pad(x, 1, constant_values=((0, value), (value, 0))),
    "nan_to_num": lambda x, value: xp.extra.nan_to_num(x, nan=value),
    "add": lambda x, value: value + x,
    "maximum": lambda x, value: xp.maximum(x, value),
}


@pytest.mark.parametrize("device", DEVICES)
@for_each("name", VALUES)
def test_numpys_scalars_are_values(name, device):
    need(device)
    x = xp.asarray(A, device=device)
    for value in (np.float64(2.5), np.float64("nan"), np.float32(0.5), np.int64(3), np.uint8(2)):
        result, expected = VALUES[name](x, value), VALUES[name](x, value.item())
        assert (result.dtype, result.device.name) == (xp.float64, expected.device.name)
        np.testing.assert_array_equal(on_host(result), on_host(expected))
        y, z = [xp.asarray(A, copy=True, device=device) for _ in range(2)]
        y[1, :], z[1, :] = value, value.item()
        np.testing.assert_array_equal(on_host(y), on_host(z))


def test_strict_operands_are_refused():
    x, a = xp.ones((2, 3)), A.copy()
    calls = [
        lambda: x + a,
        lambda: a + x,
        lambda: a @ x.T,
        lambda: operator.iadd(x, a),
        lambda: operator.iadd(a, x),
        lambda: x.__setitem__(..., a),
        lambda: xp.sin(a),
        lambda: xp.sum(a),
        lambda: xp.exp(0.5),
        lambda: xp.concat([x, a]),
        lambda: xp.where(x > 1, a, x),
        lambda: xp.compile(lambda y: y + 1)(a),
        lambda: xp.compile(lambda y: y + a)(x),
    ]
    if find_spec("scipy"):
        calls.append(lambda: xp.special.erf(0.5))
    for call in calls:
        with xp.config_context(operands="strict"), pytest.raises(TypeError, match="asarray"):
            call()
        call()


def test_a_strict_thread_says_nothing_about_others():
    with xp.config_context(operands="strict"):
        with xp.config_context(operands="numpy"):
            assert type(xp.ones(3) + np.ones(3)) is Array
        refused(TypeError, None, lambda: xp.ones(3) + np.ones(3))


def test_arrays_follow_and_say_so():
    pytest.importorskip("torch")
    x = xp.ones(3, device="torch:cpu")
    with xp.config_context(placement="strict"), pytest.raises(ValueError, match="different dev"):
        _ = x + np.ones(3)
    assert (np.ones(3) + x).device == x.device


def test_compiled_functions_take_numpys_arrays():
    weights = np.asarray([1.0, 2.0, 3.0])

    @xp.compile
    def weighted(x, scale):
        return xp.sum(x * weights, axis=-1) * scale, x

    x, scale = xp.asarray(A), xp.asarray([2.0, 3.0])
    expected = np.sum(A * weights, axis=-1) * np.asarray([2.0, 3.0])
    for args in ((x, scale), (A, scale), (x, np.asarray(scale)), (A, np.asarray(scale))):
        total, same = weighted(*args)
        assert type(total) is type(same) is Array
        np.testing.assert_array_equal(total, expected)
    assert weighted.cache_info().traces == 1
    weights[:] = 0  # arrays from outside are read at each call
    assert float(xp.sum(weighted(A, scale)[0])) == 0.0
    assert xp.eval_shape(lambda y: y[0], A).shape == (3,)
