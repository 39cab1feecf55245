"""Selection by noise: mechanisms that choose the outcome whose noisy utility is the largest."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from flou.guarantee import PureDP
from flou.mechanisms.mechanism import Mechanism
from flou.parameters import Number, Relation, choice, number

__all__ = ["SelectionMechanism"]


@dataclass(frozen=True, repr=False)
class SelectionMechanism(Mechanism):
    """The parameters that these mechanisms share."""

    sensitivity: Fraction
    epsilon: Fraction
    utility: Literal["any", "monotone"]
    guarantee: PureDP

    def __init__(
        self,
        *,
        sensitivity: Number,
        epsilon: Number,
        utility: Literal["any", "monotone"] = "any",
        relation: Relation = "add-remove",
        unit: str = "row",
    ) -> None:
        object.__setattr__(self, "sensitivity", number("sensitivity", sensitivity))
        object.__setattr__(self, "epsilon", number("epsilon", epsilon))
        object.__setattr__(self, "utility", choice("utility", utility, ("any", "monotone")))
        object.__setattr__(self, "guarantee", PureDP(epsilon, relation=relation, unit=unit))
        self.__post_init__()

    def __post_init__(self) -> None:
        """Further checks of a mechanism."""

    @property
    def rate(self) -> Fraction:
        """t, one over the scale of the noise on each utility."""
        return self.epsilon / (self.sensitivity if self.utility == "monotone" else 2 * self.sensitivity)
