"""Answers drawn as SVG: a number with its two intervals, lines of bars or dots, columns of many values, or shapes.

Colours come from the style sheet of the page, by class. Every picture has a title and a description, and every label
is escaped.
"""

from __future__ import annotations

import math
from html import escape

from flou.release import Release
from flou.release.axis import Axis
from flou.release.box import boxes
from flou.release.entries import Entry, worth_drawing
from flou.report.marks import LETTER, WIDTH, grid, short, whisker
from flou.report.shapes import drawn_boxes, drawn_curves

__all__ = ["FEW", "figure", "kind"]

LANE = 26
FEW = 30  # so many labels can be read one below the other


def figure(release: Release, lines: list[Entry], name: str, title: str) -> str:
    """The picture of one answer; ``name`` makes its ids unique. Empty where there is nothing to draw."""
    drawn = [line for line in lines if line.is_number]
    if not drawn:
        return ""
    what = kind(release, drawn)
    if what == "bands":
        body, height = drawn_curves(release.uncertainty.curves(0.95))
    elif what == "boxes":
        body, height = drawn_boxes(boxes(release, drawn))
    elif release.labels is None:
        body, height = _number(drawn[0])
    elif len(drawn) <= FEW:
        body, height = _lanes(drawn, bars=release.is_counts)
    else:
        body, height = _columns(drawn, bars=release.is_counts)
    return (
        f'<svg role="img" viewBox="0 0 {WIDTH} {height}" aria-labelledby="{name}-title {name}-desc">'
        f'<title id="{name}-title">{escape(title)}</title>'
        f'<desc id="{name}-desc">{escape(_described(drawn, release))}</desc>{body}</svg>'
    )


def kind(release: Release, lines: list[Entry]) -> str:
    """What is drawn: "bands" around curves, "boxes", "intervals" of few values, or "columns" of many."""
    if 1 <= len(release.uncertainty.curves(0.95)) <= FEW:
        return "bands"
    if 1 <= len(boxes(release, lines)) <= FEW:
        return "boxes"
    return "intervals" if len(lines) <= FEW else "columns"


def _described(lines: list[Entry], release: Release) -> str:
    first = lines[0]
    if release.labels is None:
        sampled = f"; for the population, {first.between(first.population)}" if first.between(first.population) else ""
        return f"{first.text}, with 95 % certainty between {first.between(first.data)} for these rows{sampled}."
    least, most = min(lines, key=lambda e: float(e.value)), max(lines, key=lambda e: float(e.value))
    return (
        f"{len(lines)} values with 95 % intervals, from {least.text} ({least.label}) to {most.text} ({most.label}). "
        "The numbers are in the table below."
    )


def _number(line: Entry) -> tuple[str, int]:
    """Two lanes: these rows, and the population."""
    axis = Axis.around(line.numbers, 110, WIDTH - 20)
    parts = [grid(axis, 6, 70)]
    for lane, (kind, words, pair) in enumerate(
        (("data", "these rows", line.data), ("population", "population", line.population))
    ):
        middle = 22 + lane * 30
        parts.append(f'<text class="soft" x="0" y="{middle + 4}">{words}</text>')
        parts.append(whisker(axis, pair, middle, kind))
        parts.append(_dot(axis, line, middle))
    return "".join(parts), 92


def _lanes(lines: list[Entry], *, bars: bool) -> tuple[str, int]:
    """One line for each value: its label, a bar or a dot with its intervals, and the number."""
    left = 20 + LETTER * max(len(short(line.label)) for line in lines)
    right = WIDTH - 20 - LETTER * max(len(line.text) for line in lines)
    axis = Axis.around(worth_drawing(lines), round(left), round(right), zero=bars)
    bottom = LANE * len(lines) + 4
    parts = [grid(axis, 0, bottom)]
    for i, line in enumerate(lines):
        middle = LANE * i + LANE // 2 + 2
        mark = _dot(axis, line, middle)
        if bars:
            zero, end = axis.at(0), axis.at(line.value)
            mark = (
                f'<rect class="bar" x="{min(zero, end)}" y="{middle - 8}" width="{abs(end - zero):.2f}" height="16"/>'
            )
        whiskers = whisker(axis, line.population, middle, "population") + whisker(axis, line.data, middle, "data")
        label = f'<text x="{axis.start - 12}" y="{middle + 4}" text-anchor="end">{escape(short(line.label))}</text>'
        number = f'<text x="{WIDTH}" y="{middle + 4}" text-anchor="end">{escape(line.text)}</text>'
        drawn = mark + whiskers if bars else whiskers + mark
        parts.append(f"<g><title>{escape(_told(line))}</title>{label}{drawn}{number}</g>")
    return "".join(parts), bottom + 22


def _columns(lines: list[Entry], *, bars: bool) -> tuple[str, int]:
    """Many values side by side, with a few of their labels."""
    top, bottom, left = 8, 240, 70
    axis = Axis.around(worth_drawing(lines), bottom, top, zero=bars)
    wide = (WIDTH - left) / len(lines)
    parts = []
    for number, text in axis.ticks:
        y = axis.at(number)
        parts.append(f'<line class="grid" x1="{left}" x2="{WIDTH}" y1="{y}" y2="{y}"/>')
        parts.append(f'<text class="soft" x="{left - 10}" y="{y + 4}" text-anchor="end">{text}</text>')
    for i, line in enumerate(lines):
        x = left + wide * i
        low, high = (axis.at(end) if math.isfinite(end) else axis.at(line.value) for end in line.data)
        y = axis.at(line.value)
        mark = f'<circle class="dot" cx="{x + wide / 2:.2f}" cy="{y}" r="2"/>' if axis.holds(line.value) else ""
        if bars:
            tall = abs(axis.at(0) - y)
            gap = 0.5 if wide > 4 else 0
            mark = f'<rect class="bar" x="{x + gap:.2f}" y="{y}" width="{wide - 2 * gap:.2f}" height="{tall:.2f}"/>'
        middle = f"{x + wide / 2:.2f}"
        stroke = f'<line class="data" x1="{middle}" x2="{middle}" y1="{low}" y2="{high}" stroke-opacity=".7"/>'
        parts.append(f"<g><title>{escape(_told(line))}</title>{mark}{stroke}</g>")
    step = max(1, len(lines) // 4)
    for i in range(0, len(lines), step):
        if left + wide * i < WIDTH - 60:
            label = escape(short(lines[i].label))
            parts.append(f'<text class="soft" x="{left + wide * i:.2f}" y="{bottom + 20}">{label}</text>')
    return "".join(parts), bottom + 28


def _dot(axis: Axis, line: Entry, middle: float) -> str:
    return f'<circle class="dot" cx="{axis.at(line.value)}" cy="{middle}" r="4.5"/>' if axis.holds(line.value) else ""


def _told(line: Entry) -> str:
    return f"{line.label}: {line.text}, 95 % interval {line.between(line.data)}"
