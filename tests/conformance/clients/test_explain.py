import importlib.util
from dataclasses import replace
from pathlib import Path

import pytest

from array_api_nx_conformance.clients.consumers import PACKAGES
from array_api_nx_conformance.clients.explain import (
    EXPLAINED_CALLS,
    Explanation,
    explain,
    place,
    read,
    read_all,
)
from array_api_nx_conformance.suite import CannotRunError
from tests.support.refusals import refused

pytestmark = pytest.mark.slow

EXPLANATION = Explanation("odd", r"test_half\[", "is odd$", "raise ValueError(x)", "because")
LONGREPR = """\
/site/scipy/stats/tests/test_a.py:31: in test_a
    half(number)
    ^^^^^^^^^^^^
/site/scipy/stats/_half.py:4: in half
    raise ValueError(x)
/elsewhere/numpy/core.py:5: in f
    raise ValueError
E   ValueError: 3 is odd
"""


def test_the_last_line_in_the_client():
    expected = ("scipy/stats/_half.py:4", "raise ValueError(x)")
    assert place(LONGREPR, Path("/site/scipy")) == expected
    assert place(LONGREPR.replace("/site/", "../../site/"), Path("/site/scipy")) == expected
    assert place(LONGREPR, Path("/site/sklearn")) == ("", "")


def test_an_explanation_covers_only_what_fits_in_all_parts():
    test, message, source = "test_half[3]", "ValueError: 3 is odd", "raise ValueError(x)"
    folder = Path("/site/scipy")
    assert explain([EXPLANATION], test, message, source, folder) == "odd"
    assert explain([EXPLANATION], "test_third[3]", message, source, folder) == ""
    assert explain([EXPLANATION], test, "ValueError: 3 is odd!", source, folder) == ""
    assert explain([EXPLANATION], test, message, "raise ValueError(y)", folder) == ""
    assert explain([], test, message, source, folder) == ""


def test_where_nothing_fails_the_line_has_to_be_in_the_file(tmp_path):
    explanation = replace(EXPLANATION, line="return asarray(x)", file="core/a.py")
    test, message = "test_half[3]", "3 is odd"
    assert not explanation.covers(test, message, "", tmp_path)
    (tmp_path / "core").mkdir()
    (tmp_path / "core" / "a.py").write_text("def f(x):\n    return asarray(x)\n")
    assert explanation.covers(test, message, "", tmp_path)
    assert not explanation.covers("test_third[3]", message, "", tmp_path)
    assert not explanation.covers(test, "another", "", tmp_path)
    (tmp_path / "core" / "a.py").write_text("def f(x):\n    return x\n")
    assert not explanation.covers(test, message, "return asarray(x)", tmp_path)


def test_our_own_explanations_can_be_read():
    explanations = read_all()
    assert "lazy-by-elimination" in [each.name for each in explanations]
    assert all(each.reason.strip() and each.line.strip() == each.line for each in explanations)
    names = [each.name for each in explanations]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("explanation", read(EXPLAINED_CALLS), ids=lambda each: each.name)
def test_lines_that_explain_are_still_in_the_consumer(explanation):
    [consumer] = [each for each in PACKAGES.values() if f"[{each.name}: " in unescaped(explanation)]
    found = importlib.util.find_spec(consumer.package.partition(".")[0])
    if found is None:
        pytest.skip(f"{consumer.name} is not installed")
    [folder] = [path for entry in found.submodule_search_locations or []
                if (path := Path(entry, *consumer.package.split(".")[1:])).is_dir()]  # fmt: skip
    files = [folder / explanation.file] if explanation.file else folder.rglob("*.py")
    lines = (line.strip() for file in files for line in file.read_text().splitlines())
    assert explanation.line in lines


def unescaped(explanation):
    return explanation.tests.replace("\\", "")


@pytest.mark.parametrize(
    "text",
    [
        "[a",
        "[a]\ntests = 'x'",
        "[a]\ntests = '('\nmessage = ''\nline = ''\nreason = ''",
        "[a]\ntests = ''\nmessage = 3\nline = ''\nreason = ''",
        "a = 3",
    ],
)
def test_a_file_that_has_no_explanations(tmp_path, text):
    file = tmp_path / "explained.toml"
    file.write_text(text)
    refused(CannotRunError, r"no file of explanations .* tests, message, line", read, file)
    refused(CannotRunError, "no file of explanations", read, tmp_path / "nowhere.toml")
