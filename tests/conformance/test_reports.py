"""Markdown, badge, scripts and the text on the terminal."""

import subprocess
import sys
from xml.etree import ElementTree

import pytest

from array_api_nx_conformance import badge, conformity, markdown, page, scripts, text
from array_api_nx_conformance.known import Entry

from .samples import FLOOR_TEST, STANDARD, every_passed, make_record, passed, result, sample_records

FAILED = result("test_x.py::test_exp", "failed", "ValueError: v")


def test_markdown():
    lines = markdown.render(sample_records()).splitlines()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    assert ["one", "1.0", "2025.12", "200", *"1111113", "no"] in rows
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
        (
            make_record(*map(every_passed, STANDARD.functions), max_examples=30),
            "no failure in 30 examples",
        ),
        (make_record(passed("exp")), "1 of 9 functions"),
        (make_record(passed("exp"), FAILED), "0 of 9 functions"),
        (make_record(passed("exp"), end="interrupted"), "incomplete"),
        (sample_records()[0], "3 of 9 functions"),
    ],
)
def test_badge(record, value):
    root = ElementTree.fromstring(badge.render(record))
    texts = [element.text for element in root.iter() if element.tag.endswith("}text")]
    assert texts == ["array API 2025.12", value]
    assert root.get("aria-label") == f"array API 2025.12: {value}"


def test_scripts_have_names_and_headers_of_their_own():
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
        assert ", 200 examples per test, seed 5\n" in script
        assert script.endswith("\npass\n")


def test_a_script_finds_a_module_of_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own_module.py").write_text("value = 5\n")
    repro = "import own_module as xp\n\nprint(xp.value)\n"
    failed = result("test_x.py::test_exp", "failed", "a", repro=repro)
    [(name, text)] = scripts.scripts([make_record(failed, name="own_module")]).items()
    folder = tmp_path / "repros"
    folder.mkdir()
    (folder / name).write_text(text)
    ran = subprocess.run(
        [sys.executable, folder / name], capture_output=True, text=True, check=True, cwd=folder
    )
    assert ran.stdout == "5\n"


def test_there_is_no_script_of_a_permitted_deviation():
    message = "AssertionError: out=nan, but should be +infinity"
    record = make_record(result(FLOOR_TEST, "failed", message, repro="pass\n"))
    assert record["functions"]["floor_divide"]["verdict"] == "deviation"
    assert scripts.scripts([record]) == {}


def test_text_shows_the_root_cause_first():
    shown = text.verdicts(sample_records()[0])
    assert shown.index("Fails (1):\n  exp  (1 test)") < shown.index("Blocked by these (1):")
    assert "  full  by exp" in shown
    assert "Missing (1):\n  fft.fft" in shown
    assert shown.splitlines()[-1].startswith("one, 2025.12: conforms: no; 1 fails, 1 missing")


EVERYTHING = sample_records()[1]
KNOWN = {"known": (Entry(FAILED.id, "k"),)}
REST = [passed(name) for name in STANDARD.functions if name not in ("exp", "fft.fft")]
REST.append(result("test_fft.py::test_fft", "passed"))


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (EVERYTHING, "yes"),
        (make_record(*REST, FAILED), "no"),
        (make_record(*REST, FAILED, max_examples=30), "no"),  # more examples change nothing
        (make_record(*REST, FAILED, **KNOWN), "but for known failures"),
        (make_record(passed("exp")), "partly"),
        (make_record(*REST, passed("exp"), select=("test_x.py",)), "partly"),
        (make_record(*REST, passed("exp"), chapters=("fft",)), "partly"),
        (make_record(*REST, passed("exp"), skips=(Entry("t", "slow"),)), "partly"),
        (make_record(FAILED, **KNOWN), "partly, but for known failures"),
        (make_record(*REST, passed("exp"), max_examples=199), "yes (provisional)"),
        (make_record(passed("exp"), max_examples=30), "partly (provisional)"),
        (make_record(passed("exp"), end="interrupted", max_examples=30), "interrupted"),
        (make_record(passed("exp"), end="out of time"), "out of time"),
        (make_record(passed("exp"), end="broken"), "broken"),
    ],
)
def test_whether_it_conforms(record, words):
    assert conformity.answer(record) == words
    assert f": conforms: {words}; " in text.conclusion(record)
    (row,) = [line for line in markdown.render([record]).splitlines() if "| 2025.12" in line]
    assert row.split("|")[-2].strip() == words


def test_dtypes_that_no_test_used_are_named():
    record = sample_records()[1]
    assert "No test used" not in text.verdicts(record) + markdown.render([record])
    record["module"]["lacking"] = ["int64", "float64"]
    assert conformity.answer(record) == "partly"
    words = "No test used the dtypes that the default device lacks: int64, float64."
    assert words in text.verdicts(record)
    assert words in markdown.render([record])


def test_dtypes_beyond_the_standard_are_named():
    record = sample_records()[0]
    conforms = conformity.answer(record)
    record["module"]["extra"] = ["float16"]
    assert conformity.answer(record) == conforms
    words = "No test used the dtypes beyond the standard: float16."
    assert words in text.verdicts(record)
    assert words in markdown.render([record])


def test_every_form_says_how_many_examples_a_verdict_rests_on():
    shown = {n: make_record(*REST, FAILED, max_examples=n) for n in (30, 200)}
    for examples, words in ((30, "30 examples per test, provisional below 200"),
                            (200, "200 examples per test")):  # fmt: skip
        assert f"; {words}; " in text.conclusion(shown[examples])
        assert f", {words}, seed 5" in markdown.render([shown[examples]])
        assert f'"basis":"{words}"' in page.render([shown[examples]])


def test_what_is_new_in_the_version_is_named():
    one = sample_records()[0]
    assert text.verdicts(one).startswith("New in 2025.12 (1):\n  remainder  skipped\n")
    assert "\n**new in 2025.12** (1): `remainder` skipped\n" in markdown.render([one])
    assert '"name":"remainder"' in page.render([one])
    assert page.render([one]).count('"new":"2025.12"') == 1
    for old in (one, one["functions"]["remainder"]):  # results of before have neither
        old.pop("new", None)
        old.pop("since", None)
    assert "New in" not in text.verdicts(one)
    assert "new in" not in markdown.render([one])
    assert '"new":"2025.12"' not in page.render([one])


def test_text_shows_known_failures_and_stale_entries():
    entries = (Entry(FAILED.id, "our issue 7"), Entry("array_api_tests/test_gone.py", "old"))
    shown = text.verdicts(make_record(FAILED, known=entries))
    assert "  test_x.py::test_exp: our issue 7" in shown
    assert "  array_api_tests/test_gone.py: no such test ran" in shown
    ended = text.verdicts(make_record(passed("exp"), end="out of time", not_run=("a", "b")))
    assert "ended early (out of time); 2 tests did not run" in ended
