"""Mean of a column: the ratio of a noisy total and a noisy number of rows, from one vector of moments.

Law        see ``moment_noise.py``: three Laplace noises of scale about 1/epsilon rows (one, where the rows are known)
Guarantee  epsilon-DP in total
Why        a row's moments have a constant L1 norm, so the rows, the total and the spread are paid for once
Error      standard deviation (upper - lower) / (epsilon n) times 1 to 1.6, known exactly; the interval inverts the law
Numerics   exact integers on a grid of 2^31 cells until the noise is drawn
Limits     with few rows next to 1/epsilon the interval is the whole range, and says so
Source     the unit-norm moments are flou's own; documents 000 (3.1) and 003 for the Laplace mechanism
Proof      docs/explanation/proofs/moments.md
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flou.central.moment_noise import MomentNoise, NoisyMoments, moment_noise
from flou.central.question import Context, Draft, Question
from flou.guarantee import Guarantee
from flou.parameters import Number
from flou.release.uncertainty import Interval, NoiseAndSampling
from flou.summaries.moments import MomentGrid
from flou.summaries.request import Code, Request

__all__ = ["Mean", "described_noise", "noisy_groups"]


@dataclass(frozen=True)
class Mean(Question):
    """The mean, of all rows or of every group of ``by``."""

    column: str
    epsilon: Number
    by: str | None = None
    statistic = "mean"

    def cost(self, context: Context) -> Guarantee:
        self._noise(context)
        return context.pure(self.epsilon)

    def _noise(self, context: Context) -> MomentNoise:
        grid = MomentGrid.of(self.column, context.domain(self.column))
        return moment_noise(grid, self.epsilon, context if self.by is None else context.without_rows())

    def requests(self, context: Context) -> tuple[Request, ...]:
        by = None if self.by is None else Code(self.by, context.domain(self.by))
        return (self._noise(context).grid.request(by),)

    def answer(self, found: list[NDArray[Any]], context: Context) -> Draft:
        noise = self._noise(context)
        groups, labels = noisy_groups(noise, found[0], self.by, context)
        uncertainty = MeanUncertainty(tuple(groups), labels is not None)
        grid = noise.grid
        values = np.array([grid.lower + grid.width * group.mean for group in groups])
        return Draft(
            value=float(values[0]) if labels is None else values,
            uncertainty=uncertainty,
            mechanism=described_noise(noise, context),
            labels=labels,
            note=_small(groups, labels),
            postprocessing=("ratio of released totals", "clamped to the public bounds"),
            keys={} if self.by is None else {"group_keys": "public", "column": self.by},
        )


@dataclass(frozen=True)
class MeanUncertainty(NoiseAndSampling):
    """Intervals for means, from the inverted law of the noises."""

    groups: tuple[NoisyMoments, ...]
    grouped: bool

    def _interval(self, level: float, sampling: bool) -> Interval:
        grid = self.groups[0].noise.grid
        ends = np.array([group.mean_interval(level, sampling=sampling) for group in self.groups])
        low, high = (grid.lower + grid.width * ends).T
        low, high = np.maximum(low - grid.rounding, grid.lower), np.minimum(high + grid.rounding, grid.upper)
        return (low, high) if self.grouped else (float(low[0]), float(high[0]))

    @property
    def grid(self) -> float:
        return self.groups[0].noise.grid.rounding


def noisy_groups(
    noise: MomentNoise, sums: NDArray[Any], by: str | None, context: Context
) -> tuple[list[NoisyMoments], tuple[str, ...] | None]:
    """The noisy moments of every group, and the names of the groups (None: there is one, of all rows)."""
    table = np.atleast_2d(sums)
    released = [noise.release(noise.grid.moments(row), unit=context.unit, bits=context.bits) for row in table]
    if by is None:
        return released, None
    domain = context.domain(by)
    return released, tuple(str(label) for label in domain.decode(np.arange(domain.size)).tolist())


def described_noise(noise: MomentNoise, context: Context) -> dict[str, Any]:
    """The mechanism block of a certificate."""
    mechanism = noise.mechanism(context.unit)
    return {
        "name": "discrete Laplace on unit-norm moments",
        "scale": float(mechanism.noise.scale),
        "grid": f"1/{noise.steps * noise.grid.unit} of a row",
        "sensitivity": float(mechanism.sensitivity),
        "norm": "L1",
        "sampler": "exact, by inversion with refinement",
        "random_source": context.random_source,
    }


def _small(groups: list[NoisyMoments], labels: tuple[str, ...] | None) -> str:
    """Groups whose released size is within the noise are flagged, without a look at the exact one."""
    if labels is None:
        return ""
    small = [label for label, group in zip(labels, groups, strict=True) if group.rows < 20 * group.scale]
    return f"Few rows next to the noise: {', '.join(small)}." if small else ""
