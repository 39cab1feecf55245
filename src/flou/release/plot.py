"""A release drawn by Matplotlib: a number with its two intervals, bars and points with error bars, boxes, or curves."""

from __future__ import annotations

import math
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flou.errors import InvalidParameter, MissingExtra
from flou.parameters import shown
from flou.release.axis import Axis
from flou.release.box import boxes
from flou.release.entries import Entry, entries, worth_drawing
from flou.release.plot_shapes import BESIDE, BLUE, GREY, INK, RED, draw_boxes, draw_curves
from flou.release.price import cost_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from flou.release.release import Release

__all__ = ["plot"]

FEW = 30  # so many labels can be read one below the other
FORMATS = (".png", ".svg")


def plot(release: Release, path: str | Path | None = None) -> Figure:
    """The figure; with ``path`` it is written as well, as PNG or SVG."""
    named = isinstance(path, str | PathLike) and Path(path).suffix.lower() in FORMATS
    if path is not None and not named:
        raise InvalidParameter(
            f"path must end in .png or .svg, got {shown(str(path))}.",
            "The ending says in which format the picture is written.",
            "Pass for example plot('mean.svg'), or no path at all to get the figure only.",
        )
    lines = [entry for entry in entries(release) if entry.is_number]
    if not lines:
        raise InvalidParameter(
            f"The {release.title} has no number to draw.",
            "Only numbers have a place on an axis, and there is none: it is a text, or no group was selected.",
            "Print the release, which says what there is.",
        )
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra(
            "The plot needs Matplotlib, which is not installed.",
            "It is an extra, because the answers do not need it.",
            "Install it with pip install 'flou[plots]' and try again.",
        ) from error
    figure = Figure(figsize=(8, 4), dpi=150, facecolor="white", layout="constrained")
    FigureCanvasAgg(figure)
    panels = _drawn(figure, release, lines)
    for axes in panels:
        axes.spines[["top", "right"]].set_visible(False)
        axes.spines[["left", "bottom"]].set_color(GREY)
        axes.tick_params(colors=GREY, labelcolor=INK, labelsize=9)
    panels[0].set_title(release.title, loc="left", color=INK, fontsize=12, fontweight="bold", parse_math=False)
    shapes, names = panels[0].get_legend_handles_labels()
    figure.legend(shapes, names, loc="outside upper right", ncols=3, frameon=False, fontsize=9, labelcolor=INK)
    figure.supxlabel(cost_line(release.cost), x=0.01, ha="left", fontsize=8, color=GREY, wrap=True, parse_math=False)
    if path is not None:
        _save(figure, Path(path))
    return figure


def _drawn(figure: Figure, release: Release, lines: list[Entry]) -> list[Axes]:
    """The panels of the figure, as high as what is drawn asks for."""
    curves, bodies = release.uncertainty.curves(0.95), boxes(release, lines)
    if curves and len(curves) <= FEW:
        figure.set_size_inches(8, 4.5 if len(curves) == 1 else 1.2 + 2.4 * math.ceil(len(curves) / BESIDE))
        return draw_curves(figure, curves, [_short(curve.name) for curve in curves])
    if bodies and len(bodies) <= FEW:
        figure.set_size_inches(8, 2.3 + 0.7 * len(bodies))
        axes = figure.subplots()
        draw_boxes(axes, bodies, [_short(box.label) for box in bodies])
        return [axes]
    figure.set_size_inches(
        8, 1.9 + (0.6 if release.labels is None else 0.28 * len(lines) if len(lines) <= FEW else 2.6)
    )
    axes = figure.subplots()
    if release.labels is None:
        _draw_number(axes, lines)
    elif len(lines) <= FEW:
        _draw_lines(axes, lines, bars=release.is_counts)
    else:
        _draw_columns(axes, lines, bars=release.is_counts)
    return [axes]


def _save(figure: Figure, path: Path) -> None:
    try:
        figure.savefig(path, format=path.suffix.lower().removeprefix("."))
    except OSError:
        raise InvalidParameter(
            f"path must be a file that can be written, got {shown(str(path))}.",
            "The picture has to go somewhere, and no folder is made for it.",
            "Pass a file in a folder of yours, for example plot('mean.svg').",
        ) from None


def _errors(lines: list[Entry], of: str) -> Any:
    """How far the intervals go below and above the values; values outside, which clamping may give, count as ends."""
    pairs = [(entry.value, *getattr(entry, of)) for entry in lines]
    return ([max(value - low, 0.0) for value, low, _ in pairs], [max(high - value, 0.0) for value, _, high in pairs])


def _draw_number(axes: Axes, lines: list[Entry]) -> None:
    for height, of, name, colour in ((1, "data", "these rows", INK), (0, "population", "population", RED)):
        values, errors = [entry.value for entry in lines], _errors(lines, of)
        axes.errorbar(values, [height], xerr=errors, fmt="o", color=colour, capsize=5, label=f"95 % interval, {name}")
    axes.set_yticks([])
    axes.set_ylim(-0.6, 1.6)
    axes.spines["left"].set_visible(False)
    axes.xaxis.set_major_formatter("{x:,g}")


def _styles(thin: float, thick: float, dots: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """How the intervals of many numbers look: of the population thin and red, of the rows on top, with the values."""
    yield "population", {"color": RED, "elinewidth": thin, "fmt": "none", "label": "95 % interval, population"}
    yield "data", {"color": INK, "elinewidth": thick, "fmt": dots, "label": "95 % interval, these rows"}


def _draw_lines(axes: Axes, lines: list[Entry], *, bars: bool) -> None:
    heights, values = list(range(len(lines))), [entry.value for entry in lines]
    if bars:
        axes.barh(heights, values, color=BLUE, label="released")
    for of, style in _styles(0.9, 1.6, "none" if bars else "o"):
        axes.errorbar(values, heights, xerr=_errors(lines, of), capsize=3, markersize=4, **style)
    axes.set_yticks(heights, [_short(entry.label) for entry in lines], parse_math=False)
    axes.set_ylim(len(lines) - 0.4, -0.6)  # the first line on top
    fitting = Axis.around(worth_drawing(lines), 0, 1, zero=bars)
    axes.set_xlim(fitting.low, fitting.high)
    axes.xaxis.set_major_formatter("{x:,g}")


def _draw_columns(axes: Axes, lines: list[Entry], *, bars: bool) -> None:
    places, values = list(range(len(lines))), [entry.value for entry in lines]
    if bars:
        axes.bar(places, values, width=1.0, color=BLUE, label="released")
    for of, style in _styles(0.5, 1.0, "none" if bars else "."):
        axes.errorbar(places, values, yerr=_errors(lines, of), **style)
    chosen = _ticks(len(places))
    axes.set_xticks(chosen, [_short(lines[i].label) for i in chosen], parse_math=False)
    fitting = Axis.around([*worth_drawing(lines), *values], 0, 1, zero=bars)
    axes.set_ylim(fitting.low, fitting.high)
    axes.yaxis.set_major_formatter("{x:,g}")


def _ticks(many: int) -> list[int]:
    """About four of so many places; of 99 percentiles the 25th, the 50th and the 75th."""
    quarter = (many + 1) // 4
    return list(range(quarter - 1, many, quarter) if (many + 1) % 4 == 0 else range(0, many, max(1, many // 4)))


def _short(label: str) -> str:
    return label if len(label) <= 28 else label[:27] + "…"
