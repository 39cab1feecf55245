"""How quantiles are drawn: which method, and what pays for the intervals.

For a share of epsilon, records are counted around the quantiles once these are public (``quantile_ranks.py``). A tree
has counted everything already, so that its intervals are free.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flou.bits import Bits
from flou.central.quantile_ranks import RankMeasurement, Ranks
from flou.errors import InvalidParameter
from flou.mechanisms.mechanism import Integers
from flou.mechanisms.quantiles import (
    DitheredJointExp,
    GridInverseSensitivity,
    HistogramMethod,
    IndExp,
    JointN,
    PermuteAndFlipQuantile,
    QExp,
    QuantileMechanism,
    RecExp,
    Records,
    Tree,
)
from flou.mechanisms.quantiles.dithered import Dithered
from flou.parameters import Relation

__all__ = ["METHODS", "Drawn", "QuantilePlan"]

SINGLE = ("permute-and-flip", "inverse-sensitivity", "exponential")  # answer one quantile
METHODS = ("auto", *SINGLE, "independent", "joint", "recursive", "tree", "histogram")
JOINTLY = {"substitute": 150, "add-remove": 30}  # more quantiles than these are cheaper one after the other
RECURSIVELY = 300
FEW, CROWDED = 20, 20  # with more quantiles, and fewer records times epsilon for each, joint ones drift into gaps
NEAR = 200  # over epsilon: ranks from a target within which nearly all draws look


@dataclass(frozen=True)
class Drawn:
    """Cells of the quantiles, and where the ranks of places around them lie; None where nothing was paid for that."""

    cells: Integers
    ranks: Ranks | None


@dataclass(frozen=True)
class QuantilePlan:
    """Quantiles of one set of records at a price for one change of them."""

    probabilities: tuple[Fraction, ...]
    epsilon: Fraction
    relation: Relation  # substitution where the number of records is public, add/remove elsewhere
    method: str
    intervals: Fraction  # the share of epsilon that intervals may take
    rows: int | None = None  # how many records there are, where that is public

    @property
    def choice(self) -> tuple[str, str]:
        """The method, and why it was chosen."""
        many = len(set(self.probabilities))
        if self.method != "auto":
            if many > 1 and self.method in SINGLE:
                raise InvalidParameter(
                    f"Method {self.method!r} answers one quantile, got {many}.",
                    "Several cost less together than one by one.",
                    "Leave method out, or pass 'joint', 'recursive' or 'independent'.",
                )
            return self.method, "asked for"
        if many == 1:
            return "permute-and-flip", "one quantile: never worse than the exponential mechanism, and ties help"
        if self.rows is not None and many > FEW and self.rows * self.epsilon < CROWDED * many:
            return "tree", "for so many quantiles of so few records one noisy distribution is the most accurate"
        if many <= JOINTLY[self.relation]:
            return "joint", f"up to {JOINTLY[self.relation]} quantiles cost least together"
        if many <= RECURSIVELY and self.relation == "add-remove":
            return "recursive", f"more than {JOINTLY[self.relation]} quantiles cost least by halves of halves"
        return "tree", "for so many quantiles one noisy distribution is the most accurate"

    @property
    def share(self) -> Fraction:
        """Of epsilon, for the intervals."""
        return Fraction(0) if self.choice[0] == "tree" else self.intervals

    @property
    def mechanism(self) -> QuantileMechanism:
        """What draws the quantiles themselves."""
        options: dict[str, Any] = {"epsilon": (1 - self.share) * self.epsilon, "relation": self.relation}
        kinds: dict[str, type[QuantileMechanism]] = {
            "permute-and-flip": PermuteAndFlipQuantile,
            "inverse-sensitivity": GridInverseSensitivity,
            "exponential": QExp,
            "independent": IndExp,
            "joint": DitheredJointExp if self.relation == "substitute" else JointN,
            "recursive": RecExp,
            "tree": Tree,
            "histogram": HistogramMethod,
        }
        return kinds[self.choice[0]](self.probabilities, **options)

    def ranks(self, rows: int) -> list[tuple[int, int]]:
        """The ranks that a draw is likely to ask for, of so many records."""
        reach = math.ceil(NEAR / self.epsilon)
        return [(math.floor(p * rows) - reach, math.ceil(p * rows) + reach) for p in self.probabilities]

    def draw(self, records: Records, bits: Bits, grain: int = 1) -> Drawn:
        """One release; cells below multiples of ``grain`` are counted without a second look."""
        mechanism = self.mechanism
        if isinstance(mechanism, Tree):
            ranks = Ranks.of(mechanism, records, bits)
            return Drawn(mechanism.as_given(ranks.quantiles(mechanism.ordered)), ranks)
        if isinstance(mechanism, JointN):
            places = DitheredJointExp((Fraction(1, 2),), epsilon=1).places_in(records.cells)
            answers = mechanism.answers(Dithered(records, places, bits), bits) // places
        else:
            answers = mechanism.answers(records, bits)
        if self.share == 0:
            return Drawn(mechanism.as_given(answers), None)
        counted = RankMeasurement(self.share * self.epsilon, self.relation)
        return Drawn(mechanism.as_given(answers), counted.measure(records, answers, mechanism.ordered, grain, bits))
