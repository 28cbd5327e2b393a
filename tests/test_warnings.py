"""Floating-point errors: NumPy's warnings, at the user's line, and NumPy's errstate.

Every array here is small: it is computed where the operation is called, or as soon as its elements
are asked for.
"""

import types
import warnings
from functools import partial

import numpy as np
import pytest

import array_api_nx as xp
from tests.support.refusals import refused
from tests.support.reports import told
from tests.support.tables import for_each
from tests.support.threads import together

VALUES = {
    "a": [1.0, 0.0, -1.0],
    "b": [0.0, 0.0, 0.0],
    "e": np.zeros((0,)),
    "f": np.asarray([1.0, 2.0], np.float32),
    "g": np.asarray([1.0 + 1j, 2.0], np.complex64),
    "h": [1e308, 1e308, 1e308, 1e308],
    "i": [1, 2, 3],
    "m": [[1e300, 1e300], [1e300, -1e300]],
    "n": [np.nan, np.inf, 1e300],
    "z": [0, 0, 0],
    "zero": 0.0,
}

# Expressions with the same warnings for NumPy's arrays and ours.
BOTH = [
    "a / b", "1.0 / b", "a / 0.0", "a % b", "a // b", "h + h", "h * h", "h - -h", "n - n", "n * b",
    "i // z", "i % z", "i // 0", "h**2", "h**3.5", "h**h", "f * 1e300", "1e300 * f", "g * 1e300j",
    "a[::-1] / b", "a[::2] / b[::2]", "a[0:1, None] / b", "m.T * m", "m * m[::-1, :]", "m @ m",
    "a / zero", "zero / zero", "xp.divide(a, b)", "xp.log(a)", "xp.log2(a)", "xp.log10(a)",
    "xp.log1p(-n[:2])", "xp.sqrt(a)", "xp.exp(h)", "xp.expm1(h)", "xp.sinh(h)", "xp.cosh(h)",
    "xp.tan(n)", "xp.sin(n)", "xp.cos(n)", "xp.acos(h)", "xp.asin(h)", "xp.acosh(a)", "xp.atanh(a)",
    "xp.reciprocal(b)", "xp.square(h)", "xp.square(g * 1e30)", "xp.hypot(h * 1.7, h * 1.7)",
    "xp.pow(h, h)", "xp.remainder(a, b)", "xp.floor_divide(a, b)", "xp.sum(h)", "xp.sum(f * 3e38)",
    "xp.prod(h)", "xp.matmul(m, m)",
    "xp.clip(f, -1e300, 1e300)", "xp.full((3,), 1e300, dtype=xp.float32)",
    "xp.linspace(0, 1e300, 3, dtype=xp.float32)", "xp.asarray([1e300], dtype=xp.float32)",
    "xp.arange(0, 1e300, 5e299, dtype=xp.float32)", "xp.where(f > 1, f, 1e300)",
    "xp.astype(n, xp.int64)", "xp.astype(n, xp.int8)", "xp.astype(n, xp.float32)",
    "xp.fft.fft(h)", "xp.fft.ifft(h)", "xp.fft.rfft(h)", "xp.fft.fftn(m * 1e8)", "xp.linalg.det(m)",
    "xp.linalg.outer(h, h)", "xp.linalg.matrix_power(m, 3)",
]  # fmt: skip

# Expressions with other words, or warnings in other steps.
OURS = [
    "xp.mean(e)", "xp.mean(h)", "xp.var(h)", "xp.std(h)", "xp.cumulative_sum(h)",
    "xp.cumulative_prod(h)", "xp.asarray(np.asarray([1e300]), dtype=xp.float32)",
    "xp.linalg.vector_norm(h)", "xp.linalg.matrix_norm(m)", "xp.linalg.cross(h[:3], h[1:])",
    "xp.diff(xp.asarray([-1.7e308, 1.7e308]))", "np.asarray(n, dtype=np.int64)", "np.sum(h)",
    "xp.tensordot(m, m)", "xp.vecdot(h, h)",
]  # fmt: skip

STATEMENTS = [
    "a /= b", "a /= 0.0", "a //= b", "h += h", "h **= 2.5", "h *= 1e10", "f *= 1e300", "i //= z",
    "m @= m", "f[...] = 1e300", "f[0] = 1e300", "f[xp.asarray([0, 1])] = 1e300", "a[::2] /= b[::2]",
    "f[...] = xp.asarray([1e300, 0.0])",
]  # fmt: skip


def arrays(namespace):
    found = {name: np.asarray(value).copy() for name, value in VALUES.items()}
    if namespace is xp:
        found = {name: xp.asarray(value, copy=True) for name, value in found.items()}
    return {**found, "xp": namespace, "np": np}


@pytest.fixture
def user(tmp_path):
    """Makes a user's module, which has a registry of warnings of its own, of lines of code."""

    def make(names, *lines):
        module = types.ModuleType("user")
        module.__file__ = str(tmp_path / "user.py")
        module.__dict__.update(names)
        exec(compile("\n".join(lines), module.__file__, "exec"), module.__dict__)
        return module

    return make


def met(user, names, *lines, keep="always"):
    """Texts and line numbers of the warnings that lines of code give: ours at themselves."""
    with warnings.catch_warnings(record=True) as caught, np.errstate(all="warn", under="ignore"):
        warnings.simplefilter(keep)
        module = user(names, *lines)
    if names["xp"] is xp:
        assert {warning.filename for warning in caught} <= {module.__file__}
    return [(str(warning.message), warning.lineno) for warning in caught]


def test_two_lines_give_two_warnings(user):
    lines = "np.asarray(a / zero)", "np.asarray(a / zero)", "for _ in range(3): np.asarray(1 / b)"
    text = "divide by zero encountered in divide"
    found = [line for said, line in met(user, arrays(xp), *lines, keep="default") if said == text]
    assert found == [1, 2, 3]


@for_each("expression", BOTH)
def test_warnings_are_numpys(expression, user):
    expected = [text for text, _ in met(user, arrays(np), f"x = {expression}")]
    assert expected
    found = met(user, arrays(xp), "", f"x = np.asarray({expression})")
    assert {line for _, line in found} == {2}
    # A correction, and a function of several steps, may meet an error twice.
    assert {text for text, _ in found} == set(expected)


@for_each("expression", OURS)
def test_warnings_name_the_line_that_asks(expression, user):
    found = met(user, arrays(xp), "", f"x = np.asarray({expression})")
    assert found
    assert {line for _, line in found} == {2}


@for_each("statement", STATEMENTS)
def test_statements_warn_as_numpys(statement, user):
    in_numpy = statement.replace("xp.", "np.").replace("m @= m", "m[...] = m @ m")
    name = statement[0]
    expected = met(user, arrays(np), in_numpy)
    assert expected
    assert met(user, arrays(xp), f"{statement}; np.asarray({name})") == expected


@for_each("statement", STATEMENTS)
def test_warnings_that_are_errors_leave_what_numpys_leave(statement, user):
    in_numpy = statement.replace("xp.", "np.").replace("m @= m", "np.matmul(m, m, out=m)")
    name = statement[0]
    left = []
    for namespace, code in ((np, in_numpy), (xp, f"{statement}; np.asarray({name})")):
        names = arrays(namespace)
        with warnings.catch_warnings(), np.errstate(all="warn", under="ignore"):
            warnings.simplefilter("error")
            with pytest.raises(RuntimeWarning, match="encountered in") as caught:
                user(names, code)
        left.append((str(caught.value), np.asarray(names[name])))
    assert left[1][0] == left[0][0]
    if "[" not in statement and "@" not in statement and "f *=" not in statement:
        assert left[1][1].tobytes() == left[0][1].tobytes()


SAMPLES = ["a / b", "xp.log(a)", "xp.tan(n)", "h**2", "xp.sum(h)", "xp.mean(e)", "xp.var(h)",
           "m @ m", "xp.cumulative_sum(h)", "xp.astype(n, xp.int64)", "f * 1e300",
           "xp.fft.fft(h)"]  # fmt: skip


@for_each("expression", SAMPLES)
@pytest.mark.parametrize("mode", ["ignore", "print"])
def test_no_warnings_where_none_are_wanted(expression, mode, user, capfd):
    with warnings.catch_warnings(), np.errstate(all=mode):
        warnings.simplefilter("error")
        user(arrays(xp), f"np.asarray({expression})")
    assert ("encountered in" in capfd.readouterr().err) == (mode == "print")


@for_each("expression", SAMPLES)
def test_errors_are_raised_called_and_logged(expression, user):
    code = f"np.asarray({expression})"
    with np.errstate(all="raise"), pytest.raises(FloatingPointError, match="encountered in"):
        user(arrays(xp), code)
    called = []
    with np.errstate(all="call", call=lambda *met: called.append(met)):
        user(arrays(xp), code)
    assert called
    assert all([type(text) is str and flags in range(16) for text, flags in called])

    class Log:
        texts: tuple[str, ...] = ()

        def write(self, text):
            self.texts += (text,)

    with np.errstate(all="log", call=Log()):
        log = np.geterrcall()
        user(arrays(xp), code)
    assert log.texts
    assert all([text.startswith("Warning: ") for text in log.texts])


@for_each(
    "statement",
    [*STATEMENTS, "f /= 1e300", "f **= 1e300", "g *= 1e300j", "g[0] = 1e300j", "f[f > 1] = 1e300",
     "f[...] = np.nan", "f *= float('nan')", "b *= float('inf')", "f *= 1e-300", "f %= 1e300"],
)  # fmt: skip
@pytest.mark.parametrize("mode", ["raise", "call", "print", "log"])
def test_statements_do_of_errors_what_numpys_do(statement, mode, user, capfd):
    in_numpy = statement.replace("xp.", "np.").replace("m @= m", "np.matmul(m, m, out=m)")
    ours, numpys = arrays(xp), arrays(np)
    expected = told(lambda: user(numpys, in_numpy), capfd, all=mode)
    assert told(lambda: user(ours, statement), capfd, all=mode) == expected
    # That array is cast before any of it is written.
    if statement != "f[...] = xp.asarray([1e300, 0.0])":
        name = statement[0]
        assert np.asarray(ours[name]).tobytes() == numpys[name].tobytes()


def test_some_errors_are_called_and_others_warned_of(user):
    called = []
    with (
        np.errstate(divide="call", invalid="warn", call=lambda *met: called.append(met)),
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always")
        module = user(
            arrays(xp), "", "np.asarray(xp.log(a))", "np.asarray(xp.cumulative_sum(n - n))"
        )
    assert [text for text, _ in called] == ["divide by zero"]
    assert [(each.filename, each.lineno, str(each.message)) for each in caught] == [
        (module.__file__, 2, "invalid value encountered in log"),
        (module.__file__, 3, "invalid value encountered in subtract"),
    ]


def test_the_state_is_the_users_again(user):
    for state in ({"all": "warn"}, {"all": "ignore"}, {"divide": "warn", "over": "raise"}):
        with np.errstate(**state), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            before = np.geterr(), np.geterrcall()
            user(arrays(xp), "np.asarray(xp.log(a))", "np.asarray(xp.cumulative_sum(b))")
            assert (np.geterr(), np.geterrcall()) == before
            refused(IndexError, None, user, arrays(xp), "a[xp.asarray([7])] = 1e300")
            assert (np.geterr(), np.geterrcall()) == before


def test_who_shows_warnings_may_compute(user, monkeypatch):
    shown = []

    def show(message, *_):
        shown.append(str(message))
        if len(shown) < 3:
            user(arrays(xp), "np.asarray(xp.cumulative_sum(h))")

    with warnings.catch_warnings(action="always"):
        monkeypatch.setattr(warnings, "showwarning", show)
        user(arrays(xp), "np.asarray(xp.cumulative_prod(h))")
    assert shown == ["overflow encountered in accumulate"] * 3


def test_threads_have_states_of_their_own(user):
    def work(mode):
        for _ in range(50):
            with np.errstate(all=mode):
                names = arrays(xp)
                if mode == "raise":
                    with pytest.raises(FloatingPointError):
                        user(names, "np.asarray(xp.cumulative_sum(h))")
                else:
                    user(names, "np.asarray(xp.cumulative_sum(h))")

    together(*[partial(work, mode) for mode in ("raise", "ignore") * 2])


@pytest.mark.parametrize(
    "body",
    ["x @ x", "xp.sum(x)", "xp.mean(x) * 2.0", "xp.sort(x / 0.0)", "xp.linalg.det(x)",
     "xp.log(x - x)", "xp.cumulative_sum(x, axis=0)"],
)  # fmt: skip
def test_compiled_functions_warn_at_the_line_that_calls_them(body, user):
    names = arrays(xp)
    if "mean" in body or "sum" in body:
        names["m"] = xp.asarray([[1e308, 1e308], [1e308, 1e308]])
    names["run"] = xp.compile(eval(f"lambda x: {body}", names))
    for _ in range(2):
        found = met(user, names, "", "np.asarray(run(m))")
        assert found
        assert {line for _, line in found} == {2}


# Programs of one pass, of calls of NumPy, of both, and of methods of the backend.
PROGRAMS = [
    "return x / y", "return x / y, y / y", "x /= y", "x[0, :] = 1 / y[0, :]", "return x @ x",
    "return xp.sum(x * 1e9, axis=0)", "return xp.mean(x * x)", "return xp.log(y) @ x",
    "return xp.matmul(x * x, y / y) * 1e9", "return xp.linalg.inv(y / (x - x))",
    "return xp.linalg.inv(xp.where(x / y > 0, y, y))", "return xp.cumulative_sum(x / y, axis=0)",
    "return xp.cumulative_sum(xp.log(-x) @ y, axis=1) @ (x / y)",
    "return xp.sort(xp.log(y - x), axis=0)", "return xp.mean((x / y) @ x) * xp.sum(x * x)",
]  # fmt: skip


@for_each("size", [3, 200])
@for_each("mode", ["ignore", "raise", "call", "print", "log"])
@pytest.mark.parametrize("body", PROGRAMS)
def test_compiled_functions_do_of_errors_what_eager_ones_do(body, mode, size, capfd):
    names = {"xp": xp}
    exec(f"def function(x, y):\n    {body}", names)
    function, compiled = names["function"], xp.compile(names["function"])

    def arguments():
        return [xp.full((size, size), 1e308), xp.zeros((size, size))]

    told(lambda: compiled(*arguments()), capfd, all="ignore")  # plans the program
    same = arguments()
    given = arguments()
    for _ in range(2):
        expected = told(partial(function, *given), capfd, all=mode)
        assert told(lambda: compiled(*same), capfd, all=mode) == expected
        if expected[-1]:
            # A program writes to its arguments in the end.
            given = arguments()
        for x, y in zip(given, same, strict=True):
            assert np.asarray(x).tobytes() == np.asarray(y).tobytes()


def test_conversions_to_real_numbers_warn_at_the_users_line(user):
    with warnings.catch_warnings(record=True, action="always") as caught:
        module = user(arrays(xp), "x = np.asarray(g, dtype=np.float64)")
    assert [(each.category, each.filename, each.lineno) for each in caught] == [
        (np.exceptions.ComplexWarning, module.__file__, 1)
    ]
    assert module.x.tolist() == [1.0, 2.0]
