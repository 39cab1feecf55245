"""Bounds on sums: which words are wide enough that no sum wraps around.

Claim    parties words, each at most limit + noise reach in size, have a sum below 2^(W-1) in size
Why      |sum| <= parties (limit + reach); modulo 2^W only the final sum has to fit, so nothing else is asked
Use      the plan states the proof, and each party checks its own words against the limit before it masks them
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flou.errors import InvalidData, InvalidParameter
from flou.joint.masking.codec import LIMB, WIDEST, limbs
from flou.parameters import integer

__all__ = ["Proof", "check", "width_for"]

MOST_PARTIES = 2**32


def width_for(parties: int, limit: int, noise_reach: int = 0) -> int:
    """The least multiple of 64 bits whose signed words hold every sum."""
    largest = _largest(parties, limit, noise_reach)
    return -(-(largest.bit_length() + 1) // LIMB) * LIMB  # largest < 2^(W-1), so one bit more than it has


def _largest(parties: int, limit: int, noise_reach: int) -> int:
    count = integer("parties", parties, 1, MOST_PARTIES)
    largest = count * (_size("limit", limit) + _size("noise_reach", noise_reach))
    if largest.bit_length() >= WIDEST:
        raise InvalidParameter(
            f"The sums need words of more than {WIDEST} bits.",
            f"{count} parties may send as much as limit and noise allow.",
            "Declare narrower bounds or fewer fractional bits.",
        )
    return largest


def _size(name: str, value: Any) -> int:
    whole = -1 if isinstance(value, bool) or not hasattr(value, "__index__") else operator.index(value)
    if whole < 0:
        raise InvalidParameter(
            f"{name} must be a whole number of at least 0.",
            "It bounds the size of a word.",
            f"Pass for example {name}=1000.",
        )
    return whole


@dataclass(frozen=True)
class Proof:
    """The sums of ``parties`` parties fit into words of this width; made only when this is true."""

    parties: int
    limit: int
    noise_reach: int
    width: int

    def __post_init__(self) -> None:
        limbs(self.width)
        needed = width_for(self.parties, self.limit, self.noise_reach)
        if self.width < needed:
            raise InvalidParameter(
                f"Words of {self.width} bits are too narrow for these sums.",
                "A sum that wraps around would be opened as another number.",
                f"Pass width={needed}.",
            )

    @property
    def largest(self) -> int:
        """No sum is larger than this in size."""
        return _largest(self.parties, self.limit, self.noise_reach)

    @property
    def in_words(self) -> str:
        noise = f" and noise of at most {_short(self.noise_reach)}" if self.noise_reach else ""
        return (
            f"{self.parties} parties with words of at most {_short(self.limit)}{noise} add up to at most "
            f"{_short(self.largest)}, below 2^{self.width - 1}."
        )


def _short(value: int) -> str:
    return str(value) if value < 10**12 else f"2^{(value - 1).bit_length()}"


def check(values: Sequence[int] | NDArray[np.int64], limit: int) -> None:
    """Refuse a party's own words when one of them is larger than agreed; the error does not say which, or how large."""
    if len(values) == 0:
        return
    smallest, largest = (values.min(), values.max()) if isinstance(values, np.ndarray) else (min(values), max(values))
    if int(largest) > limit or int(smallest) < -limit:
        raise InvalidData(
            "A sum of these rows is larger than the plan allows.",
            "The others rely on the limit: a larger word could wrap around and falsify everyone's result.",
            "Agree on a plan with wider bounds or more rows a party.",
        )
