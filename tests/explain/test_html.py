"""What notebooks show of explanations, settings, devices and counts: HTML for any page."""

import pytest

import array_api_nx as xp
from array_api_nx.explain import html
from array_api_nx.explain.explanation import Explanation

from ..support.pages import page
from .test_explanation import ONE, TWO

NASTY = "<script>&\"'</script>"


@pytest.mark.parametrize(
    "made",
    [
        html.card(NASTY, [(NASTY, NASTY)], html.preformatted(NASTY)),
        html.table([(NASTY, NASTY)], (NASTY, NASTY)),
        html.nested({NASTY: NASTY, "inner": {NASTY: NASTY}}),
        html.fold(NASTY, html.preformatted(NASTY)),
    ],
    ids=["card", "table", "nested", "fold"],
)
def test_text_is_escaped(made):
    found = page(made)
    assert "script" not in found.tags
    assert NASTY in found.text


def test_nested_dicts_become_tables_that_unfold():
    found = page(html.nested({"a": 1, "b": {"c": None, "d": {"e": "f"}}}))
    assert found.tags.count("table") == 3
    assert found.tags.count("details") == 2
    assert found.text == "a1bcNonedef"


def test_pages_have_neither_scripts_nor_style_sheets_nor_ink():
    # Viewers remove the first two, and ink of one colour cannot be read on dark pages and on light.
    made = html.card(
        "a", [("b", 1)], html.table([("c", 2)]), html.fold("d", html.preformatted("e"))
    )
    assert {"script", "style", "link"}.isdisjoint(page(made).tags)
    assert ";color:" not in made.replace(" ", "")
    assert "background-color" not in made


class TestExplanation:
    def test_is_a_line_where_nothing_is(self):
        found = page(Explanation()._repr_html_())
        assert found.text == "Explanation · computed: nothing is pending"

    def test_names_are_escaped(self):
        assert "<&\"'>" in page(ONE.in_short()).text

    def test_in_short_it_unfolds(self):
        assert page(TWO.in_short()).tags[0] == "details"
        assert "computed for this display: 5 operations" in page(TWO.in_short(was=True)).text
        assert Explanation().in_short() == ""


def test_a_compiled_function_shows_its_program_and_counts():
    @xp.compile
    def centred(x):
        return x - xp.mean(x, axis=0)

    x = xp.ones((50, 3))
    centred(x)
    counts = page(centred.cache_info()._repr_html_())
    assert counts.text == "CacheInfotraces1programs1calls1compilations0"
    explanation = centred.explain(x)
    shown = page(explanation._repr_html_())
    assert repr(explanation) in shown.text
    assert explanation.summary in shown.text


def test_settings_are_the_same_dicts_and_show_as_tables():
    found = xp.show_config("dict")
    assert isinstance(found, dict)
    assert repr(found) == repr(dict(found))
    shown = page(found._repr_html_())  # type: ignore[attr-defined]
    for part in ("versions", "platform", "settings", "devices"):
        assert part in shown.text
        for name, value in found[part].items():
            assert name in shown.text
            assert isinstance(value, dict) or f"{name}{value}" in shown.text


def test_a_device_shows_its_dtypes_and_loads_nothing():
    shown = page(xp.Device("cpu")._repr_html_())
    assert "dtypes of new arraysfloat64, complex128, int64" in shown.text
    assert "threads" in shown.text
