"""A noisy Gram matrix: rows, sums and products of several columns, from which covariances and regressions follow.

Law        with z_i in [-1, 1] the centred columns, every entry of (n, sum z_i, sum z_i z_j) gets independent noise:
           discrete Laplace of scale D/epsilon, or Gaussian when ``delta`` is given
Guarantee  epsilon-DP, or (epsilon, delta)-DP, in total
Why        a row's entries are at most 1 in size and there are D = (d + 1)(d + 2)/2 of them: L1 norm D, L2 norm sqrt(D);
           where the rows are known, substituting a row moves them by at most d^2 + 2 d in L1 norm
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
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flou.bits import SeededBits
from flou.central.question import Context, Question
from flou.domain import Boolean, Categories, Integers, Interval
from flou.errors import InvalidParameter
from flou.guarantee import ApproxDP, Guarantee
from flou.laws.law import Floats
from flou.mechanisms import Gaussian, Laplace
from flou.parameters import Number
from flou.summaries.request import Code, Request, Sums

__all__ = ["GramNoise", "GramQuestion", "NoisyGram"]

CELLS = 2**15
MOST_COLUMNS = 20
REPLAYS = 4000  # draws of the noise behind an interval


@dataclass(frozen=True)
class Axis:
    """One column, centred: z = (2 code - last) / unit in [-1, 1], and value = middle + half z."""

    code: Code
    unit: int
    middle: float
    half: float

    @classmethod
    def of(cls, column: str, domain: Any) -> Axis:
        if isinstance(domain, Categories):
            raise InvalidParameter(
                f"Column {column!r} holds categories, which have no covariance.",
                "Only numbers can be multiplied.",
                "Use interval, integer or boolean columns.",
            )
        if isinstance(domain, Integers) and domain.size > CELLS:
            missing = float(domain.lower + domain.missing_code)
            domain = Interval(domain.lower - 0.5, domain.upper + 0.5, missing=missing)
        if isinstance(domain, Interval):
            grid = domain.with_cells(CELLS)
            return cls(Code(column, grid), CELLS, (domain.lower + domain.upper) / 2, (domain.upper - domain.lower) / 2)
        if isinstance(domain, Boolean):
            return cls(Code(column, domain), 1, 0.5, 0.5)
        last = domain.size - 1
        return cls(Code(column, domain), max(last, 1), domain.lower + last / 2, max(last, 1) / 2)

    @property
    def last(self) -> int:
        return self.code.domain.size - 1


@dataclass(frozen=True)
class GramNoise:
    """The mechanism for a list of columns in a context."""

    columns: tuple[str, ...]
    epsilon: Number
    delta: Number | None
    context: Context

    def __post_init__(self) -> None:
        if not 1 <= len(self.columns) <= MOST_COLUMNS or len(set(self.columns)) != len(self.columns):
            raise InvalidParameter(
                f"columns must be 1 to {MOST_COLUMNS} different columns, got {len(self.columns)}.",
                "The noise grows with the square of their number.",
                "Ask about fewer columns at a time.",
            )

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        return tuple(Axis.of(name, self.context.domain(name)) for name in self.columns)

    @property
    def cost(self) -> Guarantee:
        if self.delta is None:
            return self.context.pure(self.epsilon)
        return ApproxDP(self.epsilon, self.delta, relation=self.context.schema.relation, unit=self.context.unit)

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

    @property
    def norm(self) -> float:
        """The sensitivity in units of the largest entry: L1, or L2 for Gaussian noise."""
        d, size = len(self.columns), len(self.units)
        if self.delta is not None:
            return math.sqrt(size) * self.context.changes
        return float(d * d + 2 * d if self.context.known_rows is not None else size * self.context.changes)

    def mechanism(self, unit: int) -> Laplace | Gaussian:
        sensitivity, context = self.norm * unit, self.context
        options: dict[str, Any] = {"relation": context.schema.relation, "unit": context.unit}
        if self.delta is None:
            return Laplace(sensitivity=sensitivity, epsilon=self.epsilon, **options)
        return Gaussian(sensitivity=sensitivity, epsilon=self.epsilon, delta=self.delta, **options)

    def release(self, sums: NDArray[Any]) -> NoisyGram:
        """Draw the noise on every entry that is not public."""
        entries = self.integers(sums)
        noisy = np.array(
            [
                self.mechanism(unit).sample(entry, bits=self.context.bits) / unit
                for entry, unit in zip(entries, self.units, strict=True)
            ]
        )
        if self.context.known_rows is not None:
            noisy[0] = float(self.context.known_rows)
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
            bits = SeededBits(f"replay {position}")  # for the interval only: nothing private is drawn here
            drawn = self.noise.mechanism(unit).noise.sample(REPLAYS, bits=bits) / unit
            public = position == 0 and self.noise.context.known_rows is not None
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


class GramQuestion(Question):
    """A question that one noisy Gram matrix answers."""

    epsilon: Number
    delta: Number | None

    @abstractmethod
    def axes(self) -> tuple[str, ...]:
        """The columns of the matrix."""

    def noise(self, context: Context) -> GramNoise:
        return GramNoise(self.axes(), self.epsilon, self.delta, context)

    def cost(self, context: Context) -> Guarantee:
        noise = self.noise(context)
        noise.mechanism(max(noise.units))  # refuses a scale that cannot be drawn, before anything is charged
        return noise.cost

    def requests(self, context: Context) -> tuple[Request, ...]:
        return (self.noise(context).request,)
