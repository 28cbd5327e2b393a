"""The installed clients themselves, a few tests of each; and the results that the docs show."""

import json

import pytest

from array_api_nx_conformance.clients import explain, markdown

from .conftest import REPOSITORY, clients

pytestmark = pytest.mark.slow

RESULTS = REPOSITORY / "conformance" / "results"
DOCS = REPOSITORY / "docs"


@pytest.mark.parametrize(
    ("client", "select", "tests"),
    [
        ("scipy", "scipy.constants", 3),
        ("scikit-learn", "sklearn/_loss/tests/test_link.py", 3),
        ("array-api-extra", "extra_calls.py::test_agrees[cov]", 1),
    ],
)  # fmt: skip
def test_a_few_tests_of_the_client(client, select, tests, tmp_path):
    pytest.importorskip("scipy", minversion="1.17")
    pytest.importorskip("sklearn", minversion="1.9")
    file = tmp_path / "a.json"
    arguments = ("--client", client, "--select", select, "--workers", "1", "--json", file)
    assert clients(*arguments) == 0
    totals = json.loads(file.read_text())["namespaces"][0]["clients"][client]["totals"]
    assert totals["tests"] >= tests
    assert totals["passed"] == totals["tests"]


@pytest.mark.parametrize(
    ("results", "page"), [("clients.json", "clients.md"), ("numpy.json", "numpy-tests.md")]
)
def test_the_page_shows_the_results(results, page):
    record = json.loads((RESULTS / results).read_text())
    assert (DOCS / page).read_text() == markdown.render(record)
    assert record["exit_status"] == 0


def test_every_explanation_is_needed_by_the_results():
    record = json.loads((RESULTS / "clients.json").read_text())
    clients = record["namespaces"][0]["clients"]
    files = [explain.EXPLAINED, *([explain.EXPLAINED_CALLS] if "consumers" in clients else [])]
    assert list(record["explanations"]) == [e.name for file in files for e in explain.read(file)]
