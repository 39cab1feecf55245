"""What a sum of a thousand words costs as parties become many: measured in processes of their own, and judged."""

from __future__ import annotations

import json
import math
import statistics
import subprocess
import tempfile
from collections.abc import Collection
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from harness.environments import BENCHMARKS, prepare
from harness.outcome import Verdict
from harness.report import number
from workers.joint_group import folder

__all__ = ["growth", "print_growth", "summary", "verdicts"]

SPARSE = 300  # parties; from here on each has few neighbours
STEEPEST = 1.25  # m log m has an exponent of 1.14 between 300 and 10,000 parties
AGAIN = 3  # times that one party is measured
HEADINGS = ("parties", "neighbours", "a party, ms", "sends, kB", "receives, kB", "coordinator, s", "all, s", "m², s")


def growth(sizes: Collection[int], console: Console) -> list[dict[str, Any]]:
    """One session for each number of parties, and its first party again, alone."""
    found = []
    for parties in sizes:
        with console.status(f"a session of {parties:,} parties"), tempfile.TemporaryDirectory(dir=folder()) as made:
            try:
                one = _asked("session", str(parties), made)
                one |= {"party": [_asked("party", made, str(i)) for i in range(AGAIN)]}
            except subprocess.CalledProcessError as error:
                console.print(f"[yellow]{parties:,} parties: {error}[/]")
                break  # more would fail as well
            found.append(one | summary(one))
    return found


def _asked(*arguments: str) -> dict[str, Any]:
    command = [str(prepare(None)), "-m", "workers.joint_growth", *arguments]
    done = subprocess.run(command, cwd=BENCHMARKS, stdout=subprocess.PIPE, text=True, check=True)
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def summary(one: dict[str, Any]) -> dict[str, float]:
    """Processor time of one party, of everyone, and of nothing but masks if every two parties shared one."""
    parties, masks = one["parties"], one["parties"] * (one["parties"] - 1)
    party = statistics.median(again["cpu_seconds"] for again in one["party"])
    return {
        "party_seconds": party,
        "everyone_seconds": parties * party + one["coordinator"]["cpu_seconds"],
        "quadratic_seconds": masks * one["mask_seconds"],
    }


def exponent(few: dict[str, Any], many: dict[str, Any]) -> float:
    """e such that everyone's processor time grows like m^e between two sizes."""
    return math.log(many["everyone_seconds"] / few["everyone_seconds"]) / math.log(many["parties"] / few["parties"])


def verdicts(found: list[dict[str, Any]]) -> list[Verdict]:
    text = "Everyone's processor time grows like m log m, not m²"
    limit = f"at most m^{STEEPEST:g}"
    sparse = [one for one in found if one["parties"] >= SPARSE]
    if len(sparse) < 2:
        return [Verdict(text, None, "not measured", limit)]
    steep = exponent(sparse[0], sparse[-1])
    measured = f"m^{steep:.2f} from {sparse[0]['parties']:,} to {sparse[-1]['parties']:,} parties"
    return [Verdict(text, steep <= STEEPEST, measured, limit, steep)]


def print_growth(console: Console, found: list[dict[str, Any]]) -> None:
    table = Table(title="Many parties, a sum of 1,000 words", title_justify="left", box=box.SIMPLE_HEAD)
    table.caption = "Processor time. The last column is a mask between any two parties, and nothing else."
    table.caption_justify = "left"
    for heading in HEADINGS:
        table.add_column(heading, justify="right")
    for one in found:
        first = one["party"][0]
        table.add_row(
            f"{one['parties']:,}",
            str(one["neighbours"]),
            number(1e3 * one["party_seconds"]),
            number(first["sent_bytes"] / 1e3),
            number(first["received_bytes"] / 1e3),
            number(one["coordinator"]["cpu_seconds"]),
            number(one["everyone_seconds"]),
            number(one["quadratic_seconds"]),
        )
    console.print(table)
