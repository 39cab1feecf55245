"""The picture of a release: what is drawn is what was released, in the form that its layout asks for."""

from __future__ import annotations

import itertools
import math
import pickle
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import flou
from flou.ask import Answer, Answers
from flou.bits import SeededBits
from flou.release import Layout
from flou.release.entries import entries
from flou.release.picture import picture_of
from flou.release.uncertainty import Uncertainty
from flou.render import BandMark, BarMark, BoxMark, CellMark, IntervalMark, LineMark, PointMark, RuleMark
from flou.render.axis import Lanes, Scale
from flou.render.svg import figure
from flou.report import page
from release.conftest import LABELS
from release.test_release import Balanced

GROUPS = [*LABELS, "other"]


@pytest.fixture(scope="module")
def drawn(table):
    groups = table.group_by("department")
    numbers = table.mean("salary", epsilon=2), table.count(epsilon=2)
    return {
        "number": numbers[0],
        "count": numbers[1],
        "groups": groups.mean("salary", epsilon=2),
        "sizes": groups.count(epsilon=2),
        "categories": table.histogram("department", epsilon=2),
        "bins": table.histogram("salary", bins=12, epsilon=2),
        "many bins": table.histogram("salary", bins=80, epsilon=2),
        "whole numbers": table.histogram("age", epsilon=2),
        "bins by group": groups.histogram("salary", bins=6, epsilon=2),
        "categories by group": groups.histogram("department", epsilon=2),
        "density": table.density("salary", epsilon=2),
        "deciles": table.deciles("salary", epsilon=2),
        "percentiles": table.quantiles("salary", [i / 100 for i in range(1, 100)], epsilon=2),
        "deciles by group": groups.deciles("salary", epsilon=2),
        "box": table.boxplot("salary", epsilon=2),
        "boxes": groups.boxplot("salary", epsilon=2),
        "ecdf": table.ecdf("salary", epsilon=2),
        "ecdf by group": groups.ecdf("salary", points=20, epsilon=2),
        "ecdf of whole numbers": table.ecdf("age", points=200, epsilon=2),
        "correlation": table.correlation("salary", "age", epsilon=20),
        "covariance": table.covariance("salary", "age", epsilon=20),
        "regression": table.regression("salary", "age", epsilon=20),
        "drowned regression": table.regression("salary", "age", epsilon=0.0001),
        "bounds": table.bounds("salary", epsilon=2),
    }


# what a picture of each holds: panels, and marks of each kind
HOLDS = {
    "number": (1, {IntervalMark: 2, PointMark: 2}),
    "count": (1, {IntervalMark: 2, PointMark: 2}),
    "groups": (1, {IntervalMark: 8, PointMark: 4}),
    "sizes": (1, {IntervalMark: 8, BarMark: 4}),
    "categories": (1, {IntervalMark: 8, BarMark: 4}),
    "bins": (1, {IntervalMark: 24, BarMark: 12}),
    "many bins": (1, {BandMark: 2, BarMark: 80}),
    "whole numbers": (1, {BandMark: 2, BarMark: 101}),
    "bins by group": (4, {IntervalMark: 48, BarMark: 24}),
    "categories by group": (4, {IntervalMark: 32, BarMark: 16}),
    "density": (1, {BandMark: 2, LineMark: 1}),
    "deciles": (1, {IntervalMark: 18, PointMark: 9}),
    "percentiles": (1, {BandMark: 2, LineMark: 1}),
    "deciles by group": (4, {IntervalMark: 72, PointMark: 36}),
    "box": (1, {BoxMark: 1, IntervalMark: 10}),
    "boxes": (1, {BoxMark: 4, IntervalMark: 40}),
    "ecdf": (1, {BandMark: 2, LineMark: 1}),
    "ecdf by group": (4, {BandMark: 8, LineMark: 4}),
    "ecdf of whole numbers": (1, {BandMark: 2, LineMark: 1}),
    "correlation": (1, {CellMark: 4}),
    "covariance": (1, {CellMark: 4}),
    "regression": (2, {IntervalMark: 4, PointMark: 2, RuleMark: 1}),
    "drowned regression": (2, {IntervalMark: 4, PointMark: 2, RuleMark: 1}),
    "bounds": (1, {IntervalMark: 4, PointMark: 2}),
}
every_kind = pytest.mark.parametrize("kind", HOLDS)


def marks(picture, *kinds):
    return [mark for panel in picture.panels for mark in panel.marks if not kinds or isinstance(mark, kinds)]


@every_kind
def test_marks(drawn, kind):
    """Each kind of answer has its form, says what its marks mean, and is told in words."""
    picture = picture_of(drawn[kind])
    panels, held = HOLDS[kind]
    assert len(picture.panels) == panels
    assert Counter(type(mark) for mark in marks(picture)) == held
    assert picture.title == drawn[kind].title
    assert "95 %" in picture.description
    assert picture.note == ""
    words = " ".join(words for _, words in picture.key)
    assert "these rows" in words
    assert ("band" in words) == (BandMark in held)
    assert hash(picture) == hash(picture_of(pickle.loads(pickle.dumps(drawn[kind]))))


@every_kind
def test_both_back_ends(drawn, kind):
    """Both draw it; labels are texts, whatever they hold."""
    text = figure(picture_of(drawn[kind]), "a1", "title")
    parser = Balanced()
    parser.feed(text)
    assert parser.open == []
    assert "script" not in parser.tags
    assert "nan" not in text.lower()
    assert text.count("<svg") == 2
    drawn[kind].plot().canvas.draw()
    written = page(Answers("made up", None, (Answer(kind, kind, drawn[kind]),), drawn[kind].cost))
    assert text.split("<figcaption>")[1] in written


@every_kind
def test_what_is_drawn_is_the_release(drawn, kind):
    """Points, bars, lines and boxes are the released values, one after the other; intervals and bands are theirs."""
    release, picture = drawn[kind], picture_of(drawn[kind])
    values = np.ravel(release.value).tolist()
    if found := marks(picture, BarMark):
        upright = any(mark.upright for mark in marks(picture, IntervalMark)) or bool(marks(picture, BandMark))
        shown = [(bar.y if upright else bar.x)[1] for bar in found]
    elif found := marks(picture, BoxMark):
        shown = [number for box in found for number in box.five]
    elif kind.startswith("ecdf"):
        shown = [y for line in marks(picture, LineMark) for y in (*line.y[::2],)]
    elif found := marks(picture, LineMark):
        shown = [y for line in found for y in line.y]
    elif found := marks(picture, CellMark):
        shown = values
        assert [cell.told for cell in found] == [cell.told for cell in sorted(found, key=lambda c: (c.y, c.x))]
    else:
        shown = [point.x for point in marks(picture, PointMark)]
        values = values * len(shown) if release.labels is None else values
    assert shown == pytest.approx(values)
    for of in ("data", "population"):
        low, high = (np.ravel(end).tolist() for end in release.interval(of=of))
        ends = [(mark.low, mark.high) for mark in marks(picture, IntervalMark) if mark.of == of]
        assert ends in ([], list(zip(low, high, strict=True)))


@pytest.mark.parametrize("kind", ["groups", "sizes"])
def test_lanes_are_in_the_order_of_the_schema(drawn, kind):
    """Every group has its lane, its name and its number, in the order in which they were declared."""
    (panel,) = picture_of(drawn[kind]).panels
    assert panel.y.names == tuple(GROUPS)
    assert panel.y.texts == tuple(line.text for line in entries(drawn[kind]))


@pytest.mark.parametrize("kind", ["bins by group", "categories by group", "deciles by group", "ecdf by group"])
def test_groups_have_panels_on_the_same_axes(drawn, kind):
    """One panel for each group, with its name, so that groups can be compared."""
    panels = picture_of(drawn[kind]).panels
    assert [panel.title for panel in panels] == GROUPS
    assert len({(panel.x, panel.y if isinstance(panel.y, Scale) else panel.y.names) for panel in panels}) == 1


def test_a_name_with_a_colon_is_a_name():
    """Groups are told by the layout, not by their labels."""
    names = ["a: b", "a", "b: c: d"]
    schema = {"x": flou.Interval(0, 1), "g": flou.Categories(names, other=False, missing="a")}
    table = flou.open({"x": np.linspace(0, 1, 300), "g": names * 100}, schema=schema).group_by("g")
    for release in (table.deciles("x", epsilon=5), table.histogram("x", bins=3, epsilon=5), table.ecdf("x", epsilon=5)):
        assert [panel.title for panel in picture_of(release).panels] == names
    assert picture_of(table.boxplot("x", epsilon=5)).panels[0].y.names == tuple(names)


def test_intervals_of_a_box_lie_below_one_another(drawn):
    """Each of the five numbers has its own row, in the lane of its box and below it."""
    picture = picture_of(drawn["boxes"])
    rows = [mark.at for mark in marks(picture, IntervalMark) if mark.of == "data"]
    assert len(set(rows)) == 20
    for lane, box in enumerate(marks(picture, BoxMark)):
        mine = rows[5 * lane : 5 * lane + 5]
        assert mine == sorted(mine)
        assert box.at + box.half < mine[0]
        assert mine[-1] < lane + 0.5
        assert "median" in box.told


def test_bars_of_bins_touch(drawn):
    """On an axis of numbers, from bound to bound."""
    picture = picture_of(drawn["bins"])
    bars = marks(picture, BarMark)
    assert all(one.x[1] == two.x[0] for one, two in itertools.pairwise(bars))
    (panel,) = picture.panels
    assert (panel.x.low, panel.x.high, panel.x.name, panel.y.name) == (0, 300_000, "salary", "rows")
    assert marks(picture_of(drawn["whole numbers"]), BarMark)[18].x == (17.5, 18.5)


def test_quantiles_in_any_order_have_lanes(table):
    """Only those that increase are a curve."""
    for probabilities in ([0.9 - i / 50 for i in range(30)], [0.5] * 25):
        picture = picture_of(table.quantiles("salary", probabilities, epsilon=2))
        assert len(marks(picture, PointMark)) == len(probabilities)
        figure(picture, "a", "title")


def test_bands_of_a_distribution_hold_together(drawn):
    """They are those of all points at once; between two points they reach from one to the other."""
    for kind in ("ecdf by group", "ecdf of whole numbers"):
        release = drawn[kind]
        bands = [band for band in marks(picture_of(release), BandMark) if band.of == "population"]
        low, high = release.interval(0.95, of="population", simultaneous=True)
        assert [y for band in bands for y in band.low[::2]] == low.tolist()
        jumps = release.uncertainty.curves(0.95)[0].jumps
        assert jumps == (kind == "ecdf of whole numbers")
        assert bands[0].high[0] == high[0 if jumps else 1]


def test_the_intercept_has_its_own_axis():
    """It does not flatten the slopes, and slopes of other sizes do not flatten each other."""
    draw = np.random.default_rng(5)
    a, b, c = (draw.uniform(0, 1, 5000) for _ in range(3))
    schema = {name: flou.Interval(0, 1) for name in "abc"} | {"y": flou.Interval(0, 10_000)}
    rows = {"a": a, "b": b, "c": c, "y": 5000 + 3 * a - 4 * b + 2000 * c}
    table = flou.open(rows, schema=schema, bits=SeededBits(4))
    alike = picture_of(table.regression("y", "c", epsilon=1e4)).panels
    assert [panel.y.names for panel in alike] == [("intercept",), ("c",)]
    panels = picture_of(table.regression("y", "a", "b", "c", epsilon=1e4)).panels
    assert [panel.y.names for panel in panels] == [("intercept",), ("a",), ("b",), ("c",)]
    assert all(panel.x.holds(0) for panel in panels[1:])
    together = picture_of(table.regression("y", "a", "b", epsilon=1e4)).panels
    assert together[0].y.names == ("intercept",)


def test_a_matrix_is_a_matrix(drawn):
    """Rows by columns, every cell with its number and its interval; colours by the diagonal."""
    for kind in ("correlation", "covariance"):
        (panel,) = picture_of(drawn[kind]).panels
        assert panel.x.names == panel.y.names == ("salary", "age")
        cells = {(cell.x, cell.y): cell for cell in panel.marks}
        assert [cells[i, i].shade for i in (0, 1)] == pytest.approx([1, 1])
        assert cells[0, 1].shade == pytest.approx(cells[1, 0].shade)
        assert abs(cells[0, 1].shade) < 0.5
        assert " to " in cells[0, 1].between
    assert cells[0, 0].between
    assert marks(picture_of(drawn["correlation"]), CellMark)[0].between == ""  # of a column with itself


class Made(Uncertainty):
    """Any intervals."""

    def __init__(self, low, high):
        self.ends = np.array(low, dtype=float), np.array(high, dtype=float)

    def data(self, _):
        return self.ends

    population = data
    grid = 0.0


@pytest.mark.parametrize("many", [1, 5, 33, 40, 90, 500])
def test_many_values(drawn, many):
    """All names are shown where they have room; what is not drawn is said."""
    names = tuple(f"group {i}" for i in range(many))
    made = replace(
        drawn["groups"], value=np.arange(many) - 2.0, labels=names, uncertainty=Made([-3] * many, [9] * many)
    )
    picture = picture_of(made)
    (panel,) = picture.panels
    assert panel.y.names == names[:400]
    assert panel.y.every == (1 if many <= 90 else 3)
    assert panel.height < 2500
    assert ("The first 400 of 500 values are drawn." in picture.description) == (many == 500)
    figure(picture, "a", "title")


def test_many_groups():
    """Groups up to a hundred have a panel each."""
    names = [f"g{i}" for i in range(120)]
    schema = {"x": flou.Interval(0, 1), "g": flou.Categories(names, other=False, missing="g0")}
    table = flou.open({"x": np.linspace(0, 1, 240), "g": names * 2}, schema=schema).group_by("g")
    picture = picture_of(table.histogram("x", bins=2, epsilon=1))
    assert len(picture.panels) == 100
    assert picture.note == "The first 100 of 120 groups are drawn."
    boxes = picture_of(table.boxplot("x", epsilon=1))
    assert len(marks(boxes, BoxMark)) == 100
    assert boxes.note == picture.note


@pytest.mark.parametrize(
    ("values", "low", "high"),
    [
        ([0.0, 0.0], [0, 0], [0, 0]),
        ([-5.0, -7.0], [-6, -9], [-4, -6]),
        ([1.0, 2.0], [-math.inf, 1], [math.inf, math.inf]),
        ([1.0, math.nan], [0, math.nan], [2, math.nan]),
        ([1e300, -1e300], [1e299, -2e300], [2e300, -1e299]),
        ([1e-300, 2e-300], [0, 0], [3e-300, 3e-300]),
        ([1.7e308, 5e-324], [1.6e308, 0], [1.75e308, 1e-323]),
    ],
)
@pytest.mark.parametrize("kind", ["values", "units", "coefficients", "bins", "curve", "quantiles", "matrix", "table"])
def test_any_numbers(drawn, kind, values, low, high):
    """Negative, none, without limits, unknown, huge and tiny: all of them are drawn, with nothing outside."""
    layout = {
        "values": Layout("values", None, ("a", "b")),
        "bins": Layout("bins", places=(0.0, 1.0, 2.0)),
        "curve": Layout("curve", places=(0.0, 1.0)),
        "quantiles": Layout("quantiles", names=("a", "b"), places=(0.25, 0.75)),
        "matrix": Layout("matrix", ("a",), ("a", "b")),
        "table": Layout("table", ("a",), ("a", "b")),
    }.get(kind, Layout(kind))
    if kind == "matrix":
        values, low, high = (list(one) * 2 for one in (values, low, high))
        layout = Layout("matrix", ("a", "b"), ("a", "b"))
    labels = tuple(f"{name}: {name}" for name in "abcd"[: len(values)])
    made = replace(
        drawn["groups"], value=np.array(values), labels=labels, uncertainty=Made(low, high), layout=layout, note=""
    )
    text = figure(picture_of(made), "a", "title")
    assert "nan" not in text.lower()
    assert "inf" not in text.lower()
    made.plot().canvas.draw()


@pytest.mark.parametrize("kind", ["mode", "top"])
def test_texts_have_no_picture(releases, kind):
    """There is nothing to draw, and the page leaves it out."""
    release = releases[kind]
    assert picture_of(release) is None
    assert "<figure>" not in page(Answers("made up", None, (Answer(kind, kind, release),), release.cost))


def test_local_releases_have_pictures():
    """Estimates from reports are drawn as those of tables are: bins, a table of pairs, means on axes of their own."""
    bits = SeededBits(3)
    wave = flou.local.SquareWave(flou.Interval(0, 100), epsilon=1)
    reports = wave.randomise(np.linspace(0, 100, 500), bits=bits)
    assert [type(mark) for mark in marks(picture_of(wave.histogram(reports, bins=5)), BarMark)] == [BarMark] * 5
    assert len(marks(picture_of(wave.quantiles(reports, [0.25, 0.5])), PointMark)) == 2
    pairs = flou.local.ContingencyTable(["a", "b: c"], [1, 2, 3], epsilon=1)
    (panel,) = picture_of(pairs.estimate(pairs.randomise(["a", "b: c"] * 50, [1, 2] * 50, bits=bits))).panels
    assert (panel.y.names, panel.x.names) == (("a", "b: c"), ("1", "2", "3"))
    assert isinstance(panel.x, Lanes)
