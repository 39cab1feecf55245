"""A question about a table: what it costs, what it asks of the engine, and how the answer is made private.

The three steps are separate on purpose. The cost is known before anything is read; the engine is asked for exact
integers only; and the answer draws its noise in one place, after which nothing touches the rows again. What it returns
is public, and leads neither to the rows nor to the curator.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from flou.central.curator import Curator
from flou.central.public_facts import PublicFacts
from flou.guarantee import Guarantee
from flou.release import Uncertainty
from flou.release.release import Value
from flou.summaries.request import Request

__all__ = ["Draft", "Question"]


@dataclass(frozen=True)
class Draft:
    """A private answer, before it gets its cost and certificate."""

    value: Value
    uncertainty: Uncertainty
    mechanism: dict[str, Any]
    labels: tuple[str, ...] | None = None
    note: str = ""
    postprocessing: tuple[str, ...] = field(default=())
    keys: dict[str, Any] = field(default_factory=dict)


class Question(ABC):
    """One statistic with its parameters."""

    statistic: str
    column: str | None

    @abstractmethod
    def cost(self, facts: PublicFacts) -> Guarantee:
        """What the answer will cost; also checks the parameters."""

    @abstractmethod
    def requests(self, facts: PublicFacts) -> tuple[Request, ...]:
        """What the engine is asked for."""

    @abstractmethod
    def answer(self, found: list[NDArray[Any]], facts: PublicFacts, curator: Curator) -> Draft:
        """The private answer, from the exact integers; the curator is asked and not kept."""
