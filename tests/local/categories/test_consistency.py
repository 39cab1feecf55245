"""Shares that add up to 1: nearest, most likely, and what they do to the error."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from flou.bits import SeededBits
from flou.errors import InvalidParameter
from flou.local import GRR, OUE, Warner
from flou.local.categories.consistency import most_likely_shares, nearest_shares

RANDOM = np.random.default_rng(1)


def test_the_nearest_shares_are_the_nearest():
    """No other table of shares is nearer: the conditions of Karush, Kuhn and Tucker hold, and a table stays itself."""
    for k in (2, 3, 10, 200):
        for scale in (0.01, 1, 100):
            raw = RANDOM.normal(1 / k, scale, k)
            found = nearest_shares(raw)
            assert found.min() >= 0
            assert found.sum() == pytest.approx(1, abs=1e-12)
            taken = raw - found
            level = taken[found > 0].mean()
            assert np.allclose(taken[found > 0], level, atol=1e-9 * scale + 1e-12)
            assert np.all(raw[found == 0] <= level + 1e-9 * scale + 1e-12)
    table = np.array([0.2, 0.5, 0.3])
    assert np.allclose(nearest_shares(table), table)
    assert np.allclose(nearest_shares(np.array([1e300, -1e300])), [1, 0])


def test_the_most_likely_shares_are_most_likely():
    """A general optimiser finds nothing better, and conditions at the maximum hold exactly."""
    for k, background in ((2, 0.5), (4, 0.3), (6, 2.0)):
        for _ in range(5):
            counts = RANDOM.integers(0, 60, k)
            found = most_likely_shares(counts, background)
            assert found.min() >= 0
            assert found.sum() == pytest.approx(1, abs=1e-12)

            def loss(f, counts=counts, background=background):
                return -np.sum(counts * np.log(background + np.maximum(f, 0)))

            start = np.full(k, 1 / k)
            total = {"type": "eq", "fun": lambda f: f.sum() - 1}
            other = minimize(loss, start, bounds=[(0, 1)] * k, constraints=[total], method="SLSQP")
            assert loss(found) <= other.fun + 1e-6
            slope = counts / (background + found)
            assert np.allclose(slope[found > 0], slope[found > 0].mean())
            assert np.all(slope[found == 0] <= slope[found > 0].mean() + 1e-9)
    assert np.allclose(most_likely_shares(np.zeros(4, dtype=np.int64), 1.0), 0.25)
    assert np.allclose(most_likely_shares(np.array([0, 0, 9]), 100.0), [0, 0, 1])


def test_without_a_bound_in_the_way_all_three_agree():
    """Where no estimate is negative there is nothing to repair."""
    oracle = GRR(3, epsilon=2)
    reports = np.repeat([0, 1, 2], [500, 300, 400])
    raw = oracle.estimate(reports, consistent="none").value
    assert raw.min() > 0
    for way in ("simplex", "mle"):
        assert np.allclose(oracle.estimate(reports, consistent=way).value, raw)


def test_the_default_can_be_published_and_the_intervals_stay():
    """Shares are not negative and add up to 1; intervals are the same whichever way is chosen, and the certificate
    says so."""
    oracle = GRR(20, epsilon=0.5)
    reports = oracle.randomise(np.zeros(2_000, dtype=int), bits=SeededBits(4))
    default = oracle.estimate(reports)
    raw = oracle.estimate(reports, consistent="none")
    assert raw.value.min() < 0 <= default.value.min()
    assert default.value.sum() == pytest.approx(1)
    for of in ("data", "population"):
        assert np.array_equal(default.interval(of=of), raw.interval(of=of))
    assert "intervals" in default.certificate["processing"]["postprocessing"][0]
    assert raw.certificate["processing"]["postprocessing"] == ["none"]
    assert np.array_equal(oracle.aggregate(reports).estimate().value, default.value)
    assert np.array_equal(oracle.shares(oracle.aggregate(reports)), raw.value)


def test_only_what_has_a_closed_form_is_offered():
    """The most likely shares exist for GRR and Warner; a word that is none of the three is refused."""
    assert Warner(epsilon=1).estimate([0, 0, 0], consistent="mle").value == pytest.approx([1, 0])
    with pytest.raises(InvalidParameter, match="closed form"):
        OUE(4, epsilon=1).estimate([[0]], consistent="mle")
    with pytest.raises(InvalidParameter, match="consistent"):
        GRR(4, epsilon=1).estimate([0], consistent="clip")


def test_both_ways_beat_clipping():
    """Total squared error at k = 128, epsilon = 1, n = 1e5, on falling shares: raw > clipped > nearest, most likely."""
    oracle = GRR(128, epsilon=1)
    truth = 1 / np.arange(1, 129)
    truth /= truth.sum()
    answers = np.repeat(np.arange(128), np.round(truth * 100_000).astype(int))
    truth = np.bincount(answers, minlength=128) / answers.size
    bits = SeededBits("consistency")
    errors = np.zeros(4)
    for _ in range(10):
        aggregate = oracle.aggregate(oracle.sample(answers, bits=bits))
        raw = oracle.shares(aggregate)
        ways = (raw, np.maximum(raw, 0), nearest_shares(raw), oracle.most_likely(aggregate))
        errors += [np.sum((way - truth) ** 2) / 10 for way in ways]
    assert errors[0] == pytest.approx(0.0565, rel=0.1)
    assert errors[1] < 0.7 * errors[0]
    assert errors[2] < 0.9 * errors[1]
    assert errors[3] < 0.9 * errors[1]
