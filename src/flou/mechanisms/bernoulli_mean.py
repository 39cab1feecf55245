"""Mean of yes/no answers by inverse sensitivity, on the counts 0..n themselves.

Law        P[release = k] = r^|k - s| / (1 + r - r^(s+1) - r^(n-s+1)) * (1 - r), r = e^(-epsilon/2), s the exact count
Guarantee  epsilon-DP under substitution; the number of rows n is public
Why        |k - s| rows must change until the count is k: the inverse sensitivity mechanism on 0..n
Error      E |release - s| / n is near 2 e^(-epsilon/2) / (n (1 - e^-epsilon)) inside; towards the ends it is biased
Numerics   exact: a truncated discrete Laplace of scale 2 / epsilon
Limits     it spends less than epsilon (0.71 at epsilon = 1); where n epsilon is above 5, the Laplace mechanism of scale
           1 / epsilon, clamped to 0..n, has less error
Source     document 000 (section 6), with its normalisation, its limit and its claim of unbiasedness corrected
Proof      docs/explanation/proofs/bernoulli_mean.md
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from flou.bits import SYSTEM, Bits
from flou.guarantee import PureDP
from flou.laws import DiscreteLaplace, Shifted, Truncated
from flou.mechanisms.mechanism import Mechanism
from flou.parameters import Number, integer, number

__all__ = ["BernoulliMean"]


@dataclass(frozen=True, repr=False)
class BernoulliMean(Mechanism):
    """A private count of ones among a public number of rows; divide by ``rows`` for the mean."""

    rows: int
    epsilon: Fraction
    guarantee: PureDP

    def __init__(self, *, rows: int, epsilon: Number, unit: str = "row") -> None:
        object.__setattr__(self, "rows", integer("rows", rows, 1, 2**60))
        object.__setattr__(self, "epsilon", number("epsilon", epsilon))
        object.__setattr__(self, "guarantee", PureDP(epsilon, relation="substitute", unit=unit))

    def law(self, ones: int) -> Shifted:
        inside = min(max(int(ones), 0), self.rows)
        return Shifted(Truncated(DiscreteLaplace(2 / self.epsilon), -inside, self.rows - inside), inside)

    def sample(self, ones: int, *, bits: Bits = SYSTEM) -> int:
        """A count between 0 and ``rows``."""
        return self.law(ones).sample(bits=bits)
