"""Shares rebuild what they should, tell nothing before, and are strict about what they are made of."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flou.bits import SeededBits
from flou.errors import InvalidParameter, ProtocolError
from flou.joint.masking.shares import PRIME, SECRET, SHARE, _at_zero, _values, join, split

secrets = st.binary(min_size=SECRET, max_size=SECRET)
KEY = bytes(range(100, 132))


def proth(p: int) -> bool:
    """Proth: p = h 2^n + 1 with odd h < 2^n is prime if a^((p-1)/2) = -1 modulo p for some a."""
    h, n = p - 1, 0
    while h % 2 == 0:
        h, n = h // 2, n + 1
    return h < 2**n and any(pow(a, (p - 1) // 2, p) == p - 1 for a in range(2, 50))


def test_the_field_is_a_field():
    """p is prime by Proth's theorem, above every 32-byte secret, and a share has room for it; 2^200 further is none."""
    assert proth(PRIME)
    assert 2**256 < PRIME < 2**257 <= 2 ** (8 * SHARE)
    assert not proth(PRIME - 2**201)
    assert [p for p in (3, 5, 9, 13, 17, 25, 33, 41, 49, 57, 65, 97) if proth(p)] == [3, 5, 13, 17, 41, 97]


@given(secrets, st.sets(st.integers(1, 2**32 - 1), min_size=2, max_size=12), st.data())
@settings(max_examples=100, deadline=None)
def test_any_threshold_of_shares_rebuilds_the_secret(secret, holders, data):
    """Whichever holders come, in whatever order, and one fewer are refused."""
    threshold = data.draw(st.integers(2, len(holders)))
    shares = split(secret, sorted(holders), threshold, SeededBits(secret))
    assert shares.keys() == holders
    assert {len(share) for share in shares.values()} == {SHARE}
    coming = data.draw(st.permutations(sorted(holders)))
    assert join({x: shares[x] for x in coming[:threshold]}, threshold) == secret
    assert join({x: shares[x] for x in coming}, threshold) == secret
    with pytest.raises(ProtocolError, match="it takes"):
        join({x: shares[x] for x in coming[: threshold - 1]}, threshold)


@pytest.mark.parametrize("secret", [bytes(SECRET), b"\xff" * SECRET, KEY])
def test_extreme_secrets_and_many_holders(secret):
    """A hundred holders, 72 of them enough: also for the smallest and largest secret."""
    shares = split(secret, range(1, 101), 72, SeededBits(2))
    assert join({x: shares[x] for x in range(29, 101)}, 72) == secret
    assert join({x: shares[x] for x in range(1, 73)}, 72) == secret


@pytest.mark.parametrize(
    ("prime", "threshold", "holders"), [(5, 2, (1, 2, 4)), (5, 3, (1, 3, 4)), (7, 3, (1, 2, 5, 6))]
)
def test_fewer_shares_than_the_threshold_are_uniform_whatever_the_secret(prime, threshold, holders):
    """In a tiny field, over all polynomials: t - 1 shares take every value equally often; t shares fix the secret."""
    for fewer in itertools.combinations(range(len(holders)), threshold - 1):
        laws = []
        for secret in range(prime):
            seen: Counter[tuple[int, ...]] = Counter()
            for rest in itertools.product(range(prime), repeat=threshold - 1):
                values = _values([secret, *rest], holders, prime)
                for some in itertools.combinations(range(len(holders)), threshold):
                    assert _at_zero(tuple(holders[i] for i in some), [values[i] for i in some], prime) == secret
                seen[tuple(values[i] for i in fewer)] += 1
            laws.append(seen)
        assert all(law == laws[0] for law in laws)
        assert set(laws[0].values()) == {1}
        assert len(laws[0]) == prime ** (threshold - 1)


def test_a_threshold_of_shares_is_not_uniform():
    """The test above could fail: with t shares the laws of two secrets have nothing in common."""

    def law(secret):
        return {tuple(_values([secret, r], (1, 2), 5)) for r in range(5)}

    assert not law(0) & law(1)


def test_coefficients_are_fresh():
    """Two splits of one secret share nothing but the secret."""
    bits = SeededBits(3)
    one, two = split(KEY, [1, 2, 3], 2, bits), split(KEY, [1, 2, 3], 2, bits)
    assert not set(one.values()) & set(two.values())
    assert join(one, 2) == join(two, 2) == KEY


def test_a_wrong_share_does_not_rebuild_the_secret():
    """One flipped bit yields another secret, or is refused."""
    shares = split(KEY, [1, 2, 3], 3, SeededBits(4))
    wrong = {**shares, 2: bytes([shares[2][0] ^ 1]) + shares[2][1:]}
    try:
        assert join(wrong, 3) != KEY
    except ProtocolError as refused:
        assert "belong" in str(refused)  # noqa: PT017


def test_shares_that_make_no_secret_are_refused():
    """About half of all values at 0 are 2^256 or more, and no 32-byte secret is."""
    values = _values([2**256, 12345], (1, 2), PRIME)
    with pytest.raises(ProtocolError, match="do not belong"):
        join({x: value.to_bytes(SHARE, "little") for x, value in zip((1, 2), values, strict=True)}, 2)


@pytest.mark.parametrize(
    "bad", [b"", bytes(SHARE - 1), bytes(SHARE + 1), PRIME.to_bytes(SHARE, "little"), b"\xff" * SHARE]
)
def test_malformed_shares_are_refused(bad):
    """Each share has one form: a number below p in 33 bytes."""
    shares = split(KEY, [1, 2], 2, SeededBits(5))
    with pytest.raises(ProtocolError, match="malformed"):
        join({**shares, 2: bad}, 2)


@pytest.mark.parametrize("number", [0, -1, 2**32])
def test_a_holder_number_that_was_never_given_out_is_refused(number):
    """A share at 0 would be the secret itself."""
    shares = split(KEY, [1, 2], 2, SeededBits(6))
    with pytest.raises(ProtocolError, match="malformed"):
        join({number: shares[1], 2: shares[2]} if number < 1 else {1: shares[1], number: shares[2]}, 2)


@pytest.mark.parametrize("threshold", [-1, 0, 1])
def test_a_threshold_below_two_is_refused(threshold):
    """One share must never be enough."""
    with pytest.raises(InvalidParameter, match="threshold"):
        split(KEY, [1, 2, 3], threshold, SeededBits(7))
    with pytest.raises(ProtocolError):
        join(split(KEY, [1, 2, 3], 2, SeededBits(7)), threshold)


@pytest.mark.parametrize(
    ("secret", "holders", "threshold", "about"),
    [
        (KEY[1:], [1, 2], 2, "secret"),
        (KEY + b"1", [1, 2], 2, "secret"),
        (KEY, [1, 1, 2], 2, "distinct"),
        (KEY, [0, 1, 2], 2, "distinct"),
        (KEY, [1, 2**32], 2, "distinct"),
        (KEY, [1, 2], 3, "threshold"),
    ],
)
def test_senseless_splits_are_refused(secret, holders, threshold, about):
    """Secrets of another length, holders that coincide or hold the secret itself, thresholds that nobody reaches."""
    with pytest.raises(InvalidParameter, match=about):
        split(secret, holders, threshold, SeededBits(8))
