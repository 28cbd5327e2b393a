"""The scripts in docs/upstream still print what those pages say."""

import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

PAGES = sorted((Path(__file__).parents[2] / "docs" / "upstream").glob("*.md"))
_REQUIREMENT = re.compile(r"([A-Za-z0-9_-]+)==([0-9][0-9.]*[0-9])")
_SCRIPT = re.compile(r"^## (.*?)\n(.*?)^```python\n(.*?)^```\n\n```text\n(.*?)^```", re.M | re.S)


def _scripts():
    found = []
    for page in PAGES:
        text = page.read_text()
        for match in _SCRIPT.finditer(text):
            title, before, script, expected = match.groups()
            assert "\n## " not in before, f"{page.name}: {title!r} has no output"
            needed = _REQUIREMENT.findall(before) or _REQUIREMENT.findall(text)
            found.append(pytest.param(needed, script, expected, id=f"{page.stem}: {title[:40]}"))
    return found


def test_there_are_scripts():
    assert len(_scripts()) > 10


@pytest.mark.parametrize(("needed", "script", "expected"), _scripts())
def test_prints_what_the_page_says(needed, script, expected):
    assert needed
    for name, checked in needed:
        try:
            installed = version(name).split("+")[0]
        except PackageNotFoundError:
            pytest.skip(f"{name} is not installed")
        if installed != checked:
            pytest.skip(f"the page is about {name} {checked}, and {installed} is installed")
    command = [sys.executable, "-W", "ignore", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout == expected, done.stderr
