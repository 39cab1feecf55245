"""flou's side of the benchmark of joint statistics: sessions between processes, masks, and one party's Gram matrix."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR

from flou.domain import Interval, Schema
from flou.joint import Identity, LinearRegression, Plan, Roster, VectorSum, verified
from flou.joint.masking.masks import PIECE, add_mask
from flou.joint.transport.tls import self_signed
from harness.tasks import Timed, task
from workers.joint_data import BOUND, COLUMNS, LENGTH, RESPONSE_BOUND, rows
from workers.joint_group import Group, folder, warm
from workers.joint_result import checked, elapsed

NAMES = [f"x{j}" for j in range(COLUMNS)]
FORMULA = "y ~ " + " + ".join(NAMES)


def program(statistic: str) -> VectorSum | LinearRegression:
    if statistic == "sum":
        return VectorSum("x", LENGTH)
    regressors = {name: Interval(-BOUND, BOUND) for name in NAMES}
    return LinearRegression(FORMULA, Schema({"y": Interval(-RESPONSE_BOUND, RESPONSE_BOUND)} | regressors))


@cache
def group(parties: int) -> Group:
    """Processes that stay from one session to the next: the parties, and the coordinator as the last."""
    return Group("workers.joint_flou_member", [["party"]] * parties + [["coordinator"]])


def planned(statistic: str, parties: int) -> tuple[Plan, list[Identity]]:
    """A plan of new identities."""
    identities = [Identity.generate(f"party {i}") for i in range(parties)]
    return Plan(Roster.of(identities), program(statistic)), identities


def prepared(statistic: str, parties: int, place: Path) -> None:
    """New keys, a new plan and a new certificate."""
    plan, identities = planned(statistic, parties)
    for i, identity in enumerate(identities):
        identity.save(place / f"{i}.key")
    (place / "plan.toml").write_text(plan.to_toml())
    for name, data in zip(("certificate.pem", "certificate-key.pem"), self_signed("127.0.0.1"), strict=True):
        (place / name).write_bytes(data)


@task
def session(statistic: str, parties: int, part: str) -> Timed:
    """Seconds of a session: ``part`` is "session", "round" or "cpu" (of everyone, the coordinator included)."""
    everyone = range(parties)

    def ask(members: Group) -> float:
        with tempfile.TemporaryDirectory(dir=folder()) as made:
            prepared(statistic, parties, Path(made))
            told = {"folder": made, "statistic": statistic}
            for party in everyone:
                members.tell(told | {"party": party}, [party])
            members.hear(everyone)
            (listening,) = members.ask(told, [parties])
            answers = members.ask(listening, everyone)
            (coordinator,) = members.hear([parties])
            verified(Path(made) / "transcript.flou")
        checked(statistic, parties, [one["result"] for one in (*answers, coordinator)])
        if part == "cpu":
            return coordinator["cpu"] + sum(one["cpu"] for one in answers)
        return elapsed(answers, "round began", "round ended") if part == "round" else elapsed(answers)

    return warm(group, parties, ask)


@task
def masks(length: int) -> Timed:
    """A mask for so many words of 64 bits, made and added."""
    words = np.zeros((1, length), dtype=np.uint64)
    return lambda: add_mask(words, bytes(range(32)), 1)


@task
def keystream(length: int) -> Timed:
    """The least that a mask can be: AES-256 in counter mode and an addition, in the same pieces."""
    words, piece = np.zeros(length, dtype=np.uint64), np.empty(PIECE + 2, dtype=np.uint64)
    zeros, out = memoryview(bytes(8 * PIECE)), piece.view(np.uint8)

    def run() -> None:
        cipher = Cipher(AES(bytes(range(32))), CTR(bytes(16))).encryptor()
        for start in range(0, length, PIECE):
            part = words[start : start + PIECE]
            cipher.update_into(zeros[: 8 * part.size], out)
            part += piece[: part.size]

    return run


@task
def gram_words(count: int) -> Timed:
    """What a party with so many rows computes in a linear regression: exact sums of products, ready to be masked."""
    x, y = rows(0, count)
    plan, _ = planned("regression", 3)
    table = plan.rows({"y": y} | {name: x[:, j] for j, name in enumerate(NAMES)})
    question = plan.program.next([])
    assert question is not None
    return lambda: plan.program.words(question, table)


@task
def gram_floats(count: int, stacked: bool) -> Timed:
    """The same sums in floats: from columns, or from a matrix that is there already."""
    x, y = rows(0, count)
    columns = [np.ones(count), *x.T, y]
    whole = np.column_stack(columns)
    if stacked:
        return lambda: whole.T @ whole

    def run() -> object:
        made = np.column_stack(columns)
        return made.T @ made

    return run
