import json
import subprocess
import sys

import pytest

from array_api_nx_conformance import __main__ as command
from array_api_nx_conformance import gate, runner
from array_api_nx_conformance.environment import PACKAGE
from array_api_nx_conformance.runner import Run
from array_api_nx_conformance.suite import CHECKOUT_VARIABLE

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def no_variable(monkeypatch):
    monkeypatch.delenv(CHECKOUT_VARIABLE, raising=False)


def arguments(suite, module, *more):
    return ["--checkout", str(suite.path), "--module", module, "--workers", "1", *more]


def test_a_module_that_conforms(suite, namespace, tmp_path, capsys):
    file = tmp_path / "result.json"
    given = arguments(suite, namespace, "--select", "test_good.py", "--json", str(file))
    assert command.main(given, suite.pins) == 0
    out, err = capsys.readouterr()
    assert out.startswith("fake_namespace 3.2, declares the standard's version 2025.12\n")
    counts = "1 passed, 0 failed, 0 errors, 0 missing, 2 skipped by the suite"
    assert f"CONFORMS, PARTLY: {counts}; 200 examples per test; " in out  # one file of the suite
    assert err == ""
    values = json.loads(file.read_text())
    assert values["runs"][0]["exit_status"] == 0
    assert len(values["runs"][0]["tests"]) == 3


def test_a_module_that_does_not(suite, namespace, capsys):
    given = arguments(suite, namespace, "--select", "test_fails or needs_fft")
    assert command.main(given, suite.pins) == 1
    out = capsys.readouterr().out
    # One as it happens, one in the summary.
    assert out.count("FAILED  test_bad_results.py::test_fails\n") == 2
    assert "  test_lacking.py::test_needs_fft: fft not found in array module" in out


def test_no_test_can_be_run(suite, namespace, monkeypatch, capsys):
    def nothing(module, checkout, options, *more):
        return Run(module, checkout, options, log="deselected\n")

    monkeypatch.setattr(gate, "run_suite", nothing)
    assert command.main(arguments(suite, namespace), suite.pins) == 2
    assert "no test could be run; the last that pytest said:\n    des" in capsys.readouterr().err


def test_an_interruption_before_the_run(suite, monkeypatch, capsys):
    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(gate, "inspect_module", interrupt)
    assert command.main(arguments(suite, "json"), suite.pins) == 130
    assert capsys.readouterr().err == "conformance: interrupted\n"


@pytest.mark.parametrize("target", ["nowhere/result.json", "."])
def test_a_json_file_that_cannot_be_written(suite, tmp_path, capsys, target):
    given = arguments(suite, "json", "--json", str(tmp_path / target))
    assert command.main(given, suite.pins) == 2
    out, err = capsys.readouterr()
    assert out == ""  # before the run
    assert err.startswith(f"conformance: cannot write --json {tmp_path / target}: ")


def test_a_json_file_is_not_left_behind_empty(suite, tmp_path):
    file = tmp_path / "result.json"
    assert command.main(arguments(suite, "json", "--json", str(file)), suite.pins) == 2
    assert not file.exists()


def test_a_module_that_does_not_import(suite, capsys):
    assert command.main(arguments(suite, "no_such_module"), suite.pins) == 2
    assert "No module named 'no_such_module'" in capsys.readouterr().err


def test_missing_packages(suite, monkeypatch, capsys):
    monkeypatch.setitem(runner.REQUIREMENTS, "no_such_package", "no-such-package>=3")
    assert command.main(arguments(suite, "json"), suite.pins) == 2
    assert "-m pip install 'no-such-package>=3'" in capsys.readouterr().err


def test_locate(suite, tmp_path, capsys):
    assert command.main(["--locate", "--checkout", str(suite.path)], suite.pins) == 0
    assert capsys.readouterr() == (f"{suite.path}\n", "")
    assert command.main(["--locate", "--cache", str(tmp_path)], suite.pins) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "git init" in err
    assert list(tmp_path.iterdir()) == []  # it only looks


@pytest.mark.parametrize(
    ("bad", "rule"),
    [
        (["--workers", "0"], "'0' is no whole number from 1 to 1000"),
        (["--workers", "100000"], "'100000' is no whole number from 1 to 1000"),
        (["--max-examples", "-1"], "'-1' is no whole number of at least 1"),
        (["--max-examples", "many"], "'many' is no whole number of at least 1"),
        (["--time-limit", "nan"], "'nan' is no number of seconds; 0 means no limit"),
        (["--time-limit", "soon"], "'soon' is no number of seconds"),
        (["run", "--module", "numpy", "--budget", "-1"], "'-1' is no number of seconds"),
        (["--seed", "x"], "'x' is no whole number of at least 0"),
    ],
)
def test_bad_numbers(bad, rule, capsys):
    with pytest.raises(SystemExit) as caught:
        command.main(bad)
    assert caught.value.code == 2
    assert f"argument {bad[-2]}: {rule}" in capsys.readouterr().err.splitlines()[-1]


def test_the_command_itself(tmp_path):
    call = [sys.executable, "-m", "conformance", "--locate", "--checkout", str(tmp_path / "no")]
    done = subprocess.run(call, cwd=PACKAGE.parent, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "data-apis/array-api-tests" in done.stderr


def test_without_its_requirements_the_command_says_what_to_install():
    blocked = "import sys; sys.modules.update(dict.fromkeys(('hypothesis', 'pytest', 'xdist')))"
    judge = "sys.exit(main(['run', '--module', 'numpy']))"
    command = f"{blocked}; from array_api_nx_conformance.__main__ import main; {judge}"
    run = subprocess.run(
        [sys.executable, "-c", command],
        cwd=PACKAGE.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 2
    assert "pip install" in run.stderr
    assert "Traceback" not in run.stderr
