"""Keys that many rows share, with their counts, when the categories are not public.

Law        every key that occurs gets its count plus discrete Laplace noise of scale c / epsilon, c = r, the rows that a
           unit may have, or 2 r under substitution; what reaches the threshold is released, key and noisy count, and
           nothing else is. With ``min_rows``, only keys of so many rows are looked at, and the threshold rises by
           min_rows - 1
Guarantee  (epsilon, delta)-DP; the threshold is the least whole number T such that neither r keys with one row each
           nor one key with r rows show anything with probability above delta
Why        the keys that a unit has for itself alone show with probability delta at the most; all else is Laplace
Error      counts err by the noise; a key with fewer than threshold rows shows only if its noise is large
Numerics   exact integers; the threshold leaves a part in 10^9 of delta for the rounding of floats
Limits     the engine hands over all keys of at least ``min_rows`` rows, and they must fit into memory; a key near the
           threshold is there because its noise was high
Source     Korolova, Kenthapadi, Mishra, Ntoulas (2009); Wilson, Zhang, Lam and others (2020)
Proof      docs/explanation/proofs/keys.md
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flou.central.curator import Curator
from flou.central.public_facts import PublicFacts
from flou.central.question import Draft, Question
from flou.errors import InvalidParameter
from flou.guarantee import ApproxDP, Guarantee
from flou.laws import DiscreteLaplace
from flou.mechanisms import Laplace
from flou.parameters import Number, integer
from flou.release import Release, Uncertainty
from flou.release.uncertainty import Interval
from flou.summaries.keys import Key
from flou.summaries.request import Request
from flou.summaries.rows import quiet

if TYPE_CHECKING:
    from flou.central.table import Table

__all__ = ["Keys", "Selection"]


@dataclass(frozen=True)
class Selection:
    """What was selected: the keys, their noisy counts as a release, and the threshold."""

    keys: tuple[Key, ...]
    release: Release
    threshold: int

    def to_dict(self) -> dict[str, Any]:
        """What the certificates of later releases say about it."""
        return {
            "group_keys": "selected",
            "threshold": self.threshold,
            "selection_cost": self.release.cost.to_dict(),
            "selection_certificate": self.release.certificate.hash,
        }


@dataclass(frozen=True)
class _KeyDraft(Draft):
    selected: tuple[Key, ...] = field(default=())


@dataclass(frozen=True)
class Keys(Question):
    """The values of a column that enough rows share."""

    column: str
    epsilon: Number
    delta: Number
    min_rows: int = 1
    statistic = "keys"
    proof = "keys"

    def cost(self, facts: PublicFacts) -> Guarantee:
        integer("min_rows", self.min_rows, 1, 2**40)
        self.mechanism(facts)
        return ApproxDP(self.epsilon, self.delta, relation=facts.schema.relation, unit=facts.unit)

    def mechanism(self, facts: PublicFacts) -> Laplace:
        return Laplace(sensitivity=facts.changes, epsilon=self.epsilon, relation=facts.schema.relation, unit=facts.unit)

    def threshold(self, facts: PublicFacts) -> int:
        """The least T that the keys of one unit reach with probability delta at the most, plus min_rows - 1."""
        noise, rows, delta = self.mechanism(facts).noise, facts.rows_per_unit, float(self.delta) * (1 - 1e-9)

        def shows(threshold: int) -> bool:
            one, all_in_one = (float(noise.sf(threshold - count - 1)) for count in (1, rows))
            some = 1.0 if one >= 1 else -math.expm1(rows * math.log1p(-one))  # of little noise, 1 to all digits
            return max(all_in_one, some) > delta

        low, high = rows - 1, rows + 1  # below r the tail of the noise would not be convex, see the proof
        while shows(high):
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if shows(middle) else (low, middle)
        return high + self.min_rows - 1

    def requests(self, facts: PublicFacts) -> tuple[Request, ...]:
        del facts
        raise InvalidParameter(
            "Keys cannot be asked for together with other questions.",
            "They are not known before they are selected, and no request for public codes delivers them.",
            "Call table.keys(column, epsilon=..., delta=...), or table.group_by with the same.",
        )

    def select(self, table: Table) -> Selection:
        """Charge, count the keys exactly, and let the noise decide."""
        facts = table._facts()
        cost, threshold = self.cost(facts), self.threshold(facts)
        table._rows.require(self.column)
        if table.budget is not None:
            table.budget.charge(cost)
        with quiet(table._rows.engine):
            return self._selected(table, facts, cost, threshold)

    def _selected(self, table: Table, facts: PublicFacts, cost: Guarantee, threshold: int) -> Selection:
        found = list(table._capped().key_counts(self.column, self.min_rows))
        with table._curator(self, facts) as curator:
            draft = self.answer(found, facts, curator)
        return Selection(draft.selected, table._released(self, draft, cost, facts), threshold)

    def answer(self, found: list[NDArray[Any]], facts: PublicFacts, curator: Curator) -> _KeyDraft:
        """From the keys and their counts."""
        mechanism, threshold = self.mechanism(facts), self.threshold(facts)
        names = [str(key) for key in found[0].tolist()]
        order = sorted(range(len(names)), key=lambda i: (names[i], type(found[0][i]).__name__))
        noisy = mechanism.sample(found[1][order].astype(np.int64), bits=curator.bits).tolist() if order else []
        kept = sorted((-y, names[i], i) for y, i in zip(noisy, order, strict=True) if y >= threshold)
        released = np.array([-y for y, _, _ in kept], dtype=np.int64)
        return _KeyDraft(
            value=released,
            uncertainty=KeyUncertainty(released, mechanism.noise, threshold, self.min_rows),
            mechanism={
                "name": "discrete Laplace with a threshold",
                "scale": float(mechanism.noise.scale),
                "grid": "whole rows",
                "sensitivity": float(mechanism.sensitivity),
                "norm": "L1",
                "sampler": "exact, by inversion with refinement",
                "random_source": facts.random_source,
            },
            labels=tuple(name for _, name, _ in kept),
            note=f"Keys with fewer than about {threshold} rows are not shown.",
            keys={"group_keys": "selected", "column": self.column, "threshold": threshold},
            selected=tuple(found[0][i] for _, _, i in kept),
        )


@dataclass(frozen=True, eq=False)
class KeyUncertainty(Uncertainty):
    """Intervals for the counts; without a key, how many rows one that is not shown may have."""

    released: NDArray[np.int64]
    noise: DiscreteLaplace
    threshold: int
    least: int = 1  # rows that a key has in any case

    def data(self, level: float) -> Interval:
        low, high = self.noise.interval(level)
        if not self.released.size:
            return 0.0, float(self.threshold + high)
        return np.maximum(self.released - high, self.least), np.maximum(self.released - low, self.least)

    def population(self, level: float) -> Interval:
        """Half of the error probability for the noise, half for sampling: Poisson rows (binomial ones vary less)."""
        beta = (1 - level) / 2
        low, high = self.data(1 - beta)
        reach = math.log(2 / beta)

        def up(count: Any) -> Any:  # P(Poisson(m) <= c) <= beta/2 beyond this m, by Chernoff
            return count + reach + np.sqrt(reach * reach + 2 * reach * count)

        def down(count: Any) -> Any:  # P(Poisson(m) >= c) <= beta/2 below this m
            return np.maximum(count - np.sqrt(2 * reach * count), 0.0)

        return down(np.asarray(low, dtype=float))[()], up(np.asarray(high, dtype=float))[()]

    @property
    def grid(self) -> float:
        return 0.0
