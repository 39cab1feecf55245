"""A party of flou, or the coordinator, in a process of its own: python -m workers.joint_flou_member party|coordinator.

What a session needs is read before it is timed: plan, key, certificate, rows, and the memory on disk.
"""

from __future__ import annotations

import asyncio
import gc
import sys
import time
from pathlib import Path
from typing import Any

from flou.joint import Identity, Plan, Policy
from flou.joint.session.coordinator import CoordinatorSession
from flou.joint.session.memory import FileMemory
from flou.joint.session.party import PartySession
from flou.joint.transport.client import attend
from flou.joint.transport.server import serve
from flou.joint.transport.tls import client_context, server_context
from workers.joint_data import rows, words
from workers.joint_group import answer, questions

POLICIES = {"sum": Policy(rows_per_scalar=1), "regression": Policy()}  # a vector has a row a word
ROUND, SUMS = (
    (1, "mask"),
    "1/done",
)  # the first step of the round, and where a party keeps its sums once they are checked


class Clocked(FileMemory):
    """A memory that notes when the sums are kept."""

    ended = 0.0

    def keep(self, key: str, value: bytes, **how: bool) -> bytes:
        if key == SUMS:
            self.ended = time.monotonic()
        return super().keep(key, value, **how)


def table(statistic: str, party: int) -> dict[str, Any]:
    """A party's rows, as columns."""
    if statistic == "sum":
        return {"x": words(party)}
    x, y = rows(party)
    return {"y": y} | {f"x{j}": x[:, j] for j in range(x.shape[1])}


def result(statistic: str, fit: Any) -> list[float]:
    """What users look at first; a regression with its standard errors."""
    if statistic == "sum":
        return list(fit.exact)
    assert all(fit.bse > 0)
    return fit.params.tolist()


def attended(told: dict[str, Any], asked: Any) -> None:
    """A session at a party: ready when everything is read, and begun when told to."""
    folder, statistic = Path(told["folder"]), told["statistic"]
    plan = Plan.from_toml(folder / "plan.toml")
    identity = Identity.load(folder / f"{told['party']}.key")
    memory = Clocked(folder / f"{told['party']}.memory")
    party = PartySession(identity, plan, plan.rows(table(statistic, told["party"])), POLICIES[statistic], memory)
    context, began = client_context(folder / "certificate.pem"), {}
    gc.collect()
    answer({"ready": True})
    port = next(asked)["port"]

    async def run() -> list[float]:
        address = f"https://127.0.0.1:{port}"
        fit = await attend(party, address, context, watch=lambda step, _: began.setdefault(step, time.monotonic()))
        return result(statistic, fit)

    start, cpu = time.monotonic(), time.process_time()
    found = asyncio.run(run())
    end, cpu = time.monotonic(), time.process_time() - cpu
    memory.close()
    times = {"began": start, "ended": end, "round began": began[ROUND], "round ended": memory.ended, "cpu": cpu}
    answer(times | {"result": found})


def coordinated(told: dict[str, Any]) -> None:
    """A session at the coordinator: it answers when it listens, and once more at the end."""
    folder = Path(told["folder"])
    memory = FileMemory(folder / "coordinator.memory")
    session = CoordinatorSession(Plan.from_toml(folder / "plan.toml"), memory)
    context = server_context(folder / "certificate.pem", folder / "certificate-key.pem")
    gc.collect()
    cpu = time.process_time()
    asyncio.run(serve(session, "127.0.0.1", 0, context, ready=lambda port: answer({"port": port})))
    cpu = time.process_time() - cpu
    memory.close()
    if session.failure is not None:
        raise session.failure
    session.transcript.write(folder / "transcript.flou")
    answer({"cpu": cpu, "result": result(told["statistic"], session.fit)})


def main() -> None:
    asked = questions()
    for told in asked:
        try:
            coordinated(told) if sys.argv[1] == "coordinator" else attended(told, asked)
        except Exception as error:
            answer({"problem": f"{type(error).__name__}: {error}"})


if __name__ == "__main__":
    main()
