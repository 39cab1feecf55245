"""How quantiles are drawn: which method, and what pays for the intervals.

Up to 40 quantiles are drawn best together where records are many: what is drawn together drifts into gaps between
records where they are few. More of them are read off counts: of a rough tree first, and of a second one around the
quantiles. Where there are too few records for two trees one is better, with few leaves. It was measured on ten kinds of
data, with bounds that fit and with bounds ten times too wide (``benchmarks/quantiles_trees.py``).

Where few values are possible, each of them can have a count of its own. Up to 15 values for each quantile such a tree
was the nearest, or nearly so, at every number of records, on six kinds of data from equal records to uniform ones
(``--values`` of the same script). Geometric means of rank errors for 9 quantiles of 121 values, at epsilon 1 under
substitution: 3.4 at 100 records (5.9 with wider leaves, 9.4 together), 0.7 at 1,000 (1.2, 1.2).
With more values the tree of values is still much nearer where records are equal, but loses where they are spread out.
For one quantile no tree was nearer than permute-and-flip by more than the noise of the experiment.

How many values are possible is in the schema; how many records there are is public, or bought for a small share of
epsilon: neither the choice nor the shape of a tree depends on anything else.

For a share of epsilon, records are counted around the quantiles once these are public (``ranks.py``). Trees
have counted them already, so that their intervals are free, and many times narrower.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from flou.arrays import Ints
from flou.bits import Bits
from flou.central.quantiles.ranks import RankMeasurement, Ranks
from flou.errors import InvalidParameter
from flou.laws import DiscreteLaplace
from flou.mechanisms.quantiles import (
    DitheredJointExp,
    FocusedTree,
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
    TreeDistribution,
)
from flou.mechanisms.quantiles.dithered import Dithered
from flou.mechanisms.quantiles.tree import BRANCHING, HEIGHT, TreeOfRuns
from flou.parameters import Relation

__all__ = ["COUNTED", "METHODS", "Drawn", "QuantilePlan"]

SINGLE = ("permute-and-flip", "inverse-sensitivity", "exponential")  # answer one quantile
COUNTED = ("tree", "focused")  # of these, intervals are free
METHODS = ("auto", *SINGLE, "independent", "joint", "recursive", *COUNTED, "histogram")
JOINTLY = 40  # the largest number of quantiles that are drawn together, where records are many
FOCUSED = 700  # records seen, from which two trees of counts are better than one
ROUGH = ((6_000, 16, 2), (300_000, 16, 3))  # the first of two trees, where fewer records are seen
SHAPES = ((200, 32, 1), (600, 16, 2), (6_000, 8, 3), (300_000, 16, 3))  # of trees, where fewer records are seen
FEW_VALUES = 15  # for each quantile: no more possible values than these are counted one by one
LEVELS = ((32, 1), (1_024, 2), (4_096, 3))  # possible values, and the height of a tree with a leaf for each of them
PLENTY = 60_000  # records seen, from which counts around many quantiles are at least as accurate
ALWAYS = 128  # leaves that do no harm however few records there are
LEAVES_SEEN = Fraction(3, 2)  # leaves for each record seen: with more of them, wider leaves are more accurate
TABLES = 10**7  # numbers in the tables of a joint draw: beyond, it takes gigabytes, and many seconds
SEVERAL = 4  # quantiles for which a noisy number of records is worth its price, where the number is not public
FOR_THE_CHOICE = Fraction(1, 50)  # of epsilon: records times epsilon are off by 50 or so


@dataclass(frozen=True)
class Drawn:
    """Cells of the quantiles, and where the ranks of places around them lie; None where nothing was paid for that."""

    cells: Ints
    ranks: Ranks | None
    plan: QuantilePlan  # by which they were drawn


@dataclass(frozen=True)
class QuantilePlan:
    """Quantiles of one set of records at a price for one change of them."""

    probabilities: tuple[Fraction, ...]
    epsilon: Fraction
    relation: Relation  # substitution where the number of records is public, add/remove elsewhere
    method: str
    intervals: Fraction  # the share of epsilon that intervals may take
    rows: int | None = None  # how many records there are, where that is public; with noise, where that was paid for
    cells: int | None = None  # of the grid: how many answers are possible, by the schema

    @cached_property
    def choice(self) -> tuple[str, str]:
        """The method, and why it was chosen."""
        many = len(set(self.probabilities))
        if self.method != "auto":
            if many > 1 and self.method in SINGLE:
                raise InvalidParameter(
                    f"Method {self.method!r} answers one quantile, got {many}.",
                    "Several quantiles are more accurate when one method answers all of them.",
                    "Leave method out, or pass 'joint', 'recursive' or 'independent'.",
                )
            return self.method, "asked for"
        if many == 1:
            why = "one quantile: this method is never worse than the exponential mechanism, and uses ties"
            return "permute-and-flip", why
        plenty = many > JOINTLY and self.seen is not None and self.seen >= PLENTY
        if self.cells is not None and self.cells <= (ALWAYS if plenty else FEW_VALUES * many):
            return "tree", "few values are possible: one noisy distribution of them is the most accurate"
        if self.seen is not None and self.seen < min(_crowd(many), FOCUSED):
            return "tree", "few rows: one noisy distribution of all values is the most accurate"
        if many > JOINTLY:
            return "focused", f"more than {JOINTLY} quantiles: noisy counts around the quantiles are the most accurate"
        if self.seen is not None and self.seen < _crowd(many):
            return "focused", "few rows: noisy counts around the quantiles are more accurate than a joint draw"
        if many * min(math.inf if self.rows is None else self.rows, _window(many, self.epsilon)) > TABLES:
            return "focused", "a joint draw of this many quantiles at this epsilon would take too much memory"
        return "joint", f"up to {JOINTLY} quantiles of many rows: one joint draw is the most accurate"

    @property
    def seen(self) -> Fraction | None:
        """Records times epsilon, if their number is public; twice that under add/remove, where noise is less wide."""
        return None if self.rows is None else self.rows * self.epsilon * (1 if self.relation == "substitute" else 2)

    @property
    def for_the_choice(self) -> Fraction:
        """Of epsilon, for a number of records that decides between methods, and between shapes of a tree."""
        many = len(set(self.probabilities))
        settled = self.cells is not None and self.cells <= min(ALWAYS, FEW_VALUES * many)  # whatever that number is
        undecided = self.method == "auto" and self.rows is None and many >= SEVERAL and not settled
        return FOR_THE_CHOICE * self.epsilon if undecided else Fraction(0)

    def decided(self, records: Records, bits: Bits) -> QuantilePlan:
        """What is left to draw, once the number of records with noise is public.

        That number costs its share, because one change of the records moves it by at most 1; the rest of epsilon is for
        a method that is chosen by this number alone.
        """
        spent = self.for_the_choice
        if spent == 0:
            return self
        noisy = records.rows + int(DiscreteLaplace(1 / spent).draw(1, bits)[0])
        return replace(self, epsilon=self.epsilon - spent, rows=max(noisy, 0))

    @property
    def share(self) -> Fraction:
        """Of epsilon, for the intervals."""
        return Fraction(0) if self.choice[0] in COUNTED else self.intervals

    @property
    def shape(self) -> tuple[int, int]:
        """Branching and height of a tree: with few records, noise on many levels hides more than a wide leaf does.

        Where records allow it every possible value has a leaf: equal records then fall into one that holds no others.
        """
        most = Fraction(LEVELS[-1][0])
        if self.seen is not None:
            most = min(most, max(LEAVES_SEEN * self.seen, Fraction(ALWAYS)))
        if self.cells is not None and self.cells <= most:
            height = next(height for values, height in LEVELS if self.cells <= values)
            return next(b for b in range(2, LEVELS[-1][0]) if b**height >= self.cells), height
        return self._by_seen(SHAPES)

    @property
    def rough(self) -> tuple[int, int]:
        """Branching and height of the first of two trees: the more records there are, the finer it may be."""
        return self._by_seen(ROUGH)

    def _by_seen(self, shapes: tuple[tuple[int, int, int], ...]) -> tuple[int, int]:
        """The first shape that is for more records than are seen; the usual one for as many, or an unknown number."""
        if self.seen is None:
            return BRANCHING, HEIGHT
        return next(((b, h) for most, b, h in shapes if self.seen < most), (BRANCHING, HEIGHT))

    @cached_property
    def mechanism(self) -> QuantileMechanism:
        """What draws the quantiles themselves."""
        options: dict[str, Any] = {"epsilon": (1 - self.share) * self.epsilon, "relation": self.relation}
        if self.choice[0] in COUNTED:
            options["branching"], options["height"] = self.shape if self.choice[0] == "tree" else self.rough
        kinds: dict[str, type[QuantileMechanism]] = {
            "permute-and-flip": PermuteAndFlipQuantile,
            "inverse-sensitivity": GridInverseSensitivity,
            "exponential": QExp,
            "independent": IndExp,
            "joint": DitheredJointExp if self.relation == "substitute" else JointN,
            "recursive": RecExp,
            "tree": Tree,
            "focused": FocusedTree,
            "histogram": HistogramMethod,
        }
        return kinds[self.choice[0]](self.probabilities, **options)

    def draw(self, records: Records, bits: Bits, grain: int = 1) -> Drawn:
        """One release; cells below multiples of ``grain`` are counted without a second look."""
        return self.draw_each([records], bits, grain)[0]

    def draw_each(
        self,
        groups: Sequence[Records],
        bits: Bits,
        grain: int = 1,
        look: Callable[[list[Ints]], None] | None = None,
    ) -> list[Drawn]:
        """One release of each group; ``look`` gets the cells at which all groups will be counted, in one call."""
        plans = [self.decided(records, bits) for records in groups]
        counted = [plan._counted(records, bits, grain) for plan, records in zip(plans, groups, strict=True)]
        if look is not None and any(one is not None for one in counted):
            look([np.zeros(0, dtype=np.int64) if one is None else one.edges for one in counted])
        return [
            plan._drawn(records, bits, grain) if one is None else plan._read(one.distribution(records, bits))
            for plan, records, one in zip(plans, groups, counted, strict=True)
        ]

    def _counted(self, records: Records, bits: Bits, grain: int) -> TreeOfRuns | None:
        """Where records are counted, for a method that has to find out first."""
        mechanism = self.mechanism
        if not isinstance(mechanism, FocusedTree):
            return None
        return mechanism.second(mechanism.first.distribution(records, bits), grain)

    def _read(self, found: TreeDistribution) -> Drawn:
        """What counts tell."""
        mechanism, known = self.mechanism, self.relation == "substitute"
        return Drawn(mechanism.as_given(found.quantiles(mechanism.ordered)), Ranks.of(found, known), self)

    def _drawn(self, records: Records, bits: Bits, grain: int) -> Drawn:
        mechanism = self.mechanism
        if isinstance(mechanism, Tree):
            return self._read(mechanism.distribution(records, bits))
        if isinstance(mechanism, JointN):
            places = DitheredJointExp((Fraction(1, 2),), epsilon=1).places_in(records.cells)
            answers = mechanism.answers(Dithered(records, places, bits), bits) // places
        else:
            answers = mechanism.answers(records, bits)
        if self.share == 0:
            return Drawn(mechanism.as_given(answers), None, self)
        counted = RankMeasurement(self.share * self.epsilon, self.relation)
        ranks = counted.measure(records, answers, mechanism.ordered, grain, bits)
        return Drawn(mechanism.as_given(answers), ranks, self)


def _window(many: int, epsilon: Fraction) -> float:
    """How many ranks around a target the tables of a joint draw hold, about (``joint_path.py``)."""
    return 25.0 * many / float(epsilon)


def _crowd(many: int) -> float:
    """How many records must be seen before this number of quantiles is drawn together."""
    return max(25.0 * many, math.pow(many, 2.5))
