"""Whole distributions from reports: shares, quantiles and means of the answers behind them.

Law        each randomiser's own; the report is near the answer more often than not
Guarantee  each randomiser's own
Error      the shares of up to 128 groups of neighbouring codes are those of the greatest likelihood, stopped early and,
           by default, smoothed (``distribution_estimate.py``). Intervals are by the delta method. Half of an interval
           is the normal quantile times the standard deviation, plus the bias that shows when the estimate is estimated
           again from its own expected reports. Intervals cover the noise (and sampling, for the population), but not
           all that stopping and smoothing hide: where epsilon is small or the answers have spikes, they are too short
Numerics   reports are counted exactly; estimates are floats
Limits     with more than 128 codes those of a group are taken as equally frequent
Source     Li, Wang, Lopuhaa-Zwakenberg, Skoric, Li (2020)
Proof      docs/explanation/proofs/local_numbers.md
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flou.arrays import Floats, Ints
from flou.local.aggregate import Aggregate
from flou.local.certify import certified
from flou.local.numbers.distribution_estimate import (
    DistributionEstimate,
    DistributionQuantileUncertainty,
    LinearUncertainty,
)
from flou.local.numbers.number_randomiser import NumberRandomiser, Scale, half_a_cell, numbers_of
from flou.parameters import Number, integer, open_probability
from flou.release import Layout, Release

__all__ = ["DistributionRandomiser"]

GROUPS = 128  # of codes
BINS = 512  # of reports
SEEN = 8  # codes of a group for which the law is computed


class DistributionRandomiser(NumberRandomiser):
    """``domain``: an interval, integers, or a pair of bounds; ``smooth``: whether shares are smoothed."""

    def __init__(self, domain: Scale, *, epsilon: Number, smooth: bool = True, unit: str = "person") -> None:
        super().__init__(numbers_of(domain, usual=1024), epsilon=epsilon, unit=unit)
        self.smooth = bool(smooth)

    @property
    def cells(self) -> int:
        return self.domain.size

    @property
    def groups(self) -> int:
        """Of how many groups of neighbouring codes the shares are estimated."""
        return min(self.domain.size, GROUPS)

    @property
    def tallies(self) -> int:
        return min(self.cells, BINS)

    def tally(self, reports: NDArray[Any]) -> Ints:
        return np.bincount(reports * self.tallies // self.cells, minlength=self.tallies).astype(np.int64)

    def possible(self, people: int, sums: Ints) -> bool:
        return bool(np.all(sums >= 0)) and int(sums.sum()) == people

    def running(self, codes: Ints, ends: Ints) -> Floats:
        """P[report < end | code], a row for each code."""
        return np.array([self.law(int(code)).cdf(ends - 1) for code in codes])

    @cached_property
    def channel(self) -> Floats:
        """P[bin of the report | group of the answer], a column for each group."""
        ends = -(-np.arange(self.tallies + 1) * self.cells // self.tallies)
        starts = -(-np.arange(self.groups + 1) * self.domain.size // self.groups)
        length = np.diff(starts)
        seen = min(int(length.max()), SEEN)
        # the middles of ``seen`` equal parts of each group; of a group with as many codes, each of them
        codes = starts[:-1, None] + (2 * np.arange(seen) + 1) * length[:, None] // (2 * seen)
        rows = np.diff(self.running(codes.ravel(), ends), axis=1)
        found: Floats = rows.reshape(self.groups, seen, -1).mean(axis=1).T
        found /= found.sum(axis=0)
        return found

    @cached_property
    def _edges(self) -> Floats:
        """The ends of the groups in the units of the domain."""
        return self.domain.places(-(-np.arange(self.groups + 1) * self.domain.size // self.groups))

    def estimated(self, aggregate: Aggregate) -> Release:
        return self.histogram(aggregate)

    def histogram(self, reports: ArrayLike | Aggregate, *, bins: int = 10) -> Release:
        """The shares of ``bins`` ranges of about equal width."""
        count = min(integer("bins", bins, 2, GROUPS), self.groups)
        place = np.arange(self.groups) * count // self.groups
        weights = (place == np.arange(count)[:, None]).astype(np.float64)
        ends = self._edges[[*np.flatnonzero(np.diff(place, prepend=-1)).tolist(), self.groups]]
        labels = tuple(f"{low:.6g} to {high:.6g}" for low, high in pairwise(ends.tolist()))
        layout = Layout("bins", places=tuple(ends.tolist()))
        return self._release(
            reports, "histogram", lambda estimate: LinearUncertainty(estimate, weights, (0.0, 1.0), 0.0), labels, layout
        )

    def quantiles(self, reports: ArrayLike | Aggregate, probabilities: Sequence[float]) -> Release:
        """The quantiles of these probabilities."""
        levels = [float(open_probability("probabilities", level)) for level in probabilities]
        labels = tuple(f"{level:g}" for level in levels)
        cell, layout = half_a_cell(self.domain), Layout("quantiles", names=labels, places=tuple(levels))
        return self._release(
            reports,
            "quantiles",
            lambda estimate: DistributionQuantileUncertainty(estimate, np.array(levels), self._edges, cell),
            labels,
            layout,
        )

    def mean(self, reports: ArrayLike | Aggregate) -> Release:
        """The mean of the estimated distribution; the randomisers of means have less error."""
        middles = (self._edges[1:] + self._edges[:-1]) / 2
        bounds, cell = (float(middles[0]), float(middles[-1])), half_a_cell(self.domain)
        return self._release(reports, "mean", lambda estimate: LinearUncertainty(estimate, middles, bounds, cell), None)

    def _release(
        self,
        reports: ArrayLike | Aggregate,
        statistic: str,
        uncertain: Callable[[DistributionEstimate], LinearUncertainty | DistributionQuantileUncertainty],
        labels: tuple[str, ...] | None,
        layout: Layout | None = None,
    ) -> Release:
        aggregate = self.aggregate(reports)
        uncertainty = uncertain(_estimate(self, aggregate.sums.tobytes()))
        value = uncertainty.centre if labels is not None else float(uncertainty.centre)
        words = ("expectation maximisation", *(("smoothing",) if self.smooth else ()))
        return certified(self, aggregate, statistic, value, uncertainty, labels, words, layout)


@lru_cache(maxsize=16)
def _estimate(randomiser: DistributionRandomiser, counts: bytes) -> DistributionEstimate:
    return DistributionEstimate.of(np.frombuffer(counts, dtype=np.int64), randomiser.channel, smooth=randomiser.smooth)
