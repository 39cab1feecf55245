"""MPyC's side of the benchmark of joint statistics: the same sums, between processes of MPyC over loopback."""

from __future__ import annotations

import socket
from contextlib import ExitStack
from functools import cache

from harness.tasks import Timed, task
from workers.joint_group import Group, warm
from workers.joint_result import checked, elapsed


def free_ports(count: int) -> int:
    """The first of so many ports in a row on which nobody listens."""
    for first in range(11365, 65000, 100):
        with ExitStack() as stack:
            try:
                for port in range(first, first + count):
                    stack.enter_context(socket.socket()).bind(("", port))
            except OSError:
                continue
        return first
    raise RuntimeError("there are no free ports")


@cache
def group(parties: int) -> Group:
    """Processes that stay from one question to the next."""
    port = free_ports(parties)
    return Group(
        "workers.joint_mpyc_member", [[f"-M{parties}", f"-I{i}", f"-B{port}", "--no-log"] for i in range(parties)]
    )


@task
def session(statistic: str, parties: int, part: str) -> Timed:
    """Seconds of a sum: ``part`` is "round", "session" (connections included) or "cpu" (of everyone, without them)."""

    def ask(members: Group) -> float:
        members.ask({"statistic": statistic, "connecting": part == "session"})
        answers = members.ask({})
        checked(statistic, parties, [told["result"] for told in answers])
        return sum(told["cpu"] for told in answers) if part == "cpu" else elapsed(answers)

    return warm(group, parties, ask)
