"""Our end of one running worker."""

from __future__ import annotations

import contextlib
import json
import subprocess
import tempfile
import threading
from typing import Any

from harness.declare import Participant
from harness.environments import BENCHMARKS, Unavailable, prepare

__all__ = ["Connection", "Failed"]

ANSWER_SECONDS = 300  # a worker that is silent for longer is ended


class Failed(Exception):
    """A worker could not do what it was asked, and why, in words."""


class Connection:
    """A worker that has said hello; :meth:`ask` it questions (``worker.py`` lists them)."""

    def __init__(self, participant: Participant) -> None:
        self.participant = participant
        self._python = prepare(participant.requirements)
        self._start()
        try:
            hello = self.ask("hello")
        except Failed as error:
            self.close()
            raise Unavailable(f"its worker did not start: {error}") from None
        self.python: str = hello["python"]
        self.packages: dict[str, str] = hello["packages"]

    def _start(self) -> None:
        self._errors = tempfile.TemporaryFile(mode="w+")  # noqa: SIM115 (closed in close)
        self._process = subprocess.Popen(
            [str(self._python), "-m", "harness.worker", self.participant.worker],
            cwd=BENCHMARKS,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )

    def refresh(self, *, restart: bool = False) -> None:
        """Forgets everything prepared; a worker that has ended, or that should, is started again."""
        try:
            self.ask("forget")
        except Failed:
            restart = True
        if restart:
            self.close()
            self._start()

    def ask(self, question: str, **details: Any) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        watch = threading.Timer(ANSWER_SECONDS, self._process.kill)
        watch.start()
        try:
            self._process.stdin.write(json.dumps({"ask": question, **details}) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except OSError:
            line = ""
        finally:
            watch.cancel()
        if not line:
            raise Failed(f"its worker ended ({self._last_words()})")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise Failed(answer["error"])
        return answer

    def _last_words(self) -> str:
        self._errors.seek(0)
        lines = self._errors.read().split("\n")
        said = [line.strip() for line in lines if line.strip()]
        return said[-1] if said else f"silent for {ANSWER_SECONDS} s, or killed"

    def close(self) -> None:
        """Ends the worker, which leaves its loop when its input closes."""
        with contextlib.suppress(OSError):
            self._process.stdin.close()  # type: ignore[union-attr]
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()  # type: ignore[union-attr]
        self._errors.close()
