"""The coordinator on the network: sessions, refusals, patience, slow and rude clients."""

import asyncio
import socket
import threading
import time

import numpy as np
import pytest

from flou.errors import InvalidParameter, ProtocolError
from flou.joint.agreement.canonical import digest
from flou.joint.agreement.identity import Identity, Roster
from flou.joint.agreement.plan import Plan
from flou.joint.estimators.distribution.vector_sum import VectorSum
from flou.joint.round.messages import Message, signed
from flou.joint.session.coordinator import CoordinatorSession
from flou.joint.session.memory import Memory
from flou.joint.session.party import PartySession
from flou.joint.simulation import converse
from flou.joint.transport import http, server, steps, wire
from flou.joint.transport.client import attend, fetched_plan
from flou.joint.transport.http import request
from flou.joint.transport.wire import longest_message, longest_reply
from joint.transport.served import ANY, Group, Served, sentences, total


def joined(group, place) -> bytes:
    """The first message of a party."""
    (_, message) = next(group.party(place).run())
    return message


async def attended(served, places):
    """What comes of parties that take part at the same time: fits, or reasons."""
    sessions = [served.group.party(place) for place in places]
    return await asyncio.gather(
        *(attend(session, served.url, served.trust, give_up=5) for session in sessions), return_exceptions=True
    )


def test_a_session(tmp_path):
    """Everyone gets the sum, and the server stops as soon as everyone has it."""
    group = Group(5)

    async def main():
        async with Served(tmp_path, group, linger=20) as served:
            start = time.monotonic()
            fits = await attended(served, range(5))
            await asyncio.wait_for(served.task, 10)
            assert time.monotonic() - start < 10
            return served.session.fit, fits

    fit, fits = asyncio.run(main())
    assert fit.totals.tolist() == total(range(5))
    assert all(found.totals.tolist() == total(range(5)) for found in fits)
    assert {found.provenance for found in fits} == {fit.provenance}


def test_the_plan_is_there_for_everyone(tmp_path):
    """The plan comes with the same hash, over a connection that stays open."""
    group = Group()

    async def main():
        async with Served(tmp_path, group) as served:
            fetched = await fetched_plan(served.url, served.trust)
            line = await served.line()
            answers = [await line.ask(request("GET", "localhost", "/plan")) for _ in range(3)]
            await line.close()
            return fetched, answers

    fetched, answers = asyncio.run(main())
    assert isinstance(fetched, Plan)
    assert fetched.hash == group.plan.hash
    assert answers == [(200, group.plan.to_toml().encode())] * 3


def test_what_is_not_there(tmp_path):
    """Other pages, other steps and other plans are not found."""
    group, other = Group(), Group()

    async def main():
        message = joined(group, 0)
        async with Served(tmp_path, group) as served:
            for path in ("/", "/plan/", "/favicon.ico", "/%2e%2e/plan"):
                assert (await served.ask("GET", path))[0] == 404
            for path in (
                "/plan",
                group.path(0, "joins"),
                group.path(0, "JOIN"),
                "/" + group.path(0, "join"),
                group.path(0, "join") + "?x=1",
                group.path("00", "join"),
                group.path(-1, "join"),
                group.path(0, "join").upper(),
            ):
                status, body = await served.ask("POST", path, message)
                assert (status, "nothing at this address" in sentences(body)) == (404, True)
            status, body = await served.ask("POST", other.path(0, "join"), message)
            assert (status, "another plan" in sentences(body)) == (404, True)
            return served.session.missing

    assert len(asyncio.run(main())) == 3


def forged(group) -> dict[str, bytes]:
    """First messages that nobody of the group has signed like this."""
    plan, good = group.plan, Message.from_bytes(joined(group, 0))
    stranger, place = Identity.generate("p0"), good.sender
    content = {"commitment": good.content["commitment"]}
    return {
        "nothing": b"",
        "garbage": b"\xff" * 40,
        "unsigned": Message(place, good.body, bytes(64)).to_bytes(),
        "no signature": Message(place, good.body, b"").to_bytes(),
        "one bit": Message(place, good.body, bytes([good.signature[0] ^ 1]) + good.signature[1:]).to_bytes(),
        "another sender": Message((place + 1) % 3, good.body, good.signature).to_bytes(),
        "an unknown sender": Message(77, good.body, good.signature).to_bytes(),
        "a stranger": signed(stranger, place, plan.hash, "join", content).to_bytes(),
        "another plan": signed(group.identities[0], place, bytes(32), "join", content).to_bytes(),
        "another step": signed(group.identities[0], place, plan.hash, "reveal", content).to_bytes(),
        "no commitment": signed(group.identities[0], place, plan.hash, "join", {}).to_bytes(),
        "trailing": good.to_bytes() + b"\x00",
    }


def test_forged_messages(tmp_path):
    """What is not signed by its sender for this place is refused with 403, and changes nothing."""
    group = Group()

    async def main():
        async with Served(tmp_path, group) as served:
            line = await served.line()  # the connection survives a refusal
            for kind, message in forged(group).items():
                status, body = await line.ask(request("POST", "localhost", group.path(0, "join"), message))
                assert (kind, status) == (kind, 403)
                assert sentences(body)
            await line.close()
            assert len(served.session.missing) == 3
            return await attended(served, range(3))

    assert [fit.totals.tolist() for fit in asyncio.run(main())] == [total(range(3))] * 3


def test_messages_for_other_steps(tmp_path):
    """A step that is not open yet is 409, and so is one that is closed, unless the message was there in time."""
    group, late = Group(4, dropouts=1), []

    async def main():
        async with Served(tmp_path, group, join=0.3, linger=5) as served:
            line, message = await served.line(), joined(group, 3)
            status, _ = await line.ask(request("POST", "localhost", group.path(1, "mask"), message))
            assert status == 409
            fits = await attended(served, range(3))
            late.append(await line.ask(request("POST", "localhost", group.path(0, "join"), message)))
            await line.close()
            return fits

    fits = asyncio.run(main())
    assert [fit.totals.tolist() for fit in fits] == [total(range(3))] * 3
    ((status, body),) = late
    assert (status, "p3 came too late" in sentences(body)) == (409, True)


def test_replays(tmp_path):
    """A message that comes again gets the same reply; one of another session, or a second first message, is refused."""
    group = Group()

    async def main():
        first, second = joined(group, 0), joined(group, 0)  # two sessions of the same party: other nonces
        async with Served(tmp_path, group, hold=0.05) as served:
            assert (await served.ask("POST", group.path(0, "join"), first))[0] == 202
            assert (await served.ask("POST", group.path(0, "join"), first))[0] == 202
            status, body = await served.ask("POST", group.path(0, "join"), second)
            assert (status, "contradicts" in sentences(body)) == (403, True)
            for place in (1, 2):
                status, reply = await served.ask("POST", group.path(0, "join"), joined(group, place))
            assert status == 200
            assert (await served.ask("POST", group.path(0, "join"), first)) == (200, reply)
            assert (await served.ask("POST", group.path(0, "join"), second))[0] == 409
            assert (await served.ask("POST", group.path(0, "reveal"), first))[0] == 403

    asyncio.run(main())


def test_long_messages(tmp_path):
    """A body that is longer than any message of its step is refused before it is read."""
    group = Group()

    async def main():
        async with Served(tmp_path, group) as served:
            longest = longest_message(group.plan, "join")
            status, body = await served.ask("POST", group.path(0, "join"), bytes(longest))
            assert status == 403  # read, and not understood
            status, body = await served.ask("POST", group.path(0, "join"), bytes(longest + 1))
            assert (status, "longer" in sentences(body)) == (413, True)
            line = await served.line()
            head = f"POST {group.path(1, 'mask')} HTTP/1.1\r\nHost: a\r\nContent-Length: 999999999999\r\n\r\n"
            status, _ = await line.ask(head.encode())
            assert status == 413
            assert await line.ended()
            await line.close()

    asyncio.run(main())


@pytest.mark.parametrize(("parties", "words"), [(5, 1), (5, 2000), (20, 100)])
def test_messages_fit_into_their_limits(parties, words):
    """No message of a party and no reply of the coordinator is as long as its limit, and no limit is far above."""
    identities = [Identity.generate(f"p{place}") for place in range(parties)]
    plan = Plan(Roster.of(identities), VectorSum("x", words, limit=2**62, fraction=64))
    coordinator, longest = CoordinatorSession(plan), {}
    receive = coordinator.receive

    def noted(address, data):
        assert len(data) < longest_message(plan, address[1])
        longest["message"] = max(longest.get("message", 0), len(data))
        return receive(address, data)

    def replied(_party, _address, reply):
        assert len(reply) < longest_reply(plan)
        longest["reply"] = max(longest.get("reply", 0), len(reply))
        return reply

    coordinator.receive = noted
    sessions = {
        plan.roster.index(identity): PartySession(identity, plan, plan.rows({"x": np.ones(words)}), ANY)
        for identity in identities
    }
    lost = lambda party, address: (party, address) == (2, (1, "mask"))  # noqa: E731
    outcome = converse(coordinator, sessions, lost=lost, tampered=replied)
    assert len(outcome.fits) == parties - 1
    assert longest["message"] > longest_message(plan, "mask") / 20
    assert longest["reply"] > longest_reply(plan) / 60


def test_what_is_not_http(tmp_path):
    """A malformed request is answered with 400, and the connection is closed."""
    group = Group()

    async def main():
        async with Served(tmp_path, group) as served:
            for data in (b"hello\r\n\r\n", b"GET /plan HTTP/1.1\nHost: a\n\r\n\r\n"):
                line = await served.line()
                status, body = await line.ask(data)
                assert (status, bool(sentences(body))) == (400, True)
                assert await line.ended()
                await line.close()

    asyncio.run(main())


def test_slow_and_silent_clients(tmp_path, monkeypatch):
    """Who sends half a request is told 408 and hung up on; who sends nothing, too; the others are served meanwhile."""
    monkeypatch.setattr(wire, "SECONDS", 0.3)
    monkeypatch.setattr(wire, "GLANCE", 0.05)
    group = Group()

    async def main():
        async with Served(tmp_path, group, step=1.0, linger=5) as served:
            slow, silent = await served.line(), await served.line()
            asked = asyncio.ensure_future(slow.ask(b"POST /x HTTP/1.1\r\nHost: "))
            fits = await attended(served, range(3))
            status, _ = await asked
            assert status == 408
            assert await slow.ended()
            assert await silent.ended()
            await slow.close()
            await silent.close()
            return fits

    assert [fit.totals.tolist() for fit in asyncio.run(main())] == [total(range(3))] * 3


def test_clients_that_do_not_read(tmp_path, monkeypatch):
    """Who asks for much and reads nothing is cut off."""
    much = 1 << 25
    monkeypatch.setattr(server._Server, "_page", lambda *_: http.response(200, bytes(much)))

    async def main(pause):
        async with Served(tmp_path, Group()) as served:
            line = await served.line()
            line.writer.write(request("GET", "localhost", "/plan"))
            await asyncio.sleep(pause)
            try:
                return len(await line.reader.readexactly(much))
            except (ConnectionError, asyncio.IncompleteReadError):
                return 0
            finally:
                line.writer.transport.abort()

    assert asyncio.run(main(0.0)) == much
    monkeypatch.setattr(wire, "SECONDS", 0.2)
    monkeypatch.setattr(wire, "SLOWEST", 1 << 30)
    monkeypatch.setattr(wire, "GLANCE", 0.05)
    assert asyncio.run(main(1.0)) == 0


def test_many_connections(tmp_path, monkeypatch):
    """There is room for the parties and some more; who comes then is sent away with 503."""
    monkeypatch.setattr(server, "SPARE", 0)
    group = Group()

    async def main():
        async with Served(tmp_path, group) as served:
            lines = [await served.line() for _ in range(6)]
            assert (await served.ask("GET", "/plan"))[0] == 503
            for line in lines:
                await line.close()
            await asyncio.sleep(0.1)
            assert (await served.ask("GET", "/plan"))[0] == 200

    asyncio.run(main())


def test_patience_ends(tmp_path):
    """A step closes with those who are there; below the minimum everyone is told why the session ends."""
    group = Group(4, dropouts=1)

    async def main(places):
        async with Served(tmp_path, group, join=0.3) as served:
            found = await attended(served, places)
            await asyncio.wait_for(served.task, 10)
            return served.session, found

    session, fits = asyncio.run(main([0, 1, 3]))
    assert session.fit.provenance.parties == ("p0", "p1", "p3")
    assert [fit.totals.tolist() for fit in fits] == [total([0, 1, 3])] * 3
    session, reasons = asyncio.run(main([0, 2]))
    assert session.fit is None
    assert isinstance(session.failure, ProtocolError)
    assert [str(reason) for reason in reasons] == [str(session.failure)] * 2
    assert "missing: p1, p3" in str(session.failure)


def test_the_last_reply_can_be_fetched_again(tmp_path):
    """Who has lost its last reply asks again, and gets the same; later the server is gone."""
    group = Group()

    async def main():
        async with Served(tmp_path, group, linger=0.5) as served:
            memory = Memory()
            line = await served.line()  # somebody who does not hang up
            await asyncio.gather(
                attend(group.party(0, memory), served.url, served.trust),
                *(attend(group.party(place), served.url, served.trust) for place in (1, 2)),
            )
            status, reply = await served.ask("POST", group.path(2, "confirm"), memory.recall("2/confirm"))
            assert status == 200
            assert memory.recall("2/confirm/reply") == digest("reply", reply)
            await asyncio.wait_for(served.task, 10)
            assert await line.ended()
            await line.close()
            with pytest.raises(ConnectionRefusedError):
                await served.ask("GET", "/plan")

    asyncio.run(main())


def test_a_long_step_does_not_stop_the_server(tmp_path, monkeypatch):
    """While the sums are added up in a thread, others are answered, and parties are asked to come again."""
    monkeypatch.setattr(steps, "HEAVY", 1)
    group, threads, accepted = Group(), [], []
    close, written = CoordinatorSession.close, server.response

    def slowly(session):
        if session.step.address == (1, "unmask"):
            threads.append(threading.current_thread())
            time.sleep(1.0)
        close(session)

    def noted(status, *more):
        accepted.append(status == 202)
        return written(status, *more)

    monkeypatch.setattr(server, "response", noted)

    monkeypatch.setattr(CoordinatorSession, "close", slowly)

    async def main():
        async with Served(tmp_path, group, hold=0.2) as served:
            sessions = asyncio.ensure_future(attended(served, range(3)))
            while not (served.session.step.address == (1, "unmask") and not served.session.missing):
                await asyncio.sleep(0.01)
            start = time.monotonic()
            assert (await served.ask("GET", "/plan"))[0] == 200
            seconds = time.monotonic() - start
            assert not sessions.done()
            return seconds, await sessions

    seconds, fits = asyncio.run(main())
    assert seconds < 0.7
    assert [fit.totals.tolist() for fit in fits] == [total(range(3))] * 3
    assert len(threads) == 1
    assert threading.main_thread() not in threads
    assert sum(accepted) >= 6  # three parties, and five times within a second


@pytest.mark.parametrize("failing", ["/1", "/closed"])
def test_a_disk_that_fails(tmp_path, failing):
    """What cannot be kept is not acted upon: the server stops with the error."""

    class Full(Memory):
        def keep(self, key, value, **how):
            if key.startswith("0/reveal") and key.endswith(failing):  # by then all connections are made
                raise OSError(28, "No space left on device")
            return super().keep(key, value, **how)

    async def main():
        async with Served(tmp_path, Group(), memory=Full()) as served:
            parties = asyncio.ensure_future(attended(served, range(3)))
            with pytest.raises(OSError, match="No space left"):
                await asyncio.wait_for(asyncio.shield(served.task), 10)
            parties.cancel()
            await asyncio.gather(parties, return_exceptions=True)
            served.task = asyncio.ensure_future(asyncio.sleep(0))

    asyncio.run(main())


def test_a_port_that_is_taken(tmp_path):
    """An address that cannot be listened on is refused in three sentences."""
    group = Group()

    async def main():
        async with Served(tmp_path, group) as served:
            second = Served(tmp_path, group)
            second.port = served.port
            with pytest.raises(InvalidParameter, match="cannot listen on"):
                await second.__aenter__()

    asyncio.run(main())


def test_small_packets_leave_at_once(tmp_path, monkeypatch):
    """Neither side waits for more to send: TCP_NODELAY is set on both."""
    group, sockets = Group(), []
    exchange = server._Server._exchange

    async def noted(self, line):
        sockets.append(line.writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        return await exchange(self, line)

    monkeypatch.setattr(server._Server, "_exchange", noted)

    async def main():
        async with Served(tmp_path, group) as served:
            line = await served.line()
            sockets.append(line.writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            await line.ask(request("GET", "localhost", "/plan"))
            await line.close()

    asyncio.run(main())
    assert len(sockets) >= 2
    assert all(sockets)
