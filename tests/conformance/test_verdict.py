from dataclasses import replace

import pytest

from array_api_nx_conformance.deviations import permitted
from array_api_nx_conformance.verdict import judge, totals

from .samples import FLOOR, FLOOR_TEST, make_run, passed, result


def failed(function, message="ValueError: v", **more):
    return result(f"test_x.py::test_{function}", "failed", message, **more)


def verdicts(functions):
    return {name: each.verdict for name, each in functions.items() if each.verdict != "not run"}


def test_simple_verdicts():
    run = make_run(
        passed("zeros"),
        passed("exp"),
        failed("exp_more"),
        result("test_x.py::test_remainder[remainder]", "skipped", "flaky"),
        result("test_special_cases.py::test_binary[remainder(x) -> y]", "passed"),
        result("test_fft.py::test_fft", "missing", "fft not found in array module"),
    )
    functions = judge(run)
    assert verdicts(functions) == {
        "exp": "fails",
        "remainder": "skipped",
        "zeros": "passes",
        "fft.fft": "missing",
    }
    counts = totals(functions.values())
    assert counts["not run"] == 5
    assert sum(counts.values()) == 9


def test_a_name_that_is_absent():
    run = make_run(
        result("test_has_names.py::test_has_names[elementwise-exp]", "failed", "AssertionError: a"),
        failed("exp"),
        absent=("exp", "ones"),
    )
    assert verdicts(judge(run)) == {"exp": "missing"}  # no test of ones was run


def test_tests_of_later_versions_do_not_count():
    later = "requires ARRAY_API_TESTS_VERSION >= 2030.12"
    run = make_run(
        result("test_x.py::test_exp", "passed"),
        result("test_x.py::test_exp_new", "missing", later),
        result("test_x.py::test_newest", "missing", later),
    )
    assert verdicts(judge(run)) == {"exp": "passes"}


def test_names_that_a_namespace_may_lack():
    named = "test_has_names.py::test_has_names[elementwise-exp]"
    run = make_run(result(named, "failed", "AssertionError: a"), failed("exp"), absent=("exp",))
    run.standard = replace(run.standard, optional={"exp": "optional: slow"})
    function = judge(run)["exp"]
    assert function.verdict == "skipped"
    assert {test.note for test in function.tests} == {"optional: slow"}
    run.module = replace(run.module, absent=())
    assert judge(run)["exp"].verdict == "fails"  # it is there, and wrong
    run.standard = replace(run.standard, proposed=frozenset({"exp"}))
    assert judge(run)["exp"].verdict == "deviation"


def test_a_signature_that_cannot_be_read_says_nothing():
    signature = result("test_signatures.py::test_func_signature[exp]", "missing", "no signature")
    assert judge(make_run(signature))["exp"].verdict == "skipped"
    assert judge(make_run(signature, passed("exp")))["exp"].verdict == "passes"


def test_a_test_of_no_function_of_the_standard():
    functions = judge(make_run(failed("something")))
    assert functions["something"].chapter == "other"
    assert functions["something"].verdict == "fails"


def test_blocked_by_what_raised():
    run = make_run(
        failed("exp", raised_in="exp"),
        failed("ones", raised_in="exp"),
        failed("zeros", raised_in="ones"),
        failed("full", raised_in="equal"),  # which is in order
        passed("equal"),
    )
    functions = judge(run)
    assert verdicts(functions) == {
        "exp": "fails",
        "ones": "blocked",
        "zeros": "blocked",
        "full": "fails",
        "equal": "passes",
    }
    assert functions["zeros"].roots == ("exp",)
    assert functions["zeros"].tests[0].blocked_by == ("ones",)


def test_blocked_by_what_is_missing():
    names = result("test_has_names.py::test_has_names[elementwise-equal]", "failed", "a")
    run = make_run(failed("ones", raised_in="equal"), names, absent=("equal",))
    functions = judge(run)
    assert verdicts(functions) == {"ones": "blocked", "equal": "missing"}
    assert functions["ones"].roots == ("equal",)


def test_a_wrong_comparison_blocks_what_it_compares():
    wrong = "AssertionError: out=1, but should be 1"
    run = make_run(
        failed("equal", wrong),
        failed("ones", wrong, uses=("equal", "exp")),
        failed("zeros", "TypeError: t", uses=("equal",)),  # its own error
        result("test_special_cases.py::test_unary[exp(x) -> y]", "failed", wrong),
        failed("full", wrong, uses=("exp",)),  # a special case of exp is no reason
    )
    found = verdicts(judge(run))
    assert found == {
        "equal": "fails",
        "ones": "blocked",
        "zeros": "fails",
        "exp": "fails",
        "full": "fails",
    }


def test_a_function_that_only_raises_blocks_no_results():
    wrong = "AssertionError: out=1, but should be 1"
    run = make_run(
        failed("zeros", "TypeError: immutable", raised_in="equal"),
        failed("equal", "TypeError: immutable", raised_in="equal"),
        failed("exp", wrong, uses=("equal", "zeros")),
    )
    assert verdicts(judge(run)) == {"zeros": "blocked", "equal": "fails", "exp": "fails"}


def test_one_failure_of_its_own_is_enough():
    run = make_run(
        failed("exp", raised_in="exp"),
        failed("ones", raised_in="exp"),
        failed("ones_more", raised_in="ones"),
    )
    functions = judge(run)
    assert functions["ones"].verdict == "fails"
    assert [test.verdict for test in functions["ones"].tests] == ["blocked", "fails"]


def test_functions_that_blame_each_other_both_fail():
    run = make_run(failed("ones", raised_in="zeros"), failed("zeros", raised_in="ones"))
    functions = judge(run)
    assert verdicts(functions) == {"ones": "fails", "zeros": "fails"}
    assert functions["ones"].tests[0].blocked_by == ()


def test_what_the_standard_permits():
    message = "AssertionError: out=nan, but should be +infinity [floor_divide()]"
    run = make_run(result(FLOOR_TEST, "failed", message))
    function = judge(run)["floor_divide"]
    assert function.verdict == "deviation"
    assert "libraries may return NaN" in function.tests[0].note


MINUS = "isfinite(x1_i) and x1_i > 0 and x2_i is -infinity"


@pytest.mark.parametrize(
    ("function", "condition", "got", "allowed"),
    [
        ("floor_divide", FLOOR, "nan", True),
        ("__floordiv__", FLOOR, "Array(nan, dtype=array_api_strict.float64)", True),
        ("floor_divide", FLOOR, "-1.0", False),
        ("floor_divide", FLOOR, "0.0", False),
        ("floor_divide", MINUS, "-1.0", True),
        ("floor_divide", MINUS, "Array(-1., dtype=float64)", True),
        ("floor_divide", MINUS, "-1.5", False),
        ("floor_divide", MINUS, "-10.0", False),
        ("floor_divide", MINUS, "nan", False),
        ("divide", FLOOR, "nan", False),
        ("floor_divide", "x1_i is NaN or x2_i is NaN", "1.0", False),
    ],
)
def test_permitted(function, condition, got, allowed):
    test = f"array_api_tests/test_special_cases.py::test_binary[{function}({condition}) -> -0]"
    message = f"AssertionError: out={got}, but should be -0 [{function}()]"
    assert bool(permitted(test, function, message)) == allowed
    elsewhere = test.replace("special_cases", "other")
    assert permitted(elsewhere, function, message) == ""
    assert permitted(test, function, "TypeError: t") == ""
