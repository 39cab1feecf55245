"""Poisson draws: the formula, the bound behind the rejection, and the sampler."""

from __future__ import annotations

import itertools
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from scipy.stats import poisson

from flou.bits import SeededBits
from flou.laws import poisson as module
from flou.laws.poisson import _keep, _minus_log, draw_poisson
from goodness import compatible, draws_to_detect

MEANS = [
    Fraction(1, 10**6), Fraction(3, 10), Fraction(7, 10), Fraction(99, 100), Fraction(1), Fraction(7, 4), Fraction(15),
    Fraction(33, 2), Fraction(1000, 3), Fraction(10**6) + Fraction(1, 3),
    Fraction(2**40) + Fraction(2, 7), Fraction(2**59) - Fraction(1, 3),
]  # fmt: skip


def mode_and_step(mean: Fraction) -> tuple[int, int]:
    mode = int(mean)
    return mode, int(np.sqrt(mode)) + 1


def places(mean: Fraction) -> list[int]:
    """Distances from the mode, near and far on both sides, of numbers that are not negative."""
    mode, t = mode_and_step(mean)
    near = [*range(-6, 7), *(x * t for x in (-14, -8, -5, -3, -2, -1, 1, 2, 3, 5, 8, 14))]
    return sorted({y for y in near if y >= -mode})


def exact_minus_log(mean: Fraction, k: int) -> mp.mpf:
    mu = mp.mpf(mean.numerator) / mean.denominator
    return mu - k * mp.log(mu) + mp.loggamma(k + 1)


@pytest.mark.parametrize("mean", MEANS, ids=float)
def test_the_float_exponent_is_within_its_margin(mean):
    """Where it matters, -log P(k) is good to 2^-42, a quarter of what the decisions allow for."""
    mode, _ = mode_and_step(mean)
    y = np.array(places(mean))
    with mp.workdps(60):
        for step, found in zip(y.tolist(), _minus_log(y, mode, mean), strict=True):
            exact = exact_minus_log(mean, mode + step)
            if exact - exact_minus_log(mean, mode) < 120:
                assert abs(exact - mp.mpf(float(found))) < mp.mpf(2) ** -42


def bound(mean: Fraction) -> Fraction:
    mode, t = mode_and_step(mean)
    if mode == 0:
        return max(mean, 2 * mean - Fraction(69, 100))
    return Fraction(1, t) + Fraction(mode + 1, 2 * t * t) / (1 - Fraction(1, 3 * t))


@pytest.mark.parametrize("mean", [Fraction(n, 7) for n in (*range(1, 60), 100, 777, 7000, 70001)] + MEANS, ids=float)
def test_what_is_kept_is_a_probability(mean):
    """|y|/t - f(mode + y) never exceeds M; a tenth less would be too little somewhere."""
    mode, t = mode_and_step(mean)
    with mp.workdps(60):
        most = bound(mean)
        limit = mp.mpf(most.numerator) / most.denominator
        base = exact_minus_log(mean, mode)
        heights = [
            mp.mpf(abs(y)) / t - exact_minus_log(mean, mode + y) + base
            for y in {*places(mean), *range(-min(mode, 40), 41)}
        ]
        assert max(heights) <= limit
        assert max(heights) > limit - 1


def test_the_bound_is_the_one_in_use():
    """The test's M is that of the sampler: the kept share that follows from it is what is seen."""
    for mean in (Fraction(1, 2), Fraction(40)):
        taken = 0

        class Counting(SeededBits):
            def words(self, size):
                nonlocal taken
                taken += size
                return super().words(size)

        draw_poisson(mean, 30_000, Counting("kept"))
        mode, t = mode_and_step(mean)
        start = np.exp(float(exact_minus_log(mean, mode)) - float(bound(mean)))
        rate = start * (np.tanh(1 / (2 * t)) if mode else 1 - np.exp(-1))
        assert taken / 2 == pytest.approx(30_000 / rate, rel=0.1)


@pytest.mark.parametrize("mean", MEANS, ids=float)
def test_the_exact_coin_is_the_float_one(mean):
    """The enclosure of the probability of keeping k holds the true number, at every precision asked for."""
    mode, t = mode_and_step(mean)
    for y, precision in itertools.product(places(mean)[::3], (16, 72, 200)):
        more = bound(mean) - Fraction(abs(y), t)
        low, high = _keep(y, mode, mean, more)(precision)
        assert 0 <= low <= high <= low + 4
        with mp.workdps(130):
            exponent = (
                exact_minus_log(mean, mode + y)
                - exact_minus_log(mean, mode)
                + mp.mpf(more.numerator) / more.denominator
            )
            assert low <= mp.e**-exponent * 2**precision <= high


def test_draws_decided_by_enclosures_alone_are_the_same(monkeypatch):
    """With a margin that trusts no float, every decision is exact, and nothing changes."""
    fast = draw_poisson(Fraction(37, 3), 300, SeededBits("same"))
    coins = module.coins
    monkeypatch.setattr(module, "coins", lambda words, p, _slack, number, bits: coins(words, p, 1e9, number, bits))
    assert np.array_equal(draw_poisson(Fraction(37, 3), 300, SeededBits("same")), fast)


@pytest.mark.parametrize("mean", [0.01, 0.5, 1, 2.5, 17, 400.3, 1e6])
def test_draws_are_poisson_and_three_percent_are_noticed(mean):
    """Draws follow the law (false alarms: 1e-9), and one whose spread is 3 % off is refused."""
    n = draws_to_detect(0.03)
    draws = draw_poisson(Fraction(str(mean)), n, SeededBits(f"poisson {mean}"))
    assert draws.min() >= 0
    for wrong in (False, True):
        law = poisson(mean + 0.03 * max(np.sqrt(mean), mean if mean < 1 else 0)) if wrong else poisson(mean)
        edges = np.unique(law.ppf(np.arange(1, 20) / 20))
        p = np.diff(np.concatenate([[0], law.cdf(edges), [1]]))
        counts = np.bincount(np.searchsorted(edges, draws), minlength=p.size)
        if wrong and mean < 0.1:
            continue  # too few ones to tell
        assert compatible(counts[p > 0], p[p > 0]) is not wrong
