"""Questions about one column, of all rows or of every group of another: what mean, sum and variance share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from flou.arrays import Floats
from flou.bits import Bits
from flou.central.price import Given, Noise, Price, PricedQuestion
from flou.central.question import Curator, Draft, Prepared, PublicFacts, few_rows
from flou.domain import Domain
from flou.errors import InvalidParameter
from flou.parameters import Number
from flou.release.uncertainty import Interval, NoiseAndSampling
from flou.summaries.request import Code, Request

__all__ = ["ColumnNoise", "ColumnQuestion", "ColumnUncertainty", "require_moderate"]

LARGEST, NARROWEST = 1e70, 1e-70  # bounds, and their distance
FEW = 20  # scales of the noise: a group that seems to have fewer rows is flagged


class ColumnNoise(ABC):
    """What is asked of the engine for a column, and the noise on it."""

    @property
    @abstractmethod
    def mechanism(self) -> Noise:
        """The noise on every coordinate."""

    @abstractmethod
    def request(self, by: Code | None) -> Request:
        """What the engine is asked for."""

    @abstractmethod
    def coordinates(self, exact: NDArray[Any]) -> list[int]:
        """What is released of one group, before noise, in steps of the noise's grid."""

    @abstractmethod
    def noisy(self, coordinates: list[int]) -> Any:
        """A group by its noisy coordinates, with its ``rows`` and the ``scale`` of the noise in them."""

    def release(self, groups: NDArray[Any], bits: Bits) -> tuple[Any, ...]:
        """Draw the noise: for all coordinates of all groups at once."""
        exact = [self.coordinates(group) for group in groups]
        drawn = iter(self.mechanism.sample_each([value for group in exact for value in group], bits=bits))
        return tuple(self.noisy(list(islice(drawn, len(group)))) for group in exact)

    @abstractmethod
    def described(self) -> dict[str, Any]:
        """The mechanism block of a certificate."""


@dataclass(frozen=True, eq=False)
class ColumnUncertainty(NoiseAndSampling):
    """Intervals for one number of each group."""

    groups: tuple[Any, ...]
    grouped: bool

    @property
    @abstractmethod
    def values(self) -> Floats:
        """The released numbers."""

    @abstractmethod
    def _ends(self, level: float, sampling: bool) -> tuple[Floats, Floats]:
        """The lower and the upper ends, group by group."""

    def _interval(self, level: float, sampling: bool) -> Interval:
        low, high = self._ends(level, sampling)
        return (low, high) if self.grouped else (float(low[0]), float(high[0]))


@dataclass(frozen=True)
class ColumnQuestion(PricedQuestion):
    """One number of a column, of all rows or of every group of ``by``."""

    column: str
    price: Price | Number
    by: str | None = None

    _postprocessing: ClassVar[tuple[str, ...]] = ()
    _divides: ClassVar[bool] = True  # by a number of rows, so that small groups are worth a word

    @classmethod
    def asked(
        cls, by: str | None, column: str, *, epsilon: Given = None, delta: Given = None, rho: Given = None
    ) -> Self:
        return cls(column, Price.of(epsilon, delta, rho), by)

    @abstractmethod
    def noise(self, facts: PublicFacts) -> ColumnNoise:
        """The noise on a table; where there are groups, their numbers of rows are not public."""

    @abstractmethod
    def _uncertainty(self, groups: tuple[Any, ...]) -> ColumnUncertainty:
        """The intervals behind the noisy groups."""

    def prepare(self, facts: PublicFacts) -> Prepared:
        require_moderate(self.column, facts.domain(self.column))
        by = None if self.by is None else facts.code(self.by)
        labels = None if self.by is None else facts.labels(self.by)
        noise = self.noise(facts if self.by is None else facts.without_rows())

        def answer(found: list[Any], curator: Curator) -> Draft:
            uncertainty = self._uncertainty(noise.release(np.atleast_2d(found[0]), curator.bits))
            values = uncertainty.values
            return Draft(
                value=float(values[0]) if labels is None else values,
                uncertainty=uncertainty,
                mechanism=noise.described(),
                labels=labels,
                note=_small(uncertainty.groups, labels) if labels is not None and self._divides else "",
                postprocessing=self._postprocessing,
                keys={} if self.by is None else {"group_keys": "public", "column": self.by},
            )

        return Prepared(noise.mechanism.guarantee, (noise.request(by),), answer, len(labels or [""]))


def _small(groups: tuple[Any, ...], labels: tuple[str, ...]) -> str:
    """Groups whose released size is within the noise are flagged, without a look at the exact one."""
    return few_rows([label for label, group in zip(labels, groups, strict=True) if group.rows < FEW * group.scale])


def require_moderate(column: str, domain: Domain) -> None:
    """Refuse bounds whose powers are too large or too small for floats, before anything is charged.

    Intervals of variances need fourth powers of the bounds, summed over the rows. Between 1e-70 and 1e70 these are
    ordinary floats for any number of rows.
    """
    low, high = (0.0, 1.0) if domain.numbers is None else domain.numbers.bounds
    if max(abs(low), abs(high)) > LARGEST or high - low < NARROWEST:
        raise InvalidParameter(
            f"Sums and moments need bounds of size {LARGEST:g} at most, {NARROWEST:g} apart at least; "
            f"column {column!r} has {low:g} and {high:g}.",
            "Powers of other bounds are too large or too small for floats, and the answer would not be a number.",
            "Change the unit of the column, or ask for quantiles or a histogram.",
        )
