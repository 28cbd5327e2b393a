"""Explanations as text, as pictures and as graphs, from passes written by hand."""

import re
import sys
import xml.etree.ElementTree as ElementTree
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from shutil import which
from types import ModuleType

import pytest

from array_api_nx.explain import pictures
from array_api_nx.explain.explanation import Explanation
from array_api_nx.explain.model import (
    MemoryExplanation,
    PassExplanation,
    StepExplanation,
    label,
    memory_lines,
)
from tests.support.refusals import refused

from ..support.pages import page

SVG = "{http://www.w3.org/2000/svg}"

X = MemoryExplanation("a", "given", "float64", (2500, 4000), 80_000_000)
LARGEST = MemoryExplanation("t1", "stored", "float64", (2500,), 20_000)
LARGEST_READ = LARGEST._replace(shape=(2500, 1), note="broadcast, copied tile by tile")
RESULT = MemoryExplanation("result", "result", "float64", (2500, 4000), 80_000_000)

FIRST = PassExplanation(
    (2500, 4000), 32, (X,), (LARGEST,),
    (StepExplanation("max", ("a", "axis=1"), "t1", "reduction"),),
)  # fmt: skip
SECOND = PassExplanation(
    (2500, 4000), 0, (X, LARGEST_READ), (RESULT,),
    (
        StepExplanation("subtract", ("a", "t1"), "r0"),
        StepExplanation("abs", ("r0",), "r1"),
        StepExplanation("add", ("1.0", "r1"), "r1"),
        StepExplanation("divide", ("r0", "r1"), "result"),
    ),
)  # fmt: skip
MEAN = PassExplanation(
    (10_000_000,), 25,
    (X._replace(name="<&\"'>", note="odd <name>"),),
    (
        MemoryExplanation(
            "result", "result", "float64", (), 200, "in 25 parts, put together at the end",
        ),
    ),
    (
        StepExplanation("sum", ("<&\"'>",), "result", "reduction"),
        StepExplanation("divide", ("result", "10000000.0"), "result", "final"),
    ),
)  # fmt: skip

TWO = Explanation(5, (FIRST, SECOND))
ONE = Explanation(1, (MEAN,))
NOTHING = Explanation()


def test_text():
    assert str(TWO) == (
        "pending: 5 operations in 2 passes over memory, 160 MB to be read, 80 MB to be allocated\n"
        "pass 1 of 2: 2500 x 4000, 32 tasks\n"
        "    reads   a   float64  (2500, 4000)  80 MB\n"
        "            t1 = max(a, axis=1)\n"
        "    writes  t1  float64  (2500,)       20 kB\n"
        "pass 2 of 2: 2500 x 4000\n"
        "    reads   a       float64  (2500, 4000)  80 MB\n"
        "            t1      float64  (2500, 1)     20 kB  broadcast, copied tile by tile\n"
        "            r0 = subtract(a, t1)\n"
        "            r1 = abs(r0)\n"
        "            r1 = add(1.0, r1)\n"
        "            result = divide(r0, r1)\n"
        "    writes  result  float64  (2500, 4000)  80 MB"
    )


def test_text_of_one_pass_over_one_axis():
    lines = str(ONE).splitlines()
    assert lines[0].startswith("pending: 1 operation in 1 pass over memory, 80 MB to be read")
    assert lines[1] == "pass 1 of 1: 10_000_000 elements, 25 tasks"
    assert lines[4] == "            finally result = divide(result, 10000000.0)"
    assert lines[5].endswith("200 B  in 25 parts, put together at the end")


def test_nothing_is_pending():
    assert not NOTHING.pending
    assert NOTHING.operations == 0
    assert NOTHING.passes == ()
    assert str(NOTHING) == repr(NOTHING) == "computed: nothing is pending"
    assert NOTHING._repr_svg_() is None


@pytest.mark.parametrize(
    ("nbytes", "text"),
    [
        (0, "0 B"),
        (8, "8 B"),
        (999, "999 B"),
        (1000, "1 kB"),
        (2940, "2.9 kB"),
        (9_960, "10 kB"),
        (999_600, "1 MB"),
        (80_000_000, "80 MB"),
        (3 * 10**12, "3 TB"),
        (10**24, "1000000 EB"),
    ],
)
def test_sizes(nbytes, text):
    assert memory_lines(X._replace(nbytes=nbytes))[1] == f"(2500, 4000)  {text}"


@pytest.mark.parametrize(
    ("shape", "text"), [((), "()"), ((7,), "(7,)"), ((10_000, 1), "(10_000, 1)")]
)
def test_shapes(shape, text):
    assert memory_lines(X._replace(shape=shape))[1].startswith(f"{text}  ")


def test_where_sources_come_from():
    # r0 is still the difference when it is divided, r1 the last sum.
    assert SECOND.flow() == [["a", "t1"], [0], [None, 1], [0, 2]]
    assert SECOND.writers() == [3]
    assert MEAN.flow() == [["<&\"'>"], [0, None]]
    assert MEAN.writers() == [1]


def test_labels_show_scalars_only():
    labels = [label(*each) for each in zip(SECOND.steps, SECOND.flow(), strict=True)]
    assert labels == ["subtract", "abs", "add(1.0, ·)", "divide"]


@pytest.mark.skipif(
    find_spec("graphviz") is None or which("dot") is None, reason="Graphviz is not installed"
)
@pytest.mark.parametrize("explanation", [TWO, ONE])
def test_graphviz_draws_the_picture(explanation):
    root = ElementTree.fromstring(explanation.svg())
    assert root.tag == f"{SVG}svg"
    shown = [(text.text or "").replace("\u00a0", " ") for text in root.iter(f"{SVG}text")]
    assert explanation.summary in shown
    for each in explanation.passes:
        assert {memory_lines(x)[0] for x in (*each.inputs, *each.outputs)} <= set(shown)
    assert page(explanation._repr_html_()).tags.count("svg") == 1
    assert explanation._repr_svg_().startswith("<svg")


def test_graphviz_is_given_the_graph(monkeypatch):
    class Source:
        def __init__(self, source):
            assert source == TWO.dot()

        def pipe(self, format, encoding):
            return '<?xml version="1.0"?>\n<svg></svg>'

    module = ModuleType("graphviz")
    module.Source = Source
    module.__spec__ = ModuleSpec("graphviz", None)
    monkeypatch.setitem(sys.modules, "graphviz", module)
    monkeypatch.setattr(pictures, "which", lambda program: program)
    assert TWO.svg() == TWO._repr_svg_() == "<svg></svg>"
    assert page(TWO._repr_html_()).tags.count("svg") == 1
    assert NOTHING._repr_svg_() is None


def test_without_graphviz_there_is_the_text(monkeypatch):
    monkeypatch.setenv("PATH", "")
    refused(ImportError, "pip install graphviz, and its program dot", TWO.svg)
    assert TWO._repr_svg_() is None
    assert repr(TWO) in page(TWO._repr_html_()).text


def test_graph():
    text = TWO.dot()
    assert text.startswith("digraph pending {\n")
    assert text.endswith("}\n")
    assert text.count("{") == text.count("}") == 3
    edges = re.findall(r'^ *"?(\w+)"? -> "?(\w+)"?;$', text, re.MULTILINE)
    assert edges == [
        ("a", "step_1_1"),
        ("step_1_1", "t1"),
        ("a", "step_2_1"),
        ("t1", "step_2_1"),
        ("step_2_1", "step_2_2"),
        ("step_2_2", "step_2_3"),
        ("step_2_1", "step_2_4"),
        ("step_2_3", "step_2_4"),
        ("step_2_4", "result"),
    ]
    nodes = re.findall(r'^ *"?(\w+)"? \[label=', text, re.MULTILINE)
    assert sorted(nodes) == sorted({name for edge in edges for name in edge})
    assert 'step_2_3 [label="add(1.0, ·)"]' in text


def test_text_in_graphs_is_escaped():
    odd = MEAN._replace(inputs=(X._replace(name='a"\\'),), steps=MEAN.steps[:1])
    text = Explanation(1, (odd,)).dot()
    assert '"a\\"\\\\" [label="a\\"\\\\  float64\\n(2500, 4000)  80 MB"' in text


def test_graph_of_nothing():
    assert NOTHING.dot().count("label=") == 1
