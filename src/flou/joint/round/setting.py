"""What is public about a round: how its secrets are shared before it begins, and the round itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from flou.errors import ProtocolError
from flou.joint.agreement.canonical import encode
from flou.joint.agreement.identity import Roster
from flou.joint.masking.graph import Resilience
from flou.joint.round.messages import Message, malformed

__all__ = ["Ahead", "Setting", "pair"]


def pair(place: bytes, one: int, other: int) -> bytes:
    """The context of what two parties share at a place, the same for both."""
    return encode([place, min(one, other), max(one, other)])


@dataclass(frozen=True)
class Ahead:
    """How the secrets of a round are shared, one message before it begins."""

    roster: Roster
    keys: tuple[bytes, str]  # place and step of the messages that show everyone's keys for the round
    place: bytes  # of the messages with sealed shares: it hangs on everything that was said before them
    graph: Mapping[int, tuple[int, ...]]  # the neighbours of each
    resilience: Resilience

    def threshold(self, holders: int) -> int:
        """How many of the holders restore a secret: all of them when every loss happened before they got it."""
        return min(self.resilience.threshold, holders)

    @property
    def unanimous(self) -> bool:
        """Whether all neighbours have to sign the survivors: then there is one list only, that of everyone."""
        return self.resilience.quorum == self.resilience.neighbours

    @property
    def agreeing(self) -> str:
        """The step in which survivors are signed: a list that is known beforehand, together with the masked words."""
        return "mask" if self.unanimous else "agree"

    def after(self, place: bytes) -> Ahead:
        """The same for the round after one with this number."""
        return replace(self, keys=(place, self.agreeing), place=place)

    def check_advert(self, message: Message) -> Message:
        """Refuse a message as the one that shows its sender's keys if it was not signed as this."""
        if message.attachment:
            raise malformed("A message with the keys of a party has something attached.")
        return message.check(self.roster, *self.keys)


@dataclass(frozen=True)
class Setting:
    """The place of a round in the protocol, and the shape of its words."""

    id: bytes  # hash of the session, of everything opened before, and of what is asked now
    ahead: Ahead  # how its secrets were shared
    last: bool  # whether no round can follow
    cohort: frozenset[int]  # who takes part
    minimum: int
    previous: frozenset[int] | None  # over whom the last sums were opened
    differences: bool  # whether sums may be opened with and without a few parties
    width: int
    length: int

    @property
    def roster(self) -> Roster:
        return self.ahead.roster

    @property
    def graph(self) -> Mapping[int, tuple[int, ...]]:
        return self.ahead.graph

    @property
    def resilience(self) -> Resilience:
        return self.ahead.resilience

    @property
    def size(self) -> int:
        return len(self.roster)

    @property
    def following(self) -> Ahead | None:
        """How the secrets of a round after this one are shared, if one may follow."""
        return None if self.last else self.ahead.after(self.id)

    def pair(self, one: int, other: int) -> bytes:
        """The context of the mask that two parties share in this round."""
        return pair(self.id, one, other)

    def check_survivors(self, survivors: frozenset[int]) -> None:
        """Refuse to open a sum over these parties if it would reveal too much."""
        if len(survivors) < self.minimum:
            raise ProtocolError(
                f"The sum would be over {len(survivors)} parties.",
                f"The plan asks for at least {self.minimum}.",
                "Wait until enough parties are there, and begin again.",
            )
        if not survivors <= self.cohort:
            raise ProtocolError(
                "The sum would include a party that has not taken part from the beginning.",
                "A subtraction could single out a party that is added later.",
                "Begin a new session with everyone.",
            )
        lost = frozenset() if self.previous is None else self.previous - survivors
        if self.previous is not None and not survivors <= self.previous:
            raise ProtocolError(
                "The sum would include a party that was not in the sums opened before.",
                "A subtraction could single it out.",
                "Begin a new session with everyone.",
            )
        if lost and len(lost) < self.minimum and not self.differences:
            names = ", ".join(self.roster.names[party] for party in sorted(lost))
            raise ProtocolError(
                f"Sums were opened with {names}, and would now be opened without.",
                "The difference would reveal the sums of a few parties.",
                "Wait for them to return, or agree on a plan that accepts differences.",
            )
