"""Noisy max: add discrete Laplace noise to every utility and release the position of the largest.

Law        P[release = i] = P[u_i + Z_i > u_j + Z_j for j < i and >= for j > i], Z independent discrete Laplace
           of scale 1/t (the first of several equal maxima wins)
Guarantee  epsilon-DP when no utility moves by more than ``sensitivity`` between neighbours, with
           t = epsilon / (2 sensitivity), or epsilon / sensitivity when all move the same way (utility="monotone")
Why        given the other noises, i wins when Z_i reaches a threshold; between neighbours the threshold moves by at
           most 2 sensitivity (monotone: sensitivity), and P[Z >= k + m] >= exp(-t m) P[Z >= k]
Error      with probability 1 - beta the release is within (2/t) log(n / beta) of the best utility
Numerics   exact draws on integers, ties included
Limits     the law is summed over the integers that matter: ask for it when their number times n is below 2^26
Source     Dwork and Roth (2014), report noisy max; document 003
Proof      docs/explanation/proofs/noisy_max.md
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from flou.arrays import Floats, Ints
from flou.bits import SYSTEM, Bits
from flou.errors import InvalidParameter
from flou.laws import DiscreteLaplace
from flou.laws.tabulated import Tabulated
from flou.mechanisms.mechanism import integer_vector
from flou.mechanisms.selection_mechanism import SelectionMechanism
from flou.parameters import integer, number, open_probability

__all__ = ["NoisyMax"]

SUMMED = 1 << 26


class NoisyMax(SelectionMechanism):
    """One of finitely many outcomes, given their integer utilities; the release is its position."""

    def __post_init__(self) -> None:
        number("scale", 1 / self.rate)

    @property
    def noise(self) -> DiscreteLaplace:
        return DiscreteLaplace(1 / self.rate)

    def law(self, utilities: ArrayLike) -> Tabulated:
        vector = integer_vector("utilities", utilities)

        def draw(size: int, bits: Bits) -> Ints:
            return np.array([self.sample(vector, bits=bits) for _ in range(size)], dtype=np.int64)

        return Tabulated(_first_maximum(vector, self.noise), draw)

    def sample(self, utilities: ArrayLike, *, bits: Bits = SYSTEM) -> int:
        """The position of the outcome that was chosen."""
        vector = integer_vector("utilities", utilities)
        # Utilities far below the best could wrap around, so gaps are clamped at 2^62: this moves no difference of two
        # utilities by more than before, and noise of that size has a probability below e^-4096.
        lowest = max(int(vector.max()) - 2**62, -(2**63))
        shifted = np.maximum(vector, lowest) - np.int64(int(vector.max()))
        return int(np.argmax(shifted + self.noise.sample(vector.size, bits=bits)))

    def shortfall(self, outcomes: int, *, beta: float) -> float:
        """How far below the best the utility of the release may fall, except with probability beta."""
        count = integer("outcomes", outcomes, 1, 2**60)
        return 2 / float(self.rate) * math.log(count / float(open_probability("beta", beta)))


def _first_maximum(vector: Ints, noise: DiscreteLaplace) -> Floats:
    reach = math.ceil(40 * noise.scale) + 1
    lost = math.ceil(800 * noise.scale)  # a gap beyond which the probability is below the least float
    gaps = np.array([max(value - int(vector.max()), -lost) for value in vector.tolist()])
    levels = 2 * reach - int(gaps.min()) + 1
    if levels * vector.size > SUMMED:
        raise InvalidParameter(
            "The scale is too large to compute the law of NoisyMax as a sum over the integers.",
            "The law has no closed form. Samples are not affected: they are exact at every scale.",
            "Use a coarser grid for the utilities, or PermuteAndFlip, whose law has a formula.",
        )
    needed = np.arange(int(gaps.min()) - reach, reach + 1)[:, None] - gaps  # noise that lifts a utility to each level
    at_most, less = noise.cdf(needed), noise.cdf(needed - 1)
    ones = np.ones((needed.shape[0], 1))
    before = np.cumprod(np.hstack([ones, less[:, :-1]]), axis=1)
    after = np.cumprod(np.hstack([ones, at_most[:, :0:-1]]), axis=1)[:, ::-1]
    return np.asarray(np.sum(before * noise.pmf(needed) * after, axis=0))
