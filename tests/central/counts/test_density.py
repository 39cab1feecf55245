"""Densities: private for every pair of cells, and with bands that hold what they promise.

A true coverage of 94.5 % or more fails with probability below 1e-6 a case; bands of half the width are refused.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

import flou
from flou import Categories, Integers, Interval, Schema
from flou.bits import SeededBits
from flou.central import Density, Price, Table
from flou.central.counts.density import CELLS, UNIT, cosines, farthest
from flou.central.question import PublicFacts
from flou.summaries.array.rows import ArrayRows

RELATIONS = ("add-remove", "substitute")


def facts(relation, known_rows=None, rows_per_unit=1):
    if rows_per_unit == 1:
        return PublicFacts(Schema({"x": Interval(0, 1)}, relation=relation), known_rows)
    known = Schema({"x": Interval(0, 1)}, relation=relation, unit="u", max_rows_per_unit=rows_per_unit)
    return PublicFacts(known, known_rows)


def vector_of(question, known, *cells):
    return np.array(
        question.vector(np.bincount(np.array(cells, dtype=int), minlength=CELLS), question.cosines(known), known)
    )


@pytest.mark.parametrize("terms", [1, 2, 3, 8])
def test_the_farthest_pair_is_the_farthest(terms):
    """Of every pair of cells of a small grid, and of the ends and many others of the large one."""
    table = cosines(64, terms)
    assert farthest(64, terms).l1 == max(int(np.abs(a - b).sum()) for a in table for b in table)
    large = cosines(CELLS, terms)
    some = large[:: CELLS // 64]
    assert max(int(np.abs(large - b).sum(axis=1).max()) for b in some) <= farthest(CELLS, terms).l1


@pytest.mark.parametrize("rows_per_unit", [1, 2])
@pytest.mark.parametrize("relation", RELATIONS)
def test_neighbours_are_within_the_declared_sensitivity(relation, rows_per_unit):
    """A unit of one row or two, in every cell, moves the sums by the sensitivity at the most, and comes close."""
    known, question = facts(relation, rows_per_unit=rows_per_unit), Density("x", 1, 3)
    declared = question.noise(known).mechanism.sensitivity
    assert question.prepare(known).cost == known.pure(1)
    norms = np.array([np.abs(vector_of(question, known, c)).sum() for c in range(CELLS)])
    moves = [int(norms.max()) * rows_per_unit * (1 if relation == "add-remove" else 2)]
    assert max(moves) == declared
    here = vector_of(question, known, 5, 9)
    for c in range(0, CELLS, 7):
        unit = [c] * rows_per_unit
        gone = np.abs(vector_of(question, known, 5, 9, *unit) - here).sum()
        replaced = np.abs(vector_of(question, known, 5, *unit) - vector_of(question, known, 5, *[CELLS - 1 - c])).sum()
        assert gone <= declared
        assert relation == "add-remove" or replaced <= declared


@pytest.mark.parametrize("terms", [1, 2, 5])
def test_with_known_rows_the_sensitivity_is_the_distance_of_two_cells(terms):
    """One row replaced by another, for every pair of a subset of cells with the farthest: never more, and reached."""
    known, question = facts("substitute", known_rows=2), Density("x", 1, terms)
    declared = question.noise(known).mechanism.sensitivity
    lines = np.array([vector_of(question, known, c) for c in range(0, CELLS)])
    found = max(int(np.abs(lines - line).sum(axis=1).max()) for line in lines)
    assert found == declared  # so that any smaller one would be refused
    assert found < 2 * int(np.abs(lines).sum(axis=1).max()) or terms == 1


def series(cells, terms, x):
    t = (cells + 0.5) / CELLS
    j = np.arange(1, terms + 1)
    means = np.cos(np.pi * np.multiply.outer(t, j)).mean(axis=0)
    return np.maximum(1 + 2 * np.cos(np.pi * np.multiply.outer(x, j)) @ means, 0)


def covered(relation, n, epsilon, runs, shrink=1.0, terms=4):
    """Hits at five points: of the series of the rows, and of the series of the law."""
    generator, bits = np.random.default_rng(3), SeededBits(f"density {relation} {n} {epsilon}")
    points = np.linspace(0, 1, 5)
    law = series((np.sort(generator.beta(2, 5, 1_000_000)) * CELLS).astype(int), terms, points)
    hits = {"data": np.zeros(5, int), "population": np.zeros(5, int)}
    for _ in range(runs):
        x = generator.beta(2, 5, n if relation == "substitute" else int(generator.poisson(n)))
        schema = Schema({"x": Interval(0, 1)}, relation=relation)
        table = Table(ArrayRows({"x": x}), schema, None, bits=bits)
        known, question = table._facts(), Density("x", epsilon, terms, points=5)
        draft = table._answered([question.prepare(known)])[0]
        for of, truth in (("data", series((x * CELLS).astype(int), terms, points)), ("population", law)):
            low, high = getattr(draft.uncertainty, of)(0.95)
            if shrink < 1:
                low, high = (low + high) / 2 - shrink * (high - low) / 2, (low + high) / 2 + shrink * (high - low) / 2
            hits[of] += (low <= truth + 1e-9) & (truth <= high + 1e-9)
    return hits


@pytest.mark.parametrize(
    ("relation", "n", "epsilon"),
    [
        ("add-remove", 1000, 1),
        ("substitute", 300, 1),
        ("add-remove", 1000, Price.of(rho=0.2)),
        ("substitute", 300, Price.of(rho=0.2)),
        ("add-remove", 1000, Price.of(1, 0.01)),
    ],
)
def test_coverage(relation, n, epsilon):
    """Bands at 95 % hold the series of the data, and of the population, in at least 94.5 % of runs, at each point."""
    for hits in covered(relation, n, epsilon, 100).values():
        assert binom.cdf(hits, 100, 0.945).min() > 1e-6


def test_half_the_width_is_refused():
    """The check is seen to refuse."""
    for hits in covered("add-remove", 1000, 1, 60, shrink=0.4).values():
        assert binom.cdf(hits, 60, 0.945).min() <= 1e-6


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("x", [[], [3.0], [7.0] * 500, [0.0] * 500, [np.nan] * 40, [np.inf, -1e300]])
def test_edges(x, relation):
    """No table is an exception; nothing is negative; and without rows the band is wide."""
    release = flou.density(np.array(x, dtype=float), bounds=(0, 10), epsilon=1, relation=relation, points=9)
    low, high = release.interval()
    assert np.all(low >= 0)
    assert np.all(low <= release.value + 1e-9)
    assert np.all(release.value <= high + 1e-9)
    assert release.to_json()
    if len(x) < 2 and relation == "substitute":
        assert high.max() > 0.25


def test_a_law_is_found_again():
    """Many rows and a large epsilon give the density; whole numbers are answered too."""
    x = np.random.default_rng(1).beta(2, 2, 100_000) * 10
    release = flou.density(x, bounds=(0, 10), epsilon=10, terms=12, points=21)
    t = np.linspace(0, 1, 21)
    assert np.abs(release.value - 6 * t * (1 - t) / 10)[3:-3].max() < 0.004  # at the ends a cosine series is flat
    assert release.certificate["mechanism"]["sensitivity"] > 12 * UNIT
    whole = flou.density(np.arange(1000) % 10, domain=Integers(0, 9), epsilon=5, terms=2)
    assert np.abs(whole.value - 0.1).max() < 0.02


def test_the_number_of_cosines_follows_a_public_rule():
    """From the number of rows where it is public, a constant otherwise, and never from the data."""
    assert Density("x", 1).cosines(facts("add-remove")) == 8
    assert Density("x", 1).cosines(facts("substitute", known_rows=10_000)) == 15
    assert Density("x", 0.01).cosines(facts("substitute", known_rows=10_000)) == 5
    assert Density("x", 1).cosines(facts("substitute", known_rows=0)) == 1
    few = facts("substitute", known_rows=10_000)
    assert Density("x", Price.of(rho=1e-5)).cosines(few) == 5  # (n / s)^(2/5) with s = (2 rho)^(-1/2)
    assert Density("x", Price.of(0.01, 1e-6)).cosines(few) == Density("x", 0.01).cosines(
        few
    )  # Laplace noise is smaller
    assert Density("x", Price.of(1, 1e-6)).cosines(few) == 15
    with pytest.raises(flou.InvalidParameter):
        Density("x", 0)
    for wrong in (Density("x", 1, 31), Density("x", 1, 0), Density("x", 1, 3, 1)):
        with pytest.raises(flou.InvalidParameter):
            wrong.prepare(facts("add-remove"))
    with pytest.raises(flou.InvalidParameter, match="density"):
        Density("x", 1).prepare(PublicFacts(Schema({"x": Categories(["a"])}), None))


def test_with_many_cosines_gaussian_noise_wins():
    """Its norm grows like the root of their number: with a delta or a rho the band is narrower, and so is the noise."""
    x = np.random.default_rng(1).beta(2, 2, 20_000)
    known = facts("add-remove")
    for terms, gaussian in ((1, False), (4, False), (12, True), (30, True)):
        question = Density("x", Price.of(1, 1e-6), terms)
        assert question.price.is_gaussian(question._sensitivity(terms, known)) == gaussian
    pure = flou.density(x, bounds=(0, 1), epsilon=1, terms=30)
    other = flou.density(x, bounds=(0, 1), epsilon=1, delta=1e-6, terms=30)
    assert (pure.cost, other.cost) == (flou.PureDP(1), flou.ApproxDP(1, 1e-6))
    assert other.error.noise < 0.9 * pure.error.noise  # about 0.6, but for bands that are cut at zero
    assert "Gaussian" in other.certificate["mechanism"]["choice"]
