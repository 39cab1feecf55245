"""The picture of a release: which marks show its numbers, on which axes, and the whole in words.

Everything comes from what is public: entries with their intervals, curves, labels and the layout. What is drawn depends
on how the entries lie, and on nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, TypeAlias

from flou.release.digits import cost_line, place_of
from flou.release.entries import Entry, entries, worth_drawing
from flou.release.uncertainty import LEVEL, Curve
from flou.render import BandMark, BarMark, BoxMark, CellMark, IntervalMark, LineMark, PointMark, RuleMark
from flou.render.axis import Lanes, Scale, width_of
from flou.render.picture import WIDE, Mark, Of, Panel, Picture

if TYPE_CHECKING:
    from flou.release.release import Release

__all__ = ["Layout", "picture_of"]

Kind: TypeAlias = Literal["values", "units", "coefficients", "bins", "curve", "quantiles", "boxes", "matrix", "table"]
BOTH: tuple[Of, Of] = ("population", "data")  # the wider one lies behind
PANELS, LANES, CELLS = 100, 400, 1600  # that are drawn, at the most
FEW, MANY = 20, 60  # quantiles that have a lane each, and lanes of full height
BARS = 40  # bins whose intervals can be told apart
TALL, LOW = 240.0, 110.0  # pixels of a panel, alone and beside others
LONGEST = 18  # digits of a number
ALIKE = 10  # times as large, and coefficients still share an axis


@dataclass(frozen=True)
class Layout:
    """Groups one after the other, and in each of them the same entries; everything here is public.

    ``kind`` says what the entries are: ``"values"`` with a name each; ``"units"``, values that have units of their own;
    ``"coefficients"``, an intercept and slopes; counts of ``"bins"``; points of a ``"curve"``; ``"quantiles"``; the
    five quantiles of ``"boxes"``; a ``"matrix"`` of columns by columns; or a ``"table"`` of rows by columns.
    """

    kind: Kind
    groups: tuple[str, ...] | None = None  # of a matrix or a table, the rows; None where nothing is grouped
    names: tuple[str, ...] = ()  # of the entries of one group
    places: tuple[float, ...] = ()  # where they are: the edges of bins, the points of a curve, probabilities


def picture_of(release: Release) -> Picture | None:
    """What there is to draw; None where there is no number."""
    lines = entries(release, LEVEL)
    if not any(line.is_number for line in lines):
        return None
    whose = "these respondents" if release.certificate.get("trust", {}).get("model") == "local" else "these rows"
    panels, band = _panels(release, lines, whose)
    shown, many = panels[:PANELS], len(panels[0].y.names) if isinstance(panels[0].y, Lanes) else 0
    groups = max(len(panels), len(release.layout.groups or ()) if release.layout is not None else 0)
    note = ""
    if groups > PANELS and many != groups:
        note = f"The first {PANELS} of {groups:,} groups are drawn."
    elif many == LANES < len(lines):
        note = f"The first {LANES} of {len(lines):,} values are drawn."
    return Picture(
        title=release.title,
        description=" ".join(filter(None, (_told_of_all(release, lines, whose), note))),
        panels=tuple(shown),
        key=_key(shown, band, whose),
        caption=cost_line(release.cost),
        note=note,
        least=max(_least(panel) for panel in shown),
    )


def _panels(release: Release, lines: list[Entry], whose: str) -> tuple[list[Panel], str]:
    """The panels, and what is to be said about their bands."""
    layout = release.layout or Layout("values")
    width = len(lines) // len(layout.groups) if layout.groups else len(lines)
    groups = [lines[i : i + width] for i in range(0, len(lines), width)]
    titles = layout.groups or ("",)
    names = layout.names or tuple(line.label for line in lines)
    several = len(groups) > 1
    along = len(layout.places) > FEW and all(a < b for a, b in pairwise(layout.places))
    column = release.column or ""
    if curves := release.uncertainty.curves(LEVEL):
        return [_distribution(curve, column, len(curves) > 1) for curve in curves], "all points together"
    if release.labels is None:
        return [_number(lines[0], whose)], ""
    if layout.kind in ("matrix", "table") and len(lines) <= CELLS:
        return [_matrix(groups, titles, names, layout.kind == "table")], ""
    if layout.kind in ("units", "coefficients"):
        return _own_units(lines, layout.kind == "coefficients"), ""
    if layout.kind == "boxes":
        return [_boxes(groups, titles, column)], ""
    if layout.kind == "bins":
        name = "" if several else "rows" if release.is_counts else "share"
        scale = Scale.around(worth_drawing(lines), name, zero=True)
        across = Scale(layout.places[0], layout.places[-1], "" if several else column)
        panels = [_histogram(*one, layout.places, across, scale) for one in zip(groups, titles, strict=True)]
        return panels, "bin by bin"
    if layout.kind == "curve" or (layout.kind == "quantiles" and along):
        words = ("share of rows", column) if layout.kind == "quantiles" else (column, "density")
        scale = Scale.around(worth_drawing(lines), "" if several else words[1], zero=layout.kind == "curve")
        across = Scale(layout.places[0], layout.places[-1], "" if several else words[0])
        panels = [_function(*one, layout.places, across, scale) for one in zip(groups, titles, strict=True)]
        return panels, "point by point"
    bars, name = release.is_counts, column if layout.kind == "quantiles" and not several else ""
    axis = Scale.around(worth_drawing(lines), name, zero=bars)
    return [_lanes(group, names, axis, title, bars=bars) for group, title in zip(groups, titles, strict=True)], ""


def _number(line: Entry, whose: str) -> Panel:
    """Two lanes: these rows, and the population."""
    marks: list[Mark] = [IntervalMark(*line.data, 0, "data"), IntervalMark(*line.population, 1, "population")]
    marks += [PointMark(line.value, lane, _told(line)) for lane in (0, 1)]
    names, texts = (whose, "population"), (line.between(line.data), line.between(line.population))
    return Panel(Scale.around(line.numbers), Lanes(names, texts, 32.0), tuple(marks))


def _lanes(
    lines: Sequence[Entry], names: Sequence[str], axis: Scale, title: str = "", bars: bool = False, rule: bool = False
) -> Panel:
    """A lane for each value: its name, a bar or a dot with its intervals, and the number."""
    lines = lines[:LANES]
    pitch = (18.0 if title else 24.0) * min(1.0, max(MANY / len(lines), 0.25))
    marks: list[Mark] = [RuleMark(0.0)] if rule else []
    for i, line in enumerate(lines):
        if line.is_number:
            both, bar = _intervals(line, i), BarMark((0.0, line.value), (i - 0.36, i + 0.36), _told(line))
            marks += [bar, *both] if bars else [*both, PointMark(line.value, i, _told(line))]
    texts = tuple(map(_text, lines))
    return Panel(axis, Lanes(tuple(names[: len(lines)]), texts, pitch), tuple(marks), title)


def _intervals(line: Entry, at: float, *, upright: bool = False) -> list[Mark]:
    """Both intervals of a value; that of the population is the wider one, and lies behind."""
    (a, b), (c, d) = line.population, line.data
    return [IntervalMark(a, b, at, "population", upright), IntervalMark(c, d, at, "data", upright)]


def _histogram(lines: Sequence[Entry], title: str, edges: Sequence[float], across: Scale, scale: Scale) -> Panel:
    """Bars that touch, on an axis of numbers; where they are many, their intervals are a band."""
    marks: list[Mark] = [
        BarMark((a, b), (0.0, line.value), _told(line)) for (a, b), line in zip(pairwise(edges), lines, strict=True)
    ]
    if len(lines) > BARS:
        values = [*lines, lines[-1]]
        marks += [BandMark.steps(edges, *_ends(values, of, scale), of, jumps=True) for of in BOTH]
    else:
        for (a, b), line in zip(pairwise(edges), lines, strict=True):
            marks += _intervals(line, a / 2 + b / 2, upright=True)
    return Panel(across, scale, tuple(marks), title, TALL if scale.name else LOW)


def _function(lines: Sequence[Entry], title: str, places: Sequence[float], across: Scale, scale: Scale) -> Panel:
    """A line in two bands."""
    x = tuple(places)
    bands = [BandMark(x, *_ends(lines, of, scale), of) for of in BOTH]
    line = LineMark(x, tuple(float(line.value) for line in lines))
    return Panel(across, scale, (*bands, line), title, TALL if scale.name else LOW)


def _ends(lines: Sequence[Entry], of: Of, scale: Scale) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The lower and the upper ends of intervals, as far as the axis goes."""
    pairs = [line.data if of == "data" else line.population for line in lines]
    low, high = (tuple(scale.clamped(pair[end]) for pair in pairs) for end in (0, 1))
    return low, high


def _distribution(curve: Curve, column: str, several: bool) -> Panel:
    """Steps in two bands, from 0 to 1."""
    x, values = curve.places.tolist(), curve.values.tolist()
    marks: list[Mark] = []
    for of in BOTH:
        low, high = (end.tolist() for end in (curve.data if of == "data" else curve.population))
        marks.append(BandMark.steps(x, low, high, of, jumps=curve.jumps))
    marks.append(LineMark.steps(x, values))
    across = Scale(x[0], x[-1] if x[-1] > x[0] else x[0] + 1, "" if several else column)
    share, tall = Scale(0.0, 1.0, "" if several else "share of rows"), LOW if several else TALL
    return Panel(across, share, tuple(marks), curve.name, tall)


def _boxes(groups: Sequence[Sequence[Entry]], names: Sequence[str], column: str) -> Panel:
    """A lane for each group: the box, and below it the intervals of its five numbers, a row for each."""
    marks: list[Mark] = []
    for i, (five, name) in enumerate(zip(groups[:PANELS], names, strict=False)):
        if not all(line.is_number for line in five):
            continue
        low, first, middle, third, high = (line.text for line in five)
        head = f"{name}: " if name else ""
        told = f"{head}median {middle}, half of all between {first} and {third}, nine tenths between {low} and {high}"
        marks.append(BoxMark(tuple(line.value for line in five), i - 0.22, 0.18, told))
        for row, line in enumerate(five):
            marks += _intervals(line, i + 0.06 + 0.09 * row)
    axis = Scale.around(worth_drawing([line for five in groups for line in five]), column)
    return Panel(axis, Lanes(tuple(names[:PANELS]), pitch=68.0), tuple(marks))


def _own_units(lines: Sequence[Entry], coefficients: bool) -> list[Panel]:
    """Values that share an axis where they are of about the same size; an intercept never shares that of slopes."""
    exact = [_by_itself(line) for line in lines]
    parts = [exact[:1], exact[1:]] if coefficients else [exact]
    panels = []
    for i, part in enumerate(parts):
        sizes = [max(map(abs, line.numbers), default=0.0) for line in part]
        alike = max(sizes, default=0.0) <= ALIKE * min(sizes, default=0.0)
        slopes = coefficients and i == 1
        for some in [part] if alike else [[line] for line in part]:
            axis = Scale.around(worth_drawing(some) or [0.0], zero=slopes)
            panels.append(_lanes(some, [line.label for line in some], axis, rule=slopes))
    return panels


def _matrix(groups: Sequence[Sequence[Entry]], rows: Sequence[str], columns: Sequence[str], shares: bool) -> Panel:
    """Cells with numbers; the colour is the number relative to the diagonal, or to the largest of a table of shares."""
    largest = max((abs(line.value) for group in groups for line in group if line.is_number), default=1.0) or 1.0
    spreads = [] if shares else [math.sqrt(max(0.0, groups[i][i].value)) for i in range(len(groups))]
    marks = []
    for i, group in enumerate(groups):
        for j, line in enumerate(group):
            if not line.is_number:
                continue
            scale = largest if shares else spreads[i] * spreads[j]
            exact = line if shares else _by_itself(line)
            between = exact.between(exact.data) if line.data[0] < line.data[1] else ""
            marks.append(CellMark(j, i, _text(exact), between, line.value / scale if scale else 0.0, _told(exact)))
    return Panel(Lanes(tuple(columns)), Lanes(tuple(rows), pitch=52.0), tuple(marks))


def _key(panels: Sequence[Panel], band: str, whose: str) -> tuple[tuple[str, str], ...]:
    """What the marks mean, those of these rows first."""
    marks = [mark for panel in panels for mark in panel.marks]
    if any(isinstance(mark, CellMark) for mark in marks):
        return (("cell", "below each value: its 95 % interval, " + whose),)
    found: list[tuple[str, str]] = []
    for of, words in (("data", whose), ("population", "the population behind them")):
        if any(isinstance(mark, IntervalMark) and mark.of == of for mark in marks):
            found.append((of, f"95 % interval, {words}"))
        if any(isinstance(mark, BandMark) and mark.of == of for mark in marks):
            found.append((f"band {of}", f"95 % band, {band}, {words}"))
    return tuple(found)


def _least(panel: Panel) -> float:
    """The pixels that a panel needs from left to right, beside others."""
    if not panel.title:  # they lie one below the other
        return WIDE
    if not isinstance(panel.y, Lanes):
        return 160.0
    names, texts = (max(map(width_of, words), default=0.0) for words in (panel.y.names, panel.y.texts))
    return 120.0 + min(names, 150.0) + texts


def _by_itself(line: Entry) -> Entry:
    """With the digits that its own interval allows, whatever those of others allow."""
    place = place_of(line.data[1] - line.data[0])
    return line if place is None else replace(line, place=place)


def _text(line: Entry) -> str:
    """The value beside its lane, or in its cell: in short where it has more digits than anybody reads."""
    return line.text if len(line.text) <= LONGEST else f"{line.value:.4g}"


def _told(line: Entry) -> str:
    return f"{line.label}: {line.text}, 95 % interval {line.between(line.data)}"


def _told_of_all(release: Release, lines: Sequence[Entry], whose: str) -> str:
    """The picture in words."""
    drawn = [line for line in lines if line.is_number]
    first = drawn[0]
    if release.labels is None:
        sampled = f"; for the population, {first.between(first.population)}" if first.between(first.population) else ""
        return f"{first.text}, with 95 % certainty between {first.between(first.data)} for {whose}{sampled}."
    least, most = min(drawn, key=lambda e: float(e.value)), max(drawn, key=lambda e: float(e.value))
    return (
        f"{len(drawn)} values with 95 % intervals, from {least.text} ({least.label}) to {most.text} ({most.label}). "
        "The numbers are in the table below."
    )
