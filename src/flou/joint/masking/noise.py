"""Noise in shares: each party adds a part, and the parts of the honest ones make the claimed law.

Kinds    discrete-gaussian   parameter sigma^2 of all honest noise; a share is a discrete Gaussian of sigma^2 / honest
         skellam             parameter the variance of all honest noise; a share is Skellam of variance / honest
         polya               parameter the scale; honest shares add up to the discrete Laplace law of that scale
Why      at least ``honest`` parties that add their share are taken for granted; what the others add, or tell, does not
         matter: their shares are independent of these, and taking off a known one changes nothing
Price    polya: epsilon = sensitivity / scale, pure. discrete-gaussian and skellam: rho, see noise_privacy.py
Reach    a share exceeds it with a probability below 2^-128. The words have room for it; nothing is redrawn or cut,
         which would change the law. A larger share wraps, and the opened sum modulo 2^W is as private as before.
Source   Goryczka and Xiong (2017); Kairouz, Liu and Steinke (2021); Agarwal, Kairouz and Liu (2021)
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from flou.errors import InvalidParameter, ProtocolError
from flou.joint.masking.noise_privacy import LEAST_SKELLAM, least_of_gaussians, rho_of_gaussians, rho_of_skellam
from flou.laws import DiscreteGaussian, DiscreteLaplace, Law, PolyaShare, Skellam
from flou.parameters import Number, choice, exact, integer, is_number, number, open_probability, shown

__all__ = ["KINDS", "NoiseShare", "gaussian_share", "polya_share", "skellam_share"]

KINDS = ("discrete-gaussian", "skellam", "polya")
MOST_PARTIES = 10**6
RARE = 129 * math.log(2)  # a two-sided tail of 2 e^-RARE is below 2^-128
MOST_DIMENSIONS = 2**40
MOST_TERMS = 2**20
TAIL = 1e-18  # of a law, left out of sums
LONG = 10**100  # neither side of the fraction has more digits than this

_RATIONAL = re.compile(r"[1-9][0-9]{0,99}(/[1-9][0-9]{0,99})?")


@dataclass(frozen=True)
class NoiseShare:
    """What one party adds to each of its words."""

    kind: str
    parameter: Fraction
    honest: int  # shares that make the claimed law

    def __post_init__(self) -> None:
        choice("kind", self.kind, KINDS)
        integer("honest", self.honest, 1, MOST_PARTIES)
        if (
            not is_number(self.parameter)
            or self.parameter <= 0
            or max(exact(self.parameter).as_integer_ratio()) >= LONG
        ):
            raise InvalidParameter(
                f"The parameter of noise must be a positive fraction of usual length, got {shown(self.parameter)}.",
                "It is the width of the noise, or the square of it.",
                "Make the share from its guarantee, for example polya_share(epsilon=1, ...).",
            )
        object.__setattr__(self, "parameter", exact(self.parameter))
        _ = self.law  # which refuses what is out of its range

    @property
    def law(self) -> Law:
        """The law of one share."""
        if self.kind == "discrete-gaussian":
            return DiscreteGaussian(sigma_squared=self.parameter / self.honest)
        if self.kind == "skellam":
            return Skellam(self.parameter / self.honest)
        return PolyaShare(self.parameter, self.honest) if self.honest > 1 else DiscreteLaplace(self.parameter)

    def total(self, parties: int) -> float:
        """The variance of the sum of this many shares."""
        return integer("parties", parties, 0, MOST_PARTIES) * self.law.variance

    def total_reach(self, parties: int, level: Number = 0.95) -> int:
        """The least t with P(|noise| <= t) >= level, for the sum of the shares of all parties, honest or not.

        Skellam shares add up to a Skellam law. Discrete Gaussian ones add up to a discrete Gaussian law, to within the
        variation that ``noise_privacy.py`` bounds; shares of a variance above 1 have none. m Pólya shares of h make
        X - Y with X and Y negative binomial of size m/h; for m = h the discrete Laplace law. Its probabilities are
        added up; where there are more than 2^20 of them they are those of a smaller scale, stretched.
        """
        outside = (1 - float(open_probability("level", level))) / 2
        whole = self.parameter * parties / self.honest
        if self.kind == "discrete-gaussian":
            return -DiscreteGaussian(sigma_squared=whole).interval(float(level))[0]
        if self.kind == "skellam":
            return -Skellam(whole).interval(float(level))[0]
        scale, size = float(self.parameter), parties / self.honest
        stretch = max(_terms(scale, size) / MOST_TERMS, 1.0)
        return math.ceil(_polya_reach(scale / stretch, size, outside) * stretch)

    @property
    def reach(self) -> int:
        """A size that one share exceeds with a probability below 2^-128."""
        if self.kind == "polya":  # each side is part of a geometric variable: P(|K| >= x) <= 2 e^(-x / scale)
            tail = float(self.parameter) * RARE
        elif self.kind == "skellam":  # Bernstein: P(|K| >= x) <= 2 e^(-x^2 / (2v + 2x/3))
            v = float(self.parameter / self.honest)
            tail = RARE / 3 + math.sqrt(RARE**2 / 9 + 2 * v * RARE)
        else:  # P(|K| >= x) <= 2 e^(-x^2 / (2 sigma^2))
            tail = math.sqrt(2 * RARE * float(self.parameter / self.honest))
        return math.ceil(tail * (1 + 1e-9)) + 1

    def rho(self, sensitivity_squared: Number, dimension: int) -> Fraction:
        """The rho of zCDP when one person moves the words by at most this much (L2, squared)."""
        square, d = _squared(sensitivity_squared), integer("dimension", dimension, 1, MOST_DIMENSIONS)
        if self.kind == "polya":
            raise InvalidParameter(
                "Pólya shares guarantee an epsilon, not a rho.",
                "Their sums are Laplace noise, whose guarantee is pure.",
                "Ask for epsilon(sensitivity), or take Gaussian or Skellam shares.",
            )
        if self.kind == "skellam":
            return rho_of_skellam(self.parameter, square)
        return rho_of_gaussians(self.parameter, self.honest, square, d)

    def epsilon(self, sensitivity: Number) -> Fraction:
        """The epsilon of pure differential privacy, for words that move by at most this much in all (L1)."""
        if self.kind != "polya":
            raise InvalidParameter(
                f"Shares of kind {self.kind!r} guarantee a rho, not an epsilon.",
                "The loss of Gaussian noise has no bound.",
                "Ask for rho(sensitivity_squared, dimension), or take Pólya shares.",
            )
        return number("sensitivity", sensitivity) / self.parameter

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "parameter": str(self.parameter), "honest": self.honest}

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> NoiseShare:
        """The share that another party describes: one form only, and everything in range."""
        form = isinstance(told, Mapping) and set(told) == {"kind", "parameter", "honest"}
        text = told["parameter"] if form else None
        if not isinstance(text, str) or not _RATIONAL.fullmatch(text) or type(told["honest"]) is not int:
            raise _malformed()
        share = cls(told["kind"], Fraction(text), told["honest"])
        if share.to_dict() != dict(told):  # 2/4 is 1/2
            raise _malformed()
        return share


def _malformed() -> ProtocolError:
    return ProtocolError(
        "The noise of a question is malformed.",
        "It is a kind, a positive fraction in lowest terms as text, and a number of honest parties.",
        "Send it as to_dict writes it.",
    )


def _squared(value: Number) -> Fraction:
    if not is_number(value) or value <= 0 or value > 2**200:
        raise InvalidParameter(
            f"sensitivity_squared must be a positive number, got {shown(value)}.",
            "It is the square of how far one person can move the words.",
            "Pass for example sensitivity_squared=1.",
        )
    return exact(value)


def gaussian_share(
    *, rho: Number, sensitivity_squared: Number, honest: int, dimension: int = MOST_DIMENSIONS
) -> NoiseShare:
    """Discrete Gaussian shares with at most this rho; for many shares of little noise Skellam ones are narrower."""
    least = least_of_gaussians(integer("honest", honest, 1, MOST_PARTIES))
    return _least_share(
        "discrete-gaussian", least, number("rho", rho), _squared(sensitivity_squared), honest, dimension
    )


def skellam_share(*, rho: Number, sensitivity_squared: Number, honest: int) -> NoiseShare:
    """Skellam shares with at most this rho."""
    return _least_share("skellam", LEAST_SKELLAM, number("rho", rho), _squared(sensitivity_squared), honest, 1)


def _least_share(
    kind: str, least: Fraction, rho: Fraction, square: Fraction, honest: int, dimension: int
) -> NoiseShare:
    """The share of the least variance, in steps of 2^-36, that guarantees rho."""
    start = max(least, square / (2 * rho))

    def share(steps: int) -> NoiseShare:
        return NoiseShare(kind, start * (1 + Fraction(steps, 2**36)), honest)

    def enough(steps: int) -> bool:
        return share(steps).rho(square, dimension) <= rho

    low, high = -1, 0
    while not enough(high):
        low, high = high, 2 * high + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return share(high)


def polya_share(*, epsilon: Number, sensitivity: Number, honest: int) -> NoiseShare:
    """Pólya shares with this epsilon."""
    return NoiseShare("polya", number("sensitivity", sensitivity) / number("epsilon", epsilon), honest)


def _terms(scale: float, size: float) -> int:
    """P(X >= k) <= 2^size e^(-k / (2 scale)), which is below the tail from here on (Chernoff, at half the rate)."""
    return math.ceil(2 * scale * (size + math.log(1 / TAIL))) + 2


def _polya_reach(scale: float, size: float, outside: float) -> int:
    """The least t with P(X - Y > t) <= outside, X and Y negative binomial of this size."""
    from scipy.special import gammaln

    length = _terms(scale, size)
    k = np.arange(length)
    log = gammaln(k + size) - gammaln(k + 1) - gammaln(size) - k / scale
    p = np.exp(log + size * math.log(-math.expm1(-1 / scale)))
    above = np.append(np.cumsum(p[:0:-1])[::-1], 0.0)  # P(X > k)
    low, high = -1, length - 1
    while high - low > 1:
        middle = (low + high) // 2
        reached = float(p[: length - middle] @ above[middle:]) <= outside
        low, high = (low, middle) if reached else (middle, high)
    return high
