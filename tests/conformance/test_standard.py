import shutil

import pytest

from array_api_nx_conformance import standard
from array_api_nx_conformance.suite import CannotRunError


def test_versions(suite):
    assert standard.versions(suite.path) == ["2021.12", "2025.12"]


def test_names_and_chapters(suite):
    found = standard.read(suite.path, "2025.12")
    assert dict(found.functions) == {
        "__add__": "array object",
        "shape": "array object",
        "pi": "constants",
        "add": "elementwise functions",
        "exp": "elementwise functions",  # it is not in __all__
        "fft.fft": "fft",
        "info.devices": "inspection",
        "__array_namespace_info__": "inspection",
    }
    chapters = ["array object", "constants", "elementwise functions", "fft", "inspection"]
    assert found.chapters == chapters


def test_since_when_names_are_there(suite):
    first, second = (standard.read(suite.path, each) for each in ("2021.12", "2025.12"))
    assert dict(first.since) == {"pi": "2021.12"}
    assert first.new == []  # all of it is
    assert second.since["pi"] == "2021.12"
    assert second.new == [name for name in second.functions if name != "pi"]


def test_the_draft(suite):
    found = standard.read(suite.path, "draft")
    # Of the checkout, and what came to it later; chapter by chapter.
    assert found.new == ["__dlpack_c_exchange_api__", "fft.later", "top_k", "bincount"]
    assert found.since["add"] == "2025.12"
    assert found.chapters[-1] == "statistical functions"
    assert found.functions["top_k"] == "searching functions"
    assert list(found.optional) == ["__dlpack_c_exchange_api__", "bincount"]
    assert found.proposed == {"bincount"}
    assert standard.read(suite.path, "2025.12").optional == {}


def test_a_checkout_without_a_draft(own_suite):
    shutil.rmtree(own_suite.path / "array-api" / "src" / "array_api_stubs" / "_draft")
    with pytest.raises(CannotRunError, match=r"'draft' .* it has 2021.12, 2025.12: "):
        standard.read(own_suite.path, "draft")


def test_an_unknown_version(suite):
    with pytest.raises(
        CannotRunError, match=r"'2019.12' .* it has 2021.12, 2025.12, draft: .*--standard"
    ):
        standard.read(suite.path, "2019.12")
