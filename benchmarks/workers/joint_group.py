"""Several processes that compute one thing together: how a worker starts and asks them, and their end of the line.

A member reads a JSON line and answers with one. The clock is the system's, the same in all processes. Standard library
only.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

__all__ = ["BENCHMARKS", "Group", "Told", "answer", "folder", "questions", "warm"]

BENCHMARKS = Path(__file__).resolve().parent.parent
Told: TypeAlias = dict[str, Any]


class Group:
    """Processes of one program, each with arguments of its own; they end when this process does."""

    def __init__(self, module: str, arguments: Sequence[Sequence[str]]) -> None:
        self.members = [
            subprocess.Popen(
                [sys.executable, "-m", module, *own],
                cwd=BENCHMARKS,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for own in arguments
        ]

    def tell(self, told: Told, members: Sequence[int] | None = None) -> None:
        for member in self._chosen(members):
            member.stdin.write(json.dumps(told) + "\n")
            member.stdin.flush()

    def hear(self, members: Sequence[int] | None = None) -> list[Told]:
        """One answer of each."""
        answers = []
        for member in self._chosen(members):
            line = member.stdout.readline()
            if not line:
                raise RuntimeError("a member of the group has ended")
            answers.append(json.loads(line))
        problems = [told["problem"] for told in answers if "problem" in told]
        if problems:
            raise RuntimeError(problems[0])
        return answers

    def ask(self, told: Told, members: Sequence[int] | None = None) -> list[Told]:
        self.tell(told, members)
        return self.hear(members)

    def end(self) -> None:
        for member in self.members:
            member.kill()
            member.wait()

    def _chosen(self, members: Sequence[int] | None) -> list[Any]:
        return self.members if members is None else [self.members[i] for i in members]


def warm(group: Any, size: int, ask: Callable[[Group], float]) -> Callable[[], float]:
    """The question, asked once already; of new processes if something goes wrong."""

    def call() -> float:
        try:
            return ask(group(size))
        except Exception:
            group(size).end()
            group.cache_clear()
            raise

    call()
    return call


def questions() -> Iterator[Told]:
    """What a member is asked. When nobody is left to ask, its process ends, whatever it is waiting for."""
    waiting: queue.SimpleQueue[Told] = queue.SimpleQueue()

    def read() -> None:
        for line in sys.stdin:
            waiting.put(json.loads(line))
        os._exit(0)

    threading.Thread(target=read, daemon=True).start()
    while True:
        yield waiting.get()


def answer(told: Told) -> None:
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()


def folder() -> Path:
    """Where files go that are made for a run: on the disk of this folder, and ignored by git."""
    found = BENCHMARKS / ".data"
    found.mkdir(exist_ok=True)
    (found / ".gitignore").write_text("*\n")
    return found
