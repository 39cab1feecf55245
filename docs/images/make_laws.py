"""Draw docs/images/laws.svg: mechanisms as their laws, and what can be read from them.

python docs/images/make_laws.py [--out FILE]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from flou.mechanisms import Exponential, Gaussian, Laplace, NoisyMax, PermuteAndFlip, Staircase

INK, GREY, BLUE, RED, GREEN = "#22303c", "#6b7780", "#3b6ea5", "#c0392b", "#2e8b57"


def additive(axes: Axes) -> None:
    """Three ways of noising the answer 120 when one person moves it by up to 8."""
    y = np.arange(75, 166)
    mechanisms = {
        "Laplace, epsilon = 1": (Laplace(sensitivity=8, epsilon=1), BLUE),
        "Staircase, epsilon = 1": (Staircase(sensitivity=8, epsilon=1), RED),
        "Gaussian, rho = 0.5": (Gaussian(sensitivity=8, rho=0.5), GREEN),
    }
    for name, (mechanism, colour) in mechanisms.items():
        axes.step(y, mechanism.law(120).pmf(y), where="mid", color=colour, linewidth=1.4, label=name)
    axes.set_title("The law of a release, three mechanisms")
    axes.set_xlabel("release, when the answer is 120 and the sensitivity 8")


def neighbours(axes: Axes) -> None:
    """The promise: two neighbours, and a ratio that stays within e^epsilon."""
    y = np.arange(111, 131)
    mechanism = Laplace(sensitivity=1, epsilon=0.5)
    here, there = mechanism.law(120), mechanism.law(121)
    axes.bar(y - 0.2, here.pmf(y), width=0.4, color=BLUE, label="120 people")
    axes.bar(y + 0.2, there.pmf(y), width=0.4, color=RED, label="121 people")
    ratio = np.max(np.abs(here.log_pmf(y) - there.log_pmf(y)))
    axes.set_xticks(range(112, 131, 3))
    axes.set_title(f"Two neighbours at epsilon = 0.5: no log-ratio above {ratio:.4g}")
    axes.set_xlabel("release")


def selection(axes: Axes) -> None:
    """Three ways of choosing one of ten candidates."""
    utilities = [3, 9, 4, 10, 12, 5, 8, 1, 11, 6]
    places = np.arange(len(utilities))
    kinds = ((PermuteAndFlip, RED), (Exponential, BLUE), (NoisyMax, GREEN))
    for i, (kind, colour) in enumerate(kinds):
        heights = kind(sensitivity=1, epsilon=1).law(utilities).pmf(places)
        axes.bar(places + 0.27 * (i - 1), heights, width=0.27, color=colour, label=kind.__name__)
    axes.set_xticks(places, utilities)
    axes.set_title("The law of a choice at epsilon = 1")
    axes.set_xlabel("utility of the candidate, in the order of the list")


def plan(axes: Axes) -> None:
    """The law inverted: how far off a count may be, for each epsilon."""
    epsilons = np.geomspace(0.02, 3, 60)
    for level, colour in ((0.99, RED), (0.95, BLUE), (0.5, GREEN)):
        reach = [Laplace(sensitivity=1, epsilon=float(e)).noise.interval(level)[1] for e in epsilons]
        axes.step(epsilons, reach, where="post", color=colour, linewidth=1.4, label=f"{100 * level:g} % of the time")
    axes.set_xscale("log")
    axes.set_yscale("symlog", linthresh=1)
    axes.set_ylim(0, 400)
    ticks = (0.02, 0.05, 0.1, 0.2, 0.5, 1, 2)
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_yticks((0, 1, 2, 5, 10, 20, 50, 100, 200), ("0", "1", "2", "5", "10", "20", "50", "100", "200"))
    axes.minorticks_off()
    axes.set_title("The law inverted: a count is this many people off, or fewer")
    axes.set_xlabel("epsilon")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("laws.svg"))
    settings = {"svg.hashsalt": "flou", "font.size": 10, "axes.titlesize": 10.5, "axes.titlelocation": "left"}
    colours = dict.fromkeys(("axes.edgecolor", "xtick.color", "ytick.color"), GREY)
    labels = dict.fromkeys(("axes.labelcolor", "axes.titlecolor", "text.color"), INK)
    with matplotlib.rc_context(settings | colours | labels):
        figure = Figure(figsize=(11, 7), layout="constrained", facecolor="white")
        for axes, draw in zip(figure.subplots(2, 2).flat, (additive, neighbours, selection, plan), strict=True):
            draw(axes)
            axes.spines[["top", "right"]].set_visible(False)
            axes.legend(frameon=False, fontsize=9)
            if draw is not plan:
                axes.set_ylabel("probability")
        figure.savefig(parser.parse_args().out, format="svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
