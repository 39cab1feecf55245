"""Faults that clients in the wild have had: the same checks that pass all oracles refuse each of them."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

import numpy as np
import pytest

from flou.bits import SeededBits
from flou.laws import Bernoulli
from flou.local import GRR, OLH, OUE, SUE, Hadamard, SubsetSelection, Warner
from flou.local.categories.packed import packed_coins, put
from goodness import compatible
from local.enumerated import all_reports, bias, index_of, laws, worst_loss

DRAWS = 100_000


class NeverClears(SUE):
    """A RAPPOR client that randomises only the bits that are 0."""

    @cached_property
    def yes(self):
        return Bernoulli(1)


def test_a_true_bit_that_is_never_cleared_has_no_finite_loss():
    """The loss is infinite, and the check says so."""
    assert worst_loss(laws(NeverClears(4, epsilon=1))) == np.inf
    assert worst_loss(laws(SUE(4, epsilon=1))) == pytest.approx(1)


def test_a_client_that_never_clears_is_seen_from_its_reports():
    """A sampler with that fault, under the right law's name, does not pass the test of samplers."""
    oracle = SUE(4, epsilon=1)
    for sampler, good in ((NeverClears(4, epsilon=1), False), (oracle, True)):
        drawn = sampler.sample(np.full(DRAWS, 1), bits=SeededBits("never clears"))
        counts = np.bincount(index_of(oracle, drawn), minlength=16)
        assert compatible(counts, oracle.law(1).pmf(all_reports(oracle))) is good


class SwappedCoins(OUE):
    """OUE with its two coins exchanged: 1 / (e^epsilon + 1) for the own bit, 1/2 for the others."""

    @cached_property
    def yes(self):
        return OUE(self.k, epsilon=self.epsilon).no

    @cached_property
    def no(self):
        return Bernoulli(Fraction(1, 2))


class FullEpsilonTwice(SUE):
    """SUE whose two bits spend epsilon each."""

    @cached_property
    def yes(self):
        return SUE(self.k, epsilon=2 * self.epsilon).yes

    @cached_property
    def no(self):
        return SUE(self.k, epsilon=2 * self.epsilon).no


class WrongOmega(SubsetSelection):
    """Sets of omega categories with the coin that belongs to sets of omega + 1."""

    @cached_property
    def own(self):
        return SubsetSelection(self.k, epsilon=self.epsilon, omega=self.omega + 1).own


class LastDigit(OLH):
    """A hash of x mod g: categories with the same last digit always collide."""

    def hashed(self, seeds, codes):
        return super().hashed(seeds, codes % self.g)

    def support(self, aggregate):
        seeds, values = np.divmod(np.arange(self.tallies), self.g)
        supported = self.hashed(seeds[:, None], np.arange(self.k)[None]) == values[:, None]
        return aggregate.sums @ supported


class FewSeeds(OLH):
    """Only some seeds are in use, as in "fast" local hashing: their collisions are not one in g."""

    def law(self, answer):
        whole = super().law(answer)
        used = np.arange(self.tallies) < 2 * self.g  # seeds 0 and 1

        class Part:
            def pmf(self, reports):
                chosen = whole.pmf(reports) * used[reports]
                return chosen / (whole.probabilities * used).sum()

        return Part()


class ClosedHash(OLH):
    """Seeds without 0: collisions are rarer than one in g, and 1/g is the wrong background."""

    def law(self, answer):
        whole = super().law(answer)
        used = np.arange(self.tallies) >= self.g

        class Part:
            def pmf(self, reports):
                return whole.pmf(reports) * used[reports] / (whole.probabilities * used).sum()

        return Part()


class RowZero(Hadamard):
    """Category x has row x: row 0 is even for every report, so category 0 is always supported."""

    def law(self, answer):
        return super().law(answer - 1) if answer > 0 else Uniform(self.size)


class Uniform:
    def __init__(self, size):
        self.size = size

    def pmf(self, reports):
        return np.full(len(reports), 1 / self.size)


@pytest.mark.parametrize("kind", [SwappedCoins, FullEpsilonTwice, WrongOmega])
def test_wrong_coins_are_seen_in_the_loss_or_the_bias(kind):
    """The largest log-ratio is not epsilon, or the estimate is biased."""
    oracle = kind(6, epsilon=1)
    off = abs(worst_loss(laws(oracle)) - 1)
    if kind is SwappedCoins:  # the same loss, with every report read the wrong way round
        assert oracle.gap * (oracle.p - oracle.q) < 0
    else:
        assert off > 0.1
    assert bias(oracle) > 0.1


@pytest.mark.parametrize("kind", [LastDigit, FewSeeds, ClosedHash])
def test_hashes_whose_collisions_are_not_one_in_g_are_seen_in_the_bias(kind):
    """The loss is epsilon all the same: only the enumeration of the estimate tells."""
    oracle = kind(8, epsilon=1, g=3)
    assert worst_loss(laws(oracle)) == pytest.approx(1)
    assert bias(oracle) > 0.05
    assert bias(OLH(8, epsilon=1, g=3)) < 1e-11


def test_the_constant_row_of_the_hadamard_matrix_is_seen_in_the_bias():
    """A category with row 0 says nothing, and its answers are read as others'."""
    assert bias(RowZero(5, epsilon=1)) > 0.5


def test_the_estimator_of_the_slides_is_seen_in_the_bias():
    """2 mean - 1 instead of 2 mean - 1/2."""

    class Printed(Warner):
        def shares(self, aggregate):
            ones = 2 * aggregate.sums[1] / aggregate.people - 1
            return np.array([1 - ones, ones])

    assert bias(Printed(p=0.75, q=0.25)) == pytest.approx(0.5)


def test_sets_that_are_not_uniform_are_refused():
    """Taking surplus categories off in their order, instead of uniformly, does not pass the test of samplers."""
    oracle = SubsetSelection(6, epsilon=1, omega=2)
    codes = np.full(DRAWS, 2)
    bits = SeededBits("not uniform")
    own = oracle.own.draw(DRAWS, bits)
    rows = packed_coins(DRAWS, 6, lambda precision: (1 << precision - 1, 1 << precision - 1), bits)
    put(rows, codes, np.zeros(DRAWS))
    unpacked = np.unpackbits(rows, axis=1, count=6)
    unpacked[:, [0, 1, 3, 4, 5]] |= np.arange(5) < 2  # never too few
    first = np.cumsum(unpacked, axis=1) <= (oracle.omega - own)[:, None]
    drawn = np.packbits(unpacked & first, axis=1)
    put(drawn, codes, own)
    counts = np.bincount(index_of(oracle, drawn), minlength=15)
    assert not compatible(counts, oracle.law(2).pmf(all_reports(oracle)))


def test_a_client_that_keeps_the_truth_too_often_is_refused():
    """GRR with k in place of k - 1 others: the truth is drawn again as one of them."""
    oracle = GRR(4, epsilon=1)
    bits = SeededBits("too often")
    kept = oracle.mechanism.keep.draw(DRAWS, bits) == 1
    drawn = np.where(kept, 1, bits.below(4, DRAWS))
    assert not compatible(np.bincount(drawn, minlength=4), oracle.law(1).pmf(np.arange(4)))
