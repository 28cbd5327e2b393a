"""The chapter of consumers, most of which are not installed where the tests run."""

import importlib.metadata
import json
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from array_api_nx_conformance.clients import consumer_calls, markdown, packages, report
from array_api_nx_conformance.clients.consumers import BECAME, PACKAGES, Consumer
from array_api_nx_conformance.clients.packages import CLIENTS, Installed, find
from array_api_nx_conformance.clients.runner import ClientRun
from array_api_nx_conformance.namespace import Module
from array_api_nx_conformance.pytest_run import Result
from tests.support.refusals import refused

from .conftest import clients

pytestmark = pytest.mark.slow

ABSENT = "no-such-package"
ID = "consumer_calls.py::test_agrees[{}]"


@pytest.fixture
def absent(monkeypatch):
    """No consumer but one that is not installed."""
    monkeypatch.setattr(packages, "PACKAGES", {ABSENT: Consumer(ABSENT, "no_such_package", "x")})


def installed(name):
    consumer = PACKAGES[name]
    pytest.importorskip(consumer.package)
    return consumer


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", PACKAGES)
def test_every_call_works_on_numpy(name, monkeypatch):
    monkeypatch.setenv("ARRAY_API_TESTS_MODULE", "numpy")
    module = consumer_calls.calls_of(installed(name))
    failed = []
    for operation, call in module.CALLS.items():
        try:
            call(np)
        except ImportError:
            continue  # a package that the consumer does not require, which this call does
        except Exception as error:  # whatever the consumer raises
            failed.append(f"{operation}: {error!r}")
    assert failed == []


def a_module():
    module = ModuleType("calls")
    module.CALLS = {  # type: ignore[attr-defined]
        "works": lambda xp: xp.asarray([1.0, 2.0]),
        "became": lambda xp: np.asarray([1.0, 2.0]),
        "wrapped": lambda xp: {"x": xp.asarray([1.0])},
        "not on NumPy": lambda xp: xp.no_such_function(),
        "on NumPy alone": lambda xp: xp.median(xp.asarray([1.0]), overwrite_input=True),
    }
    module.unwrap = lambda value: value["x"] if isinstance(value, dict) else value  # type: ignore[attr-defined]
    return module


def test_the_verdict_of_a_call(monkeypatch):
    monkeypatch.setenv("ARRAY_API_TESTS_MODULE", "array_api_nx")
    module = a_module()
    consumer_calls.test_agrees(module, "works")
    consumer_calls.test_agrees(module, "wrapped")
    refused(AssertionError, f"{BECAME} numpy.ndarray", consumer_calls.test_agrees, module, "became")
    with pytest.raises((AttributeError, TypeError), match=r"median|overwrite_input"):
        consumer_calls.test_agrees(module, "on NumPy alone")
    with pytest.raises(pytest.skip.Exception, match="NumPy itself: AttributeError"):
        consumer_calls.test_agrees(module, "not on NumPy")


def test_consumers_that_are_not_installed_are_skipped_with_a_reason(tmp_path, monkeypatch, capsys):
    for consumer in PACKAGES.values():
        folder = tmp_path / consumer.package.partition(".")[0]
        folder.mkdir(exist_ok=True)
        text = f"raise ImportError('{consumer.package} is away')\n"
        (folder / "__init__.py").write_text(text)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    file = tmp_path / "a.json"
    assert clients("--client", "consumers", "--workers", "1", "--json", file) == 0
    client = json.loads(file.read_text())["namespaces"][0]["clients"]["consumers"]
    assert client["totals"]["skipped"] == client["totals"]["tests"] == len(PACKAGES)
    assert "| xarray: * " in capsys.readouterr().out
    reasons = {each["id"]: each["reason"] for each in client["left_out"]}
    assert reasons[ID.format("xarray: *")] == "not installed: xarray is away"


def test_versions(absent, monkeypatch):
    [found] = find(["consumers"])
    assert found.version == "(0 of 1 installed)"
    monkeypatch.setitem(packages.PACKAGES, "numpy", Consumer("numpy", "numpy", "x"))
    [found] = find(["consumers"])
    assert found.version == "(1 of 2 installed)"
    version = importlib.metadata.version("numpy")
    client = CLIENTS["consumers"]
    assert packages.submodule(client, ID.format("numpy: a: [b]")) == f"numpy {version}"
    assert packages.submodule(client, ID.format(f"{ABSENT}: *")) == ABSENT
    assert packages.folder_of(found, ID.format("numpy: a")) == Path(np.__file__).parent
    assert packages.folder_of(found, ID.format(f"{ABSENT}: *")) == found.folder


def test_the_page_of_a_run(absent):
    client = CLIENTS["consumers"]
    here = Path(packages.__file__).parent
    run = ClientRun(
        Installed(client, "(0 of 1 installed)", here, here), Module("ours", "1.0", ""),
        end="finished",
    )  # fmt: skip
    for name, outcome, message in [
        ("mean", "passed", ""),
        ("max", "failed", f"AssertionError: {BECAME} numpy.ndarray"),
        ("a[...]", "failed", "TypeError: not | that"),
        ("interp", "skipped", "NumPy itself: ImportError"),
    ]:
        test = ID.format(f"{ABSENT}: {name}")
        run.results[test] = Result(test, outcome, 0.1, message, "")
    run.collected = list(run.results)
    record = report.record([[run], [run]], [])
    counts = record["namespaces"][0]["clients"]["consumers"]["totals"]
    assert counts == {
        "tests": 4, "passed": 1, "failed": 2, "expected": 0, "skipped": 1, "explained": 0,
        "became": 1,
    }  # fmt: skip
    assert record["exit_status"] == 1
    rows = [
        [cell.strip() for cell in line.replace("\\|", "!").strip("|").split("|")]
        for line in markdown.render(record).splitlines()
        if line.startswith("| ")
    ]
    assert [row for row in rows if set(row[0]) != {"-"}] == [
        ["package", "calls", "works", "became another's", "fails", "explained", "not counted",
         "works on ours"],
        [ABSENT, "3", "1", "1", "1", "0", "1", "1"],
        ["all", "3", "1", "1", "1", "0", "1", "1"],
        ["call", "what became of it", "there", "explained"],
        [f"{ABSENT}: max", f"``AssertionError: {BECAME} numpy.ndarray``", "", "**no**"],
        [f"{ABSENT}: a[...]", "``TypeError: not ! that``", "", "**no**"],
        ["not counted", "because"],
        [f"{ABSENT}: interp", "``NumPy itself: ImportError``"],
    ]  # fmt: skip
