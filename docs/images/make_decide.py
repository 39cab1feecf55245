"""Draw docs/images/decide.svg: a decision about a uniform real, taken in floats, in integers, or after more bits.

python docs/images/make_decide.py [--out FILE]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from flou.laws import DiscreteLaplace

INK, GREY, RED, DOUBT = "#22303c", "#6b7780", "#c0392b", "#f0c9c4"
SHADES = ("#3b6ea5", "#6d95be", "#9dbad6", "#c6d7e7", "#e3ecf4")
LAW = DiscreteLaplace(2)


def tail(k: int) -> float:
    """P(|K| >= k)."""
    return 1.0 if k == 0 else 2 * float(LAW.sf(k - 1))


def word(axes: Axes, x: float, width: float, text: str, colour: str = INK) -> None:
    """What one 64-bit word leaves open: a cell of the line."""
    axes.fill_between([x, x + width], 0.02, 0.98, color=colour, alpha=0.85, linewidth=0)
    axes.annotate(text, (x + width / 2, 1), (0, 5), textcoords="offset points", ha="center", color=colour, fontsize=9)


def whole(axes: Axes) -> None:
    """All of [0, 1), cut where the size of the noise changes."""
    for k, shade in enumerate(SHADES):
        axes.axvspan(tail(k + 1), tail(k), color=shade, linewidth=0)
        colour = "white" if k < 2 else INK
        axes.text((tail(k) + tail(k + 1)) / 2, 0.5, f"|K| = {k}", ha="center", va="center", fontsize=9.5, color=colour)
    axes.axvspan(0, tail(len(SHADES)), color="white", linewidth=0)
    axes.text(tail(len(SHADES)) / 2, 0.5, "5, 6, ...", ha="center", va="center", fontsize=9.5)
    word(axes, 0.53, 0.003, "U")
    axes.set_xlim(0, 1)
    axes.set_xticks([tail(k) for k in range(5)], [f"{tail(k):.4f}" for k in range(5)])
    axes.set_title("A uniform U decides: the size of discrete Laplace noise of scale 2")


def close_up(axes: Axes) -> None:
    """Near a cut: a margin that covers all rounding."""
    axes.axvspan(-1, 0, color=SHADES[2], linewidth=0)
    axes.axvspan(0, 1, color=SHADES[1], linewidth=0)
    axes.axvspan(-0.12, 0.12, color=DOUBT, linewidth=0)
    axes.axvline(0, color=RED, linewidth=1.4)
    word(axes, -0.62, 0.012, "outside the margin: floats decide, rightly")
    word(axes, 0.06, 0.012, "in doubt: integers decide", RED)
    axes.text(-0.8, 0.5, "|K| = 2", va="center", fontsize=9.5)
    axes.text(0.8, 0.5, "|K| = 1", va="center", ha="right", fontsize=9.5, color="white")
    axes.set_xlim(-1, 1)
    axes.set_xticks([-0.12, 0, 0.12], ["margin", "cut", "margin"])
    axes.set_title("Enlarged around the cut between 2 and 1: the margin is in truth narrower than one part in 10^12")


def inside(axes: Axes) -> None:
    """The cut lies inside the cell of the word: the bits so far cannot know."""
    axes.axvspan(-1, 0, color=SHADES[2], linewidth=0)
    axes.axvspan(0, 1, color=SHADES[1], linewidth=0)
    axes.axvline(0, color=RED, linewidth=1.4)
    word(axes, -0.35, 0.6, "the bits so far: the cut lies inside their cell", GREY)
    axes.fill_between([0.17, 0.2], 0.02, 0.98, color=INK, linewidth=0)
    axes.text(0.28, 0.5, "64 more bits of the same U: decided, |K| = 1", va="center", fontsize=9, color=INK)
    axes.set_xlim(-1, 1)
    axes.set_xticks([0], ["cut"])
    axes.set_title("Enlarged once more: if the cut is inside the cell, more bits are drawn")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("decide.svg"))
    settings = {"svg.hashsalt": "flou", "font.size": 9.5, "axes.titlesize": 10.5, "axes.titlelocation": "left"}
    labels = dict.fromkeys(("axes.titlecolor", "text.color", "xtick.labelcolor"), INK)
    with matplotlib.rc_context(settings | labels):
        figure = Figure(figsize=(9.5, 5), layout="constrained", facecolor="white")
        figure.get_layout_engine().set(hspace=0.12)
        for axes, draw in zip(figure.subplots(3), (whole, close_up, inside), strict=True):
            draw(axes)
            axes.set_yticks([])
            axes.set_ylim(0, 1)
            axes.set_title(axes.get_title(loc="left"), loc="left", pad=20)
            axes.spines[["top", "right", "left"]].set_visible(False)
        figure.savefig(parser.parse_args().out, format="svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
