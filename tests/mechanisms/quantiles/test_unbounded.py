"""Quantiles without bounds: private for all neighbours with the sharper noise, and right up to the growth."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from flou.bits import SeededBits
from flou.errors import InvalidParameter
from flou.mechanisms.above_threshold import AboveThreshold
from flou.mechanisms.quantiles import SortedRecords, UnboundedQuantile
from mechanisms.quantiles.tiny import PROBABILITIES, RELATIONS, as_counts, follows, in_memory, pairs
from privacy.exhaustive import loss

CELLS = 6


TWO = [Fraction(1, 2), Fraction(3, 5)]


def measured(mechanism, most=3) -> float:
    """The largest log-ratio over all neighbours on six cells, and all answers."""
    some = pairs(mechanism.relation, (0, 1, 3, 5), most)
    return loss(mechanism.law, lambda t: in_memory(t, CELLS), some, lambda law: sorted(law.outcomes()))


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("p", PROBABILITIES, ids=str)
def test_loss_is_at_most_epsilon(relation, p):
    """All neighbours, from the lowest cell up, and from the middle to both sides."""
    assert measured(UnboundedQuantile(p, epsilon=1, growth=2, relation=relation)) <= 1 + 1e-9
    both = UnboundedQuantile(p, epsilon=1, growth=2, relation=relation, origin=2, sides="both")
    assert measured(both) <= 1 + 1e-9


@pytest.mark.parametrize("relation", RELATIONS)
def test_several_quantiles_lose_at_most_epsilon(relation):
    """All neighbours with up to five records, one side; with up to three, both sides."""
    for probabilities in (TWO, [0, 1], [0.3, 0.6]):
        assert 0.5 < measured(UnboundedQuantile(probabilities, epsilon=1, growth=2, relation=relation), 5) <= 1 + 1e-9
    both = UnboundedQuantile(TWO, epsilon=1, growth=2, relation=relation, origin=2, sides="both")
    assert 0.2 < measured(both) <= 1 + 1e-9


class Greedy(UnboundedQuantile):
    """A third of the noise."""

    def threshold(self, p):
        right = super().threshold(p)
        return AboveThreshold(
            threshold=0, sensitivity=right.sensitivity, epsilon=3 * right.epsilon, monotone=True, split=right.split
        )


@pytest.mark.parametrize("relation", RELATIONS)
def test_less_noise_is_refused(relation):
    """A third of the noise overspends, for two quantiles 30 % of epsilon more do, and the check sees it."""
    assert measured(Greedy(0.5, epsilon=1, growth=2, relation=relation)) > 1.05
    assert measured(UnboundedQuantile(TWO, epsilon=Fraction(13, 10), growth=2, relation=relation), 5) > 1.05


def test_scales_are_those_of_the_law():
    """M / e1 for the threshold and 1 / e2 for the queries, in units, with e1 + e2 = epsilon."""
    for relation, p in (("add-remove", Fraction(1, 4)), ("substitute", Fraction(1, 4)), ("add-remove", Fraction(1))):
        tried = UnboundedQuantile(p, epsilon=1, relation=relation).threshold(p)
        most = 1 if relation == "substitute" else max(p, 1 - p)
        first, second = most * p.denominator / tried.threshold_noise.scale, p.denominator / tried.query_noise.scale
        assert first + second == 1
        assert 0 < first < 1


@pytest.mark.parametrize("sides", ["above", "both"])
def test_samples_follow_the_law(sides):
    """Draws from arrays and counts follow the law, and refuse that of another epsilon."""
    table = (1, 3, 3, 4, 8, 9)
    mechanism, other = (
        UnboundedQuantile(0.4, epsilon=e, growth=1.5, sides=sides, origin=0 if sides == "above" else 5) for e in (2, 1)
    )
    for summary in (in_memory, as_counts):
        records, bits = summary(table, 12), SeededBits(f"unbounded {summary.__name__} {sides}")
        draws = np.array([mechanism.sample(records, bits=bits)[0] for _ in range(3000)])
        right, wrong = ([one.law(records).pmf((c,)) for c in range(12)] for one in (mechanism, other))
        assert sum(right) == pytest.approx(1, abs=1e-12)
        assert follows(draws, right)
        assert not follows(draws, wrong)


@pytest.mark.parametrize("origin", [0, 2, 4])
def test_two_samples_follow_the_law(origin):
    """Draws of two quantiles from both sides follow the law, also from an origin that is the first or the last cell."""
    mechanism, other = (UnboundedQuantile(TWO, epsilon=e, growth=2, sides="both", origin=origin) for e in (6, 3))
    records, bits = in_memory((0, 1, 1, 3, 4, 4), 5), SeededBits(f"two unbounded {origin}")
    draws = np.array([mechanism.sample(records, bits=bits) for _ in range(2000)]) @ [5, 1]
    right, wrong = (
        np.array([one.law(records).pmf((a, b)) for a in range(5) for b in range(5)]) for one in (mechanism, other)
    )
    assert follows(draws, right)
    assert not follows(draws, wrong)


@pytest.mark.parametrize("p", [0.1, 0.5, 0.99])
def test_answers_are_right_up_to_the_growth(p):
    """Lognormal amounts on a grid of 2^60 cells, of which nothing is known."""
    codes = np.sort(np.random.default_rng(7).lognormal(20, 2, 10**5).astype(np.int64))
    records = SortedRecords(codes, cells=2**60, ordered=True)
    exact = int(codes[int(p * codes.size)])
    answer = int(UnboundedQuantile(p, epsilon=1).sample(records, bits=SeededBits("amounts"))[0])
    assert exact / 1.1 <= answer <= exact * 1.1
    middle = 2**59
    signed = SortedRecords(np.concatenate([middle - codes, middle + codes]), cells=2**60)
    mechanism = UnboundedQuantile([p / 2, 1 - p / 2], epsilon=2, origin=middle, sides="both")
    below, above = mechanism.sample(signed, bits=SeededBits("signed")).tolist()
    assert below < middle < above
    mirrored = int(codes[int((1 - p) * codes.size)])
    assert mirrored / 1.15 <= middle - below <= mirrored * 1.15
    assert mirrored / 1.15 <= above - middle <= mirrored * 1.15


def test_guesses_grow_and_end_at_the_bounds():
    """Cell by cell at first, then by the factor, the last one is the bound."""
    mechanism = UnboundedQuantile(0.5, epsilon=1, growth=2, origin=10, sides="both")
    assert mechanism.above(31) == [10, 11, 12, 14, 18, 26, 30]
    assert mechanism.below() == [9, 8, 6, 2, 0]
    assert UnboundedQuantile(0.5, epsilon=1).above(1) == [0]


def test_strange_parameters_are_refused():
    """The factor is larger than 1, the origin lies on the grid."""
    for growth in (1, 0.5, 10**4, "2", None):
        with pytest.raises(InvalidParameter, match="growth"):
            UnboundedQuantile(0.5, epsilon=1, growth=growth)
    with pytest.raises(InvalidParameter, match="sides"):
        UnboundedQuantile(0.5, epsilon=1, sides="up")
    with pytest.raises(InvalidParameter, match="origin"):
        UnboundedQuantile(0.5, epsilon=1, origin=5).sample(in_memory((), 5))
    with pytest.raises(InvalidParameter, match="Samples are not affected"):
        UnboundedQuantile([0.2, 0.5, 0.8], epsilon=1).law(in_memory((0, 1), 2**31))
