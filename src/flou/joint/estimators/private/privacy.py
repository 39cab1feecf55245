"""What a private statistic costs, as terms of a plan, and the noise that each party adds for it.

Terms      ``epsilon`` alone (pure), ``epsilon`` with ``delta``, or ``rho`` (zCDP); ``honest``, how many of the parties
           in a sum are taken to add their share and keep it to themselves; ``relation``, which tables are neighbours
Noise      auto: Pólya shares for a pure epsilon, and with a delta where they are narrower, as for counts, which makes
           the guarantee pure. Otherwise discrete Gaussian shares, or Skellam ones where these are narrower, which is so
           where many parties share little noise. Nothing in the choice depends on rows
Guarantee  of the shares that are really asked for, computed from the honest ones alone: never more than the terms ask
           for, and at times a little less. (epsilon, delta) becomes the largest rho whose conversion is not above it
Unit       a row: whoever has several rows has several times the cost (``to_unit`` of the guarantee)
Proof      docs/explanation/proofs/joint-noise.md
"""

from __future__ import annotations

import math
import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, TypeVar

from flou.errors import InvalidParameter
from flou.guarantee import ZCDP, Guarantee, PureDP
from flou.joint.estimators.program import Program
from flou.joint.masking.noise import MOST_PARTIES, NoiseShare, gaussian_share, polya_share, skellam_share
from flou.parameters import RELATIONS, Number, Relation, choice, exact, integer, number

__all__ = ["TERMS", "PrivacyTerms", "PrivateProgram", "WordSensitivity"]

TERMS = ("honest", "epsilon", "delta", "rho", "noise", "relation")  # how a plan names them
NOISE = ("auto", "discrete-gaussian", "skellam", "polya")
NARROWER = Fraction(99, 100)

_FRACTION = re.compile(r"[1-9][0-9]{0,60}/[1-9][0-9]{0,60}", re.ASCII)


@dataclass(frozen=True)
class WordSensitivity:
    """How far one row can move all words of a question together."""

    l1: int
    l2_squared: int
    words: int


class Coded(Protocol):
    """Words on a grid, which know how far one row can move them."""

    def sensitivity(self, relation: Relation) -> WordSensitivity: ...


C = TypeVar("C", bound=Coded)


@dataclass(frozen=True)
class PrivacyTerms:
    """What a plan says about privacy."""

    honest: int
    epsilon: Fraction | None = None
    delta: Fraction | None = None
    rho: Fraction | None = None
    noise: str = "auto"
    relation: Relation = "add-remove"

    @classmethod
    def of(
        cls,
        *,
        honest: int,
        epsilon: Number | str | None = None,
        delta: Number | str | None = None,
        rho: Number | str | None = None,
        noise: str = "auto",
        relation: Relation = "add-remove",
    ) -> PrivacyTerms:
        """Check the terms; a number may also be a text such as "1/3"."""
        integer("honest", honest, 1, MOST_PARTIES)
        choice("noise", noise, NOISE)
        choice("relation", relation, RELATIONS)
        named = {"epsilon": epsilon, "delta": delta, "rho": rho}
        given = {name: number(name, _read(value)) for name, value in named.items() if value is not None}
        if set(given) not in ({"epsilon"}, {"epsilon", "delta"}, {"rho"}):
            raise InvalidParameter(
                "The cost must be an epsilon, an epsilon with a delta, or a rho.",
                "Each defines a different guarantee, and a statistic needs exactly one.",
                "Pass for example epsilon=1, delta=1e-6.",
            )
        pure = set(given) == {"epsilon"}
        if noise != "auto" and pure != (noise == "polya"):
            raise InvalidParameter(
                f"noise={noise!r} does not fit the cost.",
                "Pólya noise needs an epsilon alone; Gaussian and Skellam noise need a delta or a rho.",
                "Leave noise out, or pass delta or rho with noise='skellam', or epsilon alone with noise='polya'.",
            )
        return cls(honest=honest, noise=noise, relation=relation, **given)

    @property
    def pure(self) -> bool:
        """Whether the guarantee is a pure epsilon."""
        return self.rho is None and self.delta is None

    def share(self, sensitivity: WordSensitivity, part: Fraction | None = None) -> NoiseShare:
        """What a party adds to each word of a question that may spend all of the cost, or a part of it.

        Parts are for questions whose words were weighted for one kind of noise: it is the kind that they get.
        """
        if self.pure:
            return self._polya(sensitivity, Fraction(1) if part is None else part)
        share = self._normal(sensitivity, Fraction(1) if part is None else part)
        if part is not None or self.noise != "auto" or self.epsilon is None:
            return share
        narrow = 2 * (sensitivity.l1 / self.epsilon) ** 2 < share.parameter  # a bound on the variance of Laplace noise
        return self._polya(sensitivity, Fraction(1)) if narrow else share

    def _polya(self, sensitivity: WordSensitivity, part: Fraction) -> NoiseShare:
        assert self.epsilon is not None
        return polya_share(epsilon=self.epsilon * part, sensitivity=sensitivity.l1, honest=self.honest)

    def _normal(self, sensitivity: WordSensitivity, part: Fraction) -> NoiseShare:
        terms: dict[str, Any] = {
            "rho": _rounded_down(self._rho * part),
            "sensitivity_squared": sensitivity.l2_squared,
            "honest": self.honest,
        }
        if self.noise == "skellam":
            return skellam_share(**terms)
        gaussian = gaussian_share(**terms, dimension=sensitivity.words)
        least = sensitivity.l2_squared / (2 * terms["rho"])  # no Gaussian or Skellam noise is narrower
        if self.noise == "discrete-gaussian" or least >= NARROWER * gaussian.parameter:
            return gaussian
        skellam = skellam_share(**terms)
        return skellam if skellam.parameter < NARROWER * gaussian.parameter else gaussian

    def finest(
        self, coded: Callable[[int], C], grids: Iterable[int], part: Fraction | None = None
    ) -> tuple[C, NoiseShare]:
        """Words on the first of some grids, the finest first, on which their noise has a law; and the noise."""
        for grid in grids:
            words = coded(grid)
            try:
                return words, self.share(words.sensitivity(self.relation), part)
            except InvalidParameter as error:
                problem = error
        raise problem

    @property
    def _rho(self) -> Fraction:
        if self.rho is not None:
            return self.rho
        assert self.epsilon is not None
        assert self.delta is not None
        return ZCDP.for_approx(self.epsilon, self.delta).exact_rho

    def cost(self, share: NoiseShare, sensitivity: WordSensitivity) -> Guarantee:
        """What the honest shares of this noise guarantee for words of this sensitivity."""
        if share.kind == "polya":
            return PureDP(share.epsilon(sensitivity.l1), relation=self.relation)
        return ZCDP(share.rho(sensitivity.l2_squared, sensitivity.words), relation=self.relation)

    def to_dict(self) -> dict[str, Any]:
        """The terms as a plan writes them, each number exactly."""
        told: dict[str, Any] = {"honest": self.honest, "noise": self.noise, "relation": self.relation}
        numbers = {"epsilon": self.epsilon, "delta": self.delta, "rho": self.rho}
        return told | {name: _written(value) for name, value in numbers.items() if value is not None}

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> PrivacyTerms:
        """The terms among those of a plan, which someone else may have written."""
        return cls.of(**{name: told[name] for name in TERMS if told.get(name) is not None})


def _read(value: Any) -> Any:
    return Fraction(value) if isinstance(value, str) and _FRACTION.fullmatch(value) else value


def _written(value: Fraction) -> int | float | str:
    if value.denominator == 1:
        return int(value)
    return float(value) if exact(float(value)) == value else str(value)


def _rounded_down(value: Fraction) -> Fraction:
    """A fraction of usual length, not above the value and all but equal to it."""
    near = float(value)
    return Fraction(near if Fraction(near) <= value else math.nextafter(near, 0.0))


class PrivateProgram(Program):
    """A statistic of one round whose words are opened with noise."""

    proofs = ("masked-sums", "joint-noise")
    privacy: PrivacyTerms
    share: NoiseShare

    @property
    @abstractmethod
    def sensitivity(self) -> WordSensitivity:
        """How far one row moves its words."""

    @property
    def guarantee(self) -> Guarantee:
        return self.privacy.cost(self.share, self.sensitivity)
