"""Starts commands of flou as processes of their own, without the second that imports take each time.

It reads JSON lines. ``{"flou": [arguments], "out": file, "stop": [side, round, step, when, count]}`` forks a process
that runs the command, and answers its number; with ``stop`` the process kills itself (SIGKILL) at that place.
``{"wait": number}`` answers the status with which a process has ended; one that hangs is killed.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

LONGEST = 60.0  # seconds that a session may take


def stopped_party(number: int, step: str, when: str) -> None:
    """A party that is killed before it sends the message of a step, or right after."""
    from flou.joint.transport.wire import Wire

    send = Wire.send

    async def watched(self, data):
        here = data.startswith(b"POST") and data.split(b" ", 2)[1].endswith(f"/{number}/{step}".encode())
        if here and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        await send(self, data)
        if here:
            os.kill(os.getpid(), signal.SIGKILL)

    Wire.send = watched


def stopped_coordinator(number: int, step: str, when: str, count: int) -> None:
    """A coordinator that is killed when it has kept so many messages of a step, or has closed it, and told nobody."""
    from flou.joint.session.coordinator import CoordinatorSession

    receive, close = CoordinatorSession.receive, CoordinatorSession.close

    def received(self, address, data):
        sender = receive(self, address, data)
        if when == "within" and address == (number, step) and len(self.step.expected - self.missing) == count:
            os.kill(os.getpid(), signal.SIGKILL)
        return sender

    def closed(self):
        address = self.step.address
        close(self)
        if when == "after" and address == (number, step):
            os.kill(os.getpid(), signal.SIGKILL)

    CoordinatorSession.receive, CoordinatorSession.close = received, closed


def run(arguments: list[str], out: str, stop: list | None) -> None:
    """The command, in a child process."""
    with open(out, "wb") as file, open(os.devnull) as nothing:
        for source, target in ((nothing, 0), (file, 1), (file, 2)):
            os.dup2(source.fileno(), target)
    if stop is not None:
        {"party": stopped_party, "coordinator": stopped_coordinator}[stop[0]](*stop[1:])
    from flou.cli import app

    status = 1
    try:
        app(arguments)
    except SystemExit as end:
        status = end.code or 0
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def ended(process: int) -> int:
    """The status of a process; 255 if it had to be killed."""
    last = time.monotonic() + LONGEST
    while time.monotonic() < last:
        found, status = os.waitpid(process, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return 255


def warm() -> None:
    """Import what a session needs, with a small one."""
    import flou.joint.transport.client
    import flou.joint.transport.server  # noqa: F401
    from flou.cli import app

    with tempfile.TemporaryDirectory() as folder:
        data, out = Path(folder, "data.csv"), Path(folder, "out.json")
        data.write_text("y,x\n" + "".join(f"{i % 7},{i % 5}\n" for i in range(60)))
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
            app(["joint", "simulate", "--data", str(data), "--formula", "y ~ x", "--json", str(out)])
        assert out.exists()


def main() -> None:
    warm()
    for line in sys.stdin:
        told = json.loads(line)
        if "wait" in told:
            answer = ended(told["wait"])
        else:
            answer = os.fork()
            if answer == 0:
                run(told["flou"], told["out"], told.get("stop"))
        print(answer, flush=True)


if __name__ == "__main__":
    main()
