"""Warnings point at the line of the user, however many lines of the package lie between."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import pytest

import array_api_nx
from array_api_nx.contract import user_warnings
from tests.support.modules import module


def test_warnings_point_at_the_caller_outside_the_package(tmp_path):
    package = tmp_path / "array_api_nx"
    package.mkdir()
    passing_on = "def call(function, *x):\n    return function(*x)\n"
    inside = module(package / "inside.py", passing_on)
    outside = module(tmp_path / "outside.py", passing_on)
    code = Path(user_warnings.__file__).read_text(encoding="utf-8")
    inner = module(package / "inner.py", code.replace(".parents[1]", ".parents[0]"))
    for calls in (
        [outside.call, inner.warn],
        [outside.call, inside.call, inside.call, inner.warn],
        # A frame of the package further out does not hide the user's.
        [inside.call, outside.call, inside.call, inner.warn],
    ):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            first, *rest = calls
            first(*rest, "a text")
        assert (found[0].filename, found[0].lineno) == (outside.__file__, 2)
        assert found[0].category is RuntimeWarning


def test_the_category_is_what_the_caller_says():
    with pytest.warns(UserWarning, match="a text"):
        user_warnings.warn("a text", UserWarning)


def test_the_package_is_found():
    assert Path(user_warnings._PACKAGE) == Path(array_api_nx.__file__).parent
    assert user_warnings._PACKAGE.endswith(os.sep)
