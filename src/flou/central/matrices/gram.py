"""A noisy Gram matrix: rows, sums and products of several columns, from which covariances and regressions follow.

Law        with z_i in [-1, 1] the centred columns, every entry of (n, sum z_i, sum z_i z_j) gets independent noise:
           discrete Laplace of scale D/epsilon, or Gaussian for the L2 norm (``price.py``)
Guarantee  that of the price, in total
Why        a row's entries are at most 1 in size and there are D = (d + 1)(d + 2)/2 of them: L1 norm D, L2 norm sqrt(D);
           substituting a row moves them by at most d + 1 in L2 norm, and where the rows are known by at most d^2 + 2 d
           in L1 norm
Error      what follows is a smooth function of the entries; its interval comes from draws of the very noise that was
           added, so that it is wide where the noise drowns the signal
Numerics   exact integers until the noise is drawn; each entry on the grid of its own products
Limits     up to 20 columns; values outside the bounds are clamped, which moves slopes
Source     Dwork and others (2006); Wang (2018) for regression from noisy moments
Proof      docs/explanation/proofs/gram.md
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flou.arrays import Floats
from flou.bits import Bits, SeededBits
from flou.central.moments.column_question import require_moderate
from flou.central.price import Noise, Price, PricedQuestion, Sensitivity
from flou.central.question import Curator, Draft, Prepared, PublicFacts
from flou.domain import Domain, require_numbers
from flou.errors import InvalidParameter
from flou.laws import Law
from flou.release.uncertainty import Interval as Ends
from flou.summaries.request import Code, Sums

__all__ = ["GramNoise", "GramQuestion", "NoisyGram", "between"]

CELLS = 2**15
MOST_COLUMNS = 20
REPLAYS = 4000  # draws of the noise behind an interval


@dataclass(frozen=True)
class GramAxis:
    """One column, centred: z = (2 code - last) / unit in [-1, 1], and value = middle + half z."""

    code: Code
    unit: int
    middle: float
    half: float

    @classmethod
    def of(cls, column: str, domain: Domain) -> GramAxis:
        numbers = require_numbers(column, domain, "covariance", "Only numbers can be multiplied.")
        own = numbers.discrete and numbers.size <= CELLS
        grid = numbers if own else numbers.interval.fine(CELLS.bit_length() - 1)
        low, high = grid.bounds
        return cls(Code(column, grid), grid.size - 1 if own else CELLS, (low + high) / 2, (high - low) / 2)

    @property
    def last(self) -> int:
        return self.code.domain.size - 1


@dataclass(frozen=True)
class GramNoise:
    """The mechanism for a list of columns on a table."""

    columns: tuple[str, ...]
    price: Price
    facts: PublicFacts

    def __post_init__(self) -> None:
        for column in self.columns:
            if not isinstance(column, str):
                raise InvalidParameter(
                    f"columns must be names of columns, got a {type(column).__name__}.",
                    "Every column is an argument of its own.",
                    'Write for example table.correlation("age", "salary", epsilon=1).',
                )
        if len(set(self.columns)) != len(self.columns):
            raise InvalidParameter(
                "columns must be different, and one of them was named twice.",
                "The relation of a column to itself is known in advance.",
                "Name each column once.",
            )
        if not 1 <= len(self.columns) <= MOST_COLUMNS:
            raise InvalidParameter(
                f"columns must be 1 to {MOST_COLUMNS} columns, got {len(self.columns)}.",
                "The noise grows with the square of their number.",
                "Ask about fewer columns at a time.",
            )

    @cached_property
    def axes(self) -> tuple[GramAxis, ...]:
        return tuple(GramAxis.of(name, self.facts.domain(name)) for name in self.columns)

    @cached_property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        d = len(self.columns)
        return tuple((i, j) for i in range(d) for j in range(i, d))

    @property
    def request(self) -> Sums:
        codes = [axis.code for axis in self.axes]
        return Sums(((), *((code,) for code in codes), *((codes[i], codes[j]) for i, j in self.pairs)))

    @cached_property
    def units(self) -> tuple[int, ...]:
        """The largest size of each entry for one row, in integers."""
        units = [axis.unit for axis in self.axes]
        return (1, *units, *(units[i] * units[j] for i, j in self.pairs))

    def integers(self, sums: NDArray[Any]) -> list[int]:
        """The entries, exactly: sums of centred codes and of their products."""
        n, *rest = (int(value) for value in sums)
        d = len(self.columns)
        first, last = rest[:d], [axis.last for axis in self.axes]
        centred = [2 * s - n * top for s, top in zip(first, last, strict=True)]
        products = [
            4 * p - 2 * last[j] * first[i] - 2 * last[i] * first[j] + n * last[i] * last[j]
            for (i, j), p in zip(self.pairs, rest[d:], strict=True)
        ]
        return [n, *centred, *products]

    @cached_property
    def sensitivity(self) -> Sensitivity:
        """In units of the largest entry."""
        d, size, facts = len(self.columns), len(self.units), self.facts
        l1 = d * d + 2 * d if facts.known_rows is not None else size * facts.changes
        a_row = (d + 1) ** 2 if facts.schema.relation == "substitute" else size
        return Sensitivity(l1, facts.rows_per_unit**2 * a_row)

    @cached_property
    def mechanisms(self) -> dict[int, Noise]:
        """For every unit: the noise on entries of this largest size."""
        return {unit: self.price.noise(self.sensitivity.times(unit), self.facts).mechanism for unit in set(self.units)}

    def described(self) -> dict[str, Any]:
        """The mechanism block of a certificate."""
        priced = self.price.noise(self.sensitivity, self.facts)
        return priced.described(on=" on a Gram matrix", grid="integer products of codes")

    def release(self, sums: NDArray[Any], bits: Bits) -> NoisyGram:
        """Draw the noise on every entry that is not public."""
        entries = self.integers(sums)
        noisy = np.array(
            [
                self.mechanisms[unit].sample(entry, bits=bits) / unit
                for entry, unit in zip(entries, self.units, strict=True)
            ]
        )
        if self.facts.known_rows is not None:
            noisy[0] = float(self.facts.known_rows)
        return NoisyGram(self, noisy)


@dataclass(frozen=True, eq=False)
class NoisyGram:
    """The released entries, in units of z, and replays of their noise."""

    noise: GramNoise
    entries: Floats

    @cached_property
    def replays(self) -> Floats:
        """Tables that may have led to this release: the released entries less fresh noise of the same law."""
        columns = []
        for position, unit in enumerate(self.noise.units):
            public = position == 0 and self.noise.facts.known_rows is not None
            drawn = _replayed(self.noise.mechanisms[unit].noise, position) / unit
            columns.append(np.zeros(REPLAYS) if public else drawn)
        return self.entries - np.stack(columns, axis=1)

    def matrix(self, entries: Floats) -> Floats:
        """(1, z)' (1, z) summed over the rows, for one vector of entries or for many."""
        d = len(self.noise.columns)
        full = np.empty((*entries.shape[:-1], d + 1, d + 1))
        full[..., 0, 0] = entries[..., 0]
        full[..., 0, 1:] = full[..., 1:, 0] = entries[..., 1 : d + 1]
        for position, (i, j) in enumerate(self.noise.pairs):
            full[..., i + 1, j + 1] = full[..., j + 1, i + 1] = entries[..., d + 1 + position]
        return full

    def covariances(self, entries: Floats) -> Floats:
        """Covariance matrices of z (n - 1 in the denominator), for one vector of entries or for many."""
        full = self.matrix(entries)
        n = np.maximum(full[..., :1, :1], 2.0)
        means = full[..., 1:, :1] / n
        return np.asarray((full[..., 1:, 1:] / n - means * np.swapaxes(means, -1, -2)) * n / (n - 1))


@lru_cache(maxsize=256)
def _replayed(noise: Law, position: int) -> NDArray[np.int64]:
    """Draws for an interval only, the same ones every time: nothing private."""
    return noise.sample(REPLAYS, bits=SeededBits(f"replay {position}"))


def between(replayed: Floats, level: float) -> Ends:
    """The central interval of replays; they know a tail up to one standard error only, which is taken off.

    Of tails that are rarer than the replays can tell nothing is known, and the interval is the whole line.
    """
    tail = (1 - level) / 2
    sure = tail - math.sqrt(tail * (1 - tail) / REPLAYS)
    if sure <= 0:
        whole = np.full(replayed.shape[1:], math.inf)
        return -whole, whole
    low, high = np.quantile(replayed, [sure, 1 - sure], axis=0)
    return low, high


class GramQuestion(PricedQuestion):
    """A question that one noisy Gram matrix answers."""

    @abstractmethod
    def axes(self) -> tuple[str, ...]:
        """The columns of the matrix."""

    @abstractmethod
    def labels(self) -> tuple[str, ...]:
        """What the numbers of the answer are called."""

    @abstractmethod
    def draft(self, gram: NoisyGram) -> Draft:
        """The answer from the noisy matrix."""

    def noise(self, facts: PublicFacts) -> GramNoise:
        return GramNoise(self.axes(), Price.read(self.price), facts)

    def prepare(self, facts: PublicFacts) -> Prepared:
        noise = self.noise(facts)
        cost = noise.mechanisms[max(noise.units)].guarantee
        for column in noise.columns:
            require_moderate(column, facts.domain(column))

        def answer(found: list[Any], curator: Curator) -> Draft:
            return self.draft(noise.release(found[0], curator.bits))

        return Prepared(cost, (noise.request,), answer, len(self.labels()))
