"""Draw docs/images/joint_scaling.svg: what a sum costs everyone together, by the number of parties.

python docs/images/make_joint_scaling.py [--out FILE]
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results" / "joint.json"
INK, GREY, PALE = "#22303c", "#6b7780", "#b4bcc2"
ALL, ONE, COORDINATOR, SQUARE = "#c0392b", "#1f6f54", "#3b6ea5", "#8a5aa8"
SPARSE = 300  # parties; from here on each has few neighbours


def line(
    axes: Axes, sizes: list[int], values: list[float], colour: str, name: str, style: str = "o-", lower: float = 0
) -> None:
    """With its name at its end, or somewhat lower."""
    axes.loglog(sizes, values, style, color=colour, markersize=4.5, linewidth=1.7)
    axes.annotate(name, (sizes[-1], values[-1]), (7, -lower), textcoords="offset points", color=colour, va="center")


def like(sizes: list[int], start: float, shape: Any) -> list[float]:
    """A curve of this shape through the first point."""
    return [start * shape(m) / shape(sizes[0]) for m in sizes]


def seconds(axes: Axes, growth: list[dict[str, Any]]) -> None:
    sizes = [one["parties"] for one in growth]
    line(axes, sizes, [one["quadratic_seconds"] for one in growth], SQUARE, "m² masks,\nnothing else", "--")
    everyone = [one["everyone_seconds"] for one in growth]
    line(axes, sizes, everyone, ALL, "everyone")
    line(axes, sizes, [one["coordinator"]["cpu_seconds"] for one in growth], COORDINATOR, "the coordinator")
    line(axes, sizes, [one["party_seconds"] for one in growth], ONE, "one party")
    few = [m for m in sizes if m >= SPARSE]
    if len(few) > 1:
        start = everyone[sizes.index(few[0])]
        line(axes, few, like(few, start, lambda m: m * math.log(m)), GREY, "like m log m", ":", 7)
    axes.set_title("seconds of processor time")


def kilobytes(axes: Axes, growth: list[dict[str, Any]]) -> None:
    sizes = [one["parties"] for one in growth]
    line(axes, sizes, [one["party"][0]["received_bytes"] / 1e3 for one in growth], ONE, "received")
    line(axes, sizes, [one["party"][0]["sent_bytes"] / 1e3 for one in growth], ALL, "sent")
    axes.set_title("kilobytes of one party")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("joint_scaling.svg"))
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    report = json.loads(options.results.read_text())
    settings = {"svg.hashsalt": "flou", "font.size": 10, "axes.titlesize": 10.5, "axes.titlelocation": "left"}
    colours = dict.fromkeys(("axes.edgecolor", "xtick.color", "ytick.color"), GREY)
    labels = dict.fromkeys(("axes.labelcolor", "axes.titlecolor", "text.color"), INK)
    with matplotlib.rc_context(settings | colours | labels):
        figure = Figure(figsize=(10.5, 4.6), layout="constrained", facecolor="white")
        both = figure.subplots(1, 2, width_ratios=(1.35, 1))
        for axes, draw in zip(both, (seconds, kilobytes), strict=True):
            draw(axes, report["growth"])
            axes.set_xlabel("parties")
            axes.xaxis.set_major_formatter("{x:,.0f}")
            axes.yaxis.set_major_formatter("{x:,.10g}")
            axes.grid(color="#e6e9eb", linewidth=0.8)
            axes.spines[["top", "right"]].set_visible(False)
            axes.margins(x=0.05)
        source = f"benchmarks/results/joint.json, {report['date']}"
        figure.savefig(options.out, format="svg", metadata={"Date": None, "Source": source})


if __name__ == "__main__":
    main()
