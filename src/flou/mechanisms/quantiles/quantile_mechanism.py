"""What all quantile methods share: which quantiles, at which price, from records in order to cells of the grid."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from flou.arrays import Ints
from flou.bits import SYSTEM, Bits
from flou.guarantee import Guarantee, PureDP
from flou.mechanisms.mechanism import Mechanism
from flou.mechanisms.quantiles.records import MOST_CELLS, Records
from flou.mechanisms.quantiles.targets import fractions_of
from flou.parameters import Number, Relation, described, integer, number

__all__ = ["QuantileMechanism"]

SHOWN = 20  # probabilities of a printed mechanism


@dataclass(frozen=True, repr=False)
class QuantileMechanism(Mechanism):
    """One or many quantiles; a release is one cell for each probability, in the order given, and increasing with it."""

    most_cells: ClassVar[int] = MOST_CELLS

    probabilities: tuple[Fraction, ...]
    epsilon: Fraction
    guarantee: Guarantee

    def __init__(
        self,
        probabilities: Number | Iterable[Number],
        *,
        epsilon: Number,
        relation: Relation = "add-remove",
        unit: str = "row",
    ) -> None:
        object.__setattr__(self, "probabilities", fractions_of(probabilities))
        object.__setattr__(self, "epsilon", number("epsilon", epsilon))
        object.__setattr__(self, "guarantee", PureDP(epsilon, relation=relation, unit=unit))

    def __repr__(self) -> str:
        rest = described(self, hide=("probabilities", "guarantee")).split("(", 1)[1][:-1]
        few = [p.numerator if p.denominator == 1 else float(p) for p in self.probabilities[:SHOWN]]
        more = ", ..." if len(self.probabilities) > SHOWN else ""
        return f"{type(self).__name__}([{', '.join(map(repr, few))}{more}], {rest}, relation={self.relation!r})"

    @property
    def relation(self) -> Relation:
        return self.guarantee.relation

    @cached_property
    def ordered(self) -> tuple[Fraction, ...]:
        """The different probabilities, from the smallest to the largest: what a method answers."""
        return tuple(sorted(set(self.probabilities)))

    def sample(self, records: Records, *, bits: Bits = SYSTEM) -> Ints:
        """One cell for each probability."""
        integer("cells", records.cells, 1, self.most_cells)
        return self.as_given(self.answers(records, bits))

    def as_given(self, answers: Ints) -> Ints:
        """The answers in the order in which the probabilities were given, equal ones repeated."""
        place = {p: i for i, p in enumerate(self.ordered)}
        return answers[[place[p] for p in self.probabilities]]

    @abstractmethod
    def answers(self, records: Records, bits: Bits) -> Ints:
        """One cell for each of the ``ordered`` probabilities, increasing."""

    def law(self, records: Records) -> Any:
        """The exact law of the ``ordered`` answers, where it can be written down."""
        raise NotImplementedError(f"The law of {type(self).__name__} has no closed form; its samples are exact.")
