"""The certificate: what a release says about itself, as JSON, chained to the release before it by a hash.

Everything in it is public: choices, laws and released numbers. It can be checked without the data: ``verify_chain``
recomputes every hash, so that no certificate but the last can be edited, left out or moved without a trace; the hash of
the last one is what an outsider should be given.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from flou.errors import InvalidData
from flou.release.blocks import Statement
from flou.version import __version__

__all__ = ["VERSION", "Certificate", "verify_chain"]

VERSION = 1


class Certificate(Mapping[str, Any]):
    """A frozen tree of plain values, with a hash over all of them."""

    def __init__(self, blocks: Mapping[str, Any]) -> None:
        self._text = _canonical(blocks)

    @classmethod
    def issue(cls, statement: Statement, *, previous: str | None = None, release: bytes | None = None) -> Certificate:
        """A new certificate: what is stated, an identity, and the hash of the one before.

        ``release`` is what several people who certify one release share, such as the hash of a transcript: their
        certificates then have the same identity. Without it the identity is drawn at random.
        """
        identity = {
            "certificate_version": VERSION,
            "release_id": str(uuid.UUID(bytes=hashlib.sha256(release or _fresh()).digest()[:16], version=4)),
            "created_utc": datetime.now(UTC).isoformat(timespec="seconds"),
            "previous_hash": previous,
            "software": {"name": "flou", "version": __version__},
        }
        return cls({"id": identity, **statement.to_dict()})

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
        """The certificate in a JSON text; its hash is that of the one that was written."""
        try:
            tree = json.loads(text)
        except ValueError:
            tree = None
        if not isinstance(tree, dict):
            raise InvalidData(
                "This is not a certificate.",
                "A certificate is one JSON object.",
                "Pass the text that Certificate.to_json wrote.",
            )
        return cls(tree)

    def to_registry(self) -> dict[str, Any]:
        """What this release says, in the fields of the deployments registry; what only people know is left empty."""
        from flou.release.deployments import registry_entry

        return registry_entry(self)


def _fresh() -> bytes:
    from flou.bits import SYSTEM

    return SYSTEM.take(32).tobytes()


def _canonical(blocks: Mapping[str, Any]) -> str:
    return json.dumps(blocks, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def verify_chain(certificates: Iterable[Certificate], *, last: str | None = None) -> None:
    """Check that each certificate names the hash of the one before it; the first of a chain names none.

    Nothing inside a chain can be edited, left out or moved. Its end can: give ``last``, the hash of the newest one as
    somebody else keeps it, to notice that as well.
    """
    previous: str | None = None
    for position, certificate in enumerate(certificates, start=1):
        identity = certificate.get("id")
        if not isinstance(identity, Mapping) or identity.get("previous_hash", "missing") != previous:
            raise InvalidData(
                f"Certificate {position} does not follow the one before it.",
                "A certificate was edited, left out or moved.",
                "Ask for the complete chain, in the order of release.",
            )
        previous = certificate.hash
    if last is not None and previous != last:
        raise InvalidData(
            "The chain does not end with the certificate that it should end with.",
            "Its newest certificate was edited, or certificates at the end were left out.",
            "Ask for the complete chain, in the order of release.",
        )
