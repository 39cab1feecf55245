"""What a call may cost, in total, and which noise that buys.

``epsilon``         discrete Laplace noise: pure differential privacy
``epsilon, delta``  Laplace or (rounded) Gaussian noise, whichever has the smaller standard deviation. The choice looks
                    at the two sensitivities only, which are public. Where Laplace wins the cost is the pure epsilon:
                    delta is not spent
``rho``             discrete Gaussian noise: zero-concentrated differential privacy. At equal rho its variance is at
                    most half of Laplace's, so it is the price for many questions under one zCDP budget
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from flou.central.public_facts import PublicFacts
from flou.central.sensitivity import Sensitivity, root
from flou.errors import InvalidParameter
from flou.laws import DiscreteGaussian, DiscreteLaplace
from flou.mechanisms import Gaussian, Laplace
from flou.parameters import Number, exact, number
from flou.theory.gaussian_trade_off import analytic_sigma

__all__ = ["Given", "Noise", "Price", "described", "width_of"]

Given: TypeAlias = Number | None
Noise: TypeAlias = Laplace | Gaussian


@dataclass(frozen=True)
class Price:
    """An epsilon, an epsilon with a delta, or a rho: the total of a call."""

    epsilon: Fraction | None = None
    delta: Fraction | None = None
    rho: Fraction | None = None

    @classmethod
    def of(cls, epsilon: Given = None, delta: Given = None, rho: Given = None) -> Price:
        """The price of a call, checked."""
        if (epsilon is None) == (rho is None) or (epsilon is None and delta is not None):
            raise InvalidParameter(
                "Exactly one of epsilon and rho must be given, and delta only beside epsilon.",
                "They are different ways of stating what the call costs in total, and one of them fixes the noise.",
                "Pass epsilon=0.5, or epsilon=0.5 and delta=1e-6, or rho=0.1.",
            )
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

    def mechanism(self, sensitivity: Sensitivity, facts: PublicFacts) -> Noise:
        """The noise for every coordinate of a vector of integers; its guarantee is the cost."""
        options: dict[str, Any] = {"relation": facts.schema.relation, "unit": facts.unit}
        if self.rho is not None:
            return Gaussian(sensitivity=sensitivity.l2, rho=self.rho, **options)
        assert self.epsilon is not None
        if self.is_gaussian(sensitivity):
            return Gaussian(sensitivity=sensitivity.l2, epsilon=self.epsilon, delta=self.delta, **options)
        return Laplace(sensitivity=exact(sensitivity.l1), epsilon=self.epsilon, **options)

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


def width_of(noise: Any) -> float:
    """The scale of a Laplace law, the sigma of a Gaussian one."""
    return float(noise.scale if isinstance(noise, DiscreteLaplace) else noise.sigma)


def described(price: Price, sensitivity: Sensitivity, facts: PublicFacts, *, on: str, grid: str) -> dict[str, Any]:
    """The mechanism block of a certificate."""
    mechanism = price.mechanism(sensitivity, facts)
    laplace = isinstance(mechanism, Laplace)
    law = "discrete" if isinstance(mechanism.noise, DiscreteGaussian | DiscreteLaplace) else "rounded"
    return {
        "name": f"{law} {'Laplace' if laplace else 'Gaussian'}{on}",
        "choice": price.why(sensitivity),
        "scale": width_of(mechanism.noise),
        "grid": grid,
        "sensitivity": float(mechanism.sensitivity),
        "norm": "L1" if laplace else "L2",
        "sampler": f"exact, by {'inversion' if laplace else 'rejection'} with refinement",
        "random_source": facts.random_source,
    }
