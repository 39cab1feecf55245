"""The worker's loop: questions come in and answers go out, a JSON line each.

python -m harness.worker workers.noise_numpy

    {"ask": "hello"}                                              versions of everything in this environment
    {"ask": "prepare", "key": 0, "task": "laplace",
     "parameters": {...}, "warm": true, "check": true}            prepares, calls once to warm up, looks at the draws
    {"ask": "time", "key": 0}                                     seconds of one call, by processor and by wall clock
    {"ask": "value", "key": 0}                                    what one call returns
    {"ask": "forget"}                                             drops everything prepared

Anything that goes wrong is an answer as well: {"error": "..."}. Standard library only.
"""

from __future__ import annotations

import gc
import importlib
import importlib.metadata
import json
import os
import platform
import sys
import time
from typing import Any

from harness.tasks import TASKS, Timed, mean_absolute

try:
    import resource
except ImportError:  # Windows: the processor time of children is not counted
    resource = None  # type: ignore[assignment]


def processor_seconds() -> float:
    """Processor time of this process and of its children that have ended."""
    own = time.process_time()
    if resource is None:
        return own
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return own + children.ru_utime + children.ru_stime


def timed(call: Timed) -> dict[str, float]:
    """One call; dropping its result is not timed."""
    gc.collect()
    gc.disable()
    try:
        cpu, wall = processor_seconds(), time.perf_counter()
        result = call()
        wall, cpu = time.perf_counter() - wall, processor_seconds() - cpu
    finally:
        gc.enable()
    del result
    return {"cpu": cpu, "wall": wall}


def packages() -> dict[str, str]:
    return {found.metadata["Name"]: found.version for found in importlib.metadata.distributions()}


class Desk:
    """What has been prepared so far, and the answers to questions about it."""

    def __init__(self) -> None:
        self.prepared: dict[int, Timed] = {}

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        return getattr(self, "_" + question.pop("ask"))(**question)

    def _hello(self) -> dict[str, Any]:
        return {"python": platform.python_version(), "packages": packages()}

    def _prepare(self, key: int, task: str, parameters: dict[str, Any], warm: bool, check: bool) -> dict[str, Any]:
        call = self.prepared[key] = TASKS[task](**parameters)
        result = call() if warm or check else None
        if not check:
            return {}
        size, draws = mean_absolute(result)
        return {"mean_absolute": size, "draws": draws}

    def _time(self, key: int) -> dict[str, float]:
        return timed(self.prepared[key])

    def _value(self, key: int) -> dict[str, Any]:
        return {"value": self.prepared[key]()}

    def _forget(self) -> dict[str, Any]:
        self.prepared.clear()
        return {}


def in_words(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def main(module: str) -> None:
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # whatever a library prints must not end up among the answers
    desk = Desk()
    broken = None
    try:
        importlib.import_module(module)
    except Exception as error:
        broken = in_words(error)
    for line in sys.stdin:
        try:
            reply = {"error": broken} if broken else desk.answer(json.loads(line))
        except Exception as error:
            reply = {"error": in_words(error)}
        answers.write(json.dumps(reply) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
