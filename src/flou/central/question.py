"""A question about a table: what it costs, what it asks of the engine, and how the answer is made private.

The three steps are separate on purpose. The cost is known before anything is read; the engine is asked for exact
integers only; and the answer draws its noise from the curator. A question that looks at the rows again once noise is
drawn says so before (``looks_again``): only then does the curator hold rows, and the certificate says it too. All that
is drawn is part of the cost. What an answer returns is public, and leads neither to the rows nor to the curator.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar

from numpy.typing import NDArray

from flou.central.curator import Curator
from flou.central.public_facts import PublicFacts
from flou.guarantee import Guarantee
from flou.release import Layout, Uncertainty
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
    proofs: tuple[str, ...] = ()  # of what was chosen on the way, besides that of the question
    layout: Layout | None = None  # how the entries lie, where their labels do not say it all


class Question(ABC):
    """One statistic with its parameters."""

    statistic: str
    column: str | None
    proof: ClassVar[str]  # the page that proves what the answer costs, in docs/explanation/proofs

    def looks_again(self, facts: PublicFacts) -> bool:
        """Whether rows may be read again after noise was drawn; how often depends on them, and is not told."""
        del facts
        return False

    @abstractmethod
    def cost(self, facts: PublicFacts) -> Guarantee:
        """What the answer will cost; also checks the parameters."""

    @abstractmethod
    def requests(self, facts: PublicFacts) -> tuple[Request, ...]:
        """What the engine is asked for."""

    @abstractmethod
    def answer(self, found: list[NDArray[Any]], facts: PublicFacts, curator: Curator) -> Draft:
        """The private answer, from the exact integers; the curator is asked and not kept."""
