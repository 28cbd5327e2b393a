"""Tables of quick cases that one test goes through, each a subtest.

pytest and its workers need milliseconds for each test. So `for_each` stands
where cases are quick and many, and `pytest.mark.parametrize` where a case is slow, or needs
fixtures of its own. With `-k` each case is a test of its own.
"""

import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any

import pytest

Test = Callable[..., None]

chosen = False
"""Whether cases are tests of their own, so that `-k` finds them; `tests/conftest.py` sets it."""


def for_each(names: str | Sequence[str], cases: Iterable[Any]) -> Callable[[Test], Test]:
    """Call a test for each case; names and cases are written as for `pytest.mark.parametrize`.

    All cases run, also after one that fails or skips; these are reported as subtests. Fixtures are
    made once for all cases. A table without cases is skipped.
    """
    names = [names] if isinstance(names, str) else names
    table = [dict(zip(names, case if len(names) > 1 else [case], strict=True)) for case in cases]

    def decorate(test: Test) -> Test:
        if chosen:
            return pytest.mark.parametrize(names, [[*case.values()] for case in table])(test)
        function, inner = getattr(test, "cases", (test, [{}]))
        product = [{**case, **more} for case in table for more in inner]

        @wraps(test)
        def run(*args: Any, request: pytest.FixtureRequest, **kwargs: Any) -> None:
            __tracebackhide__ = True
            if not product:
                pytest.skip("the table has no cases")
            for case in product:
                try:
                    function(*args, **case, **kwargs)
                except (Exception, pytest.fail.Exception, pytest.skip.Exception) as error:
                    # Only then, since a subtest costs as much as a test.
                    subtests = request.getfixturevalue("subtests")
                    with subtests.test(**{name: shown(value) for name, value in case.items()}):
                        raise error

        run.cases = function, product
        signature = inspect.signature(test)
        others = [x for x in signature.parameters.values() if x.name not in (*names, "request")]
        keyword = inspect.Parameter("request", inspect.Parameter.KEYWORD_ONLY)
        run.__signature__ = signature.replace(parameters=[*others, keyword])
        return run

    return decorate


def shown(value: Any) -> str:
    """A short text for a value of a case; of a lambda, also the line where it begins."""
    if inspect.isfunction(value):
        return f"{value.__name__} in line {value.__code__.co_firstlineno}"
    return getattr(value, "__name__", None) or repr(value)[:100]
