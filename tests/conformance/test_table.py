"""The tables of who implements what, and the journal that a stopped run goes on from."""

import json
import os
import re
from xml.etree import ElementTree

import pytest

from array_api_nx_conformance.pytest_run import Result
from array_api_nx_conformance.suite import CannotRunError
from array_api_nx_conformance.table import html, markdown
from array_api_nx_conformance.table.compliance import chapters, unequal
from array_api_nx_conformance.table.implementations import (
    IMPLEMENTATIONS,
    Implementation,
    named,
    variables,
)
from array_api_nx_conformance.table.journal import Journal

from .samples import make_record, make_run, passed, result, sample_records

KEY = {"module": "one", "version": "1.0+cpu", "standard": "2025.12", "examples": 30, "seed": 1}
FAILED = result("test_x.py::test_exp", "failed", "ValueError: v", uses=("sum",), repro="pass\n")


# The rows.


def with_older():
    """Two namespaces, and one that is judged by an older version."""
    older = make_record(passed("exp"), name="older")
    older["version"] = "2024.12"
    older["functions"].pop("remainder")
    older["new"] = []
    return [*sample_records(), older]


def test_functions_by_namespaces():
    found = chapters(with_older())
    assert list(found) == [
        "array object",
        "elementwise functions",
        "creation functions",
        "fft",
    ]
    rows = {row.name: row for members in found.values() for row in members}
    assert [cell.text for cell in rows["exp"].cells] == ["✗ 1/1", "✓", "✓"]
    assert rows["exp"].cells[0].note == "AssertionError: out=1 | 2 `x` </script>"
    assert [cell.text for cell in rows["remainder"].cells] == ["-", "✓", "·"]
    assert [cell.text for cell in rows["full"].cells] == ["↪", "✓", "○"]
    assert rows["full"].cells[0].note == "blocked by exp"
    assert rows["fft.fft"].cells[0].text == "∅"
    assert (rows["remainder"].since, rows["exp"].since) == ("2025.12", "2021.12")


def test_functions_lead_to_the_standard():
    addresses = {row.name: row.address for rows in chapters(with_older()).values() for row in rows}
    start = "https://data-apis.org/array-api/2025.12"
    assert addresses["exp"] == f"{start}/API_specification/generated/array_api.exp.html"
    assert addresses["__floordiv__"] == (
        f"{start}/API_specification/generated/array_api.array.__floordiv__.html"
    )
    assert addresses["fft.fft"] == f"{start}/extensions/generated/array_api.fft.fft.html"


def test_of_many_tests_it_says_how_many_fail():
    tests = [passed("exp"), *(result(f"test_x.py::test_exp[{n}]", "failed") for n in range(3))]
    tests.append(result("test_x.py::test_exp[x]", "skipped", "flaky"))
    (row,) = [
        row for row in chapters([make_record(*tests)])["elementwise functions"] if row.name == "exp"
    ]
    assert row.cells[0].text == "✗ 3/4"


def test_unequal_runs_are_named():
    assert unequal(sample_records()) == []
    other = make_record(passed("exp"), max_examples=30, seed=7)
    other["suite"]["suite_commit"] = "other"
    assert unequal([*sample_records(), other]) == [
        "numbers of examples differ",
        "seeds differ",
        "versions of the suite differ",
    ]


# The forms.


def test_markdown():
    lines = markdown.render(with_older(), {"cupy": "no module"}).splitlines()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line[:1] == "|"]
    (one,) = [row for row in rows if row[:2] == ["`one`", "1.0"]]
    assert one[3:6] == ["2025.12", "2025.12", "200"]
    assert one[-2] == "no"
    (exp,) = [row for row in rows if row[0].startswith("[`exp`](https://")]
    assert exp[1:] == ["2021.12", "✗ 1/1", "✓", "✓"]
    assert "- `cupy`: no module" in lines
    assert "- `full`: by `exp`" in lines
    assert any(line.startswith("- one: ") and "200 examples per test" in line for line in lines)


def test_html():
    page = html.render(with_older(), {"cu<py": "no & module"})
    assert "{{" not in page
    assert not re.search(r"<script|<link|@import|src=|url\(", page)
    body = page[page.index("<body>") : page.index("</html>")]
    root = ElementTree.fromstring(body)  # every element is closed, everything is escaped
    (row,) = [row for row in root.iter("tr") if "exp" in [code.text for code in row.iter("code")]]
    cells = row.findall("td")
    assert [cell.get("class") for cell in cells] == [None, "fails", "passes", "passes"]
    assert cells[1].get("title") == "AssertionError: out=1 | 2 `x` </script>"
    labels = [cell.find("span") for cell in cells[1:]]
    assert [label.get("aria-label") for label in labels if label is not None] == [
        "fails",
        "passes",
        "passes",
    ]
    assert "cu<py" in [code.text for code in root.iter("code")]


# The namespaces.


def test_variables_are_set_for_a_while_and_not_against_the_user(monkeypatch):
    monkeypatch.setenv("KV_GIVEN", "user's")
    monkeypatch.delenv("KV_NEW", raising=False)
    one = Implementation("one", variables={"KV_GIVEN": "ours", "KV_NEW": "ours"})
    with variables(one):
        assert os.environ["KV_GIVEN"] == "user's"
        assert os.environ["KV_NEW"] == "ours"
    assert "KV_NEW" not in os.environ
    assert named("jax.numpy").variables == {"JAX_ENABLE_X64": "1"}
    assert named("own.namespace") == Implementation("own.namespace")
    assert len({each.name for each in IMPLEMENTATIONS}) == len(IMPLEMENTATIONS) >= 7


# The journal.


def test_a_journal_of_a_stopped_run_goes_on(tmp_path):
    first = Journal(tmp_path / "results", KEY)
    assert first.path.name == "one-1.0_cpu-2025.12-30.jsonl"
    run = make_run(FAILED, end="interrupted")
    run.duration = 2.0
    first.note(run)
    first.note(run)  # nothing is written twice
    first.close(run)
    second = Journal(tmp_path / "results", KEY)
    assert second.results == {FAILED.id: FAILED}
    assert (second.finished, second.seconds, second.started) == (
        False,
        2.0,
        run.started.replace(microsecond=0),
    )
    more = make_run(FAILED, passed("zeros"))
    more.duration = 3.0
    second.close(more)
    assert (more.duration, more.started) == (5.0, second.started)
    third = Journal(tmp_path / "results", KEY)
    assert third.finished
    assert list(third.results) == [FAILED.id, passed("zeros").id]
    assert third.collected == [FAILED.id, passed("zeros").id]
    assert len(third.path.read_text().splitlines()) == 7


def test_a_journal_that_was_cut_off_or_is_of_another_key(tmp_path):
    journal = Journal(tmp_path, KEY)
    journal.note(make_run(FAILED, passed("zeros")))
    text = journal.path.read_text()
    journal.path.write_text(text[:-20])  # in the middle of a line
    cut_off = Journal(tmp_path, KEY)
    assert list(cut_off.results) == [FAILED.id]
    cut_off.note(make_run(FAILED, passed("ones")))
    assert list(Journal(tmp_path, KEY).results) == [FAILED.id, passed("ones").id]
    assert Journal(tmp_path, KEY | {"seed": 2}).results == {}
    journal.path.write_text(text)
    assert len(Journal(tmp_path, KEY).results) == 2
    assert Journal(tmp_path, KEY, again=True).results == {}
    (tmp_path / "file").touch()
    with pytest.raises(CannotRunError, match=r"cannot keep results in .*use --results DIR"):
        Journal(tmp_path / "file", KEY)


def test_results_survive_the_journal(tmp_path):
    journal = Journal(tmp_path, KEY)
    journal.note(make_run(FAILED))
    line = journal.path.read_text().splitlines()[-1]
    assert Result(**json.loads(line) | {"uses": ("sum",)}) == FAILED
