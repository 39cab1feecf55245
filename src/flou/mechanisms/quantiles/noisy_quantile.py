"""NoisyQuantile: the exact quantiles plus noise for the whole range, a baseline.

Law        the cells of ranks ceil(p n) plus discrete Laplace noise of scale D / epsilon each (with a delta: rounded
           Gaussian noise, analytic calibration), held to the grid and put in order; without records, the middle cell
Guarantee  epsilon-DP; (epsilon, delta)-DP with a delta
Why        with R the largest cell minus the smallest: under add/remove each of m answers moves by at most R, D = m R
           (in L2 norm sqrt(m) R). Under substitution answers of different ranks move inside ranges that do not overlap,
           so D = c R (sqrt(c) R), where at most c of the probabilities share a rank
Error      about D / epsilon cells, whatever the data: useless unless epsilon is much larger than m
Numerics   exact draws on integers
Limits     D / epsilon at most 2^50
Source     Dwork, McSherry, Nissim, Smith (2006); document 001 (2)
Proof      docs/explanation/proofs/quantiles.md
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from flou.arrays import Ints
from flou.bits import Bits
from flou.guarantee import ApproxDP
from flou.mechanisms.additive import Additive
from flou.mechanisms.gaussian import Gaussian
from flou.mechanisms.laplace import Laplace
from flou.mechanisms.quantiles.quantile_mechanism import QuantileMechanism
from flou.mechanisms.quantiles.records import Records
from flou.mechanisms.quantiles.targets import rank_of
from flou.parameters import Number, Relation, number

__all__ = ["NoisyQuantile"]


@dataclass(frozen=True, init=False, repr=False)
class NoisyQuantile(QuantileMechanism):
    """Exact quantiles with Laplace noise, or with Gaussian noise if there is a ``delta``."""

    delta: Fraction | None

    def __init__(
        self,
        probabilities: Number | Iterable[Number],
        *,
        epsilon: Number,
        delta: Number | None = None,
        relation: Relation = "add-remove",
        unit: str = "row",
    ) -> None:
        super().__init__(probabilities, epsilon=epsilon, relation=relation, unit=unit)
        object.__setattr__(self, "delta", None if delta is None else number("delta", delta))
        if delta is not None:
            object.__setattr__(self, "guarantee", ApproxDP(epsilon, delta, relation=relation, unit=unit))

    def exact(self, records: Records) -> Ints:
        """The quantiles before noise, of the ``ordered`` probabilities."""
        if records.rows == 0:
            return np.full(len(self.ordered), (records.cells - 1) // 2)
        ranks = [rank_of(p, records.rows) for p in self.ordered]
        records.prepare([(rank, rank) for rank in ranks])
        return np.concatenate([records.ranked(rank, rank) for rank in ranks])

    def noise(self, rows: int, cells: int) -> Additive:
        """The noise for this number of records (the same for neighbours under substitution) and at least two cells."""
        together = len(self.ordered)
        if self.relation == "substitute":
            together = max(Counter(rank_of(p, rows) for p in self.ordered).values())
        if self.delta is None:
            return Laplace(sensitivity=together * (cells - 1), epsilon=self.epsilon, relation=self.relation)
        root = Fraction(math.isqrt((together << 60) - 1) + 1, 1 << 30)  # at least the square root
        return Gaussian(sensitivity=root * (cells - 1), epsilon=self.epsilon, delta=self.delta, relation=self.relation)

    def answers(self, records: Records, bits: Bits) -> Ints:
        exact = self.exact(records)
        if records.cells == 1:
            return exact
        noisy = self.noise(records.rows, records.cells).sample(exact, bits=bits)
        return np.sort(np.clip(noisy, 0, records.cells - 1))
