"""Markdown, badge, scripts and the text on the terminal."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from array_api_nx_conformance import badge, markdown, scripts, text
from array_api_nx_conformance.known import Entry
from array_api_nx_conformance.records import Record

from .samples import make_record, passed, result, sample_records

FAILED = result("test_x.py::test_exp", "failed", "ValueError: v")


def test_markdown() -> None:
    lines = markdown.render(sample_records()).splitlines()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    assert ["one", "1.0", "2025.12", *"1111113", "no"] in rows
    assert any(row[:1] == ["two"] and row[-1] == "yes" for row in rows)
    fails, blocked = lines.index("**fails** (1)"), lines.index("**blocked** (1)")
    assert fails < blocked  # the root cause first
    assert "- `exp`: `` AssertionError: out=1 | 2 `x` </script> ``" in lines
    assert "- `full`: by `exp`" in lines
    table = [line for line in lines if line.startswith("|")]
    assert len({line.count("|") for line in table}) == 1


@pytest.mark.parametrize(
    ("record", "value"),
    [
        (sample_records()[1], "conforms"),
        (make_record(passed("exp")), "1 of 9 functions"),
        (make_record(passed("exp"), FAILED), "0 of 9 functions"),
        (make_record(passed("exp"), end="interrupted"), "incomplete"),
        (sample_records()[0], "3 of 9 functions"),
    ],
)
def test_badge(record: Record, value: str) -> None:
    root = ElementTree.fromstring(badge.render(record))
    texts = [element.text for element in root.iter() if element.tag.endswith("}text")]
    assert texts == ["array API 2025.12", value]
    assert root.get("aria-label") == f"array API 2025.12: {value}"


def test_scripts_have_names_and_headers_of_their_own() -> None:
    long = "x" * 150
    many = [
        result(f"test_x.py::test_exp[{long}{n}]", "failed", "a\nb", repro="pass\n")
        for n in range(2)
    ]
    found = scripts.scripts([make_record(*many, FAILED, name="a.b")])
    assert len(found) == 2
    assert all(name.startswith("a_b_test_exp_x") and name.endswith(".py") for name in found)
    assert max(map(len, found)) < 110
    for script in found.values():
        assert script.startswith(
            "# exp of a.b 1.0: fails by the array API standard 2025.12.\n# a b"
        )
        assert script.endswith("\npass\n")


def test_text_shows_the_root_cause_first() -> None:
    shown = text.verdicts(sample_records()[0])
    assert shown.index("Fails (1):\n  exp  (1 test)") < shown.index("Blocked by these (1):")
    assert "  full  by exp" in shown
    assert "Missing (1):\n  fft.fft" in shown
    assert shown.splitlines()[-1].startswith("one, 2025.12: DOES NOT CONFORM: 1 fails, 1 missing")


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (sample_records()[1], "CONFORMS"),
        (make_record(passed("exp")), "NO FAILURE IN WHAT RAN"),
        (make_record(FAILED, known=(Entry(FAILED.id, "k"),)), "ONLY KNOWN FAILURES"),
        (make_record(passed("exp"), end="interrupted"), "INTERRUPTED"),
        (make_record(passed("exp"), end="out of time"), "OUT OF TIME"),
        (make_record(passed("exp"), end="broken"), "DOES NOT CONFORM"),
    ],
)
def test_conclusion(record: Record, words: str) -> None:
    assert f": {words}: " in text.conclusion(record)


def test_text_shows_known_failures_and_stale_entries() -> None:
    entries = (Entry(FAILED.id, "our issue 7"), Entry("array_api_tests/test_gone.py", "old"))
    shown = text.verdicts(make_record(FAILED, known=entries))
    assert "  test_x.py::test_exp: our issue 7" in shown
    assert "  array_api_tests/test_gone.py: no such test ran" in shown
    ended = text.verdicts(make_record(passed("exp"), end="out of time", not_run=("a", "b")))
    assert "ended early (out of time); 2 tests did not run" in ended
