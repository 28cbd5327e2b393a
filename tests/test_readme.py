"""The README's figures are those of the results; tests/docs runs its examples."""

import json
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_table_of_namespaces_is_that_of_the_results():
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
