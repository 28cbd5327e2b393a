"""What notebooks show: small HTML documents made of a line, tables, text and pictures.

All HTML of the package is made here, from names, texts and numbers. It has neither scripts nor
style sheets, which some viewers remove, and no colours of ink or ground: it takes those of the
page, light or dark. Borders are a grey that is seen on both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape

_BORDER = "1px solid rgba(128,128,128,0.45)"
# Notebooks align cells to the right, and stripe and centre tables; a style of the element wins.
_CELL = "text-align:left;vertical-align:top;padding:1px 12px 1px 0;border:0;background:none"
_TABLE = "border-collapse:collapse;border:0;margin:2px 0 2px 0"


def card(title: str, facts: Iterable[tuple[str, object]], *parts: str) -> str:
    """A box: a line with a title and facts, and what belongs to it below.

    title:
    facts (iterable of (str, object)): Pairs of a name, which may be empty, and a value. Both are
        escaped.
    *parts (str): HTML. Empty ones are left out.
    """
    line = [f"<b>{escape(title)}</b>"]
    for name, value in facts:
        shown = f"<code>{escape(str(value))}</code>"
        line.append(f"{escape(name)}&nbsp;{shown}" if name else shown)
    inside = "".join([f"<div>{part}</div>" for part in parts if part])
    return (
        f'<div style="border:{_BORDER};border-radius:4px;padding:4px 10px;display:inline-block;'
        f'max-width:100%;overflow-x:auto"><div>{" &middot; ".join(line)}</div>{inside}</div>'
    )


def table(rows: Iterable[tuple[object, ...]], header: tuple[str, ...] = ()) -> str:
    """A table of texts, which are escaped; the first of a row is its heading."""
    lines = []
    if header:
        cells = "".join([f'<th style="{_CELL}">{escape(each)}</th>' for each in header])
        lines.append(f"<thead><tr>{cells}</tr></thead>")
    lines.append("<tbody>")
    for first, *others in rows:
        cells = f'<th style="{_CELL};font-weight:normal">{escape(str(first))}</th>'
        cells += "".join(
            [f'<td style="{_CELL}"><code>{escape(str(each))}</code></td>' for each in others]
        )
        lines.append(f"<tr>{cells}</tr>")
    lines.append("</tbody>")
    return f'<table style="{_TABLE}">{"".join(lines)}</table>'


def nested(facts: Mapping[str, object]) -> str:
    """Nested dicts: a table, and inner dicts to be unfolded."""
    plain = [(name, value) for name, value in facts.items() if not isinstance(value, Mapping)]
    inner = [(name, value) for name, value in facts.items() if isinstance(value, Mapping)]
    parts = [table(plain)] if plain else []
    parts += [fold(name, nested(value)) for name, value in inner]
    return "".join(parts)


def preformatted(text: str) -> str:
    """A text of several lines, escaped, as it is."""
    style = "margin:2px 0;padding:0;border:0;background:none;line-height:1.3"
    return f'<pre style="{style}">{escape(text)}</pre>'


def fold(summary: str, inside: str, *, is_open: bool = False) -> str:
    """HTML under a line of text that folds and unfolds it."""
    return (
        f"<details{' open' * is_open}><summary>{escape(summary)}</summary>"
        f'<div style="margin-left:14px">{inside}</div></details>'
    )


def on_light(picture: str) -> str:
    """A picture in dark ink: on light ground of its own."""
    style = "display:inline-block;background:#ffffff;color:#000000;border-radius:4px;padding:4px"
    return f'<div style="{style}">{picture}</div>'


def row(*parts: str) -> str:
    """HTML side by side, as far as there is room."""
    cells = "".join([f"<div>{part}</div>" for part in parts if part])
    return f'<div style="display:flex;flex-wrap:wrap;gap:6px 24px">{cells}</div>'
