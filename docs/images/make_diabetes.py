"""Draw docs/images/diabetes.svg: accuracy against what a person pays, from the committed experiment.

python docs/images/make_diabetes.py [--out FILE]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results" / "diabetes.json"
INK, GREY = "#22303c", "#6b7780"
STYLES = {
    "reports": ("naive Bayes from reports", "#c0392b", "o"),
    "pairs": ("linear discriminant from reports", "#c98a1b", "s"),
    "window": ("sanitised rows, clamped window", "#3b6ea5", "^"),
    "staircase": ("sanitised rows, bounded staircase", "#7fa8d1", "v"),
    "laplace": ("sanitised rows, bounded Laplace", "#8a9aa5", "D"),
}


def draw(axes: Axes, report: dict[str, Any]) -> None:
    for method, (name, colour, marker) in STYLES.items():
        lines = sorted((one for one in report["lines"] if one["method"] == method), key=lambda one: one["epsilon"])
        epsilons = [one["epsilon"] for one in lines]
        means = [one["accuracy"] for one in lines]
        low, high = ([one["accuracy"] + sign * one["accuracy_sd"] for one in lines] for sign in (-1, 1))
        axes.fill_between(epsilons, low, high, color=colour, alpha=0.12, linewidth=0)
        axes.plot(epsilons, means, color=colour, marker=marker, markersize=4.5, linewidth=1.8, label=name)
    clean = report["clean"]["accuracy"]
    axes.axhline(clean, color=INK, linewidth=1, linestyle="--")
    axes.annotate(f"without privacy: {clean:.3f}", (0.1, clean), (0, 5), textcoords="offset points", color=INK)
    axes.set_xscale("log")
    ticks = [0.1, 0.5, 1, 2, 4.5, 9, 27, 90]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.xaxis.minorticks_off()
    axes.set_xlabel("epsilon that a person pays for the whole row")
    axes.set_ylabel("accuracy on clean test rows, mean ± standard deviation")
    axes.grid(axis="y", color="#e6e9eb", linewidth=0.8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=9, loc="lower right")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("diabetes.svg"))
    out = parser.parse_args().out
    report = json.loads(RESULTS.read_text())
    settings = {"svg.hashsalt": "flou", "font.size": 10}
    colours = dict.fromkeys(("axes.edgecolor", "xtick.color", "ytick.color"), GREY)
    labels = dict.fromkeys(("axes.labelcolor", "axes.titlecolor", "text.color"), INK)
    with matplotlib.rc_context(settings | colours | labels):
        figure = Figure(figsize=(9, 5), layout="constrained", facecolor="white")
        draw(figure.subplots(), report)
        source = f"benchmarks/results/diabetes.json, {report['date']}"
        figure.savefig(out, format="svg", metadata={"Date": None, "Source": source})


if __name__ == "__main__":
    main()
