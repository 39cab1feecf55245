"""Histograms with differential privacy for every row: one round of noisy counts.

Opened     the counts of ``distribution.py``, those below and above the edges, or of no category, among them, each with
           the noise of all parties
Guarantee  of the noise of ``honest`` parties on counts of which one row moves one by 1 (two, where a row is replaced)
Error      the law of all parties' noise (``NoiseShare.total_reach``): an opened count less its central interval holds
           the count of the rows
Left out   rows with a missing value; each row is read by itself, see ``row_by_row.py``
Proof      docs/explanation/proofs/joint-noise.md
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flou.arrays import Ints
from flou.guarantee import Guarantee
from flou.joint.estimators.distribution.distribution import Category, Histogram, HistogramFit, labelled
from flou.joint.estimators.fit import Fit
from flou.joint.estimators.party_rows import PartyRows
from flou.joint.estimators.private.privacy import TERMS, PrivacyTerms, PrivateProgram, WordSensitivity
from flou.joint.estimators.private.private_fit import guarantee_note
from flou.joint.estimators.private.row_by_row import PublicCategories, RowByRow
from flou.joint.estimators.program import Ask, Opened
from flou.joint.estimators.summary_table import SummaryTable
from flou.joint.masking.noise import NoiseShare
from flou.parameters import Number, Relation

__all__ = ["PrivateHistogram", "PrivateHistogramFit"]


@dataclass(frozen=True)
class PrivateHistogramFit(Fit):
    """Noisy counts, which may be negative, and where the counts of the rows lie."""

    opened: HistogramFit
    share: NoiseShare
    parties: int
    guarantee: Guarantee

    @property
    def counts(self) -> tuple[int, ...]:
        """Of each bin or category."""
        return self.opened.counts

    @property
    def n(self) -> int:
        """Of all rows: the noise of all counts is in it."""
        return self.opened.n

    @property
    def shares(self) -> NDArray[np.float64]:
        """The part of all rows in each bin."""
        return self.opened.shares

    @property
    def labels(self) -> tuple[str, ...]:
        """What each count is about."""
        return self.opened.labels

    @property
    def standard_error(self) -> float:
        """Of each count."""
        return float(np.sqrt(self.share.total(self.parties)))

    def conf_int(self, level: Number = 0.95) -> Ints:
        """Where the number of rows in each bin lies, each with this level: pairs of whole numbers, none below 0."""
        return self._around(self.counts, level)

    def _around(self, counts: Sequence[int], level: Number) -> Ints:
        reach, middle = self.share.total_reach(self.parties, level), np.array(counts, dtype=np.int64)
        return np.maximum(np.column_stack([middle - reach, middle + reach]), 0)

    def nonnegative(self) -> HistogramFit:
        """The closest counts of at least 0 with the same sum, in whole numbers; it costs nothing."""
        fit = self.opened
        below, *counts, above = _projected([fit.below, *fit.counts, fit.above])
        return HistogramFit(fit.column, fit.edges, fit.categories, tuple(counts), below, above)

    def summary(self) -> str:
        """A line for each bin."""
        fit = self.opened
        names, counts = zip(*labelled(fit), strict=True)
        lines = [
            [name, str(count), f"{count / max(self.n, 1):.4f}", str(low), str(high)]
            for name, count, (low, high) in zip(names, counts, self._around(counts, 0.95).tolist(), strict=True)
        ]
        left = [("Column", fit.column), ("Noise", self.share.kind)]
        right = [("No. Observations", f"{self.n} (noisy)"), ("Std. Error", f"{self.standard_error:.3g}")]
        heads = ("rows", "share", "[0.025", "0.975]")
        notes = [guarantee_note(self.guarantee, self.share, self.parties)]
        known = self._provenance_facts(max(self.n, 0))
        return SummaryTable("Private histogram", left, right, heads, lines, known, notes).text()


class PrivateHistogram(PrivateProgram):
    """How many rows fall into each bin, or have each of the public categories, with noise."""

    estimator = "private histogram"
    _required, _optional = ("column", "honest"), ("edges", "categories", *TERMS[1:])

    def __init__(
        self,
        column: str,
        *,
        honest: int,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        edges: Sequence[float] | None = None,
        bins: int | None = None,
        bounds: tuple[float, float] | None = None,
        categories: Sequence[Category] | None = None,
        schema: Any = None,
        noise: str = "auto",
        relation: Relation = "add-remove",
    ) -> None:
        """Bins or categories as in :class:`Histogram`; ``honest`` parties add their noise and keep it to themselves."""
        self.histogram = Histogram(column, edges=edges, bins=bins, bounds=bounds, categories=categories, schema=schema)
        listed = self.histogram.categories
        self._levels = {} if listed is None else {column: PublicCategories(listed)}
        self.privacy = PrivacyTerms.of(
            honest=honest, epsilon=epsilon, delta=delta, rho=rho, noise=noise, relation=relation
        )
        self.share = self.privacy.share(self.sensitivity)

    @property
    def sensitivity(self) -> WordSensitivity:
        moved = 2 if self.privacy.relation == "substitute" else 1
        return WordSensitivity(moved, moved, self.histogram.scalars)

    @property
    def columns(self) -> tuple[str, ...]:
        return self.histogram.columns

    @property
    def scalars(self) -> int:
        return self.histogram.scalars

    def next(self, opened: Sequence[Opened]) -> Ask | None:
        ask = self.histogram.next(opened)
        return None if ask is None else Ask(ask.step, ask.length, ask.limit, ask.parameters, self.share)

    def words(self, ask: Ask, rows: PartyRows) -> list[int]:
        return self.histogram.words(ask, RowByRow(rows, self._levels))

    def result(self, opened: Sequence[Opened]) -> PrivateHistogramFit:
        return PrivateHistogramFit(self.histogram.result(opened), self.share, len(opened[-1].parties), self.guarantee)

    def terms(self) -> dict[str, Any]:
        return {**self.histogram.terms(), **self.privacy.to_dict()}


def _projected(counts: Sequence[int]) -> list[int]:
    """The closest counts of at least 0 with the same sum: all less the same number, those below 0 being 0."""
    total = max(sum(counts), 0)
    falling = sorted(counts, reverse=True)
    shift = kept = taken = 0
    for place, count in enumerate(falling, 1):
        taken += count
        if place * count > taken - total:
            shift, kept = taken - total, place
    exact = [max(count * kept - shift, 0) for count in counts]  # in units of 1/kept
    whole = [value // kept for value in exact] if kept else [0] * len(counts)
    order = sorted(range(len(counts)), key=lambda i: exact[i] - whole[i] * kept, reverse=True)
    for place in order[: total - sum(whole)]:
        whole[place] += 1
    return whole
