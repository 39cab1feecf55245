"""The bound prover: what it promises never wraps, and what would wrap it does not promise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flou.errors import InvalidData, InvalidParameter
from flou.joint.masking.bounds import Proof, check, width_for
from flou.joint.masking.codec import add, decode, encode

sizes = st.integers(0, 2**200) | st.integers(0, 60).map(lambda n: 2**n) | st.integers(1, 60).map(lambda n: 2**n - 1)


@given(st.integers(1, 10**6), sizes, sizes)
def test_the_width_is_the_least_multiple_of_64_that_holds_every_sum(parties, limit, reach):
    """parties (limit + reach) < 2^(W-1), and 64 bits less would not do."""
    width, largest = width_for(parties, limit, reach), parties * (limit + reach)
    assert width % 64 == 0
    assert largest < 2 ** (width - 1)
    assert width == 64 or largest >= 2 ** (width - 65)
    assert Proof(parties, limit, reach, width).largest == largest


@pytest.mark.parametrize("limit", [2**62 - 1, 2**62, 2**126 - 1, 2**126])
def test_extreme_sums_are_exact_at_the_width_that_is_proved(limit):
    """All parties at their limit, on either side, add up without wrapping; in narrower words they do not."""
    width = width_for(2, limit, 0)
    for sign in (1, -1):
        total = encode([0], width)
        for _ in range(2):
            add(total, encode([sign * limit], width))
        assert decode(total) == (2 * sign * limit,)
    if limit in (2**62, 2**126):  # 2 limit is 2^(W-1) of the narrower words: wraps
        narrow = encode([limit], width - 64)
        add(narrow, narrow.copy())
        assert decode(narrow) != (2 * limit,)
        with pytest.raises(InvalidParameter, match="too narrow"):
            Proof(2, limit, 0, width - 64)


def test_sums_beyond_512_bits_are_refused():
    """The widest words have 512 bits."""
    assert width_for(1, 2**511 - 1, 0) == 512
    for parties, limit, reach in [(1, 2**511, 0), (2, 2**510, 0), (1, 2**511 - 1, 1), (1, 2**5000, 0)]:
        with pytest.raises(InvalidParameter, match="512 bits"):
            width_for(parties, limit, reach)


@pytest.mark.parametrize(
    "terms",
    [(0, 1, 0), (-3, 1, 0), (True, 1, 0), (3.0, 1, 0), (3, -1, 0), (3, 1.5, 0), (3, True, 0), (3, "1", 0), (3, 1, -1)],
)
def test_senseless_terms_are_refused(terms):
    """Parties, limits and reaches are whole numbers, and none is negative."""
    with pytest.raises(InvalidParameter):
        width_for(*terms)
    with pytest.raises(InvalidParameter):
        Proof(*terms, 64)


@pytest.mark.parametrize("width", [63, 100, 576, 0])
def test_a_width_that_no_word_has_is_no_proof(width):
    """A proof speaks of words that exist."""
    with pytest.raises(InvalidParameter):
        Proof(3, 1, 0, width)


def test_a_proof_can_be_read():
    """It says in one sentence what it claims."""
    assert Proof(3, 1000, 0, 64).in_words == "3 parties with words of at most 1000 add up to at most 3000, below 2^63."
    assert "noise of at most 2^70" in Proof(5, 2**100, 2**70 - 3, 128).in_words


@pytest.mark.parametrize("make", [list, tuple, lambda v: np.array(v, dtype=np.int64)])
def test_a_party_refuses_its_own_words_beyond_the_limit(make):
    """Words at the limit pass on both sides, one more is refused, and nothing of it is told."""
    check(make([7, -7, 0]), 7)
    check(make([]), 0)
    for bad in ([7, -31, 0], [31, 0, 0]):
        with pytest.raises(InvalidData) as refused:
            check(make(bad), 30)
        assert "31" not in str(refused.value)


def test_the_smallest_integer_is_not_mistaken_for_a_small_one():
    """-2^63 has no absolute value in 64 bits, and is refused all the same."""
    with pytest.raises(InvalidData):
        check(np.array([-(2**63)]), 2**63 - 1)
    check(np.array([-(2**63)]), 2**63)
