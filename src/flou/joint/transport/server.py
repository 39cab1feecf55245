"""The coordinator on the network: it takes messages, holds the answers until a step closes, and never polls.

    POST /plan/round/step   a party's message, ``plan`` being the hash of the plan. 200 and the reply once the step is
                            closed; 202 when that takes long: the party sends the same message again
    GET /plan               the plan file

Refusals are 403 for a message that is not the sender's or does not belong here, 404 for what is not there, 409 for a
step that is not open or went on without the sender, 413 for what is too long, and 400 for what is not HTTP; each comes
with a JSON object of three sentences: what, why and do. A step closes as soon as nobody is missing, or when patience
ends, with those who are there. After the last step the server stays until everyone has the result, or for a while.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import ssl
from collections.abc import Callable
from dataclasses import dataclass

from flou.errors import FlouError, InvalidParameter, ProtocolError
from flou.joint.session.coordinator import CoordinatorSession
from flou.joint.session.party import Address
from flou.joint.transport.http import LONGEST_HEAD, Head, Refused, read_body, read_head, refusal, response, written
from flou.joint.transport.lengths import longest_message

__all__ = ["Patience", "serve"]

OK, ACCEPTED, FORBIDDEN, CONFLICT, TOO_LONG = 200, 202, 403, 409, 413
STEPS = ("join", "reveal", "advertise", "share", "mask", "agree", "unmask", "confirm")
HANDSHAKE = 10.0  # seconds for TLS
SPARE = 64  # connections beyond two for each party
HEAVY, MANY = 20_000, 100  # so many words, or parties, take longer than changing threads does
DISCARDED = 1 << 20  # bytes of a refused body that are read, so that its sender sees the refusal

_PATH = re.compile(r"/([0-9a-f]{64})/(0|[1-9][0-9]{0,5})/([a-z]{1,16})")


@dataclass(frozen=True)
class Patience:
    """How many seconds the coordinator waits."""

    join: float = 3600.0  # for parties to join
    step: float = 60.0  # for messages of every later step
    hold: float = 20.0  # before a request is answered with 202
    linger: float = 30.0  # for parties to fetch the last reply


async def serve(
    session: CoordinatorSession,
    host: str,
    port: int,
    context: ssl.SSLContext,
    patience: Patience | None = None,
    *,
    ready: Callable[[int], None] = lambda _port: None,
    watch: Callable[[], None] = lambda: None,
) -> None:
    """Coordinate a session to its end. ``ready`` learns the port; ``watch`` is called whenever something happened."""
    server = _Server(session, patience or Patience(), watch)
    try:
        listener = await asyncio.start_server(
            server.connected, host, port, ssl=context, limit=LONGEST_HEAD, ssl_handshake_timeout=HANDSHAKE
        )
    except (OSError, OverflowError):
        raise InvalidParameter(
            f"The coordinator cannot listen on {host}, port {port}.",
            "The address is not of this machine, or another program listens there.",
            "Choose another --host or --port.",
        ) from None
    try:
        ready(listener.sockets[0].getsockname()[1])
        await server.run()
    finally:
        listener.close()
        await server.close()


class _Server:
    def __init__(self, session: CoordinatorSession, patience: Patience, watch: Callable[[], None]) -> None:
        self.session, self.patience, self.watch = session, patience, watch
        self.plan = session.plan
        self.plan_file = self.plan.to_toml().encode()
        parties = len(session.names)
        self.most = 2 * parties + SPARE
        self.heavy = parties > MANY or parties * self.plan.program.scalars > HEAVY
        self._closed = asyncio.Event()  # of the open step
        self._free = asyncio.Event()  # not set while the session is busy in a thread
        self._free.set()
        self._over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._settled = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._last = session.step.expected  # whose messages were there when the last step closed
        self._told: set[int] = set()  # who has the last reply

    # Steps

    async def run(self) -> None:
        """From the step that is open to the end."""
        if self.session.done:
            self._over.set_result(None)
        elif not self.session.missing:  # it was stopped when the last message had come, and is started again
            await self._close()
        else:
            self._set_timer()
        self.watch()
        await self._over
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.patience.linger):
                await self._settled.wait()

    async def close(self) -> None:
        """Hang up."""
        if self._timer is not None:
            self._timer.cancel()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _set_timer(self) -> None:
        step = self.session.step.address
        seconds = self.patience.join if step[1] == "join" else self.patience.step
        self._timer = asyncio.get_running_loop().call_later(seconds, self._expire, step)

    def _expire(self, step: Address) -> None:
        if step == self.session.step.address and self._free.is_set():
            task = asyncio.ensure_future(self._close())
            self._tasks.add(task)
            task.add_done_callback(self._expired)

    def _expired(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # if there is one, the server stops with it
        self._settle()

    async def _close(self) -> None:
        """End the open step, and those after it that wait for nobody."""
        session = self.session
        if self._timer is not None:
            self._timer.cancel()
        self._free.clear()
        try:
            first = True
            while not session.done and (first or not session.missing):
                first, self._last = False, session.step.expected - session.missing
                if self.heavy:
                    await asyncio.to_thread(session.close)
                else:
                    session.close()
        except Exception as error:
            self._stop(error)
            raise
        self._free.set()
        closed, self._closed = self._closed, asyncio.Event()
        closed.set()
        if not session.done:
            self._set_timer()
        elif not self._over.done():
            self._over.set_result(None)
        self.watch()

    def _stop(self, error: Exception) -> None:
        """A full disk, say: what was kept until now is enough to go on later."""
        if not self._over.done():
            self._over.set_exception(error)

    def _settle(self) -> None:
        """Nobody is left who waits for the last reply."""
        if self.session.done and self._told >= self._last and not self._tasks:
            self._settled.set()

    # Connections

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            if len(self._tasks) > self.most:
                raise _busy()
            while await self._exchange(reader, writer):
                pass
        except Refused as refused:
            with contextlib.suppress(OSError, TimeoutError):
                await written(writer, refusal(refused))
                if refused.status == TOO_LONG:
                    await _discard(reader)
        except (OSError, TimeoutError):  # the other side is gone, or does not read
            pass
        except asyncio.CancelledError:  # the end
            pass
        except Exception as error:
            self._stop(error)
        finally:
            self._tasks.discard(task)
            writer.close()
            self._settle()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """A request and its answer; whether there may be another one."""
        head = await read_head(reader, idle=self.patience.step)
        if head is None:
            return False
        sender = None
        try:
            if head.method == "GET":
                data = self._page(head)
            else:
                body = await read_body(reader, head.length, self._longest(head.path))
                sender, reply = await self._answer(self._address(head.path), body)
                data = response(ACCEPTED) if reply is None else response(OK, reply)
        except Refused as refused:
            if refused.close:
                raise
            data = refusal(refused)
        await written(writer, data)
        if sender is not None and self.session.done:
            self._told.add(sender)
        return not head.closes

    def _page(self, head: Head) -> bytes:
        if head.path != "/plan":
            raise _unknown()
        return response(OK, self.plan_file, "application/toml; charset=utf-8")

    def _longest(self, path: str) -> int:
        return longest_message(self.plan, path.rpartition("/")[2])

    def _address(self, path: str) -> Address:
        found = _PATH.fullmatch(path)
        if found is None or found[3] not in STEPS:
            raise _unknown()
        if found[1] != self.plan.hash.hex():
            raise _other_plan()
        return int(found[2]), found[3]

    async def _answer(self, address: Address, message: bytes) -> tuple[int, bytes | None]:
        """The sender of a message, and the reply to it; None if the step is still open after a while."""
        while not self._free.is_set():
            await self._free.wait()
        session = self.session
        open_now = address == session.step.address and not session.done
        try:
            sender = session.receive(address, message)
        except FlouError as error:
            raise Refused(FORBIDDEN if open_now else CONFLICT, error, close=False) from None
        except OSError as error:
            self._stop(error)
            raise
        reply = session.reply(address, sender)
        if reply is None and session.missing:
            closed = self._closed
            self.watch()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self.patience.hold):
                    await closed.wait()
            reply = session.reply(address, sender)
        elif reply is None:
            await self._close()
            reply = session.reply(address, sender)
        return sender, reply


async def _discard(reader: asyncio.StreamReader) -> None:
    """Read a part of what is not wanted: a connection that is closed before would take the refusal with it."""
    left = DISCARDED
    async with asyncio.timeout(1):
        while left > 0 and (data := await reader.read(left)):
            left -= len(data)


def _unknown() -> Refused:
    error = ProtocolError(
        "There is nothing at this address.",
        "The coordinator has the page /plan, and takes messages at /plan-hash/round/step.",
        "Check the address of the coordinator.",
    )
    return Refused(404, error, close=False)


def _other_plan() -> Refused:
    error = ProtocolError(
        "The coordinator has another plan.",
        "Every letter of a plan counts: its hash is what parties sign.",
        "Compare your plan file with the coordinator's.",
    )
    return Refused(404, error, close=False)


def _busy() -> Refused:
    error = ProtocolError(
        "The coordinator has too many connections.",
        "It keeps room for its parties.",
        "Try again later.",
    )
    return Refused(503, error)
