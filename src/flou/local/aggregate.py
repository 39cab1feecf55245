"""What a collector keeps: the number of reports and sums of whole numbers. No single report can be read from it.

Aggregates of the same question are merged by adding up, in any order and any grouping. As bytes they carry a
fingerprint of the question, so that reports of different questions, or of another epsilon, are never added up.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from flou.arrays import Ints
from flou.errors import InvalidData

if TYPE_CHECKING:
    from flou.local.randomiser import Randomiser
    from flou.release import Release

__all__ = ["Aggregate"]

MAGIC = b"flou aggregate 1\n"
MOST_REPORTS = 2**40  # sums of reports then stay within 64 bits, see each randomiser's ``tally``


class Aggregate:
    """The sums of the reports of one randomiser."""

    def __init__(self, randomiser: Randomiser) -> None:
        self.randomiser = randomiser
        self.people = 0
        self.sums: Ints = np.zeros(randomiser.tallies, dtype=np.int64)

    def __repr__(self) -> str:
        return f"Aggregate({self.randomiser!r}, people={self.people})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Aggregate) and self.to_bytes() == other.to_bytes()

    __hash__ = None  # type: ignore[assignment]  # it changes

    def add(self, reports: ArrayLike) -> Aggregate:
        """Count these reports too: all of them, or none if any report is malformed."""
        checked = self.randomiser.checked(reports)
        self._grow(len(checked), self.randomiser.tally(checked))
        return self

    def merge(self, other: Aggregate) -> Aggregate:
        """Count the reports of another aggregate of the same question too."""
        if other.fingerprint != self.fingerprint:
            raise _another_question()
        self._grow(other.people, other.sums)
        return self

    def _grow(self, people: int, sums: Ints) -> None:
        if self.people + people > MOST_REPORTS:
            raise InvalidData(
                f"An aggregate holds at most {MOST_REPORTS} reports.",
                "Its sums are 64-bit integers, and must not overflow.",
                "Estimate from several aggregates, and average the estimates.",
            )
        self.people += people
        self.sums = self.sums + sums

    @classmethod
    def _of(cls, randomiser: Randomiser, people: int, sums: Ints) -> Aggregate:
        """The aggregate of reports that have these sums."""
        found = cls(randomiser)
        found._grow(people, sums)
        return found

    def estimate(self) -> Release:
        """What the reports say."""
        return self.randomiser.estimated(self)

    @property
    def fingerprint(self) -> str:
        """What two aggregates must share to be merged."""
        question = {"name": self.randomiser.name, **self.randomiser.parameters()}
        return hashlib.sha256(json.dumps(question, sort_keys=True).encode()).hexdigest()

    def to_bytes(self) -> bytes:
        """The whole aggregate, in a form that does not depend on the machine."""
        head = json.dumps({"question": self.fingerprint, "people": self.people, "sums": self.sums.size})
        return MAGIC + head.encode() + b"\n" + self.sums.astype("<i8").tobytes()

    @classmethod
    def from_bytes(cls, randomiser: Randomiser, data: bytes) -> Aggregate:
        """The aggregate that ``to_bytes`` wrote, for the same randomiser."""
        found = cls(randomiser)
        magic, _, rest = data.partition(b"\n")
        head, _, body = rest.partition(b"\n")
        try:
            stated = json.loads(head)
            people, question, size = int(stated["people"]), str(stated["question"]), int(stated["sums"])
        except (ValueError, KeyError, TypeError):
            people, question, size = -1, "", -1
        if magic + b"\n" != MAGIC or people < 0 or size * 8 != len(body):
            raise InvalidData(
                "These bytes are not an aggregate.",
                "An aggregate begins with its kind and its size, and these bytes do not.",
                "Pass what Aggregate.to_bytes returned, unchanged.",
            )
        if question != found.fingerprint or size != found.sums.size:
            raise _another_question()
        sums = np.frombuffer(body, dtype="<i8").astype(np.int64)
        if not randomiser.possible(people, sums):
            raise InvalidData(
                "These sums do not fit the number of reports.",
                "They were changed on the way, and would spoil the estimate.",
                "Pass what Aggregate.to_bytes returned, unchanged.",
            )
        found._grow(people, sums)
        return found


def _another_question() -> InvalidData:
    return InvalidData(
        "These reports belong to another question.",
        "Randomisers with other categories, bounds or epsilon make reports that mean something else.",
        "Merge aggregates of the same randomiser only.",
    )
