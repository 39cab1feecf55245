"""One connection: messages in and out, each with a time by which it must be done.

Times are watched by one timer a connection that looks once in a while, so giving a time costs nothing. Whoever sends
too slowly, or does not read what is sent, is cut off. How long a message can be follows from the plan.
"""

from __future__ import annotations

import asyncio
import contextlib

from flou.joint.agreement.plan import Plan
from flou.joint.masking.codec import WIDEST
from flou.joint.session.opening import FULL
from flou.joint.transport.http import Head, malformed, parsed_head, too_long

__all__ = ["LONGEST_PLAN", "Wire", "longest_message", "longest_reply"]

LONGEST_PLAN = 1 << 25  # bytes of a plan file: 100,000 parties take 9 million
SIGNED = 1 << 12  # a body without lists, and its signature
SHARES = 256  # for a neighbour: its number and two sealed shares


def longest_message(plan: Plan, step: str) -> int:
    """No message of a party in this step has more bytes."""
    size = SIGNED + len(plan.roster) // 8  # a set of parties
    if step == "mask":
        return size + plan.program.scalars * WIDEST // 8
    return size + plan.resilience.neighbours * SHARES * (2 if step == "unmask" else step in ("reveal", "share"))


def longest_reply(plan: Plan) -> int:
    """No reply of the coordinator has more bytes: sums, the next question, and the messages of those who are seen."""
    words, shares = longest_message(plan, "mask"), longest_message(plan, "unmask")
    seen = min(len(plan.roster), FULL)
    return 3 * words + 64 * len(plan.roster) + seen * (words + shares + 4 * SIGNED)


SECONDS = 10.0  # for a head, and for a body on top of its length
SLOWEST = 1 << 16  # bytes a second of a body
SLICE = 1 << 18  # bytes
GLANCE = 1.0  # seconds between two looks at the time


class Wire:
    """The two ends of a connection, for the side that has them."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        self._time = asyncio.get_running_loop().time
        self._end: float | None = None  # of what is being waited for
        self._timer = asyncio.get_running_loop().call_later(GLANCE, self._glance)

    def _glance(self) -> None:
        if self._end is not None and self._time() >= self._end:
            self.reader.set_exception(TimeoutError())  # whoever is reading learns it at once
            if self.writer.transport.get_write_buffer_size():
                self.writer.transport.abort()
        elif not self.writer.is_closing():
            self._timer = asyncio.get_running_loop().call_later(GLANCE, self._glance)

    async def read_head(self, idle: float, *, answer: bool = False) -> Head | None:
        """The next message's head, or None when the connection ends, or nothing comes for ``idle`` seconds."""
        self._end = self._time() + idle
        try:
            first = await self.reader.read(1)
        except TimeoutError:
            return None
        if not first:
            return None
        self._end = self._time() + SECONDS
        try:
            rest = await self.reader.readuntil(b"\r\n\r\n")
        except TimeoutError:
            raise malformed("The head of a message did not come in time.", 408) from None
        except asyncio.LimitOverrunError:
            raise too_long() from None
        except asyncio.IncompleteReadError:
            raise malformed("The connection ended within the head of a message.") from None
        self._end = None
        return parsed_head(first + rest[:-4], answer)

    async def read_body(self, length: int, longest: int) -> bytes:
        """The body of a message; a longer one than allowed is refused before it is read."""
        if length > longest:
            raise malformed(f"The body of a message is longer than {longest} bytes.", 413)
        self._end = self._time() + SECONDS + length / SLOWEST
        try:
            body = await self.reader.readexactly(length)
        except TimeoutError:
            raise malformed("The body of a message did not come in time.", 408) from None
        except asyncio.IncompleteReadError:
            raise malformed("The connection ended within the body of a message.") from None
        self._end = None
        return body

    async def discard(self, most: int) -> None:
        """Read a part of what is not wanted: a connection that is closed before would take the refusal with it."""
        with contextlib.suppress(TimeoutError, OSError):
            async with asyncio.timeout(1):
                while most > 0 and (data := await self.reader.read(most)):
                    most -= len(data)

    async def send(self, data: bytes) -> None:
        """Send bytes; if the other side does not take them in time the connection ends."""
        self._end = self._time() + SECONDS + len(data) / SLOWEST
        for start in range(
            0, len(data), SLICE
        ):  # a connection with TLS takes any amount at once, and keeps it in memory
            self.writer.write(data[start : start + SLICE])
            await self.writer.drain()
        self._end = None

    def abort(self) -> None:
        """End at once."""
        self._timer.cancel()
        self.writer.transport.abort()

    async def close(self) -> None:
        """Say goodbye, for a moment."""
        self._timer.cancel()
        self.writer.close()
        try:
            async with asyncio.timeout(1):
                await self.writer.wait_closed()
        except OSError:  # a TimeoutError, too
            self.abort()
