"""Square wave: a report near the answer, on a range that is wider than the answers' by half a window on both sides.

Law        codes 0..m-1; reports 0..m+w-2; the window of code i is i, ..., i + w - 1, each report in it e^epsilon times
           as likely as each other one
Guarantee  epsilon-DP for one person's number, in one report
Why        all windows have w cells, so the ratio of two probabilities is 1, e^epsilon or e^-epsilon
Error      see ``distribution_randomiser.py``
Choice     w / m near 2 b, b = (epsilon e^epsilon - e^epsilon + 1) / (2 e^epsilon (e^epsilon - 1 - epsilon)), which
           makes an upper bound of the mutual information of answer and report largest
Numerics   exact: a coin enclosed as finely as needed, and a uniform integer
Limits     near epsilon = 0.1 the shares of a few coarse categories are better asked for directly
Source     Li, Wang, Lopuhaa-Zwakenberg, Skoric, Li (2020)
Proof      docs/explanation/proofs/local_numbers.md
"""

from __future__ import annotations

import math

from flou.arrays import Ints
from flou.local.numbers.window_randomiser import WindowDistribution

__all__ = ["SquareWave"]


class SquareWave(WindowDistribution):
    """The window starts at the answer's code; the reports' grid has w - 1 cells more than the answers'."""

    name = "square wave"

    @property
    def width(self) -> int:
        """w: how many reports a window holds."""
        return max(1, round(2 * _half_width(float(self.epsilon)) * self.domain.size))

    @property
    def cells(self) -> int:
        return self.domain.size + self.width - 1

    def window(self, codes: Ints) -> tuple[Ints, Ints]:
        return codes, codes + self.width


def _half_width(epsilon: float) -> float:
    """b = (epsilon - 1 + e^-epsilon) / (2 (e^epsilon - 1 - epsilon)); both differences cancel near 0."""
    if epsilon < 1e-3:
        return 0.5 - epsilon / 3  # the series: epsilon^2 (1 - epsilon / 3) / 2 over epsilon^2 (1 + epsilon / 3)
    if epsilon > 700:
        return 0.0
    return (epsilon + math.expm1(-epsilon)) / (2 * (math.expm1(epsilon) - epsilon))
