"""Keys that many rows share, with their counts, when the categories are not public.

Law        every value that occurs gets its count plus discrete Laplace noise of scale c / epsilon, c = 1, or 2 under
           substitution; what reaches the threshold is released, key and noisy count, and nothing else is
Guarantee  (epsilon, delta)-DP; the threshold is the least whole number that 1 + noise reaches with probability delta
           at the most
Why        a row of one's own is the only one with its key, and shows with probability delta; all else is Laplace
Error      counts err by the noise; a key with fewer than threshold rows shows only if its noise is large
Numerics   exact integers; texts stay as they are, numbers are written out, everything else is no key
Limits     tables in memory, where every row is a unit; a key near the threshold is there because its noise was high
Source     Korolova, Kenthapadi, Mishra, Ntoulas (2009); Wilson, Zhang, Lam and others (2020)
Proof      docs/explanation/proofs/keys.md
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flou.central.question import Context, Draft, Question
from flou.errors import InvalidParameter
from flou.guarantee import ApproxDP, Guarantee
from flou.laws import DiscreteLaplace
from flou.mechanisms import Laplace
from flou.parameters import Number
from flou.release import Uncertainty
from flou.release.uncertainty import Interval
from flou.summaries.array_rows import ArrayRows
from flou.summaries.request import Request

__all__ = ["Keys", "texts"]


def texts(values: Any) -> list[str]:
    """The keys of the rows, one by one: texts and whole or finite numbers; other rows have none."""
    masked = isinstance(values, np.ma.MaskedArray)
    null = np.ma.getmaskarray(values).tolist() if masked else [False] * len(values)
    return [
        key for value, gone in zip(np.asarray(values).tolist(), null, strict=True) if not gone and (key := _key(value))
    ]


def _key(value: Any) -> str:
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bool | int) and -(2**63) <= value < 2**64:
        return str(value)
    if isinstance(value, float) and math.isfinite(value):
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    return ""


@dataclass(frozen=True)
class Keys(Question):
    """The values of a column that enough rows share."""

    column: str
    epsilon: Number
    delta: Number
    statistic = "keys"

    def cost(self, context: Context) -> Guarantee:
        if context.schema.unit is not None:
            raise InvalidParameter(
                "Keys are selected in tables whose rows are the units.",
                "A unit with several rows could bring several keys of its own.",
                "Leave the unit out of the schema if every row is one, or declare the categories.",
            )
        self.mechanism(context)
        return ApproxDP(self.epsilon, self.delta, relation=context.schema.relation, unit=context.unit)

    def mechanism(self, context: Context) -> Laplace:
        return Laplace(
            sensitivity=context.changes, epsilon=self.epsilon, relation=context.schema.relation, unit=context.unit
        )

    def threshold(self, context: Context) -> int:
        """The least T with P(1 + noise >= T) <= delta; a part in 10^9 is left for the rounding of floats."""
        noise, delta = self.mechanism(context).noise, float(self.delta) * (1 - 1e-9)
        low, high = 0, 2  # P(noise >= T - 1) = sf(T - 2)
        while float(noise.sf(high - 2)) > delta:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if float(noise.sf(middle - 2)) > delta else (low, middle)
        return high

    def requests(self, context: Context) -> tuple[Request, ...]:
        del context
        raise InvalidParameter(
            "Keys cannot be asked for together with other questions.",
            "They need the values of the column, which no request to an engine delivers.",
            "Call table.keys(column, epsilon=..., delta=...) on a table in memory.",
        )

    def values(self, rows: Any) -> Any:
        """The raw values of the column, from rows in memory."""
        if not isinstance(rows, ArrayRows):
            raise InvalidParameter(
                "Keys can be selected in tables in memory only, so far.",
                "Other engines answer with counts of public codes, and here the codes are not public.",
                "Pass the columns as arrays, or declare the categories.",
            )
        rows.require(self.column)
        return rows._values(self.column, 0, rows.length)

    def answer(self, found: list[NDArray[Any]], context: Context) -> Draft:
        mechanism, threshold = self.mechanism(context), self.threshold(context)
        counts = Counter(texts(found[0]))
        names = sorted(counts)
        noisy = [mechanism.sample(counts[name], bits=context.bits) for name in names]
        kept = sorted((-y, name) for y, name in zip(noisy, names, strict=True) if y >= threshold)
        released = np.array([-y for y, _ in kept], dtype=np.int64)
        return Draft(
            value=released,
            uncertainty=KeyUncertainty(released, mechanism.noise, threshold),
            mechanism={
                "name": "discrete Laplace with a threshold",
                "scale": float(mechanism.noise.scale),
                "grid": "whole rows",
                "sensitivity": float(mechanism.sensitivity),
                "norm": "L1",
                "sampler": "exact, by inversion with refinement",
                "random_source": context.random_source,
            },
            labels=tuple(name for _, name in kept),
            note=f"Keys with fewer than about {threshold} rows are not shown.",
            keys={"group_keys": "selected", "column": self.column, "threshold": threshold},
        )


@dataclass(frozen=True, eq=False)
class KeyUncertainty(Uncertainty):
    """Intervals for the counts; without a key, how many rows one that is not shown may have."""

    released: NDArray[np.int64]
    noise: DiscreteLaplace
    threshold: int

    def data(self, level: float) -> Interval:
        low, high = self.noise.interval(level)
        if not self.released.size:
            return 0.0, float(self.threshold + high)
        return np.maximum(self.released - high, 1), np.maximum(self.released - low, 1)

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
