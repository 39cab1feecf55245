"""The one door through which randomness enters.

``SystemBits`` is the keystream of AES-256 in counter mode. Every refill takes a fresh 256-bit key from
the operating system, serves at most ``REFILL`` bytes with it and throws it away, so no key lives long
enough to matter, neither across a fork, a thread nor a restored virtual machine. Bytes that were served
are erased from the buffer. ``SeededBits`` is the same keystream under a key derived from a seed; it
exists for tests and pinned vectors, and no private path takes a seed.

Uniform integers below n are exactly uniform: a word is multiplied or divided by n, and the few words
that would favour some results are drawn again.
"""

from __future__ import annotations

import hashlib
import os
import threading
from abc import ABC, abstractmethod

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR
from numpy.typing import NDArray

from flou.arrays import Words
from flou.errors import InvalidParameter
from flou.parameters import integer

__all__ = ["SYSTEM", "Bits", "SeededBits", "SystemBits"]


REFILL = 1 << 16  # bytes kept ready for small requests
SLICE = 1 << 20  # bytes encrypted in one go
_BLOCK = 16
_ZEROS = memoryview(bytes(SLICE))


def _keystream(key: bytes) -> CipherContext:
    """AES-256-CTR from counter zero; safe because no key is ever used for a second stream."""
    return Cipher(AES(key), CTR(bytes(_BLOCK))).encryptor()


def _fill(stream: CipherContext, size: int) -> NDArray[np.uint8]:
    """The next ``size`` bytes of a keystream."""
    out = np.empty(size + _BLOCK - 1, dtype=np.uint8)  # the cipher wants a spare block
    view = out.data
    for start in range(0, size, SLICE):
        stop = min(start + SLICE, size)
        stream.update_into(_ZEROS[: stop - start], view[start : stop + _BLOCK - 1])
    return out[:size]


class Bits(ABC):
    """A source of independent fair bits."""

    @abstractmethod
    def take(self, size: int) -> NDArray[np.uint8]:
        """``size`` fresh random bytes."""

    def words(self, size: int) -> Words:
        """``size`` uniform 64-bit words."""
        return self.take(8 * size).view("<u8")

    def integer(self, length: int) -> int:
        """A uniform integer of ``length`` bits, as long as you like."""
        size = -(-length // 8)
        return int.from_bytes(self.take(size).tobytes(), "little") >> (8 * size - length)

    def below(self, n: int, size: int) -> NDArray[np.int64]:
        """``size`` integers that are exactly uniform on 0, ..., n - 1, for n up to 2^63."""
        n = integer("n", n, 1, 2**63)
        return _below(self, n, size).astype(np.int64)

    def integer_below(self, n: int) -> int:
        """One integer exactly uniform on 0, ..., n - 1, for any n."""
        length = (n - 1).bit_length()
        while (candidate := self.integer(length)) >= n:
            pass
        return candidate


def _below(bits: Bits, n: int, size: int) -> Words:
    if n & (n - 1) == 0:  # a power of two: the top bits of a word, or nothing at all
        return bits.words(size) >> np.uint64(65 - n.bit_length()) if n > 1 else np.zeros(size, np.uint64)
    if n < 1 << 32:
        # Lemire (2019): with w uniform on 32 bits, the high half of w * n is uniform once the
        # products whose low half is below 2^32 mod n are refused.
        wide = bits.take(4 * size).view("<u4").astype(np.uint64) * np.uint64(n)
        refused = (wide & np.uint64(0xFFFFFFFF)) < np.uint64((1 << 32) % n)
        result = wide >> np.uint64(32)
    else:
        # The remainder of a word is uniform once the incomplete last cycle of n is refused.
        words = bits.words(size)
        refused = words >= np.uint64((1 << 64) // n * n)
        result = words % np.uint64(n)
    again = np.flatnonzero(refused)
    if again.size:
        result[again] = _below(bits, n, again.size)
    return result


class _Buffer(threading.local):
    """What one thread keeps ready, and in which process it was filled."""

    def __init__(self) -> None:
        self.ready = np.empty(0, dtype=np.uint8)
        self.position = 0
        self.origin = (0, 0)


class SystemBits(Bits):
    """Cryptographic bits, safe to share between threads and across forks.

    Every thread has a buffer of its own. A child process notices the fork (by hook and by process
    number) and never serves bytes that its parent may serve as well.
    """

    def __init__(self) -> None:
        self._buffer = _Buffer()

    def __repr__(self) -> str:
        return "SystemBits()"

    def __reduce__(self) -> tuple[type[SystemBits], tuple[()]]:
        return SystemBits, ()  # another process gets a source of its own, never a copied buffer

    def take(self, size: int) -> NDArray[np.uint8]:
        if size > REFILL:
            return _fill(_keystream(os.urandom(32)), size)
        buffer = self._buffer
        origin = process()
        start = buffer.position
        if start + size > buffer.ready.size or buffer.origin != origin:
            buffer.ready = _fill(_keystream(os.urandom(32)), REFILL)
            buffer.origin = origin
            start = 0
        buffer.position = start + size
        served = buffer.ready[start : start + size]
        result = served.copy()
        served[:] = 0
        return result


class SeededBits(Bits):
    """The same keystream under a key derived from a seed: repeatable, hence never private."""

    def __init__(self, seed: int | str | bytes) -> None:
        if isinstance(seed, bool) or not isinstance(seed, int | str | bytes):
            raise InvalidParameter(
                f"seed must be an integer, a string or bytes, got a {type(seed).__name__}.",
                "The same seed must always give the same bits.",
                "Pass for example SeededBits(1).",
            )
        named = f"{type(seed).__name__}:".encode()
        text = seed if isinstance(seed, bytes) else str(seed).encode()
        self._stream = _keystream(hashlib.sha256(b"flou.SeededBits:" + named + text).digest())
        self._ready = np.empty(0, dtype=np.uint8)
        self._lock = threading.Lock()

    def take(self, size: int) -> NDArray[np.uint8]:
        with self._lock:
            if size > self._ready.size:
                more = max(size - self._ready.size, REFILL)
                self._ready = np.concatenate([self._ready, _fill(self._stream, more)])
            result, self._ready = self._ready[:size].copy(), self._ready[size:]
        return result


def process() -> tuple[int, int]:
    """What tells this process from its forks: its number, which a grandchild may be given again, and its generation."""
    return os.getpid(), _forks


_forks = 0


def _count_fork() -> None:
    global _forks
    _forks += 1


if hasattr(os, "register_at_fork"):  # not on Windows, which cannot fork
    os.register_at_fork(after_in_child=_count_fork)

SYSTEM = SystemBits()
