"""Keys that many rows share, with their counts, when the categories are not public.

Law        every key that occurs gets its count plus discrete Laplace noise of scale c / epsilon, c = r, the rows that a
           unit may have, or 2 r under substitution; what reaches the threshold is released, key and noisy count, and
           nothing else is. With ``min_rows``, only keys with at least that many rows are considered, and the threshold
           rises by min_rows - 1
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
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flou.central.price import EpsilonQuestion
from flou.central.question import Curator, Draft, Prepared, PublicFacts
from flou.guarantee import ApproxDP
from flou.laws import DiscreteLaplace
from flou.mechanisms import Laplace
from flou.parameters import Number, integer
from flou.release import Release, Uncertainty
from flou.release.uncertainty import Interval
from flou.summaries.keys import Key
from flou.summaries.request import DistinctKeys

__all__ = ["Keys", "Selection"]


@dataclass(frozen=True)
class Selection:
    """Groups that were selected: the release that selected them, whose keys later questions are about."""

    release: Release

    @property
    def _selected(self) -> KeyUncertainty:
        assert isinstance(self.release.uncertainty, KeyUncertainty)
        return self.release.uncertainty

    @property
    def keys(self) -> tuple[Key, ...]:
        return self._selected.keys

    @property
    def threshold(self) -> int:
        return self._selected.threshold

    def to_dict(self) -> dict[str, Any]:
        """What the certificates of later releases say about it."""
        return {
            "group_keys": "selected",
            "threshold": self.threshold,
            "selection_cost": self.release.cost.to_dict(),
            "selection_certificate": self.release.certificate.hash,
        }


@dataclass(frozen=True)
class Keys(EpsilonQuestion):
    """The values of a column that enough rows share."""

    column: str
    epsilon: Number
    delta: Number
    min_rows: int = 1
    statistic = "keys"
    proof = "keys"

    @classmethod
    def asked(cls, column: str, *, epsilon: Number, delta: Number, min_rows: int = 1) -> Keys:
        return cls(column, epsilon, delta, min_rows)

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

    def prepare(self, facts: PublicFacts) -> Prepared:
        facts.require_name(self.column)
        integer("min_rows", self.min_rows, 1, 2**40)
        mechanism = self.mechanism(facts)
        cost = ApproxDP(self.epsilon, self.delta, relation=facts.schema.relation, unit=facts.unit)
        threshold = self.threshold(facts)

        def answer(found: list[Any], curator: Curator) -> Draft:
            keys, counts = found[0]
            names = [str(key) for key in keys.tolist()]
            order = sorted(range(len(names)), key=lambda i: (names[i], type(keys[i]).__name__))
            noisy = mechanism.sample(counts[order].astype(np.int64), bits=curator.bits).tolist() if order else []
            kept = sorted((-y, names[i], i) for y, i in zip(noisy, order, strict=True) if y >= threshold)
            released = np.array([-y for y, _, _ in kept], dtype=np.int64)
            selected = tuple(keys[i] for _, _, i in kept)
            return Draft(
                value=released,
                uncertainty=KeyUncertainty(released, mechanism.noise, threshold, self.min_rows, selected),
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
                postprocessing=("keys below the threshold are left out",),
                keys={"group_keys": "selected", "column": self.column, "threshold": threshold},
                preprocessing=("texts, whole numbers and truth values are keys; other values are left out",),
                clipping="none: keys have no bounds",
            )

        return Prepared(cost, (DistinctKeys(self.column, self.min_rows),), answer)


@dataclass(frozen=True, eq=False)
class KeyUncertainty(Uncertainty):
    """Intervals for the counts; without a key, how many rows one that is not shown may have."""

    released: NDArray[np.int64]
    noise: DiscreteLaplace
    threshold: int
    least: int = 1  # rows that a key has in any case
    keys: tuple[Key, ...] = ()  # those that are shown, as they are in the table: 1 is not "1"

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
