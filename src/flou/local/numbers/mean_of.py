"""The choice of a randomiser for a mean: the one with the least variance at the worst answer."""

from __future__ import annotations

from flou.local.numbers.designed import LARGEST, SMALLEST, Designed
from flou.local.numbers.duchi import Duchi
from flou.local.numbers.hybrid import Hybrid
from flou.local.numbers.mean_randomiser import MeanRandomiser
from flou.local.numbers.number_randomiser import Scale
from flou.local.numbers.piecewise import Piecewise
from flou.parameters import Number, choice, number

__all__ = ["mean_of"]

METHODS: dict[str, type[MeanRandomiser]] = {
    "duchi": Duchi,
    "piecewise": Piecewise,
    "hybrid": Hybrid,
    "designed": Designed,
}


def mean_of(domain: Scale, *, epsilon: Number, method: str = "auto", unit: str = "person") -> MeanRandomiser:
    """The randomiser of this name, or with ``"auto"`` the one whose variance at the worst answer is least.

    ``domain``: an interval, integers, or a pair of public bounds.
    """
    choice("method", method, ("auto", *METHODS))
    if method != "auto":
        return METHODS[method](domain, epsilon=epsilon, unit=unit)
    designs = SMALLEST <= number("epsilon", epsilon) <= LARGEST
    kinds = [kind for kind in METHODS.values() if designs or kind is not Designed]
    return min((kind(domain, epsilon=epsilon, unit=unit) for kind in kinds), key=lambda made: made.variance())
