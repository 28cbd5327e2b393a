from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from array_api_nx_conformance.plugin import TimeLimitExceeded, _shrinking, shortest_message
from array_api_nx_conformance.protocol import Plan

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ValueError("one\ntwo"), "ValueError: one"),
        (KeyError(), "KeyError"),
        (AssertionError("\nlate"), "AssertionError: late"),
        (
            AssertionError("assert False\n +  where False = f()\n and more"),
            "AssertionError: assert False +  where False = f()",
        ),
        (ExceptionGroup("several", [TypeError("t"), KeyError("k")]), "TypeError: t (and 1 more)"),
        (ExceptionGroup("one", [TypeError("t")]), "TypeError: t"),
        (
            ExceptionGroup("deep", [ExceptionGroup("in", [OSError("o"), OSError()]), KeyError()]),
            "OSError: o (and 2 more)",
        ),
        (TimeLimitExceeded("timeout: too long"), "timeout: too long"),
    ],
)
def test_shortest_message(error, message):
    assert shortest_message(error) == message


def test_no_handler_of_exception_swallows_the_time_limit():
    assert not issubclass(TimeLimitExceeded, Exception)


def test_a_plan_leaves_out_what_is_done_skipped_or_of_another_chapter():
    plan = Plan(
        "numpy",
        done=["array_api_tests/test_x.py::test_done"],
        skips=["array_api_tests/test_fft.py::test_fft"],
        functions={"exp": "elementwise functions", "fft.fft": "fft", "fft.ifft": "fft"},
        chapters=["fft"],
    )
    assert plan.includes("array_api_tests/test_fft.py::test_ifft")
    assert not plan.includes("array_api_tests/test_fft.py::test_fft")
    assert not plan.includes("array_api_tests/test_x.py::test_exp")
    assert not plan.includes("array_api_tests/test_x.py::test_done")
    assert not plan.includes("array_api_tests/test_x.py::test_something_else")
    assert Plan("numpy").includes("array_api_tests/test_x.py::test_something_else")


def item(function):
    """As much of a pytest item as shrinking needs."""
    return SimpleNamespace(obj=function)


def smallest_failure(wanted):
    seen = []

    @settings(max_examples=50, database=None, derandomize=True)
    @given(st.integers(min_value=0))
    def test(number):
        if number > 1000:
            seen.append(number)
            raise ValueError(number)

    before = vars(test)["_hypothesis_internal_use_settings"]
    with _shrinking(item(test), wanted), pytest.raises(ValueError, match=r"\d+"):
        test()
    assert vars(test)["_hypothesis_internal_use_settings"] is before
    return seen[-1]


def test_known_failures_are_not_shrunk():
    assert smallest_failure(True) == 1001
    assert smallest_failure(False) != 1001


def test_a_test_without_hypothesis_is_left_alone():
    with _shrinking(item(len), False):
        pass
    with _shrinking(item(None), False):
        pass
