"""Workers: their answers, their ends."""

import os
import textwrap

import pytest

from array_api_nx_conformance.suite import CannotRunError
from array_api_nx_conformance.support import workers
from tests.support.refusals import refused

WORKER = """
import json, sys, time
print("ready", flush=True)
for line in sys.stdin:
    number = int(line)
    if number == 3:
        sys.exit(1)
    if number == 5:
        time.sleep(60)
    print(json.dumps({"number": number}), flush=True)
"""


@pytest.fixture
def asked(tmp_path, monkeypatch):
    def ask(source, count=8, seconds=2.0):
        package = tmp_path / "made_up"
        package.mkdir()
        (package / "worker.py").write_text(textwrap.dedent(source))
        monkeypatch.setattr(workers, "__package__", "made_up")
        variables = {**os.environ, "PYTHONPATH": str(tmp_path)}
        return workers.ask(
            "module", "", "row", count, workers=2, seconds=seconds, variables=variables,
            show=lambda done: None,
        )  # fmt: skip

    return ask


def test_what_ends_a_worker_or_takes_too_long_is_untried_and_the_rest_goes_on(asked):
    answers = asked(WORKER)
    assert [each for each in answers if "untried" in each] == [{"untried": workers.ENDED}] * 2
    assert "untried" in answers[3]
    assert "untried" in answers[5]
    assert [each["number"] for each in answers if "number" in each] == [0, 1, 2, 4, 6, 7]


def test_workers_that_cannot_begin_are_an_error(asked):
    refused(CannotRunError, "the workers end before they call anything", asked, "raise ImportError")
