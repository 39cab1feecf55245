"""Who is who: an Ed25519 key for each party, and the roster that pins the public halves.

A party signs everything that it sends; everyone else checks it against the roster, never against a key that came over
the network. The key file is made by ``flou joint keygen`` and never leaves its party.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from flou.bits import SYSTEM
from flou.domain import toml
from flou.domain.table import checked_table
from flou.errors import InvalidParameter, ProtocolError, instead
from flou.joint.agreement.canonical import digest

__all__ = ["Identity", "Roster"]

LONGEST_NAME = 64
MOST_PARTIES = 100_000


@dataclass(frozen=True)
class Identity:
    """A party's name and secret key."""

    name: str
    secret: Ed25519PrivateKey

    def __repr__(self) -> str:
        return f"Identity({self.name!r})"

    @classmethod
    def generate(cls, name: str) -> Identity:
        return cls(_checked_name(name), Ed25519PrivateKey.from_private_bytes(SYSTEM.take(32).tobytes()))

    @property
    def public(self) -> bytes:
        return self.secret.public_key().public_bytes_raw()

    def sign(self, tag: str, *parts: Any) -> bytes:
        """The signature of values, under a tag."""
        return self.secret.sign(digest(tag, *parts))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the key to a new file that only its owner may read."""
        text = self.secret.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError:
            raise InvalidParameter(
                f"The key file {os.fspath(path)!r} cannot be made.",
                "It exists already, or its folder cannot be written to; a key is never written over.",
                "Choose the name of a new file.",
            ) from None
        with os.fdopen(handle, "w") as file:
            file.write(f"name: {self.name}\n{text}")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Identity:
        """The identity in a key file."""
        unusable = InvalidParameter(
            f"The key file {os.fspath(path)!r} cannot be used.",
            "It is not there, or it does not hold a key of flou.",
            "Make one with: flou joint keygen NAME --out FILE.",
        )
        with instead(unusable, OSError, ValueError, TypeError):
            first, _, text = Path(path).read_text(encoding="utf-8").partition("\n")
            secret = load_pem_private_key(text.encode(), None)
            if not first.startswith("name: ") or not isinstance(secret, Ed25519PrivateKey):
                raise ValueError
        return cls(_checked_name(first[6:]), secret)


@dataclass(frozen=True)
class Roster:
    """The parties and their public keys, in the order of their names."""

    keys: Mapping[str, bytes]

    def __post_init__(self) -> None:
        if not 1 <= len(self.keys) <= MOST_PARTIES:
            raise InvalidParameter(
                f"A roster has 1 to {MOST_PARTIES} parties, got {len(self.keys)}.",
                "Sums are taken over several parties.",
                "List every party with its public key.",
            )
        for name, key in self.keys.items():
            _checked_name(name)
            if not isinstance(key, bytes) or len(key) != 32:
                raise _bad_key(name)
        if len(set(self.keys.values())) != len(self.keys):
            raise InvalidParameter(
                "Two parties of the roster have the same key.",
                "One party under two names would be counted twice, and could be singled out.",
                "Let every party make a key of its own with flou joint keygen.",
            )

    @classmethod
    def of(cls, identities: list[Identity]) -> Roster:
        return cls({identity.name: identity.public for identity in identities})

    @classmethod
    def from_dict(cls, parties: Any) -> Roster:
        """Names and keys (hexadecimal), as in the table [parties] of a file."""
        checked_table("parties", parties, optional=tuple(parties) if isinstance(parties, Mapping) else ())
        keys = {}
        for name, text in parties.items():
            try:
                keys[name] = bytes.fromhex(text)
            except (TypeError, ValueError):
                raise _bad_key(name) from None
        return cls(keys)

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str]) -> Roster:
        tables = checked_table("roster", toml.parsed(toml.file_text(path)), required=("parties",))
        return cls.from_dict(tables["parties"])

    def to_dict(self) -> dict[str, str]:
        return {name: self.keys[name].hex() for name in self.names}

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(sorted(self.keys))

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        """The number of each party."""
        return {name: number for number, name in enumerate(self.names)}

    @cached_property
    def hash(self) -> bytes:
        return digest("roster", self.to_dict())

    @cached_property
    def _verifiers(self) -> list[Ed25519PublicKey]:
        return [Ed25519PublicKey.from_public_bytes(self.keys[name]) for name in self.names]

    @cached_property
    def _good(self) -> set[tuple[int, bytes, bytes]]:
        return set()

    def __len__(self) -> int:
        return len(self.keys)

    def index(self, identity: Identity) -> int:
        """The number of a party, if the roster has its very key."""
        if self.keys.get(identity.name) != identity.public:
            raise ProtocolError(
                f"The roster does not list {identity.name!r} with this key.",
                "Others would refuse everything that is signed with it.",
                "Agree on a roster that lists the key, or use the key that is listed.",
            )
        return self.numbers[identity.name]

    def trust(self, party: int, signature: bytes, tag: str, *parts: Any) -> None:
        """Take a signature to be good without checking it: that of a party by itself."""
        self._good.add((party, signature, digest(tag, *parts)))

    def verify(self, party: int, signature: bytes, tag: str, *parts: Any) -> None:
        """Refuse a signature that is not of this party, for these values; a good one is remembered."""
        try:
            claim = party, signature, digest(tag, *parts)
            if claim not in self._good:
                self._verifiers[party].verify(signature, claim[2])
                self._good.add(claim)
        except (InvalidSignature, IndexError, TypeError):
            name = self.names[party] if 0 <= party < len(self) else "an unknown party"
            raise ProtocolError(
                f"A message of {name} does not have its signature.",
                "Somebody has changed it, or somebody else has written it.",
                "Stop, and ask the party whether it sent this.",
            ) from None


def _checked_name(name: Any) -> str:
    sound = isinstance(name, str) and name.isprintable() and name == name.strip() and 1 <= len(name) <= LONGEST_NAME
    if not sound:
        raise InvalidParameter(
            f"A party needs a name of 1 to {LONGEST_NAME} printable characters.",
            "Results and refusals mention parties by their names.",
            "Choose a short name, such as 'north'.",
        )
    return str(name)


def _bad_key(name: str) -> InvalidParameter:
    return InvalidParameter(
        f"The public key of {name!r} must be 64 hexadecimal digits.",
        "Its messages are checked against this key.",
        "Copy the line that flou joint keygen printed for this party.",
    )
