"""A picture of the results: speed relative to NumPy, one row per case, one panel per dtype."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

# Marker and colour of each peer; ours is drawn last and largest. The colours differ for
# any kind of colour vision, and the markers differ as well.
_STYLES = {
    "numexpr": ("v", "#e69f00"),
    "numba": ("^", "#009e73"),
    "blosc2": ("P", "#8a6d3b"),
    "jax.jit": ("s", "#0072b2"),
    "torch": ("X", "#999999"),
    "torch.compile": ("D", "#cc79a7"),
    "nx": ("o", "#d50000"),
    "nx.compile": ("*", "#7a0000"),
}


def plot(figures: Mapping[str, Any], file: str) -> None:
    """Draw the results at the largest size into `file`, as SVG or PNG by its name."""
    matplotlib: Any = import_module("matplotlib")
    matplotlib.use("Agg")
    pyplot: Any = import_module("matplotlib.pyplot")
    elements = max([result["elements"] for result in figures["results"]])
    results = [result for result in figures["results"] if result["elements"] == elements]
    dtypes = list(dict.fromkeys([result["dtype"] for result in results]))
    cases = list(dict.fromkeys([result["case"] for result in results]))
    peers = [name for name in _STYLES if name in figures["peers"]]
    # A background of its own, so that dark pages show it too; names fixed, so that the same
    # figures give the same file.
    style = {"svg.hashsalt": "fused", "font.size": 9, "figure.facecolor": "#fcfcfc"}
    with pyplot.rc_context(style):
        figure, axes = pyplot.subplots(
            1,
            len(dtypes),
            figsize=(2.7 + 3.9 * len(dtypes), 1.7 + 0.29 * (len(cases) + 1)),
            sharey=True,
            squeeze=False,
            layout="constrained",
        )
        for panel, dtype in zip(axes[0], dtypes, strict=True):
            speeds = {r["case"]: r["speed"] for r in results if r["dtype"] == dtype}
            means = next(
                entry["means"]["geometric mean"]
                for entry in figures["summaries"]
                if (entry["dtype"], entry["elements"]) == (dtype, elements)
            )
            _panel(panel, dtype, cases, [speeds.get(case, {}) for case in cases], means, peers)
        axes[0][0].invert_yaxis()  # the first case on top; the panels share the axis
        machine = f"{figures['cores']} cores of {figures['processor']}"
        figure.suptitle(f"{elements:,} elements, {machine}", fontsize=11)
        handles, labels = axes[0][0].get_legend_handles_labels()
        versions = [f"{label} {figures['peers'][label].partition('+')[0]}" for label in labels]
        figure.legend(
            handles[::-1], versions[::-1], loc="outside lower center", ncols=4, frameon=False
        )
        figure.savefig(file, dpi=150, metadata={"Date": None} if file.endswith(".svg") else None)
        pyplot.close(figure)


def _panel(
    panel: Any,
    dtype: str,
    cases: Sequence[str],
    speeds: Sequence[Mapping[str, float]],
    means: Mapping[str, float],
    peers: Sequence[str],
) -> None:
    labels = [*cases, "geometric mean"]
    rows = [*speeds, means]
    panel.set_title(dtype)
    panel.set_xscale("log", base=2)
    panel.xaxis.set_major_formatter(lambda x, _: f"1/{1 / x:g}" if x < 1 else f"{x:g}")
    panel.set_xlabel("speed relative to NumPy (times; further right is faster)")
    panel.set_yticks(range(len(labels)), labels)
    panel.set_facecolor("#ffffff")
    panel.grid(axis="x", color="#dddddd", linewidth=0.6)
    panel.grid(axis="y", color="#eeeeee", linewidth=0.6)
    panel.set_axisbelow(True)
    panel.axvline(1, color="#333333", linewidth=1)
    panel.axhline(len(cases) - 0.5, color="#bbbbbb", linewidth=0.8)
    for peer in peers:
        marker, colour = _STYLES[peer]
        points = [(row[peer], i) for i, row in enumerate(rows) if peer in row]
        x, y = zip(*points, strict=True) if points else ((), ())
        panel.scatter(
            x,
            y,
            s=62 if peer == "nx" else 26,
            marker=marker,
            color=colour,
            edgecolors="#ffffff",
            linewidths=0.5,
            zorder=4 if peer == "nx" else 3,
            label=peer,
        )
    panel.spines[["top", "right"]].set_visible(False)
