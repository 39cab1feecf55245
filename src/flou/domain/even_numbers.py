"""Numbers at equal distances, each with its own code: whole numbers, yes and no, quarters of an hour."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from flou.domain.domain import Domain, Numbers
from flou.domain.interval import Interval
from flou.parameters import exact

__all__ = ["EvenNumbers", "Runs"]


class EvenNumbers(Numbers):
    """Code k stands for the lower bound plus k steps, and values in between count as the number below them."""

    @property
    def step(self) -> float:
        low, high = self.bounds
        return (high - low) / (self.size - 1)

    @property
    def granularity(self) -> float:
        return self.step

    @property
    def grain(self) -> Fraction:
        low, high = map(exact, self.bounds)
        return (high - low) / (self.size - 1)

    @property
    def origin(self) -> float:
        return self.bounds[0] - self.step / 2

    @property
    def interval(self) -> Interval:
        (low, high), half = self.bounds, self.step / 2
        return Interval(low - half, high + half, missing=float(self.decode(self.missing_code)))

    def possible(self, most: int) -> EvenNumbers | None:
        return self if self.size <= most else None

    def binned(self, column: str, bins: int) -> Domain:  # noqa: ARG002  every column has them
        return Runs.of(self, bins)


class Runs(Interval):
    """Numbers in runs of equal length: cells of an interval whose edges lie at these numbers."""

    members: EvenNumbers
    length: int

    @classmethod
    def of(cls, domain: EvenNumbers, bins: int) -> Runs:
        length = -(-domain.size // bins)
        count, low, step = -(-domain.size // length), domain.bounds[0], domain.step
        missing = float(domain.decode(domain.missing_code))
        runs = cls(low, low + step * length * count, step=step * length, missing=missing)
        object.__setattr__(runs, "members", domain)
        object.__setattr__(runs, "length", length)
        return runs

    def named(self, codes: object) -> tuple[str, ...]:
        firsts = np.asarray(codes) * self.length
        lasts = np.minimum(firsts + self.length - 1, self.members.size - 1)
        pairs = zip(self.members.named(firsts), self.members.named(lasts), strict=True)
        return tuple(first if first == last else f"{first} to {last}" for first, last in pairs)
