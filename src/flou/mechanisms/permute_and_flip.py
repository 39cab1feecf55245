"""Permute-and-flip: choose one of finitely many outcomes, never worse than the exponential mechanism.

Law        visit the outcomes in random order and stop at the first whose coin of probability exp(t (u_i - best)) shows
           heads: P[release = i] = p_i E[1 / (1 + number of heads among the others)], p_i = exp(t (u_i - best))
Guarantee  epsilon-DP when no utility moves by more than ``sensitivity`` between neighbours, with
           t = epsilon / (2 sensitivity), or epsilon / sensitivity when all move the same way (utility="monotone")
Why        it is the largest of u_i + exponential noise of scale 1/t: see the proof
Error      its expected shortfall is at most that of the exponential mechanism, and so is every tail
Numerics   exact: all coins are flipped at once and one of the heads is taken uniformly, which is the same law
Limits     as for the exponential mechanism
Source     McKenna and Sheldon (2020); Ding, Kifer, Steinke and others (2021)
Proof      docs/explanation/proofs/permute_and_flip.md
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flou.arrays import Floats, Ints, Words
from flou.bits import SYSTEM, Bits
from flou.laws.decide import CHUNK, coins
from flou.laws.enclosure import exp_minus
from flou.laws.normal import gauss_legendre
from flou.laws.tabulated import Tabulated
from flou.mechanisms.mechanism import integer_vector
from flou.mechanisms.selection_mechanism import SelectionMechanism
from flou.parameters import integer, open_probability

__all__ = ["PermuteAndFlip"]


class PermuteAndFlip(SelectionMechanism):
    """One of finitely many outcomes, given their integer utilities; the release is its position."""

    def law(self, utilities: ArrayLike) -> Tabulated:
        vector = integer_vector("utilities", utilities)
        heads = np.exp(-float(self.rate) * _gaps(vector).astype(np.float64))

        def draw(size: int, bits: Bits) -> Ints:
            return np.array([self.sample(vector, bits=bits) for _ in range(size)], dtype=np.int64)

        return Tabulated(_first_head(heads), draw)

    def sample(self, utilities: ArrayLike, *, bits: Bits = SYSTEM) -> int:
        """The position of the outcome that was chosen."""
        gaps = _gaps(integer_vector("utilities", utilities))
        heads = np.concatenate([self._flip(gaps[i : i + CHUNK], bits) for i in range(0, gaps.size, CHUNK)])
        candidates = np.flatnonzero(heads)  # the best outcome always shows heads
        return int(candidates[bits.below(candidates.size, 1)[0]])

    def shortfall(self, outcomes: int, *, beta: float) -> float:
        """How far below the best the utility of the release may fall, except with probability beta."""
        count = integer("outcomes", outcomes, 1, 2**60)
        return math.log(count / float(open_probability("beta", beta))) / float(self.rate)

    def _flip(self, gaps: Words, bits: Bits) -> NDArray[np.bool_]:
        heads = np.exp(-float(self.rate) * gaps.astype(np.float64))
        return coins(bits.words(gaps.size), heads, 2.0**-40, lambda i: exp_minus(int(gaps[i]) * self.rate), bits)


def _gaps(vector: Ints) -> Words:
    """best - utility, unsigned, so that no difference of two integers overflows."""
    return np.uint64(int(vector.max()) % 2**64) - vector.astype(np.uint64)


def _first_head(heads: Floats) -> Floats:
    """P[i] = p_i times the integral over w in [0, 1] of the product over j != i of (1 - p_j w).

    The product is below exp(-w sum p), so beyond w = 100 / sum p nothing is left to integrate.
    """
    nodes, weights = gauss_legendre(400)
    end = min(1.0, 100 / float(np.sum(heads)))
    w = end * (nodes + 1) / 2
    total = np.array([float(np.sum(np.log1p(-heads * x))) for x in w.tolist()])
    integrals = [
        np.exp(total - np.log1p(-np.multiply.outer(heads[i : i + CHUNK], w))) @ weights
        for i in range(0, heads.size, CHUNK)
    ]
    return np.asarray(heads * np.concatenate(integrals) * end / 2)
