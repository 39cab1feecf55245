"""Draw docs/images/quantile_methods.svg: rank error against epsilon for every method, from the committed benchmark.

python docs/images/make_quantile_methods.py [--out FILE]
"""

from __future__ import annotations

import argparse
import json
from itertools import product
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results" / "quantiles.json"
INK, GREY, PALE = "#22303c", "#6b7780", "#b4bcc2"
OURS = {"flou": "#c0392b", "flou, intervals=0": "#e59c92"}
COLOURS = {
    "JointN": "#1f6f54",
    "JointExp": "#3b6ea5",
    "DitheredJointExp": "#7fa8d1",
    "RecExp": "#8a5aa8",
    "FocusedTree": "#e0a93b",
    "Tree": "#c98a1b",
    "IndExp": "#55606a",
    "HistogramMethod": "#7a5c43",
    "NoisyQuantile": PALE,
    "UnboundedQuantile": "#b0567a",
    "SmoothSensitivity, delta=1e-06": "#d4a5a5",
    "QExp": "#9aa75b",
    "GridInverseSensitivity": "#4a9a9a",
    "PermuteAndFlipQuantile": "#2b4c7e",
    "SmoothInverseSensitivity": "#c06c3e",
}
DATA, ROWS, MANY = "uniform", 100_000, (9, 1)


def lines(report: dict[str, Any], relation: str, many: int) -> dict[str, list[tuple[float, float, float]]]:
    """Epsilon, error and standard error of each column that has an error for every epsilon."""
    at = {"data": DATA, "rows": ROWS, "quantiles": many, "relation": relation}
    cells = [one for one in report["errors"] if all(one[name] == fact for name, fact in at.items())]
    epsilons = {one["epsilon"] for one in cells}
    found: dict[str, list[tuple[float, float, float]]] = {}
    for one in cells:
        if "error" in one:
            found.setdefault(one["column"], []).append((one["epsilon"], one["error"], one["standard_error"]))
    return {name: sorted(points) for name, points in found.items() if {e for e, *_ in points} == epsilons}


def draw(axes: Axes, report: dict[str, Any], relation: str, many: int) -> None:
    for name, points in lines(report, relation, many).items():
        epsilons, errors, doubts = (list(column) for column in zip(*points, strict=True))
        peer = name not in COLOURS and name not in OURS
        style = {"linestyle": ":" if peer else "-", "linewidth": 2.4 if name == "flou" else 1.3}
        colour = OURS.get(name) or COLOURS.get(name) or GREY
        marker = {"OpenDP": "s", "diffprivlib": "^", "PyDP": "v"}.get(name.split(",")[0], "o")
        fill = "white" if "10,001" in name else colour
        axes.errorbar(
            epsilons,
            errors,
            doubts,
            label=name,
            color=colour,
            marker=marker,
            markersize=4,
            markerfacecolor=fill,
            **style,
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    ticks = sorted({epsilon for points in lines(report, relation, many).values() for epsilon, *_ in points})
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.xaxis.minorticks_off()
    axes.yaxis.set_major_formatter("{x:,.10g}")
    axes.set_xlabel("epsilon")
    axes.set_title(f"relation={relation!r}")
    axes.grid(axis="y", color="#e6e9eb", linewidth=0.8)
    axes.spines[["top", "right"]].set_visible(False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("quantile_methods.svg"))
    out = parser.parse_args().out
    report = json.loads(RESULTS.read_text())
    settings = {"svg.hashsalt": "flou", "font.size": 10, "axes.titlesize": 10.5, "axes.titlelocation": "left"}
    colours = dict.fromkeys(("axes.edgecolor", "xtick.color", "ytick.color"), GREY)
    labels = dict.fromkeys(("axes.labelcolor", "axes.titlecolor", "text.color"), INK)
    with matplotlib.rc_context(settings | colours | labels):
        figure = Figure(figsize=(12, 9.6), layout="constrained", facecolor="white")
        panels = figure.subplots(2, 2, sharey="row")
        named = {}
        for (many, relation), axes in zip(product(MANY, ("add-remove", "substitute")), panels.flat, strict=True):
            draw(axes, report, relation, many)
            handles, names = axes.get_legend_handles_labels()
            named |= dict(zip(names, handles, strict=True))
        figure.legend(named.values(), named.keys(), loc="outside right upper", frameon=False, fontsize=8)
        for row, many in zip(panels, MANY, strict=True):
            what = f"{many} quantiles" if many > 1 else "a median"
            row[0].set_ylabel(f"mean rank error: {what} of {ROWS:,} {DATA} values")
        source = f"benchmarks/results/quantiles.json, {report['date']}"
        figure.savefig(out, format="svg", metadata={"Date": None, "Source": source})


if __name__ == "__main__":
    main()
