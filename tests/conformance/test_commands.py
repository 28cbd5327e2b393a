"""The sub-commands, on the fake suite."""

import json
from pathlib import Path

import pytest

from array_api_nx_conformance import commands, records, runner
from array_api_nx_conformance.__main__ import main
from array_api_nx_conformance.options import gate_parser, parser
from array_api_nx_conformance.runner import Run
from array_api_nx_conformance.suite import CHECKOUT_VARIABLE

from .conftest import NAMESPACE
from .samples import make_record, passed, result, sample_records

pytestmark = pytest.mark.slow

ONE_OF_TWO = ("test_bad_results.py::test_fails", "test_good.py::test_passes")  # one passes
FAILED = result("test_x.py::test_exp", "failed", "ValueError: v")


@pytest.fixture(autouse=True)
def no_variable(monkeypatch):
    monkeypatch.delenv(CHECKOUT_VARIABLE, raising=False)


def run(suite, *more):
    given = ["run", "--checkout", str(suite.path), "--workers", "1", *more]
    return main(given, suite.pins)


def test_two_namespaces(suite, namespace, tmp_path, capsys, monkeypatch):
    tested = []

    def fake(module, *more):
        tested.append(module.name)
        return original(module, *more)

    original = runner.run_suite
    monkeypatch.setattr(commands, "run_suite", fake)
    file, page = tmp_path / "results.json", tmp_path / "page.html"
    status = run(suite, "--module", f"{namespace}, {namespace}", "--select", *ONE_OF_TWO,
                 "--json", str(file), "--html", str(page), "--max-examples", "1")  # fmt: skip
    assert status == 1
    assert tested == [namespace, namespace]
    out = capsys.readouterr().out
    assert out.count(": conforms: no; 1 fails") == 2
    assert [len(each["tests"]) for each in records.read(file)] == [2, 2]
    assert NAMESPACE in page.read_text()


def test_known_failures_are_excused(suite, namespace, tmp_path, capsys):
    known = tmp_path / "xfails.txt"
    known.write_text("# issue 1\ntest_bad_results.py::test_fails\ntest_good.py::test_passes\n")
    # Without the list, the same fails: see above.
    given = ["--module", namespace, "--select", *ONE_OF_TWO, "--known", str(known)]
    assert run(suite, *given) == 0
    out = capsys.readouterr().out
    assert "test_bad_results.py::test_fails: issue 1" in out
    assert "test_good.py::test_passes: does not fail any more (passed)" in out


def test_a_namespace_that_conforms_and_tests_that_are_left_out(suite, namespace, tmp_path):
    skips, file = tmp_path / "skips.txt", tmp_path / "results.json"
    skips.write_text("test_good.py::test_skipped_by_the_suite\n")
    status = run(suite, "--module", namespace, "--select", "test_good.py", "--skips", str(skips),
                 "--json", str(file))  # fmt: skip
    assert status == 0
    (record,) = records.read(file)
    assert [test["id"] for test in record["tests"]] == ["array_api_tests/test_good.py::test_passes"]
    assert list(record["left_out"]) == ["array_api_tests/test_good.py::test_skipped_by_the_suite"]


def test_a_budget(suite, namespace, capsys):
    given = ["--module", namespace, "--select", "test_hangs_deaf", "--budget", "1"]
    assert run(suite, *given) == 1
    assert "conforms: out of time" in capsys.readouterr().out


def test_an_interruption_reports_what_has_run(suite, namespace, tmp_path, monkeypatch):
    def interrupted(module, checkout, options, *more):
        run = Run(module, checkout, options)
        run.end = "interrupted"
        run.results = {FAILED.id: FAILED}
        return run

    monkeypatch.setattr(commands, "run_suite", interrupted)
    file = tmp_path / "results.json"
    status = run(suite, "--module", f"{namespace},{namespace}", "--json", str(file))
    assert status == 130
    (record,) = records.read(file)  # the second namespace was not begun
    assert (record["end"], len(record["tests"])) == ("interrupted", 1)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--module", "no_such_module"], "No module named 'no_such_module'"),
        (["--module", "json"], "is no array namespace"),
        (["--module", ","], "--module names no namespace"),
        (["--module", NAMESPACE, "--version", "2019.12"], "does not know version '2019.12'"),
        (["--module", NAMESPACE, "--version", "x/../y"], "does not know version"),
        (["--module", NAMESPACE, "--chapters", "bogus"], "no chapter 'bogus'; choose from array"),
        (["--module", NAMESPACE, "--device", "gpu"], "no set_default_device"),
        (["--module", NAMESPACE, "--known", "/no/file"], "cannot read the list /no/file"),
        (["--module", NAMESPACE, "--html", "/no/where"], "cannot write --html /no/where"),
        (["--module", NAMESPACE, "--repro", "/dev/null/x"], "cannot make --repro /dev/null/x"),
        (["--module", f"{NAMESPACE},{NAMESPACE}", "--badge", "b.svg"], "--badge is for one"),
        # None of them is in that chapter.
        (["--module", NAMESPACE, "--select", "test_lacking.py", "--chapters", "fft"], "no test of"),
    ],
)
def test_bad_input(suite, namespace, capsys, more, message):
    assert run(suite, *more) == 2
    err = capsys.readouterr().err
    assert err.startswith("conformance: ")
    assert message in err


def test_runs_have_the_same_seed_unless_another_one_is_asked_for():
    given = ["run", "--module", "numpy"]
    assert parser().parse_args(given).seed == parser().parse_args(given).seed == 1
    assert gate_parser().parse_args([]).seed == 1
    seeds = {parser().parse_args([*given, "--seed", "random"]).seed for _ in range(3)}
    assert len(seeds) > 1


def test_a_missing_checkout(tmp_path, capsys):
    assert main(["run", "--module", "numpy", "--checkout", str(tmp_path / "no")]) == 2
    assert "no checkout of the test suite" in capsys.readouterr().err


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "results.json"
    records.write(path, sample_records())
    return path


def test_report_without_a_file_is_markdown(file, capsys):
    assert main(["report", str(file)]) == 0
    assert capsys.readouterr().out.startswith("### Array API conformance\n")


def test_report_files(file, tmp_path, capsys):
    names = {name: tmp_path / name for name in ("html", "markdown", "badge")}
    options = [part for name, path in names.items() for part in (f"--{name}", str(path))]
    assert main(["report", str(file), "--module", "two", *options]) == 0
    assert capsys.readouterr().out == ""
    assert names["html"].read_text().startswith("<!DOCTYPE html>")
    assert "| two " in names["markdown"].read_text()
    assert "| one " not in names["markdown"].read_text()
    assert names["badge"].read_text().startswith("<svg ")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--module", "three"], "no run of three; they have one, two"),
        (["--badge", "b.svg"], "--badge is for one namespace, there are 2"),
        (["--markdown", "/no/where"], "cannot write --markdown"),
    ],
)
def test_reports_that_cannot_be_made(file, capsys, more, message):
    assert main(["report", str(file), *more]) == 2
    assert message in capsys.readouterr().err


def test_compare(tmp_path, capsys):
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    records.write(good, [make_record(passed("exp"))])
    records.write(bad, [make_record(FAILED)])
    assert main(["compare", str(good), str(bad)]) == 1
    assert capsys.readouterr().out.startswith("Regressions (1):")
    assert main(["compare", str(bad), str(good)]) == 0
    assert capsys.readouterr().out.startswith("Fixes (1):")
    records.write(bad, [make_record(FAILED, seed=7)])
    assert main(["compare", str(good), str(bad)]) == 2
    assert "Not comparable (1):" in capsys.readouterr().out
    assert main(["compare", str(bad), str(tmp_path / "none")]) == 2
    assert "cannot read" in capsys.readouterr().err


def test_known(tmp_path, capsys):
    file, listed, old = tmp_path / "results.json", tmp_path / "list", tmp_path / "old"
    records.write(file, [make_record(FAILED)])
    assert main(["known", str(file), "--output", str(listed)]) == 0
    assert listed.read_text().endswith(f"\n# ValueError: v\n{FAILED.id}\n")
    old.write_text(f"# our issue\n{FAILED.id}\n\ntest_fft.py\n")
    assert main(["known", str(file), "--keep", str(old)]) == 1
    out, err = capsys.readouterr()
    assert out.endswith(f"\n# our issue\n{FAILED.id}\n")
    assert err == "stale: array_api_tests/test_fft.py: no such test ran\n"
    records.write(file, sample_records())
    assert main(["known", str(file)]) == 2
    assert "choose with --module from one, two" in capsys.readouterr().err


def test_the_schema_is_documented():
    document = Path(__file__).parents[2] / "docs" / "conformance-schema.md"
    text = document.read_text()
    (record,) = [json.loads(json.dumps(each)) for each in sample_records()[:1]]
    assert f'"schema": {records.SCHEMA}' in text
    for key in [*record, *record["tests"][0], *record["functions"]["exp"], *record["options"]]:
        assert f"`{key}`" in text, key
