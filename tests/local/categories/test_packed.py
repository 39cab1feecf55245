"""Packed coins: exact, independent, with nothing in the bits that fill up a byte."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from flou.bits import Bits, SeededBits
from flou.laws import Bernoulli
from flou.laws.enclosure import constant, exp_minus
from flou.local.categories.packed import bit_counts, leading_digits, packed_coins, put, unpacked
from goodness import compatible


class Chosen(Bits):
    """The bytes that a test wants."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def take(self, size):
        part, self.data = self.data[:size], self.data[size:]
        assert len(part) == size, "more bits were asked for than the test gave"
        return np.frombuffer(part, dtype=np.uint8).copy()


@pytest.mark.parametrize(
    "p", [Fraction(1, 3), Fraction(1, 2), Fraction(5, 16), Fraction(999, 1000), Fraction(1, 10**6)]
)
@pytest.mark.parametrize("places", [1, 3, 20])
def test_coins_follow_their_law(p, places):
    """For any number of places that are compared for all; the rest is decided one by one."""
    rows = packed_coins(5_000, 11, constant(p), SeededBits(f"{p} {places}"), places=places)
    ones = unpacked(rows, 11).sum()
    assert compatible(np.array([55_000 - ones, ones]), np.array([1 - p, p], dtype=float))
    assert not compatible(np.array([55_000 - ones, ones]), np.array([0.9, 0.1]))
    assert not np.any(rows[:, -1] & 31)


def test_neighbouring_coins_are_independent():
    """All 64 patterns of six coins have the probabilities of six coins."""
    coin = Bernoulli.exp_minus(1)
    rows = packed_coins(100_000, 6, coin.number, SeededBits("patterns"), places=6)
    patterns = np.unpackbits(np.arange(64, dtype=np.uint8)[:, None] << 2, axis=1, count=6).sum(axis=1)
    counts = np.bincount(rows[:, 0] >> 2, minlength=64)
    assert compatible(counts, coin.p**patterns * coin.q ** (6 - patterns))


def test_a_coin_is_decided_at_the_first_place_where_it_differs():
    """v = 0.101 in binary: U = 0.0... is below, 0.11... is not, 0.100... is, 0.101... is not."""
    for first, second, third, heads in ((0, 0, 0, True), (1, 1, 0, False), (1, 0, 0, True), (1, 0, 1, False)):
        drawn = b"".join((b * (2**64 - 1)).to_bytes(8, "little") for b in (first, second, third))
        rows = packed_coins(1, 8, constant(Fraction(5, 8)), Chosen(drawn), places=3)
        assert rows[0, 0] == (255 if heads else 0)


def test_open_coins_take_more_bits_of_the_same_uniform():
    """After one place that agrees the next bits decide: 1/3 = 0.0101..., 0.0|00... is below it, 0.0|11... is not."""
    agree = bytes(8)  # the first place of all 64 coins is 0, as that of 1/3
    low, high = bytes(8), b"\xff" * 8
    data = agree + (low + high) * 32
    rows = packed_coins(8, 8, constant(Fraction(1, 3)), Chosen(data), places=1)
    assert int(np.bitwise_count(rows).sum()) == 32


def test_leading_digits_are_certain():
    """Also where a narrow enclosure straddles a binary fraction at first."""
    assert leading_digits(constant(Fraction(5, 8)), 3) == 5
    assert leading_digits(exp_minus(Fraction(1)), 20) == int(2**20 * 0.36787944117144233)

    def straddling(precision):
        exact = (1 << precision - 1) + (1 if precision > 200 else 0)  # a bit above one half
        return exact - (0 if precision > 200 else 1), exact + 1

    assert leading_digits(straddling, 4) == 8


@pytest.mark.parametrize("k", [1, 7, 8, 9, 130])
def test_counts_are_those_of_the_bits(k):
    """Bytes counted by value give the sums of the columns; a bit that is put is put."""
    rows = packed_coins(500, k, constant(Fraction(1, 3)), SeededBits(k))
    assert np.array_equal(bit_counts(rows, k), unpacked(rows, k).sum(axis=0))
    codes = np.arange(500) % k
    put(rows, codes, np.arange(500) % 3 == 0)
    assert np.array_equal(unpacked(rows, k)[np.arange(500), codes], np.arange(500) % 3 == 0)
