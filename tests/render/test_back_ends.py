"""Two back ends draw one description: every kind of mark, in its place, and the same way each time."""

from __future__ import annotations

import itertools
import math
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest

from flou.render import BandMark, BarMark, BoxMark, CellMark, IntervalMark, LineMark, PointMark, RuleMark
from flou.render.axis import Lanes, Scale
from flou.render.matplotlib import plot
from flou.render.picture import Panel, Picture
from flou.render.svg import drawn, figure
from flou.report.style import STYLE

HOSTILE = "<script>alert(\"1\")</script> & '$x$' ]]>"
NUMBERS, TWO = Scale(0.0, 10.0, "number"), Lanes(("one", HOSTILE), ("1", "2"))
MARKS = {
    "bar": ("rect", Panel(NUMBERS, TWO, (BarMark((0.0, 4.0), (-0.3, 0.3), HOSTILE),))),
    "point": ("circle", Panel(NUMBERS, TWO, (PointMark(4.0, 1.0, HOSTILE),))),
    "interval": ("path", Panel(NUMBERS, TWO, (IntervalMark(2.0, 5.0, 0.0, "data"),))),
    "upright": ("path", Panel(NUMBERS, NUMBERS, (IntervalMark(2.0, 5.0, 1.0, "population", upright=True),))),
    "line": ("path", Panel(NUMBERS, NUMBERS, (LineMark((0.0, 5.0, 10.0), (1.0, 2.0, 0.5)),))),
    "band": ("path", Panel(NUMBERS, NUMBERS, (BandMark((0.0, 10.0), (1.0, 2.0), (2.0, 4.0), "data"),))),
    "box": ("rect", Panel(NUMBERS, TWO, (BoxMark((1.0, 2.0, 3.0, 4.0, 9.0), 0.0, 0.2, HOSTILE),))),
    "cell": ("rect", Panel(TWO, TWO, (CellMark(0, 1, "0.5", "0.4 to 0.6", -0.5, HOSTILE),))),
    "rule": ("line", Panel(NUMBERS, TWO, (RuleMark(3.0),))),
}
every_mark = pytest.mark.parametrize("mark", MARKS)


def picture(*panels, **options):
    key = (("data", f"rows {HOSTILE}"), ("band population", "population"), ("cell", "cells"))
    return Picture(HOSTILE, f"What it shows: {HOSTILE}", panels, key, "a caption", **options)


def tree(text):
    return ET.fromstring(text)


@every_mark
@pytest.mark.parametrize("kind", ["wide", "narrow"])
def test_svg_draws_every_mark(mark, kind):
    """Each is there, the drawing is well formed, and no label is anything but a text."""
    tag, panel = MARKS[mark]
    text = drawn(picture(panel), "a", HOSTILE, kind)
    root = tree(text)
    empty = tree(drawn(picture(replace(panel, marks=())), "a", HOSTILE, kind))
    assert len(root.findall(f".//{tag}")) > len(empty.findall(f".//{tag}"))
    assert not root.findall(".//script")
    assert "nan" not in text.lower().replace("name", "")
    (title, description) = (root.find(f"./{name}") for name in ("title", "desc"))
    assert root.attrib["aria-labelledby"].split() == [title.attrib["id"], description.attrib["id"]]
    assert (title.text, description.text) == (HOSTILE, f"What it shows: {HOSTILE}")


@every_mark
def test_matplotlib_draws_every_mark(mark):
    """Each adds something to the axes, which have the limits of the description."""
    _, panel = MARKS[mark]

    def artists(one):
        (axes,) = plot(picture(one)).axes
        return len(axes.patches) + len(axes.lines) + len(axes.collections), axes

    many, axes = artists(panel)
    assert many > artists(replace(panel, marks=()))[0]
    if isinstance(panel.x, Scale):
        assert axes.get_xlim() == (panel.x.low, panel.x.high)
    if isinstance(panel.y, Lanes):
        assert axes.get_ylim() == (1.5, -0.5)
    axes.figure.canvas.draw()


@every_mark
def test_all_classes_have_a_style(mark):
    """What is drawn has a colour on the page, in the dark and on paper too."""
    text = figure(picture(MARKS[mark][1]), "a", "title")
    for names in re.findall(r'class="([^"]+)"', text):
        assert all(re.search(rf"\.{name}\b", STYLE) for name in names.split()), names


@every_mark
def test_pictures_are_the_same_each_time(mark, tmp_path):
    """The same description is the same file."""
    one = picture(MARKS[mark][1])
    assert figure(one, "a", "title") == figure(one, "a", "title")
    for ending in ("svg", "png"):
        files = [tmp_path / f"{i}.{ending}" for i in (1, 2)]
        for file in files:
            plot(one, file)
        assert files[0].read_bytes() == files[1].read_bytes()


def test_marks_lie_where_they_are():
    """A bar begins at zero and ends at its value, in both."""
    panel = MARKS["bar"][1]
    (bar,) = plot(picture(panel)).axes[0].patches
    assert (bar.get_x(), bar.get_width(), bar.get_y()) == (0, 4, -0.3)
    root = tree(drawn(picture(panel), "a", "title"))
    (rect,) = root.findall(".//rect")
    zero, ten = (next(float(t.attrib["x"]) for t in root.findall(".//text") if t.text == s) for s in ("0", "10"))
    grid = sorted(float(line.attrib["x1"]) for line in root.findall(".//line"))
    assert float(rect.attrib["x"]) == grid[0]
    assert float(rect.attrib["width"]) == pytest.approx(0.4 * (grid[-1] - grid[0]), abs=0.2)
    assert zero < ten


@pytest.mark.parametrize("upright", [False, True])
@pytest.mark.parametrize(
    ("low", "high", "caps"),
    [(2, 5, 2), (-math.inf, 5, 1), (-math.inf, math.inf, 0), (-9, -3, 0), (20, 30, 0), (math.nan, 3, None)],
)
def test_ends_without_a_limit(low, high, caps, upright):
    """An end on the axis has a cap, one beyond it an arrow; an interval that is not known is not drawn."""
    across = NUMBERS if upright else TWO
    panel = Panel(NUMBERS, across, (IntervalMark(low, high, 0.0, "data", upright),))
    root = tree(drawn(picture(panel), "a", "title"))
    paths = [path.attrib["d"] for path in root.findall(".//path")]
    (axes,) = plot(picture(panel)).axes
    markers = {line.get_marker(): len(line.get_xdata()) for line in axes.lines}
    if caps is None:
        assert (paths, markers) == ([], {})
        return
    beyond = 1 if caps == 0 and math.isfinite(low) else 2 - caps  # one arrow where all of it lies beyond
    assert markers.get("_" if upright else "|", 0) == caps
    assert sum(markers.values()) == caps + beyond
    assert paths[0].count("M") == caps + beyond + (caps + beyond == 2)


def test_panels():
    """They lie in rows that are about equally full, fewer beside one another on a phone."""
    panels = [replace(MARKS["line"][1], title=f"group {i}") for i in range(40)]
    assert [picture(*panels[:many]).columns(720) for many in (1, 2, 4, 5, 40)] == [1, 2, 4, 3, 4]
    assert picture(*panels).columns(340) == 2
    for kind in ("wide", "narrow"):
        root = tree(drawn(picture(*panels), "a", "title", kind))
        texts = [text.text for text in root.findall(".//text")]
        assert all(panel.title in texts for panel in panels)
    assert len([axes for axes in plot(picture(*panels[:5])).axes if axes.axison]) == 5


def inside(root):
    """Whether all texts begin and end on paper, about."""
    width = float(root.attrib["viewBox"].split()[2])
    for text in root.findall(".//text"):
        x, wide = float(text.attrib["x"]), 7.0 * len(text.text or "")
        shift = {"start": 0.0, "middle": 0.5, "end": 1.0}[text.attrib.get("text-anchor", "start")]
        if x - shift * wide < -2 or x + (1 - shift) * wide > width + 2:
            return False
    return True


@pytest.mark.parametrize("length", [1, 10, 30, 200])
@pytest.mark.parametrize("many", [1, 33])
def test_all_lanes_have_their_names_on_a_phone_too(many, length):
    """Long names lie above their lanes and are shortened; none is left out, and none leaves the paper."""
    names = tuple("n" * (length - 1) + str(i % 10) for i in range(many))
    lanes = Lanes(names, tuple(f"{i:,}.00" for i in range(many)))
    panel = Panel(NUMBERS, lanes, tuple(PointMark(3.0, i) for i in range(many)))
    for kind in ("wide", "narrow"):
        root = tree(drawn(picture(panel), "a", "title", kind))
        texts = [text.text or "" for text in root.findall(".//text")]
        assert sum(text.startswith("n" * min(length - 1, 5)) and text.endswith(names[0][-1]) for text in texts) >= 1
        assert len(texts) >= 2 * many
        assert inside(root)
        heights = [float(circle.attrib["cy"]) for circle in root.findall(".//circle")]
        assert all(b - a > 15 for a, b in itertools.pairwise(heights))
    axes = plot(picture(panel)).axes[0]
    assert len(axes.get_yticklabels()) == many


def test_crowded_lanes_keep_some_names():
    """Where lanes are lower than a line of text, every second or third name is shown, on a phone shortened."""
    names = tuple(f"the department of everything, part {i}" for i in range(99))
    panel = Panel(NUMBERS, Lanes(names, names, pitch=8.0), tuple(PointMark(3.0, i) for i in range(99)))
    for kind in ("wide", "narrow"):
        root = tree(drawn(picture(panel), "a", "title", kind))
        assert sum((text.text or "").startswith("the") for text in root.findall(".//text")) >= 50
        assert inside(root)
    assert len(plot(picture(panel)).axes[0].get_yticklabels()) == 50


def test_a_large_matrix_is_scrolled():
    """On a phone the cells keep their size, so that their numbers can be read."""
    names = tuple("abcdefgh")
    cells = tuple(CellMark(i, j, "0.50", "0.40 to 0.60", 0.5) for i in range(8) for j in range(8))
    one = picture(Panel(Lanes(names), Lanes(names, pitch=52.0), cells))
    text = drawn(one, "a", "title", "narrow")
    assert float(tree(text).attrib["viewBox"].split()[2]) > 8 * 55
    assert "min-width" in text
    assert "min-width" not in drawn(one, "a", "title", "wide")


def test_the_legend_lies_beside_the_data():
    """Title, key and caption cover no panel."""
    drawing = plot(picture(*(replace(MARKS["line"][1], title=f"group {i}") for i in range(5))))
    drawing.canvas.draw()
    (legend,) = drawing.legends
    below = legend.get_window_extent().ymin
    caption = drawing._supxlabel.get_window_extent().ymax
    for axes in drawing.axes:
        if axes.axison:
            box = axes.get_tightbbox()
            assert box.ymax <= below + 1
            assert box.ymin >= caption - 1


def test_titles_of_panels_do_not_meet():
    """A long title ends before that of the next panel, and before the paper does."""
    panels = [replace(MARKS["line"][1], title=f"the department of everything, part {i}") for i in range(4)]
    drawing = plot(picture(*panels))
    drawing.canvas.draw()
    boxes = [axes._left_title.get_window_extent() for axes in drawing.axes]
    ends = [box.xmax for box in boxes]
    assert all(end < box.xmin for end, box in zip(ends, boxes[1:], strict=False))
    assert ends[-1] < drawing.bbox.xmax


def test_a_picture_is_plain():
    """A description is made of numbers and texts, and equals one that is made of the same."""
    _, panel = MARKS["band"]
    assert picture(panel) == picture(replace(panel))
    assert hash(picture(panel)) == hash(picture(replace(panel)))


def test_steps():
    """From each point on a step has its value; a band without jumps reaches up to the end of the next point."""
    x, y = [0.0, 1.0, 2.0], [0.1, 0.4, 1.0]
    line = LineMark.steps(x, y)
    assert (line.x, line.y) == ((0.0, 1.0, 1.0, 2.0, 2.0), (0.1, 0.1, 0.4, 0.4, 1.0))
    band = BandMark.steps(x, y, np.add(y, 1).tolist(), "data", jumps=False)
    assert band.high[0] == 1.4
    assert BandMark.steps(x, y, np.add(y, 1).tolist(), "data", jumps=True).high[0] == 1.1
    assert band.low == line.y
