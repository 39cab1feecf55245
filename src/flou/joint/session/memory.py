"""What a process must not forget when it is killed: secrets of the open round, and every promise it has made.

A memory keeps a value under a key once and for all: the same value may be kept again, another one is refused. That is
how a party signs one list of survivors only, whatever it is told after a restart. ``FileMemory`` appends to a file, and
what is marked as sure is on disk before :meth:`keep` returns, and everything that was kept before it. What nothing was
answered to yet may be written later, together with what comes next. Secrets are wiped, when a session is over, by
writing the file anew without them.
"""

from __future__ import annotations

import os
import struct
import zlib
from pathlib import Path
from typing import BinaryIO

from flou.errors import InvalidParameter, ProtocolError
from flou.joint.agreement.canonical import decode, encode

__all__ = ["FileMemory", "Memory"]

_MARK = b"flou joint memory 1\n"
_HEAD = struct.Struct(">II")  # length and checksum of an entry


class Memory:
    """A memory that lasts as long as its process."""

    def __init__(self) -> None:
        self._kept: dict[str, bytes] = {}

    def recall(self, key: str) -> bytes | None:
        """What was kept under a key."""
        return self._kept.get(key)

    def keys(self, prefix: str) -> list[str]:
        """The keys that begin like this, in the order in which they were kept."""
        return [key for key in self._kept if key.startswith(prefix)]

    def keep(self, key: str, value: bytes, *, sure: bool = False, later: bool = False) -> bytes:
        """Keep a value for good; another value under the same key is refused."""
        known = self._kept.get(key)
        if known is None:
            self._store(key, value, sure, later)
            self._kept[key] = value
        elif known != value:
            raise ProtocolError(
                "This contradicts an earlier message of the same step.",
                "Two different answers to one question can reveal what both hide.",
                "Stop: the coordinator sent contradictory messages, or the session was started twice.",
            )
        return value

    def forget(self, prefix: str) -> None:
        """Wipe what was kept under keys that begin like this."""
        for key in self.keys(prefix):
            del self._kept[key]

    def close(self) -> None:
        """Nothing is kept from here on."""

    def _store(self, key: str, value: bytes, sure: bool, later: bool) -> None: ...


class FileMemory(Memory):
    """A memory in a file that one process uses at a time."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__()
        self.path, self._renamed = Path(path), False
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._guard = _opened(self.path.with_name(f"{self.path.name}.lock"))
        except OSError:
            raise self._unusable() from None
        try:
            _lock(self._guard.fileno())
            self._file = _opened(self.path)
        except OSError:
            self._guard.close()
            raise self._unusable() from None
        self._load()

    def _unusable(self) -> InvalidParameter:
        return InvalidParameter(
            f"The file {str(self.path)!r} cannot be used.",
            "It cannot be written to, another process is using it, or it holds something else.",
            "Stop the other process, or choose another file for the state.",
        )

    def _damaged(self) -> InvalidParameter:
        return InvalidParameter(
            f"The file {str(self.path)!r} is damaged.",
            "It holds what was promised, and with a part of it missing a promise could be broken.",
            "Restore the file from a copy, or take no further part in this session.",
        )

    def _load(self) -> None:
        """Everything up to the last whole entry; a torn one was never acted upon."""
        data, at = self._file.read(), len(_MARK)
        if not data.startswith(_MARK[: len(data)]):
            self.close()
            raise self._unusable()
        while at + _HEAD.size <= len(data):
            size, checksum = _HEAD.unpack_from(data, at)
            entry = data[at + _HEAD.size : at + _HEAD.size + size]
            if len(entry) != size or not any(data[at:]):  # torn, or zeros after a power cut
                break
            if zlib.crc32(entry) != checksum and any(data[at + _HEAD.size + size :]):  # there is more behind it
                self.close()
                raise self._damaged()
            if size == 0 or zlib.crc32(entry) != checksum:
                break
            key, value = decode(entry)
            self._kept[key] = value
            at += _HEAD.size + size
        if len(data) < len(_MARK):
            self._file.seek(0)
            self._file.write(_MARK)
        self._file.seek(at)
        self._file.truncate()
        self._settle()

    def _settle(self) -> None:
        """The file, and its name in the folder, are on disk."""
        self._file.flush()
        os.fsync(self._file.fileno())
        _sync_folder(self.path.parent)
        self._renamed = False

    def _store(self, key: str, value: bytes, sure: bool, later: bool) -> None:
        self._file.write(_entry(key, value))
        if later:
            return
        self._file.flush()
        if sure and self._renamed:
            self._settle()
        elif sure:
            os.fsync(self._file.fileno())

    def forget(self, prefix: str) -> None:
        if not self.keys(prefix):
            return
        super().forget(prefix)
        whole = _MARK + b"".join(_entry(key, value) for key, value in self._kept.items())
        fresh = self.path.with_name(f"{self.path.name}.new")
        with _opened(fresh) as file:
            file.truncate()
            file.write(whole)
            file.flush()
            os.fsync(file.fileno())
        self._file.close()
        os.replace(fresh, self.path)
        self._file = _opened(self.path)
        self._file.seek(0, os.SEEK_END)
        self._renamed = True  # the folder may still know the old file, which holds the same promises

    def close(self) -> None:
        self._file.close()
        self._guard.close()


def _opened(path: Path) -> BinaryIO:
    """A file, made if need be, that only its owner may read."""
    return open(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+b")


def _sync_folder(path: Path) -> None:
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:  # Windows: folders cannot be opened
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _entry(key: str, value: bytes) -> bytes:
    entry = encode([key, value])
    return _HEAD.pack(len(entry), zlib.crc32(entry)) + entry


def _lock(handle: int) -> None:
    try:
        import fcntl
    except ImportError:  # Windows: the file is for one process all the same, but nobody checks
        return
    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
