"""Box plots and distribution functions drawn as SVG: a lane for each box, a panel for each curve."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import Any

from flou.release.axis import Axis
from flou.release.box import Box
from flou.release.entries import worth_drawing
from flou.release.uncertainty import Curve
from flou.report.marks import LETTER, WIDTH, grid, short, whisker

__all__ = ["drawn_boxes", "drawn_curves"]

LANE = 62  # of a box with its intervals below
PANEL, GAP = 200, 44  # the height of a curve, and what lies between two
BESIDE = 3


def drawn_boxes(boxes: Sequence[Box]) -> tuple[str, int]:
    """One lane for each group: whiskers, box and middle, and the intervals of all five numbers below them."""
    longest = max(len(short(box.label)) for box in boxes)
    left = 20 + LETTER * longest if longest else 10
    axis = Axis.around(worth_drawing([entry for box in boxes for entry in box.five]), round(left), WIDTH - 20)
    bottom = LANE * len(boxes) + 4
    parts = [grid(axis, 0, bottom)]
    for i, box in enumerate(boxes):
        y = LANE * i + 22
        low, first, middle, third, high = (axis.at(number) for number in box.heights)
        label = f'<text x="{left - 12:.1f}" y="{y + 4}" text-anchor="end">{escape(short(box.label))}</text>'
        body = (
            f'<path class="edge" d="M{low} {y}H{first}M{third} {y}H{high}M{low} {y - 6}v12M{high} {y - 6}v12"/>'
            f'<rect class="box" x="{first}" y="{y - 13}" width="{max(third - first, 1):.2f}" height="26"/>'
            f'<path class="middle" d="M{middle} {y - 13}v26"/>'
        )
        intervals = "".join(
            whisker(axis, entry.population, y + 31, "population") + whisker(axis, entry.data, y + 22, "data")
            for entry in box.five
        )
        parts.append(f"<g><title>{escape(box.told)}</title>{label if box.label else ''}{body}{intervals}</g>")
    return "".join(parts), bottom + 22


def drawn_curves(curves: Sequence[Curve]) -> tuple[str, int]:
    """A panel for each group, up to three side by side: a step curve in its two bands."""
    columns = min(len(curves), BESIDE)
    wide, tall = WIDTH / columns, PANEL if columns > 1 else 2 * PANEL - 120
    parts = []
    for i, curve in enumerate(curves):
        left, top = wide * (i % columns), (tall + GAP) * (i // columns)
        parts.append(_panel(curve, left + 40, left + wide - 34, top + 20, top + 20 + tall, columns))
    return "".join(parts), round((tall + GAP) * math.ceil(len(curves) / columns)) + 8


def _panel(curve: Curve, left: float, right: float, top: float, bottom: float, columns: int) -> str:
    first, last = float(curve.places[0]), float(curve.places[-1])
    x = Axis(first, last if last > first else first + 1, round(left, 2), round(right, 2))
    y = Axis(0.0, 1.0, round(bottom, 2), round(top, 2))
    parts = []
    for share, text in ((0.0, "0"), (0.25, ""), (0.5, "0.5"), (0.75, ""), (1.0, "1")):
        at = y.at(share)
        parts.append(f'<line class="grid" x1="{x.start}" x2="{x.stop}" y1="{at}" y2="{at}"/>')
        parts.append(f'<text class="soft" x="{x.start - 8}" y="{at + 4}" text-anchor="end">{text}</text>')
    for number, text in x.ticks[:: 1 if columns == 1 else 2]:
        parts.append(f'<text class="soft" x="{x.at(number)}" y="{y.start + 17}" text-anchor="middle">{text}</text>')
    for band, kind in ((curve.population, "wideband"), (curve.data, "band")):
        parts.append(f'<path class="{kind}" d="{_outline(curve, *band, x, y)}"/>')
    parts.append(f'<path class="curve" d="{_steps(curve.places, curve.values, x, y)}"/>')
    if curve.name:
        parts.append(f'<text x="{x.start}" y="{y.stop - 8}">{escape(short(curve.name))}</text>')
    return f"<g>{''.join(parts)}</g>"


def _steps(places: Any, values: Any, x: Axis, y: Axis) -> str:
    """From each point on, its value."""
    later = "".join(f"H{x.at(p)}V{y.at(v)}" for p, v in zip(places[1:].tolist(), values[1:].tolist(), strict=True))
    return f"M{x.at(float(places[0]))} {y.at(float(values[0]))}{later}"


def _outline(curve: Curve, low: Any, high: Any, x: Axis, y: Axis) -> str:
    """Between two points a band reaches from the lower end before to the upper end after."""
    places, up = curve.places[::-1].tolist(), high[::-1].tolist()
    back = f"V{y.at(up[0])}"
    for p, here in zip(places[1:], up[1:], strict=True):
        back += f"V{y.at(here)}H{x.at(p)}" if curve.jumps else f"H{x.at(p)}V{y.at(here)}"
    return f"{_steps(curve.places, low, x, y)}{back}Z"
