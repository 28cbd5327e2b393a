"""`recorded`: which names of the namespace were called, by whom, and that all is as before."""

import operator
import os
import threading
from collections import Counter
from functools import partial

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx import add as add_by_name
from array_api_nx.testing import Call, Calls, recorded, recording
from tests.support.processes import python
from tests.support.refusals import refused
from tests.support.tables import for_each
from tests.support.threads import together

BINARY = [
    *["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and_", "or_", "xor"],
    *["lshift", "rshift", "matmul", "eq", "ne", "lt", "le", "gt", "ge"],
]
REFLECTED = [name for name in BINARY[:12] if name != "matmul"]
UNARY = ["abs", "invert", "neg", "pos"]


def public():
    """What stands in all places that functions which record could take."""
    modules = [xp, xp.linalg, xp.fft, xp.extra, xp.special]
    found = {f"{m.__name__}.{n}": getattr(m, n) for m in modules for n in m.__all__}
    found |= {f"Array.{name}": value for name, value in vars(xp.Array).items()}
    return found


def integers(device):
    return xp.asarray([[1, 2], [3, 4]], device=device)


@for_each("name", BINARY)
def test_binary_operators(name, device):
    x = integers(device)
    with recorded() as calls:
        getattr(operator, name)(x, x)
    (call,) = calls
    dunder = f"__{name.rstrip('_')}__"
    assert call.name == f"Array.{dunder}"
    assert call.dtypes == (xp.int64, xp.int64)
    assert call.shapes == ((2, 2), (2, 2))
    assert call.devices == (xp.Device(device),) * 2
    assert call.keywords == ()
    assert call.filename == __file__
    with recorded() as calls:
        getattr(x, dunder)(x)
    assert [call.name for call in calls] == [f"Array.{dunder}"]


@for_each("name", REFLECTED)
def test_reflected_operators(name):
    x = integers("cpu")
    with recorded() as calls:
        getattr(operator, name)(7, x)
    (call,) = calls
    assert (call.name, call.dtypes) == (f"Array.__r{name.rstrip('_')}__", (xp.int64,))


@pytest.mark.parametrize("name", [n for n in BINARY[:13] if n not in ("truediv", "matmul")])
def test_operators_in_place(name):
    x = integers("cpu")
    with recorded() as calls:
        getattr(operator, f"i{name.rstrip('_')}")(x, 2)
    (call,) = calls
    assert (call.name, call.dtypes) == (f"Array.__i{name.rstrip('_')}__", (xp.int64,))


@for_each("name", UNARY)
def test_unary_operators(name, device):
    x = integers(device)
    with recorded() as calls:
        getattr(operator, name)(x)
    assert [(call.name, call.shapes) for call in calls] == [(f"Array.__{name}__", ((2, 2),))]


def test_conversions_indexing_and_attributes(device):
    x = integers(device)
    with recorded() as calls:
        float(x[0, 0])
        int(x[0, 0])
        complex(x[0, 0])
        bool(x[0, 0] > 0)
        [7, 8][x[0, 0]]
        x[0, 0] = 5
        operator.attrgetter("T", "mT")(x)
        len(x)
        list(x)
        operator.contains(x, 2)
        x.to_device(device)
        x.sum(axis=0)
        x.__array_namespace__()
        # These ask for no computation.
        repr((x.shape, x.ndim, x.size, x.dtype, x.device, x))
    counts = calls.counts
    # Two of them are the rows that list() asks for.
    assert counts.pop("Array.__getitem__") == 7
    assert counts.pop("Array.__gt__") == 1
    expected = [
        *["__float__", "__int__", "__complex__", "__bool__", "__index__", "__setitem__", "T", "mT"],
        *["__len__", "__iter__", "__contains__", "to_device", "sum", "__array_namespace__"],
    ]
    if counts["Array.__len__"] == 2:  # list() asks how much room it needs
        counts["Array.__len__"] = 1
    assert counts == Counter([f"Array.{name}" for name in expected])


def test_functions_of_all_modules(device):
    pytest.importorskip("scipy")
    x = xp.asarray([[2.0, 1.0], [1.0, 3.0]], device=device)
    with recorded() as calls:
        xp.add(x, 1)
        xp.concat([x, (x)], axis=0)
        xp.zeros((2,), dtype=xp.float32, device=device)
        xp.linalg.det(x)
        xp.linalg.matmul(x, x)
        xp.fft.fft(x)
        xp.special.erf(x)
        xp.extra.median(x, axis=0)
        xp.median(x)
    assert [call.name for call in calls] == [
        *["add", "concat", "zeros", "linalg.det", "linalg.matmul", "fft.fft", "special.erf"],
        *["extra.median", "extra.median"],
    ]
    assert calls[1].shapes == ((2, 2), (2, 2))
    assert calls[1].keywords == ("axis",)
    assert calls[2] == Call("zeros", (), (), (), ("dtype", "device"), __file__, calls[2].lineno)
    lines = [call.lineno - calls[0].lineno for call in calls]
    assert lines == list(range(9))


def test_only_the_users_calls_are_recorded():
    x = xp.asarray([[2.0, 1.0], [1.0, 3.0]])
    with recorded() as calls:
        xp.linalg.slogdet(x)
        xp.extra.trapezoid(x)
        x.std()
        np.sum(x)
        np.exp(x)
        xp.allclose(x, x)
        with xp.testing.transfers():
            pass
    assert [call.name for call in calls] == [
        *["linalg.slogdet", "extra.trapezoid", "Array.std", "Array.__array_function__"],
        *["Array.__array_ufunc__"],
        "extra.allclose",
    ]


def test_what_a_traced_function_calls_is_recorded():
    x = xp.asarray([1.0, 2.0])

    def function(x):
        return xp.sin(x) + 1

    with recorded() as calls:
        compiled = xp.compile(function)
        compiled(x)
    assert [name for name in calls.counts if name != "compile"] == ["sin", "Array.__add__"]


def test_results_are_those_of_the_functions(device):
    x = xp.asarray([[1.5, -2.0], [0.25, 4.0]], device=device)

    def program():
        y = 2 * x + xp.sin(x) @ x.T - x[0] ** 2
        y[0, :] = 1
        y += xp.mean(y, axis=0)
        return [y.tolist(), xp.argsort(y, axis=1).tolist(), (y > 1).tolist(), float(xp.sum(y))]

    expected = program()
    with recorded():
        assert program() == expected
    assert program() == expected


def test_errors_pass_through_and_are_recorded():
    x = xp.ones((2, 3))
    with recorded() as calls:
        refused(ValueError, "broadcast", xp.add, x, xp.ones(2))
        refused(TypeError, None, lambda: x + "text")
        refused(TypeError, None, xp.add, x)
    assert [call.name for call in calls] == ["add", "ones", "Array.__add__", "add"] or [
        call.name for call in calls
    ] == ["ones", "add", "Array.__add__", "add"]


# ---------------------------------------------------------------------- the statement


def test_everything_is_as_before():
    before = public()
    x = xp.ones(3)
    with recorded():
        during = public()
        x + x
        with pytest.raises(ZeroDivisionError), recorded():
            operator.floordiv(1, 0)
        assert public() == during
        xp.sin(x)
    assert public() == before
    assert len([name for name in before if during[name] is not before[name]]) > 300
    for name in ("__doc__", "__name__", "__module__", "__qualname__"):
        assert getattr(during["array_api_nx.sin"], name) == getattr(xp.sin, name)


def test_statements_nest():
    x = xp.ones(3)
    with recorded() as outer:
        xp.sin(x)
        with recorded() as inner:
            xp.cos(x)
        xp.tan(x)
    xp.exp(x)
    assert [call.name for call in outer] == ["sin", "cos", "tan"]
    assert [call.name for call in inner] == ["cos"]


def test_statements_may_end_in_another_order():
    before = public()
    x = xp.ones(3)
    first, second = recorded(), recorded()
    one = first.__enter__()
    two = second.__enter__()
    xp.sin(x)
    first.__exit__(None, None, None)
    x + 1
    second.__exit__(None, None, None)
    xp.cos(x)
    assert [call.name for call in one] == ["sin"]
    assert [call.name for call in two] == ["sin", "Array.__add__"]
    assert public() == before


def test_an_interrupt_while_a_statement_begins_changes_nothing(monkeypatch):
    before = public()
    count = 0

    def interrupted(name, function):
        nonlocal count
        count += 1
        if count == 150:
            raise KeyboardInterrupt
        return original(name, function)

    original = recording._recording
    monkeypatch.setattr(recording, "_recording", interrupted)
    with pytest.raises(KeyboardInterrupt), recorded():
        pass
    assert count == 150
    assert public() == before
    assert recording._replaced == {}


@pytest.mark.parametrize("all_threads", [False, True])
def test_threads(all_threads):
    x = xp.ones(3)
    with recorded(all_threads=all_threads) as calls:
        together(lambda: xp.sin(x) + 1)
    assert [call.name for call in calls] == ["sin", "Array.__add__"] * all_threads


def test_threads_record_at_the_same_time():
    before = public()
    barrier = threading.Barrier(4)
    found = [[] for _ in range(4)]

    def work(number):
        x = xp.ones(number + 1)
        for _ in range(10):
            barrier.wait()
            with recorded() as calls:
                for _ in range(number + 1):
                    x * 2
            found[number] += [call.name for call in calls]

    together(*[partial(work, number) for number in range(4)])
    assert found == [["Array.__mul__"] * 10 * (number + 1) for number in range(4)]
    assert public() == before


def test_a_function_imported_by_name_is_not_seen():
    x = xp.ones(3)
    with recorded() as calls:
        add_by_name(x, x)
    assert len(calls) == 0
    assert repr(calls) == "no calls"


def test_the_record_as_text_and_by_name():
    x = xp.ones(3)
    with recorded() as calls:
        xp.sum(x, axis=0)
        xp.sum(x > 1, keepdims=True)
        xp.arange(3)
    assert isinstance(calls, Calls)
    assert calls.counts == {"sum": 2, "Array.__gt__": 1, "arange": 1}
    assert [call.keywords for call in calls.named("sum")] == [("axis",), ("keepdims",)]
    assert [line.split() for line in repr(calls).splitlines()] == [
        ["calls", "name", "dtypes", "keywords"],
        ["2", "sum", "float64", "|", "bool", "axis,", "keepdims"],
        ["1", "Array.__gt__", "float64"],
        ["1", "arange", "-"],
    ]


@pytest.mark.parametrize("wrong", [np, "array_api_nx", xp.ones(1)])
def test_other_namespaces_are_refused(wrong):
    before = public()
    with (
        pytest.raises(TypeError, match="takes array_api_nx and its strict namespaces, not"),
        recorded(xp, wrong),
    ):
        pass
    assert public() == before


# A namespace that calls the functions of the plain one, as strict namespaces do. It stands in a
# file of the package, because what those call is not the user's doing.
WRAPPING = """
import types
import array_api_nx as xp

class Base:
    def __init__(self, array):
        self._array = array

    dtype = property(lambda self: self._array.dtype)
    shape = property(lambda self: self._array.shape)
    device = property(lambda self: self._array.device)

    def __array_namespace__(self, api_version=None):
        return None

    def __add__(self, other):
        return type(self)(xp.add(self._array, xp.asarray(other)))

    @property
    def T(self):
        return type(self)(self._array.T)

class Wrapped(Base):
    pass

class Namespace(types.ModuleType):
    def __setattr__(self, name, value):
        raise AttributeError("a strict namespace cannot be changed")

def empty(shape):
    return Wrapped(xp.empty(shape))

def square(x):
    xp.isdtype(x._array.dtype, "numeric")
    return Wrapped(x._array * x._array)
"""


def wrapping():
    file = os.path.join(os.path.dirname(xp.__file__), "testing", "wrapping.py")
    names = {}
    exec(compile(WRAPPING, file, "exec"), names)
    module = names["Namespace"]("array_api_nx_strict_for_a_test")
    vars(module).update(names, __all__=["empty", "square"])
    return module


def test_namespaces_that_call_ours_are_not_counted_twice():
    strict = wrapping()
    functions = dict(vars(strict))
    x = strict.empty((2, 3))
    with recorded() as plain, recorded(strict) as both, recorded(strict, xp) as all_:
        strict.square(x)
        assert type((x.T + 1).T) is strict.Wrapped
    for calls in (plain, both, all_):
        assert [call.name for call in calls] == ["square", "Array.T", "Array.__add__", "Array.T"]
        assert calls[0].dtypes == (xp.float64,)
    assert dict(vars(strict)) == functions
    assert not {"T", "__add__"} & set(vars(strict.Wrapped))
    assert (x.T + 1).shape == (3, 2)
    with recorded() as plain:
        strict.square(x)
    assert len(plain) == 0


@pytest.mark.slow
def test_without_the_extension():
    code = (
        "import array_api_nx as xp\n"
        "assert xp.show_config('dict')['devices']['cpu']\n"
        "before = dict(vars(xp.Array))\n"
        "x = xp.ones((2, 2))\n"
        "with xp.testing.recorded() as calls:\n"
        "    2 * x.T + 1; xp.sum(x); float(x[0, 0]); x.shape; x.sum()\n"
        "print(*[call.name for call in calls])\n"
        "assert dict(vars(xp.Array)) == before\n"
    )
    printed = python("-c", code, ARRAY_API_NX_EXTENSION="0")
    names = ["T", "__rmul__", "__add__", None, "__getitem__", "__float__", "sum"]
    assert printed.split() == [f"Array.{name}" if name else "sum" for name in names]
