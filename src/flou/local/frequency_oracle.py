"""Shares of categories from reports that each support some of them.

Law        a report supports the respondent's own category with probability p, and each other one with probability q
Guarantee  each randomiser's own
Error      (share of reports in support - q) / (p - q) is unbiased for the share f of a category; its variance is
           (f p (1 - p) + (1 - f) q (1 - q)) / (n (p - q)^2) around the share among the respondents, and
           r (1 - r) / (n (p - q)^2), r the probability of support, around the share in the population
Numerics   supports are counted exactly; intervals invert the score test, so that they hold for rare categories too
Source     Wang, Blocki, Li, Jha (2017)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from flou.domain import Boolean, Categories, Domain, Integers
from flou.errors import InvalidParameter
from flou.laws.normal import ndtri
from flou.local.aggregate import Aggregate
from flou.local.certify import certified
from flou.local.randomiser import Randomiser
from flou.parameters import Number, integer
from flou.release import Release
from flou.release.uncertainty import Interval as Ends
from flou.release.uncertainty import NoiseAndSampling

__all__ = ["FrequencyOracle", "SupportUncertainty", "categories_of"]

Floats: TypeAlias = NDArray[np.float64]

MOST_CATEGORIES = 2**31


class FrequencyOracle(Randomiser):
    """``categories``: how many there are (answers are then 0..k-1), a list of them, or a domain."""

    def __init__(self, categories: Any, *, epsilon: Number, unit: str = "person") -> None:
        super().__init__(categories_of(categories), epsilon=epsilon, unit=unit)

    @property
    def k(self) -> int:
        """How many categories there are."""
        return self.domain.size

    @property
    def p(self) -> float:
        """P[a report supports the respondent's category]."""
        raise NotImplementedError

    @property
    def q(self) -> float:
        """P[a report supports another given category]."""
        raise NotImplementedError

    @property
    def tallies(self) -> int:
        return self.k

    def parameters(self) -> dict[str, Any]:
        return {"epsilon": str(self.epsilon), "domain": self.domain.to_dict()}

    def variance(self, share: float = 0.0) -> float:
        """n times the variance of the estimate of a category that has this share of the respondents."""
        p, q = self.p, self.q
        return (share * p * (1 - p) + (1 - share) * q * (1 - q)) / (p - q) ** 2

    def shares(self, aggregate: Aggregate) -> Floats:
        """The unbiased estimates, one for each category; they may be negative, and need not add up to 1."""
        if aggregate.people == 0:
            return np.full(self.k, 1 / self.k)
        found: Floats = (aggregate.sums / aggregate.people - self.q) / (self.p - self.q)
        return found

    def estimated(self, aggregate: Aggregate) -> Release:
        uncertainty = SupportUncertainty(aggregate.sums.copy(), aggregate.people, self.p, self.q)
        labels = tuple(str(label) for label in self.domain.decode(np.arange(self.k)).tolist())
        return certified(self, aggregate, "shares", self.shares(aggregate), uncertainty, labels)


@dataclass(frozen=True, eq=False)
class SupportUncertainty(NoiseAndSampling):
    """Shares whose expected support, q + f (p - q), is not refused by what was seen."""

    support: NDArray[np.int64]
    people: int
    p: float
    q: float

    def _interval(self, level: float, sampling: bool) -> Ends:
        """Of f with (r - q - f (p - q))^2 <= z^2 v(f) / n, v quadratic (sampling) or linear (the respondents') in f."""
        if self.people == 0:
            return np.zeros(self.support.size), np.ones(self.support.size)
        z2 = float(ndtri((1 + level) / 2)) ** 2 / self.people
        r, d = self.support / self.people, self.p - self.q
        if sampling:  # v = m (1 - m), m = q + f d: the score interval of m, which is Wilson's
            middle, width = r + z2 / 2, np.sqrt(z2 * (r * (1 - r) + z2 / 4))
            low, high = ((middle - width) / (1 + z2) - self.q) / d, ((middle + width) / (1 + z2) - self.q) / d
        else:  # v = q (1 - q) + f (p (1 - p) - q (1 - q))
            rest = self.q * (1 - self.q)
            slope = self.p * (1 - self.p) - rest
            f = (r - self.q) / d
            middle = f + z2 * slope / (2 * d * d)
            width = np.sqrt(np.maximum(middle**2 - f**2 + z2 * rest / (d * d), 0.0))
            low, high = middle - width, middle + width
        return np.clip(np.minimum(low, high), 0.0, 1.0), np.clip(np.maximum(low, high), 0.0, 1.0)

    @property
    def grid(self) -> float:
        return 0.0


def categories_of(categories: Any) -> Domain:
    """A domain of categories: a number of them, a list, or a domain."""
    if isinstance(categories, Categories | Boolean | Integers):
        domain: Domain = categories
    elif isinstance(categories, list | tuple):
        domain = Categories(list(categories), other=False, missing=categories[0] if categories else None)
    else:
        domain = Integers(0, integer("categories", categories, 2, MOST_CATEGORIES) - 1, missing=0)
    if not 2 <= domain.size <= MOST_CATEGORIES or not math.isfinite(domain.size):
        raise InvalidParameter(
            f"Between 2 and {MOST_CATEGORIES} categories are needed, got {domain.size}.",
            "A question with one possible answer has nothing to hide, and nothing to tell.",
            "Pass a list of categories, or how many there are.",
        )
    return domain
