"""The correlation of two numbers from reports: the loss of the pair, how often intervals hold, what is not known."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import flou
from flou.bits import SeededBits
from flou.errors import InvalidData, InvalidParameter
from flou.local import Aggregate, Correlation
from goodness import compatible, draws_to_detect, tilted

PEOPLE, RUNS = 20_000, 100


def worst_loss(laws: np.ndarray) -> float:
    return float(np.log(laws.max(axis=0) / laws.min(axis=0)).max())


@pytest.mark.parametrize("method", ["duchi", "designed"])
@pytest.mark.parametrize("epsilon", [0.5, 2])
def test_both_numbers_cost_epsilon_together(method, epsilon):
    """All pairs of a grid of 3 x 4 and all reports, which moment they are about included."""
    randomiser = Correlation(flou.Integers(0, 2), flou.Integers(0, 3), epsilon=epsilon, method=method)
    laws = np.array([randomiser.law(answer).probabilities for answer in product(range(3), range(4))])
    assert np.allclose(laws.sum(axis=1), 1, rtol=1e-12)
    assert worst_loss(laws) == pytest.approx(epsilon, rel=1e-10)
    assert randomiser.guarantee.epsilon == epsilon


def test_two_moments_would_cost_more():
    """The enumeration is seen to refuse a person who reports x and xy with all of epsilon each."""
    randomiser = Correlation(flou.Integers(0, 1), flou.Integers(0, 1), epsilon=1, method="duchi")
    found = []
    for answer in product(range(2), repeat=2):
        laws = randomiser.law(answer).probabilities.reshape(5, 2) * 5
        found.append(np.kron(laws[0], laws[4]))
    assert worst_loss(np.array(found)) == pytest.approx(2)


def test_draws_follow_the_law():
    randomiser = Correlation(flou.Integers(0, 2), flou.Integers(0, 1), epsilon=2, method="duchi")
    law = randomiser.law([2, 0])
    counts = np.bincount(law.sample(draws_to_detect(0.1), bits=SeededBits(1)), minlength=law.probabilities.size)
    assert compatible(counts, law.probabilities)
    assert not compatible(counts, tilted(law.probabilities, 0.1))


def test_moments_are_squares_and_products():
    """On the grids of the five moments the codes are x, y, x^2, y^2 and xy, exactly."""
    randomiser = Correlation(flou.Integers(0, 4), flou.Integers(0, 7), epsilon=1, method="duchi")
    answers = np.array(list(product(range(5), range(8))))
    codes = randomiser.moment_codes(answers)
    x, y = answers[:, 0] / 2 - 1, 2 * answers[:, 1] / 7 - 1
    tops = np.array([one.steps for one in randomiser.randomisers])
    assert codes.min() >= 0
    assert np.all(codes <= tops)
    shares = codes / tops
    wanted = [(x + 1) / 2, (y + 1) / 2, x * x, y * y, (x * y + 1) / 2]
    assert shares == pytest.approx(np.stack(wanted, axis=1))


def pairs(rho: float, people: int, seed: int) -> np.ndarray:
    """Within bounds that never clamp: sums of uniform numbers, and of two for the correlation."""
    x, rest = np.random.default_rng(seed).uniform(-1, 1, (2, people))
    return np.stack([x, rho * x + math.sqrt(1 - rho**2) * rest], axis=1)


def coverage(rho: float, narrower: float = 1.0) -> tuple[float, float]:
    randomiser, hits = Correlation((-1, 1), (-1.5, 1.5), epsilon=2), []
    for run in range(RUNS):
        rows = pairs(rho, PEOPLE, run)
        known = randomiser.estimate(randomiser.randomise(rows, bits=SeededBits(run))).uncertainty
        known = replace(known, covariances=known.covariances / narrower)
        truths = (np.corrcoef(rows.T)[0, 1], rho)
        intervals = (known.data(0.95), known.population(0.95))
        hits.append([low <= truth <= high for (low, high), truth in zip(intervals, truths, strict=True)])
    data, population = np.mean(hits, axis=0)
    return float(data), float(population)


@pytest.mark.parametrize("rho", [0, 0.5, -0.8])
def test_correlations_are_covered(rho):
    """In 100 collections from 20,000 people 95 % intervals hold both correlations between 90 and 99 % of the time."""
    data, population = coverage(rho)
    assert 0.9 <= data <= 0.99
    assert 0.9 <= population <= 0.99


def test_too_narrow_intervals_are_noticed():
    """With a third of the variance they are seen not to hold."""
    assert max(coverage(0.5, narrower=3.0)) < 0.88


def test_many_reports_tell_the_correlation():
    """At a large epsilon the estimate is that of the rows, whatever their place between the bounds."""
    randomiser = Correlation((-1, 3), (-4, 1.5), epsilon=8)
    rows = pairs(-0.6, 200_000, 1)
    release = randomiser.estimate(randomiser.randomise(rows, bits=SeededBits(1)))
    assert release.value == pytest.approx(-0.6, abs=0.05)
    assert release.uncertainty.grid < 0.1
    assert release.statistic == "correlation"
    json.dumps(release.to_dict())


@pytest.mark.parametrize("people", [0, 1, 10, 300])
def test_what_is_not_known_is_said(people):
    """From few reports, or for numbers without spread, the interval is everything from -1 to 1."""
    randomiser = Correlation((-1, 1), (-1.5, 1.5), epsilon=0.5)
    release = randomiser.estimate(randomiser.randomise(pairs(0.9, people, 1), bits=SeededBits(3)))
    assert release.interval() == (-1.0, 1.0)
    assert -1 <= release.value <= 1
    constant = randomiser.randomise(np.zeros((20_000, 2)), bits=SeededBits(1))
    assert randomiser.estimate(constant).interval(of="population") == (-1.0, 1.0)


def test_aggregates_and_refusals():
    """Parts merge to the whole, forged sums and grids that are too fine are refused."""
    randomiser = Correlation(flou.Integers(0, 9), (0, 1), epsilon=1)
    rows = np.random.default_rng(3).uniform(0, 1, (300, 2))
    reports = randomiser.randomise(rows, bits=SeededBits(1))
    whole = randomiser.aggregate(reports)
    assert randomiser.aggregate(reports[:100]).merge(randomiser.aggregate(reports[100:])) == whole
    assert Aggregate.from_bytes(randomiser, whole.to_bytes()) == whole
    assert randomiser.aggregate().estimate().uncertainty.grid == 2.0
    with pytest.raises(InvalidData, match="another question"):
        whole.merge(Correlation(flou.Integers(0, 9), (0, 2), epsilon=1).aggregate())
    with pytest.raises(InvalidData, match="table of 2 columns"):
        randomiser.randomise([1.0, 2.0])
    with pytest.raises(InvalidParameter, match="from 2 to 362 codes"):
        Correlation(flou.Integers(0, 1000), (0, 1), epsilon=1)
