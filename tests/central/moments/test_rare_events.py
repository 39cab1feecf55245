"""Intervals for populations hold where few rows decide: rare events, heavy tails and small tables.

Shares are checked without simulation: the noisy totals whose interval holds the truth are found, and their probability
is added up over the binomial law and integrated over the noise.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy.stats import binom, laplace, norm, poisson

import flou
from central.test_coverage import is_enough
from central_coverage import Cell, simulate
from flou import Boolean, Interval, Schema
from flou.bits import SeededBits
from flou.central import Price
from flou.central.moments.mean import MeanUncertainty
from flou.central.moments.moment_noise import MomentNoise, NoisyMoments
from flou.central.moments.total import TotalUncertainty
from flou.central.question import PublicFacts
from flou.summaries.moments import MomentGrid
from flou.theory import least_favourable
from flou.theory.least_favourable import beyond


def held(law, truth: float, noise: MomentNoise, uncertainty: type) -> float:
    """The probability that the 95 % interval for the population holds the truth: the totals that do so are a range."""

    def holds(totals: np.ndarray) -> np.ndarray:
        groups = tuple(NoisyMoments(noise, {"first": total}) for total in totals)
        low, high = uncertainty(groups, grouped=True).population(0.95)
        return (low <= truth) & (truth <= high)

    scale = NoisyMoments(noise, {"first": 0.0}).scale
    totals = np.linspace(law.ppf(1e-9) - 15 * scale - 1, law.ppf(1 - 1e-9) + 15 * scale + 1, 120)
    inside = np.flatnonzero(holds(totals))
    ends = []
    for edge, step in ((inside[0], -1), (inside[-1], 1)):
        fine = np.linspace(totals[edge], totals[np.clip(edge + step, 0, totals.size - 1)], 60)
        ends.append(fine[np.flatnonzero(holds(fine))[-1]])
    k = np.arange(law.ppf(1e-12), law.ppf(1 - 1e-12) + 1) if law.std() else np.array([law.mean()])
    cdf = partial(norm.cdf if noise.price.rho else laplace.cdf, scale=scale)
    return float(np.sum(law.pmf(k) * (cdf(ends[1] - k) - cdf(ends[0] - k))))


def noise_of(price: Price, domain, rows: int | None) -> MomentNoise:
    facts = PublicFacts(Schema({"x": domain}, relation="add-remove" if rows is None else "substitute"), rows)
    return MomentNoise(MomentGrid.of("x", domain), price, facts, from_zero=rows is None)


PRICES = [Price.of(1), Price.of(5), Price.of(10), Price.of(rho=0.5)]


@pytest.mark.parametrize("price", PRICES, ids=str)
@pytest.mark.parametrize(("rows", "p"), [(1000, 0.002), (300, 0.01), (10, 0.0), (10, 0.3), (30, 0.97), (1000, 0.5)])
def test_shares_are_held(rows, p, price):
    """Of few events, of none and of many, from ten rows on: 95 % or a little more."""
    found = held(binom(rows, p), p, noise_of(price, Boolean(), rows), MeanUncertainty)
    assert 0.949 <= found <= 0.99


@pytest.mark.parametrize("rate", [0.5, 2, 30, 400])
@pytest.mark.parametrize("price", PRICES[1:], ids=str)
def test_sums_of_truth_values_are_held(rate, price):
    """A Poisson number of them, few or many."""
    assert 0.949 <= held(poisson(rate), rate, noise_of(price, Boolean(), None), TotalUncertainty) <= 0.99


def normal(noise, weights, rows, luck, blindness, above, tail):
    """What was done before: a normal law with the variance that was found."""
    del blindness
    return beyond(noise, weights, rows, luck[0], 0.0, above) >= tail


LITTLE = 1000.0  # an epsilon that leaves hardly any noise, which would cover for the sample
HARD = [
    (Cell("mean", "rare events", "substitute", 100, LITTLE), 100),
    (Cell("mean", "heavy tail", "substitute", 100, LITTLE), 400),
    (Cell("variance", "heavy tail", "substitute", 30, LITTLE), 100),
    (Cell("variance", "incomes", "add-remove", 30, LITTLE), 100),
    (Cell("variance", "rare events", "substitute", 30, LITTLE), 200),
    (Cell("sum", "heavy tail", "add-remove", 30, LITTLE), 150),
    (Cell("group means", "heavy tail", "add-remove", 100, 10.0), 100),
]


@pytest.mark.parametrize(("cell", "runs"), HARD)
def test_what_a_sample_does_not_see_is_allowed_for(cell, runs):
    """Means, sums and variances of heavy tails and rare events are held, in small tables too."""
    assert is_enough(simulate(cell, runs)["population"])


@pytest.mark.parametrize(("cell", "runs"), HARD[:4])
def test_a_normal_law_is_refused(cell, runs, monkeypatch):
    """The check notices that the variance of a sample is not the variance of its population."""
    monkeypatch.setattr(least_favourable, "_either", normal)
    assert not is_enough(simulate(cell, runs)["population"])


@pytest.mark.parametrize("statistic", ["mean", "sum", "variance", "std"])
def test_what_holds_the_rows_is_held_for_the_population(statistic):
    """With rows that are all alike too, and where nothing seems to be there."""
    for value in (0.0, 3.0, 10.0):
        for seed in range(5):
            data = {"x": [value] * 12}
            asked = flou.open(data, schema={"x": Interval(0, 10)}, bits=SeededBits(f"{seed} {value}"))
            release = getattr(asked, statistic)("x", epsilon=4)
            (low, high), (least, most) = release.interval(), release.interval(of="population")
            assert least <= release.value <= most
            if statistic in {"mean", "sum"}:
                assert least <= low <= high <= most


def test_many_rows_cost_nothing():
    """With a million rows that fill their bounds the interval is that of the normal law, to a hundredth."""
    x = np.random.default_rng(2).uniform(0, 1, 1_000_000)
    asked = flou.open({"x": x}, schema=Schema({"x": Interval(0, 1)}, relation="substitute"), bits=SeededBits(1))
    low, high = asked.mean("x", epsilon=1).interval(of="population")
    assert high - low == pytest.approx(2 * 1.96 * np.sqrt(1 / 12e6), rel=0.01)
