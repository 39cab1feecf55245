"""One quantile by the exponential mechanism: what QExp and inverse sensitivity share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property

import numpy as np

from flou.arrays import Ints
from flou.bits import Bits
from flou.errors import InvalidParameter
from flou.laws.piecewise import PiecewiseConstant
from flou.mechanisms.quantiles.levels import Levels
from flou.mechanisms.quantiles.quantile_mechanism import QuantileMechanism
from flou.mechanisms.quantiles.records import Records
from flou.mechanisms.quantiles.targets import Target
from flou.parameters import Number, Relation

__all__ = ["SingleQuantile", "rank_rate"]


def rank_rate(p: Fraction, epsilon: Fraction, relation: str) -> Fraction:
    """t, when a score is a distance in ranks from p n: epsilon over the spread of how far neighbours move scores.

    For p = 0 and p = 1 all scores move the same way, by at most 1.
    """
    if p in (0, 1):
        return epsilon
    return epsilon / 2 if relation == "substitute" else epsilon / (2 * max(p, 1 - p))


class SingleQuantile(QuantileMechanism):
    """A cell for one probability; its law is known."""

    def __init__(
        self,
        probabilities: Number | Iterable[Number],
        *,
        epsilon: Number,
        relation: Relation = "add-remove",
        unit: str = "row",
    ) -> None:
        super().__init__(probabilities, epsilon=epsilon, relation=relation, unit=unit)
        if len(self.ordered) != 1:
            raise InvalidParameter(
                f"{type(self).__name__} answers one quantile, got {len(self.ordered)}.",
                "Asking for several quantiles together costs less than one by one.",
                "Use IndExp, RecExp or JointExp for several quantiles.",
            )

    @property
    def probability(self) -> Fraction:
        return self.ordered[0]

    @cached_property
    def rate(self) -> Fraction:
        """t of one rank."""
        return rank_rate(self.probability, self.epsilon, self.relation)

    @abstractmethod
    def score(self, target: Target, lt: Ints, le: Ints) -> Ints:
        """How far a cell is from the target, in its units, from the records below it and up to it."""

    @cached_property
    def _unit_rate(self) -> Fraction:
        return self.rate / self.probability.denominator

    def levels(self, rows: int) -> Levels:
        """The scores of the cells, for this number of records."""
        target = Target(self.probability, rows)
        return Levels(lambda lt, le: self.score(target, lt, le), self._unit_rate, target.rank, target.unit)

    def law(self, records: Records) -> PiecewiseConstant:
        return self.levels(records.rows).law(records)

    def answers(self, records: Records, bits: Bits) -> Ints:
        return np.array([self.levels(records.rows).sample(records, bits)])
