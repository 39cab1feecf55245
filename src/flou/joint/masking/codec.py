"""Signed integers as words modulo 2^W, and sums of them.

Law      a word stands for the one integer in [-2^(W-1), 2^(W-1)) that is congruent to it modulo 2^W (two's complement)
Sum      words add as integers do, modulo 2^W; whatever wraps on the way, a sum inside the range is exact
Form     a vector of L words is an array of shape (W/64, L) of 64-bit limbs, the lowest first; W is a multiple of 64
Bytes    words one after the other, each of W/8 bytes, little-endian: one vector has one encoding
"""

from __future__ import annotations

import operator
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from flou.arrays import Words
from flou.errors import InvalidParameter, ProtocolError, instead

__all__ = ["LIMB", "WIDEST", "add", "decode", "encode", "from_bytes", "limbs", "subtract", "to_bytes"]


LIMB = 64  # bits
WIDEST = 512  # bits


def limbs(width: int) -> int:
    """How many limbs a word of ``width`` bits has."""
    if type(width) is not int or width % LIMB or not LIMB <= width <= WIDEST:
        raise InvalidParameter(
            "The width of a word is a multiple of 64, from 64 to 512 bits.",
            "Words are made of 64-bit limbs.",
            "Pass for example width=64, or what width_for says.",
        )
    return width // LIMB


def encode(values: Sequence[int] | NDArray[np.int64], width: int) -> Words:
    """Signed integers as words."""
    count = limbs(width)
    if isinstance(values, np.ndarray) and values.dtype == np.int64 and values.ndim == 1:
        return _extended(values, count)
    whole = [operator.index(value) for value in values]
    too_large = InvalidParameter(
        f"A value does not fit into a word of {width} bits.",
        "Modulo 2^W it would become another number.",
        "Take wider words, or state the true limit of the values.",
    )
    with instead(too_large, OverflowError):
        if count == 1:
            return _extended(np.array(whole, dtype=np.int64), 1)
        data = b"".join([value.to_bytes(8 * count, "little", signed=True) for value in whole])
    return from_bytes(data, width, len(whole))


def _extended(values: NDArray[np.int64], count: int) -> Words:
    """64-bit integers with their sign repeated in the higher limbs."""
    words = np.empty((count, values.size), dtype=np.uint64)
    words[0] = values.view(np.uint64)
    if count > 1:
        words[1:] = (values >> np.int64(63)).view(np.uint64)
    return words


def decode(words: Words) -> tuple[int, ...]:
    """The signed integers that words stand for."""
    if len(words) == 1:
        return tuple(words[0].view(np.int64).tolist())
    data, size = to_bytes(words), 8 * len(words)
    return tuple([int.from_bytes(data[at : at + size], "little", signed=True) for at in range(0, len(data), size)])


def add(into: Words, other: Words) -> None:
    """``into += other`` modulo 2^W."""
    _same(into, other)
    carry: Words | None = None
    for mine, more in zip(into[:-1], other[:-1], strict=True):
        over = _overflow(mine, more)
        if carry is not None:
            over |= _overflow(mine, carry)
        carry = over.astype(np.uint64)
    into[-1] += other[-1]
    if carry is not None:
        into[-1] += carry


def _overflow(mine: Words, more: Words) -> NDArray[np.bool_]:
    """``mine += more``, and where that passed 2^64."""
    mine += more
    return mine < more


def subtract(into: Words, other: Words) -> None:
    """``into -= other`` modulo 2^W."""
    _same(into, other)
    if len(into) == 1:
        into -= other
        return
    np.invert(into, out=into)  # ~x is -x - 1, so ~(~a + b) is a - b
    add(into, other)
    np.invert(into, out=into)


def _same(into: Words, other: Words) -> None:
    if into.shape != other.shape:
        raise ProtocolError(
            "Two vectors of words have different widths or lengths.",
            "Only vectors of the same width and length can be added.",
            "Agree on the plan: it fixes the width and the length.",
        )


def to_bytes(words: Words) -> bytes:
    """The canonical bytes of a vector."""
    return words.T.astype("<u8").tobytes()


def from_bytes(data: bytes, width: int, length: int) -> Words:
    """The vector of ``length`` words with these bytes."""
    count = limbs(width)
    if len(data) != 8 * count * length:
        raise ProtocolError(
            f"A vector of {length} words of {width} bits came as {len(data)} bytes.",
            f"It must have exactly {8 * count * length} bytes.",
            "Send the vector that the plan asks for.",
        )
    rows = np.frombuffer(data, dtype="<u8").reshape(length, count)
    return np.array(rows.T, dtype=np.uint64, order="C")
