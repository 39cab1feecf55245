"""Fast decisions are those of exact arithmetic, word by word."""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from flou.bits import Bits, SeededBits
from flou.laws import Bernoulli, DiscreteLaplace, Geometric
from flou.laws.decide import Uniform, coins, tail_index
from flou.laws.enclosure import constant, exp_minus

BITS = SeededBits("decide")


class Scripted(Bits):
    """A tape of bytes that repeats one value: the two extreme continuations of a uniform."""

    def __init__(self, byte: int) -> None:
        self.byte, self.asked = byte, 0

    def take(self, size: int) -> np.ndarray:
        self.asked += size
        return np.full(size, self.byte, dtype=np.uint8)


@pytest.mark.parametrize("name", ["log", "exp"])
def test_the_platform_is_as_accurate_as_the_margins_assume(name):
    """log on (0, 1) and exp on (-745, 0) err by less than a quarter of the 2^-49 that decisions allow for."""
    words = BITS.words(20_000)
    near_one = 1 - words[:2000] * 2.0**-75
    x = np.concatenate([words * 2.0**-64, near_one, 2.0 ** -np.arange(1.0, 64)])
    x = x[x < 1] if name == "log" else -745 * x
    found = getattr(np, name)(x)
    with mp.workprec(120):
        for a, b in zip(x.tolist(), found.tolist(), strict=True):
            true = getattr(mp, name)(mp.mpf(a))
            if abs(true) > mp.mpf(2) ** -1000:
                assert abs(b - true) <= abs(true) * mp.mpf(2) ** -51


@pytest.mark.parametrize("scale", [Fraction(1, 50), Fraction(1), Fraction(22, 7), Fraction(10**6), Fraction(2**30)])
def test_geometric_decisions_are_exact(scale):
    """For every word the fast index is the one that enclosures find, also for short and extreme words."""
    law = Geometric(scale)
    special = [0, 1, 2, 3, 2**20 - 1, 2**20, 2**52 - 1, 2**52, 2**63, 2**64 - 2**11, 2**64 - 1]
    words = np.concatenate([np.array(special, np.uint64), BITS.words(300), BITS.words(100) >> np.uint64(30)])
    found = tail_index(words, float(scale), 0.0, lambda k: exp_minus(k / scale), SeededBits(1))
    for word, k in zip(words.tolist(), found.tolist(), strict=True):
        low, high = Fraction(word, 2**64), Fraction(word + 1, 2**64)
        upper, lower = exp_minus(k / scale)(200)[1], exp_minus((k + 1) / scale)(200)[0]
        assert low * 2**200 <= upper, "some U of this word is below the tail at k"
        assert high * 2**200 >= lower, "some U of this word is above the tail at k + 1"
    assert law.sample(3, bits=SeededBits(2)).shape == (3,)


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(1000), Fraction(2**29)])
@pytest.mark.parametrize("k", [1, 2, 7])
def test_a_word_on_the_boundary_is_decided_by_its_further_bits(scale, k):
    """Where the tail at k cuts through a word, the bits that follow decide, and they are drawn."""
    law = DiscreteLaplace(scale)
    k = k * max(1, int(scale) // 4)
    cut = law._tail(k)(200)[0] >> 137  # the 63-bit word that the tail cuts
    words = np.array([cut << 1], dtype=np.uint64)
    offset = float(np.log(2 / (1 + np.exp(-1 / float(scale)))))
    zeros, ones = Scripted(0), Scripted(255)
    below = tail_index(words, float(scale), offset, law._tail, zeros, length=63)[0]
    above = tail_index(words, float(scale), offset, law._tail, ones, length=63)[0]
    assert (below, above) == (k, k - 1)
    assert zeros.asked > 0


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(1000), Fraction(2**29)])
def test_words_around_every_boundary(scale):
    """The words just below and just above a cut fall on their own sides without further bits."""
    law = DiscreteLaplace(scale)
    offset = float(np.log(2 / (1 + np.exp(-1 / float(scale)))))
    for k in (1, 2, 3, 20, int(scale), 10 * int(scale)):
        cut = law._tail(k)(200)[0] >> 137
        words = np.array([(cut - 1) << 1, (cut + 1) << 1], dtype=np.uint64)
        assert tail_index(words, float(scale), offset, law._tail, Scripted(0), length=63).tolist() == [k, k - 1]


@pytest.mark.parametrize("p", [Fraction(1, 3), Fraction(1, 2**70), 1 - Fraction(1, 2**70), Fraction(12345, 2**64)])
def test_a_coin_is_decided_exactly_around_its_probability(p):
    """U < p for the word below the cut, not for the one above, and by further bits on the cut itself."""
    law = Bernoulli(p)
    cut = (p.numerator << 64) // p.denominator

    def toss(word: int, byte: int) -> bool:
        words = np.array([word], dtype=np.uint64)
        return bool(coins(words, law.p, 2.0**-50, lambda _: constant(p), Scripted(byte))[0])

    if cut > 0:
        assert toss(cut - 1, 0)
        assert toss(cut - 1, 255)
    if cut + 1 < 2**64:
        assert not toss(cut + 1, 0)
    if (p * 2**64).denominator == 1:
        assert not toss(cut, 0)
    else:
        assert toss(cut, 0)
        assert not toss(cut, 255)


def test_coins_agree_with_enclosures_for_many_probabilities():
    """A vector of different probabilities is decided entry by entry as exact arithmetic would."""
    x = (BITS.words(400) >> np.uint64(40)).astype(np.int64)
    rate = Fraction(1, 2**20)
    words = BITS.words(400)
    fast = coins(words, np.exp(-x / 2**20), 2.0**-48, lambda i: exp_minus(int(x[i]) * rate), SeededBits(3))
    slow = [Uniform(int(w), 64, SeededBits(4)).below(exp_minus(int(v) * rate)) for w, v in zip(words, x, strict=True)]
    assert fast.tolist() == slow


@pytest.mark.parametrize("guess", [0, 3, 40, 10**6])
def test_the_search_ends_at_the_same_index_from_any_guess(guess):
    """A bad float guess costs time, never correctness."""
    for word in BITS.words(50).tolist():
        found = Uniform(word, 64, SeededBits(5)).index(lambda k: exp_minus(Fraction(k, 10)), guess)
        assert found == Uniform(word, 64, SeededBits(5)).index(lambda k: exp_minus(Fraction(k, 10)), 0)
