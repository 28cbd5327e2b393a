"""The README's examples run as they stand."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = re.findall(
    r"```python\n(.*?)```\n\n```text\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL
)


@pytest.mark.parametrize(("example", "output"), EXAMPLES, ids=["first", "clients"])
def test_examples_print_what_the_readme_says(example: str, output: str) -> None:
    if "sklearn" in example:
        pytest.importorskip("scipy")
        pytest.importorskip("sklearn")
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", example],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout == output
