import json

import pytest

from array_api_nx_conformance import records
from array_api_nx_conformance.known import Entry
from array_api_nx_conformance.suite import CannotRunError
from tests.support.refusals import refused

from .samples import make_record, passed, result, sample_records

EXP = "array_api_tests/test_x.py::test_exp"


def test_a_record():
    failed = result("test_x.py::test_exp", "failed", "ValueError: v", repro="import x\n")
    entries = (Entry(EXP, "issue 3"), Entry("array_api_tests/test_x.py::test_zeros", "old"))
    record = make_record(failed, passed("zeros"), known=entries, not_run=("t",), exit_status=1)
    record = json.loads(json.dumps(record))
    assert record["module"] == {
        "name": "some.module", "version": "1.0", "api_version": "2025.12", "lacking": [],
        "extra": [],
    }  # fmt: skip
    assert (record["version"], record["exit_status"], record["end"]) == ("2025.12", 1, "finished")
    assert record["suite"]["suite_commit"] == "a" * 40
    assert record["options"]["seed"] == 5
    assert record["outcomes"]["failed"] == record["totals"]["fails"] == 1
    assert record["chapters"]["creation functions"]["passes"] == 1
    assert record["functions"]["exp"] == {
        "chapter": "elementwise functions", "verdict": "fails", "roots": [], "since": "2021.12",
    }  # fmt: skip
    (test,) = (test for test in record["tests"] if test["id"] == EXP)
    assert test == {
        "id": EXP, "function": "exp", "verdict": "fails", "outcome": "failed", "duration": 0.5,
        "message": "ValueError: v", "longrepr": "", "repro": "import x\n", "note": "",
        "blocked_by": [], "known": "issue 3",
    }  # fmt: skip
    assert record["stale"] == {
        "array_api_tests/test_x.py::test_zeros": "does not fail any more (passed)"
    }
    assert record["not_run"] == ["t"]
    assert record["new"] == ["remainder"]
    assert "numpy" in record["environment"]


def test_what_counts_against_a_namespace():
    failed = result("test_x.py::test_exp", "failed", "ValueError: v")
    assert [test["id"] for test in records.unexcused(make_record(failed))] == [EXP]
    assert records.unexcused(make_record(failed, known=(Entry(EXP, "known"),))) == []
    assert records.unexcused(sample_records()[1]) == []


def test_an_unfinished_run_judges_no_list():
    entries = (Entry(EXP, "known"),)
    assert make_record(passed("zeros"), known=entries, end="interrupted")["stale"] == {}


def test_a_selection_of_tests_judges_no_entry_of_which_no_test_ran():
    entries = (Entry(EXP, "known"), Entry("array_api_tests/test_x.py::test_zeros", "old"))
    record = make_record(passed("zeros"), known=entries, chapters=("creation functions",))
    assert list(record["stale"]) == ["array_api_tests/test_x.py::test_zeros"]


def test_written_and_read(tmp_path):
    file = tmp_path / "results.json"
    written = sample_records()
    records.write(file, written)
    assert records.read(file) == json.loads(json.dumps(written))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not JSON .*run --json"),
        ("[]", "has no schema, this program reads 2"),
        ('{"schema": 1}', "has schema 1, this program reads 2"),
        ('{"schema": 2, "runs": []}', "has no runs"),
        ('{"schema": 2, "runs": [{"module": {}}]}', "lacks version, suite, .*damaged"),
        ('{"schema": 2, "runs": [3]}', "lacks module, version"),
    ],
)
def test_files_that_are_no_results(tmp_path, text, message):
    file = tmp_path / "results.json"
    file.write_text(text)
    refused(CannotRunError, message, records.read, file)


def test_files_that_cannot_be_used(tmp_path):
    refused(CannotRunError, r"cannot read .*No such file", records.read, tmp_path / "nothing.json")
    with pytest.raises(CannotRunError, match=r"cannot write .*No such file"):
        records.write(tmp_path / "no" / "where.json", [])
