"""How quantiles are drawn: which method, and which further quantiles pay for the intervals.

The intervals are made of quantiles as well. For a share of epsilon, ranks a little below and a little above each target
are asked for jointly: so far away that they lie on the wrong side of the data's quantile, or of the population's, with
half the error probability each. How far that is follows from the law of the rank error (``theory/rank_errors.py``),
which is that of evenly spread records; a factor on its tail leaves room for gaps that widen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from flou.bits import Bits
from flou.errors import InvalidParameter
from flou.mechanisms.mechanism import Integers
from flou.mechanisms.quantiles import (
    DitheredJointExp,
    GridInverseSensitivity,
    HistogramMethod,
    IndExp,
    JointN,
    QExp,
    QuantileMechanism,
    RecExp,
    Records,
    Tree,
)
from flou.mechanisms.quantiles.dithered import Dithered
from flou.parameters import Relation
from flou.theory.rank_errors import RankErrors

__all__ = ["METHODS", "Drawn", "QuantilePlan"]

METHODS = ("auto", "inverse-sensitivity", "exponential", "independent", "joint", "recursive", "tree", "histogram")
JOINTLY = {"substitute": 150, "add-remove": 30}  # more quantiles than these are cheaper one after the other
RECURSIVELY = 300
WIDER = 10  # gaps between records beyond a quantile may be so many times as wide as those before it


@dataclass(frozen=True)
class Drawn:
    """Cells of the quantiles, and of the ends of their intervals: -1 and the number of cells stand for the bounds."""

    cells: Integers
    data: tuple[Integers, Integers]
    population: tuple[Integers, Integers]


@dataclass(frozen=True)
class QuantilePlan:
    """Quantiles of one set of records at a price for one change of them."""

    probabilities: tuple[Fraction, ...]
    epsilon: Fraction
    relation: Relation  # substitution where the number of records is public, add/remove elsewhere
    method: str
    share: Fraction  # of epsilon, for the intervals
    level: float

    @property
    def choice(self) -> tuple[str, str]:
        """The method, and why it was chosen."""
        many = len(set(self.probabilities))
        if self.method != "auto":
            if many > 1 and self.method in ("inverse-sensitivity", "exponential"):
                raise InvalidParameter(
                    f"Method {self.method!r} answers one quantile, got {many}.",
                    "Several cost less together than one by one.",
                    "Leave method out, or pass 'joint', 'recursive' or 'independent'.",
                )
            return self.method, "asked for"
        if many == 1:
            return "inverse-sensitivity", "one quantile: nothing is closer to the exact one, ties included"
        if many <= JOINTLY[self.relation]:
            return "joint", f"up to {JOINTLY[self.relation]} quantiles cost least together"
        if many <= RECURSIVELY and self.relation == "add-remove":
            return "recursive", f"more than {JOINTLY[self.relation]} quantiles cost least by halves of halves"
        return "tree", "for so many quantiles one noisy distribution is the most accurate"

    @property
    def mechanism(self) -> QuantileMechanism:
        """What draws the quantiles themselves."""
        options: dict[str, Any] = {"epsilon": (1 - self.share) * self.epsilon, "relation": self.relation}
        kinds: dict[str, type[QuantileMechanism]] = {
            "inverse-sensitivity": GridInverseSensitivity,
            "exponential": QExp,
            "independent": IndExp,
            "joint": DitheredJointExp if self.relation == "substitute" else JointN,
            "recursive": RecExp,
            "tree": Tree,
            "histogram": HistogramMethod,
        }
        return kinds[self.choice[0]](self.probabilities, **options)

    def draw(self, records: Records, bits: Bits) -> Drawn:
        """One release."""
        mechanism = self.mechanism
        if isinstance(mechanism, JointN):
            fine, places = _dithered(records, bits)
            cells = mechanism.as_given(mechanism.answers(fine, bits) // places)
        else:
            cells = mechanism.sample(records, bits=bits)
        if self.share == 0:
            nowhere = np.full(cells.size, -1), np.full(cells.size, records.cells)
            return Drawn(cells, nowhere, nowhere)
        return self._with_ends(cells, records, bits)

    def _with_ends(self, cells: Integers, records: Records, bits: Bits) -> Drawn:
        helper = replace(self, method="joint")._helper((Fraction(1, 2),))
        fine, places = _dithered(records, bits)
        if isinstance(helper, JointN):
            rows = helper.noisy_rows(records, bits)
            doubt = helper.noise.standard_deviation
        else:
            rows, doubt = records.rows, 0.0
        ends = [self._ends(rows, doubt, float(helper.rate), sampling) for sampling in (False, True)]
        wanted = sorted({rank for low, high in ends for rank in (*low, *high) if 0 < rank < rows})
        found: dict[int, int] = {}
        if wanted:
            asked = self._helper(tuple(Fraction(rank, rows) for rank in wanted))
            drawn = asked.answers_given(rows, fine, bits) if isinstance(asked, JointN) else asked.answers(fine, bits)
            found = dict(zip(wanted, (drawn // places).tolist(), strict=True))
        data, population = (
            (
                np.array([min(found.get(rank, -1), cell) for rank, cell in zip(low, cells.tolist(), strict=True)]),
                np.array(
                    [max(found.get(rank, records.cells), c) for rank, c in zip(high, cells.tolist(), strict=True)]
                ),
            )
            for low, high in ends
        )
        return Drawn(cells, data, population)

    def _helper(self, probabilities: tuple[Fraction, ...]) -> Any:
        """The mechanism behind the intervals, on records that are dithered already."""
        kind = DitheredJointExp if self.relation == "substitute" else JointN
        options: dict[str, Any] = {"places": 1} if kind is DitheredJointExp else {}
        return kind(probabilities, epsilon=self.share * self.epsilon, relation=self.relation, **options)

    def _ends(self, rows: int, doubt: float, rate: float, sampling: bool) -> tuple[list[int], list[int]]:
        """The ranks that are asked for below and above each target."""
        many = 4 * len(self.probabilities)
        errors = RankErrors(rate, (many + 1) // 2, many)
        low, high = [], []
        for p in map(float, self.probabilities):
            spread = math.hypot(p * doubt, math.sqrt(p * (1 - p) * max(rows, 0)) if sampling else 0.0)
            reach = errors.reach((1 - self.level) / 2 / WIDER, spread) + 1
            low.append(math.floor(p * rows - reach))
            high.append(math.ceil(p * rows + reach))
        return low, high


def _dithered(records: Records, bits: Bits) -> tuple[Dithered, int]:
    places = DitheredJointExp((Fraction(1, 2),), epsilon=1).places_in(records.cells)
    return Dithered(records, places, bits), places
