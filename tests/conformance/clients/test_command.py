import json
import subprocess
import sys

import pytest

from array_api_nx_conformance.clients import command, explain
from array_api_nx_conformance.clients.explain import Explanation
from array_api_nx_conformance.suite import CannotRunError
from tests.support.refusals import refused

from .conftest import NAMESPACE, REPOSITORY, clients

pytestmark = pytest.mark.slow

SELECT = ("--module", NAMESPACE, "--workers", "1", "--select")
HALF = "scipy/stats/tests/test_stats.py::test_half"
ODD = Explanation(
    "odd", "test_half", "is odd", 'raise ValueError(f"{number} is odd")', "There is no half.\n"
)


@pytest.fixture(autouse=True)
def only_the_fake_clients(monkeypatch):
    for name in ("array-api-extra", "consumers", "scikit-learn"):
        monkeypatch.delitem(command.CLIENTS, name)


def explained_by(patch, *explanations):
    patch.setattr(explain, "read_all", lambda: list(explanations))


def test_explained_failures(installed, tmp_path, monkeypatch, capsys):
    file, page, again = tmp_path / "a.json", tmp_path / "a.md", tmp_path / "b.md"
    explained_by(monkeypatch, ODD)
    assert clients(*SELECT, HALF, "--json", file, "--markdown", page) == 0
    out, err = capsys.readouterr()
    assert "# Clients' tests on fake_space\n" in out
    assert "`fake_space` 3.2; NumPy" in out
    assert "## scipy 9.9\n" in out
    assert "scipy 9.9 on fake_space: 3/3 tests, 2 failed, " in err
    [failure, other] = json.loads(file.read_text())["namespaces"][0]["clients"]["scipy"]["failures"]
    assert failure == {
        "id": f"{HALF}[fake_space-3]",
        "message": "ValueError: 3 is odd",
        "cause": "ValueError: N is odd",
        "at": "scipy/stats/__init__.py:4",
        "explanation": "odd",
        "also": [],
    }
    assert other["id"] == f"{HALF}[fake_space-5]"
    assert clients("--results", file, "--markdown", again) == 0
    assert again.read_text() == page.read_text() == out[1:] == capsys.readouterr().out[1:]


def test_unexplained_failures_and_a_namespace_beside(installed, tmp_path, monkeypatch):
    file = tmp_path / "a.json"
    explained_by(monkeypatch)
    assert clients(*SELECT, HALF, "--beside", "numpy", "--json", file) == 1
    record = json.loads(file.read_text())
    assert record["exit_status"] == 1
    judged, beside = record["namespaces"]
    assert (judged["name"], beside["name"]) == ("fake_space", "numpy")
    assert beside["clients"]["scipy"]["totals"]["failed"] == 2
    assert [each["also"] for each in judged["clients"]["scipy"]["failures"]] == [["numpy"]] * 2


def test_an_interruption(installed, monkeypatch, capsys):
    class Impatient(command.Progress):
        def show(self, run):
            if run.results:
                raise KeyboardInterrupt

    monkeypatch.setattr(command, "Progress", Impatient)
    assert clients(*SELECT, "scipy.stats", "--beside", "numpy") == 130
    out = capsys.readouterr().out
    assert "**Not complete (interrupted): " in out
    assert "| scipy.stats | " in out


def test_no_test_can_be_run(installed, capsys):
    with pytest.raises(CannotRunError, match="no test was run on fake_space; above is"):
        clients(*SELECT, "scipy/stats/tests/test_stats.py::test_nothing_like_this")
    assert "the last that it said:\n" in capsys.readouterr().err


def test_a_missing_client(monkeypatch):
    monkeypatch.setattr("sys.path", [])
    monkeypatch.setattr(command, "require", lambda: None)
    refused(CannotRunError, "-m pip install 'scipy>=", clients)


def test_an_unwritable_file_is_known_before_the_run(tmp_path):
    refused(CannotRunError, "cannot write --markdown", clients, "--markdown", tmp_path)


def test_a_module_that_is_no_namespace(installed):
    with pytest.raises(CannotRunError, match="'json' is no array namespace"):
        clients("--module", "json", "--select", "scipy.fft")


@pytest.mark.parametrize("text", ["", "[]", '{"schema": 0}'])
def test_results_of_something_else(tmp_path, text):
    file = tmp_path / "a.json"
    file.write_text(text)
    refused(CannotRunError, r"--results .*a\.json", clients, "--results", file)


def test_the_command_itself():
    call = [sys.executable, "-m", "conformance", "clients", "--select", "scipy.nothing"]
    done = subprocess.run(
        [*call, "--client", "array-api-extra"], cwd=REPOSITORY, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "conformance: --select scipy.nothing: there are no such tests" in done.stderr


@pytest.mark.parametrize("bad", [["--client", "none"], ["--workers", "0"]])
def test_bad_options(bad, capsys):
    with pytest.raises(SystemExit) as caught:
        clients(*bad)
    assert caught.value.code == 2
    assert bad[0] in capsys.readouterr().err
