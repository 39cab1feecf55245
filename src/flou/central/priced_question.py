"""Questions that Laplace or Gaussian noise answers: the price fixes the noise, and the noise fixes the cost."""

from __future__ import annotations

from abc import abstractmethod

from flou.central.price import Noise, Price
from flou.central.public_facts import PublicFacts
from flou.central.question import Question
from flou.guarantee import Guarantee
from flou.parameters import Number

__all__ = ["PricedQuestion"]


class PricedQuestion(Question):
    """A question with a price: an epsilon, or a ``Price``."""

    price: Price | Number

    @abstractmethod
    def mechanism(self, facts: PublicFacts) -> Noise:
        """The noise on a coordinate of the answer; a scale that cannot be drawn is refused here."""

    def cost(self, facts: PublicFacts) -> Guarantee:
        return self.mechanism(facts).guarantee

    @property
    def _price(self) -> Price:
        return Price.read(self.price)
