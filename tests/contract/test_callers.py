"""The user's line, found from inside the package."""

import contextlib
import os
import warnings
from pathlib import Path

import pytest

import array_api_nx
from array_api_nx.contract import callers
from tests.support.modules import module

PASSING_ON = "def call(function, *x):\n    return function(*x)\n"


@pytest.fixture
def modules(tmp_path):
    """Modules outside and inside of a package that has `callers` in it."""
    package = tmp_path / "array_api_nx"
    package.mkdir()
    code = Path(callers.__file__).read_text(encoding="utf-8").replace(".parents[1]", ".parents[0]")
    inner = module(package / "inner.py", code)
    names = ("call", "ours", "function_of_ours", "_helper", "_restore")
    inside = "".join([PASSING_ON.replace("call", name) for name in names])
    return (
        module(tmp_path / "outside.py", PASSING_ON),
        module(package / "inside.py", inside),
        inner,
    )


def test_warnings_point_at_the_caller_outside_the_package(modules):
    outside, inside, inner = modules
    for calls in (
        [outside.call, inner.warn],
        [outside.call, inside.call, inside.call, inner.warn],
        # A frame of the package further out does not hide the user's.
        [inside.call, outside.call, inside.call, inner.warn],
    ):
        with warnings.catch_warnings(record=True, action="always") as found:
            calls[0](*calls[1:], "text", UserWarning)
        assert [(w.filename, w.lineno, w.category) for w in found] == [
            (outside.__file__, 2, UserWarning)
        ]


def test_the_caller_and_what_it_called(modules):
    outside, inside, inner = modules
    for calls, call in (
        ([outside.call, inside.ours, inner.caller], "ours"),
        ([outside.call, inside._helper, inside.ours, inner.caller], "ours"),
        ([outside.call, inside._restore, inside.ours, inner.caller], "_restore"),
        # That is what functions of strict namespaces are called within.
        ([outside.call, inside.call, inside.ours, inner.caller], "ours"),
        ([outside.call, inside.function_of_ours, inside.call, inner.caller], "function_of_ours"),
        ([inside.call, outside.call, inside.function_of_ours, inner.caller], "function_of_ours"),
    ):
        assert calls[0](*calls[1:]) == (call, outside.__file__, 2)


def test_the_frames_of_context_managers_are_nobodys(modules):
    outside, inside, inner = modules

    @contextlib.contextmanager
    def entering():
        yield inside.call(inner.caller)

    # The function above is a user's, and its line is nearer than that of the statement.
    with entering() as found:
        assert found[1] == __file__
    manager = contextlib.ExitStack()
    with manager:
        manager.callback(lambda: None)
        assert outside.call(inside.call, inner.caller).filename == outside.__file__


def test_the_package_is_found():
    assert Path(callers.PACKAGE) == Path(array_api_nx.__file__).parent
    assert callers.PACKAGE.endswith(os.sep)
