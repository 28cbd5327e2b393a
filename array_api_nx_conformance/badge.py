"""A badge: how much of the standard a namespace conforms to."""

from __future__ import annotations

from html import escape

from .conformity import answer
from .records import Record

_GOOD, _FAIR, _POOR = "#2e7d32", "#8a6100", "#b3261e"
_CHARACTER = 6.6  # width of a character in pixels, roughly
_TEMPLATE = """\
<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20"
 role="img" aria-label="{label}: {value}">
<title>{label}: {value}</title>
<clipPath id="r"><rect width="{width}" height="20" rx="3"/></clipPath>
<g clip-path="url(#r)">
<rect width="{left}" height="20" fill="#444"/>
<rect x="{left}" width="{right}" height="20" fill="{colour}"/>
</g>
<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
<text x="{left_middle}" y="14" textLength="{left_text}">{label}</text>
<text x="{right_middle}" y="14" textLength="{right_text}">{value}</text>
</g>
</svg>
"""


def render(run: Record) -> str:
    """The badge of a run as SVG."""
    total = run["totals"]
    every = sum(total.values())
    good = total["passes"] + total["deviation"] + total["skipped"]
    label = f"array API {run['version']}"
    conforms = answer(run)
    if run["end"] != "finished":
        value, colour = "incomplete", _FAIR
    elif conforms == "yes":
        value, colour = "conforms", _GOOD
    elif conforms == "yes (provisional)":
        value, colour = f"no failure in {run['options']['max_examples']} examples", _FAIR
    else:
        value = f"{good} of {every} functions"
        colour = _FAIR if 10 * good >= 9 * every else _POOR
    left_text, right_text = round(len(label) * _CHARACTER), round(len(value) * _CHARACTER)
    left, right = left_text + 12, right_text + 12
    return _TEMPLATE.format(
        label=escape(label),
        value=escape(value),
        colour=colour,
        width=left + right,
        left=left,
        right=right,
        left_text=left_text,
        right_text=right_text,
        left_middle=left / 2,
        right_middle=left + right / 2,
    )
