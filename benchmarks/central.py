"""What private statistics of a table cost: flou side by side with the plain query and with its peers, in one run.

python benchmarks/central.py [--quick] [--out FILE]
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.declare import Benchmark, Claim, Entry, Measure, Participant, Section, Unit
from harness.run import main
from workers.central_data import make

PARTICIPANTS = (
    Participant("flou", "workers.central_flou"),
    Participant("DuckDB", "workers.central_duckdb"),
    Participant("OpenDP", "workers.central_opendp", "opendp_polars"),
    Participant("diffprivlib", "workers.central_diffprivlib", "diffprivlib"),
    Participant("PyDP", "workers.central_pydp", "pydp"),
)
WORKERS = {participant.name: participant.worker for participant in PARTICIPANTS}

MS = Unit("ms", 1e3)
GB = Unit("GB", 1e-9)
PERCENT = Unit("% of the exact value", 100)
ROWS_A_BIN = Unit("rows a bin", 1)

QUESTIONS = {"mean": "Mean", "histogram": "Histogram of 20 bins", "grouped_mean": "Mean of 16 groups"}
MEANS = ("mean", "grouped_mean")  # which flou releases with their standard errors
MEMORY = "Memory at its peak"
FLOU, DUCKDB, OPENDP = "flou", "DuckDB, the plain query (not private)", "OpenDP"
WITH_ERROR = "DuckDB, with the standard error (not private)"
FLOU_KEPT, DUCKDB_KEPT = "flou, its engine kept", "DuckDB, the plain query, its connection kept (not private)"
STREAMED, DIFFPRIVLIB, PYDP = "OpenDP, streamed by Polars", "diffprivlib", "PyDP, scaled up"
MEMORY_GB, TIMES_PLAIN = 2, 1.5

ONE_BY_ONE = 10**5  # rows for a library that takes them one by one; its time is scaled up to all
IN_MEMORY = 10**4  # rows of the tables whose errors are compared
ERRORS = {"mean": "Error of a mean", "variance": "Error of a variance", "histogram": "Error of a histogram"}
RELATIONS, EPSILONS = ("add-remove", "substitute"), (0.1, 1.0)
# who offers which statistic under which relation, and whether it can be told the relation
OFFERS = {
    ("mean", "add-remove"): {"OpenDP": True, "PyDP": False},
    ("mean", "substitute"): {"OpenDP": True, "diffprivlib": False},
    ("variance", "add-remove"): {"PyDP": False},
    ("variance", "substitute"): {"OpenDP": False, "diffprivlib": False},
    ("histogram", "add-remove"): {"OpenDP": True, "diffprivlib": False, "PyDP": False},
    ("histogram", "substitute"): {"OpenDP": True},
}
CHANCE = 1.2  # two equal laws differ by less in so many releases


def rows_name(rows: int) -> str:
    return f"{rows:.0e} rows".replace("e+0", "e")


def seconds(task: str, rows: int, *, big: bool) -> Measure:
    """From the path of a file to the answer; who takes long is asked less often."""

    def entry(participant: str, label: str, rounds: int | None = None, **parameters: object) -> Entry:
        return Entry(participant, label, task, {"rows": rows, **parameters}, rounds=rounds)

    entries = (
        entry("flou", FLOU),
        entry("DuckDB", DUCKDB),
        *([entry("DuckDB", WITH_ERROR, spread=True)] if task in MEANS else []),
        *(() if big else (entry("flou", FLOU_KEPT, kept=True), entry("DuckDB", DUCKDB_KEPT, kept=True))),
        entry("OpenDP", OPENDP, 1 if big else 3, streamed=False),
        entry("OpenDP", STREAMED, 2 if big else 3, streamed=True),
        entry("diffprivlib", DIFFPRIVLIB, 2 if big else None),
        Entry("PyDP", PYDP, task, {"rows": ONE_BY_ONE}, ONE_BY_ONE / rows),
    )
    return Measure(rows_name(rows), entries, fresh=big)


def memory(task: str, rows: int) -> Measure:
    """In a process that does nothing else."""

    def entry(participant: str, label: str, **parameters: Any) -> Entry:
        asked = {"worker": WORKERS[participant], "question": task, "parameters": {"rows": rows, **parameters}}
        return Entry(participant, label, "peak_memory", asked)

    entries = (
        entry("flou", FLOU),
        entry("DuckDB", DUCKDB),
        entry("OpenDP", OPENDP, streamed=False),
        entry("OpenDP", STREAMED, streamed=True),
        entry("diffprivlib", DIFFPRIVLIB),
    )
    return Measure(QUESTIONS[task].lower(), entries, fresh=True)


def error_name(relation: str, epsilon: float) -> str:
    return f"{relation}, ε = {epsilon:g}"


def error(statistic: str, relation: str, epsilon: float, releases: int) -> Measure:
    asked = {"rows": IN_MEMORY, "epsilon": epsilon, "releases": releases}

    def entry(participant: str, told: bool) -> Entry:
        return Entry(
            participant, participant, f"error_of_{statistic}", asked | ({"relation": relation} if told else {})
        )

    peers = OFFERS[statistic, relation].items()
    return Measure(error_name(relation, epsilon), (entry("flou", True), *(entry(*peer) for peer in peers)))


def errors(statistic: str, releases: int, rounds: int) -> Section:
    measures = tuple(error(statistic, relation, e, releases) for relation in RELATIONS for e in EPSILONS)
    unit = ROWS_A_BIN if statistic == "histogram" else PERCENT
    note = f"{releases * rounds:,} releases about {IN_MEMORY:,} rows."
    return Section(ERRORS[statistic], unit, measures, note, None, "root mean square", rounds)


def claims(small: int, large: int) -> tuple[Claim, ...]:
    return (
        *plain_claims(small),
        *plain_claims(large),
        *peer_claims(small),
        *peer_claims(large),
        *memory_claims(large),
        *error_claims(),
    )


def plain_claims(rows: int) -> Iterator[Claim]:
    name = rows_name(rows)
    for title in QUESTIONS.values():
        ours, theirs = (title, name, FLOU), (title, name, DUCKDB)
        yield Claim(f"{title.lower()}, {name}: time against the plain query", ours, theirs, at_most=TIMES_PLAIN)
    for task in MEANS:
        title = QUESTIONS[task]
        ours, theirs = (title, name, FLOU), (title, name, WITH_ERROR)
        yield Claim(
            f"{title.lower()}, {name}: against the query with standard errors", ours, theirs, at_most=TIMES_PLAIN
        )


def peer_claims(rows: int) -> Iterator[Claim]:
    name = rows_name(rows)
    for title in QUESTIONS.values():
        for who in (OPENDP, STREAMED, DIFFPRIVLIB, PYDP):
            ours, theirs = (title, name, FLOU), (title, name, who)
            yield Claim(f"{title.lower()}, {name}: faster than {who}", ours, theirs, at_least=1)


def memory_claims(rows: int) -> Iterator[Claim]:
    for title in QUESTIONS.values():
        what = f"{title.lower()}, {rows_name(rows)}"
        yield Claim(f"{what}: memory", (MEMORY, title.lower(), FLOU), at_most=MEMORY_GB)


def error_claims() -> Iterator[Claim]:
    for (statistic, relation), peers in OFFERS.items():
        for peer in peers:
            for name in (error_name(relation, epsilon) for epsilon in EPSILONS):
                ours, theirs = ((ERRORS[statistic], name, who) for who in (FLOU, peer))
                yield Claim(f"{statistic}, {name}: error against {peer}", ours, theirs, at_most=CHANCE)


def declare(quick: bool) -> Benchmark:
    small, large = (10**5, 10**6) if quick else (10**6, 10**8)
    rounds, releases = (2, 30) if quick else (3, 200)
    for rows in (small, large):
        make(rows)
    times = tuple(
        Section(title, MS, (seconds(task, small, big=False), seconds(task, large, big=True)), clock="wall")
        for task, title in QUESTIONS.items()
    )
    peaks = tuple(memory(task, large) for task in QUESTIONS)
    return Benchmark(
        "central",
        PARTICIPANTS,
        (
            *times,
            Section(MEMORY, GB, peaks, f"{large:,} rows.", None, "max", rounds=1),
            errors("mean", releases, rounds),
            errors("variance", releases, rounds),
            errors("histogram", releases // 10, rounds),
        ),
        claims(small, large),
        rounds=2 if quick else 5,
    )


if __name__ == "__main__":
    main(declare, __doc__.splitlines()[0])
