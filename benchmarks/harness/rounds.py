"""Interleaved rounds: in each round every entry of a measure is called once, so that all meet the same machine.

The order is shuffled anew every round (the same way in every run): nobody always follows the same neighbour.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping

from harness.connection import Connection, Failed
from harness.declare import Entry, Fact, Measure
from harness.outcome import Outcome

__all__ = ["ask_fact", "measure_in_rounds"]

TOLERANCE = 0.25  # of the mean absolute draw: rounding to integers moves it by 15 % at scale 1, a wrong scale by more


def measure_in_rounds(
    measure: Measure,
    running: Mapping[str, Connection],
    missing: Mapping[str, str],
    rounds: int,
    step: Callable[[Entry], None],
    *,
    timed: bool = True,
) -> list[Outcome]:
    """The numbers of every entry; ``step`` is told which entry is next (``rounds`` + 1 times an entry)."""
    for name in {entry.participant for entry in measure.entries} & running.keys():
        running[name].refresh(restart=measure.fresh)
    outcomes = []
    for key, entry in enumerate(measure.entries):
        step(entry)
        outcomes.append(_prepared(key, entry, measure.mean_absolute, running, missing, warm=timed))
    for number in range(rounds):
        for key in random.Random(number).sample(range(len(outcomes)), len(outcomes)):
            entry = measure.entries[key]
            step(entry)
            if entry.rounds is None or number < entry.rounds:
                _call(key, outcomes[key], running, timed=timed)
    return outcomes


def _prepared(
    key: int,
    entry: Entry,
    expected: float | None,
    running: Mapping[str, Connection],
    missing: Mapping[str, str],
    *,
    warm: bool,
) -> Outcome:
    """An outcome without numbers yet, after one call to warm up and a look at its draws."""
    if entry.participant not in running:
        return Outcome(entry, problem=f"{entry.participant} is missing: {missing[entry.participant]}")
    try:
        seen = _prepare(key, entry, running, warm=warm and entry.rounds is None, check=expected is not None)
    except Failed as error:
        return Outcome(entry, problem=str(error))
    if expected is None:
        return Outcome(entry)
    size = seen["mean_absolute"]
    if not abs(size / expected - 1) <= TOLERANCE + 3 / math.sqrt(seen["draws"]):
        return Outcome(entry, problem=f"draws of size {size:.3g} where {expected:.3g} was asked for: another law")
    return Outcome(entry, mean_absolute=size)


def _prepare(
    key: int, entry: Entry, running: Mapping[str, Connection], *, warm: bool = False, check: bool = False
) -> dict[str, float]:
    details = {"key": key, "task": entry.task, "parameters": dict(entry.parameters), "warm": warm, "check": check}
    return running[entry.participant].ask("prepare", **details)


def _call(key: int, outcome: Outcome, running: Mapping[str, Connection], *, timed: bool) -> None:
    if outcome.problem:
        return
    try:
        answer = running[outcome.entry.participant].ask("time" if timed else "value", key=key)
    except Failed as error:
        outcome.problem = str(error)
        return
    if timed:
        outcome.cpu.append(answer["cpu"])
        outcome.wall.append(answer["wall"])
    else:
        outcome.values.append(answer["value"])


def ask_fact(fact: Fact, running: Mapping[str, Connection]) -> list[str] | None:
    """The list that the fact's task returns, or None when it cannot be asked."""
    try:
        _prepare(0, fact.entry, running)
        found: list[str] = running[fact.entry.participant].ask("value", key=0)["value"]
    except (Failed, KeyError):
        return None
    return found
