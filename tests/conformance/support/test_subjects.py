"""The functions and estimators that the table of SciPy and scikit-learn is about."""

import sys
from types import ModuleType

import pytest

pytest.importorskip("sklearn", minversion="1.9")

from array_api_nx_conformance.support import arguments, subjects

SECTION = "scipy.made_up"


@pytest.fixture
def made_up(monkeypatch):
    """A module of a later SciPy."""
    module = ModuleType(SECTION)
    source = """
def known(x, y, *, axis=0): return x + y
def unknown(x, flux_capacitor): return x
def _private(x): return x
settings = 3
the_same = known
"""
    exec(source, module.__dict__)
    monkeypatch.setitem(sys.modules, SECTION, module)
    monkeypatch.setitem(arguments.FUNCTIONS, SECTION, {"parameters": {}, "calls": {}})


def test_functions_of_later_versions_are_called_by_the_names_of_their_parameters(made_up):
    found = {each.name: each for each in subjects.find() if each.section == SECTION}
    assert set(found) == {"known", "unknown"}
    assert found["known"].call == "f(x, y)"
    assert found["known"].parameters == ("x", "y", "axis")


def test_functions_with_unknown_parameters_are_found_and_have_no_call(made_up):
    found = {each.name: each for each in subjects.find() if each.section == SECTION}
    assert found["unknown"].call is None


def test_every_call_of_the_table_is_of_something_installed():
    """Names that are gone from a later version go from the table."""
    there = {(each.section, each.name) for each in subjects.find()}
    for section, given in arguments.FUNCTIONS.items():
        for name in given["calls"]:
            assert (section, name) in there or name in arguments.LEFT_OUT, f"{section}.{name}"


def test_classifiers_are_fitted_to_classes_and_others_to_numbers():
    calls = {each.name: each.call for each in subjects.find()}
    assert calls["GaussianNB"] == "use(f(), X, c)"
    assert calls["Ridge(solver='svd')"] == "use(f(random_state=0, solver='svd'), X, y)"
