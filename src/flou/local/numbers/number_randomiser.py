"""What the randomisers of one number share: a public grid of codes at equal distances between public bounds."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, TypeAlias

from numpy.typing import ArrayLike, NDArray

from flou.arrays import Bounds
from flou.domain import Domain, Interval, Numbers
from flou.errors import InvalidParameter
from flou.local.randomiser import Randomiser, whole_numbers

__all__ = ["NumberRandomiser", "Scale", "ends", "half_a_cell", "numbers_of"]

Scale: TypeAlias = Numbers | Bounds  # how the public domain of a number is given

MOST_CODES = 2**18  # the squares of reports, summed over 2^40 of them in two halves, stay within 64 bits
USUAL_CELLS = 2**16


class NumberRandomiser(Randomiser):
    """Codes of a public grid in, one whole number out."""

    proof = "local_numbers"
    domain: Numbers

    @property
    @abstractmethod
    def cells(self) -> int:
        """How many different reports there are; below 2^31."""

    def parameters(self) -> dict[str, Any]:
        return {"epsilon": str(self.epsilon), "domain": self.domain.to_dict()}

    def checked(self, reports: ArrayLike) -> NDArray[Any]:
        return whole_numbers(reports, self.cells - 1)


def numbers_of(domain: Scale, *, most: int = MOST_CODES, usual: int = USUAL_CELLS) -> Numbers:
    """An interval or integers as they are; a pair of bounds as an interval of ``usual`` cells."""
    if isinstance(domain, list | tuple) and len(domain) == 2:
        domain = Interval(*domain, cells=usual)
    numbers = domain.numbers if isinstance(domain, Domain) and domain.measured else None
    if numbers is None:
        raise InvalidParameter(
            f"The public domain must be an interval, integers or a pair of bounds, got a {type(domain).__name__}.",
            "Numbers are randomised on a public grid between public bounds.",
            "Pass for example (0, 100), or flou.Interval(0, 100, cells=1000).",
        )
    if not 2 <= numbers.size <= most:
        raise InvalidParameter(
            f"The domain must have from 2 to {most} codes, got {numbers.size}.",
            "One code carries no information, and sums of reports on a finer grid would not be exact.",
            "Pass an interval with fewer cells, for example flou.Interval(0, 100, cells=1000).",
        )
    return numbers


def ends(domain: Numbers) -> tuple[float, float]:
    """The numbers that the first and the last code stand for."""
    low, high = domain.decode([0, domain.size - 1]).tolist()
    return float(low), float(high)


def half_a_cell(domain: Numbers) -> float:
    """The most that a value between the bounds moves when it becomes a code."""
    return 0.0 if domain.discrete else domain.step / 2
