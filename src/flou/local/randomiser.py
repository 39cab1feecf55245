"""The respondent's side: one answer in, one random report out; nobody else ever sees the answer.

A randomiser is a mechanism for one person. It knows the exact law of the report for every answer, so that its loss can
be checked outcome by outcome. Whoever collects reports needs only sums of whole numbers (``tally``): they are added up
as reports come, merged between collectors, and turned into estimates with intervals.
"""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flou.arrays import Ints, Values
from flou.bits import SYSTEM, Bits
from flou.domain import Domain
from flou.errors import InvalidData
from flou.guarantee import PureDP
from flou.laws import Bernoulli
from flou.laws.enclosure import affine, constant, exp_minus, quotient
from flou.local.aggregate import Aggregate
from flou.mechanisms.mechanism import Mechanism
from flou.parameters import Number, number, shown
from flou.release import Release

if TYPE_CHECKING:
    from flou.local.numbers.vector import Vector

__all__ = ["Randomiser", "malformed", "truth", "whole_numbers"]


class Randomiser(Mechanism):
    """Answers of a public ``domain`` become reports; one report costs epsilon for the person who gives it."""

    name: ClassVar[str]  # as it stands in files and on certificates
    proof: ClassVar[str]  # the page that proves what a report costs, in docs/explanation/proofs
    domain: Domain | Vector  # of one column, or of several numbers at once
    guarantee: PureDP

    def __init__(self, domain: Domain | Vector, *, epsilon: Number, unit: str = "person") -> None:
        self.domain = domain
        self.epsilon = number("epsilon", epsilon)
        self.guarantee = PureDP(epsilon, relation="substitute", unit=unit)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.domain!r}, epsilon={shown(float(self.epsilon))})"

    def randomise(self, values: Values, *, bits: Bits = SYSTEM) -> NDArray[Any]:
        """One report for each answer, in the units of the domain: what leaves the respondent's device."""
        return self.sample(self.domain.encode(values), bits=bits)

    @abstractmethod
    def sample(self, answer: Ints, *, bits: Bits = SYSTEM) -> NDArray[Any]:
        """One report for each code; reports are whole numbers, or rows of them."""

    @property
    @abstractmethod
    def tallies(self) -> int:
        """How many sums a collector keeps."""

    @abstractmethod
    def tally(self, reports: NDArray[Any]) -> Ints:
        """The sums, over reports that were checked, of the whole numbers from which estimates are made."""

    def possible(self, people: int, sums: Ints) -> bool:
        """Whether the reports of this number of people can add up to these sums; impossible sums are refused."""
        del people, sums
        return True

    @abstractmethod
    def checked(self, reports: ArrayLike) -> NDArray[Any]:
        """The reports as an array like that of ``sample``; anything that no respondent can have sent is refused."""

    @abstractmethod
    def estimated(self, aggregate: Aggregate) -> Release:
        """What the sums say about the respondents, and about the population they were drawn from."""

    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """The parameters that two randomisers must share for their reports to be added up, as plain values."""

    def aggregate(self, reports: ArrayLike | Aggregate | None = None) -> Aggregate:
        """An empty aggregate, or the aggregate of these reports; an aggregate is returned as it is."""
        if isinstance(reports, Aggregate):
            return reports
        return Aggregate(self) if reports is None else Aggregate(self).add(reports)

    def estimate(self, reports: ArrayLike | Aggregate) -> Release:
        """The estimate with its intervals, from reports or from an aggregate of them."""
        return self.estimated(self.aggregate(reports))


def whole_numbers(reports: ArrayLike, largest: int, shape: tuple[int, ...] = ()) -> NDArray[np.int64]:
    """Reports that are whole numbers from 0 to ``largest``, each of the given shape."""
    array = np.asarray(reports)
    fits = array.ndim == 1 + len(shape) and array.shape[1:] == shape
    if fits and array.size == 0:
        return np.zeros((0, *shape), dtype=np.int64)
    if not fits or array.dtype.kind not in "iub" or int(array.min()) < 0 or int(array.max()) > largest:
        each = "a whole number" if shape == () else f"{' x '.join(map(str, shape))} whole numbers"
        raise malformed(f"Each report must be {each} from 0 to {largest}.")
    return array.astype(np.int64)


def malformed(what: str) -> InvalidData:
    """The refusal of reports that no respondent can have sent."""
    return InvalidData(
        what,
        "This randomiser makes no other reports, and any other report would spoil the sums.",
        "Check that the reports belong to this question, and refuse the batch if they do not.",
    )


def truth(epsilon: Fraction) -> Bernoulli:
    """The coin of probability e^epsilon / (e^epsilon + 1), which decides whether a bit is reported as it is."""
    return Bernoulli(quotient(constant(Fraction(1)), affine(exp_minus(epsilon), plus=1)))
