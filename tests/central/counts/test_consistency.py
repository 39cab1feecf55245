"""Counts that are known to add up do, are closer to the truth for it, and have the intervals of the noisy ones."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

import flou
from flou import Categories, Interval, Schema
from flou.bits import SeededBits
from flou.central import Histogram, Price, Table
from flou.central.counts.noisy_counts import adding_up_to
from flou.summaries.array.rows import ArrayRows


def projected(total: int, noisy) -> list[Fraction]:
    """The least-squares projection in exact fractions, by trying every number of positive entries."""
    order = sorted(noisy, reverse=True)
    for positive in range(len(noisy), 0, -1):
        shift = Fraction(sum(order[:positive]) - total, positive)
        if order[positive - 1] - shift > 0:
            return [max(y - shift, Fraction(0)) for y in noisy]
    return [Fraction(0)] * len(noisy)


@pytest.mark.parametrize("total", [0, 1, 2, 5, 17])
def test_it_is_the_projection_rounded(total):
    """All vectors of three small integers: the sum is right, nothing is negative, no entry is a whole row away."""
    for noisy in product(range(-4, 9), repeat=3):
        found = adding_up_to(total, np.array(noisy))
        assert found.sum() == total
        assert found.min() >= 0
        exact = projected(total, noisy)
        assert all(abs(int(a) - b) < 1 for a, b in zip(found, exact, strict=True))


def test_what_is_consistent_stays_as_it_is():
    """Counts of at least 0 with the right sum are not moved, and the order of counts is kept."""
    generator = np.random.default_rng(1)
    for _ in range(200):
        counts = generator.integers(0, 50, 8)
        assert adding_up_to(int(counts.sum()), counts).tolist() == counts.tolist()
        noisy = generator.integers(-100, 100, 8)
        found = adding_up_to(77, noisy)
        order = np.argsort(noisy, kind="stable")
        assert np.all(np.diff(found[order]) >= -1)


def test_huge_noise_and_many_cells():
    """Neither the size of the noise nor the number of cells makes it overflow."""
    noisy = np.array([2**61, -(2**61), 2**61 - 5, 0])
    assert adding_up_to(10, noisy).tolist() == [7, 0, 3, 0]
    many = np.random.default_rng(1).integers(-(2**50), 2**50, 2**18)
    assert adding_up_to(2**40, many).sum() == 2**40
    assert adding_up_to(3, np.array([[1, -9], [5, 0]])).shape == (2, 2)


def draft(question, x, relation="substitute", bits="consistent", **options):
    schema = Schema({"x": Interval(0, 8), "g": Categories(["a", "b"])}, relation=relation, **options)
    table = Table(ArrayRows({"x": x, "g": ["a"] * len(x), "u": np.arange(len(x))}), schema, None, bits=SeededBits(bits))
    facts = table._facts()
    return table._answered([question.prepare(facts)])[0]


@pytest.mark.parametrize("price", [Price.of(0.2), Price.of(rho=0.02)])
def test_the_error_is_not_larger_and_the_intervals_hold(price):
    """Squared errors below those of the clamped counts; 95 % intervals in at least 94.5 % of cells (1e-6)."""
    generator, runs = np.random.default_rng(3), 150
    question, before, after, held, seen = Histogram("x", price, 8), 0.0, 0.0, 0, 0
    for run in range(runs):
        x = 8 * generator.beta(1, 6, 60)  # most cells are nearly empty
        truth = np.histogram(x, bins=8, range=(0, 8))[0]
        found = draft(question, x, bits=f"run {run}")
        noisy = np.clip(found.uncertainty.noisy, 0, 60)
        before += float(((np.maximum(noisy, 0) - truth) ** 2).sum())
        after += float(((found.value - truth) ** 2).sum())
        assert found.value.sum() == 60
        for of in ("data", "population"):
            low, high = getattr(found.uncertainty, of)(0.95)
            assert np.all((low <= found.value) & (found.value <= high))
            assert np.all((low >= 0) & (high <= 60))
        low, high = found.uncertainty.data(0.95)
        held, seen = held + int(((low <= truth) & (truth <= high)).sum()), seen + 8
    assert after < 0.95 * before
    assert binom.cdf(held, seen, 0.945) > 1e-6


def test_intervals_are_those_of_the_noisy_counts():
    """They are cut to what is possible, and stretched to the released count where that lies outside; no more."""
    found = draft(Histogram("x", 0.2, 8), np.linspace(0, 8, 60))
    reach = found.uncertainty.noise.interval(0.95)[1]
    noisy = np.clip(found.uncertainty.noisy, 0, 60)
    low, high = found.uncertainty.data(0.95)
    assert np.array_equal(low, np.minimum(np.clip(noisy - reach, 0, 60), found.value))
    assert np.array_equal(high, np.maximum(np.clip(noisy + reach, 0, 60), found.value))


def test_only_a_public_number_of_rows_is_used():
    """Not under add-remove, not for units, not for a part of the rows; all groups of a table, and tables of counts."""
    x = np.linspace(0, 8, 50)
    assert "add up" not in str(draft(Histogram("x", 1, 8), x, "add-remove").postprocessing)
    assert "add up" not in str(draft(Histogram("x", 1, 8), x, unit="u", max_rows_per_unit=1).postprocessing)
    schema = Schema({"x": Interval(0, 8), "g": Categories(["a", "b"])}, relation="substitute")
    table = flou.open({"x": x, "g": ["a", "b"] * 25}, schema=schema, bits=SeededBits(1))
    part = table.where(flou.column("x") < 4).histogram("x", bins=8, epsilon=1)
    assert part.certificate["processing"]["postprocessing"] == [
        "not below zero, and not above the public number of all rows"
    ]
    for release in (
        table.histogram("x", bins=8, epsilon=0.1),
        table.group_by("g").count(epsilon=0.1),
        table.group_by("g").count(rho=0.001),
        table.group_by("g").histogram("x", bins=4, epsilon=0.1),
    ):
        assert release.value.sum() == 50
        assert "add up" in release.certificate["processing"]["postprocessing"][0]
        assert release.is_counts
        assert release.to_json()
