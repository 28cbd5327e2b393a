"""Compiled callables stand for Python functions: what tools see of them is the function."""

import copy
import doctest
import functools
import gc
import inspect
import pickle
import pydoc
import re
import sys
import types
import typing
import weakref
from contextlib import suppress
from pathlib import Path

import pytest

import array_api_nx as xp
from array_api_nx.native import native, with_native
from tests.support import implementations
from tests.support.docstrings import needs_docstrings
from tests.support.refusals import refused
from tests.support.tables import for_each

pytestmark = implementations.needs_native

KIND = type(xp.add)


def _callables():
    """All compiled callables of the package, by where they are defined."""
    found = {}
    for name, module in [*sys.modules.items()]:
        # The functions of NumPy's names stand for NumPy's, and have tests of their own.
        is_ours = name.startswith("array_api_nx") and not name.startswith("array_api_nx.numpy")
        if not is_ours or not isinstance(module, types.ModuleType):
            continue
        for value in vars(module).values():
            if type(value) is KIND:
                found[f"{value.__module__}.{value.__qualname__}"] = value
    return found


CALLABLES = _callables()

every = for_each("name", CALLABLES)


def test_there_are_some():
    assert "array_api_nx.frontend.elementwise.add" in CALLABLES
    assert CALLABLES["array_api_nx.frontend.elementwise.add"] is xp.add


@needs_docstrings
@every
def test_it_looks_like_the_function(name):
    function = CALLABLES[name]
    meaning = function.__wrapped__
    assert isinstance(meaning, types.FunctionType)
    for attribute in ("__name__", "__qualname__", "__module__", "__doc__", "__annotations__"):
        assert getattr(function, attribute) == getattr(meaning, attribute)
    assert function.__doc__
    assert inspect.signature(function) == inspect.signature(meaning)
    assert inspect.getdoc(function) == inspect.getdoc(meaning)
    assert inspect.unwrap(function) is meaning
    assert inspect.getsource(function) == inspect.getsource(meaning)
    assert inspect.getmodule(function) is sys.modules[meaning.__module__]
    assert inspect.isroutine(function)
    assert callable(function)
    with suppress(TypeError, NameError):  # names that only type checkers know
        hints = typing.get_type_hints(meaning)
        assert typing.get_type_hints(function) == hints
    assert repr(function).startswith(f"<function {meaning.__qualname__} at 0x")


@every
def test_its_name_finds_it(name):
    function = CALLABLES[name]
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(function, protocol)) is function
    assert copy.copy(function) is function
    assert copy.deepcopy([function])[0] is function
    assert getattr(sys.modules[function.__module__], function.__name__) is function


@every
def test_it_is_an_object_like_others(name):
    function = CALLABLES[name]
    assert weakref.ref(function)() is function
    assert {function: 1}[function] == 1
    assert function == function
    assert function != 1
    assert hash(function) == hash(function)
    assert gc.is_tracked(function)
    refused(TypeError, "cannot create", type(function))
    refused(TypeError, None, type, "Sub", (type(function),), {})


@every
def test_wrong_calls_raise_what_the_function_raises(name):
    """C raises nothing of its own for any number of arguments, by position or by name.

    What Python says is followed by how the function is to be called.
    """
    function = CALLABLES[name]
    for arguments in ((), (None,), (1,), (None,) * 9, (object(), object()), ("x",) * 3):
        for named in ({}, {"no_such": 1}, {"x": None}):
            found = []
            for call in (function, function.__wrapped__):
                try:
                    result = call(*arguments, **named)
                except Exception as error:  # any, but the same
                    found.append((type(error), str(error)))
                else:  # some functions take nothing, or None
                    found.append((type(result), getattr(result, "shape", result)))
            (kind, told), (kind_of_meaning, meant) = found
            assert kind is kind_of_meaning
            assert told == meant or told.startswith(f"{meant}; ")


def test_attributes_can_be_set():
    """As tools do that mark functions."""
    function = with_native(types.FunctionType((lambda x1, x2: None).__code__, {}, "add"))
    function.mark = 1
    assert function.mark == 1
    del function.mark
    assert not hasattr(function, "mark")
    assert "__wrapped__" in vars(function)


def test_methods_and_partials():
    class Holder:
        plain = xp.abs
        static = staticmethod(xp.abs)

    x = xp.asarray([-1.0])
    holder = Holder()
    assert Holder.plain is xp.abs
    assert holder.static is xp.abs
    assert isinstance(holder.plain, types.MethodType)
    assert holder.plain.__self__ is holder
    assert float(functools.partial(xp.add, x)(x)) == -2.0
    assert float(functools.reduce(xp.add, [x, x, x])) == -3.0
    assert [float(y) for y in map(xp.abs, [x, x])] == [1.0, 1.0]
    wrapped = functools.wraps(xp.add)(lambda *operands: xp.add(*operands))
    assert inspect.signature(wrapped) == inspect.signature(xp.add)


def test_doctest_and_help_find_them():
    module = sys.modules[xp.add.__module__]
    found = [test.name for test in doctest.DocTestFinder(exclude_empty=False).find(module)]
    assert f"{module.__name__}.add" in found
    text = pydoc.plain(pydoc.render_doc(xp.add))
    assert "add(x1: " in text
    assert "add(x1: " in pydoc.plain(pydoc.render_doc(module))


def test_they_are_collected():
    def make():
        function = with_native(types.FunctionType((lambda x1, x2: None).__code__, {}, "add"))
        function.itself = function
        return weakref.ref(function)

    died = make()
    gc.collect()
    assert died() is None


NATIVE = Path(xp.__file__).parent / "native"

ROW = re.compile(r'\{"(\w+)", \w+, \w+, "([^"]+)"\}')
"""An entry of a table of implementations, with its parameters as Python writes them."""


def _declared(text):
    """Parameters of a table in C: (number by position, names that callers may use, required)."""
    names = [name for name in text.split(", ") if name not in "/*"]
    by_position = text.partition("*")[0].count("=") + len(
        [name for name in text.partition("*")[0].split(", ") if name.isidentifier()]
    )
    named = text.partition("/, ")[2] or ("" if text.endswith("/") else text)
    usable = {name.strip("=") for name in named.split(", ") if name not in "/*"}
    return by_position, usable, sum(not name.endswith("=") for name in names)


def _accepted(function):
    """The same of a Python function."""
    parameters = inspect.signature(function).parameters.values()
    by_position = sum(each.kind <= each.POSITIONAL_OR_KEYWORD for each in parameters)
    usable = {each.name for each in parameters if each.kind != each.POSITIONAL_ONLY}
    return by_position, usable, sum(each.default is each.empty for each in parameters)


@pytest.mark.skipif(not any(NATIVE.rglob("*.c")), reason="an installation has no C sources")
def test_tables_in_c_name_the_parameters_of_the_python_functions():
    functions = {name.rpartition(".")[2]: function for name, function in CALLABLES.items()}
    rows = [row for path in NATIVE.rglob("*.c") for row in ROW.findall(path.read_text("utf-8"))]
    checked = 0
    for name, text in rows:
        if name in functions and text != "*":
            by_position, usable, required = _declared(text)
            accepted = _accepted(functions[name])
            # What C leaves out it declines.
            assert by_position <= accepted[0], name
            assert required >= accepted[2], name
            assert usable <= accepted[1], name
            checked += 1
    assert checked > 50


def test_only_functions_of_a_chapter_have_implementations():
    """A C implementation is found by name: a function of another's name would get the other's."""

    def no_such_name():
        pass

    refused(LookupError, "no_such_name has no C implementation", with_native, no_such_name)
    refused(AttributeError, None, native.front, 1)
    for name in CALLABLES:
        module, _, function = name.rpartition(".")
        assert getattr(sys.modules[module], function) is CALLABLES[name]
    names = [name for name in CALLABLES if implementations.has_implementation(CALLABLES[name])]
    assert "array_api_nx.linalg.diagonal" in names
    for name in names:
        assert name.startswith(
            tuple([f"array_api_nx.{x}." for x in ("frontend", "fft", "linalg", "extra")])
        ), name
    assert len(names) == len({name.rpartition(".")[2] for name in names})
