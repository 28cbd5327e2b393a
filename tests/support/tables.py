"""Tables of quick cases that one test goes through.

pytest and its workers take about 3 ms for a test, however little it does. So `for_each` stands
where cases are quick and many, and `pytest.mark.parametrize` where somebody will want to run one
case alone, where a case is slow, or where it needs fixtures of its own.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any

import pytest

SHOWN = 20  # how many of the cases that fail are named

Test = Callable[..., None]


def for_each(names: str | Sequence[str], cases: Iterable[Any]) -> Callable[[Test], Test]:
    """Call a test for each case; names and cases are written as for `pytest.mark.parametrize`.

    All cases run, also after one that fails; the error of the first then comes with a note that
    names those that failed. Fixtures are made once for all cases. A skip is for all of them, and a
    table without cases is skipped.
    """
    names = [names] if isinstance(names, str) else names
    table = [dict(zip(names, case if len(names) > 1 else [case], strict=True)) for case in cases]

    def decorate(test: Test) -> Test:
        @wraps(test)
        def run(*args: Any, **kwargs: Any) -> None:
            __tracebackhide__ = True
            if not table:
                pytest.skip("the table has no cases")
            failed: list[dict[str, Any]] = []
            first: BaseException | None = None
            skipped = 0
            for case in table:
                try:
                    test(*args, **case, **kwargs)
                except pytest.skip.Exception as skip:
                    skipped, reason = skipped + 1, skip
                except (Exception, pytest.fail.Exception) as error:
                    failed.append(case)
                    first = error if first is None else first
            if first is not None:
                first.add_note(f"{len(failed)} of {len(table)} cases fail:")
                for case in failed[:SHOWN]:
                    first.add_note("  " + ", ".join(f"{k}={shown(v)}" for k, v in case.items()))
                raise first
            if skipped:
                assert skipped == len(table), "some cases are skipped; they need their own test"
                raise reason

        signature = inspect.signature(test)
        others = [x for name, x in signature.parameters.items() if name not in names]
        run.__signature__ = signature.replace(parameters=others)  # type: ignore[attr-defined]
        return run

    return decorate


def shown(value: Any) -> str:
    """What stands for a value of a case, cut short; of a lambda, also where it begins."""
    if inspect.isfunction(value):
        return f"{value.__name__} in line {value.__code__.co_firstlineno}"
    return getattr(value, "__name__", None) or repr(value)[:100]
