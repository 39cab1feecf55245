"""Gaussian mechanism: add integer Gaussian noise to integers.

Law        analytic and classic: each coordinate of the release is the nearest integer to N(answer_i, sigma^2);
           zcdp: P[release = y] proportional to exp(-|y - answer|^2 / (2 sigma^2)) on the integers
Guarantee  for neighbours whose answers differ by at most ``sensitivity`` in L2 norm: (epsilon, delta)-DP (analytic,
           classic) or rho-zCDP with rho = sensitivity^2 / (2 sigma^2) (zcdp)
Why        rounding an integer plus Gaussian noise is post-processing of the continuous mechanism, whose trade-off of
           epsilon and delta is known exactly, for vectors too; the discrete Gaussian is zCDP by itself
Error      for each coordinate P[|release - answer| > t] = 2 Phi(-(t + 1/2) / sigma) (rounded); the discrete one is
           subgaussian with the same sigma, and its variance is at most sigma^2
Numerics   exact draws for the stated sigma, which is rounded up by 1e-9 (analytic, classic); sigma^2 is exact (zcdp)
Limits     delta > 0 always: no Gaussian noise is pure epsilon-DP; the classic rule is proved for epsilon < 1 only
Source     Dwork and Roth (2014); Balle and Wang (2018); Canonne, Kamath, Steinke (2020); document 000 (2, 3.2)
Proof      docs/explanation/proofs/gaussian.md
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

from flou.errors import InvalidParameter
from flou.guarantee import ZCDP, ApproxDP, Guarantee
from flou.laws import DiscreteGaussian, Law, RoundedGaussian
from flou.mechanisms.additive import Additive
from flou.parameters import Number, Relation, choice, number, shown
from flou.theory.gaussian_trade_off import analytic_sigma, classic_sigma

__all__ = ["Gaussian"]

Calibration: TypeAlias = Literal["analytic", "classic", "zcdp"]


@dataclass(frozen=True, repr=False)
class Gaussian(Additive):
    """Integer Gaussian noise: give ``epsilon`` and ``delta``, or ``rho``."""

    sensitivity: Fraction
    calibration: Calibration
    guarantee: Guarantee
    noise: Law

    def __init__(
        self,
        *,
        sensitivity: Number,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        calibration: Calibration | None = None,
        relation: Relation = "add-remove",
        unit: str = "row",
    ) -> None:
        width = number("sensitivity", sensitivity)
        if (rho is None) == (epsilon is None) or (epsilon is None) != (delta is None):
            raise InvalidParameter(
                "Gaussian takes either epsilon and delta, or rho.",
                "These are the two ways to state the privacy loss, and each determines the other.",
                "Pass for example epsilon=1, delta=1e-6, or rho=0.1.",
            )
        chosen = choice("calibration", calibration or ("analytic" if rho is None else "zcdp"), CALIBRATIONS)
        guarantee: Guarantee
        noise: Law
        if chosen == "zcdp":
            zcdp = (
                ZCDP(rho, relation=relation, unit=unit)
                if rho is not None
                else _affordable(epsilon, delta, relation, unit)
            )
            guarantee, noise = zcdp, DiscreteGaussian(sigma_squared=width**2 / (2 * zcdp.exact_rho))
        else:
            if epsilon is None or delta is None:
                raise InvalidParameter(
                    f"calibration={chosen!r} takes epsilon and delta, got rho.",
                    "It aims at an (epsilon, delta) guarantee.",
                    "Pass epsilon and delta, or leave calibration out.",
                )
            guarantee = ApproxDP(epsilon, delta, relation=relation, unit=unit)
            if chosen == "classic" and guarantee.exact_epsilon >= 1:
                raise InvalidParameter(
                    f"calibration='classic' needs epsilon below 1, got {shown(epsilon)}.",
                    "The classic rule is proved only below 1, and from there on the noise may be too small.",
                    "Use calibration='analytic', which is exact for every epsilon.",
                )
            sigma = analytic_sigma if chosen == "analytic" else classic_sigma
            noise = RoundedGaussian(width * sigma(guarantee.exact_epsilon, guarantee.exact_delta))
        object.__setattr__(self, "sensitivity", width)
        object.__setattr__(self, "calibration", chosen)
        object.__setattr__(self, "guarantee", guarantee)
        object.__setattr__(self, "noise", noise)

    def __repr__(self) -> str:
        return f"Gaussian({self.guarantee}, sensitivity={float(self.sensitivity):.6g}, noise={self.noise})"


CALIBRATIONS = ("analytic", "classic", "zcdp")


def _affordable(epsilon: Number | None, delta: Number | None, relation: Relation, unit: str) -> ZCDP:
    """The zCDP guarantee that converts into (epsilon, delta)."""
    target = ApproxDP(epsilon, delta, relation=relation, unit=unit)  # type: ignore[arg-type]
    return ZCDP.for_approx(target.exact_epsilon, target.exact_delta, relation=relation, unit=unit)
