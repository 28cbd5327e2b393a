from pathlib import Path

import pytest

from array_api_nx.backends.limited.devices import PROPERTIES
from array_api_nx.testing.strict_namespaces.versions import VERSIONS
from array_api_nx_conformance import known
from array_api_nx_conformance.known import Entry
from array_api_nx_conformance.suite import CannotRunError
from tests.support.refusals import refused

from .samples import make_record, passed, result

ROOT = Path(__file__).parents[2]
TEXT = """\
# Failures of a library
# (a heading)

# https://example.org/issues/1
array_api_tests/test_fft.py::test_fft
array_api_tests/test_fft.py::test_ifft
# no 2
# and more
test_linalg.py

array_api_tests/test_x.py::test_y[a b]
"""


def test_reading_a_list(tmp_path):
    file = tmp_path / "xfails.txt"
    file.write_text(TEXT)
    assert known.read([file]) == [
        Entry("array_api_tests/test_fft.py::test_fft", "https://example.org/issues/1"),
        Entry("array_api_tests/test_fft.py::test_ifft", "https://example.org/issues/1"),
        Entry("array_api_tests/test_linalg.py", "no 2 and more"),
        Entry("array_api_tests/test_x.py::test_y[a b]", known.NO_REASON),
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"nonsense\n", "line 1: 'nonsense' names no test"),
        (b"\xff\xfe\n", "cannot read the list .*utf-8"),
        (None, "cannot read the list .*No such file"),
    ],
)
def test_a_list_that_cannot_be_read(tmp_path, content, message):
    file = tmp_path / "list"
    if content is not None:
        file.write_bytes(content)
    refused(CannotRunError, message, known.read, [file])


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("test_a.py::test_b[x]", True),
        ("test_a.py::test_b", True),
        ("test_a.py", True),
        ("test_a.py::test_b[y]", False),
        ("test_a.py::test", False),
        ("test_aa.py", False),
    ],
)
def test_matching(pattern, expected):
    test = "array_api_tests/test_a.py::test_b[x]"
    assert known.matches(f"array_api_tests/{pattern}", test) == expected
    assert known.matches("array_api_tests", test)


def test_a_class_stands_for_its_tests():
    assert known.matches("array_api_tests/test_a.py::TestA", "array_api_tests/test_a.py::TestA::b")


def test_stale_entries():
    entries = [Entry("t/a.py::x", ""), Entry("t/a.py::y", ""), Entry("t/a.py::gone", "")]
    outcomes = {"t/a.py::x[1]": "passed", "t/a.py::x[2]": "failed", "t/a.py::y": "passed"}
    assert known.stale(entries, outcomes) == {
        "t/a.py::y": "does not fail any more (passed)",
        "t/a.py::gone": "no such test ran",
    }


def test_few_examples_do_not_show_that_a_test_passes():
    name, draws = "array_api_tests/test_has_names.py::test_has_names[exp]", "t/a.py::test_exp"
    entries = [Entry(name, "missing"), Entry(draws, "seldom drawn"), Entry("t/gone.py", "old")]
    outcomes = {name: "passed", draws: "passed"}
    assert list(known.stale(entries, outcomes, provisional=True)) == [name, "t/gone.py"]
    record = make_record(passed("zeros"), max_examples=20)
    entries = [Entry(passed("zeros").id, "seldom drawn"), Entry("array_api_tests/gone.py", "old")]
    listed = known.generate(record, entries, provisional=True)
    assert "# seldom drawn\narray_api_tests/test_x.py::test_zeros\n" in listed
    assert "gone.py" not in listed
    assert "test_zeros" not in known.generate(record, entries)


def test_a_generated_list_is_read_again(tmp_path):
    fails = result("test_x.py::test_exp", "failed", "ValueError: a\n b")
    other = result("test_x.py::test_ones", "error", "crash")
    record = make_record(fails, other, passed("zeros"))
    file = tmp_path / "list"
    file.write_text(known.generate(record, [Entry(other.id, "our issue 7")]))
    assert known.read([file]) == [
        Entry(fails.id, "ValueError: a b"),
        Entry(other.id, "our issue 7"),
    ]
    # Of a run of some tests, the others stay in the list.
    kept = [Entry("array_api_tests/test_fft.py", "slow"), Entry(passed("zeros").id, "fixed")]
    listed = known.generate(record, kept, selection=True)
    assert listed.endswith("\n# slow\narray_api_tests/test_fft.py\n")
    assert "fixed" not in listed
    assert "slow" not in known.generate(record, kept)
    assert file.read_text().startswith("# Known failures of some.module 1.0 in array-api-tests aaa")


@pytest.mark.parametrize("folder", ["devices", "strict"])
def test_the_lists_of_the_repository(folder):
    names = {"devices": PROPERTIES, "strict": VERSIONS}[folder]
    lists = sorted((ROOT / "conformance" / folder).iterdir())
    assert lists
    for path in lists:
        assert path.stem in names
        assert all(entry.reason != known.NO_REASON for entry in known.read([path]))
