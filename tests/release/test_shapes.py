"""Box plots and distribution functions as pictures: what is drawn is what was released."""

from __future__ import annotations

import numpy as np
import pytest

import flou
from flou.ask import Answer, Answers
from flou.release.box import boxes
from flou.release.entries import entries
from flou.release.plot_shapes import outline
from flou.report import page
from flou.report.figure import figure, kind
from release.test_release import Balanced

KINDS = ["box", "boxes", "ecdf", "ecdfs", "whole"]


@pytest.fixture(scope="module")
def shapes(table):
    groups = table.group_by("department")
    return {
        "box": table.boxplot("salary", epsilon=2),
        "boxes": groups.boxplot("salary", epsilon=2),
        "ecdf": table.ecdf("salary", epsilon=2),
        "ecdfs": groups.ecdf("salary", points=20, epsilon=2),
        "whole": table.ecdf("age", points=200, epsilon=2),
    }


def test_boxes_are_the_five_numbers(shapes, releases):
    """One box of one release, one for each group of another, and none of anything else."""
    (box,) = boxes(shapes["box"], entries(shapes["box"]))
    assert (box.label, box.heights) == ("", tuple(shapes["box"].value.tolist()))
    labels = [box.label for box in boxes(shapes["boxes"], entries(shapes["boxes"]))]
    assert labels == ["care", "<script>alert(1)</script>", "a & b", "other"]
    for other in releases.values():
        assert boxes(other, entries(other)) == []
        assert other.uncertainty.curves(0.95) == ()


def test_curves_are_the_release(shapes):
    """Points, values and both bands of every group; between two points a band reaches from one to the other."""
    release = shapes["ecdfs"]
    curves = release.uncertainty.curves(0.95)
    assert curves[0].name == "care"
    assert np.concatenate([curve.values for curve in curves]).tolist() == release.value.tolist()
    for of in ("data", "population"):
        for end in (0, 1):
            drawn = np.concatenate([getattr(curve, of)[end] for curve in curves])
            assert drawn.tolist() == release.interval(0.95, of=of, simultaneous=True)[end].tolist()
    curve = curves[0]
    assert not curve.jumps
    x, (low, high) = outline(curve, *curve.data)
    middle = np.flatnonzero(x == curve.places[3])[-1]
    assert (low[middle], high[middle]) == (curve.data[0][3], curve.data[1][4])
    (whole,) = shapes["whole"].uncertainty.curves(0.95)
    assert whole.jumps
    x, (low, high) = outline(whole, *whole.data)
    middle = np.flatnonzero(x == whole.places[3])[-1]
    assert (low[middle], high[middle]) == (whole.data[0][3], whole.data[1][3])


@pytest.mark.parametrize("ending", ["png", "svg"])
@pytest.mark.parametrize("name", KINDS)
def test_plot(shapes, name, ending, tmp_path):
    """Each is drawn and written: a lane for each box, a panel for each curve."""
    path = tmp_path / f"picture.{ending}"
    drawn = shapes[name].plot(path)
    assert path.read_bytes()[:5] in (b"\x89PNG\r", b"<?xml")
    panels = [axes for axes in drawn.axes if axes.axison]
    assert len(panels) == (4 if name == "ecdfs" else 1)
    if name.startswith("box"):
        assert len(panels[0].patches) == (1 if name == "box" else 4)
        assert panels[0].patches[0].get_x() == pytest.approx(shapes[name].value[1])
    else:
        (line,) = panels[0].lines
        assert line.get_ydata()[-1] == 1


@pytest.mark.parametrize("name", KINDS)
def test_report(shapes, name):
    """The picture of the page is well formed, escapes labels, and has a key for what it draws."""
    release = shapes[name]
    lines = entries(release)
    text = figure(release, lines, "a1", "title")
    parser = Balanced()
    parser.feed(text)
    assert parser.open == []
    assert "script" not in parser.tags
    assert "NaN" not in text
    assert "nan" not in text
    marks = {"boxes": 'class="box"', "bands": 'class="curve"'}
    what = kind(release, lines)
    assert text.count(marks[what]) == {"box": 1, "boxes": 4, "ecdf": 1, "ecdfs": 4, "whole": 1}[name]
    written = page(Answers("made up", None, (Answer(name, name, release),), release.cost))
    assert ("95 % band" in written) == (what == "bands")
    assert "the population behind them" in written


def test_many_groups_are_drawn_as_columns():
    """More boxes, or curves, than can be told apart are drawn as any many values are."""
    names = [f"g{i}" for i in range(40)]
    schema = {"x": flou.Interval(0, 1), "g": flou.Categories(names)}
    table = flou.open({"x": np.linspace(0, 1, 400), "g": names * 10}, schema=schema).group_by("g")
    for release in (table.boxplot("x", epsilon=1), table.ecdf("x", points=3, epsilon=1)):
        assert kind(release, entries(release)) == "columns"
        release.plot()
        assert figure(release, entries(release), "a1", "title").startswith("<svg")
