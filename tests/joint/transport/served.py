"""A coordinator on a port of this machine, and parties with small vectors, all in one loop."""

from __future__ import annotations

import asyncio
import contextlib
import json
import ssl
from pathlib import Path

import numpy as np

from flou.joint.agreement.identity import Identity, Roster
from flou.joint.agreement.plan import Plan
from flou.joint.agreement.policy import Policy
from flou.joint.estimators.distribution.vector_sum import VectorSum
from flou.joint.session.coordinator import CoordinatorSession
from flou.joint.session.party import PartySession
from flou.joint.transport.http import request
from flou.joint.transport.server import Patience, serve
from flou.joint.transport.tls import client_context, self_signed, server_context

ANY = Policy(rows_per_scalar=0, colluders=0)
VECTORS = [np.array([1.0, 2, 3]) * 10**place for place in range(5)]


class Group:
    """A plan and its parties."""

    def __init__(self, parties: int = 3, **terms) -> None:
        self.identities = [Identity.generate(f"p{place}") for place in range(parties)]
        self.plan = Plan(Roster.of(self.identities), VectorSum("x", 3), **terms)

    def party(self, place: int, memory=None) -> PartySession:
        rows = self.plan.rows({"x": VECTORS[place]})
        return PartySession(self.identities[place], self.plan, rows, ANY, memory)

    def path(self, number: int, step: str) -> str:
        return f"/{self.plan.hash.hex()}/{number}/{step}"


def total(places) -> list[float]:
    return sum(VECTORS[place] for place in places).tolist()


def certificate(folder: Path, name: str, *hosts: str) -> tuple[Path, Path]:
    """A certificate and its key, as files."""
    paths = folder / f"{name}.pem", folder / f"{name}-key.pem"
    for path, data in zip(paths, self_signed(*hosts), strict=True):
        path.write_bytes(data)
    return paths


class Served:
    """A running coordinator: ``async with Served(...) as served``."""

    def __init__(self, folder: Path, group: Group, *, client_ca=None, memory=None, **patience) -> None:
        self.group, self.session = group, CoordinatorSession(group.plan, memory)
        self.files = certificate(folder, "coordinator", "localhost", "127.0.0.1")
        self.context = server_context(*self.files, client_ca)
        self.trust = client_context(self.files[0])
        self.patience = Patience(**{"join": 20.0, "step": 20.0, "linger": 0.2} | patience)
        self.port = 0

    async def __aenter__(self) -> Served:
        ready = asyncio.get_running_loop().create_future()
        self.task = asyncio.ensure_future(
            serve(self.session, "127.0.0.1", self.port, self.context, self.patience, ready=ready.set_result)
        )
        await asyncio.wait([ready, self.task], return_when=asyncio.FIRST_COMPLETED)
        if self.task.done():
            self.task.result()
        self.port = ready.result()
        return self

    async def __aexit__(self, *_) -> None:
        self.task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self.task

    @property
    def url(self) -> str:
        return f"https://localhost:{self.port}"

    async def line(self, context: ssl.SSLContext | None = None) -> Line:
        streams = await asyncio.open_connection("localhost", self.port, ssl=context or self.trust)
        return Line(*streams)

    async def ask(self, method: str, path: str, body: bytes = b"") -> tuple[int, bytes]:
        """One request on a connection of its own."""
        line = await self.line()
        answer = await line.ask(request(method, "localhost", path, body))
        await line.close()
        return answer


class Line:
    """A connection on which anything may be said."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def ask(self, data: bytes) -> tuple[int, bytes]:
        """Send bytes and read a response, in the plainest way."""
        self.writer.write(data)
        head = (await asyncio.wait_for(self.reader.readuntil(b"\r\n\r\n"), 10)).decode()
        length = int(head.lower().partition("content-length: ")[2].partition("\r\n")[0])
        return int(head.split(" ")[1]), await self.reader.readexactly(length)

    async def ended(self, seconds: float = 5.0) -> bool:
        """Whether the other side hangs up."""
        with contextlib.suppress(ConnectionError):
            return await asyncio.wait_for(self.reader.read(), seconds) == b""
        return True

    async def close(self) -> None:
        self.writer.close()
        with contextlib.suppress(OSError):
            await self.writer.wait_closed()


def sentences(body: bytes) -> str:
    """The reason of a refusal."""
    told = json.loads(body)
    assert list(told) == ["what", "why", "do"]
    assert all(text.endswith(".") for text in told.values())
    return " ".join(told.values())
