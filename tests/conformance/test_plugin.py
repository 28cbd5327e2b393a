from __future__ import annotations

import pytest

from conformance.plugin import TimeLimitExceeded, shortest_message


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
def test_shortest_message(error: BaseException, message: str) -> None:
    assert shortest_message(error) == message


def test_no_handler_of_exception_swallows_the_time_limit() -> None:
    assert not issubclass(TimeLimitExceeded, Exception)
