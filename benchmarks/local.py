"""What local randomisers cost and how far off their estimates are: flou side by side with its peers, in one run.

python benchmarks/local.py [--quick] [--only NAME ...] [--out FILE]
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from rich.console import Console

import harness.run
from harness.declare import Benchmark, Entry, Measure, Participant, Section, Unit
from harness.outcome import SectionOutcome, Verdict
from harness.run import Measured, command
from local_claims import over_theory, print_over_theory, verdicts

FLOU, MULTI_FREQ, PURE, DIFFPRIVLIB = "flou", "multi-freq-ldpy", "pure-ldp", "diffprivlib"
PARTICIPANTS = (
    Participant(FLOU, "workers.local_flou"),
    Participant(MULTI_FREQ, "workers.local_multi_freq", "multi_freq_ldpy"),
    Participant(PURE, "workers.local_pure_ldp", "pure_ldp"),
    Participant(DIFFPRIVLIB, "workers.local_diffprivlib", "diffprivlib"),
)
METHODS = {
    "grr": "GRR",
    "oue": "OUE",
    "olh": "local hashing",
    "subset": "subset selection",
    "hadamard": "Hadamard response",
}
OFFERS = {
    MULTI_FREQ: ("grr", "oue", "olh", "subset"),
    PURE: ("grr", "oue", "olh", "hadamard"),
    DIFFPRIVLIB: ("grr",),
}
CLIENT, AGGREGATOR = "Client", "Aggregator"
ERROR, PUBLISHED = "Error, unbiased estimates", "Error, as published"
SECONDS, ERRORS = Unit("s", 1), Unit("n times the mean squared error", 1)

PEOPLE, QUICK_PEOPLE = 10**6, 10**4
# Who would take half a minute or more, or gigabytes of reports, is asked by fewer people and scaled up in proportion.
FEWER = {
    (CLIENT, DIFFPRIVLIB, "grr"): 10**4,
    (CLIENT, MULTI_FREQ, "oue"): 10**5,
    (CLIENT, PURE, "oue"): 10**5,
    (AGGREGATOR, MULTI_FREQ, "oue"): 10**5,
    (AGGREGATOR, PURE, "oue"): 10**5,
    (CLIENT, MULTI_FREQ, "olh"): 10**5,
    (CLIENT, PURE, "olh"): 10**5,
    (AGGREGATOR, MULTI_FREQ, "olh"): 10**4,
    (AGGREGATOR, PURE, "olh"): 10**4,
}
LONG = 3  # rounds of calls that take seconds
SCALED = "Peers asked by fewer people than a million are scaled up; the JSON names them."

ASKED = 1000  # people, in each collection whose error is measured: the formula holds for any number
COLLECTIONS = {FLOU: 1000, DIFFPRIVLIB: 60}  # more where they cost little; 100 of every other
PUBLISHED_PEOPLE, PUBLISHED_COLLECTIONS = 10**4, 20


def people_for(side: str, participant: str, method: str, quick: bool) -> int:
    fewer = FEWER.get((side, participant, method), PEOPLE)
    return max(fewer * QUICK_PEOPLE // PEOPLE, 100) if quick else fewer


def timed(side: str, method: str, quick: bool) -> Measure:
    """The same number of people for everybody, but for those that are scaled up."""
    everyone = QUICK_PEOPLE if quick else PEOPLE

    def entry(participant: str) -> Entry:
        asked = people_for(side, participant, method, quick)
        long = participant != FLOU and method != "grr"
        parameters = {"method": method, "people": asked}
        return Entry(participant, participant, side.lower(), parameters, asked / everyone, LONG if long else None)

    peers = [name for name, methods in OFFERS.items() if method in methods]
    if side == AGGREGATOR:
        peers = [name for name in peers if name != DIFFPRIVLIB]
    return Measure(METHODS[method], tuple(entry(name) for name in (FLOU, *peers)))


def error(method: str, quick: bool) -> Measure:
    def entry(participant: str) -> Entry:
        collections = COLLECTIONS.get(participant, 100)
        parameters = {
            "method": method,
            "people": ASKED,
            "releases": max(2, collections // 25) if quick else collections,
        }
        return Entry(participant, participant, "error", parameters)

    peers = [name for name, methods in OFFERS.items() if method in methods]
    return Measure(METHODS[method], tuple(entry(name) for name in (FLOU, *peers)))


def published(method: str, quick: bool) -> Measure:
    """Of what comes out unless one asks for something else; hashing would take the peers too long."""
    collections = 2 if quick else PUBLISHED_COLLECTIONS
    parameters = {"method": method, "people": PUBLISHED_PEOPLE // (10 if quick else 1), "releases": collections}

    def entry(participant: str) -> Entry:
        told = {} if participant == PURE else {"published": True}
        return Entry(participant, participant, "error", parameters | told)

    names = (FLOU, *(name for name in (MULTI_FREQ, PURE) if method in OFFERS[name]))
    return Measure(METHODS[method], tuple(entry(name) for name in names))


def declare(quick: bool) -> Benchmark:
    sections = (
        *(
            Section(side, SECONDS, tuple(timed(side, method, quick) for method in METHODS), SCALED, statistic="median")
            for side in (CLIENT, AGGREGATOR)
        ),
        Section(ERROR, ERRORS, tuple(error(method, quick) for method in METHODS), clock=None, rounds=1),
        Section(PUBLISHED, ERRORS, tuple(published(m, quick) for m in ("grr", "oue", "subset")), clock=None, rounds=1),
    )
    return Benchmark("local", PARTICIPANTS, sections, rounds=2 if quick else 5)


def run(quick: bool, console: Console, only: Collection[str] = ()) -> dict[str, Any]:
    """Everything that was measured, printed and ready for JSON; ``only`` some participants, or all."""

    def theory(measured: Measured) -> tuple[list[Verdict], dict[str, Any]]:
        print_over_theory(measured.console, measured.outcomes)
        fields = {
            "quick": quick,
            "people": QUICK_PEOPLE if quick else PEOPLE,
            "over_theory": over_theory(measured.outcomes),
            "sections": [with_notes(outcome) for outcome in measured.outcomes],
        }
        return verdicts(measured.outcomes), fields

    return harness.run.run(declare(quick), console, only, theory)


def with_notes(outcome: SectionOutcome) -> dict[str, Any]:
    """The JSON of a section; whoever was asked by fewer people says so."""
    found = outcome.to_json()
    for row in (row for part in found["measures"] for row in part["rows"] if row["units"] != 1):
        row["note"] = f"measured with {row['parameters']['people']:,} people, scaled up {1 / row['units']:g} times"
    return found


if __name__ == "__main__":
    command(__doc__.splitlines()[0], "local", run)
