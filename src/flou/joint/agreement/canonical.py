"""One way to write a value as bytes, so that everyone hashes and signs the same thing.

A subset of CBOR (RFC 8949): nothing, truth values, integers of any size, 64-bit floats, texts, bytes, lists, and tables
with texts as keys, in the order of their encoded keys. Every value has exactly one encoding, and :func:`decode`
refuses all others. Hashes carry a tag that says what is hashed, so no hash of one kind passes for another kind.
"""

from __future__ import annotations

import hashlib
import math
import struct
from collections.abc import Mapping
from functools import lru_cache
from operator import itemgetter
from typing import Any

from flou.errors import InvalidParameter, ProtocolError, instead

__all__ = ["decode", "digest", "encode"]

DEEPEST = 16  # tables within tables
_UNSIGNED, _NEGATIVE, _BYTES, _TEXT, _LIST, _TABLE, _TAG, _SIMPLE = range(8)
_FORMS = {24: struct.Struct(">B"), 25: struct.Struct(">H"), 26: struct.Struct(">I"), 27: struct.Struct(">Q")}
_LEAST = {24: 24, 25: 1 << 8, 26: 1 << 16, 27: 1 << 32}  # smaller sizes have a shorter form
_LONG = 1 << 64
_DOUBLE = struct.Struct(">d")
_SMALL = [bytes((head,)) for head in range(256)]
_FIRST = itemgetter(0)
_CONSTANTS = {None: b"\xf6", True: b"\xf5", False: b"\xf4"}


def digest(tag: str, *parts: Any) -> bytes:
    """SHA-256 of values, under a tag."""
    return hashlib.sha256(encode(["flou joint", tag, *parts])).digest()


# Writing


def encode(value: Any) -> bytes:
    """The bytes of a value."""
    out: list[bytes] = []
    _write(value, out.append, 0)
    return b"".join(out)


def _head(kind: int, size: int) -> bytes:
    if size < 24:
        return _SMALL[kind << 5 | size]
    for detail, form in _FORMS.items():
        if size < 1 << 8 * form.size:
            return _SMALL[kind << 5 | detail] + form.pack(size)
    raise InvalidParameter("A value is too long.", "The format has no such length.", "Send smaller values.")


def _write(value: Any, out: Any, depth: int) -> None:
    kind = type(value)
    if kind is bytes:
        out(_head(_BYTES, len(value)))
        out(value)
    elif kind is str:
        out(_text(value))
    elif kind is int:
        if not -_LONG <= value < _LONG:
            _check_depth(depth)
        out(_integer(value))
    elif kind is list or kind is tuple:
        _check_depth(depth)
        out(_head(_LIST, len(value)))
        for part in value:
            _write(part, out, depth + 1)
    elif kind is float:
        if not math.isfinite(value):
            raise InvalidParameter("A number is not finite.", "Messages hold finite numbers.", "Send finite numbers.")
        out(b"\xfb" + _DOUBLE.pack(value + 0.0))  # there is one zero: -0.0 + 0.0 is 0.0
    elif value is None or kind is bool:
        out(_CONSTANTS[value])
    elif kind is dict or isinstance(value, Mapping):
        _check_depth(depth)
        out(_head(_TABLE, len(value)))
        for key, part in sorted([(_text(key), part) for key, part in _named(value).items()], key=_FIRST):
            out(key)
            _write(part, out, depth + 1)
    else:
        raise InvalidParameter(
            f"A {kind.__name__} cannot be written into a message.",
            "Messages hold texts, numbers, bytes, lists and tables of them.",
            "Turn it into one of these.",
        )


def _check_depth(depth: int) -> None:
    if depth >= DEEPEST:
        raise InvalidParameter("A value is nested too deeply.", "Depth is limited to 16 levels.", "Send flat values.")


@lru_cache(maxsize=4096)
def _text(text: str) -> bytes:
    data = _utf8(text)
    return _head(_TEXT, len(data)) + data


def _utf8(text: str) -> bytes:
    half = InvalidParameter("A text holds half a character.", "UTF-8 cannot encode it.", "Send whole characters.")
    with instead(half, UnicodeEncodeError):
        return text.encode()


def _named(table: Mapping[Any, Any]) -> Mapping[str, Any]:
    if not all(type(key) is str for key in table):
        raise InvalidParameter("A table has a key that is not a text.", "Keys are names.", "Use texts as keys.")
    return table


def _integer(value: int) -> bytes:
    kind, size = (_UNSIGNED, value) if value >= 0 else (_NEGATIVE, -1 - value)
    if size < 1 << 64:
        return _head(kind, size)
    data = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return _head(_TAG, 2 if value >= 0 else 3) + _head(_BYTES, len(data)) + data


# Reading


def decode(data: bytes) -> Any:
    """The value of its bytes; what is not the encoding of a value is refused."""
    try:
        value, end = _read(data, 0, 0)
        sound = end == len(data)
    except (IndexError, struct.error, ValueError):
        sound, value = False, None
    if not sound:
        raise ProtocolError(
            "A message cannot be read.",
            "It is not in canonical encoding, so it cannot be what was signed.",
            "Check that both sides run the same version of flou.",
        )
    return value


def _read(data: bytes, at: int, depth: int) -> tuple[Any, int]:
    head = data[at]
    kind, size = head >> 5, head & 31
    at += 1
    if kind == _SIMPLE:
        return _simple(data, at, size)
    if size >= 24:
        form, least = _FORMS[size] if size in _FORMS else _broken(), _LEAST[size]
        (size,) = form.unpack_from(data, at)
        at += form.size
        if size < least:
            _broken()
    if kind in (_BYTES, _TEXT):
        end = at + size
        if end > len(data):
            _broken()
        return (data[at:end] if kind == _BYTES else data[at:end].decode()), end
    if kind == _UNSIGNED:
        return size, at
    if kind == _NEGATIVE:
        return -1 - size, at
    if depth >= DEEPEST or size > len(data) - at:  # a part takes at least a byte
        _broken()
    if kind == _LIST:
        parts = []
        for _ in range(size):
            part, at = _read(data, at, depth + 1)
            parts.append(part)
        return parts, at
    return _big(data, at, size, depth) if kind == _TAG else _table(data, at, size, depth)


def _simple(data: bytes, at: int, detail: int) -> tuple[Any, int]:
    if detail == 27:
        (number,) = _DOUBLE.unpack_from(data, at)
        sound = math.isfinite(number) and (number != 0 or math.copysign(1, number) > 0)
        return (number if sound else _broken()), at + 8
    return ({20: False, 21: True, 22: None}[detail] if detail in (20, 21, 22) else _broken()), at


def _big(data: bytes, at: int, tag: int, depth: int) -> tuple[int, int]:
    inner, at = _read(data, at, depth + 1)
    if tag not in (2, 3) or type(inner) is not bytes or len(inner) <= 8 or inner[0] == 0:
        _broken()
    size = int.from_bytes(inner, "big")
    return (size if tag == 2 else -1 - size), at


def _table(data: bytes, at: int, size: int, depth: int) -> tuple[dict[str, Any], int]:
    table: dict[str, Any] = {}
    before = b""
    for _ in range(size):
        start = at
        key, at = _read(data, at, depth + 1)
        name = data[start:at]
        if type(key) is not str or name <= before:
            _broken()
        before = name
        table[key], at = _read(data, at, depth + 1)
    return table, at


def _broken() -> Any:
    raise ValueError
