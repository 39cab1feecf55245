"""Windows: reports near the answer are more likely than all others, by one factor.

Law        M reports; those of a window that depends on the answer have weight 1 each, all others e^-rate
Guarantee  rate-DP where all windows have the same number of cells; each randomiser's own otherwise
Why        with n cells in a window the probabilities are 1 / (n + b (M - n)) and b / (n + b (M - n)), b = e^-rate; with
           the same n for all answers, the ratio of any two of them is 1, e^rate or e^-rate
Numerics   exact: a coin enclosed as finely as needed says whether the report is in the window, and a uniform integer
           which cell it is
Proof      docs/explanation/proofs/local_numbers.md
"""

from __future__ import annotations

import math
from abc import abstractmethod
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flou.arrays import Floats, Ints
from flou.bits import SYSTEM, Bits
from flou.laws.decide import CHUNK, coins
from flou.laws.enclosure import Enclosure, affine, constant, exp_minus, quotient
from flou.laws.piecewise import PiecewiseConstant
from flou.local.numbers.distribution_randomiser import DistributionRandomiser
from flou.local.numbers.number_randomiser import NumberRandomiser

__all__ = ["WindowDistribution", "WindowRandomiser", "below_each"]


class WindowRandomiser(NumberRandomiser):
    """Reports 0..``cells`` - 1, of which those in the answer's window are e^``rate`` times as likely as the others."""

    @property
    def rate(self) -> Fraction:
        """The logarithm of the ratio between the two probabilities."""
        return self.epsilon

    @abstractmethod
    def window(self, codes: Ints) -> tuple[Ints, Ints]:
        """The first report of each answer's window, and the first one after it."""

    def law(self, answer: int) -> PiecewiseConstant:
        code = min(max(int(answer), 0), self.domain.size - 1)
        (start,), (stop,) = (end.tolist() for end in self.window(np.array([code])))
        return PiecewiseConstant([1, 0, 1], [start, stop - start, self.cells - stop], rate=self.rate)

    def sample(self, answer: Ints, *, bits: Bits = SYSTEM) -> NDArray[Any]:
        codes = np.clip(answer, 0, self.domain.size - 1)
        result = np.empty(codes.size, dtype=np.int64)
        for begin in range(0, codes.size, CHUNK):
            here = slice(begin, begin + CHUNK)
            result[here] = self._sample(codes[here], bits)
        return result

    def _sample(self, codes: Ints, bits: Bits) -> Ints:
        start, stop = self.window(codes)
        length, outside = stop - start, self.cells - (stop - start)
        # The exponential is trusted to 2^-49, and the three operations err by less than 2^-51 together.
        approximate = length / (length + math.exp(-self.rate) * outside)
        inside = coins(bits.words(codes.size), approximate, 2.0**-47, lambda i: self._share(int(length[i])), bits)
        drawn = below_each(np.where(inside, length, outside), bits)
        elsewhere = drawn + np.where(drawn >= start, length, 0)
        return np.where(inside, start + drawn, elsewhere)

    def _share(self, length: int) -> Enclosure:
        """The probability of a window of ``length`` cells."""
        total = affine(exp_minus(self.rate), times=self.cells - length, plus=length)
        return quotient(constant(Fraction(length)), total)


class WindowDistribution(WindowRandomiser, DistributionRandomiser):
    """Reports are cells of a grid, those of a window more likely than the others."""

    def running(self, codes: Ints, ends: Ints) -> Floats:
        start, stop = (end[:, None] for end in self.window(codes))
        inside, b = np.clip(ends, start, stop) - start, math.exp(-self.rate)
        total = (stop - start) + b * (self.cells - (stop - start))
        found: Floats = (inside + b * (ends - inside)) / total
        return found


def below_each(limits: Ints, bits: Bits) -> Ints:
    """For each entry an integer that is exactly uniform on 0..limit - 1, for limits from 1 to 2^31."""
    # Lemire (2019): with w uniform on 32 bits, the high half of w * n is uniform once the products whose low half is
    # below 2^32 mod n are refused.
    n = limits.astype(np.uint64)
    wide = bits.take(4 * n.size).view("<u4").astype(np.uint64) * n
    low = wide & np.uint64(0xFFFFFFFF)
    result = (wide >> np.uint64(32)).astype(np.int64)
    close = np.flatnonzero(low < n)  # 2^32 mod n is below n: only these need the division
    again = close[low[close] < np.uint64(1 << 32) % n[close]]
    if again.size:
        result[again] = below_each(limits[again], bits)
    return result
