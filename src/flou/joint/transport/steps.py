"""A coordinator's session in time: steps that close when nobody is missing, or when patience ends.

Whoever has sent a message waits here for the reply, without polling: everyone who waits is woken when the step closes,
and now and then before, to ask again. What takes long is done in a thread, and new messages wait until it is done.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from flou.joint.session.coordinator import CoordinatorSession
from flou.joint.session.party import Address

__all__ = ["Patience", "Steps"]

HEAVY, MANY = 200_000, 100  # words, or parties, from which on a step takes long enough for a thread


@dataclass(frozen=True)
class Patience:
    """How many seconds the coordinator waits."""

    join: float = 3600.0  # for parties to join
    step: float = 60.0  # for messages of every later step
    hold: float = 20.0  # at most, before a request is answered with 202
    linger: float = 30.0  # for parties to fetch the last reply


class Steps:
    """The steps of a session, one after the other."""

    def __init__(self, session: CoordinatorSession, patience: Patience, watch: Callable[[], None]) -> None:
        self.session, self.patience, self.watch = session, patience, watch
        parties = len(session.names)
        self._many, self._heavy = parties > MANY, parties * session.plan.program.scalars > HEAVY
        self._loop = asyncio.get_running_loop()
        self.over: asyncio.Future[None] = self._loop.create_future()
        self.last = session.step.expected  # whose messages were there when the last step closed
        self._busy = False  # in a thread
        self._news = asyncio.Event()
        self._end: asyncio.TimerHandle | None = None  # of the open step
        self._reminder: asyncio.TimerHandle | None = None
        self._closing: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Go on with the step that is open."""
        self._remind()
        if self.session.done:
            self.over.set_result(None)
        elif not self.session.missing:  # it was stopped when the last message had come, and is started again
            await self._close()
        else:
            self._set_end()
        self.watch()

    def stop(self, error: Exception | None = None) -> None:
        """Wait for nothing any more."""
        for timer in (self._end, self._reminder):
            if timer is not None:
                timer.cancel()
        if error is not None and not self.over.done():
            self.over.set_exception(error)

    async def answer(self, address: Address, message: bytes) -> tuple[int | None, bytes | None]:
        """The sender of a message and the reply to it; no reply if it is time to ask again."""
        if self._busy:
            await self._news.wait()
            if self._busy:
                return None, None
        session = self.session
        try:
            sender = session.receive(address, message)
        except OSError as error:  # a full disk, say: what was kept until now is enough to go on later
            self.stop(error)
            raise
        reply = session.reply(address, sender)
        if reply is None:
            if session.missing:
                self.watch()
                await self._news.wait()
            else:
                await self._close()
            reply = session.reply(address, sender)
        return sender, reply

    async def _close(self) -> None:
        """End the open step, and those after it that wait for nobody."""
        session = self.session
        if self._end is not None:
            self._end.cancel()
        try:
            first = True
            while not session.done and (first or not session.missing):
                first, self.last = False, session.step.expected - session.missing
                if self._many or (self._heavy and session.step.address[1] == "unmask"):
                    self._busy = True
                    await asyncio.to_thread(session.close)
                    self._busy = False
                else:
                    session.close()
        except Exception as error:
            self.stop(error)
            raise
        if not session.done:
            self._set_end()
        elif not self.over.done():
            self.over.set_result(None)
        self._tell()
        self.watch()

    # Times

    def _set_end(self) -> None:
        step = self.session.step.address
        seconds = self.patience.join if step[1] == "join" else self.patience.step
        self._end = self._loop.call_later(seconds, self._expire, step)

    def _expire(self, step: Address) -> None:
        if step == self.session.step.address and not self._busy:
            self._closing = asyncio.ensure_future(self._close())
            self._closing.add_done_callback(
                lambda task: task.cancelled() or task.exception()
            )  # the server stops with it

    def _remind(self) -> None:
        self._tell()
        self._reminder = self._loop.call_later(self.patience.hold, self._remind)

    def _tell(self) -> None:
        """Wake everyone who waits."""
        news, self._news = self._news, asyncio.Event()
        news.set()
