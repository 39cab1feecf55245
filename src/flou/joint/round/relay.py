"""What the coordinator passes on: to each party what it is told, encoded when the party asks.

With ten thousand parties, what all are told would fill the memory if it were kept once for each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, TypeAlias

from flou.joint.agreement.canonical import encode
from flou.joint.round.messages import Message

__all__ = ["Messages", "Replies", "near", "table"]

Messages: TypeAlias = dict[int, Message]


class Replies(Mapping[int, bytes]):
    """The replies to some parties, of which a function says what they hold."""

    def __init__(self, parties: Collection[int], told: Callable[[int], Mapping[str, Any]]) -> None:
        self._parties, self._told = frozenset(parties), told

    def __getitem__(self, party: int) -> bytes:
        if party not in self._parties:
            raise KeyError(party)
        return encode(self._told(party))

    def __iter__(self) -> Iterator[int]:
        return iter(self._parties)

    def __len__(self) -> int:
        return len(self._parties)


def table(messages: Messages) -> dict[str, bytes]:
    """Messages by the numbers of their senders, as they are told to others."""
    return {str(party): message.to_bytes() for party, message in messages.items()}


def near(graph: Mapping[int, tuple[int, ...]], messages: Messages) -> Callable[[int], dict[str, bytes]]:
    """For each party the messages of its neighbours, each encoded once."""
    told = table(messages)
    return lambda party: {key: told[key] for other in graph[party] if (key := str(other)) in told}
