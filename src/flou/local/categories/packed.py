"""Rows of k bits, eight in a byte: exact coins for all of them at once, checks and counts.

A row has ceil(k / 8) bytes, category 0 in the highest bit of the first byte (as ``numpy.packbits`` has it); the bits
that fill up the last byte are 0.

Sampler  A coin of probability v compares an endless uniform U, bit by bit, with the binary digits of v: at the first
         place where they differ the coin is decided, heads if the digit is 1. Each place is one operation on 64-bit
         words, 64 coins at a time; after ``PLACES`` of them about one coin in 2^20 is open. Each of these is decided
         singly, with more of its bits and as many digits of v as needed. No probability is ever rounded.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flou.arrays import Ints, Words
from flou.bits import Bits
from flou.laws.decide import Uniform
from flou.laws.enclosure import Enclosure
from flou.local.randomiser import malformed

__all__ = [
    "Rows",
    "bit_counts",
    "checked_rows",
    "complement",
    "ones_of",
    "packed_coins",
    "place_of",
    "put",
    "row_bytes",
    "unpacked",
]

Rows: TypeAlias = NDArray[np.uint8]

PLACES = 20  # binary digits that are compared for all coins
WORDS = 1 << 15  # words of 64 coins decided at a time: they stay in the cache
_BITS_OF_BYTE = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(np.int64)


def row_bytes(k: int) -> int:
    """How many bytes k bits take."""
    return -(-k // 8)


def packed_coins(rows: int, k: int, number: Enclosure, bits: Bits, *, places: int = PLACES) -> Rows:
    """``rows`` times k independent coins that show 1 with exactly the probability ``number``."""
    size = rows * row_bytes(k)
    result = np.empty(-(-size // 8), dtype=np.uint64)
    head = leading_digits(number, places)
    low, high = number(places)
    ends = low == high  # v has no further digits: a U that agrees so far is not below it
    for start in range(0, result.size, WORDS):
        words = result[start : start + WORDS]
        equal = _toss(words, head, places, bits)
        if not ends:
            _decide(words, equal, head, places, number, bits)
    found = result.view(np.uint8)[:size].reshape(rows, row_bytes(k))
    if k % 8:
        found[:, -1] &= _filled(k)
    return found


def leading_digits(number: Enclosure, places: int) -> int:
    """floor(v 2^places), certain: the enclosure is made narrower until both of its ends agree."""
    precision = places + 64
    while True:
        low, high = (end >> (precision - places) for end in number(precision))
        if low == high:
            return low
        precision *= 2


def _toss(words: Words, head: int, places: int, bits: Bits) -> Words:
    """Fill ``words`` with coins, 64 in each; which of them are open, because U agrees with v so far."""
    words[:] = 0
    equal = np.full(words.size, 2**64 - 1, dtype=np.uint64)
    for place in range(places - 1, -1, -1):
        drawn = bits.words(words.size)
        if head >> place & 1:
            np.bitwise_or(words, equal & ~drawn, out=words)  # U has 0 where v has 1: U < v
            np.bitwise_and(equal, drawn, out=equal)
        else:
            np.bitwise_and(equal, ~drawn, out=equal)
    return equal


def _decide(words: Words, equal: Words, head: int, places: int, number: Enclosure, bits: Bits) -> None:
    """Toss each coin that is still open."""
    for i in np.flatnonzero(equal).tolist():
        still = int(equal[i])
        while still:
            one = still & -still
            if Uniform(head, places, bits).below(number):
                words[i] |= np.uint64(one)
            still ^= one


def _filled(k: int) -> np.uint8:
    """Which bits of the last byte belong to categories."""
    return np.uint8(256 - (1 << (-k % 8)))


def place_of(codes: Ints) -> tuple[Ints, Rows]:
    """The byte and the bit in it of each category."""
    return codes >> 3, (128 >> (codes & 7)).astype(np.uint8)


def put(rows: Rows, codes: Ints, shown: NDArray[Any]) -> None:
    """Set one bit of every row, that of its category, to what is ``shown``, 0 or 1."""
    byte, bit = place_of(codes)
    each = np.arange(len(rows))
    rows[each, byte] = np.where(shown, rows[each, byte] | bit, rows[each, byte] & ~bit)


def complement(rows: Rows, k: int) -> Rows:
    """The same rows with all k bits flipped."""
    flipped = ~rows
    if k % 8:
        flipped[:, -1] &= _filled(k)
    return flipped


def unpacked(rows: Rows, k: int) -> NDArray[np.bool_]:
    """The bits, one in a column."""
    return np.unpackbits(rows, axis=-1, count=k).astype(np.bool_)


def bit_counts(rows: Rows, k: int) -> Ints:
    """How many rows have each bit set; bytes are counted by their value, and the values taken apart."""
    counts = [np.bincount(rows[:, i], minlength=256) @ _BITS_OF_BYTE for i in range(row_bytes(k))]
    return np.concatenate(counts)[:k].astype(np.int64)


def checked_rows(reports: ArrayLike, k: int, ones: int | None = None) -> Rows:
    """Reports that are rows of k packed bits, with a given number of ones if there is one."""
    array = np.asarray(reports)
    wide = row_bytes(k)
    if array.shape in ((0, wide), (0,)):
        return np.zeros((0, wide), dtype=np.uint8)
    fits = array.ndim == 2 and array.shape[1] == wide and array.dtype.kind in "iu"
    if fits and array.dtype != np.uint8:
        fits = bool(array.min() >= 0) and bool(array.max() <= 255)
    rows: Rows = np.ascontiguousarray(array, dtype=np.uint8) if fits else np.zeros((0, wide), dtype=np.uint8)
    if fits and k % 8:
        fits = not np.any(rows[:, -1] & ~_filled(k))
    if fits and ones is not None:
        fits = bool(np.all(ones_of(rows) == ones))
    if not fits:
        some = "" if ones is None else f", {ones} of them ones"
        raise malformed(f"Each report must be a row of {wide} bytes that hold {k} bits{some}.")
    return rows


def ones_of(rows: Rows) -> Ints:
    """How many bits are set in each row."""
    counts: Ints = np.bitwise_count(rows).sum(axis=1, dtype=np.int64)
    return counts
