"""A party on the network: one connection, one request at a time, the same message again until it is answered.

Messages may come twice without harm, so whatever happens to a connection, the party connects again and repeats itself,
with growing pauses, until the coordinator has been silent for too long. A refusal is final, and so is a certificate
that one side does not trust.
"""

from __future__ import annotations

import asyncio
import json
import ssl
import time
from collections.abc import Callable
from functools import partial
from urllib.parse import urlsplit

from flou.domain import toml
from flou.errors import InvalidParameter, ProtocolError
from flou.joint.agreement.plan import Plan
from flou.joint.estimators.fit import Fit
from flou.joint.session.party import Address, PartySession
from flou.joint.session.replies import reason
from flou.joint.transport import http
from flou.joint.transport.wire import LONGEST_PLAN, Wire, longest_reply

__all__ = ["attend", "fetched_plan"]

HANDSHAKE = 10.0  # seconds to connect
SILENCE = 60.0  # seconds without an answer after which a connection is given up
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 1.0
HANG_UPS = 3  # closed connections in a row, each after a greeting, that are no accident


async def attend(
    session: PartySession,
    url: str,
    context: ssl.SSLContext,
    *,
    give_up: float = 600.0,
    watch: Callable[[Address, bool], None] = lambda _address, _reached: None,
) -> Fit:
    """Take part in a session. ``watch`` learns each step as it begins, and whether the coordinator is reached."""
    longest, place = longest_reply(session.plan), session.plan.hash.hex()
    steps, line = session.run(), _Line(url, context, give_up)
    try:
        address, message = next(steps)
        while True:
            watch(address, True)
            line.trouble = partial(watch, address, False)
            reply = await line.ask("POST", f"/{place}/{address[0]}/{address[1]}", message, longest)
            address, message = steps.send(reply)
    except StopIteration as stop:
        fit: Fit = stop.value
        return fit
    finally:
        await line.close()


async def fetched_plan(url: str, context: ssl.SSLContext, *, give_up: float = 600.0) -> Plan:
    """The plan of a coordinator. Whoever uses it has yet to agree to it."""
    line = _Line(url, context, give_up)
    try:
        data = await line.ask("GET", "/plan", b"", LONGEST_PLAN)
    finally:
        await line.close()
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = "\0"  # no TOML either
    return Plan.from_dict(toml.parsed(text))


class _Line:
    """The connection to the coordinator, made again whenever it breaks."""

    def __init__(self, url: str, context: ssl.SSLContext, give_up: float) -> None:
        self.url, self.context, self.give_up = url, context, give_up
        self.host, self.port, self.prefix = _parts(url)
        self.trouble: Callable[[], None] = lambda: None
        self._wire: Wire | None = None

    async def ask(self, method: str, path: str, body: bytes, longest: int) -> bytes:
        """The body of the answer to a request, which is sent until there is one."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        data = http.request(method, f"{host}:{self.port}", self.prefix + path, body)
        heard, pause, hang_ups = time.monotonic(), FIRST_PAUSE, 0
        while True:
            old = self._wire is not None
            try:
                status, answer = await self._exchange(data, longest)
            except (OSError, http.Refused) as error:
                greeted = self._wire is not None
                self._abort()
                _check_trust(error)
                if old:
                    continue  # it may have ended long ago, while this party was busy
                hang_ups = hang_ups + 1 if greeted and isinstance(error, ConnectionError) else 0
                if hang_ups == HANG_UPS:
                    raise _not_accepted() from None
            else:
                hang_ups = 0
                if status == 200:
                    return answer
                if 400 <= status < 500:
                    raise _refusal(answer)
                if status == 202:
                    heard, pause = time.monotonic(), FIRST_PAUSE
                    continue
            self.trouble()
            if time.monotonic() - heard > self.give_up:
                raise ProtocolError(
                    f"The coordinator at {self.url} has not answered for {self.give_up:g} seconds.",
                    "It is not running, or the network is down.",
                    "Run the same command with the same state once it is reachable: the session then continues.",
                )
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    async def _exchange(self, data: bytes, longest: int) -> tuple[int, bytes]:
        if self._wire is None:
            async with asyncio.timeout(HANDSHAKE):
                streams = await asyncio.open_connection(self.host, self.port, ssl=self.context, limit=http.LONGEST_HEAD)
            self._wire = Wire(*streams)
        await self._wire.send(data)
        head = await self._wire.read_head(SILENCE, answer=True)
        if head is None:
            raise ConnectionResetError if self._wire.reader.at_eof() else TimeoutError
        answer = await self._wire.read_body(head.length, longest)
        if head.closes:
            await self.close()
        return head.status, answer

    def _abort(self) -> None:
        if self._wire is not None:
            self._wire.abort()
            self._wire = None

    async def close(self) -> None:
        if self._wire is not None:
            await self._wire.close()
            self._wire = None


def _parts(url: str) -> tuple[str, int, str]:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port or 443
        sound = parts.scheme == "https" and host and not (parts.query or parts.fragment or parts.username)
        url.encode("ascii")
    except (ValueError, AttributeError):
        sound, host, port = False, None, 0
    if not sound or host is None:
        raise InvalidParameter(
            "The address of the coordinator cannot be used.",
            "Parties talk to it over HTTPS only.",
            "Write it like https://sums.example.org:8443.",
        )
    return host, port, parts.path.rstrip("/")


def _check_trust(error: BaseException) -> None:
    """Refuse to go on if one side does not believe the other's certificate."""
    if isinstance(error, ssl.SSLCertVerificationError):
        raise ProtocolError(
            f"The coordinator's certificate is not trusted ({error.verify_message}).",
            "Somebody else may be answering in its place.",
            "Pass the coordinator's certificate with --ca, and use the name that stands in it.",
        ) from None
    if isinstance(error, ssl.SSLError) and "ALERT" in (error.reason or ""):
        raise _not_accepted() from None


def _not_accepted() -> ProtocolError:
    return ProtocolError(
        "The coordinator closes the connection to this party.",
        "It does not accept the party's certificate, or something in between closes the connection.",
        "Pass the certificate that the coordinator knows, and its key.",
    )


def _refusal(answer: bytes) -> ProtocolError:
    """The reason that the coordinator gives."""
    try:
        told = json.loads(answer)
        sentences = [told[key] for key in ("what", "why", "do")]
    except (ValueError, KeyError, TypeError, RecursionError):
        sentences = []
    return reason(sentences)
