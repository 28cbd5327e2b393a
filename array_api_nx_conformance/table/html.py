"""The tables as one page of HTML without scripts, to be put on any site."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from importlib.resources import files

from ..conformity import answer
from ..records import Record
from .compliance import MARKS, WORDS, Row, chapters, conditions, shown_verdicts, unequal
from .implementations import named

_BODY = "{{body}}"


def render(runs: list[Record], absent: dict[str, str]) -> str:
    """The page; the parameters are those of `markdown.render`."""
    template = files(__package__).joinpath("table.html").read_text(encoding="utf-8")
    parts = [_implementations(runs)]
    parts += [f"<p>Not comparable: {escape(remark)}.</p>" for remark in unequal(runs)]
    if absent:
        entries = (f"<code>{escape(n)}</code>: {escape(why)}" for n, why in absent.items())
        parts.append(f"<p>Not judged here:</p>{_list(entries)}")
    marks = "; ".join(f"{mark} {escape(WORDS[verdict])}" for verdict, mark in MARKS.items())
    parts.append(f"<h2>Functions</h2><p>{marks}.</p>")
    parts.append(_functions(chapters(runs), runs))
    parts.append(f"<h2>Conditions</h2>{_list(escape(conditions(run)) for run in runs)}")
    return template.replace(_BODY, "\n".join(parts))


def _implementations(runs: list[Record]) -> str:
    verdicts = shown_verdicts(runs)
    head = ["namespace", "version", "what it is", "declares", "judged by", "examples", *verdicts]
    rows = [_row("th", [*head, "conforms", "date"])]
    for run in runs:
        module, options = run["module"], run["options"]
        cells = [
            module["version"], named(module["name"]).description,
            module["api_version"] or "nothing", run["version"], str(options["max_examples"]),
            *(str(run["totals"][verdict]) for verdict in verdicts), answer(run),
            run["started"][:10],
        ]  # fmt: skip
        rows.append(f"<tr><th><code>{escape(module['name'])}</code></th>{_cells(cells)}</tr>")
    return f'<div class="scroll"><table>{"".join(rows)}</table></div>'


def _functions(found: dict[str, list[Row]], runs: list[Record]) -> str:
    names = [f"{run['module']['name']} {run['module']['version']}" for run in runs]
    rows = [f"<thead>{_row('th', ['function', 'since', *names])}</thead>"]
    for chapter, members in found.items():
        span = len(runs) + 2
        rows.append(f'<tr class="chapter"><th colspan="{span}">{escape(chapter)}</th></tr>')
        rows += [_function(row) for row in members]
    return f'<div class="scroll"><table class="functions">{"".join(rows)}</table></div>'


def _function(row: Row) -> str:
    name = f"<code>{escape(row.name)}</code>"
    if row.address:
        name = f'<a href="{escape(row.address)}">{name}</a>'
    cells = "".join(
        f'<td class="{cell.verdict.replace(" ", "-")}" title="{escape(cell.note)}">'
        f'<span aria-label="{escape(cell.verdict)}">{escape(cell.text)}</span></td>'
        for cell in row.cells
    )
    return f"<tr><th>{name}</th><td>{escape(row.since)}</td>{cells}</tr>\n"


def _row(tag: str, texts: Iterable[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(text)}</{tag}>' for text in texts)}</tr>"


def _cells(texts: Iterable[str]) -> str:
    return "".join(f"<td>{escape(text)}</td>" for text in texts)


def _list(entries: Iterable[str]) -> str:
    return f"<ul>{''.join(f'<li>{entry}</li>' for entry in entries)}</ul>"
