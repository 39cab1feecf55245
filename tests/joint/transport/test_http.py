"""The small HTTP of the transport: it reads what it should, and refuses everything else."""

import asyncio
import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flou.errors import ProtocolError
from flou.joint.transport import wire
from flou.joint.transport.http import LONGEST_HEAD, Refused, refusal, request, response
from flou.joint.transport.wire import Wire


class Nowhere:
    """The other direction, which is not used."""

    transport = property(lambda self: self)

    def is_closing(self):
        return False

    def get_write_buffer_size(self):
        return 0


def read(data: bytes, *, answer=False, longest=100, eof=True, idle=5.0):
    """The head and the body of bytes that have come over a connection."""

    async def main():
        reader = asyncio.StreamReader(limit=LONGEST_HEAD)
        reader.feed_data(data)
        if eof:
            reader.feed_eof()
        line = Wire(reader, Nowhere())
        head = await line.read_head(idle, answer=answer)
        return head, None if head is None else await line.read_body(head.length, longest)

    return asyncio.run(main())


def status(data: bytes, **how) -> int:
    """The status with which bytes are refused, in three sentences."""
    with pytest.raises(Refused) as refused:
        read(data, **how)
    error = refused.value.error
    assert all(sentence.endswith(".") for sentence in (error.what, error.why, error.do))
    assert refused.value.close
    return refused.value.status


def test_what_is_written_is_read():
    """A request and a response come out as they went in, byte by byte and in a row."""
    head, body = read(request("POST", "localhost:8443", "/a/1/mask", b"\x00\r\n\r\n\xff"))
    assert (head.method, head.path, head.length, body) == ("POST", "/a/1/mask", 6, b"\x00\r\n\r\n\xff")
    assert not head.closes
    head, body = read(response(200, b"abc"), answer=True)
    assert (head.status, body, head.closes) == (200, b"abc", False)
    head, _ = read(response(400, close=True), answer=True)
    assert (head.status, head.closes) == (400, True)


def test_the_end_of_a_connection_is_no_error_between_messages(monkeypatch):
    """Nothing more comes, or nothing comes for long."""
    monkeypatch.setattr(wire, "GLANCE", 0.01)
    assert read(b"") == (None, None)
    assert read(b"", eof=False, idle=0.01) == (None, None)


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\r\n\r\n", 400),  # TLS to a plain port
        (b"GET /plan\r\n\r\n", 400),
        (b"GET  /plan HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (b"GET plan HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (b"GET http://a/plan HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (b"get /plan HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (b"GET /pl\xe4n HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (b"GET /" + b"a" * 300 + b" HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (b"GET /plan HTTP/1.1\r\n\r\n", 400),  # no host
        (b"GET /plan HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        (b"GET /plan HTTP/1.1\r\nHost : a\r\n\r\n", 400),
        (b"GET /plan HTTP/1.1\r\n Host: a\r\n\r\n", 400),  # folded
        (b"GET /plan HTTP/1.1\r\nHost: a\r\n b\r\n\r\n", 400),
        (b"GET /plan HTTP/1.1\nHost: a\n\r\n\r\n", 400),  # bare line feeds
        (b"GET /plan HTTP/1.1\r\nHost: a\rb\r\n\r\n", 400),
        (b"GET /plan HTTP/1.1\r\nHost: a\x00\r\n\r\n", 400),
        (b"GET /plan HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc", 400),
        (b"POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        (b"POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nabc", 400),
        (b"POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc", 400),
        (b"POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 3, 3\r\n\r\nabc", 400),
        (b"POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: +3\r\n\r\nabc", 400),
        (b"POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: -3\r\n\r\nabc", 400),
        (b"POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 0x3\r\n\r\nabc", 400),
        (b"POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 03\r\n\r\nabc", 400),
        (b"POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 1_0\r\n\r\nabc", 400),
        (b"POST /x HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\nabc", 400),
        (b"POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nabc", 400),  # ends too early
        (b"POST /x HTTP/1.1\r\nHost: a\r\nContent-Le", 400),
        (b"DELETE /plan HTTP/1.1\r\nHost: a\r\n\r\n", 405),
        (b"POST /x HTTP/1.1\r\nHost: a\r\n\r\n", 411),
        (b"POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 101\r\n\r\n", 413),
        (b"POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 999999999999999\r\n\r\n", 413),
        (b"POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 9999999999999999\r\n\r\n", 400),
        (b"POST /x HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc", 417),
        (b"GET /plan HTTP/1.1\r\nHost: a\r\n" + b"".join(b"x%d: y\r\n" % i for i in range(64)) + b"\r\n", 431),
        (b"GET /plan HTTP/1.1\r\nHost: a\r\nx: " + b"y" * LONGEST_HEAD + b"\r\n\r\n", 431),
        (b"a" * (2 * LONGEST_HEAD), 431),
        (b"GET /plan HTTP/1.0\r\nHost: a\r\n\r\n", 505),
        (b"GET /plan HTTP/1.2\r\nHost: a\r\n\r\n", 505),
    ],
)
def test_strictness(data, wanted):
    """Whatever could be read in two ways is refused, with the status that says why."""
    assert status(data) == wanted


@pytest.mark.parametrize(
    "data",
    [
        b"GET /plan HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET /plan HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n",
        b"GET /plan HTTP/1.1\r\nHOST:a\r\nAccept:  */*\t\r\nX-Empty:\r\n\r\n",
        b"POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n" + b"a" * 100,
    ],
)
def test_usual_requests_pass(data):
    """The strictness is seen to let good requests pass."""
    head, _ = read(data)
    assert head.fields["host"] == "a"


@pytest.mark.parametrize(
    "data",
    [
        b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 20 OK\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    ],
)
def test_responses_are_read_as_strictly(data):
    """A party does not believe a server that speaks otherwise either."""
    assert 400 <= status(data, answer=True) < 500


def test_slow_senders_are_not_waited_for(monkeypatch):
    """A head or a body that does not come in time is refused with 408."""
    monkeypatch.setattr(wire, "SECONDS", 0.01)
    monkeypatch.setattr(wire, "GLANCE", 0.01)
    assert status(b"GET /plan HT", eof=False) == 408
    assert status(b"POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nabc", eof=False) == 408


def test_refusals_are_json():
    """A refusal tells its three sentences."""
    head, body = read(refusal(Refused(403, ProtocolError("A.", "B.", "C."), close=False)), answer=True)
    assert (head.status, head.closes) == (403, False)
    assert json.loads(body) == {"what": "A.", "why": "B.", "do": "C."}


@given(st.binary(max_size=200), st.sampled_from([b"", b"GET /plan HTTP/1.1\r\n", b"POST /x HTTP/1.1\r\nHost: a\r\n"]))
def test_nothing_else_is_raised(data, start):
    """Whatever comes is a message, or refused."""
    with contextlib.suppress(Refused):
        read(start + data + b"\r\n\r\n")
