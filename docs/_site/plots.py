"""Draws the pictures of the page on performance from the results in ``benchmarks/results``."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.fused.plot import plot


def draw(results: Path, folder: Path) -> None:
    """Draw all pictures into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    found: dict[str, Any] = {}
    for file in sorted(results.glob("*.json")):
        found |= json.loads(file.read_text(encoding="utf-8"))
    for name in ("fused", "compiled"):
        for size in sorted({result["elements"] for result in found[name]["results"]}):
            plot(_of_size(found[name], size), str(folder / f"{name}-{size}.svg"))
    times = {name: 1 / ratios["nx"] for name, ratios in found["small"]["ratios"].items()}
    _bars(times, found["small"], "speed relative to NumPy, 12 elements", folder / "small.svg")
    scipy = found["scipy"]
    title = f"speed relative to NumPy's arrays, {scipy['elements']:,} elements"
    _bars(scipy["speed"], scipy, title, folder / "scipy.svg")


def _of_size(figures: Mapping[str, Any], size: int) -> dict[str, Any]:
    parts = ("results", "summaries")
    return {
        **figures,
        **{part: [each for each in figures[part] if each["elements"] == size] for part in parts},
    }


def _bars(speeds: Mapping[str, float], figures: Mapping[str, Any], title: str, file: Path) -> None:
    style = {"svg.hashsalt": file.name, "font.size": 9, "figure.facecolor": "#fcfcfc"}
    with pyplot.rc_context(style):
        figure, panel = pyplot.subplots(figsize=(8, 1.2 + 0.21 * len(speeds)), layout="constrained")
        panel.barh(range(len(speeds)), [*speeds.values()], color="#d50000", height=0.6)
        panel.set_yticks(range(len(speeds)), [*speeds])
        panel.set_ylim(len(speeds) - 0.4, -0.6)
        panel.axvline(1, color="#333333", linewidth=1)
        panel.grid(axis="x", color="#dddddd", linewidth=0.6)
        panel.set_axisbelow(True)
        panel.set_xlabel(f"{title}; {figures['cores']} cores of {figures['processor']}")
        panel.spines[["top", "right"]].set_visible(False)
        figure.savefig(file, metadata={"Date": None})
        pyplot.close(figure)
