"""The README's examples run as they stand."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from array_api_nx.native import native

ROOT = Path(__file__).parents[1]
EXAMPLES = re.findall(
    r"```python\n(.*?)```\n\n```text\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL
)


@pytest.mark.parametrize(
    ("example", "output"), EXAMPLES, ids=["first", "clients", "fused", "compiled", "beyond"]
)
def test_examples_print_what_the_readme_says(example: str, output: str) -> None:
    if "sklearn" in example:
        pytest.importorskip("scipy")
        pytest.importorskip("sklearn")
    if "special" in example:
        pytest.importorskip("scipy")
    if "explain" in example and native is None:
        pytest.skip("without the extension nothing is deferred")
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", example],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout == output


def test_the_table_of_namespaces_is_that_of_the_results() -> None:
    readme = (ROOT / "README.md").read_text()
    results = json.loads((ROOT / "conformance" / "results" / "official.json").read_text())
    for run in results["runs"]:
        module, totals = run["module"], run["totals"]
        cells = [
            f"{module['name']} {module['version']}",
            module["api_version"],
            run["options"]["max_examples"],
            *[totals[key] for key in ("passes", "fails", "missing", "blocked", "deviation")],
        ]
        assert f"| {' | '.join(map(str, cells))} |" in readme
