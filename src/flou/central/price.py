"""What a call may cost, in total, and which noise that buys.

``epsilon``         discrete Laplace noise: pure differential privacy
``epsilon, delta``  Laplace or (rounded) Gaussian noise, whichever has the smaller standard deviation. The choice looks
                    at the two sensitivities only, which are public. Where Laplace wins the cost is the pure epsilon:
                    delta is not spent
``rho``             discrete Gaussian noise: zero-concentrated differential privacy. At equal rho its variance is at
                    most half of Laplace's, so it is the price for many questions under one zCDP budget

How much noise that is depends on the sensitivity: how far one unit can move a vector of integers, in L1 norm for
Laplace noise, in L2 norm for Gaussian noise.

The lemma behind most statistics: let every row add a vector whose L1 norm is at most B and whose entries lie in an
interval of length B that contains 0 (entries of at least 0 that add up to at most B do). Then a unit of up to r rows
moves the sum

    by at most r B in L1 and in L2 norm, if the unit is added or removed;
    by at most 2 r B in L1 and sqrt(2) r B in L2 norm, if its rows are replaced by up to r others.

For the last bound, each entry moves by at most r B, and |x|_2^2 <= |x|_1 |x|_largest. Two rows at two corners of the
simplex attain all of them. Proof: docs/explanation/proofs/sensitivity.md
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

from flou.central.question import PublicFacts, Question
from flou.errors import InvalidParameter
from flou.laws import DiscreteGaussian, DiscreteLaplace
from flou.mechanisms import Gaussian, Laplace
from flou.parameters import Number, exact, number
from flou.theory.gaussian_trade_off import analytic_sigma

__all__ = [
    "EpsilonQuestion",
    "Given",
    "Noise",
    "Price",
    "PricedNoise",
    "PricedQuestion",
    "Sensitivity",
    "root",
    "width_of",
]

Given: TypeAlias = Number | None
Noise: TypeAlias = Laplace | Gaussian


@dataclass(frozen=True)
class Sensitivity:
    """Bounds for both norms; the second is kept as a square, so that it stays exact."""

    l1: Fraction | int
    l2_squared: Fraction | int

    @classmethod
    def of_rows(cls, norm: int, facts: PublicFacts) -> Sensitivity:
        """By the lemma, for rows of L1 norm at most ``norm``."""
        rows = facts.rows_per_unit
        corners = 2 if facts.schema.relation == "substitute" else 1
        return cls(corners * rows * norm, corners * (rows * norm) ** 2)

    @property
    def l2(self) -> Fraction:
        """The L2 norm, rounded up where it is no fraction."""
        return root(Fraction(self.l2_squared))

    def times(self, factor: int) -> Sensitivity:
        """Of the same vector in finer units."""
        return Sensitivity(factor * self.l1, factor**2 * self.l2_squared)


def root(square: Fraction) -> Fraction:
    """The square root: exact where it is a fraction, and otherwise too large by less than 2^-63 of it."""
    top, bottom = math.isqrt(square.numerator), math.isqrt(square.denominator)
    if top * top == square.numerator and bottom * bottom == square.denominator:
        return Fraction(top, bottom)
    shift = max(0, 66 - (square.numerator.bit_length() - square.denominator.bit_length()) // 2)
    return Fraction(math.isqrt((square.numerator << 2 * shift) // square.denominator) + 1, 1 << shift)


@dataclass(frozen=True)
class Price:
    """An epsilon, an epsilon with a delta, or a rho: the total of a call."""

    epsilon: Fraction | None = None
    delta: Fraction | None = None
    rho: Fraction | None = None

    def __post_init__(self) -> None:
        if (self.epsilon is None) == (self.rho is None) or (self.epsilon is None and self.delta is not None):
            raise InvalidParameter(
                "Give either epsilon or rho; delta can be given together with epsilon.",
                "Each of them states the total cost of the call, and the cost decides how much noise is added.",
                "Pass epsilon=0.5, or epsilon=0.5 and delta=1e-6, or rho=0.1.",
            )

    @classmethod
    def of(cls, epsilon: Given = None, delta: Given = None, rho: Given = None) -> Price:
        """The price of a call, checked."""
        given = {"epsilon": epsilon, "delta": delta, "rho": rho}
        return cls(**{name: number(name, value) for name, value in given.items() if value is not None})

    @classmethod
    def read(cls, price: Price | Number) -> Price:
        """A price as it is, a bare number as an epsilon."""
        return price if isinstance(price, Price) else cls.of(price)

    @property
    def per_unit(self) -> Fraction:
        """The standard deviation of Gaussian noise for an L2 sensitivity of 1."""
        if self.rho is not None:
            return root(1 / (2 * self.rho))
        assert self.epsilon is not None
        assert self.delta is not None
        return analytic_sigma(self.epsilon, self.delta)

    def _ratio_squared(self, sensitivity: Sensitivity) -> Fraction:
        """The variance of Gaussian noise over that of Laplace noise, at this epsilon and delta."""
        assert self.epsilon is not None
        return sensitivity.l2_squared * (self.per_unit * self.epsilon) ** 2 / (2 * Fraction(sensitivity.l1) ** 2)

    def is_gaussian(self, sensitivity: Sensitivity) -> bool:
        """Whether the noise is Gaussian rather than Laplace."""
        if self.rho is not None:
            return True
        return self.delta is not None and self._ratio_squared(sensitivity) < 1

    def width(self, sensitivity: Sensitivity) -> Fraction:
        """The scale of the Laplace noise, or the sigma of the Gaussian."""
        if self.is_gaussian(sensitivity):
            return sensitivity.l2 * self.per_unit
        assert self.epsilon is not None
        return sensitivity.l1 / self.epsilon

    def noise(self, sensitivity: Sensitivity, facts: PublicFacts) -> PricedNoise:
        """The noise that this price buys for a vector of integers."""
        return PricedNoise(self, sensitivity, facts)

    def why(self, sensitivity: Sensitivity) -> str:
        """Why the noise is what it is, for a certificate."""
        if self.rho is not None:
            return "Gaussian: at equal rho its variance is at most half of that of Laplace noise"
        if self.delta is None:
            return "Laplace: without a delta the guarantee is pure"
        ratio = math.sqrt(self._ratio_squared(sensitivity))
        if ratio < 1:
            return f"Gaussian: its standard deviation is {ratio:.3g} of that of Laplace noise"
        return f"Laplace: Gaussian noise is {ratio:.3g} times as wide here, so that delta is not spent"


@dataclass(frozen=True)
class PricedNoise:
    """The noise on every coordinate of a vector of integers: which law, what it costs, and why it was chosen."""

    price: Price
    sensitivity: Sensitivity
    facts: PublicFacts

    @cached_property
    def mechanism(self) -> Noise:
        """Its guarantee is the cost; a scale that cannot be drawn is refused here."""
        price = self.price
        options: dict[str, Any] = {"relation": self.facts.schema.relation, "unit": self.facts.unit}
        if not price.is_gaussian(self.sensitivity):
            assert price.epsilon is not None
            return Laplace(sensitivity=exact(self.sensitivity.l1), epsilon=price.epsilon, **options)
        given: dict[str, Any] = (
            {"rho": price.rho} if price.rho is not None else {"epsilon": price.epsilon, "delta": price.delta}
        )
        return Gaussian(sensitivity=self.sensitivity.l2, **given, **options)

    def described(self, *, grid: str, on: str = "") -> dict[str, Any]:
        """The mechanism block of a certificate."""
        mechanism = self.mechanism
        laplace = isinstance(mechanism, Laplace)
        law = "discrete" if isinstance(mechanism.noise, DiscreteGaussian | DiscreteLaplace) else "rounded"
        return {
            "name": f"{law} {'Laplace' if laplace else 'Gaussian'}{on}",
            "choice": self.price.why(self.sensitivity),
            "scale": width_of(mechanism.noise),
            "grid": grid,
            "sensitivity": float(mechanism.sensitivity),
            "norm": "L1" if laplace else "L2",
            "sampler": f"exact, by {'inversion' if laplace else 'rejection'} with refinement",
            "random_source": self.facts.random_source,
        }


class PricedQuestion(Question):
    """A question whose price is an epsilon, or a ``Price``: the price fixes the noise, and the noise fixes the cost."""

    price: Price | Number

    def __post_init__(self) -> None:
        object.__setattr__(self, "price", Price.read(self.price))

    def _noise(self, sensitivity: Sensitivity, facts: PublicFacts) -> PricedNoise:
        return Price.read(self.price).noise(sensitivity, facts)


class EpsilonQuestion(Question):
    """A question whose price is an epsilon, and perhaps a delta: fixed when it is made, whatever was passed."""

    epsilon: Number

    def __post_init__(self) -> None:
        for name in ("epsilon", "delta"):
            if hasattr(self, name):
                object.__setattr__(self, name, number(name, getattr(self, name)))


def width_of(noise: Any) -> float:
    """The scale of a Laplace law, the sigma of a Gaussian one."""
    return float(noise.scale if isinstance(noise, DiscreteLaplace) else noise.sigma)
