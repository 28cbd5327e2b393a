"""The sub-command that makes the tables, on the fake suite."""

from dataclasses import replace

import pytest

from array_api_nx_conformance import records
from array_api_nx_conformance.__main__ import main
from array_api_nx_conformance.runner import Run, run_suite
from array_api_nx_conformance.suite import CHECKOUT_VARIABLE
from array_api_nx_conformance.table import command
from array_api_nx_conformance.table.implementations import Implementation

from .conftest import NAMESPACE
from .samples import result, sample_records

pytestmark = pytest.mark.slow

FAILED = result("test_x.py::test_exp", "failed", "ValueError: v")


@pytest.fixture(autouse=True)
def no_variable(monkeypatch):
    monkeypatch.delenv(CHECKOUT_VARIABLE, raising=False)


def table(suite, folder, *more):
    given = ["table", "--checkout", str(suite.path), "--results", str(folder / "results"),
             "--workers", "1", "--max-examples", "1", "--time-limit", "1",
             "--json", str(folder / "out.json"), *more]  # fmt: skip
    return main(given, suite.pins)


def counting(monkeypatch):
    """How many tests each run began with, and stops the first one after three."""
    known = []

    def run(module, checkout, options, show, standard, done):
        done = list(done)
        known.append(len(done))

        def stop(run):
            show(run)
            if len(known) == 1 and len(run.results) >= 3:
                raise KeyboardInterrupt

        quick = replace(options, select=("not hangs and not upsets and not crashes",))
        return run_suite(module, checkout, quick, stop, standard, done)

    monkeypatch.setattr(command, "run_suite", run)
    return known


def test_a_stopped_table_goes_on_and_a_finished_one_is_not_repeated(
    suite, namespace, tmp_path, capsys, monkeypatch
):
    known = counting(monkeypatch)
    given = ["--module", namespace, "--markdown", str(tmp_path / "out.md")]
    assert table(suite, tmp_path, *given) == 130
    captured = capsys.readouterr()
    assert "the same command goes on from here" in captured.err
    (stopped,) = records.read(tmp_path / "out.json")
    assert (stopped["end"], len(stopped["tests"])) == ("interrupted", 3)

    assert table(suite, tmp_path, *given) == 0
    assert "3 tests done before" in capsys.readouterr().out
    (finished,) = records.read(tmp_path / "out.json")
    assert finished["end"] == "finished"
    ids = [test["id"] for test in finished["tests"]]
    assert len(ids) == len(set(ids)) > 3
    assert finished["started"] == stopped["started"]
    assert finished["duration"] > stopped["duration"]
    assert f"| `{NAMESPACE}`" in (tmp_path / "out.md").read_text()

    assert table(suite, tmp_path, *given) == 0
    assert known == [0, 3]  # nothing ran
    (again,) = records.read(tmp_path / "out.json")
    assert again | {"options": {}} == finished | {"options": {}}
    assert table(suite, tmp_path, *given, "--again", namespace, "--budget", "0.000001") == 2
    assert known == [0, 3, 0]
    assert "goes on from here" in capsys.readouterr().err


def test_namespaces_that_are_not_installed_are_named(
    suite, namespace, tmp_path, capsys, monkeypatch
):
    listed = (Implementation("no_such_module"), Implementation(namespace, "a fake"))
    monkeypatch.setattr(command, "IMPLEMENTATIONS", listed)

    def judged(module, checkout, options, *more):
        run = Run(module, checkout, options, end="finished", standard=more[1])
        run.results = {FAILED.id: FAILED}
        return run

    monkeypatch.setattr(command, "run_suite", judged)
    assert table(suite, tmp_path, "--html", str(tmp_path / "out.html")) == 0
    assert "no_such_module: not judged: " in capsys.readouterr().out
    assert "<code>no_such_module</code>: the module" in (tmp_path / "out.html").read_text()
    # One that was asked for has to be there.
    assert table(suite, tmp_path, "--module", "no_such_module") == 2
    assert "does not import" in capsys.readouterr().err
    monkeypatch.setattr(command, "IMPLEMENTATIONS", listed[:1])
    assert table(suite, tmp_path) == 2
    assert "none of the namespaces" in capsys.readouterr().err


def test_tables_of_given_results(tmp_path, capsys):
    file = tmp_path / "results.json"
    records.write(file, sample_records())
    assert main(["table", str(file)]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("# Who implements the array API standard\n")
    assert main(["table", str(file), "--markdown", str(tmp_path / "out.md")]) == 0
    assert capsys.readouterr().out == ""
    assert (tmp_path / "out.md").read_text() == shown.removesuffix("\n")
    assert main(["table", str(file), "--html", "/no/where"]) == 2
