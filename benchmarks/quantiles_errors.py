"""Measures rank errors: a chain of settings for each participant and each kind of data, two chains at a time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

from harness.connection import Connection, Failed
from harness.declare import Participant
from quantiles_cells import Column, Effort, Found, Setting, columns

__all__ = ["chains", "measured"]

AT_ONCE = 2  # errors do not depend on what else the machine does

Job = tuple[Setting, Column]


def chains(settings: Iterable[Setting], participants: Collection[str]) -> dict[tuple[str, str], list[Job]]:
    """What each participant is asked about each kind of data, in order."""
    found: dict[tuple[str, str], list[Job]] = {}
    for setting in settings:
        for column in columns(setting):
            if column.participant in participants:
                found.setdefault((column.participant, setting.data), []).append((setting, column))
    return dict(sorted(found.items(), key=lambda chain: -len(chain[1])))  # long ones first


def measured(
    settings: list[Setting],
    participants: dict[str, Participant],
    effort: Effort,
    step: Callable[[Job], None] = lambda _: None,
) -> list[Found]:
    """Every column in every setting, in the order of the settings and columns."""
    found: dict[tuple[Setting, str, str], Found] = {}
    jobs = chains(settings, participants)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        done = [pool.submit(_chain, participants[who], chain, effort, step) for (who, _), chain in jobs.items()]
        for result in done:
            found |= {(one.setting, one.column.name, one.column.relation): one for one in result.result()}
    keys = ((s, column.name, column.relation) for s in settings for column in columns(s))
    return [found[key] for key in keys if key in found]


def _chain(participant: Participant, jobs: list[Job], effort: Effort, step: Callable[[Job], None]) -> list[Found]:
    results, slow = [], {}
    with closing(Connection(participant)) as connection:
        for setting, column in jobs:
            step((setting, column))
            size = (column.name, column.relation, setting.rows, setting.many)
            if size in slow:  # how long a peer's call takes does not depend on epsilon
                results.append(Found(setting, column, problem=slow[size]))
                continue
            result = _one(connection, setting, column, effort)
            if result.problem.startswith("skipped") and column.kind == "peer":
                slow[size] = result.problem
            results.append(result)
    return results


def _one(connection: Connection, setting: Setting, column: Column, effort: Effort) -> Found:
    asked = {"data": setting.data, "rows": setting.rows, "many": setting.many, "epsilon": setting.epsilon}
    asked |= column.parameters | effort.of(column, setting)
    try:
        connection.refresh()
        connection.ask("prepare", key=0, task=column.task, parameters=asked, warm=False, check=False)
        value = connection.ask("value", key=0)["value"]
    except Failed as error:
        return Found(setting, column, problem=str(error).removeprefix("TimeoutError: "))
    return Found(
        setting, column, tuple(value["errors"]), value["seconds"], value.get("method", ""), value.get("why", "")
    )
