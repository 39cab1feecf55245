"""What statistics between organisations cost: sums and regressions side by side with MPyC, masks, and many parties.

python benchmarks/joint.py [--quick] [--only NAME ...] [--out FILE]
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from rich.console import Console

import harness.run
from harness.declare import Benchmark, Claim, Entry, Measure, Participant, Section, Unit
from harness.outcome import Verdict
from harness.run import Measured, command
from joint_growth import growth, print_growth, verdicts

FLOU, MPYC = "flou", "MPyC"
PARTICIPANTS = (Participant(FLOU, "workers.joint_flou"), Participant(MPYC, "workers.joint_mpyc", "mpyc"))

SUM, REGRESSION = "Sum of 1,000 words", "Linear regression, 10 regressors, 1,000 rows a party"
CPU, MASKS, ROWS = "Processor time of everyone together", "Masks", "One party's sums of products, 10 regressors"
STATISTICS = {SUM: "sum", REGRESSION: "regression"}
PARTIES = (3, 5)
# who, what is timed, and which part of it
LINES = (
    (FLOU, "flou, whole session", "session"),
    (FLOU, "flou, the round alone", "round"),
    (MPYC, "MPyC, connected", "round"),
    (MPYC, "MPyC, mpc.start included", "session"),
)
# from nobody connected to the result, or from everyone connected and known to each other
ALIKE = ((LINES[0][1], LINES[3][1]), (LINES[1][1], LINES[2][1]))
MASK, KEYSTREAM = "flou, add_mask", "AES-256-CTR and an addition"
WORDS, PRODUCT = "flou, words of LinearRegression", "NumPy, floats"

MILLISECONDS = Unit("ms", 1e3)
SPEED = Unit("G words/s", 1e-9, rate=True)
TIMES, LEAST_SPEED = 2, 0.3
SESSIONS, QUICK_SESSIONS = 25, 3

SIZES, QUICK_SIZES = (3, 10, 30, 100, 300, 1000, 3000, 10_000), (3, 10, 30, 100, 300)


def named(parties: int) -> str:
    return f"{parties} parties"


def together(title: str) -> Section:
    """Processes that wait for each other: what counts is when the last one has the result."""

    def entries(parties: int) -> tuple[Entry, ...]:
        asked = {"statistic": STATISTICS[title], "parties": parties}
        return tuple(Entry(who, label, "session", asked | {"part": part}) for who, label, part in LINES)

    note = "Wall time, from the first party that begins to the last that has the result (the sums, of a round alone)."
    measures = tuple(Measure(named(m), entries(m)) for m in PARTIES)
    return Section(title, MILLISECONDS, measures, note, clock=None, statistic="median")


def processor_time() -> Section:
    def entries(statistic: str, parties: int) -> tuple[Entry, ...]:
        asked = {"statistic": statistic, "parties": parties, "part": "cpu"}
        return Entry(FLOU, "flou, whole session", "session", asked), Entry(MPYC, "MPyC, connected", "session", asked)

    measures = tuple(Measure(f"{s}, {named(m)}", entries(s, m)) for s in STATISTICS.values() for m in PARTIES)
    return Section(CPU, MILLISECONDS, measures, clock=None, statistic="median")


def masks(quick: bool) -> Section:
    def entries(length: int) -> tuple[Entry, ...]:
        asked = {"length": length}
        return Entry(FLOU, MASK, "masks", asked, length), Entry(FLOU, KEYSTREAM, "keystream", asked, length)

    lengths = (10**6,) if quick else (10**6, 10**7)
    return Section(MASKS, SPEED, tuple(Measure(f"{n:,} words", entries(n)) for n in lengths))


def products(quick: bool) -> Section:
    count = 10**5 if quick else 10**6
    entries = (
        Entry(FLOU, WORDS, "gram_words", {"count": count}),
        Entry(FLOU, f"{PRODUCT}, from columns", "gram_floats", {"count": count, "stacked": False}),
        Entry(FLOU, f"{PRODUCT}, of a matrix", "gram_floats", {"count": count, "stacked": True}),
    )
    return Section(ROWS, MILLISECONDS, (Measure(f"{count:,} rows", entries),))


def claims(quick: bool) -> tuple[Claim, ...]:
    def claim(title: str, measure: str, ours: str, theirs: str) -> Claim:
        text = f"{title}, {measure}: {ours}, against {theirs}"
        return Claim(text, (title, measure, ours), (title, measure, theirs), at_most=TIMES)

    return (
        *(claim(title, named(m), *both) for title in STATISTICS for m in PARTIES for both in ALIKE),
        *(
            Claim(f"Masks for {measure.name}, a core", (MASKS, measure.name, MASK), at_least=LEAST_SPEED)
            for measure in masks(quick).measures
        ),
    )


def declare(quick: bool) -> Benchmark:
    sessions = QUICK_SESSIONS if quick else SESSIONS
    sections = (
        *(replace(together(title), rounds=sessions) for title in STATISTICS),
        replace(processor_time(), rounds=sessions),
        masks(quick),
        products(quick),
    )
    return Benchmark("joint", PARTICIPANTS, sections, claims(quick), rounds=3 if quick else 7)


def run(quick: bool, console: Console, only: Collection[str] = (), sizes: Collection[int] = ()) -> dict[str, Any]:
    """Everything that was measured, printed and ready for JSON; ``only`` some participants, or all."""

    def many(measured: Measured) -> tuple[list[Verdict], dict[str, Any]]:
        found = growth(sizes or (QUICK_SIZES if quick else SIZES), measured.console)
        print_growth(measured.console, found)
        return verdicts(found), {"growth": found, "quick": quick}

    return harness.run.run(declare(quick), console, only, many)


if __name__ == "__main__":
    command(__doc__.splitlines()[0], "joint", run)
