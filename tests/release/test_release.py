"""A release as it is read: text, HTML, JSON, plots, and the digits worth reading."""

import json
import math
import re
import sys
from html.parser import HTMLParser

import numpy as np
import pytest

import flou
from flou.release.digits import DOWN, UP, cost_column, exact_text, place_of, priced, rounded_to, written
from flou.release.entries import entries, worth_drawing

KINDS = ["count", "mean", "sum", "histogram", "many", "groups", "mode", "top"]
every_kind = pytest.mark.parametrize("kind", KINDS)


class Balanced(HTMLParser):
    """Refuses tags that are not closed in order, and keeps what would be dangerous."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.text = [], set(), []

    def handle_starttag(self, tag, _):
        self.tags.add(tag)
        if tag not in {"br", "meta"} and not self.get_starttag_text().endswith("/>"):
            self.open.append(tag)

    def handle_startendtag(self, tag, _):
        self.tags.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def without_infinity(end):
    """An end, or the ends, as JSON has them: no limit is null."""
    ends = np.asarray(end, dtype=float)
    plain = np.where(np.isfinite(ends), ends, None).tolist()
    return plain if ends.ndim else ends.item() if np.isfinite(ends) else None


@pytest.mark.parametrize(
    ("width", "place"), [(120.0, 1), (99.0, 0), (1.0, -1), (0.05, -3), (3e8, 7), (0.0, None), (math.inf, None)]
)
def test_place(width, place):
    """A number is read to between a tenth and a hundredth of its interval."""
    assert place_of(width) == place


@pytest.mark.parametrize(
    ("value", "place", "rounding", "text"),
    [
        (44_931.7, 1, "ROUND_HALF_EVEN", "44,930"),
        (44_931.7, 1, DOWN, "44,930"),
        (44_931.7, 1, UP, "44,940"),
        (-0.04, -1, "ROUND_HALF_EVEN", "0.0"),
        (-0.04, -1, DOWN, "-0.1"),
        (18_123_456_789.0, 7, "ROUND_HALF_EVEN", "18,120,000,000"),
        (12_345, 3, "ROUND_HALF_EVEN", "12,345"),
        (np.int64(7), 3, "ROUND_HALF_EVEN", "7"),
        (math.inf, 0, UP, "no limit"),
        (math.nan, 0, UP, "unknown"),
        (0.25, None, UP, "0.250000"),
        ("care", 0, UP, "care"),
        (True, 0, UP, "True"),
    ],
)
def test_written(value, place, rounding, text):
    """Numbers are rounded to their place, ends outwards, and whole numbers and texts are left alone."""
    assert written(value, place, rounding) == text


def test_the_largest_double_is_written():
    """Nothing overflows on the way to text."""
    assert len(written(sys.float_info.max, 0)) > 300
    assert rounded_to(5e-324, None) > 0


@every_kind
def test_shown_ends_hold_the_true_ends(releases, kind):
    """Rounded intervals are never narrower than the exact ones."""
    for entry in entries(releases[kind]):
        for pair in (entry.data, entry.population):
            texts = [text.replace(",", "").replace("no limit", "inf") for text in entry.between(pair).split(" to ")]
            low, high = map(float, texts)
            assert low <= pair[0]
            assert high >= pair[1]


@every_kind
def test_repr(releases, kind):
    """The text has the title, at most 30 values with both intervals, and the cost in words on one line."""
    release = releases[kind]
    lines = repr(release).splitlines()
    assert lines[0] == release.title
    (cost,) = [line for line in lines if line.startswith("  cost: ")]
    assert release.cost.in_words() in cost
    assert "epsilon = 0.5" in cost
    assert len(lines) <= 34
    assert sum("population: " in line for line in lines) == min(len(entries(release)), 30)


def test_titles(releases):
    """The title says what was asked, groups included."""
    assert releases["groups"].title == "mean of salary by department"
    assert releases["histogram"].title == "histogram of salary"
    assert releases["count"].title == "count"


def test_rounded(releases):
    """Rounded values differ from the exact ones by less than the interval, and counts not at all."""
    mean, counts = releases["mean"], releases["histogram"]
    low, high = mean.interval()
    assert abs(mean.rounded() - mean.value) < (high - low) / 10
    assert counts.rounded() == counts.value.tolist()
    assert releases["mode"].rounded() == releases["mode"].value


@every_kind
def test_html(releases, kind):
    """The table is well formed, has a bar for each number, brings nothing from elsewhere and escapes labels."""
    text = releases[kind]._repr_html_()
    parser = Balanced()
    parser.feed(text)
    assert parser.open == []
    assert "script" not in parser.tags
    assert not re.search(r"https?:|//|src=|href=|<style|url\(", text)
    drawn = [entry for entry in entries(releases[kind])[:60] if entry.is_number]
    assert text.count("<svg") == len(drawn)
    if kind == "groups":
        assert "<script>alert(1)</script>" in "".join(parser.text)


def test_the_check_of_html_refuses():
    """The parser of these tests is seen to refuse tags in disorder."""
    with pytest.raises(AssertionError):
        Balanced().feed("<b><i></b></i>")


@every_kind
def test_json(releases, kind):
    """The JSON is strict, says what the release says, and holds the certificate whole."""
    release = releases[kind]

    def refuse(word):
        raise AssertionError(word)

    tree = json.loads(release.to_json(), parse_constant=refuse)
    assert tree == json.loads(json.dumps(release.to_dict()))
    for of in ("data", "population"):
        low, high = release.interval(0.95, of=of)
        assert tree["interval_95"][of] == [without_infinity(low), without_infinity(high)]
    again = flou.release.Certificate.from_json(json.dumps(tree["certificate"]))
    assert again.hash == tree["certificate_hash"] == release.certificate.hash


@pytest.mark.parametrize("ending", ["png", "svg"])
@pytest.mark.parametrize("kind", KINDS[:6])
def test_plot(releases, kind, ending, tmp_path):
    """A figure comes back, and a file is written where a path is given."""
    path = tmp_path / f"picture.{ending}"
    figure = releases[kind].plot(path)
    assert type(figure).__name__ == "Figure"
    assert path.read_bytes()[:5] in (b"\x89PNG\r", b"<?xml")


@pytest.mark.parametrize("kind", ["mode", "top"])
def test_texts_have_no_plot(releases, kind):
    """What is no number is refused in three sentences."""
    with pytest.raises(flou.InvalidParameter, match="no number to draw"):
        releases[kind].plot()


def test_plot_shows_the_interval(releases):
    """The error bars of the mean are its intervals."""
    (axes,) = releases["mean"].plot().axes
    drawn = sorted(float(x) for lane in axes.collections for x in lane.get_segments()[0][:, 0])
    ends = [*releases["mean"].interval(), *releases["mean"].interval(of="population")]
    assert drawn == pytest.approx(sorted(ends))


def test_labels_are_not_formulas():
    """A dollar sign in a label is a dollar sign."""
    rows = {"x": ["$a_1$", "$", "b"] * 20}
    table = flou.open(rows, schema={"x": flou.Categories(["$a_1$", "$", "b"])})
    table.histogram("x", epsilon=1).plot().canvas.draw()


@pytest.mark.parametrize("path", ["a.jpg", "a", "missing/folder/a.png"])
def test_plot_refusals(releases, path, tmp_path, monkeypatch):
    """A path that cannot be is refused in three sentences."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(flou.InvalidParameter, match="path must"):
        releases["mean"].plot(path)


def test_plot_without_matplotlib(releases, monkeypatch):
    """Without the extra, three sentences say how to get it."""
    for name in ("matplotlib", "matplotlib.figure", "matplotlib.backends.backend_agg"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(flou.MissingExtra, match=r"needs Matplotlib.*extra.*pip install 'flou\[plots\]'"):
        releases["mean"].plot()


def test_a_vague_group_does_not_squeeze_the_others(table):
    """Groups about which nothing is known are left out of the choice of the axis."""
    lines = entries(table.group_by("department").mean("salary", epsilon=2))
    vague = max(lines, key=lambda line: line.data[1] - line.data[0])
    assert vague.label == "other"
    assert vague.data[1] > max(worth_drawing(lines))
    assert worth_drawing([vague]) == vague.numbers


@pytest.mark.parametrize(
    ("value", "text"),
    [("1", "1"), ("1/4", "0.25"), ("1/3", "1/3"), ("1/7001", "0.000143"), ("12345678/10", "6172839/5")],
)
def test_costs_are_exact(value, text):
    """Costs are written exactly where that is short, and rounded up where it is not."""
    from fractions import Fraction

    assert exact_text(Fraction(value)) == text


def test_prices():
    """Every measure has its words."""
    assert priced(flou.ApproxDP(0.5, 1e-6)) == "epsilon = 0.5, delta = 1e-06"
    assert priced(flou.ZCDP(0.5)) == "rho = 0.5"
    assert cost_column([flou.PureDP(0.5), flou.PureDP(1)]) == ("epsilon", ["0.5", "1"])
    assert cost_column([flou.PureDP(0.5), flou.ZCDP(1)]) == ("cost", ["epsilon = 0.5", "rho = 1"])


def test_small_numbers_are_written_with_an_exponent():
    """A density of some hundred-thousandths shows its digits, not its zeros; others are written out."""
    assert written(0.0000242219, -8) == "2.422e-5"
    assert written(0.0, -8) == "0"
    assert written(-0.0000242219, -8, "ROUND_FLOOR") == "-2.423e-5"
    assert written(0.5000000049, -9) == "0.500000005"
    assert written(0.00123456, -6) == "0.001235"
