"""What statistics between organisations cost: sums and regressions side by side with MPyC, masks, and many parties.

python benchmarks/joint.py [--quick] [--out FILE]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Collection
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from harness import machine
from harness.declare import Benchmark, Claim, Entry, Measure, Participant, Section, Unit
from harness.environments import BENCHMARKS
from harness.outcome import judge
from harness.report import print_missing, print_section, print_verdicts
from harness.run import WIDTH, connect, measure, participant_json, write
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

    note = "Wall time, from the first party that begins to the last that has the result."
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
    theirs = LINES[2][1]

    def claim(title: str, measure: str, label: str) -> Claim:
        text = f"{title}, {measure}: {label}, against {theirs}"
        return Claim(text, (title, measure, label), (title, measure, theirs), at_most=TIMES)

    return (
        *(claim(title, named(m), label) for title in STATISTICS for m in PARTIES for _, label, _ in LINES[:2]),
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
    benchmark = declare(quick)
    date, commit, load = machine.now(), machine.commit(), machine.load()
    with ExitStack() as stack:
        wanted = tuple(one for one in PARTICIPANTS if not only or one.name in only)
        running, missing = connect(wanted, stack, console)
        missing |= {one.name: "not asked for" for one in PARTICIPANTS if one not in wanted}
        print_missing(console, missing)
        began = time.perf_counter()
        outcomes = measure(benchmark, running, missing, console)
        described = {one.name: participant_json(one, running, missing) for one in PARTICIPANTS}
    found = growth(sizes or (QUICK_SIZES if quick else SIZES), console)
    took = time.perf_counter() - began
    for outcome in outcomes:
        print_section(console, outcome)
    print_growth(console, found)
    judged = [*(judge(claim, outcomes) for claim in benchmark.claims), *verdicts(found)]
    print_verdicts(console, judged)
    console.print(f"{machine.cpu_model()}, {took:.0f} s.")
    return {
        "benchmark": benchmark.name,
        "date": date,
        "commit": commit,
        "machine": machine.describe() | {"load_before": load, "load_after": machine.load()},
        "seconds": round(took, 1),
        "quick": quick,
        "participants": described,
        "claims": [verdict.to_json() for verdict in judged],
        "sections": [outcome.to_json() for outcome in outcomes],
        "growth": found,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few sessions, and at most 300 parties")
    parser.add_argument("--only", nargs="*", default=(), help="these participants, by name")
    parser.add_argument("--out", type=Path, help="where the JSON goes (default: benchmarks/results/joint.json)")
    options = parser.parse_args()
    console = Console()
    if not console.is_terminal:
        console = Console(width=WIDTH)
    # neither a quick nor a partial run replaces the committed numbers unless told to
    default = BENCHMARKS / "results" / f"joint{'-quick' if options.quick or options.only else ''}.json"
    write(options.out or default, run(options.quick, console, options.only), console)


if __name__ == "__main__":
    main()
