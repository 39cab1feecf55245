"""The replies of the coordinator, taken apart: each part is of the right kind, or is refused."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from flou.errors import ProtocolError
from flou.joint.round.messages import Message, malformed

__all__ = ["Told", "adverts", "each", "listed", "messages", "reason", "table"]

SHOWN = 500  # characters of a sentence that the coordinator sends
_NUMBER = re.compile(r"0|[1-9][0-9]{0,5}")  # one way to write the number of a party

Told: TypeAlias = dict[str, Any]


def each(blob: Any, parties: tuple[int, ...], size: int) -> dict[int, bytes]:
    """One piece of a blob for each party."""
    if not isinstance(blob, bytes) or len(blob) != size * len(parties):
        raise malformed("A list has the wrong length.")
    return {party: blob[size * place : size * (place + 1)] for place, party in enumerate(parties)}


def table(told: Told, name: str) -> dict[int, bytes]:
    """One piece of bytes for each of some parties."""
    found = told.get(name)
    if not isinstance(found, dict) or not all(_NUMBER.fullmatch(key) and type(found[key]) is bytes for key in found):
        raise malformed(f"A reply lacks the table {name!r}.")
    return {int(key): data for key, data in found.items()}


def messages(told: Told, name: str) -> dict[int, Message]:
    """One message of each of some parties."""
    return {party: Message.from_bytes(data) for party, data in table(told, name).items()}


def adverts(told: Told, commitments: Mapping[int, bytes], parties: Iterable[int]) -> dict[int, Message]:
    """The messages with which these parties have joined, and shown their keys."""
    found = messages(told, "adverts")
    for party in parties:
        if party not in found or found[party].field("commitment", bytes, 32) != commitments[party]:
            raise ProtocolError(
                "The keys of a party do not match its commitment.",
                "They are missing, or they are those of another session.",
                "Stop, and ask who relays the messages.",
            )
    return {party: found[party] for party in parties}


def listed(told: Told, name: str) -> list[Any]:
    found = told.get(name)
    if not isinstance(found, list):
        raise malformed(f"A reply lacks the list {name!r}.")
    return found


def reason(sentences: Any) -> ProtocolError:
    """The three sentences in which the coordinator refuses or stops, as far as they are fit to be shown."""
    if not isinstance(sentences, list) or len(sentences) != 3:
        sentences = [None]
    if not all(isinstance(text, str) and text.isprintable() and len(text) <= SHOWN for text in sentences):
        return ProtocolError(
            "The coordinator has refused or stopped.",
            "It gives no reason that can be shown.",
            "Ask who runs the coordinator.",
        )
    return ProtocolError(*sentences)
