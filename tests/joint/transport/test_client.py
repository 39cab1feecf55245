"""A party on the network: it repeats itself until it is answered, and knows when to stop."""

import asyncio
import json
import time

import pytest

from flou.errors import InvalidParameter, ProtocolError
from flou.joint.session.coordinator import CoordinatorSession
from flou.joint.session.memory import Memory
from flou.joint.transport import client
from flou.joint.transport.client import attend, fetched_plan
from flou.joint.transport.http import refusal, response
from flou.joint.transport.tls import client_context, server_context
from flou.joint.transport.wire import Wire
from joint.transport.served import Group, Served, certificate, total

CUT = b"(cut)"


class Scripted:
    """A coordinator that answers with what it is told to, one request after the other; None hangs up."""

    def __init__(self, folder, answers) -> None:
        self.files = certificate(folder, "scripted", "localhost")
        self.answers, self.bodies, self.connections = list(answers), [], 0

    async def __aenter__(self):
        context = server_context(*self.files)
        self.listener = await asyncio.start_server(self._connected, "127.0.0.1", 0, ssl=context)
        self.url = f"https://localhost:{self.listener.sockets[0].getsockname()[1]}"
        self.trust = client_context(self.files[0])
        return self

    async def __aexit__(self, *_) -> None:
        self.listener.close()

    async def _connected(self, reader, writer) -> None:
        self.connections += 1
        wire = Wire(reader, writer)
        while head := await wire.read_head(5):
            self.bodies.append(await wire.read_body(head.length, 10**6))
            answer = self.answers.pop(0) if self.answers else None
            if answer is None:
                break
            writer.write(answer.removesuffix(CUT))
            if answer.endswith(CUT):
                break
        writer.close()


def test_it_waits_for_the_coordinator(tmp_path):
    """Parties may be there first."""
    group = Group()

    async def main():
        served = Served(tmp_path, group)
        async with served:
            pass  # to know a port that is free
        seen = []
        sessions = [
            asyncio.ensure_future(
                attend(group.party(place), served.url, served.trust, watch=lambda *told: seen.append(told))
            )
            for place in range(3)
        ]
        await asyncio.sleep(0.3)
        served.session = CoordinatorSession(group.plan)
        async with served:
            return seen, await asyncio.gather(*sessions)

    seen, fits = asyncio.run(main())
    assert [fit.totals.tolist() for fit in fits] == [total(range(3))] * 3
    assert ((0, "join"), False) in seen
    assert ((1, "mask"), True) in seen


def test_the_same_message_again(tmp_path):
    """After 202, 503, a cut and a reply that cannot be read, the very same message is sent, over new connections."""
    group, memory = Group(), Memory()
    error = ProtocolError("Enough.", "It is.", "Stop.")
    answers = [
        response(202),
        response(503, b"{}"),
        None,
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc" + CUT,
        None,
        response(200, bytes(10**7)),
        response(202),
        refusal(client.http.Refused(409, error, close=False)),
    ]

    async def main():
        async with Scripted(tmp_path, answers) as scripted:
            with pytest.raises(ProtocolError, match=r"Enough\. It is\. Stop\."):
                await attend(group.party(0, memory), scripted.url, scripted.trust, give_up=20)
            return scripted

    scripted = asyncio.run(main())
    assert scripted.bodies == [memory.recall("0/join")] * len(scripted.bodies)
    assert len(scripted.bodies) >= 7
    assert scripted.connections >= 4


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"no",
        b"[]",
        b'{"what": "a", "why": "b"}',
        b'{"what": 1, "why": 2, "do": 3}',
        json.dumps({"what": "\x1b[2J", "why": "b", "do": "c"}).encode(),
        json.dumps({"what": "a" * 1000, "why": "b", "do": "c"}).encode(),
        b"[" * 20_000,
    ],
)
def test_reasons_that_cannot_be_shown(tmp_path, body):
    """What a coordinator writes as its reason does not reach the terminal unless it is plain text."""
    group = Group()

    async def main():
        async with Scripted(tmp_path, [response(403, body)]) as scripted:
            await attend(group.party(0), scripted.url, scripted.trust, give_up=5)

    with pytest.raises(ProtocolError, match=r"^The coordinator has refused or stopped\. It gives no reason"):
        asyncio.run(main())


def test_it_gives_up(tmp_path):
    """A coordinator that is not there for too long, or only says that it is busy, is left."""
    group = Group()

    async def main(there):
        async with Scripted(tmp_path, [response(503)] * 20) as scripted:
            if not there:
                scripted.listener.close()
            start = time.monotonic()
            with pytest.raises(ProtocolError, match=r"has not answered for 0\.3 seconds"):
                await attend(group.party(0), scripted.url, scripted.trust, give_up=0.3)
            return time.monotonic() - start

    for there in (True, False):
        assert 0.3 < asyncio.run(main(there)) < 3


def test_it_is_hung_up_on(tmp_path):
    """A coordinator that hangs up after every greeting does not want this party."""
    group = Group()

    async def main():
        async with Scripted(tmp_path, [None, None, response(503), None, None, None]) as scripted:
            with pytest.raises(ProtocolError, match="closes the connection to this party"):
                await attend(group.party(0), scripted.url, scripted.trust)
            return scripted

    assert len(asyncio.run(main()).bodies) == 7  # the first one after the answer came over an old connection


@pytest.mark.parametrize(
    "url",
    [
        *("", "localhost:8443", "http://localhost:8443", "https://", "https://a:b", "https://a:99999"),
        *("https://a/?q=1", "https://a/#x", "https://user@a", "https://ü.example", "ftp://a", None, 3),
    ],
)
def test_addresses(url):
    """What is not the address of a server that speaks HTTPS is refused."""
    with pytest.raises(InvalidParameter, match="address of the coordinator cannot be used"):
        asyncio.run(fetched_plan(url, client_context()))


def test_a_plan_that_is_none(tmp_path):
    """What the coordinator calls its plan is checked like any file."""

    async def main(body):
        async with Scripted(tmp_path, [response(200, body)]) as scripted:
            await fetched_plan(scripted.url, scripted.trust)

    for body in (b"", b"\xff\xfe", b"[plan]\nversion = 7\n", b"[" * 1000):
        with pytest.raises(InvalidParameter):
            asyncio.run(main(body))
