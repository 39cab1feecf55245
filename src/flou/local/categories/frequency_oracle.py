"""Shares of categories from reports that each support some of them.

Law        a report supports the respondent's own category with probability p, and each other one with probability q
Guarantee  each randomiser's own
Error      (share of reports in support - q) / (p - q) is unbiased for the share f of a category; its variance is
           (f p (1 - p) + (1 - f) q (1 - q)) / (n (p - q)^2) around the share among the respondents, and
           r (1 - r) / (n (p - q)^2), r the probability of support, around the share in the population
           n times the variances of all k categories add up to (p (1 - p) + (k - 1) q (1 - q)) / (p - q)^2, whatever the
           shares: the number by which oracles are compared
Numerics   support is counted exactly; for the intervals see ``support_uncertainty.py``
Limits     an estimate may be negative. By default the nearest non-negative shares that add up to 1 are published
Source     Wang, Blocki, Li, Jha (2017)
Proof      docs/explanation/proofs/frequency_oracles.md
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flou.arrays import Floats, Ints
from flou.domain import Categories, Domain, Integers
from flou.errors import InvalidData, InvalidParameter
from flou.local.aggregate import Aggregate
from flou.local.categories.consistency import CONSISTENT, Consistent, nearest_shares
from flou.local.categories.pairs import Pairs
from flou.local.categories.support_uncertainty import SupportUncertainty
from flou.local.certify import certified
from flou.local.randomiser import Randomiser, whole_numbers
from flou.parameters import Number, choice, integer
from flou.release import Layout, Release

__all__ = ["Answers", "FrequencyOracle", "categories_of"]

Answers: TypeAlias = int | list[Any] | tuple[Any, ...] | Domain  # how many there are, a list of them, or their domain

MOST_CATEGORIES = 2**31


class FrequencyOracle(Randomiser):
    """``categories``: how many there are (answers are then 0..k-1), a list of them, or a domain."""

    proof = "frequency_oracles"
    domain: Domain

    reason = ""  # why it was chosen, when ``frequencies`` chose it
    _marks: int | None = 1  # how many of the sums a report adds 1 to, if this number is fixed

    def __init__(self, categories: Answers, *, epsilon: Number, unit: str = "person") -> None:
        super().__init__(categories_of(categories), epsilon=epsilon, unit=unit)

    @property
    def k(self) -> int:
        """How many categories there are."""
        return self.domain.size

    @property
    @abstractmethod
    def p(self) -> float:
        """P[a report supports the respondent's category]."""

    @property
    @abstractmethod
    def q(self) -> float:
        """P[a report supports another given category]."""

    @property
    @abstractmethod
    def gap(self) -> float:
        """p - q, without cancellation: how much more often a report supports the respondent's own category."""

    @property
    @abstractmethod
    def report_bits(self) -> int:
        """How many bits a report has."""

    @property
    def tallies(self) -> int:
        return self.k

    def parameters(self) -> dict[str, Any]:
        return {"epsilon": str(self.epsilon), "domain": self.domain.to_dict()}

    def variance(self, share: float = 0.0) -> float:
        """n times the variance of the estimate of a category that has this share of the respondents.

        The variances of all categories add up to k times that of a share of 1/k, whatever the shares are.
        """
        p, q = self.p, self.q
        return (share * p * (1 - p) + (1 - share) * q * (1 - q)) / self.gap**2

    def codes(self, answers: ArrayLike) -> Ints:
        """A vector of answers, as codes; those outside 0..k-1 are clamped."""
        array = np.asarray(answers)
        if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
            raise InvalidData(
                f"Answers must be a vector of codes, got {array.ndim} dimension(s) of {array.dtype}.",
                "One report is made for each answer, and codes are whole numbers.",
                "Pass values to randomise(...), which turns them into codes.",
            )
        if array.dtype == np.uint64:
            array = np.minimum(array, np.uint64(self.k))
        clamped: Ints = np.clip(array.astype(np.int64), 0, self.k - 1)
        return clamped

    def checked(self, reports: ArrayLike) -> NDArray[Any]:
        return whole_numbers(reports, self.tallies - 1)  # one number for each tally; other forms say so themselves

    def tally(self, reports: NDArray[Any]) -> Ints:
        return np.bincount(reports, minlength=self.tallies).astype(np.int64)

    def possible(self, people: int, sums: Ints) -> bool:
        bounded = bool(np.all((sums >= 0) & (sums <= people)))
        return bounded and (self._marks is None or int(sums.sum()) == self._marks * people)

    def support(self, aggregate: Aggregate) -> Ints:
        """How many reports support each category."""
        return aggregate.sums

    def shares(self, aggregate: Aggregate) -> Floats:
        """The unbiased estimates, one for each category; they may be negative, and need not add up to 1."""
        if aggregate.people == 0:
            return np.full(self.k, 1 / self.k)
        found: Floats = (self.support(aggregate) / aggregate.people - self.q) / self.gap
        return found

    def most_likely(self, aggregate: Aggregate) -> Floats:
        """The shares under which the reports are most likely."""
        del aggregate
        raise InvalidParameter(
            f"{self.name} has no closed form for the most likely shares.",
            "The likelihood of reports that support several categories has no closed form.",
            'Pass consistent="simplex", or use GRR.',
        )

    @property
    def _covariances(self) -> tuple[float, float, int]:
        """How the support of two categories goes together, for a respondent in category x.

        The covariance s of the support of x and of another category, the covariance c of two others, and for how many
        v at most a given u has c. All are 0 for independent bits.
        """
        return 0.0, 0.0, 0

    def uncertainty(self, aggregate: Aggregate) -> SupportUncertainty:
        """Where the shares lie, among the respondents and in the population."""
        return SupportUncertainty(self.support(aggregate).copy(), aggregate.people, self.p, self.q, self.gap)

    def estimate(self, reports: ArrayLike | Aggregate, *, consistent: Consistent = "simplex") -> Release:
        """The shares with their intervals, from reports or from an aggregate of them.

        ``"simplex"``: the nearest non-negative shares that add up to 1; ``"mle"``: the most likely such shares (GRR and
        Warner); ``"none"``: the unbiased estimates. The intervals are always those of the unbiased estimates.
        """
        choice("consistent", consistent, tuple(CONSISTENT))
        return self.estimated(self.aggregate(reports), consistent=consistent)

    def estimated(self, aggregate: Aggregate, *, consistent: Consistent = "simplex") -> Release:
        if consistent == "mle":
            value = self.most_likely(aggregate)
        else:
            unbiased = self.shares(aggregate)
            value = unbiased if consistent == "none" else nearest_shares(unbiased)
        uncertainty = self.uncertainty(aggregate)
        layout = Layout("table", *self.domain.sides) if isinstance(self.domain, Pairs) else None
        words = (CONSISTENT[consistent],)
        return certified(self, aggregate, "shares", value, uncertainty, self.domain.names, words, layout)


def categories_of(categories: Answers) -> Domain:
    """A domain of categories: a number of them, a list, or a domain."""
    if isinstance(categories, Domain) and categories.discrete:
        domain = categories
    elif isinstance(categories, list | tuple):
        domain = Categories(list(categories), other=False, missing=categories[0] if categories else None)
    else:
        domain = Integers(0, integer("categories", categories, 2, MOST_CATEGORIES) - 1, missing=0)
    if not 2 <= domain.size <= MOST_CATEGORIES or not math.isfinite(domain.size):
        raise InvalidParameter(
            f"Between 2 and {MOST_CATEGORIES} categories are needed, got {domain.size}.",
            "With one possible answer there is nothing to estimate.",
            "Pass a list of categories, or their number.",
        )
    return domain
