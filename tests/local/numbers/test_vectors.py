"""Several numbers of one person: the loss of whole reports, bias, draws, intervals."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from flou import Integers
from flou.bits import SeededBits
from flou.errors import InvalidData, InvalidParameter
from flou.local import Aggregate, SampledMeans, Vector, VectorDuchi
from goodness import compatible, draws_to_detect, tilted


def worst_loss(laws: np.ndarray) -> float:
    return float(np.log(laws.max(axis=0) / laws.min(axis=0)).max())


def signs(d: int) -> np.ndarray:
    return 2 * (np.arange(2**d)[:, None] >> np.arange(d) & 1) - 1


@pytest.mark.parametrize("d", [2, 3, 4, 5])
@pytest.mark.parametrize("epsilon", [0.5, 1, 3])
def test_vector_duchi_loses_exactly_epsilon_without_bias(d, epsilon):
    """Over all reports and all pairs of vectors, for odd and even numbers of numbers."""
    randomiser = VectorDuchi([Integers(0, 2)] * d, epsilon=epsilon)
    answers = list(product(range(3), repeat=d))
    laws = np.array([randomiser.law(answer).probabilities for answer in answers])
    assert np.allclose(laws.sum(axis=1), 1, rtol=1e-12)
    assert worst_loss(laws) == pytest.approx(epsilon, rel=1e-12)
    assert np.allclose(laws @ signs(d) / randomiser.shrinkage, np.array(answers) - 1, atol=1e-12)
    assert randomiser.variance() == pytest.approx(1 / randomiser.shrinkage**2)


@pytest.mark.parametrize("d", [2, 4])
@pytest.mark.parametrize("epsilon", [0.5, 1, 3])
def test_closed_half_spaces_overspend(d, epsilon):
    """With ties on both sides the loss is ln(1 + e^epsilon); with ties on neither side it is infinite."""
    products = signs(d) @ signs(d).T
    p = math.exp(epsilon) / (1 + math.exp(epsilon))
    closed = p * (products >= 0) / (products >= 0).sum(axis=1) + (1 - p) * (products <= 0) / (products <= 0).sum(axis=1)
    assert worst_loss(closed) == pytest.approx(math.log(1 + math.exp(epsilon)), rel=1e-12)
    neither = p * (products > 0) + (1 - p) * (products < 0)
    with np.errstate(divide="ignore"):
        assert worst_loss(neither) == math.inf


@pytest.mark.parametrize("d", [3, 4])
def test_vector_duchi_draws_follow_the_law(d):
    randomiser = VectorDuchi([Integers(0, 4)] * d, epsilon=1.5)
    law = randomiser.law([0, 1, 4, 3][:d])
    counts = np.bincount(law.sample(draws_to_detect(0.05), bits=SeededBits(d)), minlength=2**d)
    assert compatible(counts, law.probabilities)
    assert not compatible(counts, tilted(law.probabilities, 0.05))


@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize("method", ["duchi", "designed"])
def test_sampled_means_lose_exactly_epsilon(m, method):
    """The whole report, which numbers it is about included, for all pairs of vectors."""
    randomiser = SampledMeans([Integers(0, 1)] * 3, epsilon=2, m=m, method=method)
    laws = np.array([randomiser.law(answer).probabilities for answer in product(range(2), repeat=3)])
    assert np.allclose(laws.sum(axis=1), 1, rtol=1e-12)
    assert worst_loss(laws) == pytest.approx(2, rel=1e-10)


def test_sampled_means_draws_follow_the_law():
    randomiser = SampledMeans([Integers(0, 2), Integers(0, 1), Integers(0, 3)], epsilon=2, m=2, method="duchi")
    law = randomiser.law([2, 0, 1])
    counts = np.bincount(law.sample(draws_to_detect(0.1), bits=SeededBits(1)), minlength=law.probabilities.size)
    assert compatible(counts, law.probabilities)
    assert not compatible(counts, tilted(law.probabilities, 0.1))


@pytest.mark.parametrize(("epsilon", "d", "m"), [(1, 4, 1), (5, 4, 2), (7.5, 2, 2), (30, 3, 3)])
def test_how_many_numbers_are_reported(epsilon, d, m):
    """max(1, min(d, floor(epsilon / 2.5)))."""
    assert SampledMeans([(0, 1)] * d, epsilon=epsilon, method="duchi").m == m


@pytest.mark.parametrize("kind", [VectorDuchi, SampledMeans])
def test_means_are_covered(kind):
    """In 100 collections from 2,000 people, 95 % intervals hold both means of all columns as often as stated."""
    domains = [(0, 1), (0, 10), (-5, 5)]
    randomiser, generator, hits = kind(domains, epsilon=2), np.random.default_rng(4), []
    for run in range(100):
        rows = np.stack(
            [generator.beta(2, 3, 2000), generator.uniform(2, 9, 2000), generator.normal(0, 1, 2000)], axis=1
        )
        release = randomiser.estimate(randomiser.randomise(rows, bits=SeededBits(run)))
        for of, truth in (("data", rows.mean(axis=0)), ("population", [0.4, 5.5, 0.0])):
            low, high = release.interval(of=of)
            hits.append((low <= truth) & (truth <= high))
    assert 0.92 < np.mean(hits) < 0.985


def test_aggregates_and_refusals():
    """Parts merge to the whole; reports of the wrong shape, out of order or out of range are refused."""
    randomiser = SampledMeans([Integers(0, 4)] * 3, epsilon=1, m=2, method="duchi", names=["a", "b", "c"])
    rows = np.random.default_rng(3).integers(0, 5, (300, 3))
    reports = randomiser.randomise(rows, bits=SeededBits(1))
    whole = randomiser.aggregate(reports)
    assert randomiser.aggregate(reports[:100]).merge(randomiser.aggregate(reports[100:])) == whole
    assert whole.estimate().labels == ("a", "b", "c")
    assert Aggregate.from_bytes(randomiser, whole.to_bytes()) == whole
    forged = Aggregate(randomiser)
    forged.people, forged.sums = 300, whole.sums + 1
    with pytest.raises(InvalidData, match="do not fit the number"):
        Aggregate.from_bytes(randomiser, forged.to_bytes())
    for bad in ([[0, 1]], [[[1, 0], [0, 1]]], [[[0, 0], [0, 1]]], [[[0, 2], [1, 1]]], [[[0, 1], [3, 1]]]):
        with pytest.raises(InvalidData, match="Each report"):
            whole.add(bad)
    assert whole.people == 300
    assert np.array_equal(randomiser.aggregate().estimate().value, [2.0] * 3)
    duchi = VectorDuchi([(0, 1), (0, 2)], epsilon=1)
    assert np.array_equal(duchi.aggregate().estimate().interval()[1], duchi.aggregate().estimate().uncertainty.upper)
    with pytest.raises(InvalidData, match="table of 2 columns"):
        duchi.randomise([1.0, 2.0])
    for make in (
        lambda: VectorDuchi([(0, 1)], epsilon=1),
        lambda: VectorDuchi([(0, 1)] * 61, epsilon=1),
        lambda: VectorDuchi([(0, 1)] * 2, epsilon=1, names=["a", "a"]),
        lambda: SampledMeans([(0, 1)] * 2, epsilon=1, m=3),
        lambda: VectorDuchi([(0, 1)] * 13, epsilon=1).law([0] * 13),
    ):
        with pytest.raises(InvalidParameter):
            make()


def test_a_vector_is_a_domain():
    """Columns are encoded one by one, a missing value with the code of its own column."""
    domain = Vector([Integers(0, 4), (0, 1)])
    codes = domain.encode(np.array([[3, 0.0], [np.nan, 1.0]]))
    assert codes[:, 0].tolist() == [3, 2]
    assert domain.decode(codes)[0, 0] == 3
    assert domain.size == 5 * 2**16
    assert domain.missing_code == 2 * 2**16 + 2**15
