"""Real sessions: a coordinator and five parties, a process each, over TLS; any of them killed at any moment."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
import pytest

from flou.joint.agreement.identity import Identity, Roster
from flou.joint.agreement.plan import Plan
from flou.joint.estimators.distribution.vector_sum import VectorSum
from flou.joint.estimators.linear.linear import LinearRegression
from flou.joint.estimators.program import Program
from flou.joint.session.transcript import verified
from flou.joint.transport.tls import self_signed

NAMES = ("east", "mid", "north", "south", "west")
FLOU = Path(sysconfig.get_path("scripts")) / "flou"
SECONDS = 120  # after which a process is believed to hang
PATIENCE = 2.0  # for a party that was killed


class Zygote:
    """Forks commands from a process that has imported everything."""

    def __init__(self) -> None:
        command = [sys.executable, Path(__file__).with_name("zygote.py")]
        self.running: set[int] = set()
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def _ask(self, **told) -> int:
        self.process.stdin.write(json.dumps(told) + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def start(self, arguments: list[str], out: Path, stop: list | None) -> int:
        started = self._ask(flou=arguments, out=str(out), stop=stop)
        self.running.add(started)
        return started

    def wait(self, process: int) -> int:
        self.running.discard(process)
        return self._ask(wait=process)

    def close(self) -> None:
        for process in list(self.running):  # of a test that has failed
            os.kill(process, signal.SIGKILL)
            self.wait(process)
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(SECONDS)


@pytest.fixture(scope="module")
def zygote():
    made = Zygote()
    yield made
    made.close()


class Room:
    """The files of a session, and the commands of its parties."""

    def __init__(self, folder: Path, program: Program) -> None:
        self.folder, self.started = folder, 0
        identities = [Identity.generate(name) for name in NAMES]
        self.plan = Plan(Roster.of(identities), program)
        (folder / "plan.toml").write_text(self.plan.to_toml())
        for name, data in zip(("c.pem", "k.pem"), self_signed("localhost"), strict=True):
            (folder / name).write_bytes(data)
        made = np.random.default_rng(5)
        self.rows = {}
        for identity in identities:
            identity.save(folder / f"{identity.name}.key")
            x = made.normal(size=(120, 2))
            y = 1 + x @ [2, -1] + made.normal(size=120)
            self.rows[identity.name] = np.column_stack([y, x])
            lines = [",".join(map(repr, row)) for row in self.rows[identity.name].tolist()]
            (folder / f"{identity.name}.csv").write_text("y,x1,x2\n" + "\n".join(lines) + "\n")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]

    def coordinator(self, patience: float, wait: float = 60.0) -> list[str]:
        folder = self.folder
        return [
            "coordinator",
            str(folder / "plan.toml"),
            *("--certificate", f"{folder}/c.pem", "--key", f"{folder}/k.pem", "--state", f"{folder}/state"),
            *("--port", str(self.port), "--patience", str(patience), "--wait", str(wait)),
            *("--transcript", f"{folder}/transcript.flou", "--json", f"{folder}/coordinator.json"),
        ]

    def party(self, name: str) -> list[str]:
        folder = self.folder
        return [
            "party",
            *("--plan", f"{folder}/plan.toml", "--coordinator", f"https://localhost:{self.port}"),
            *("--ca", f"{folder}/c.pem", "--key", f"{folder}/{name}.key", "--data", f"{folder}/{name}.csv"),
            *("--state", f"{folder}/state", "--give-up", "60", "--json", f"{folder}/{name}.json"),
        ]

    def start(self, zygote: Zygote, arguments: list[str], stop: list | None = None) -> int:
        self.started += 1
        return zygote.start(arguments, self.folder / f"{self.started}.out", stop)

    def said(self) -> str:
        """What all commands have printed, for a test that fails."""
        return "\n".join(path.read_text(errors="replace") for path in sorted(self.folder.glob("*.out")))

    def check(self, parties: tuple[str, ...], finished: tuple[str, ...]) -> None:
        """The result is the fit of these parties' pooled rows, everywhere, and the transcript proves it."""
        pooled = np.concatenate([self.rows[name] for name in parties])
        design = np.column_stack([np.ones(len(pooled)), pooled[:, 1:]])
        wanted = np.linalg.lstsq(design, pooled[:, 0])[0]
        for name in (*finished, "coordinator"):
            told = json.loads((self.folder / f"{name}.json").read_text())
            assert tuple(told["parties"]) == parties
            found = [told["result"][key]["coef"] for key in ("Intercept", "x1", "x2")]
            assert found == pytest.approx(wanted, rel=1e-12, abs=1e-12)
        fit = verified(self.folder / "transcript.flou", self.plan)
        assert fit.provenance.parties == parties
        assert fit.nobs == len(pooled)
        assert fit.provenance.transcript == told["transcript"]


def without(*gone: str) -> tuple[str, ...]:
    return tuple(name for name in NAMES if name not in gone)


@pytest.fixture
def room(tmp_path):
    return Room(tmp_path, LinearRegression("y ~ x1 + x2"))


@pytest.mark.parametrize(
    ("number", "step", "when", "counts"),
    [
        (0, "join", "before", False),
        (0, "reveal", "before", False),
        (0, "reveal", "after", False),  # its shares are there, and the masks with it are restored
        (1, "mask", "before", False),
        (1, "agree", "before", True),  # its words are there, and its own mask is restored from shares
        (1, "unmask", "before", True),
        (2, "confirm", "before", True),
    ],
)
def test_a_party_is_killed(room, zygote, number, step, when, counts):
    """Wherever a party is lost, the others have the fit of the survivors' rows; its own count once they are in."""
    coordinator = room.start(zygote, room.coordinator(PATIENCE, wait=PATIENCE + 2))
    stop = ["party", number, step, when]
    killed = room.start(zygote, room.party("north"), stop)
    others = [room.start(zygote, room.party(name)) for name in without("north")]
    assert zygote.wait(killed) == -signal.SIGKILL, room.said()
    assert [zygote.wait(process) for process in others] == [0] * 4, room.said()
    assert zygote.wait(coordinator) == 0, room.said()
    room.check(NAMES if counts else without("north"), without("north"))
    assert not (room.folder / "north.json").exists()


def test_too_many_are_killed(room, zygote):
    """With more losses than the plan allows nothing is opened, and everybody is told."""
    coordinator = room.start(zygote, room.coordinator(PATIENCE))
    killed = [room.start(zygote, room.party(name), ["party", 1, "mask", "before"]) for name in ("north", "south")]
    others = [room.start(zygote, room.party(name)) for name in without("north", "south")]
    assert [zygote.wait(process) for process in killed] == [-signal.SIGKILL] * 2
    assert [zygote.wait(process) for process in (*others, coordinator)] == [2] * 4, room.said()
    assert not list(room.folder.glob("*.json"))
    assert room.said().count("refused") == 4


@pytest.mark.parametrize(
    "stop",
    [
        (0, "join", "within", 2),
        (1, "mask", "within", 3),
        (1, "unmask", "after", 0),
        (2, "confirm", "after", 0),
    ],
)
def test_the_coordinator_is_killed(room, zygote, stop):
    """Started again with the same state it goes on in mid-round, and nobody is lost."""
    first = room.start(zygote, room.coordinator(60), ["coordinator", *stop])
    parties = [room.start(zygote, room.party(name)) for name in NAMES]
    assert zygote.wait(first) == -signal.SIGKILL, room.said()
    second = room.start(zygote, room.coordinator(60))
    assert [zygote.wait(process) for process in (*parties, second)] == [0] * 6, room.said()
    room.check(NAMES, NAMES)


@pytest.mark.parametrize(
    ("number", "step", "when"),
    [(0, "reveal", "after"), (1, "mask", "after"), (1, "unmask", "after")],
)
def test_a_party_is_killed_and_returns(room, zygote, number, step, when):
    """Started again with the same state it is part of the result."""
    coordinator = room.start(zygote, room.coordinator(60))
    others = [room.start(zygote, room.party(name)) for name in without("north")]
    killed = room.start(zygote, room.party("north"), ["party", number, step, when])
    assert zygote.wait(killed) == -signal.SIGKILL
    again = room.start(zygote, room.party("north"))
    assert [zygote.wait(process) for process in (*others, again, coordinator)] == [0] * 6, room.said()
    room.check(NAMES, NAMES)


def test_the_commands_as_users_run_them(tmp_path):
    """Six processes of the installed command, and one command to check the result."""
    room = Room(tmp_path, VectorSum("y", 120, fraction=40))
    (tmp_path / "policy.toml").write_text("rows_per_scalar = 1\n")
    more = ["--policy", f"{tmp_path}/policy.toml"]
    started = [
        subprocess.Popen([FLOU, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        for command in (room.coordinator(60), *([*room.party(name), *more] for name in NAMES))
    ]
    ended = [process.communicate(timeout=SECONDS) for process in started]
    assert [process.returncode for process in started] == [0] * 6, ended
    wanted = sum(room.rows[name][:, 0] for name in NAMES)
    for name in (*NAMES, "coordinator"):
        told = json.loads((tmp_path / f"{name}.json").read_text())
        assert told["result"]["totals"] == pytest.approx(wanted, abs=5 * 2.0**-41)
    for out, err in ended:
        assert b"totals:" in out
        assert b"at most 120 numbers. Everyone learns these sums and nothing else" in err
    done = subprocess.run(
        [FLOU, "joint", "verify", tmp_path / "transcript.flou", "--plan", tmp_path / "plan.toml"],
        capture_output=True,
        check=True,
    )
    assert b"Verified: the sums follow from what 5 parties have signed" in done.stdout
