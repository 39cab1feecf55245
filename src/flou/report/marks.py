"""The small pieces of a picture: grid lines with numbers, an interval with its ends, a label that fits."""

from __future__ import annotations

import math

from flou.release.axis import Axis

__all__ = ["LETTER", "WIDTH", "grid", "short", "whisker"]

WIDTH = 720
LETTER = 7.2  # the width of a letter, about
LONGEST = 30  # letters of a label


def grid(axis: Axis, top: float, bottom: float) -> str:
    """Lines at round numbers, with the numbers below."""
    parts = []
    for number, text in axis.ticks:
        x = axis.at(number)
        parts.append(f'<line class="grid" x1="{x}" x2="{x}" y1="{top}" y2="{bottom}"/>')
        parts.append(f'<text class="soft" x="{x}" y="{bottom + 17}" text-anchor="middle">{text}</text>')
    return "".join(parts)


def whisker(axis: Axis, pair: tuple[float, float], middle: float, kind: str) -> str:
    """An interval with its two ends; an end that does not fit on the axis has no cap."""
    if any(math.isnan(end) for end in pair):
        return ""
    a, b = (axis.at(end) for end in pair)
    half = 5 if kind == "data" else 4
    caps = "".join(f"M{axis.at(end)} {middle - half}V{middle + half}" for end in pair if axis.holds(end))
    return f'<path class="{kind}" fill="none" d="M{a} {middle}H{b}{caps}"/>'


def short(label: str) -> str:
    """A label that fits."""
    return label if len(label) <= LONGEST else label[: LONGEST - 1] + "…"
