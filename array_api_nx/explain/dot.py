"""What is pending as a graph in the language of Graphviz."""

from __future__ import annotations

from collections.abc import Sequence

from .model import PassExplanation, label, memory_lines

__all__ = ["source"]


def source(summary: str, passes: Sequence[PassExplanation]) -> str:
    """A directed graph that shows `passes` under the line `summary`.

    Memory has one node per name, and each pass is a cluster of its steps.
    """
    lines = [f"label={_quoted(summary)}; labelloc=t;", 'node [fontname="monospace", shape=box];']
    drawn: set[str] = set()
    for i, each in enumerate(passes):
        for memory in (*each.inputs, *each.outputs):
            if memory.name not in drawn:
                drawn.add(memory.name)
                text = _quoted(*memory_lines(memory))
                lines.append(f'{_quoted(memory.name)} [label={text}, style="rounded,bold"];')
        flow = each.flow()
        lines.append(f"subgraph cluster_{i + 1} {{")
        caption = _quoted(f"pass {i + 1} of {len(passes)}", *each.caption())
        lines.append(f"  label={caption}; labeljust=l;")
        for k, (step, sources) in enumerate(zip(each.steps, flow, strict=True)):
            lines.append(f"  {_step(i, k)} [label={_quoted(label(step, sources))}];")
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
