"""How a worker says what it can do. Standard library only: this runs in every peer's environment.

A task is a function that prepares (builds mechanisms, makes data) and returns the callable to be timed:

    @task
    def laplace(scale, draws):
        noise = Noise(scale)
        return lambda: noise.sample(draws)
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

__all__ = ["TASKS", "Timed", "calls", "mean_absolute", "resident_peak", "task"]

Timed: TypeAlias = Callable[[], Any]
TASKS: dict[str, Callable[..., Timed]] = {}


def task(prepare: Callable[..., Timed]) -> Callable[..., Timed]:
    """Offer a task under the name of its function."""
    TASKS[prepare.__name__] = prepare
    return prepare


def calls(one: Callable[[], Any], count: int) -> Timed:
    """``count`` single calls, for libraries that draw one number at a time; the loop costs some 30 ns a call."""
    return lambda: [one() for _ in range(count)]


def mean_absolute(draws: Any) -> tuple[float, int]:
    """The mean of |x| over the draws of one timed call, and their number."""
    if hasattr(draws, "mean"):
        return float(abs(draws).mean()), draws.size
    return float(sum(abs(x) for x in draws)) / len(draws), len(draws)


def resident_peak() -> int:
    """The most bytes this process has had in memory.

    Not by getrusage where there is another way: on Linux it also counts what the parent held when it started us.
    """
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


@task
def fresh_process(code: str) -> Timed:
    """A new Python that runs ``code`` and ends."""
    return lambda: subprocess.run([sys.executable, "-c", code], check=True)


@task
def loaded_modules(code: str, modules: list[str]) -> Timed:
    """Which of ``modules`` a new Python has loaded after ``code``."""
    program = f"{code}\nimport sys\nprint(*[name for name in {modules!r} if name in sys.modules])"

    def look() -> list[str]:
        return subprocess.run(
            [sys.executable, "-c", program], check=True, stdout=subprocess.PIPE, text=True
        ).stdout.split()

    return look


@task
def peak_memory(worker: str, question: str, parameters: dict[str, Any]) -> Timed:
    """The most bytes that a new Python has in memory while it prepares and calls a task of a worker once."""
    program = (
        "import importlib, json, sys; from harness.tasks import TASKS, resident_peak\n"
        "worker, question, parameters = sys.argv[1:]\n"
        "importlib.import_module(worker)\n"
        "TASKS[question](**json.loads(parameters))()\n"
        "print(); print(resident_peak())"
    )
    command = [sys.executable, "-c", program, worker, question, json.dumps(parameters)]

    def look() -> int:
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        return int(done.stdout.split()[-1])

    return look
