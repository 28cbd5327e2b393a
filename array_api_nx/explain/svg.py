"""Pictures of what is pending: memory and passes from top to bottom, arrows where data goes.

A picture is one SVG document without styles or scripts, that can stand in any page. What is
written lies on light ground of its own, and arrows are neither light nor dark, so that it can be
read on light and on dark pages.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import pairwise
from typing import Final

from .layout import STRAIGHT, Item, arrange, connect
from .model import MemoryExplanation, PassExplanation, StepExplanation, label, memory_lines

__all__ = ["picture"]

FONT: Final = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
FONT_SIZE: Final = 12
LETTER: Final = 7.4
"""The width of a letter, rather too wide than too narrow."""
LINE: Final = 16

MARGIN: Final = 12
STEP_HEIGHT: Final = 26
STEP_GAP: Final = 28
PASS_GAP: Final = 38
"""Between memory and a pass."""
PADDING: Final = 16
CORNER: Final = 12

# Colours: of what is written, or of the ground and its edge.
GREY: Final = "#808894"
INK: Final = "#1f2430"
FAINT_INK: Final = "#596273"
GROUND: Final = "#eef1f6"
EDGE: Final = "#b4bdcb"
STEP_COLOURS: Final = {
    "elementwise": ("#ffffff", "#8793a8"),
    "reduction": ("#ffe7c7", "#c98a35"),
    "final": ("#ffe7c7", "#c98a35"),
    "called": ("#f3e1d2", "#a3704a"),
}
MEMORY_COLOURS: Final = {
    "given": ("#d6e6fb", "#4f7fbf"),
    "stored": ("#e6def7", "#8468b8"),
    "result": ("#d3efd6", "#4a9a58"),
}


class _Memory(Item):
    __slots__ = ("lines", "memory")

    def __init__(self, memory: MemoryExplanation) -> None:
        self.memory = memory
        self.lines = memory_lines(memory)
        super().__init__(max(map(len, self.lines)) * LETTER + 2 * PADDING)


class _Step(Item):
    __slots__ = ("label", "step")

    def __init__(self, step: StepExplanation, label: str) -> None:
        self.step = step
        self.label = label
        super().__init__(len(label) * LETTER + 16)


class _Line(Item):
    """Where the line of a value goes through a row on its way to a later one."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(2)


class _Row:
    """A row of the picture: its items, its top and its height, and the pass that it is part of."""

    __slots__ = ("height", "items", "part", "top")

    def __init__(self, part: int | None, height: float) -> None:
        self.items: list[Item] = []
        self.part = part
        self.height = height
        self.top = 0.0


def picture(summary: str, passes: Sequence[PassExplanation]) -> str:
    """An SVG document that shows `passes` under the line `summary`."""
    if not passes:
        return _document(len(summary) * LETTER + 2 * MARGIN, 2 * MARGIN + LINE, summary, [])
    rows = _rows(passes)
    captions = [
        [f"pass {i} of {len(passes)}", *each.caption()] for i, each in enumerate(passes, start=1)
    ]
    caption_width = max([len(line) for lines in captions for line in lines]) * LETTER + 2 * PADDING
    width = arrange([row.items for row in rows])
    for row in rows:
        for item in row.items:
            item.x += MARGIN + caption_width
    right = MARGIN + caption_width + width + PADDING
    boxes = _stack(rows, captions)
    parts: list[str] = []
    for (top, bottom), caption in zip(boxes, captions, strict=True):
        parts.append(_rectangle(MARGIN, top, right - MARGIN, bottom - top, 8, (GROUND, EDGE)))
        for i, text in enumerate(caption):
            y = top + PADDING + i * LINE + 8
            parts.append(_text(MARGIN + PADDING, y, text, FAINT_INK if i else INK, bold=not i))
    for row, below in pairwise(rows):
        parts += _arrows(row, below)
    for row in rows:
        parts += [part for item in row.items for part in _drawn(item, row)]
    bottom = rows[-1].top + rows[-1].height + MARGIN
    width = max(right + MARGIN, len(summary) * LETTER + 2 * MARGIN)
    return _document(width, bottom, summary, parts)


# ---------------------------------------------------------------------- rows


def _rows(passes: Sequence[PassExplanation]) -> list[_Row]:
    """Rows of memory, and rows of steps between them, with their lines."""
    rows = [_Row(None, 0)]
    written: dict[str, _Memory] = {}
    for part, each in enumerate(passes):
        # What the pass before wrote lies here already; what is older is shown once more.
        read = {memory.name: written.get(memory.name) or _Memory(memory) for memory in each.inputs}
        rows[-1].items += [item for name, item in read.items() if name not in written]
        flow = each.flow()
        depths: list[int] = []
        for sources in flow:
            depths.append(1 + max([depths[s] for s in sources if isinstance(s, int)], default=0))
        first = len(rows) - 1
        rows += [_Row(part, STEP_HEIGHT) for _ in range(max(depths))] + [_Row(None, 0)]
        steps = [
            _Step(step, label(step, sources))
            for step, sources in zip(each.steps, flow, strict=True)
        ]
        for step, depth in zip(steps, depths, strict=True):
            rows[first + depth].items.append(step)
        # Per value the items that show it, by row: where it is made, and where its line goes on.
        trunks: dict[Item, dict[int, Item]] = {item: {first: item} for item in read.values()}
        trunks |= {step: {first + depth: step} for step, depth in zip(steps, depths, strict=True)}
        for target, sources, depth in zip(steps, flow, depths, strict=True):
            values = [steps[s] if isinstance(s, int) else read[s] for s in sources if s is not None]
            distance = min(16.0, target.width / (len(values) + 1))
            for i, value in enumerate(values):
                upper = _continued(trunks[value], first + depth - 1, rows)
                # What comes from afar does not draw the target away from its neighbours.
                weight = 0.2 if isinstance(upper, _Line) else 1.0
                connect(upper, target, (i - (len(values) - 1) / 2) * distance, weight)
        written = {}
        for memory, writer in zip(each.outputs, each.writers(), strict=True):
            item = written[memory.name] = _Memory(memory)
            rows[-1].items.append(item)
            connect(_continued(trunks[steps[writer]], len(rows) - 2, rows), item)
    for row in rows:
        if row.part is None:
            lines = [len(item.lines) for item in row.items if isinstance(item, _Memory)]
            row.height = max(lines) * LINE + 12 if lines else 0
    return rows


def _continued(trunk: dict[int, Item], row: int, rows: list[_Row]) -> Item:
    """The line of a value, brought down to a row."""
    last = max(trunk)
    while last < row:
        item = _Line()
        connect(trunk[last], item, 0.0, STRAIGHT if isinstance(trunk[last], _Line) else 2.0)
        last += 1
        trunk[last] = item
        rows[last].items.append(item)
    return trunk[row]


def _stack(rows: list[_Row], captions: list[list[str]]) -> list[tuple[float, float]]:
    """Give each row its top; tops and bottoms of the passes' boxes."""
    boxes: list[tuple[float, float]] = []
    y = MARGIN + LINE + 10.0
    for i, row in enumerate(rows):
        before = rows[i - 1].part if i else None
        if row.part is None:
            row.top = y
            y += row.height + (PASS_GAP if row.height else 0)
            continue
        if row.part != before:
            boxes.append((y, 0.0))
            y += PADDING
        row.top = y
        y += row.height + STEP_GAP
        if rows[i + 1].part != row.part:
            top = boxes[-1][0]
            height = row.top + row.height - top + PADDING
            least = len(captions[row.part]) * LINE + 2 * PADDING - 4
            if height < least:
                for other in rows:
                    if other.part == row.part:
                        other.top += (least - height) / 2
            boxes[-1] = (top, top + max(height, least))
            y = boxes[-1][1] + PASS_GAP
    return boxes


# ---------------------------------------------------------------------- drawing


def _drawn(item: Item, row: _Row) -> list[str]:
    left = item.x - item.width / 2
    if isinstance(item, _Step):
        colours = STEP_COLOURS[item.step.kind]
        call = f"{item.step.target} = {item.step.operation}({', '.join(item.step.sources)})"
        box = _rectangle(left, row.top, item.width, row.height, 3, colours, call)
        return [box, _text(item.x, row.top + row.height / 2 + 4, item.label, INK, middle=True)]
    if isinstance(item, _Memory):
        colours = MEMORY_COLOURS[item.memory.kind]
        height = len(item.lines) * LINE + 12
        parts = [_rectangle(left, row.top, item.width, row.height, CORNER, colours)]
        for i, text in enumerate(item.lines):
            y = row.top + (row.height - height) / 2 + 18 + i * LINE
            ink = FAINT_INK if i else INK
            parts.append(_text(item.x, y, text, ink, bold=not i, middle=True))
        return parts
    return [_path(f"M{item.x:.1f} {row.top:.1f}V{row.top + row.height:.1f}")]


def _arrows(row: _Row, below: _Row) -> list[str]:
    """The lines from a row to the next, with a head where they end."""
    y, end = row.top + row.height, below.top
    parts = []
    for item in row.items:
        for line in item.below:
            x, target = item.x, line.lower.x + line.entry
            last = end if isinstance(line.lower, _Line) else end - 6
            bend = (last - y) * 0.6
            end_of_curve = f"{target:.1f} {last - bend:.1f} {target:.1f} {last:.1f}"
            parts.append(_path(f"M{x:.1f} {y:.1f}C{x:.1f} {y + bend:.1f} {end_of_curve}"))
            if last < end:
                head = f"M{target - 4:.1f} {end - 7:.1f}h8L{target:.1f} {end:.1f}z"
                parts.append(f'<path d="{head}" fill="{GREY}"/>')
    return parts


def _path(data: str) -> str:
    return f'<path d="{data}" fill="none" stroke="{GREY}" stroke-width="1.4"/>'


def _rectangle(
    x: float,
    y: float,
    width: float,
    height: float,
    corner: float,
    colours: tuple[str, str],
    tip: str = "",
) -> str:
    fill, stroke = colours
    title = f"<title>{escape(tip)}</title>" if tip else ""
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="{corner}" '
        f'fill="{fill}" stroke="{stroke}">{title}</rect>'
    )


def _text(
    x: float, y: float, text: str, fill: str, *, bold: bool = False, middle: bool = False
) -> str:
    weight = ' font-weight="bold"' if bold else ""
    anchor = ' text-anchor="middle"' if middle else ""
    # Two spaces part columns; SVG would make one of them.
    shown = escape(text).replace("  ", "\u00a0 ")
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{fill}"{weight}{anchor}>{shown}</text>'


def _document(width: float, height: float, summary: str, parts: list[str]) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" role="img" style="max-width:100%;height:auto" '
        f'font-family="{FONT}" font-size="{FONT_SIZE}">'
    )
    title = f"<title>{escape(summary)}</title>"
    line = _text(MARGIN, MARGIN + 12, summary, GREY)
    return "\n".join([head, title, line, *parts, "</svg>\n"])
