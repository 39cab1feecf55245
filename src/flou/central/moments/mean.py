"""Mean of a column: the ratio of a noisy total and a noisy number of rows, from one vector of moments.

Law        see ``moment_noise.py``: three noises of scale about 1/epsilon rows (one, where the rows are known)
Guarantee  that of the price, in total: epsilon-DP, (epsilon, delta)-DP or rho-zCDP
Why        a row's moments have a constant L1 norm, so the rows, the total and the spread are paid for once
Error      standard deviation (upper - lower) / (epsilon n) times 1 to 1.6, known exactly; the interval inverts the law
Numerics   exact integers on a grid of 2^26 cells until the noise is drawn; the intervals include the grid
Limits     with few rows next to 1/epsilon the interval is the whole range, and says so; the population's interval
           allows for rows that were not seen (``theory/least_favourable.py``), and is wide where rows do not fill the
           bounds
Source     the unit-norm moments are flou's own; documents 000 (3.1) and 003 for the Laplace mechanism
Proof      docs/explanation/proofs/moments.md
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from flou.arrays import Floats
from flou.central.moments.column_question import ColumnQuestion, ColumnUncertainty
from flou.central.moments.moment_noise import MomentNoise, NoisyMoments, mean_intervals
from flou.central.price import Price
from flou.central.question import PublicFacts
from flou.summaries.moments import MomentGrid

__all__ = ["Mean"]

TOGETHER = 256  # groups whose two intervals are searched at once: enough for speed, few enough for the cache


@dataclass(frozen=True)
class Mean(ColumnQuestion):
    """The mean, of all rows or of every group of ``by``."""

    statistic = "mean"
    proof = "moments"
    _postprocessing = ("ratio of released totals", "clamped to the public bounds")

    def noise(self, facts: PublicFacts) -> MomentNoise:
        return MomentNoise(MomentGrid.of(self.column, facts.domain(self.column)), Price.read(self.price), facts)

    def _uncertainty(self, groups: tuple[Any, ...]) -> ColumnUncertainty:
        return MeanUncertainty(groups, self.by is not None)


@dataclass(frozen=True, eq=False)
class MeanUncertainty(ColumnUncertainty):
    """Intervals for means, from the inverted law of the noises; computed once, because tables ask again."""

    groups: tuple[NoisyMoments, ...]

    @property
    def _grid(self) -> MomentGrid:
        return self.groups[0].noise.grid

    @property
    def values(self) -> Floats:
        means = np.array([self._grid.lower + self._grid.width * group.mean for group in self.groups])
        values: Floats = np.minimum(means, self._grid.upper)
        return values

    @cached_property
    def _searched(self) -> dict[tuple[float, bool], Floats]:
        return {}

    def _ends(self, level: float, sampling: bool) -> tuple[Floats, Floats]:
        grid = self._grid
        if (level, sampling) not in self._searched:
            parts = (self.groups[start : start + TOGETHER] for start in range(0, len(self.groups), TOGETHER))
            found = [mean_intervals(part, level, sampling=sampling) for part in parts]
            self._searched[level, sampling] = np.concatenate(found, axis=-1)
        low, high = grid.lower + grid.width * self._searched[level, sampling]
        return np.maximum(low - grid.rounding, grid.lower), np.minimum(high + grid.rounding, grid.upper)

    @property
    def grid(self) -> float:
        return self._grid.rounding
