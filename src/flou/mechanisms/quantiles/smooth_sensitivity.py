"""SmoothSensitivity: the exact quantile plus noise for how much this very table could change it, smoothed.

Law        the cell of rank k = ceil(p n) plus discrete Laplace noise of scale 2 S / epsilon, held to the grid, with
           S = max over ranks i <= k <= j of (x_j - x_i) w_(j-i-1); x_0 is the first cell, x_(n+1) the last one
Guarantee  (epsilon, delta)-DP: w_0 = 1, w_d <= (1 + epsilon / (2 ln(2/delta))) w_(d+1); m quantiles share epsilon and
           delta in equal parts
Why        one record moves the quantile by at most S and changes S by at most that factor, so it moves the noise's
           exponent by at most epsilon / 2 twice, unless the noise is larger than ln(2/delta) scales
Error      2 S / epsilon cells on average; S is about the distance of ln(1/delta) / epsilon ranks at the quantile
Numerics   exact: S is a fraction, the largest of the products; floats only rule out those that are surely smaller
Limits     delta > 0 always: noise that keeps epsilon alone has infinite variance, and is not offered; a scale of 1/16
           of a cell at least; for epsilon / ln(1/delta) below 2^-16, S is the whole range
Source     Nissim, Raskhodnikova, Smith (2007)
Proof      docs/explanation/proofs/quantiles.md
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from flou.arrays import Floats, Ints
from flou.bits import Bits
from flou.guarantee import ApproxDP
from flou.laws import DiscreteLaplace
from flou.mechanisms.quantiles.quantile_mechanism import QuantileMechanism
from flou.mechanisms.quantiles.records import Records
from flou.mechanisms.quantiles.targets import rank_of
from flou.parameters import Number, Relation, number

__all__ = ["SmoothSensitivity"]

LEAST_SCALE = Fraction(1, 16)  # of the noise, in cells: it changes an answer with probability 2e-7
LEAST_DECAY = 2.0**-16


@dataclass(frozen=True, init=False, repr=False)
class SmoothSensitivity(QuantileMechanism):
    """Exact quantiles with noise that is small where records are dense."""

    delta: Fraction

    def __init__(
        self,
        probabilities: Number | Iterable[Number],
        *,
        epsilon: Number,
        delta: Number,
        relation: Relation = "add-remove",
        unit: str = "row",
    ) -> None:
        super().__init__(probabilities, epsilon=epsilon, relation=relation, unit=unit)
        object.__setattr__(self, "delta", number("delta", delta))
        object.__setattr__(self, "guarantee", ApproxDP(epsilon, delta, relation=relation, unit=unit))

    @cached_property
    def decay(self) -> float:
        """beta: what one record may change the logarithm of S by, a little less than allowed.

        With e and d the shares of one quantile, e^beta - 1 <= e / (2 ln(2/d)) and beta <= e / 2. A part in 2^20 is left
        for rounding: of this formula (2^-49), and of the weights (2^-42, which is 2^-26 of the least beta).
        """
        count = len(self.ordered)
        e, d = float(self.epsilon) / count, float(self.delta) / count
        return min(math.log1p(e / 2 / math.log(2 / d)), e / 2) * (1 - 2.0**-20)

    def answers(self, records: Records, bits: Bits) -> Ints:
        ranks = [rank_of(p, records.rows) for p in self.ordered]
        self._scale(Fraction(records.cells - 1))  # if any table on this grid is refused, all are
        reach = self._weights(records).size
        records.prepare([(rank - reach, rank + reach) for rank in ranks])
        noisy = [self._padded(records, rank, 0)[0] + self.noise(records, rank).sample(bits=bits) for rank in ranks]
        return np.sort(np.clip(np.array(noisy, dtype=np.int64), 0, records.cells - 1))

    def noise(self, records: Records, rank: int) -> DiscreteLaplace:
        """What is added to the record of this rank."""
        return DiscreteLaplace(self._scale(self.smooth_sensitivity(records, rank)))

    def _scale(self, sensitivity: Fraction) -> Fraction:
        return number("scale", max(2 * sensitivity * len(self.ordered) / self.epsilon, LEAST_SCALE))

    def smooth_sensitivity(self, records: Records, rank: int) -> Fraction:
        """S of the record of this rank; what is too small for the least scale may be left out."""
        if self.decay < LEAST_DECAY:
            return Fraction(records.cells - 1)
        weights = self._weights(records)
        codes = self._padded(records, rank, weights.size)
        middle = weights.size
        # Of all pairs with j - i - 1 = d none is further apart than the ranks k - d - 1 and k + d + 1.
        widest = codes[middle + 1 :] - codes[middle - 1 :: -1]
        bounds = weights * widest * (1 + 2.0**-50)
        best = Fraction(0)
        for d in np.argsort(-bounds, kind="stable").tolist():
            if float(bounds[d]) <= best:
                break
            window = codes[middle - d - 1 : middle + d + 2]
            best = max(best, int(np.max(window[d + 1 :] - window[: d + 2])) * Fraction(float(weights[d])))
        return best

    def _weights(self, records: Records) -> Floats:
        """w_0, w_1, ... until all pairs are as far apart as the range, or too light for the least scale.

        Every d from the number of records on spans the whole range, and the first of them weighs most.
        """
        lightest = math.log(32 * records.cells * len(self.ordered) / float(self.epsilon) + 2)
        steps = min(records.rows, math.ceil(max(lightest, 1) / max(self.decay, LEAST_DECAY)))
        weights: Floats = np.exp(-self.decay * np.arange(steps + 1))
        return weights

    def _padded(self, records: Records, rank: int, reach: int) -> Ints:
        """The records of ranks from rank - reach to rank + reach, the bounds of the grid where there are none."""
        codes = records.ranked(rank - reach, rank + reach)
        before = max(0, min(1 - (rank - reach), 2 * reach + 1))
        after = 2 * reach + 1 - before - codes.size
        return np.concatenate([np.zeros(before, np.int64), codes, np.full(after, records.cells - 1)])
