"""The coordinator on the network: it takes messages, and holds the answers until a step closes.

    POST /plan/round/step   a party's message, ``plan`` being the hash of the plan. 200 and the reply once the step is
                            closed; 202 when that takes long: the party sends the same message again
    GET /plan               the plan file

Refusals are 403 for a message that is not the sender's or does not belong here, 404 for what is not there, 409 for a
step that is not open or went on without the sender, 413 for what is too long, and 400 for what is not HTTP; each comes
with a JSON object of three sentences: what, why and do. After the last step the server stays until everyone has the
result, or for a while.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import ssl
from collections.abc import Callable

from flou.errors import FlouError, InvalidParameter, ProtocolError
from flou.joint.session.coordinator import CoordinatorSession
from flou.joint.session.party import Address
from flou.joint.transport.http import LONGEST_HEAD, Refused, refusal, response
from flou.joint.transport.steps import Patience, Steps
from flou.joint.transport.wire import Wire, longest_message

__all__ = ["Patience", "serve"]

OK, ACCEPTED, FORBIDDEN, NOT_FOUND, CONFLICT, TOO_LONG, BUSY = 200, 202, 403, 404, 409, 413, 503
STEPS = ("join", "reveal", "share", "mask", "agree", "unmask", "confirm")
HANDSHAKE = 10.0  # seconds for TLS
SPARE = 64  # connections beyond two for each party
DISCARDED = 1 << 20  # bytes of a refused body that are read, so that its sender sees the refusal

_PATH = re.compile(r"/([0-9a-f]{64})/(0|[1-9][0-9]{0,5})/([a-z]{1,16})")


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
        self.session, self.plan, self.patience = session, session.plan, patience
        self.steps = Steps(session, patience, watch)
        self.most = 2 * len(session.names) + SPARE
        self._tasks: set[asyncio.Task[None]] = set()
        self._told: set[int] = set()  # who has the last reply
        self._settled = asyncio.Event()

    async def run(self) -> None:
        """From the step that is open to the end."""
        await self.steps.start()
        await self.steps.over
        self._settle()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.patience.linger):
                await self._settled.wait()

    async def close(self) -> None:
        """Hang up."""
        self.most = 0
        self.steps.stop()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.sleep(0)  # for what was aborted to be closed

    def _settle(self) -> None:
        """Nobody is left who waits for the last reply."""
        if self.session.done and self._told >= self.steps.last and not self._tasks:
            self._settled.set()

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task, wire = asyncio.current_task(), Wire(reader, writer)
        assert task is not None
        self._tasks.add(task)
        try:
            if len(self._tasks) > self.most:
                raise _refused(BUSY, "The coordinator has too many connections.", "It keeps room for its parties.")
            while await self._exchange(wire):
                pass
            await wire.close()
        except Refused as refused:
            with contextlib.suppress(OSError):
                await wire.send(refusal(refused))
            if refused.status == TOO_LONG:
                await wire.discard(DISCARDED)
            await wire.close()
        except (OSError, asyncio.CancelledError):  # the other side is gone, or does not read; or this is the end
            pass
        except Exception as error:
            self.steps.stop(error)
        finally:
            wire.abort()
            self._tasks.discard(task)
            self._settle()

    async def _exchange(self, wire: Wire) -> bool:
        """A request and its answer; whether there may be another one."""
        head = await wire.read_head(self.patience.step)
        if head is None:
            return False
        sender = None
        try:
            if head.method == "GET":
                data = self._page(head.path)
            else:
                body = await wire.read_body(head.length, longest_message(self.plan, head.path.rpartition("/")[2]))
                sender, data = await self._answer(self._address(head.path), body)
        except Refused as refused:
            if refused.close:
                raise
            data = refusal(refused)
        await wire.send(data)
        if sender is not None and self.session.done:
            self._told.add(sender)
        return not head.closes

    def _page(self, path: str) -> bytes:
        if path != "/plan":
            raise _unknown()
        return response(OK, self.plan.to_toml().encode(), "application/toml; charset=utf-8")

    def _address(self, path: str) -> Address:
        found = _PATH.fullmatch(path)
        if found is None or found[3] not in STEPS:
            raise _unknown()
        if found[1] != self.plan.hash.hex():
            raise _refused(
                NOT_FOUND,
                "The coordinator has another plan.",
                "Every letter of a plan counts: its hash is what parties sign.",
                "Compare your plan file with the coordinator's.",
                close=False,
            )
        return int(found[2]), found[3]

    async def _answer(self, address: Address, message: bytes) -> tuple[int | None, bytes]:
        """The sender of a message, and the response to it."""
        is_open = address == self.session.step.address and not self.session.done
        try:
            sender, reply = await self.steps.answer(address, message)
        except FlouError as error:
            raise Refused(FORBIDDEN if is_open else CONFLICT, error, close=False) from None
        return sender, response(ACCEPTED) if reply is None else response(OK, reply)


def _refused(status: int, what: str, why: str, do: str = "Try again later.", *, close: bool = True) -> Refused:
    return Refused(status, ProtocolError(what, why, do), close=close)


def _unknown() -> Refused:
    return _refused(
        NOT_FOUND,
        "There is nothing at this address.",
        "The coordinator has the page /plan, and takes messages at /plan-hash/round/step.",
        "Check the address of the coordinator.",
        close=False,
    )
