"""RecExp: many quantiles, the middle one first, then those below and above it among the records below and above it.

Law        a balanced tree over the ordered probabilities; a node draws a place among those of its interval with
           probability proportional to exp(-t s), s the distance of its target q' n' from the place in the ranks of the
           node's own n' records (below 0 inside of it), q' = (q - q_lo) / (q_hi - q_lo) for the probabilities q_lo and
           q_hi that bound the interval; records below the place go on to the lower child, the others to the upper one
Guarantee  epsilon-DP; with e the node's share, shares on a path adding up to epsilon, and M = max(q', 1 - q'):
           t = e / (2 M) under add/remove, e / (4 M) under substitution, e / 2 at the root
Why        a record takes one path through the tree, and only the nodes on it see the record; a record that is replaced
           takes two paths, and pays half on each where they have parted
Error      ranks off by about 2 (log2(m) + 1) / epsilon under add/remove, and by twice that under substitution
Numerics   exact integers; see ``levels.py`` and ``dithered.py``
Limits     each record is placed at random inside its cell, so that a cell with many records can be divided
Source     Kaplan, Schnapp, Stemmer (2022); document 000 (4.3, weights and count of calls corrected)
Proof      docs/explanation/proofs/many_quantiles.md
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from itertools import product

import numpy as np

from flou.arrays import Ints
from flou.bits import Bits
from flou.mechanisms.quantiles.answer_law import MOST_OUTCOMES, AnswerLaw, Answers, too_many_outcomes
from flou.mechanisms.quantiles.dithered import Dithered, Part
from flou.mechanisms.quantiles.grid_inverse_sensitivity import signed_distance
from flou.mechanisms.quantiles.levels import Levels
from flou.mechanisms.quantiles.quantile_mechanism import QuantileMechanism
from flou.mechanisms.quantiles.records import Records, SortedRecords
from flou.mechanisms.quantiles.single import rank_rate
from flou.mechanisms.quantiles.targets import FINEST, Target, rank_of
from flou.parameters import Number, Relation, integer

__all__ = ["RecExp"]

PLACES = 2**20  # in each cell; a power of two
SELDOM = 20.0  # an answer lies outside of the window of its node with probability e^-20 at most, and is looked up then


@dataclass(frozen=True)
class Node:
    """One quantile: its place in the list, its probability inside its interval, and t."""

    index: int
    within: Fraction
    rate: Fraction
    lower: Node | None
    upper: Node | None

    def levels(self, rows: int) -> Levels:
        """The scores of places or cells, for this number of records of the node."""
        target = Target(self.within, rows)
        return Levels(partial(signed_distance, target), self.rate / target.unit, target.rank, target.unit)

    def walk(self) -> Iterator[Node]:
        yield self
        for child in (self.lower, self.upper):
            if child is not None:
                yield from child.walk()


@dataclass(frozen=True)
class NodeRange:
    """What a node covers: its records by rank and its places, both from the first to before the last."""

    ranks: tuple[int, int]
    places: tuple[int, int]

    def split(self, place: int, below: int) -> tuple[NodeRange, NodeRange]:
        """What the children get after this answer; both may give it again."""
        lower = NodeRange((self.ranks[0], below), (self.places[0], place + 1))
        return lower, NodeRange((below, self.ranks[1]), (place, self.places[1]))


@dataclass(frozen=True, init=False, repr=False)
class RecExp(QuantileMechanism):
    """Many quantiles by divide and conquer."""

    places: int

    def __init__(
        self,
        probabilities: Number | Iterable[Number],
        *,
        epsilon: Number,
        places: int = PLACES,
        relation: Relation = "add-remove",
        unit: str = "row",
    ) -> None:
        """Each cell is divided into ``places``, rounded up to a power of two; 1 leaves ties as they are."""
        super().__init__(probabilities, epsilon=epsilon, relation=relation, unit=unit)
        object.__setattr__(self, "places", 1 << (integer("places", places, 1, PLACES) - 1).bit_length())

    @cached_property
    def root(self) -> Node:
        """The tree over the ordered probabilities."""
        ordered = self.ordered

        def node(first: int, last: int, low: Fraction, high: Fraction, left: Fraction) -> Node | None:
            """For the probabilities first..last-1, between low and high, with ``left`` of epsilon to spend."""
            if first == last:
                return None
            middle = (first + last) // 2
            q = ordered[middle]
            within = ((q - low) / (high - low)).limit_denominator(FINEST)
            share = left / (last - first).bit_length()  # equal shares on the longest path from here
            rate = self._rate(within, share, root=last - first == len(ordered))
            rest = left - share
            return Node(middle, within, rate, node(first, middle, low, q, rest), node(middle + 1, last, q, high, rest))

        found = node(0, len(ordered), Fraction(0), Fraction(1), self.epsilon)
        assert found is not None
        return found

    def _rate(self, within: Fraction, share: Fraction, *, root: bool) -> Fraction:
        if root or self.relation == "add-remove":
            return rank_rate(within, share, self.relation)
        return rank_rate(within, share / 2, "add-remove")  # a record leaves, another enters elsewhere

    def answers(self, records: Records, bits: Bits) -> Ints:
        root = self.root
        records.prepare(self._spans(root, records))
        dithered = Dithered(records, self.places, bits)
        found = np.empty(len(self.ordered), dtype=np.int64)
        waiting = [(root, NodeRange((0, records.rows), (0, dithered.cells)))]
        while waiting:
            node, interval = waiting.pop()
            part, first = self._part(node, interval, dithered)
            levels = node.levels(part.rows)
            answer = first + levels.sample(part, bits, reach=levels.reach(part.cells, SELDOM))
            if node.lower is None and node.upper is None:
                found[node.index] = answer
                continue
            found[node.index] = answer // self.places
            lower, upper = interval.split(answer, interval.ranks[0] + part.below(answer - first))
            waiting += [(node, rest) for node, rest in ((node.lower, lower), (node.upper, upper)) if node is not None]
        return found

    def _part(self, node: Node, interval: NodeRange, dithered: Dithered) -> tuple[Part, int]:
        """The node's records on its candidates, and the first of these: places, or whole cells for a leaf."""
        first, last = interval.places
        if node.lower is None and node.upper is None:
            first, last = first // self.places, (last - 1) // self.places + 1
            return Part(dithered.base, interval.ranks, (first, last)), first
        return Part(dithered, interval.ranks, (first, last)), first

    def _spans(self, root: Node, records: Records) -> Iterator[tuple[int, int]]:
        """The ranks that will be looked at, most likely."""
        ordered = self.ordered
        for node in root.walk():
            rank = rank_of(ordered[node.index], records.rows)
            reach = 3 * node.levels(records.rows).reach(records.cells * self.places, SELDOM) // 2
            yield rank - reach, rank + reach

    def law(self, records: Records) -> AnswerLaw:
        """The exact law of the ``ordered`` answers, listed; for a few cells, records and places."""
        dithers = records.rows * (self.places.bit_length() - 1)  # their number is a power of two
        if dithers > 20 or (records.cells * self.places) ** len(self.ordered) << dithers > MOST_OUTCOMES:
            raise too_many_outcomes()
        codes, ways = records.ranked(1, records.rows), 1 << dithers
        found: defaultdict[Answers, float] = defaultdict(float)
        for dither in product(range(self.places), repeat=records.rows):
            fine = SortedRecords(
                codes * self.places + np.array(dither, dtype=np.int64), cells=records.cells * self.places
            )
            still = _Still(records, fine, self.places)
            for outcome, p in self._outcomes(self.root, NodeRange((0, fine.rows), (0, fine.cells)), still):
                found[tuple(cell for _, cell in sorted(outcome))] += p / ways
        return AnswerLaw(found)

    def _outcomes(
        self, node: Node, interval: NodeRange, records: Dithered
    ) -> Iterator[tuple[tuple[tuple[int, int], ...], float]]:
        """Every (index, cell) for the node and those below it, with its probability."""
        part, first = self._part(node, interval, records)
        law = node.levels(part.rows).law(part)
        for at, p in enumerate(law.pmf(np.arange(part.cells)).tolist()):
            answer = first + at
            if node.lower is None and node.upper is None:
                yield ((node.index, answer),), p
                continue
            lower, upper = interval.split(answer, interval.ranks[0] + part.below(at))
            here = ((node.index, answer // self.places),)
            below = list(self._outcomes(node.lower, lower, records)) if node.lower else [((), 1.0)]
            above = list(self._outcomes(node.upper, upper, records)) if node.upper else [((), 1.0)]
            for (a, pa), (b, pb) in product(below, above):
                yield (*a, *here, *b), p * pa * pb


class _Still(Dithered):
    """Records whose places are given."""

    def __init__(self, base: Records, fine: Records, places: int) -> None:
        self.base, self.places, self._fine = base, places, fine
        self.rows, self.cells = fine.rows, fine.cells

    def below(self, cell: int) -> int:
        return self._fine.below(cell)

    def below_each(self, cells: Ints) -> Ints:
        return self._fine.below_each(cells)

    def ranked(self, first: int, last: int) -> Ints:
        return self._fine.ranked(first, last)
