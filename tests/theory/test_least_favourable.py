"""Sums of rows with two values, and noise: their tails against sums over all outcomes, and what they hold."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta, binom, laplace, norm, poisson

from flou.laws import DiscreteGaussian, DiscreteLaplace
from flou.theory.least_favourable import EXACT, beyond, holds_mean, holds_total

FINE = DiscreteLaplace(1000)  # as good as continuous
NONE = np.array([1e-9])  # a weight that leaves nothing of it


def tails(law, jump: float, back: float, scale: float, seen: np.ndarray) -> np.ndarray:
    """P(sum + Laplace >= seen) over all numbers of jumps, straight from the definition."""
    k = np.arange(law.ppf(1e-14), law.ppf(1 - 1e-14) + 1)
    height = np.sign(jump) * (k - law.mean()) * (abs(jump) + back)
    return law.pmf(k) @ laplace.sf(seen[None, :] - height[:, None], scale=scale)


@pytest.mark.parametrize("jump", [0.8, -0.8, 0.05, -0.05])
@pytest.mark.parametrize(("rows", "variance"), [(10, 0.02), (300, 0.001), (1000, 0.1), (40_000, 0.1)])
@pytest.mark.parametrize("noise", [0.4, 1.0])
def test_tails_are_those_of_the_binomial_law_with_noise(rows, variance, jump, noise):
    """For rare and frequent jumps, up and down: exactly where they are few, to a few per cent where they are many."""
    back, scale = variance / abs(jump), noise * np.sqrt(rows * variance)
    law = binom(rows, back / (abs(jump) + back))
    seen = np.sqrt(rows * variance + 2 * scale**2) * np.array([-1.0, 0.0, 1.0, 2.0, 3.0])
    found = beyond(FINE, np.array([scale / 1000]), float(rows), rows * variance, jump, seen)
    expected = tails(law, jump, back, scale, seen)
    assert found == pytest.approx(expected, rel=1e-3 if law.var() <= EXACT else 0.05)
    wrong = beyond(FINE, np.array([scale / 1000]), float(rows), 1.3 * rows * variance, jump, seen)
    assert wrong != pytest.approx(expected, rel=1e-3 if law.var() <= EXACT else 0.05)


def test_infinitely_many_rows_jump_as_poisson_numbers():
    """The limit of rare jumps, with Laplace noise and with Gaussian noise."""
    seen, k = np.array([-1.0, 0.5, 3.0]), np.arange(60)
    found = beyond(FINE, np.array([0.5e-3]), np.inf, 4.0, 2.0, seen)
    assert found == pytest.approx(tails(poisson(1.0), 2.0, 0.0, 0.5, seen), rel=1e-3)
    found = beyond(DiscreteGaussian(1000), np.array([0.5e-3]), np.inf, 4.0, 2.0, seen)
    exact = poisson.pmf(k, 1.0) @ norm.sf(seen[None, :] - 2.0 * (k[:, None] - 1), scale=0.5)
    assert found == pytest.approx(exact, rel=1e-3)


def test_the_edges_are_no_errors():
    """No variance leaves the noise alone, no jump is a normal law, and no more rows jump than there are."""
    assert beyond(FINE, np.array([1e-3]), 10.0, 0.0, 1.0, np.array([2.0])) == pytest.approx(laplace.sf(2), rel=1e-3)
    assert beyond(FINE, NONE, np.inf, 4.0, 0.0, np.array([4.0])) == pytest.approx(norm.sf(2), rel=1e-3)
    assert beyond(FINE, NONE, 3.0, 3 * 0.25, 0.5, np.array([1.6]))[0] < 1e-9


@pytest.mark.parametrize("k", [0, 1, 2, 7, 20])
@pytest.mark.parametrize("rows", [20, 1000])
def test_truth_values_without_noise_have_the_interval_of_clopper_and_pearson(rows, k):
    """Its two ends are held, and what lies a little outside of them is not."""

    def held(p: float) -> bool:
        found, seen = (np.array([k / rows]), np.inf), np.array([k - p * rows])
        seen = seen - 1e-4 * np.sign(seen)  # so that the little noise that there is does not halve the last step
        options = {"rows": float(rows), "top": 1.0, "candidate": np.array([p]), "tail": 0.025, "whole": True}
        return bool(holds_mean(FINE, NONE, found=found, seen=seen, **options)[0])

    if k > 0:
        low = beta.ppf(0.025, k, rows - k + 1)
        assert held(1.001 * low)
        assert not held(0.999 * low)
    if k < rows:
        high = beta.ppf(0.975, k + 1, rows - k)
        assert held(0.999 * high)
        assert not held(1 - 0.999 * (1 - high) if high > 0.9 else 1.001 * high)


@pytest.mark.parametrize(("many", "expected"), [(3.6, True), (3.8, False)])
def test_rows_that_are_all_alike_leave_room_for_others(many, expected):
    """After n rows of one value, 3.7 rows in n may lie at a bound: the rule of three, at 97.5 %."""
    for mean in (0.0, 0.3):
        candidate = mean + (1 - mean) * many / 1000
        seen, found = np.array([1000 * (mean - candidate) + 1e-4]), (np.array([mean]), np.array([0.0]))
        options = {"rows": 1000.0, "top": 1.0, "candidate": np.array([candidate]), "tail": 0.025}
        assert holds_mean(FINE, NONE, found=found, seen=seen, **options)[0] == expected
    nothing = np.array([0.0]), np.array([1e-4])  # a hundred rows of 0, say, and perhaps some of -2
    options = {"bounds": (-2.0, 0.5), "candidate": np.array([-2 * many]), "tail": 0.025}
    assert holds_total(FINE, NONE, found=nothing, **options)[0] == expected
