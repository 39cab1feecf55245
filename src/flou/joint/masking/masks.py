"""Masks: words that two parties know and everyone else finds uniform.

Mask     the keystream of AES-256 in counter mode under a key that serves once, read as little-endian 64-bit limbs.
         Limb l of all words starts at counter l 2^64 and runs on from word to word: one keystream, a section for each
         limb, and the same mask whatever the length of the pieces in which it is made.
Key      HKDF-SHA256 of the X25519 secret of two parties; its info is a tag of this use and the context (which session,
         which round, which pair), so that no other use of the same secret, and no other round, has the same key
Why      without the key the limbs are indistinguishable from uniform ones, and a word plus a uniform word is uniform
Speed    a mask is made and added in pieces that stay in the cache, and no vector of its length is allocated
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

import numpy as np
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR, ECB
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from flou.arrays import Words
from flou.errors import ProtocolError
from flou.joint.masking.codec import add, subtract

__all__ = ["KEY", "add_mask", "pair_key", "stream"]

KEY = 32  # bytes
PIECE = 1 << 16  # words: 512 KiB
FEW = 1 << 12  # limbs
_BLOCK = 16
_ZEROS = memoryview(bytes(8 * PIECE))
_TAG = b"flou.joint.mask:"


def stream(key: bytes, limb: int = 0) -> CipherContext:
    """The section of a key's keystream that masks one limb."""
    return Cipher(AES(key), CTR((limb << 64).to_bytes(_BLOCK, "big"))).encryptor()


def add_mask(words: Words, key: bytes, sign: Literal[1, -1]) -> None:
    """Add the mask of a key to words in place, or take it off."""
    if len(key) != KEY or sign not in (1, -1):
        raise ProtocolError(
            "A mask has a key of 32 bytes and the sign 1 or -1.",
            "The masks of two parties cancel only if both use the same key and opposite signs.",
            "Pass the key of the pair, 1 on one side and -1 on the other.",
        )
    apply = add if sign == 1 else subtract
    count, length = words.shape
    if count * length <= FEW:
        apply(words, _few(key, count, length))
        return
    streams = [stream(key, limb) for limb in range(count)]
    mask = np.empty((count, min(PIECE, length) + 2), dtype="<u8")  # the cipher wants a spare block
    rows = mask.view(np.uint8)
    for start in range(0, length, PIECE):
        piece = words[:, start : start + PIECE]
        size = piece.shape[1]
        for source, row in zip(streams, rows, strict=True):
            source.update_into(_ZEROS[: 8 * size], row)
        apply(piece, mask[:, :size])


def _few(key: bytes, count: int, length: int) -> Words:
    """A short mask: its counters, encrypted at once, for setting up a cipher costs more than the blocks."""
    data = Cipher(AES(key), ECB()).encryptor().update(_counters(count, length))
    return np.frombuffer(data, dtype="<u8").reshape(count, -1)[:, :length].astype(np.uint64, copy=False)


@lru_cache(maxsize=16)
def _counters(count: int, length: int) -> bytes:
    """The counter blocks of all limbs, one limb after the other."""
    blocks = np.zeros((count, -(-length // 2), 2), dtype=">u8")
    blocks[..., 0] = np.arange(count)[:, None]
    blocks[..., 1] = np.arange(blocks.shape[1])
    return blocks.tobytes()


def pair_key(own_secret: X25519PrivateKey, other_public: bytes, context: bytes) -> bytes:
    """The key that two parties share for one use: the same on both sides when the context is."""
    try:
        secret = own_secret.exchange(X25519PublicKey.from_public_bytes(other_public))
    except ValueError:  # not 32 bytes, or a point of small order, whose secret everyone knows
        raise ProtocolError(
            "A public key of another party is not a usable X25519 key.",
            "Everyone would know a secret that is derived from this key.",
            "Ask the party for a fresh key; whoever relayed this one may have replaced it.",
        ) from None
    return HKDF(SHA256(), KEY, salt=None, info=_TAG + context).derive(secret)
