"""Docstrings that are made of rows."""

from array_api_nx.core import dtypes as d
from array_api_nx.primitives import table as p
from array_api_nx.primitives.documentation import ELEMENTWISE, annotation, docstring, wrapped
from tests.support.tables import for_each


@for_each("op", ELEMENTWISE)
def test_docstrings_are_narrow_and_complete(op):
    assert op.family in ("unary", "binary")
    text = docstring(op)
    assert all(len(line) <= 100 for line in text.split("\n"))
    sections = ("Parameters", "Returns", "Raises", "Standard: elementwise functions.")
    places = [text.index(f"\n    {each}\n") for each in sections]
    assert places == sorted(places)


def test_what_is_said_of_operands_follows_from_dtypes():
    assert "x : Array\n        An integer or boolean dtype.\n" in docstring(p.BITWISE_INVERT)
    assert "x : Array\n        Any dtype.\n" in docstring(p.ISNAN)
    assert "At least one array. Any dtypes; the standard defines bool." in docstring(p.LOGICAL_OR)
    assert "integers and booleans are computed in\n        float64.\n" in docstring(p.HYPOT)
    assert [annotation(op) for op in (p.SIN, p.ADD, p.EQUAL, p.LOGICAL_OR, p.HYPOT)] == [
        *("Array", "Array | int | float | complex", "Array | int | float | complex | bool"),
        *("Array | bool", "Array | int | float"),
    ]


def test_comparisons_take_ints_of_any_size():
    with_overflow = {op for op in ELEMENTWISE if "OverflowError" in docstring(op)}
    comparisons = {p.EQUAL, p.GREATER, p.GREATER_EQUAL, p.LESS, p.LESS_EQUAL, p.NOT_EQUAL}
    assert with_overflow == {op for op in ELEMENTWISE if op.family == "binary"} - comparisons
    assert all({*op.results.values()} == {d.bool} for op in comparisons)


def test_long_lines_are_broken_to_the_same_depth():
    line = "        " + " ".join(["word"] * 30)
    text = wrapped(f"first\n{line}")
    assert text.split() == ["first", *["word"] * 30]
    assert [each[:8].strip() for each in text.split("\n")[1:]] == [""] * 2
    assert max(map(len, text.split("\n"))) <= 100
