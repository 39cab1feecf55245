"""Pictures drawn as SVG, for pages: once for a wide screen and for paper, once for a phone.

Colours come from the style sheet of the page, by class, which also hides the drawing that does not fit. Every drawing
has a title and a description, and every text is escaped.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from flou.render import BandMark, BarMark, BoxMark, CellMark, IntervalMark, LineMark, PointMark, RuleMark
from flou.render.axis import BOLD, FINE, Lanes, Scale, shortened, width_of
from flou.render.picture import SHADE, WIDE, Mark, Panel, Picture

__all__ = ["drawn", "figure"]

NARROW = 340  # pixels, on a phone
SIZES = {"wide": WIDE, "narrow": NARROW}
EDGE = 18.0  # what the last tick takes of the margin
CELL = 60  # the least width of a cell that shows its interval


def figure(picture: Picture, name: str, title: str) -> str:
    """Both drawings with their key; ``name`` makes their ids unique."""
    drawings = "".join(drawn(picture, f"{name}{kind[0]}", title, kind) for kind in SIZES)
    key = "".join(f'<li><i class="{mark}"></i>{escape(words)}</li>' for mark, words in picture.key)
    note = f'<p class="soft small">{escape(picture.note)}</p>' if picture.note else ""
    return f'<figure>{drawings}<figcaption><ul class="key">{key}</ul>{note}</figcaption></figure>'


def drawn(picture: Picture, name: str, title: str, kind: str = "wide") -> str:
    """One drawing, for a wide page or a narrow one; a matrix that does not fit is wider, and can be scrolled."""
    width = max([float(SIZES[kind]), *map(_matrix_width, picture.panels)])
    columns = picture.columns(width)
    parts, top, gap = [], 0.0, 26 if columns > 1 else 0
    lanes = [panel.y for panel in picture.panels if isinstance(panel.y, Lanes)]
    rooms = (
        max(map(_names_room, lanes), default=0.0),
        max((width_of(t) for y in lanes for t in y.texts), default=0.0) + 12,
    )
    wide = (width - gap * (columns - 1)) / columns
    for row in range(0, len(picture.panels), columns):
        panels = [
            _panel(panel, (wide + gap) * i, top, wide, rooms)
            for i, panel in enumerate(picture.panels[row : row + columns])
        ]
        parts += [text for text, _ in panels]
        top += max(height for _, height in panels)
    scrolled = f' style="min-width:{_n(width)}px"' if width > SIZES[kind] else ""
    return (
        f'<svg class="{kind}" role="img" viewBox="0 0 {_n(width)} {_n(top)}"{scrolled} '
        f'aria-labelledby="{name}-title {name}-desc"><title id="{name}-title">{escape(title)}</title>'
        f'<desc id="{name}-desc">{escape(picture.description)}</desc>{"".join(parts)}</svg>'
    )


def _matrix_width(panel: Panel) -> float:
    if not isinstance(panel.x, Lanes) or not isinstance(panel.y, Lanes):
        return 0.0
    widest = max((width_of(mark.text) for mark in panel.marks if isinstance(mark, CellMark)), default=0.0)
    return _names_room(panel.y) + len(panel.x.names) * max(CELL, widest + 8)


def _names_room(lanes: Lanes) -> float:
    return max((width_of(shortened(name)) for name in lanes.names), default=0.0) + 12


@dataclass(frozen=True)
class _Frame:
    """Where a panel lies on paper: numbers, and lanes, to pixels."""

    panel: Panel
    left: float
    right: float
    top: float
    bottom: float
    above: float = 0.0  # of every lane, the part that its name takes

    def x(self, number: float) -> float:
        axis = self.panel.x
        share = axis.share(number) if isinstance(axis, Scale) else (number + 0.5) / len(axis.names)
        return self.left + share * (self.right - self.left)

    def y(self, number: float) -> float:
        axis = self.panel.y
        if isinstance(axis, Scale):
            return self.bottom - axis.share(number) * (self.bottom - self.top)
        lane = math.floor(number + 0.5)
        pitch = (self.bottom - self.top) / len(axis.names)
        return self.top + lane * pitch + self.above + (number + 0.5 - lane) * (pitch - self.above)


def _panel(panel: Panel, left: float, top: float, wide: float, rooms: tuple[float, float]) -> tuple[str, float]:
    """A panel and its height; ``rooms`` are what names and texts of lanes take, in all panels."""
    start = top + (26 if panel.title else 6)
    y, above, right = panel.y, 0.0, left + wide - EDGE
    if isinstance(y, Scale):
        start += 18 if y.name else 4
        inner = left + 10 + max(width_of(text) for _, text in y.ticks())
    else:
        names, texts = rooms
        if isinstance(panel.x, Scale) and names + texts > 0.55 * wide:  # then they lie above lanes that are high enough
            above, names, texts = (17.0, 8.0, EDGE) if y.every == 1 else (0.0, min(names, 0.4 * wide), EDGE)
        inner, right = left + names, left + wide - (texts if isinstance(panel.x, Scale) else 0.0)
    if isinstance(panel.x, Lanes):
        start += 22
    height = panel.height + (above * len(y.names) if isinstance(y, Lanes) else 0.0)
    frame = _Frame(panel, inner, right, start, start + height, above)
    parts = [_text(left, top + 14, shortened(panel.title, wide, BOLD), "start", "name")] if panel.title else []
    parts += [*_upright(frame, left, left + wide), *_across(frame, left, left + wide)]
    parts += [_mark(mark, frame) for mark in panel.marks]
    below = 8 if isinstance(panel.x, Lanes) else 44 if panel.x.name else 30
    return f"<g>{''.join(parts)}</g>", frame.bottom + below - top


def _across(frame: _Frame, left: float, right: float) -> list[str]:
    """The names of columns, or ticks with grid lines."""
    axis = frame.panel.x
    if isinstance(axis, Lanes):
        room = (frame.right - frame.left) / len(axis.names)
        return [_text(frame.x(i), frame.top - 8, shortened(name, room), "middle") for i, name in enumerate(axis.names)]
    parts, end = [], -math.inf
    for number, text in axis.fitting(frame.right - frame.left):
        x, half = frame.x(number), width_of(text) / 2
        if isinstance(frame.panel.y, Lanes):
            parts.append(_line("grid", x, x, frame.top, frame.bottom))
        else:
            parts.append(_line("grid", x, x, frame.bottom, frame.bottom + 4))
        at = min(max(x, left + half), right - half)
        if at - half > end + 4:
            parts.append(_text(at, frame.bottom + 18, text, "middle", "soft"))
            end = at + half
    if axis.name:
        parts.append(_text(frame.right, frame.bottom + 34, shortened(axis.name, right - left), "end", "soft"))
    return parts


def _upright(frame: _Frame, left: float, right: float) -> list[str]:
    """Names and texts of lanes, or ticks with grid lines."""
    axis, parts = frame.panel.y, []
    if isinstance(axis, Scale):
        for number, text in axis.ticks(5 if frame.bottom - frame.top > 150 else 3):
            y = frame.y(number)
            parts += [_line("grid", frame.left, frame.right, y, y)]
            parts += [_text(frame.left - 6, y + 4, text, "end", "soft")]
        if axis.name:
            parts.append(_text(left, frame.top - 10, axis.name, "start", "soft"))
        return parts
    texts = axis.texts if frame.above or max(map(width_of, axis.texts), default=0.0) < right - frame.right else ()
    for i, name in list(enumerate(axis.names))[:: axis.every]:
        text = texts[i] if texts else ""
        if frame.above:
            y, room = frame.y(i - 0.5) - 4, right - left - width_of(text) - 12
            parts.append(_text(left, y, shortened(name, room), "start"))
        else:
            y, room = frame.y(i) + 4, frame.left - left - 11
            parts.append(_text(frame.left - 10, y, shortened(name, room), "end"))
        parts.append(_text(right, y, text, "end") if text else "")
    return parts


def _mark(mark: Mark, frame: _Frame) -> str:
    match mark:
        case BarMark((x1, x2), (y1, y2), told):
            (a, b), (c, d) = sorted(map(frame.x, (x1, x2))), sorted(map(frame.y, (y1, y2)))
            return _rectangle("bar", a, b, c, d, told)
        case PointMark(x, y, told):
            held = all(axis.holds(v) for axis, v in ((frame.panel.x, x), (frame.panel.y, y)) if isinstance(axis, Scale))
            tip = f"<title>{escape(told)}</title>"
            return f'<circle class="dot" cx="{_n(frame.x(x))}" cy="{_n(frame.y(y))}" r="4">{tip}</circle>' * held
        case IntervalMark():
            return _interval(mark, frame)
        case LineMark(xs, ys):
            return f'<path class="curve" d="{_path(xs, ys, frame)}"/>'
        case BandMark(xs, low, high, of):
            back = _path(xs[::-1], high[::-1], frame)
            return f'<path class="band {of}" d="{_path(xs, low, frame)}L{back[1:]}Z"/>'
        case BoxMark():
            return _box(mark, frame)
        case CellMark():
            return _cell(mark, frame)
        case RuleMark(x):
            return _line("rule", frame.x(x), frame.x(x), frame.top, frame.bottom)


def _interval(mark: IntervalMark, frame: _Frame) -> str:
    axis = frame.panel.y if mark.upright else frame.panel.x
    assert isinstance(axis, Scale)
    along, at = (frame.y, frame.x(mark.at)) if mark.upright else (frame.x, frame.y(mark.at))
    ends, half = mark.ends(axis), 3 if mark.of == "data" else 2.5
    strokes = [[(along(place), at) for place, _ in ends]] if len(ends) == 2 else []
    for place, arrow in ends:
        tip, back = along(place), 4 * arrow * (1 if mark.upright else -1)
        strokes.append([(tip + back, at - half), (tip, at), (tip + back, at + half)])
    turned = [[(q, p) if mark.upright else (p, q) for p, q in points] for points in strokes]
    path = "".join("M" + "L".join(f"{_n(x)} {_n(y)}" for x, y in points) for points in turned)
    return f'<path class="{mark.of}" fill="none" d="{path}"/>' if path else ""


def _box(mark: BoxMark, frame: _Frame) -> str:
    low, first, middle, third, high = map(frame.x, mark.five)
    y, top, bottom = (frame.y(mark.at + part * mark.half) for part in (0, -1, 1))
    cap = (bottom - top) / 4
    ends = "".join(f"M{_n(x)} {_n(y - cap)}V{_n(y + cap)}" for x in (low, high))
    return (
        f'<path class="edge" d="M{_n(low)} {_n(y)}H{_n(first)}M{_n(third)} {_n(y)}H{_n(high)}{ends}"/>'
        f"{_rectangle('box', first, max(third, first + 1), top, bottom, mark.told)}"
        f'<path class="middle" d="M{_n(middle)} {_n(top)}V{_n(bottom)}"/>'
    )


def _cell(mark: CellMark, frame: _Frame) -> str:
    a, b, c, d = (*map(frame.x, (mark.x - 0.5, mark.x + 0.5)), *map(frame.y, (mark.y - 0.5, mark.y + 0.5)))
    kind = "cell" if mark.shade >= 0 else "cell below"
    shade = f' fill-opacity="{SHADE * min(abs(mark.shade), 1):.2f}"'
    lines = [mark.between]
    if width_of(mark.between, FINE) > b - a - 4:
        first, _, last = mark.between.partition(" to ")
        lines = [f"{first} to", last]
    fits = all(width_of(line, FINE) <= b - a for line in lines) and mark.between
    lines = lines if fits else []
    middle, y = (a + b) / 2, (c + d) / 2 + 5 - 6.5 * len(lines)
    texts = [_text(middle, y, mark.text, "middle")]
    texts += [_text(middle, y + 14 + 12 * i, line, "middle", "fine") for i, line in enumerate(lines)]
    return _rectangle(kind, a + 1, b - 1, c + 1, d - 1, mark.told, shade) + "".join(texts)


def _path(xs: Sequence[float], ys: Sequence[float], frame: _Frame) -> str:
    return "M" + "L".join(f"{_n(frame.x(x))} {_n(frame.y(y))}" for x, y in zip(xs, ys, strict=True))


def _rectangle(kind: str, a: float, b: float, c: float, d: float, told: str = "", more: str = "") -> str:
    size = f'x="{_n(a)}" y="{_n(c)}" width="{_n(b - a)}" height="{_n(d - c)}"'
    return f'<rect class="{kind}" {size}{more}><title>{escape(told)}</title></rect>'


def _line(kind: str, x1: float, x2: float, y1: float, y2: float) -> str:
    return f'<line class="{kind}" x1="{_n(x1)}" x2="{_n(x2)}" y1="{_n(y1)}" y2="{_n(y2)}"/>'


def _text(x: float, y: float, text: str, anchor: str, kind: str = "") -> str:
    look = f' class="{kind}"' if kind else ""
    return f'<text{look} x="{_n(x)}" y="{_n(y)}" text-anchor="{anchor}">{escape(text)}</text>'


def _n(number: float) -> str:
    """A coordinate, to a tenth of a pixel."""
    return f"{number:.1f}".removesuffix(".0")
