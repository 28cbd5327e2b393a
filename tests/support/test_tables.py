"""Tables of cases within one test: which cases run, and their reports."""

import inspect

from tests.support import tables
from tests.support.refusals import refused

pytest_plugins = ["pytester"]

TESTS = """
import pytest
from tests.support.tables import for_each

@for_each("factor", (1, 10))
@for_each(("x", "y"), [(1, 2), (3, 4)])
def test_products(factor, x, y, tmp_path):
    if x == 3:
        pytest.skip("too large")
    assert factor * y < 10

@for_each("function", [len, abs, len])
def test_all_pass(function):
    assert function

@for_each("x", [])
def test_none(x):
    raise AssertionError
"""


def test_reports(pytester, monkeypatch):
    """Every case is tried, and each that fails or skips has a report of its own."""
    monkeypatch.setattr(tables, "chosen", False)
    pytester.makepyfile(TESTS)
    result = pytester.runpytest_inprocess("-p", "no:xdist", "-ra")
    lines = [
        "*SUBFAILED*factor='10', x='1', y='2'*",
        "*test_products - contains 1 failed subtest",
        "*2 failed, 1 passed, *skipped*",
    ]
    result.stdout.fnmatch_lines(lines)
    result.stdout.no_fnmatch_line("*SUBFAILED*factor='1',*")


def test_cases_can_be_chosen(pytester, monkeypatch):
    monkeypatch.setattr(tables, "chosen", True)
    pytester.makepyfile(TESTS)
    result = pytester.runpytest_inprocess("-p", "no:xdist", "-k", "1-2-10")
    result.assert_outcomes(failed=1, deselected=7)


def test_cases_have_as_many_values_as_names():
    refused(ValueError, "zip", tables.for_each, ("x", "y"), [(1, 2), (3,)])


def test_functions_are_named_by_their_line():
    assert tables.shown(lambda: 0) == f"<lambda> in line {inspect.currentframe().f_lineno}"
    assert [tables.shown(x) for x in (len, int, None)] == ["len", "int", "None"]
    assert tables.shown("x" * 200) == "'" + "x" * 99
