"""HTTP/1.1, as little of it as two programs of flou need, and strictly.

A message is a start line, fields of printable ASCII, each at most once, and a body whose length stands in
Content-Length: no chunks, no folded lines, no bare line feeds, nothing left to interpretation. What does not fit is
refused (:class:`Refused` carries the status of the answer) and the connection is closed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from flou.errors import FlouError, ProtocolError

__all__ = ["LONGEST_HEAD", "Head", "Refused", "malformed", "parsed_head", "refusal", "request", "response", "too_long"]

LONGEST_HEAD = 1 << 14  # bytes
MOST_FIELDS = 64

_REQUEST = re.compile(rb"([A-Z]{1,16}) (/[!-~]{0,255}) HTTP/1\.([0-9])")
_STATUS = re.compile(rb"HTTP/1\.1 ([2-5][0-9]{2}) [ -~]{0,64}")
_FIELD = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}):[ \t]*([ -~\t]*?)[ \t]*")
_LENGTH = re.compile("0|[1-9][0-9]{0,14}")

_REASONS = {
    200: "OK",
    202: "Accepted",
    400: "Bad Request",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    408: "Request Timeout",
    409: "Conflict",
    411: "Length Required",
    413: "Content Too Large",
    417: "Expectation Failed",
    431: "Request Header Fields Too Large",
    500: "Internal Server Error",
    503: "Service Unavailable",
    505: "HTTP Version Not Supported",
}


class Refused(Exception):
    """A request that is answered with an error."""

    def __init__(self, status: int, error: FlouError, *, close: bool = True) -> None:
        super().__init__(status, error)
        self.status, self.error, self.close = status, error, close


@dataclass(frozen=True)
class Head:
    """The start of a message: what it is about, and how long its body will be."""

    method: str  # of a request
    path: str
    status: int  # of a response
    fields: Mapping[str, str]
    length: int

    @property
    def closes(self) -> bool:
        """Whether the sender closes the connection after this message."""
        return "close" in self.fields.get("connection", "").lower().replace(" ", "").split(",")


def malformed(what: str, status: int = 400) -> Refused:
    return Refused(
        status,
        ProtocolError(
            what,
            "A message that can be read in two ways can be used for an attack.",
            "Use flou on both sides, and nothing in between that changes requests.",
        ),
    )


def too_long() -> Refused:
    return malformed(f"The head of a message is longer than {LONGEST_HEAD} bytes.", 431)


# Reading


def parsed_head(data: bytes, answer: bool = False) -> Head:
    """The head of a request, or of the answer to one, from its lines without the empty one at the end."""
    if len(data) > LONGEST_HEAD:
        raise too_long()
    start, *lines = data.split(b"\r\n")
    fields = _fields(lines)
    if answer:
        found = _STATUS.fullmatch(start)
        if found is None:
            raise malformed("The first line of a response cannot be read.")
        method, path, status = "", "", int(found[1])
    else:
        found = _REQUEST.fullmatch(start)
        if found is None:
            raise malformed("The first line of a request cannot be read.")
        method, path, status = found[1].decode(), found[2].decode(), 0
        _check_request(method, found[3], fields)
    return Head(method, path, status, fields, _length(fields, required=answer or method == "POST"))


def _fields(lines: list[bytes]) -> dict[str, str]:
    if len(lines) > MOST_FIELDS:
        raise malformed(f"A message has more than {MOST_FIELDS} fields.", 431)
    fields: dict[str, str] = {}
    for line in lines:
        found = _FIELD.fullmatch(line)
        if found is None:
            raise malformed("A field of a message cannot be read.")
        name = found[1].decode().lower()
        if name in fields:
            raise malformed("A field appears twice in a message.")
        fields[name] = found[2].decode()
    if "transfer-encoding" in fields:
        raise malformed("The body of a message is sent in chunks.")
    return fields


def _check_request(method: str, version: bytes, fields: Mapping[str, str]) -> None:
    if version != b"1":
        raise malformed("The request is not of HTTP/1.1.", 505)
    if method not in ("GET", "POST"):
        raise malformed("The request is neither GET nor POST.", 405)
    if "host" not in fields:
        raise malformed("The request does not say to which host it goes.")
    if "expect" in fields:
        raise malformed("The request waits for permission to send its body.", 417)
    if method == "GET" and fields.get("content-length", "0") != "0":
        raise malformed("A request for a page has a body.")


def _length(fields: Mapping[str, str], required: bool) -> int:
    text = fields.get("content-length")
    if text is None:
        if required:
            raise malformed("The message does not say how long its body is.", 411)
        return 0
    if not _LENGTH.fullmatch(text):
        raise malformed("The length of a body is not a number.")
    return int(text)


# Writing


def request(method: str, host: str, path: str, body: bytes = b"") -> bytes:
    """The bytes of a request."""
    return f"{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {len(body)}\r\n\r\n".encode("ascii") + body


def response(status: int, body: bytes = b"", kind: str = "application/octet-stream", *, close: bool = False) -> bytes:
    """The bytes of a response."""
    last = "Connection: close\r\n" if close else ""
    head = f"HTTP/1.1 {status} {_REASONS[status]}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n{last}\r\n"
    return head.encode("ascii") + body


def refusal(refused: Refused) -> bytes:
    """The response that says why a request is refused."""
    error = refused.error
    told = {"what": error.what, "why": error.why, "do": error.do}
    return response(refused.status, json.dumps(told).encode(), "application/json", close=refused.close)
