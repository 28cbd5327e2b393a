"""NumPy's treatment of floating-point errors, read at the call and applied at the computation."""

import asyncio
import warnings
import weakref
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context, ContextVar, copy_context
from functools import reduce
from threading import Barrier

import numpy as np
import pytest

from array_api_nx.backends.cpu.engine import fperrors
from array_api_nx.backends.cpu.engine.fperrors import modes, report
from tests.support.modules import module
from tests.support.refusals import refused
from tests.support.reports import Log, told
from tests.support.tables import for_each

BITS = {"divide": 1, "over": 2, "under": 4, "invalid": 8}
NUMPYS_DEFAULT = 1 | 2 | 8

# Computations of one operation that raise flags, by NumPy's name for it.
TINY, HUGE = np.float64(5e-324), np.float64(1e308)
MISHAPS = {
    "divide": [(1.0, 0.0), (0.0, 0.0), (TINY, 3.0), (HUGE, 1e-9)],
    "multiply": [(HUGE, HUGE), (np.inf, 0.0), (1e-200, 1e-200)],
    "add": [(HUGE, HUGE), (np.inf, -np.inf)],
    "sqrt": [(-1.0,)],
    "exp": [(1e4,), (-1e4,)],
    "log": [(0.0,), (-1.0,)],
}


def caught(call, *arguments):
    with warnings.catch_warnings(record=True, action="always") as log:
        call(*arguments)
    return log


def numpys(name):
    """The flags that NumPy reports for all mishaps of an operation at once, and its words."""
    columns = [np.asarray(column) for column in zip(*MISHAPS[name], strict=True)]
    flags = []
    with np.errstate(all="call", call=lambda _, flag: flags.append(flag)):
        getattr(np, name)(*columns)
    with np.errstate(all="warn"):
        words = [str(each.message) for each in caught(getattr(np, name), *columns)]
    return max(flags), words


def test_modes_by_default():
    with ThreadPoolExecutor(1) as executor:
        assert executor.submit(modes).result() == NUMPYS_DEFAULT


@for_each("mask", range(16))
def test_modes_are_the_categories_to_warn_of(mask):
    asked = {name: "warn" if mask & bit else "ignore" for name, bit in BITS.items()}
    with np.errstate(**asked):
        assert modes() == mask
        assert modes() == mask


@for_each("mode", ["raise", "call", "print", "log"])
@for_each("name", BITS)
def test_no_modes_where_numpy_does_more_than_warn(name, mode):
    with np.errstate(all="ignore"), np.errstate(**{name: mode}):
        assert modes() is None
        assert modes() is None


def test_modes_of_the_module_of_a_line():
    with np.errstate(all="warn"):
        assert [modes(name) for name in ("scipy", "sklearn.utils", "scipylike", "None")] == [
            0, 0, 15, 15
        ]  # fmt: skip
    with np.errstate(all="warn", over="raise"):
        assert modes("scipy") is None


def test_modes_follow_every_change():
    def changes():
        found = [modes()]
        with np.errstate(all="warn"):
            found.append(modes())
            np.seterr(divide="ignore")
            found.append(modes())
            with np.errstate(over="raise"):
                found.append(modes())
            found.append(modes())
        return [*found, modes()]

    for _ in range(2):
        with np.errstate(all="ignore"):
            assert changes() == [0, 15, 14, None, 14, 0]


def test_modes_belong_to_the_thread():
    def both():
        before = modes()
        with np.errstate(all="raise"):
            return before, modes()

    outside = modes()
    with ThreadPoolExecutor(1) as executor:
        assert executor.submit(copy_context().run, both).result() == (outside, None)
        with np.errstate(all="ignore"):
            assert executor.submit(copy_context().run, both).result() == (0, None)
        assert modes() == outside


@pytest.mark.parametrize("name", MISHAPS)
def test_reports_have_numpys_words(name):
    flags, words = numpys(name)
    assert words
    assert [str(each.message) for each in caught(report, [(name, flags, 15)])] == words


@for_each("mask", range(16))
def test_only_what_was_asked_for_is_reported(mask):
    names = {1: "divide by zero", 2: "overflow", 4: "underflow", 8: "invalid value"}
    for flags in range(16):
        found = caught(report, [("divide", flags, mask)])
        assert [str(each.message) for each in found] == [
            f"{text} encountered in divide" for bit, text in names.items() if flags & mask & bit
        ]
        assert all(each.category is RuntimeWarning for each in found)


def test_every_operation_reports_for_itself():
    found = caught(report, [("exp", 2, 15), ("sqrt", 8, 7), ("log", 1, 1), ("exp", 2, 2)])
    assert [str(each.message) for each in found] == [
        "overflow encountered in exp",
        "divide by zero encountered in log",
        "overflow encountered in exp",
    ]
    assert caught(report, []) == []


def test_a_filter_can_make_them_exceptions():
    with warnings.catch_warnings(action="error"):
        refused(RuntimeWarning, "invalid value encountered in sqrt", report, [("sqrt", 8, 8)])


@pytest.fixture(params=dict.fromkeys([fperrors._located, fperrors.located]))
def located(request):
    """Python's function, and C's where the extension is there."""
    return request.param


MODES = ["ignore", "warn", "raise", "call", "print", "log"]


def test_calls_of_numpy_warn_here(located, tmp_path):
    package = tmp_path / "array_api_nx"
    package.mkdir()
    inside = module(package / "inside.py", "def call(function, *x):\n    return function(*x)\n")
    with np.errstate(all="warn"):
        found = caught(located, np.log, np.asarray([0.0, -1.0]))
        words = [str(each.message) for each in found]
        assert words == ["divide by zero encountered in log", "invalid value encountered in log"]
        assert {each.filename for each in found} == {__file__}
        assert [str(each.message) for each in caught(np.log, np.asarray([0.0]))] == words[:1]
        # Frames of other packages are not hidden.
        found = caught(inside.call, located, np.log, np.asarray([0.0]))
        assert found[0].filename == inside.__file__


def test_located_passes_everything_on(located):
    def function(*args, **keywords):
        return args, keywords

    assert located(function) == ((), {})
    assert located(function, 1, 2, a=3) == ((1, 2), {"a": 3})
    assert located(function, function=4) == ((), {"function": 4})
    refused(TypeError, None, located)
    with np.errstate(all="warn"), pytest.raises(ZeroDivisionError):
        located(lambda: 1 / 0)


@for_each("name", MISHAPS)
@pytest.mark.parametrize("mode", MODES)
def test_errors_are_treated_as_numpy_does(located, name, mode, capfd):
    columns = [np.asarray(column) for column in zip(*MISHAPS[name], strict=True)]
    operation = getattr(np, name)
    for settings in (
        {"all": mode},
        {"all": "warn", "over": mode, "divide": mode},
        {"all": mode, "over": "warn", "divide": "ignore"},
        {"all": "raise", "divide": mode},
        {"all": mode, "invalid": "log", "under": "print"},
    ):
        expected = told(lambda: operation(*columns), capfd, **settings)
        assert told(lambda: located(operation, *columns), capfd, **settings) == expected
        flags, _ = numpys(name)
        assert told(lambda: fperrors.apply_errstate(name, flags), capfd, **settings) == expected  # noqa: B023


@pytest.mark.parametrize("mode", MODES)
def test_several_operations_are_treated_one_by_one(located, mode, capfd):
    zero, matrix = np.zeros(1), np.asarray([[1e300, 1e300], [1e300, -1e300]])

    def function():
        np.divide(zero, zero)
        np.divide(1.0 + zero, zero)
        np.exp(np.asarray([1e4, -1e4]))
        np.linalg.det(matrix)  # within an errstate of NumPy's own
        matrix.astype(np.float32)
        np.linalg.cond(np.zeros((2, 2)))

    expected = told(function, capfd, all=mode)
    if mode != "ignore":
        assert any(expected)
    assert told(lambda: located(function), capfd, all=mode) == expected


@pytest.mark.parametrize("mode", ["call", "log"])
def test_what_is_to_be_called_may_be_missing(located, mode):
    zero = np.zeros(1)
    writer = type("Writer", (), {"write": print})()
    errors = []
    for call in (np.divide, lambda *x: located(np.divide, *x)):
        for callback in (None, writer if mode == "call" else print):
            with np.errstate(all=mode, call=callback):
                with pytest.raises((NameError, TypeError, AttributeError)) as caught:
                    call(1.0 + zero, zero)
                errors.append((caught.type, str(caught.value)))
    assert errors[: len(errors) // 2] == errors[len(errors) // 2 :]


@pytest.mark.parametrize("mode", ["raise", "call", "warn"])
def test_what_was_written_is_what_numpy_writes(located, mode):
    written, errors = [], (FloatingPointError, ZeroDivisionError, RuntimeWarning)
    for call in (np.divide, lambda *x, **y: located(np.divide, *x, **y)):
        out = np.full(3, 7.0)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with np.errstate(all=mode, call=lambda *_: 1 // 0), pytest.raises(errors):
                call(np.asarray([1.0, 0.0, 2.0]), np.asarray([0.0, 0.0, 2.0]), out=out)
        written.append(out.tolist())
    assert str(written[0]) == str(written[1]) == "[inf, nan, 1.0]"


def test_underflow_is_told_of_when_asked_for(located):
    tiny = np.asarray([1e-200])
    with ThreadPoolExecutor(1) as executor:  # by default
        assert executor.submit(caught, located, np.multiply, tiny, tiny).result() == []
    with np.errstate(under="warn"):
        (found,) = caught(located, np.multiply, tiny, tiny)
    assert str(found.message) == "underflow encountered in multiply"


@pytest.mark.parametrize("error", [None, KeyError, KeyboardInterrupt])
def test_settings_are_the_callers_again(located, error):
    seen = []

    def function():
        seen.append((np.geterr(), modes()))
        located(np.exp, 0.0)
        assert (np.geterr(), modes()) == seen[-1]
        if error:
            raise error

    for settings in (
        {"all": "warn"},
        {"all": "ignore"},
        {"all": "raise", "over": "warn"},
        {"all": "warn", "over": "call", "call": print},
    ):
        with np.errstate(**settings):
            before = np.geterr(), np.geterrcall(), modes()
            for _ in range(3):
                try:
                    located(function)
                except (KeyError, KeyboardInterrupt):
                    assert error
                assert (np.geterr(), np.geterrcall(), modes()) == before
    assert seen == [(dict.fromkeys(BITS, "log"), None)] * len(seen)


def test_errors_before_an_exception_are_told_of(located):
    def function():
        np.log(np.zeros(1))
        raise KeyError

    for _ in range(3):
        with np.errstate(all="warn"):
            with pytest.warns(RuntimeWarning, match="divide by zero"), pytest.raises(KeyError):
                located(function)
            assert caught(located, np.log, np.ones(1)) == []
        with np.errstate(all="raise"), pytest.raises(FloatingPointError):
            located(function)


@pytest.mark.parametrize("mode", MODES)
def test_calls_may_be_nested(located, mode, capfd):
    one, zero = np.ones(1), np.zeros(1)

    def nested(depth=0):
        if depth < 20:
            np.log(zero)
            located(np.sqrt, -one)
            located(nested, depth + 1)
            np.divide(one, zero)

    def plain(depth=0):
        if depth < 20:
            np.log(zero)
            np.sqrt(-one)
            plain(depth + 1)
            np.divide(one, zero)

    expected = told(plain, capfd, all=mode)
    assert told(nested, capfd, all=mode) == expected


def test_threads_have_settings_of_their_own(located):
    start = Barrier(4)
    zero = np.zeros(1)

    def work(mode):
        start.wait()
        for _ in range(300):
            log = Log()
            with np.errstate(all=mode, call=log):
                if mode == "raise":
                    refused(FloatingPointError, "divide by zero", located, np.log, zero)
                else:
                    located(np.log, zero)
            assert log.met == {
                "call": [("divide by zero", 1)],
                "log": ["Warning: divide by zero encountered in log\n"],
            }.get(mode, [])

    with ThreadPoolExecutor(4) as executor:
        for done in [executor.submit(work, mode) for mode in ("raise", "call", "log", "ignore")]:
            done.result()


def test_tasks_have_settings_of_their_own(located):
    zero = np.zeros(1)

    async def work(mode):
        log = Log()
        np.seterr(all=mode)
        np.seterrcall(log)
        for _ in range(20):
            await asyncio.sleep(0)
            if mode == "raise":
                refused(FloatingPointError, None, located, np.log, zero)
            else:
                located(np.log, zero)
        return len(log.met)

    async def together():
        return await asyncio.gather(*[work(mode) for mode in ("raise", "call", "log", "ignore")])

    assert asyncio.run(together()) == [0, 20, 20, 0]


def test_what_the_caller_keeps_in_context_variables_is_not_kept_alive(located):
    variable = ContextVar("variable", default=None)

    class Value:
        pass

    def work():
        value = Value()
        variable.set(value)
        assert located(variable.get) is None
        with np.errstate(all="ignore"):
            located(located, np.log, np.zeros(1))
        return weakref.ref(value)

    kept = copy_context().run(work)
    assert kept() is None


@pytest.mark.skipif(fperrors.native is None, reason="the extension is not built")
def test_a_caller_in_contexts():
    prepared, settled = [], []
    variable = ContextVar("variable", default="outside")

    def prepare():
        context, items = Context(), []
        context.run(variable.set, (len(prepared), items))
        prepared.append(items)
        return context, items

    def settle(items):
        settled.append((items, variable.get()))
        if "bad" in items:
            raise KeyError

    def leave(*what):
        number, items = variable.get()
        items += what
        return number

    call = fperrors.native.ContextCaller(prepare, settle)
    assert [call(leave), call(leave, 1, 2), call(leave)] == [0, 0, 0]
    assert settled == [([1, 2], "outside")]
    assert prepared == [[]]
    refused(KeyError, None, call, leave, "bad")
    assert call(lambda: (call(leave), leave())) == (1, 0)
    refused(ZeroDivisionError, None, call, lambda: 1 // leave(3))
    assert settled[-1] == ([3], "outside")
    refused(KeyError, None, call, lambda: 1 // leave("bad"))
    # More at a time than are kept afterwards.
    nested = range(40)
    calls = reduce(lambda inner, _: lambda: call(inner) + 1, nested, lambda: 0)
    assert calls() == len(nested)
    assert call(leave) < len(prepared) == len(nested)
    refused(TypeError, "no function", call)
    for wrong in (None, (Context(),), (Context(), ()), ([], [])):
        with pytest.raises(TypeError, match="a context and a list"):
            fperrors.native.ContextCaller(lambda wrong=wrong: wrong, settle)(leave)
    refused(ZeroDivisionError, None, fperrors.native.ContextCaller(lambda: 1 // 0, settle), leave)
    entered = Context()
    with pytest.raises(RuntimeError, match="already entered"):
        entered.run(fperrors.native.ContextCaller(lambda: (entered, []), settle), leave)
    refused(TypeError, None, fperrors.native.ContextCaller, prepare)
