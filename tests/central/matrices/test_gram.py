"""Gram matrices have the sensitivity they claim, and what is computed from them has honest intervals."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

import flou
from flou import Boolean, Categories, Integers, Interval, Schema
from flou.bits import SeededBits
from flou.central import Price, Table
from flou.central.matrices.covariance import Correlation, Covariance
from flou.central.matrices.gram import GramNoise
from flou.central.matrices.regression import Regression
from flou.errors import InvalidParameter
from flou.summaries.array.rows import ArrayRows

DOMAINS = {"x": Interval(0, 10), "y": Interval(-20, 60), "k": Integers(0, 3), "b": Boolean(), "g": Categories(["a"])}


def table(data, relation="add-remove", seed="gram", **options) -> Table:
    schema = Schema({name: DOMAINS[name] for name in data if name in DOMAINS}, relation=relation, **options)
    return Table(ArrayRows(data), schema, None, bits=SeededBits(seed))


def noise_for(asked: Table, columns) -> GramNoise:
    return GramNoise(tuple(columns), Price.of(1), asked._facts())


def entries(columns, rows, relation="substitute") -> np.ndarray:
    data = {name: [row[i] for row in rows] for i, name in enumerate(columns)}
    asked = table(data, relation)
    noise = noise_for(asked, columns)
    integers = noise.integers(asked._rows.collect([noise.request])[0])
    return np.array([value / unit for value, unit in zip(integers, noise.units, strict=True)])


CORNERS = {"x": [0, 10, 5, 0.001, 9.999], "k": [0, 1, 3], "b": [False, True]}


@pytest.mark.parametrize("columns", [("x",), ("k",), ("b", "k"), ("x", "k", "b")])
def test_every_row_and_every_substitution_is_covered(columns):
    """The norms of all rows, and of all differences of two rows, are at most what is declared, and reach it."""
    rows = list(product(*(CORNERS[name] for name in columns)))
    single = [entries(columns, [row]) for row in rows]
    asked = {relation: table({name: [0, 1] for name in columns}, relation) for relation in ("add-remove", "substitute")}
    size, d = len(single[0]), len(columns)
    added = noise_for(asked["add-remove"], columns).sensitivity.l1
    substituted = noise_for(asked["substitute"], columns).sensitivity.l1
    squared = float(noise_for(asked["add-remove"], columns).sensitivity.l2)
    assert (added, substituted, squared) == (size, d * d + 2 * d, pytest.approx(np.sqrt(size)))
    assert max(np.abs(row).sum() for row in single) == pytest.approx(added, rel=1e-3)
    assert max(np.abs(row).sum() for row in single) <= added
    assert max(np.sqrt((row**2).sum()) for row in single) <= squared + 1e-12
    moved = max(np.abs(a - b)[1:].sum() for a in single for b in single)
    assert moved <= substituted
    assert 0.5 * substituted <= moved


def test_a_smaller_sensitivity_would_be_refused():
    """The same check notices when one entry is forgotten."""
    rows = [entries(("x", "k"), [row]) for row in product(CORNERS["x"], CORNERS["k"])]
    assert max(np.abs(row).sum() for row in rows) > len(rows[0]) - 1


def test_entries_are_the_sums_of_products():
    """Without noise the matrix is that of the centred columns."""
    generator = np.random.default_rng(3)
    x, k = generator.uniform(0, 10, 400), generator.integers(0, 4, 400)
    found = entries(("x", "k"), list(zip(x.tolist(), k.tolist(), strict=True)))
    z, w = x / 5 - 1, k * 2 / 3 - 1
    expected = [400, z.sum(), w.sum(), (z * z).sum(), (z * w).sum(), (w * w).sum()]
    assert found == pytest.approx(np.array(expected), abs=0.02)


def made(n: int, generator) -> dict[str, np.ndarray]:
    x = generator.uniform(0, 10, n)
    return {"x": x, "y": 3 + 2 * x + generator.normal(0, 4, n)}


def test_with_little_noise_the_answers_are_the_plain_ones():
    """At a huge epsilon coefficients, covariances and correlations are those of NumPy."""
    data = made(5000, np.random.default_rng(1))
    asked = table(data)
    slope, intercept = np.polyfit(data["x"], data["y"], 1)
    assert asked.ask(Regression("y", ("x",), 5000))[0].value == pytest.approx([intercept, slope], abs=0.01)
    matrix = np.cov(data["x"], data["y"])
    assert asked.ask(Covariance(("x", "y"), 5000))[0].value == pytest.approx(matrix.ravel(), rel=1e-2)
    assert asked.ask(Correlation(("x", "y"), 5000))[0].value == pytest.approx(
        np.corrcoef(data["x"], data["y"]).ravel(), abs=1e-3
    )


@pytest.mark.parametrize("n", [0, 1, 2, 50])
@pytest.mark.parametrize("relation", ["add-remove", "substitute"])
def test_tiny_tables_get_an_honest_answer(n, relation):
    """With next to no rows the interval is the whole line, and nothing breaks."""
    asked = table(made(n, np.random.default_rng(n)), relation)
    for question in (Regression("y", ("x",), 0.1), Covariance(("x", "y"), 0.1), Correlation(("x", "y"), 0.1)):
        release = asked.ask(question)[0]
        assert np.all(np.isfinite(release.value))
        low, high = release.interval(0.95, of="population")
        assert np.all(low <= high)
        assert release.to_json()
    drowned = asked.ask(Regression("y", ("x",), 0.1))[0]
    assert np.all(np.isinf(drowned.interval()[0]))
    assert drowned.error.total == np.inf
    assert repr(drowned)


@pytest.mark.parametrize(
    ("n", "price"),
    [(1000, Price.of(1)), (10_000, Price.of(0.1)), (1000, Price.of(1, 0.05)), (10_000, Price.of(rho=0.005))],
)
def test_intervals_cover(n, price):
    """Slopes and correlations lie in their intervals (false alarms: 1e-6), and not in intervals of half the width."""
    generator, runs = np.random.default_rng(7), 100
    held = np.zeros((2, 2), int)
    narrow = 0
    for run in range(runs):
        data = made(n, generator)
        asked = table(data, seed=f"cover {run}")
        slope = np.polyfit(data["x"], data["y"], 1)[0]
        correlation = np.corrcoef(data["x"], data["y"])[0, 1]
        truths = ((slope, 2.0), (correlation, 2 * np.sqrt(100 / 12) / np.sqrt(400 / 12 + 16)))
        questions = (Regression("y", ("x",), price), Correlation(("x", "y"), price))
        for which, (release, truth) in enumerate(zip(asked.ask(*questions), truths, strict=True)):
            for kind, of in enumerate(("data", "population")):
                low, high = (end[1] for end in release.interval(0.95, of=of))
                held[which, kind] += low <= truth[kind] <= high
                if which == kind == 0:
                    quarter = (high - low) / 4
                    narrow += low + quarter <= truth[0] <= high - quarter
    assert np.all(binom.cdf(held, runs, 0.945) > 1e-6)
    assert binom.cdf(narrow, runs, 0.945) < 1e-6


@pytest.mark.parametrize(
    "question",
    [
        Regression("y", ("g",), 1),
        Regression("y", ("y",), 1),
        Covariance((), 1),
        Covariance(("x", "nowhere"), 1),
    ],
)
def test_questions_that_cannot_be_right_are_refused(question):
    """Categories, repeated or unknown columns and bad parameters charge nothing."""
    asked = table({**made(10, np.random.default_rng(1)), "g": ["a"] * 10})
    with pytest.raises(InvalidParameter):
        asked.ask(question)


def test_gaussian_noise_is_taken_where_it_is_smaller():
    """For many columns, from their norms alone; for few, Laplace, and then delta is not spent."""
    data = {**made(100, np.random.default_rng(1)), "k": np.arange(100) % 4, "b": np.arange(100) % 2 == 0}
    asked = table(data)
    few, many = asked.correlation("x", "y", epsilon=1, delta=1e-6), asked.covariance(*data, epsilon=1, delta=1e-6)
    assert (few.cost.measure, many.cost.measure) == ("pure", "approx")
    assert few.certificate["mechanism"]["norm"] == "L1"
    assert many.certificate["mechanism"]["norm"] == "L2"
    assert asked.regression("y", "x", rho=0.1).cost.measure == "zcdp"


def test_a_column_with_itself():
    """The correlation of a column with itself is 1, whatever the noise, and its interval says so."""
    table = flou.open({"a": [1.0, 2.0] * 50, "c": [3.0, 1.0] * 50}, schema={n: flou.Interval(0, 5) for n in "ac"})
    for _ in range(20):
        release = table.correlation("a", "c", epsilon=0.5)
        low, high = release.interval(0.95)
        assert (release.value[[0, 3]] == 1).all()
        assert (low[[0, 3]] == 1).all()
        assert (high == np.clip(high, -1, 1)).all()


def test_levels_that_replays_cannot_tell():
    """An interval at a level that draws of the noise cannot tell is the whole range, and never narrower than others."""
    table = flou.open({"a": [1.0, 2.0] * 500, "c": [3.0, 1.0] * 500}, schema={n: flou.Interval(0, 5) for n in "ac"})
    assert np.isinf(table.covariance("a", "c", epsilon=10).interval(0.99999)).all()
    assert np.abs(table.correlation("a", "c", epsilon=10).interval(0.99999)[1]).max() == 1
    low, high = table.density("a", points=5, epsilon=10).interval(0.97, simultaneous=True)
    assert (low <= high).all()
    assert table.density("a", points=5, epsilon=10).interval(0.999999)[0].tolist() == [0] * 5


def test_columns_are_names():
    """Lists of columns and columns that are named twice are refused in words, before anything is charged."""
    table = flou.open({"a": [1.0], "c": [2.0]}, schema={n: flou.Interval(0, 5) for n in "ac"}, budget=1)
    for wrong, what in (
        (lambda: table.correlation(["a", "c"], epsilon=1), "names of columns"),
        (lambda: table.regression("a", "a", epsilon=1), "twice"),
    ):
        with pytest.raises(flou.InvalidParameter, match=what):
            wrong()
    assert table.budget.spent is None
