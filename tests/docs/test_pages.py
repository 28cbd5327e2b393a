"""Every example of the documentation prints the output on the page.

The Python blocks of a page run from top to bottom in one process. A block that prints something,
or ends in an exception, is followed by a block ``text`` with just that. Comments before a block,
which readers do not see, state exceptions: ``<!-- needs torch -->``, or
``<!-- not run: reason -->``.
"""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

from array_api_nx.native import native

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
RUNNER = ROOT / "tests" / "support" / "run_blocks.py"
# Others run these: their blocks are files, or scripts of their own.
ELSEWHERE = {"docs/testing.md": "tests/testing", "docs/upstream": "tests/docs/test_upstream.py"}
PAGES = [
    page
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    if not page.relative_to(ROOT).as_posix().startswith(tuple(ELSEWHERE))
    and "```python\n" in page.read_text(encoding="utf-8")
]
BLOCK = re.compile(
    r"^(?:<!-- (?P<said>.*?) -->\n)?```python\n(?P<program>.*?)^```\n"
    r"(?:\n```text\n(?P<output>.*?)^```\n)?",
    re.MULTILINE | re.DOTALL,
)
ERROR = re.compile(r"(^[\w.]*(?:Error|Exception): |\Z)", re.MULTILINE)
# Sizes of tiles, and streamed stores, depend on the cores and their caches; the
# pages give examples of it.
TUNED = re.compile(
    r"tiles of [\d_]+( x [\d_]+)?|\d+ tasks?|[\d.]+ \w+ of scratch memory|  written past the caches"
)


@dataclass(frozen=True)
class Block:
    """An example of a page."""

    line: int
    program: str
    output: str
    said: str

    def missing(self):
        """The packages that the block needs and that are not installed."""
        needed = self.said.removeprefix("needs ").split(", ") if "needs " in self.said else []
        return [name for name in needed if find_spec(name) is None]


def blocks(page):
    text = page.read_text(encoding="utf-8")
    return [
        Block(
            text.count("\n", 0, match.start("program")) + 1,
            match["program"],
            match["output"] or "",
            match["said"] or "",
        )
        for match in BLOCK.finditer(text)
    ]


def plain(text):
    """Without figures that are tuned, and with each exception in one line."""
    before, error, message = ERROR.split(text, maxsplit=1)
    return TUNED.sub("", before) + error.rpartition(".")[2] + " ".join(message.split())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_examples_print_what_the_page_says(page, tmp_path):
    if native is None and "explain(" in page.read_text(encoding="utf-8"):
        pytest.skip("without the extension nothing is deferred")
    found = [block for block in blocks(page) if not block.said.startswith("not run: ")]
    running = [block for block in found if not block.missing()]
    if not running:
        pytest.skip(f"needs {', '.join(found[0].missing())}" if found else "no example runs")
    settings = {name: value for name, value in os.environ.items() if "ARRAY_API" not in name}
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", str(RUNNER)],
        input=json.dumps([block.program for block in running]),
        env={**settings, "PYTHONPATH": str(ROOT)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    for block, printed in zip(running, json.loads(ended.stdout), strict=True):
        assert plain(printed) == plain(block.output), f"{page.name}, line {block.line}"
    missing = sorted({name for block in found for name in block.missing()})
    if missing:
        pytest.skip(f"all but the examples that need {', '.join(missing)} ran")


def test_no_block_escapes():
    """A fence that is indented, or a comment that is misspelt, would leave its block untried."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert len(blocks(page)) == text.count("```python"), page.name
        for block in blocks(page):
            assert re.fullmatch(r"(needs \w+(, \w+)*|not run: .+)?", block.said), page.name
