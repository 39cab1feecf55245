"""Questions that Laplace or Gaussian noise answers: the price fixes the noise, and the noise fixes the cost."""

from __future__ import annotations

from abc import abstractmethod

from flou.central.price import Noise, Price
from flou.central.question import Context, Question
from flou.guarantee import Guarantee
from flou.parameters import Number

__all__ = ["PricedQuestion"]


class PricedQuestion(Question):
    """A question with a price: an epsilon, or a ``Price``."""

    price: Price | Number

    @abstractmethod
    def mechanism(self, context: Context) -> Noise:
        """The noise on a coordinate of the answer; a scale that cannot be drawn is refused here."""

    def cost(self, context: Context) -> Guarantee:
        return self.mechanism(context).guarantee

    @property
    def _price(self) -> Price:
        return Price.read(self.price)
