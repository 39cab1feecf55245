"""The law of a sum of independent Laplace variables and one normal, for one linear function at a time.

The formulas are those of ``flou.theory.tails``, written out once more, and plainly, to compare it with.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from flou.arrays import Floats
from flou.laws import DiscreteLaplace, Law
from flou.laws.normal import log_ndtr

__all__ = ["Spread"]

APART = 1e-4


@dataclass(frozen=True, eq=False)
class Spread:
    """The law of Laplace noises of the given scales plus a normal of the given standard deviation."""

    scales: Sequence[float]
    tau: float = 0.0

    @classmethod
    def of(cls, noise: Law, weights: Sequence[float], tau: float = 0.0) -> Spread:
        """Of a linear function of independent noises of one law, discrete Laplace or Gaussian, and a normal."""
        if isinstance(noise, DiscreteLaplace):
            scale = float(noise.scale)
            return cls([abs(weight) * scale for weight in weights], tau)
        return cls([], math.sqrt(noise.variance * math.fsum(weight**2 for weight in weights) + tau**2))

    @cached_property
    def _mixture(self) -> tuple[Floats, Floats]:
        scales = np.sort(np.abs(np.asarray(self.scales, dtype=np.float64)))
        least = max(1e-9 * float(scales[-1]) if scales.size else 0.0, 1e-4 * self.tau)  # negligible below
        scales = scales[scales > least]
        for i in range(1, scales.size):
            scales[i] = max(scales[i], scales[i - 1] * (1 + APART))
        squares = scales**2
        gaps = squares[:, None] - squares[None, :]
        np.fill_diagonal(gaps, 1.0)
        ratios = squares[:, None] / gaps
        np.fill_diagonal(ratios, 1.0)
        return scales, np.prod(ratios, axis=1)

    def above(self, w: float) -> float:
        """P(W > w)."""
        if w < 0:
            return 1 - self.above(-w)
        scales, weights = self._mixture
        if self.tau == 0:
            tails = np.exp(-w / scales) / 2
        else:
            z, x = w / self.tau, self.tau / scales
            c = x**2 / 2
            near = np.exp(np.minimum(c - w / scales + log_ndtr(z - x), 0.0))
            far = np.exp(np.minimum(c + w / scales + log_ndtr(-z - x), 0.0))
            tails = math.exp(float(log_ndtr(-z))) + (near - far) / 2
        if not scales.size:
            return math.exp(float(log_ndtr(-w / self.tau))) if self.tau else float(w < 0)
        return min(max(float(np.dot(weights, tails)), 0.0), 1.0)
