from __future__ import annotations

import pytest

from array_api_nx_conformance.compare import compare
from array_api_nx_conformance.suite import CannotRunError

from .samples import make_record, passed, result

FAILED = result("test_x.py::test_exp", "failed", "ValueError: v")


def test_nothing_changed() -> None:
    found = compare([make_record(FAILED)], [make_record(FAILED)])
    assert found.text() == "No regressions, no fixes."
    assert (found.regressions, found.fixes) == ([], [])


def test_regressions_and_fixes() -> None:
    ones = result("test_x.py::test_ones", "failed", "KeyError: k")
    found = compare([make_record(passed("exp"), ones)], [make_record(FAILED, passed("ones"))])
    assert found.text().splitlines() == [
        "Regressions (1):",
        "  some.module exp: test_x.py::test_exp",
        "      ValueError: v",
        "",
        "Fixes (1):",
        "  some.module ones: test_x.py::test_ones",
    ]


def test_a_new_test_that_fails_is_a_regression_and_a_new_one_that_passes_is_no_fix() -> None:
    found = compare([make_record(passed("ones"))], [make_record(FAILED, passed("full"))])
    assert "(not there before)" in found.regressions[0]
    assert found.fixes == []
    assert found.remarks == ["  some.module: 1 tests that passed did not run again"]


def test_what_cannot_be_compared_is_said() -> None:
    old, new = make_record(FAILED), make_record(FAILED)
    new["version"] = "2030.12"
    new["suite"]["suite_commit"] = "other"
    remarks = compare([old, make_record(name="a")], [new, make_record(name="b")]).text()
    assert "judged by 2030.12 of the standard, before by 2025.12" in remarks
    assert "different commits" in remarks
    assert "a: only in the old" in remarks
    assert "b: only in the new" in remarks
    with pytest.raises(CannotRunError, match="the one has a, the other b"):
        compare([make_record(name="a")], [make_record(name="b")])
