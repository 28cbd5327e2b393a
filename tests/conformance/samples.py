"""Runs made by hand, for tests of what comes after a run, and a terminal."""

import io
from pathlib import Path
from typing import Any

from array_api_nx_conformance import records
from array_api_nx_conformance.known import Entry
from array_api_nx_conformance.namespace import Module
from array_api_nx_conformance.pytest_run import End, Result
from array_api_nx_conformance.runner import Options, Run
from array_api_nx_conformance.standard import Standard
from array_api_nx_conformance.suite import Checkout

STANDARD = Standard(
    "2025.12",
    {
        "__floordiv__": "array object",
        "equal": "elementwise functions",
        "exp": "elementwise functions",
        "floor_divide": "elementwise functions",
        "remainder": "elementwise functions",
        "zeros": "creation functions",
        "ones": "creation functions",
        "full": "creation functions",
        "fft.fft": "fft",
    },
    {
        "__floordiv__": "2021.12",
        "equal": "2021.12",
        "exp": "2021.12",
        "floor_divide": "2021.12",
        "remainder": "2025.12",
        "zeros": "2021.12",
        "ones": "2021.12",
        "full": "2021.12",
        "fft.fft": "2022.12",
    },
)
FLOOR = "x1_i is +infinity and isfinite(x2_i) and x2_i > 0"
FLOOR_TEST = f"test_special_cases.py::test_binary[floor_divide({FLOOR}) -> +infinity]"


def result(name: str, outcome: str, message: str = "", **more: Any) -> Result:
    """A result of a test of the suite."""
    return Result(f"array_api_tests/{name}", outcome, 0.5, message, "", **more)


def passed(function: str) -> Result:
    """A passed test of a function."""
    return result(f"test_x.py::test_{function}", "passed")


def make_run(
    *found: Result,
    name: str = "some.module",
    end: End = "finished",
    absent: tuple[str, ...] = (),
    known: tuple[Entry, ...] = (),
    not_run: tuple[str, ...] = (),
    **options: Any,
) -> Run:
    """A run with these results; `options` are those of `runner.Options`."""
    return Run(
        Module(name, "1.0", "2025.12", absent),
        Checkout(Path("/suite"), "a" * 40, "b" * 40),
        Options(**{"module": name, "seed": 5, "known": known} | options),
        end=end,
        standard=STANDARD,
        collected=[each.id for each in found] + list(not_run),
        results={each.id: each for each in found},
    )


def make_record(*found: Result, exit_status: int = 0, **more: Any) -> records.Record:
    """The same as JSON values."""
    return records.record(make_run(*found, **more), exit_status)


def sample_records() -> list[records.Record]:
    """Two namespaces with something of everything."""
    script = "import one as xp\n\nprint('<&>', xp.exp(1))\n"
    first = make_record(
        passed("zeros"),
        result("test_x.py::test_exp", "failed", "AssertionError: out=1 | 2 `x` </script>",
               repro=script),
        result("test_x.py::test_full", "failed", "RuntimeError: broken", raised_in="exp"),
        result(FLOOR_TEST, "failed", "AssertionError: out=nan, but should be +infinity"),
        result("test_x.py::test_remainder", "skipped", "flaky"),
        result("test_fft.py::test_fft", "missing", "fft not found in array module"),
        name="one", absent=("fft.fft",), exit_status=1,
    )  # fmt: skip
    return [first, make_record(*map(every_passed, STANDARD.functions), name="two")]


def every_passed(function: str) -> Result:
    """A passed test of any function of the standard."""
    return result(f"test_special_cases.py::test_any[{function}]", "passed")


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True
