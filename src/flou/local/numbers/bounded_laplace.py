"""Bounded Laplace: Laplace noise that is drawn again until the value lies within the bounds.

Law        codes and reports 0..s; P[y | i] = e^(-a |y - i|) / Z_i, a = epsilon / s, Z_i the sum of these weights over y
Guarantee  epsilon-DP for one person's number, in one report
Why        e^(a i) Z_i does not fall in i and e^(-a i) Z_i does not rise, so P[y | i] is largest at i = y and least at
           an end; the ratio of the two is at most e^(a s) = e^epsilon, reached by the two ends
Error      E (report - answer)^2 is largest at an end
Numerics   exact: discrete Laplace noise, or for small epsilon a uniform report kept by a coin of probability
           e^(-a |y - i|), until the report is inside
Limits     holds for the whole width only: noise for a smaller sensitivity, kept within bounds, loses more than its
           epsilon. Reports are pulled towards the middle: their average is biased. ``mean``, ``quantiles`` and
           ``histogram`` correct
Source     Holohan, Antonatos, Braghin, Mac Aonghusa (2020); document 002
Proof      docs/explanation/proofs/local_numbers.md
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from flou.arrays import Ints
from flou.bits import SYSTEM, Bits
from flou.laws import DiscreteLaplace, Shifted, Truncated
from flou.laws.decide import CHUNK, coins
from flou.laws.enclosure import exp_minus
from flou.local.numbers.distribution_randomiser import DistributionRandomiser

__all__ = ["BoundedLaplace"]

SMALL = 2  # below this epsilon a uniform report is kept more often than noise stays inside


class BoundedLaplace(DistributionRandomiser):
    """One record's value, randomised; reports are codes of the domain."""

    name = "bounded Laplace"

    @property
    def _noise(self) -> DiscreteLaplace:
        return DiscreteLaplace((self.domain.size - 1) / self.epsilon)

    def law(self, answer: int) -> Shifted:
        last = self.domain.size - 1
        code = min(max(int(answer), 0), last)
        return Shifted(Truncated(self._noise, -code, last - code), code)

    def sample(self, answer: Ints, *, bits: Bits = SYSTEM) -> NDArray[Any]:
        codes = np.clip(answer, 0, self.domain.size - 1)
        once = self._from_range if self.epsilon < SMALL else self._from_noise
        result = np.empty(codes.size, dtype=np.int64)
        for begin in range(0, codes.size, CHUNK):
            here = slice(begin, begin + CHUNK)
            result[here] = self._repeated(codes[here], once, bits)
        return result

    @staticmethod
    def _repeated(codes: Ints, once: Any, bits: Bits) -> Ints:
        result = np.empty(codes.size, dtype=np.int64)
        waiting = np.arange(codes.size)
        while waiting.size:
            report, kept = once(codes[waiting], bits)
            result[waiting[kept]] = report[kept]
            waiting = waiting[~kept]
        return result

    def _from_noise(self, codes: Ints, bits: Bits) -> tuple[Ints, NDArray[np.bool_]]:
        report = codes + self._noise.draw(codes.size, bits)
        return report, (report >= 0) & (report < self.domain.size)

    def _from_range(self, codes: Ints, bits: Bits) -> tuple[Ints, NDArray[np.bool_]]:
        report = bits.below(self.domain.size, codes.size)
        distance, rate = np.abs(report - codes), self.epsilon / (self.domain.size - 1)
        approximate = np.exp(-float(rate) * distance)
        words = bits.words(codes.size)
        return report, coins(words, approximate, 2.0**-45, lambda i: exp_minus(int(distance[i]) * rate), bits)

    def values(self, reports: NDArray[Any]) -> NDArray[Any]:
        """What the reports stand for, in the units of the domain."""
        return self.domain.decode(self.checked(reports))
