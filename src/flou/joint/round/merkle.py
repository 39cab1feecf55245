"""A Merkle tree: one hash for many texts, and short proofs that a text is among them (as in RFC 6962)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

__all__ = ["included", "inclusions", "root"]


def _leaf(text: bytes) -> bytes:
    return hashlib.sha256(b"\x00" + text).digest()


def _node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()


def _levels(texts: Sequence[bytes]) -> list[list[bytes]]:
    """From the leaves up; a node without a partner moves up as it is."""
    levels = [[_leaf(text) for text in texts]]
    while len(levels[-1]) > 1:
        below = levels[-1]
        above = [_node(below[i], below[i + 1]) for i in range(0, len(below) - 1, 2)]
        levels.append(above + below[len(above) * 2 :])
    return levels


def root(texts: Sequence[bytes]) -> bytes:
    """The hash of all texts, in their order."""
    return _levels(texts)[-1][0] if texts else hashlib.sha256(b"").digest()


def inclusions(texts: Sequence[bytes]) -> list[list[bytes]]:
    """For each text the hashes on its way to the root, each with a leading byte: 0 when it stands to the left."""
    levels = _levels(texts)[:-1]
    paths = []
    for start in range(len(texts)):
        path, position = [], start
        for level in levels:
            partner = position ^ 1
            if partner < len(level):
                path.append(bytes([int(partner > position)]) + level[partner])
            position //= 2
        paths.append(path)
    return paths


def included(text: bytes, path: Sequence[bytes], top: bytes) -> bool:
    """Whether a path proves that a text is under a root."""
    found = _leaf(text)
    for step in path:
        if not isinstance(step, bytes) or len(step) != 33:
            return False
        found = _node(found, step[1:]) if step[0] else _node(step[1:], found)
    return found == top
