"""The certificate: what a release says about itself, as JSON, chained to the release before it by a hash.

Everything in it is public: choices, laws and released numbers. It can be checked without the data: ``verify_chain``
recomputes every hash, so that nothing can be edited, left out or reordered without a trace.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from flou.errors import InvalidData

__all__ = ["VERSION", "Certificate", "verify_chain"]

VERSION = 1
BLOCKS = (
    "id",
    "data",
    "unit",
    "loss",
    "mechanism",
    "keys",
    "processing",
    "accuracy",
    "channels",
    "trust",
    "assurance",
    "words",
)


class Certificate(Mapping[str, Any]):
    """A frozen tree of plain values, with a hash over all of them."""

    def __init__(self, blocks: Mapping[str, Any]) -> None:
        self._text = _canonical(blocks)

    @classmethod
    def issue(cls, blocks: Mapping[str, Mapping[str, Any]], *, previous: str | None, version: str) -> Certificate:
        """A new certificate: the blocks, an identity, and the hash of the one before."""
        identity = {
            "certificate_version": VERSION,
            "release_id": str(uuid.UUID(bytes=hashlib.sha256(_fresh()).digest()[:16], version=4)),
            "created_utc": datetime.now(UTC).isoformat(timespec="seconds"),
            "previous_hash": previous,
            "software": {"name": "flou", "version": version},
        }
        return cls({"id": identity, **{name: blocks.get(name, {}) for name in BLOCKS[1:]}})

    def _tree(self) -> dict[str, Any]:
        tree: dict[str, Any] = json.loads(self._text)
        return tree

    def __getitem__(self, key: str) -> Any:
        return self._tree()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tree())

    def __len__(self) -> int:
        return len(self._tree())

    def __repr__(self) -> str:
        return f"Certificate({self.hash[:12]}...)"

    @property
    def hash(self) -> str:
        """SHA-256 of the canonical JSON."""
        return hashlib.sha256(self._text.encode()).hexdigest()

    def to_json(self, indent: int | None = 2) -> str:
        return json.dumps(self._tree(), indent=indent, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Certificate:
        return cls(json.loads(text))


def _fresh() -> bytes:
    from flou.bits import SYSTEM

    return SYSTEM.take(32).tobytes()


def _canonical(blocks: Mapping[str, Any]) -> str:
    return json.dumps(blocks, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def verify_chain(certificates: Iterable[Certificate]) -> None:
    """Check that each certificate names the hash of the one before it; the first of a chain names none."""
    previous: str | None = None
    for position, certificate in enumerate(certificates, start=1):
        if certificate["id"]["previous_hash"] != previous:
            raise InvalidData(
                f"Certificate {position} does not follow the one before it.",
                "A certificate was edited, left out or moved.",
                "Ask for the complete chain, in the order of release.",
            )
        previous = certificate.hash
