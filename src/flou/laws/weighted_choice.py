"""Weighted choice: one of finitely many outcomes, with weights given by their exponents.

Law      P(i) proportional to multiplicity_i e^(-rate exponent_i), exponents and multiplicities integers
Sampler  Every weight gets an integer upper bound V_i, just above it. An outcome is drawn with probability
         V_i / sum(V) (integers, exact) and kept with probability weight_i / V_i (decided exactly): what is
         kept has probability proportional to the weight itself. The bound exceeds the weight by a few parts
         in 10^12, so nearly everything is kept at first sight, and only an outcome in doubt is ever
         computed to more digits, never the whole table.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flou.arrays import Floats, Ints
from flou.bits import Bits
from flou.errors import InvalidParameter
from flou.laws.decide import Uniform
from flou.laws.enclosure import Enclosure, exp_minus
from flou.laws.law import Law, as_integers, in_chunks
from flou.parameters import Number, exact, shown

__all__ = ["WeightedChoice"]

SLACK = 2.0**-40  # a float weight is within this of the true one: e^-y with y <= 745, and y off by 2^-51 y


def _whole(name: str, values: ArrayLike) -> Ints:
    array = np.asarray(values)
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "iu":
        raise InvalidParameter(
            f"{name} must be a non-empty vector of integers, got {array.ndim} dimension(s) of {array.dtype}.",
            "Weights are exact only when their exponents lie on a grid.",
            f"Pass for example {name}=[0, 1, 2], and put the unit of the grid into the rate.",
        )
    clamped: Ints = np.minimum(array, 2**63 - 1).astype(np.int64)
    return clamped


class WeightedChoice(Law):
    """Outcome i in 0..n-1 with probability proportional to multiplicity_i e^(-rate exponent_i)."""

    def __init__(self, exponents: ArrayLike, *, rate: Number = 1, multiplicities: ArrayLike | None = None) -> None:
        self.exponents = _whole("exponents", exponents)
        try:
            self.rate = exact(rate)
        except (TypeError, ValueError, OverflowError):
            self.rate = Fraction(-1)
        if self.rate < 0:
            raise InvalidParameter(
                f"rate must be a number of at least 0, got {shown(rate)}.",
                "Weights decrease as their exponents grow.",
                "Pass for example rate=0.5.",
            )
        self.multiplicities = None if multiplicities is None else _whole("multiplicities", multiplicities)
        if self.multiplicities is not None and (
            self.multiplicities.shape != self.exponents.shape
            or np.any(self.multiplicities < 0)
            or not np.any(self.multiplicities)
        ):
            raise InvalidParameter(
                "multiplicities must be one integer of at least 0 for each exponent, not all 0.",
                "They say how many equal outcomes each entry stands for.",
                "Pass for example multiplicities=[1, 1, 2].",
            )

    def __repr__(self) -> str:
        return f"WeightedChoice({self.exponents.size} outcomes)"

    @cached_property
    def _gaps(self) -> NDArray[np.uint64]:
        """exponent - least exponent; unsigned, so that no difference of two integers overflows."""
        present = self.exponents if self.multiplicities is None else self.exponents[self.multiplicities > 0]
        return self.exponents.astype(np.uint64) - np.uint64(int(present.min()) % 2**64)

    @cached_property
    def _heights(self) -> Floats:
        """The exponents of e as floats, least 0."""
        return self._gaps.astype(np.float64) * float(self.rate)

    @cached_property
    def _weights(self) -> Floats:
        """The weights as floats, the largest between 1 and its multiplicity, each within ``SLACK``."""
        weights = np.exp(-self._heights)
        return weights if self.multiplicities is None else weights * self.multiplicities

    @cached_property
    def _bounds(self) -> tuple[int, NDArray[np.int64]]:
        """A shift and the running sums of the V_i: integers above weight_i 2^shift that sum to less than 2^62."""
        shift = 60 - int(np.ceil(np.log2(np.sum(self._weights))))
        bounds = (self._weights * (2.0**shift * (1 + SLACK))).astype(np.int64)
        bounds += 1
        if self.multiplicities is not None:
            bounds[self.multiplicities == 0] = 0
        return shift, np.cumsum(bounds, out=bounds)

    def draw(self, size: int, bits: Bits) -> Ints:
        return in_chunks(size, lambda count: self._draw(count, bits))

    def _draw(self, size: int, bits: Bits) -> Ints:
        shift, running = self._bounds
        chosen = np.searchsorted(running, bits.below(int(running[-1]), size), side="right")
        bound = running[chosen] - np.where(chosen > 0, running[chosen - 1], 0)
        words = bits.words(size)
        certain = self._weights[chosen] * (2.0**shift * (1 - 2 * SLACK)) / bound  # at most the true ratio
        refused = [
            i
            for i in np.flatnonzero(words * 2.0**-64 >= certain - 2.0**-50).tolist()
            if not Uniform(int(words[i]), 64, bits).below(self._ratio(int(chosen[i]), shift, int(bound[i])))
        ]
        if refused:
            chosen[refused] = self._draw(len(refused), bits)
        return chosen

    def _ratio(self, i: int, shift: int, bound: int) -> Enclosure:
        """weight_i 2^shift / V_i."""
        power = exp_minus(int(self._gaps[i]) * self.rate)
        times = (1 if self.multiplicities is None else int(self.multiplicities[i])) << max(shift, 0)
        over = bound << max(-shift, 0)
        finer = max(0, times.bit_length() - over.bit_length()) + 8

        def enclose(precision: int) -> tuple[int, int]:
            low, high = power(precision + finer)
            return low * times // over >> finer, -(-high * times // over >> finer)

        return enclose

    @cached_property
    def _log_total(self) -> float:
        return float(np.log(np.sum(self._weights)))

    @cached_property
    def probabilities(self) -> Floats:
        """P(0), ..., P(n - 1)."""
        return self._weights / np.sum(self._weights)

    @cached_property
    def _running(self) -> Floats:
        return np.minimum(np.cumsum(self.probabilities), 1.0)

    def log_pmf(self, k: ArrayLike) -> Any:
        k = as_integers(k)
        inside = (k >= 0) & (k < self.exponents.size)
        i = np.where(inside, k, 0)
        log = -self._heights[i] - self._log_total
        if self.multiplicities is not None:
            with np.errstate(divide="ignore"):
                log = log + np.log(self.multiplicities[i])
        return np.where(inside, log, -np.inf)[()]

    def cdf(self, k: ArrayLike) -> Any:
        k = np.minimum(as_integers(k), self.exponents.size - 1)
        return np.where(k < 0, 0.0, np.where(k == self.exponents.size - 1, 1.0, self._running[np.maximum(k, 0)]))[()]

    def sf(self, k: ArrayLike) -> Any:
        return 1 - self.cdf(k)

    @property
    def mean(self) -> float:
        return float(np.dot(np.arange(self.exponents.size), self.probabilities))

    @property
    def variance(self) -> float:
        return float(np.dot((np.arange(self.exponents.size) - self.mean) ** 2, self.probabilities))

    @property
    def mean_absolute(self) -> float:
        return self.mean
