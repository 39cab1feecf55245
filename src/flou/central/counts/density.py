"""Density of a column: a truncated cosine series with noisy coefficients.

Law        f(t) = 1 + 2 sum over j <= J of c_j cos(j pi t), c_j the noisy mean of cos(j pi t); below zero it is zero
Guarantee  that of the price, in total
Why        the cosines are integers of a public table; the norms of its lines, or the largest distance of two lines
           where the number of rows is public, are computed from the table itself. The L2 norm grows like sqrt(J) where
           the L1 norm grows like J, so that with a delta or a rho Gaussian noise is soon the smaller one
Error      a band at each point: noises of a known law, and sampling; it is about the truncated series, and
           what the series leaves out (the bias) depends on the smoothness of the law, which nobody knows
Numerics   exact integers on a grid of 2^11 cells until the noise is drawn
Limits     J is given, or a public rule: min((n epsilon)^(1/3), 1.5 n^(1/4)) where n is public, with (n / s)^(2/5) for
           Gaussian noise of deviation s per unit of sensitivity in place of the first; and 8 otherwise
Source     Wasserman and Zhou (2010); document 003
Proof      docs/explanation/proofs/density.md
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flou.arrays import Floats
from flou.bits import SeededBits
from flou.central.price import Given, Noise, Price, PricedNoise, PricedQuestion, Sensitivity
from flou.central.question import Curator, Draft, Prepared, PublicFacts
from flou.errors import InvalidParameter
from flou.parameters import Number, integer
from flou.release import Layout, Uncertainty
from flou.release.uncertainty import Interval as Ends
from flou.summaries.request import Code, Counts

__all__ = ["Density", "cosines", "farthest", "largest"]

UNIT = 2**20  # a cosine of 1; sums over 2^40 rows stay below 2^62
CELLS = 2**11
MOST = 30  # cosines
POINTS = 65
DRAWS = 1 << 13  # of the noise, for the band: the error probability is known to a quarter of a percent


@lru_cache(maxsize=32)
def cosines(cells: int, terms: int) -> NDArray[np.int64]:
    """The public table: round(UNIT cos(j pi t)) for the middles t of the cells (lines) and j = 1, ..., terms."""
    t = (np.arange(cells) + 0.5) / cells
    table: NDArray[np.int64] = np.rint(UNIT * np.cos(np.pi * np.multiply.outer(t, np.arange(1, terms + 1)))).astype(
        np.int64
    )
    table.setflags(write=False)
    return table


@lru_cache(maxsize=32)
def farthest(cells: int, terms: int) -> Sensitivity:
    """The largest distances of two lines, in both norms, over all pairs."""
    columns = np.ascontiguousarray(cosines(cells, terms).T)
    l1 = max(int(np.abs(columns - columns[:, i : i + 1]).sum(axis=0).max()) for i in range(cells))
    squares = (columns**2).sum(axis=0)
    products = columns.T.astype(np.float64) @ columns.astype(np.float64)  # below 2^45, so that floats are exact
    return Sensitivity(l1, int((squares[:, None] + squares - 2 * products.astype(np.int64)).max()))


@lru_cache(maxsize=32)
def largest(cells: int, terms: int) -> Sensitivity:
    """The largest norms of a line with a 1 for the row itself in front."""
    table = cosines(cells, terms)
    return Sensitivity(UNIT + int(np.abs(table).sum(axis=1).max()), UNIT**2 + int((table**2).sum(axis=1).max()))


@dataclass(frozen=True)
class Density(PricedQuestion):
    """The density of a column between its bounds, at equally spaced points."""

    column: str
    price: Price | Number
    terms: int | None = None
    points: int = POINTS
    statistic = "density"
    proof = "density"

    @classmethod
    def asked(
        cls,
        column: str,
        *,
        terms: int | None = None,
        points: int = POINTS,
        epsilon: Given = None,
        delta: Given = None,
        rho: Given = None,
    ) -> Density:
        return cls(column, Price.of(epsilon, delta, rho), terms, points)

    def noise(self, facts: PublicFacts) -> PricedNoise:
        return self._noise(self._sensitivity(self.cosines(facts), facts), facts)

    def _code(self, facts: PublicFacts) -> tuple[Code, float, float]:
        domain = facts.domain(self.column)
        if not domain.measured:
            raise InvalidParameter(
                f"Column {self.column!r} has no density.",
                "Only numbers between bounds have a density.",
                "Ask for its histogram.",
            )
        around = domain.interval
        return Code(self.column, around.fine(CELLS.bit_length() - 1)), around.lower, around.upper

    def cosines(self, facts: PublicFacts) -> int:
        """How many terms the series has."""
        if self.terms is not None:
            return integer("terms", self.terms, 1, MOST)
        if facts.known_rows is None:
            return 8
        price, n = Price.read(self.price), float(max(facts.known_rows, 1))

        def rule(balanced: float) -> int:
            return min(max(round(min(balanced, 1.5 * math.sqrt(math.sqrt(n)))), 1), MOST)

        if price.rho is not None or price.delta is not None:
            terms = rule((n / float(price.per_unit)) ** 0.4)
            if price.is_gaussian(self._sensitivity(terms, facts)):
                return terms
        assert price.epsilon is not None
        return rule(math.cbrt(n * float(price.epsilon)))

    @staticmethod
    def _sensitivity(terms: int, facts: PublicFacts) -> Sensitivity:
        if facts.known_rows is not None:
            return farthest(CELLS, terms)  # one row is replaced, and the number of rows stays
        alone = largest(CELLS, terms)
        squared = alone.l2_squared
        if facts.schema.relation == "substitute":  # row by row: one replaces another, or enters, or leaves
            squared = max(squared, farthest(CELLS, terms).l2_squared)
        return Sensitivity(facts.changes * alone.l1, facts.rows_per_unit**2 * squared)

    @staticmethod
    def vector(counts: NDArray[Any], terms: int, facts: PublicFacts) -> list[int]:
        """The exact sums: UNIT for every row, where their number is not public, and the cosines."""
        held = np.flatnonzero(counts)
        sums = [int(c) for c in counts[held] @ cosines(CELLS, terms)[held]]
        return sums if facts.known_rows is not None else [UNIT * int(counts.sum()), *sums]

    def prepare(self, facts: PublicFacts) -> Prepared:
        domain = facts.domain(self.column)
        points = integer("points", self.points, 2, 2**12)
        code, lower, upper = self._code(facts)
        terms, noise, known = self.cosines(facts), self.noise(facts), facts.known_rows
        mechanism, width, places = noise.mechanism, upper - lower, np.linspace(lower, upper, points)

        def answer(found: list[Any], curator: Curator) -> Draft:
            exact = self.vector(found[0], terms, facts)
            noisy = np.array([mechanism.sample(value, bits=curator.bits) / UNIT for value in exact])
            rows, series = (float(noisy[0]), noisy[1:]) if known is None else (float(known), noisy)
            band = DensityBand(series, rows, known is None, mechanism, width, points)
            return Draft(
                value=np.maximum(band.centre, 0.0) / width,
                uncertainty=band,
                mechanism=noise.described(on=f" on {terms} cosine sums", grid=f"{CELLS} cells, 2^-20 of a row"),
                labels=domain.printed(places),
                layout=Layout("curve", places=tuple(places.tolist())),
                note=f"The band is for a series of {terms} cosines. It does not cover detail finer than this series.",
                postprocessing=("cosine series", "negative values as 0"),
            )

        return Prepared(mechanism.guarantee, (Counts((code,)),), answer, points)


@dataclass(frozen=True, eq=False)
class DensityBand(Uncertainty):
    """A band around the series, point by point.

    At the true value y of the series at x, (sum over rows of 1 - y + 2 sum_j cos(j pi x) cos(j pi t)) is zero; its
    released value is noise, whose quantiles come from draws of the exact law (seeded: nothing private depends on them).
    """

    series: Floats  # noisy sums of cosines, in rows
    rows: float
    rows_noisy: bool
    mechanism: Noise
    width: float
    points: int

    @cached_property
    def _basis(self) -> Floats:
        """2 cos(j pi x), a line for each point."""
        x = np.linspace(0.0, 1.0, self.points)
        return 2 * np.cos(np.pi * np.multiply.outer(x, np.arange(1, self.series.size + 1)))

    @cached_property
    def centre(self) -> Floats:
        most = 1 + 2 * self.series.size
        if self.rows < 1:  # as if uniform
            return np.ones(self.points)
        centre: Floats = np.clip(1 + self._basis @ self.series / self.rows, -most, most)
        return centre

    @cached_property
    def _noise(self) -> Floats:
        """Draws of the noise of the rows (the first column) and of the sums."""
        draws = self.mechanism.noise.sample((DRAWS, self.series.size + 1), bits=SeededBits("flou.central.density"))
        noise: Floats = draws / UNIT
        noise[:, 0] *= self.rows_noisy
        return noise

    @cached_property
    def _sampling(self) -> Floats:
        """The standard deviations of the sums over samples, at each point, if the density is as released."""
        t = (np.arange(256) + 0.5) / 256
        cosine = np.cos(np.pi * np.multiply.outer(np.arange(1, self.series.size + 1), t))
        density = np.maximum(1 + 2 * self.series / max(self.rows, 1.0) @ cosine, 0.05)
        kernel = 1 + self._basis @ cosine  # (points, t)
        mass = density / density.sum()
        spread = kernel**2 @ mass - (kernel @ mass) ** 2
        found: Floats = np.sqrt(max(self.rows, 1.0) * np.maximum(spread, 0.0))
        return found

    def _interval(self, level: float, sampling: bool) -> Ends:
        most, alpha = 1.0 + 2 * self.series.size, 1 - level
        careful = 1 - alpha + 2 * np.sqrt(alpha * (1 - alpha) / DRAWS)  # two standard errors of the draws
        linear = self._noise[:, 1:] @ self._basis.T  # (draws, points)
        if sampling:
            from scipy.special import ndtri

            order = np.argsort(SeededBits("flou.central.density.normal").words(DRAWS), kind="stable")
            linear = linear + np.multiply.outer(ndtri((order + 0.5) / DRAWS), self._sampling)
        anything = np.zeros(self.points), np.full(self.points, most / self.width)
        if careful >= 1:  # rarer than the draws can tell
            return anything
        lost = float(np.quantile(np.abs(self._noise[:, 0]), careful))
        if self.rows < max(4 * lost, 1.0):  # too few rows next to the noise in their number
            return anything
        ends: list[Floats] = []
        for sign in (-1.0, 1.0):
            y = self.centre
            for _ in range(4):  # the noise in rows times (1 - y) is part of it: a contraction by 1/4 or less
                reach = np.quantile(np.abs(linear + np.multiply.outer(self._noise[:, 0], 1 - y)), careful, axis=0)
                y = np.clip(self.centre + sign * reach / self.rows, -most, most)
            ends.append(np.maximum(y, 0.0) / self.width)
        return ends[0], ends[1]

    @cached_property
    def _known(self) -> dict[tuple[float, bool], Ends]:
        return {}

    def _once(self, level: float, sampling: bool) -> Ends:
        if (level, sampling) not in self._known:
            self._known[level, sampling] = self._interval(level, sampling)
        return self._known[level, sampling]

    def data(self, level: float) -> Ends:
        return self._once(level, False)

    def population(self, level: float) -> Ends:
        return self._once(level, True)

    @property
    def grid(self) -> float:
        """The series changes by at most 2 sum_j j pi / (2 cells) when every row moves by half a cell."""
        j = np.arange(1, self.series.size + 1)
        return float(np.sum(j) * np.pi / CELLS / self.width)
