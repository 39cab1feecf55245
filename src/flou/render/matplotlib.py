"""Pictures drawn by Matplotlib (extra ``plots``): real axes in the units of the description."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from flou.errors import InvalidParameter, MissingExtra
from flou.parameters import shown
from flou.render import BandMark, BarMark, BoxMark, CellMark, IntervalMark, LineMark, PointMark, RuleMark
from flou.render.axis import BOLD, FINE, Lanes, Scale, shortened, width_of
from flou.render.picture import SHADE, WIDE, Of, Panel, Picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["plot"]

FORMATS = (".png", ".svg")
INCH = 90  # pixels of the description
NAME = 300.0  # pixels that the name of a lane may take
TALLEST = 60_000  # dots that Matplotlib can draw one below the other
INK, GREY, LINES, BLUE, MARK, RED = "#1d2733", "#5c6873", "#dfe4e8", "#b5cbde", "#1f4e79", "#c0562f"
COLOURS: dict[Of, str] = {"data": MARK, "population": RED}
OPACITY: dict[Of, float] = {"data": 0.30, "population": 0.20}
T = TypeVar("T")


def plot(picture: Picture, path: str | Path | None = None) -> Figure:
    """The figure; with ``path`` it is written as well, as PNG or SVG."""
    named = isinstance(path, str | PathLike) and Path(path).suffix.lower() in FORMATS
    if path is not None and not named:
        raise InvalidParameter(
            f"path must end in .png or .svg, got {shown(str(path))}.",
            "The ending says in which format the picture is written.",
            "Pass for example plot('mean.svg'), or no path at all to get the figure only.",
        )
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
        from matplotlib.layout_engine import ConstrainedLayoutEngine
    except ImportError as error:
        raise MissingExtra(
            "The plot needs Matplotlib, which is not installed.",
            "It is an extra, because the answers do not need it.",
            "Install it with pip install 'flou[plots]' and try again.",
        ) from error
    columns = picture.columns(WIDE)
    rows = [picture.panels[i : i + columns] for i in range(0, len(picture.panels), columns)]
    heights = [max(panel.height for panel in row) for row in rows]
    tall = (sum(heights) + 52 * len(rows)) / INCH + 1.0
    figure = Figure(
        figsize=(8, tall), dpi=150, facecolor="white", layout=ConstrainedLayoutEngine(w_pad=0.09, h_pad=0.06)
    )
    FigureCanvasAgg(figure)
    grid = figure.subplots(len(rows), columns, squeeze=False, gridspec_kw={"height_ratios": heights}).ravel()
    for axes, panel in zip(grid, picture.panels, strict=False):
        _draw(axes, panel, WIDE / columns)
    for spare in grid[len(picture.panels) :]:
        spare.set_axis_off()
    caption = "\n".join(filter(None, (picture.note, picture.caption)))
    figure.supxlabel(caption, x=0.012, ha="left", fontsize=8, color=GREY, wrap=True, parse_math=False)
    legend = figure.legend(  # its title is that of the picture: nothing lies on anything else
        handles=[_handle(kind, words) for kind, words in picture.key],
        loc="outside upper left",
        ncols=2,
        frameon=False,
        alignment="left",
        fontsize=9,
        labelcolor=INK,
        title=fill(picture.title, 80),
    )
    legend.get_title().set(color=INK, fontsize=12, fontweight="bold", parse_math=False)
    if path is not None:
        _save(figure, Path(path))
    return figure


def _save(figure: Figure, path: Path) -> None:
    from matplotlib import rc_context

    kind = path.suffix.lower().removeprefix(".")
    try:
        with rc_context({"svg.hashsalt": "flou"}):  # so that the same picture is the same file
            figure.savefig(path, format=kind, metadata={"Date": None} if kind == "svg" else None)
    except OSError:
        raise InvalidParameter(
            f"path must be a file that can be written, got {shown(str(path))}.",
            "The picture has to go somewhere, and no folder is made for it.",
            "Pass a file in a folder of yours, for example plot('mean.svg').",
        ) from None


def _draw(axes: Axes, panel: Panel, wide: float) -> None:
    """The marks of a panel, those of a kind at once, on its axes."""
    _frame(axes, panel, wide)
    if bars := _of(panel, BarMark):
        (left, right), (bottom, top) = (np.transpose([getattr(bar, side) for bar in bars]) for side in "xy")
        axes.bar(left, top - bottom, right - left, bottom, align="edge", color=BLUE)
    for band in _of(panel, BandMark):
        axes.fill_between(band.x, band.low, band.high, color=COLOURS[band.of], alpha=OPACITY[band.of], lw=0)
    for line in _of(panel, LineMark):
        axes.plot(line.x, line.y, color=MARK, lw=1.4)
    for rule in _of(panel, RuleMark):
        axes.axvline(rule.x, color=GREY, lw=0.8, zorder=0.9)
    for box in _of(panel, BoxMark):
        _box(axes, box)
    for of in reversed(COLOURS):
        _intervals(axes, panel, of)
    if points := _of(panel, PointMark):
        axes.plot([p.x for p in points], [p.y for p in points], "o", color=MARK, markersize=4.5, zorder=4)
    for cell in _of(panel, CellMark):
        _cell(axes, cell, 0.8 * wide / len(panel.x.names) if isinstance(panel.x, Lanes) else wide)


def _of(panel: Panel, kind: type[T]) -> list[T]:
    return [mark for mark in panel.marks if isinstance(mark, kind)]


def _frame(axes: Axes, panel: Panel, wide: float) -> None:
    """Limits, ticks and grid lines, and the names and texts of lanes."""
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set(color=GREY, visible=isinstance(panel.x, Scale))
    axes.tick_params(colors=GREY, labelcolor=INK, labelsize=9, length=0, pad=6)
    axes.set_axisbelow(True)
    if isinstance(panel.y, Lanes):
        names, many = panel.y.names, len(panel.y.names)
        axes.set_ylim(many - 0.5, -0.5)  # the first on top
        shown = range(0, many, panel.y.every)
        axes.set_yticks(shown, [shortened(names[i], NAME) for i in shown], parse_math=False)
        style: dict[str, Any] = {"va": "center", "fontsize": 9, "color": INK, "parse_math": False}
        style |= {"xycoords": ("axes fraction", "data"), "xytext": (9, 0), "textcoords": "offset points"}
        for i in shown if panel.y.texts else ():
            axes.annotate(panel.y.texts[i], (1, i), **style)
    else:
        _numbers(axes, "y", panel.y, panel.y.ticks(5 if panel.height > 150 else 3))
    if isinstance(panel.x, Lanes):
        names, many = panel.x.names, len(panel.x.names)
        axes.set_xlim(-0.5, many - 0.5)
        axes.set_xticks(range(many), [shortened(name, 0.8 * wide / many) for name in names], parse_math=False)
        axes.xaxis.tick_top()
    else:
        _numbers(axes, "x", panel.x, panel.x.fitting(wide * 0.7), grid=isinstance(panel.y, Lanes))
    if panel.title:
        title = shortened(panel.title, 0.75 * wide, BOLD)  # ticks take the rest
        axes.set_title(title, loc="left", fontsize=9.5, fontweight="bold", color=INK, parse_math=False)


def _numbers(
    axes: Axes, side: Literal["x", "y"], scale: Scale, ticks: Sequence[tuple[float, str]], *, grid: bool = True
) -> None:
    axis = axes.xaxis if side == "x" else axes.yaxis
    axis.set_ticks([at for at, _ in ticks], [text for _, text in ticks], parse_math=False)
    axes.set(**{f"{side}lim": (scale.low, scale.high)})
    axis.set_label_text(scale.name, color=GREY, fontsize=9, parse_math=False)
    if grid:
        axes.grid(axis=side, color=LINES, lw=0.8)


def _intervals(axes: Axes, panel: Panel, of: Of) -> None:
    """Intervals of one kind, with a cap at each end that is on the axis, and an arrow where it goes on."""
    colour, thick, size = COLOURS[of], *((2.0, 5.0) if of == "data" else (1.0, 4.0))
    for upright in (False, True):
        scale, draw = (panel.y, axes.vlines) if upright else (panel.x, axes.hlines)
        found = [one for one in _of(panel, IntervalMark) if (one.of, one.upright) == (of, upright)]
        ends = [(one.at, one.ends(scale)) for one in found if isinstance(scale, Scale)]
        if whole := [(at, *(place for place, _ in pair)) for at, pair in ends if len(pair) == 2]:
            draw(*zip(*whole, strict=True), color=colour, lw=thick, zorder=3)
        for way, shape in enumerate("_^v" if upright else "|><"):  # 0, 1 and -1
            places = [(at, place) for at, pair in ends for place, arrow in pair if arrow % 3 == way]
            if places:
                across, along = zip(*places, strict=True)
                xy = (across, along) if upright else (along, across)
                axes.plot(*xy, shape, color=colour, markersize=size, mew=thick * 0.7, clip_on=False, zorder=3)


def _box(axes: Axes, box: BoxMark) -> None:
    low, first, middle, third, high = box.five
    top, bottom, cap = box.at - box.half, box.at + box.half, box.half / 2
    axes.hlines([box.at, box.at], [low, third], [first, high], color=MARK, lw=1.2)
    axes.vlines([low, high], box.at - cap, box.at + cap, color=MARK, lw=1.2)
    axes.barh(box.at, third - first, left=first, height=2 * box.half, color=BLUE, edgecolor=MARK, lw=1.0)
    axes.vlines(middle, top, bottom, color=MARK, lw=2.4)


def _cell(axes: Axes, cell: CellMark, room: float) -> None:
    colour, shade = MARK if cell.shade >= 0 else RED, SHADE * min(abs(cell.shade), 1.0)
    axes.bar(cell.x, 0.96, 0.98, cell.y - 0.48, color=colour, alpha=shade, lw=0)
    words: dict[str, Any] = {"ha": "center", "parse_math": False, "color": INK}
    axes.text(cell.x, cell.y - 0.08, cell.text, va="center", fontsize=9, **words)
    if width_of(cell.between, FINE) <= room:
        axes.text(cell.x, cell.y + 0.26, cell.between, va="center", fontsize=6.5, **words)


def _handle(kind: str, words: str) -> Any:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    of: Of = "population" if "population" in kind else "data"
    if "band" in kind:
        return Patch(color=COLOURS[of], alpha=OPACITY[of], lw=0, label=words)
    if kind in ("bar", "cell"):
        return Patch(color=BLUE, lw=0, label=words)
    return Line2D([], [], color=COLOURS[of], lw=2.0 if of == "data" else 1.0, label=words)
