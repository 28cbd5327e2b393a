import pytest

from array_api_nx_conformance.compare import compare
from array_api_nx_conformance.suite import CannotRunError

from .samples import make_record, passed, result

FAILED = result("test_x.py::test_exp", "failed", "ValueError: v")


def test_nothing_changed():
    found = compare([make_record(FAILED)], [make_record(FAILED)])
    assert found.text() == "No regressions, no fixes."
    assert (found.regressions, found.fixes) == ([], [])


def test_regressions_and_fixes():
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


def test_a_new_test_that_fails_is_a_regression_and_a_new_one_that_passes_is_no_fix():
    found = compare([make_record(passed("ones"))], [make_record(FAILED, passed("full"))])
    assert "(not there before)" in found.regressions[0]
    assert found.fixes == []
    assert found.remarks == ["  some.module: 1 tests that passed did not run again"]


def test_what_cannot_be_compared_is_said():
    old, new = make_record(FAILED), make_record(FAILED)
    new["version"] = "2030.12"
    new["suite"]["suite_commit"] = "other"
    remarks = compare([old, make_record(name="a")], [new, make_record(name="b")]).text()
    assert "some.module: version of the standard 2030.12, before 2025.12" in remarks
    assert "some.module: suite other, before aaaaaaaaaaaa" in remarks
    assert "a: only in the old" in remarks
    assert "b: only in the new" in remarks
    with pytest.raises(CannotRunError, match="the one has a, the other b"):
        compare([make_record(name="a")], [make_record(name="b")])


NAME = result("test_has_names.py::test_has_names[elementwise-exp]", "failed", "AssertionError: a")
NAMED = result("test_has_names.py::test_has_names[elementwise-exp]", "passed")


@pytest.mark.parametrize("unequal", [{"max_examples": 30}, {"seed": 6}])
def test_runs_of_unequal_effort(unequal):
    ones = result("test_x.py::test_ones", "failed", "KeyError: k")
    old = make_record(passed("exp"), ones, NAMED, **unequal)
    found = compare([old], [make_record(FAILED, passed("ones"), NAME)])
    # A name needs no examples.
    assert [line.split(":")[0] for line in found.regressions] == ["  some.module exp"]
    assert "test_has_names" in found.regressions[0]
    assert found.fixes == []
    assert [line.split()[2] for line in found.not_comparable] == [
        "test_x.py::test_exp",
        "test_x.py::test_ones",
    ]
    ((key, value),) = unequal.items()
    words = {"max_examples": "examples per test 200", "seed": "seed 5"}[key]
    assert found.text().splitlines()[:2] == [
        "Unequal runs (1):",
        f"  some.module: {words}, before {value}",
    ]


def test_another_hypothesis_tries_other_examples():
    old, new = make_record(passed("exp")), make_record(FAILED)
    old["environment"]["hypothesis"] = "1.0"
    found = compare([old], [new])
    assert (found.regressions, len(found.not_comparable)) == ([], 1)
    assert ", before 1.0" in found.remarks[0]


def test_another_time_limit_makes_only_timeouts_incomparable():
    slow = result("test_x.py::test_ones", "failed", "timeout: still running after 1 s")
    old = make_record(passed("exp"), passed("ones"), time_limit=600.0)
    found = compare([old], [make_record(FAILED, slow, time_limit=1.0)])
    assert ["exp" in line for line in found.regressions] == [True]
    assert ["ones" in line for line in found.not_comparable] == [True]


def test_what_a_selection_left_out_was_not_there_for_that_reason():
    found = compare([make_record(passed("ones"), select=("ones",))], [make_record(FAILED)])
    assert found.regressions == []
    assert "(not there before)" in found.not_comparable[0]
