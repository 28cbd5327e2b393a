"""Passes as a graph: a text in the language of Graphviz, and the picture that Graphviz makes of it.

Pictures need the package ``graphviz`` and its program ``dot``, as those of Dask do.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from shutil import which
from typing import Final

from .model import PassExplanation, label, memory_lines

_COLOURS: Final = {
    "given": "#d6e6fb",
    "stored": "#e6def7",
    "result": "#d3efd6",
    "reduction": "#ffe7c7",
    "final": "#ffe7c7",
}


class Drawable:
    """Base of reports with a summary and passes: a text when printed, a picture in a notebook."""

    __slots__ = ()

    @property
    def summary(self) -> str:
        """The computation in one line."""
        raise NotImplementedError

    def _passes(self) -> Sequence[PassExplanation]:
        raise NotImplementedError

    def dot(self) -> str:
        """The passes as a graph in the language of Graphviz."""
        return _graph(self.summary, self._passes())

    def svg(self) -> str:
        """The passes as a picture: an SVG document, made by Graphviz.

        ImportError: If the package ``graphviz`` or its program ``dot`` is not installed.
        """
        if not _is_there():
            raise ImportError(
                "pictures are made by Graphviz: install its package, pip install graphviz, and its "
                "program dot (https://graphviz.org/download), or take the graph as text, from dot()"
            )
        from graphviz import Source

        picture: str = Source(self.dot()).pipe("svg", encoding="utf-8")
        return picture[picture.index("<svg") :]

    def _repr_svg_(self) -> str | None:
        """The picture in a notebook; None where there is nothing to draw, or no Graphviz."""
        return self.svg() if self._passes() and _is_there() else None

    def _shown(self) -> str:
        """As HTML the picture, or the text where there is none."""
        from .html import preformatted

        return self._repr_svg_() or preformatted(repr(self))


def _is_there() -> bool:
    return which("dot") is not None and find_spec("graphviz") is not None


def _graph(summary: str, passes: Sequence[PassExplanation]) -> str:
    """A directed graph that shows `passes` under the line `summary`.

    Memory has one node per name, and each pass is a cluster of its steps.
    """
    lines = [
        f"label={_quoted(summary)}; labelloc=t;",
        'node [fontname="monospace", shape=box, style=filled, fillcolor=white];',
    ]
    drawn: set[str] = set()
    for i, each in enumerate(passes):
        for memory in (*each.inputs, *each.outputs):
            if memory.name not in drawn:
                drawn.add(memory.name)
                looks = f'style="rounded,bold,filled", fillcolor="{_COLOURS[memory.kind]}"'
                text = _quoted(*memory_lines(memory))
                lines.append(f"{_quoted(memory.name)} [label={text}, {looks}];")
        flow = each.flow()
        lines.append(f"subgraph cluster_{i + 1} {{")
        caption = _quoted(f"pass {i + 1} of {len(passes)}", *each.caption())
        lines.append(f"  label={caption}; labeljust=l;")
        for k, (step, sources) in enumerate(zip(each.steps, flow, strict=True)):
            looks = f', fillcolor="{_COLOURS[step.kind]}"' if step.kind in _COLOURS else ""
            lines.append(f"  {_step(i, k)} [label={_quoted(label(step, sources))}{looks}];")
        lines.append("}")
        for k, sources in enumerate(flow):
            for value in sources:
                if value is not None:
                    start = _quoted(value) if isinstance(value, str) else _step(i, value)
                    lines.append(f"{start} -> {_step(i, k)};")
        for memory, writer in zip(each.outputs, each.writers(), strict=True):
            lines.append(f"{_step(i, writer)} -> {_quoted(memory.name)};")
    body = "".join([f"  {line}\n" for line in lines])
    return f"digraph pending {{\n{body}}}\n"


def _step(i: int, k: int) -> str:
    return f"step_{i + 1}_{k + 1}"


def _quoted(*lines: str) -> str:
    escaped = [line.replace("\\", "\\\\").replace('"', '\\"') for line in lines]
    return '"' + "\\n".join(escaped) + '"'
