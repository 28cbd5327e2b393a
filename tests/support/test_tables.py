"""Tables of cases within one test: which cases run, and what a failure tells."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from tests.support.tables import for_each, shown


def test_every_case_is_tried() -> None:
    seen: list[Any] = []

    @for_each("factor", (1, 10))
    @for_each(("x", "y"), [(1, 2), (3, 4)])
    def test(factor: int, x: int, y: int, fixture: str) -> None:
        seen.append((factor * x, factor * y, fixture))

    test(fixture="f")
    assert seen == [(1, 2, "f"), (3, 4, "f"), (10, 20, "f"), (30, 40, "f")]
    assert [*inspect.signature(test).parameters] == ["fixture"]


def test_the_first_error_names_all_cases_that_fail() -> None:
    seen: list[int] = []

    @for_each(("function", "n"), [(len, 1), (abs, 2), (len, 3)])
    def test(function: Any, n: int) -> None:
        seen.append(n)
        if function is len:
            raise ValueError(f"of case {n}")

    with pytest.raises(ValueError, match="of case 1") as caught:
        test()
    assert seen == [1, 2, 3]
    expected = ["2 of 3 cases fail:", "  function=len, n=1", "  function=len, n=3"]
    assert caught.value.__notes__ == expected


def test_skips_are_of_all_cases() -> None:
    def test(x: int) -> None:
        if x < 3:
            pytest.skip("too few")

    with pytest.raises(pytest.skip.Exception, match="too few"):
        for_each("x", [1, 2])(test)()
    with pytest.raises(AssertionError, match="their own test"):
        for_each("x", [1, 2, 3])(test)()
    with pytest.raises(pytest.skip.Exception, match="no cases"):
        for_each("x", [])(test)()


def test_cases_have_as_many_values_as_names() -> None:
    with pytest.raises(ValueError, match="zip"):
        for_each(("x", "y"), [(1, 2), (3,)])


def test_functions_are_named_by_their_line() -> None:
    assert shown(lambda: 0) == f"<lambda> in line {inspect.currentframe().f_lineno}"
    assert [shown(x) for x in (len, int, None, "x" * 200)] == ["len", "int", "None", "'" + "x" * 99]
