"""Box plots and distribution functions drawn by Matplotlib."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flou.release.axis import Axis
from flou.release.box import Box
from flou.release.entries import worth_drawing
from flou.release.uncertainty import Curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["BESIDE", "draw_boxes", "draw_curves"]

INK, GREY, BLUE, RED = "#22303c", "#6b7780", "#a9c1d6", "#c0392b"
BESIDE = 3  # curves side by side


def draw_boxes(axes: Axes, boxes: Sequence[Box], names: Sequence[str]) -> None:
    """One lane for each group: whiskers, box and middle, and the intervals of all five numbers below them."""
    lines = [entry for box in boxes for entry in box.five]
    for lane, box in enumerate(boxes):
        low, first, middle, third, high = box.heights
        axes.plot([low, first], [lane, lane], color=INK, lw=1.2)
        axes.plot([third, high], [lane, lane], color=INK, lw=1.2)
        axes.barh(lane, third - first, left=first, height=0.44, color=BLUE, edgecolor=INK, lw=1.0)
        axes.plot([middle, middle], [lane - 0.22, lane + 0.22], color=INK, lw=2.4, solid_capstyle="butt")
        for end in (low, high):
            axes.plot([end, end], [lane - 0.12, lane + 0.12], color=INK, lw=1.2)
    values = [float(entry.value) for entry in lines]
    places = np.repeat(np.arange(len(boxes), dtype=float), 5)
    for of, colour, below in (("data", INK, 0.31), ("population", RED, 0.41)):
        ends = [getattr(entry, of) for entry in lines]
        errors = [[max(v - low, 0.0) for v, (low, _) in zip(values, ends, strict=True)]]
        errors.append([max(high - v, 0.0) for v, (_, high) in zip(values, ends, strict=True)])
        name = f"95 % intervals, {'these rows' if of == 'data' else of}"
        style: dict[str, Any] = {"color": colour, "elinewidth": 1.2, "capsize": 2.5, "markersize": 2.5, "label": name}
        axes.errorbar(values, places + below, xerr=errors, fmt=".", **style)
    axes.set_yticks(list(range(len(boxes))) if any(names) else [], list(names) if any(names) else [], parse_math=False)
    axes.set_ylim(len(boxes) - 0.4, -0.6)  # the first on top
    fitting = Axis.around(worth_drawing(lines), 0, 1)
    axes.set_xlim(fitting.low, fitting.high)
    axes.xaxis.set_major_formatter("{x:,g}")


def draw_curves(figure: Figure, curves: Sequence[Curve], names: Sequence[str]) -> list[Axes]:
    """One panel for each group: a step curve in two bands, in which it lies everywhere with 95 % probability."""
    columns = min(len(curves), BESIDE)
    panels = figure.subplots(math.ceil(len(curves) / columns), columns, sharex=True, sharey=True, squeeze=False).ravel()
    for i, (axes, curve, name) in enumerate(zip(panels, curves, names, strict=False)):
        axes.tick_params(labelbottom=i + columns >= len(curves))
        for (low, high), colour, opacity, whose in (
            (curve.population, RED, 0.16, "the population"),
            (curve.data, INK, 0.30, "these rows"),
        ):
            x, ends = outline(curve, low, high)
            axes.fill_between(x, ends[0], ends[1], color=colour, alpha=opacity, lw=0, label=f"95 % band, {whose}")
        axes.step(curve.places, curve.values, where="post", color=INK, lw=1.4, label="released")
        axes.set_ylim(-0.02, 1.02)
        axes.xaxis.set_major_formatter("{x:,g}")
        if columns > 1:
            axes.locator_params(axis="x", nbins=6 // columns)  # labels of neighbours do not meet
        if name:
            axes.text(0.03, 0.92, name, transform=axes.transAxes, fontsize=9, color=INK, parse_math=False)
    for spare in panels[len(curves) :]:
        spare.set_axis_off()
    return list(panels[: len(curves)])


def outline(curve: Curve, low: NDArray[Any], high: NDArray[Any]) -> tuple[NDArray[Any], tuple[NDArray[Any], ...]]:
    """A band as a polygon: from a point to the next it lies above the lower end here, and below the upper one there."""
    x = np.repeat(curve.places, 2)[1:]
    upper = high if curve.jumps else np.append(high[1:], high[-1])
    return x, (np.repeat(low, 2)[:-1], np.repeat(upper, 2)[:-1])
