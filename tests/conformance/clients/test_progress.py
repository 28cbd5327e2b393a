import io
from pathlib import Path

import pytest

from array_api_nx_conformance.clients.packages import CLIENTS, Installed
from array_api_nx_conformance.clients.progress import Progress
from array_api_nx_conformance.clients.runner import ClientRun
from array_api_nx_conformance.namespace import Module
from array_api_nx_conformance.pytest_run import Result

from ..samples import Terminal

pytestmark = pytest.mark.slow


def a_run():
    installed = Installed(CLIENTS["scipy"], "9.9", Path("/site"), Path("/site/scipy"))
    return ClientRun(installed, Module("ours", "1.0", ""), duration=7.4)


def test_lines_in_a_file():
    stream, run = io.StringIO(), a_run()
    progress = Progress(stream, interval=0.0)
    progress.show(run)
    run.collected = ["a", "b"]
    run.results["a"] = Result("a", "failed", 0.1, "", "")
    progress.show(run)
    progress.close(run)
    assert stream.getvalue().splitlines() == [
        "scipy 9.9 on ours: collecting tests, 7 s",
        "scipy 9.9 on ours: 1/2 tests, 1 failed, 7 s",
        "scipy 9.9 on ours: 1/2 tests, 1 failed, 7 s",
    ]


def test_seldom():
    stream = io.StringIO()
    Progress(stream, interval=1e6).show(a_run())
    assert stream.getvalue() == ""


def test_one_line_on_a_terminal():
    stream, run = Terminal(), a_run()
    progress = Progress(stream)
    progress.show(run)
    progress.show(run)
    assert stream.getvalue().count("\r\x1b[K") == 2
    assert "\n" not in stream.getvalue()
    progress.close(run)
    assert stream.getvalue().endswith("7 s\n")
