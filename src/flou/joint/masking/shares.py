"""Shares of a secret: any t of its holders can rebuild it, and fewer learn nothing.

Law      the secret is the value at 0 of a polynomial of degree t - 1 over the field of p elements whose other
         coefficients are uniform; the holder with number x > 0 gets the value at x
Secrecy  for every secret, any t - 1 values are independent and uniform: the map from the t - 1 coefficients to them is
         a bijection (Vandermonde)
Field    p = (2^57 - 11) 2^200 + 1, just below 2^257, so that 32-byte secrets are elements of it; by Proth's theorem it
         is prime, since a^((p-1)/2) = -1 modulo p for some a
Limits   shares are not signed and a wrong one yields a wrong secret: compare a rebuilt secret with what is public of it
Source   Shamir (1979)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from flou.bits import SYSTEM, Bits
from flou.errors import InvalidParameter, ProtocolError

__all__ = ["PRIME", "SECRET", "SHARE", "join", "split"]

PRIME = (2**57 - 11) * 2**200 + 1
SECRET = 32  # bytes
SHARE = 33
MOST = 2**32  # holder numbers lie below


def split(secret: bytes, holders: Sequence[int], threshold: int, bits: Bits = SYSTEM) -> dict[int, bytes]:
    """A share of a 32-byte secret for each holder; any ``threshold`` of them rebuild it."""
    if len(secret) != SECRET:
        raise InvalidParameter(
            f"A secret to be shared has {SECRET} bytes.",
            "It is one element of the field, and longer ones would not be rebuilt.",
            "Share a key, and encrypt anything longer with it.",
        )
    if len(set(holders)) != len(holders) or not all(0 < x < MOST for x in holders):
        raise InvalidParameter(
            "The numbers of the holders must be distinct, from 1 to 2^32 - 1.",
            "A share is a value at the holder's number, and the value at 0 is the secret itself.",
            "Number the holders 1, 2, 3, ...",
        )
    if not 2 <= threshold <= len(holders):
        raise InvalidParameter(
            f"The threshold must lie between 2 and the number of holders, {len(holders)}.",
            "A threshold of 1 shows the secret to every holder; one above their number hides it for ever.",
            "Pass for example two thirds of the holders.",
        )
    coefficients = [int.from_bytes(secret, "little"), *(bits.integer_below(PRIME) for _ in range(threshold - 1))]
    values = _values(coefficients, holders, PRIME)
    return {x: value.to_bytes(SHARE, "little") for x, value in zip(holders, values, strict=True)}


def join(shares: Mapping[int, bytes], threshold: int) -> bytes:
    """The secret behind at least ``threshold`` shares."""
    if not 2 <= threshold <= len(shares):
        raise ProtocolError(
            f"There are {len(shares)} shares of a secret, and it takes {threshold}.",
            "Fewer shares say nothing about it.",
            "Wait for more holders, or give up the round.",
        )
    chosen = sorted(shares)[:threshold]
    values = [int.from_bytes(shares[x], "little") for x in chosen]
    if not all(0 < x < MOST and len(shares[x]) == SHARE and y < PRIME for x, y in zip(chosen, values, strict=True)):
        raise ProtocolError(
            "A share of a secret is malformed.",
            f"It is a number below p in {SHARE} bytes, of a holder with a number from 1 on.",
            "Leave out the holder that sent it.",
        )
    secret = _at_zero(tuple(chosen), values, PRIME)
    if secret >= 2 ** (8 * SECRET):
        raise ProtocolError(
            "The shares do not belong to one secret.",
            "Together they give a number that is too large for a secret.",
            "Join other shares: at least one of these is wrong.",
        )
    return secret.to_bytes(SECRET, "little")


def _values(coefficients: Sequence[int], numbers: Iterable[int], prime: int) -> list[int]:
    """A polynomial, lowest coefficient first, at some small numbers."""
    falling = coefficients[::-1]
    values = []
    for x in numbers:
        value = 0
        for coefficient in falling:
            value = value * x + coefficient  # reduced once, at the end: x is small
        values.append(value % prime)
    return values


def _at_zero(numbers: tuple[int, ...], values: Sequence[int], prime: int) -> int:
    """The value at 0 of the polynomial through these points."""
    return sum(map(int.__mul__, _weights(numbers, prime), values)) % prime


@lru_cache(maxsize=256)
def _weights(numbers: tuple[int, ...], prime: int) -> tuple[int, ...]:
    """Lagrange's weights for the value at 0: prod_{j != i} x_j / (x_j - x_i)."""
    below = [x * math.prod(other - x for other in numbers if other != x) % prime for x in numbers]
    product = math.prod(numbers)
    # one inversion for all: of the product of the denominators, from which each is peeled off
    running = [1]
    for d in below:
        running.append(running[-1] * d % prime)
    inverse = pow(running[-1], -1, prime)
    weights = []
    for before, d in zip(reversed(running[:-1]), reversed(below), strict=True):
        weights.append(inverse * before * product % prime)
        inverse = inverse * d % prime
    return tuple(reversed(weights))
