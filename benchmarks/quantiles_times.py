"""What is timed: quantiles beside a sort, beside peers, and beside the histogram that any method has to make."""

from __future__ import annotations

import statistics

from harness.declare import Claim, Entry, Measure, Participant, Section, Unit
from harness.outcome import SectionOutcome, Verdict

__all__ = ["PARTICIPANTS", "claims", "paired", "sections"]

PARTICIPANTS = (
    Participant("flou", "workers.quantiles_flou"),
    Participant("plain", "workers.quantiles_plain"),
    Participant("OpenDP", "workers.quantiles_opendp", "opendp"),
    Participant("diffprivlib", "workers.quantiles_diffprivlib", "diffprivlib"),
    Participant("PyDP", "workers.quantiles_pydp", "pydp"),
)
MS, SECONDS, GB = Unit("ms", 1e3), Unit("s", 1), Unit("GB", 1e-9)

SORTED, PEERS = "Deciles of an array beside its sort", "Quantiles of an array beside peers"
COUNTED, QUERIED = "Deciles of an array beside its histogram", "Deciles of a Parquet file beside its histogram"
MEMORY = "Memory for the deciles of a Parquet file"
FLOU, WITHOUT, ONE_LOOK = "flou", "flou, intervals=0", "flou, multiples of 5: one look"
SORT, BINCOUNT = "numpy.sort (not private)", "numpy.bincount of 2^16 cells (not private)"
GROUP_BY = "DuckDB, GROUP BY 2^16 cells (not private)"
FLOU_KEPT, GROUP_BY_KEPT = "flou, its engine kept", "DuckDB, GROUP BY 2^16 cells, its connection kept (not private)"
CANDIDATES = 1_001
TIMES_SORT, TIMES_HISTOGRAM, MOST_MEMORY = 2, 1.3, 2


def rows_name(rows: int) -> str:
    return f"{rows:.0e} rows".replace("e+0", "e")


def arrays(title: str, rows: int, theirs: tuple[str, str], rounds: int) -> Section:
    """flou's deciles with and without intervals, beside something plain."""
    label, task = theirs
    asked = {"data": "uniform", "rows": rows}
    entries = (
        Entry("flou", FLOU, "quantiles_of_array", {**asked, "many": 9}),
        Entry("flou", WITHOUT, "quantiles_of_array", {**asked, "many": 9, "intervals": False}),
        Entry("plain", label, task, asked),
    )
    return Section(title, MS, (Measure(rows_name(rows), entries),), statistic="median", rounds=rounds)


def peers(rows: int, rounds: int) -> Section:
    def measure(many: int) -> Measure:
        asked = {"data": "uniform", "rows": rows, "many": many}
        entries = (
            Entry("flou", FLOU, "quantiles_of_array", asked),
            Entry("flou", WITHOUT, "quantiles_of_array", {**asked, "intervals": False}),
            Entry("plain", SORT, "sort", {"data": "uniform", "rows": rows}),
            Entry("OpenDP", "OpenDP", "quantiles_of_array", {**asked, "candidates": CANDIDATES}),
            Entry("diffprivlib", "diffprivlib", "quantiles_of_array", asked),
            Entry("PyDP", "PyDP", "quantiles_of_array", asked),
        )
        return Measure(f"{rows_name(rows)}, {many} quantile{'s' * (many > 1)}", entries)

    note = f"OpenDP chooses among {CANDIDATES:,} candidates."
    return Section(PEERS, MS, (measure(1), measure(9)), note, statistic="median", rounds=rounds)


def files(rows: tuple[int, ...], rounds: int) -> Section:
    def measure(rows: int) -> Measure:
        def entry(participant: str, label: str, task: str, **others: bool) -> Entry:
            return Entry(participant, label, task, {"rows": rows, **others}, rounds=3 if rows > 10**7 else None)

        entries = [entry("flou", FLOU, "deciles_of_file"), entry("plain", GROUP_BY, "histogram_of_file")]
        if rows <= 10**7:
            entries[1:1] = [
                entry("flou", WITHOUT, "deciles_of_file", intervals=False),
                entry("flou", ONE_LOOK, "deciles_of_file", one_look=True),
            ]
            entries += [
                entry("flou", FLOU_KEPT, "deciles_of_file", kept=True),
                entry("plain", GROUP_BY_KEPT, "histogram_of_file", kept=True),
            ]
        return Measure(rows_name(rows), tuple(entries), fresh=True)

    return Section(QUERIED, SECONDS, tuple(map(measure, rows)), clock="wall", statistic="median", rounds=rounds)


def memory(rows: int) -> Section:
    """In a process that does nothing else."""

    def entry(participant: str, label: str, question: str) -> Entry:
        worker = next(one.worker for one in PARTICIPANTS if one.name == participant)
        asked = {"worker": worker, "question": question, "parameters": {"rows": rows}}
        return Entry(participant, label, "peak_memory", asked)

    entries = (entry("flou", FLOU, "deciles_of_file"), entry("plain", GROUP_BY, "histogram_of_file"))
    return Section(MEMORY, GB, (Measure(rows_name(rows), entries),), "", None, "max", rounds=1)


def sizes(quick: bool) -> dict[str, int]:
    """Rows of the tables: beside a sort, beside peers, beside a histogram, and of the largest file."""
    names = ("sort", "peers", "histogram", "file")
    return dict(zip(names, (10**5, 10**4, 10**6, 10**6) if quick else (10**6, 10**5, 10**7, 10**8), strict=True))


def sections(quick: bool) -> tuple[Section, ...]:
    rows = sizes(quick)
    return (
        arrays(SORTED, rows["sort"], (SORT, "sort"), 3 if quick else 21),
        peers(rows["peers"], 2 if quick else 5),
        arrays(COUNTED, rows["histogram"], (BINCOUNT, "histogram_of_array"), 2 if quick else 9),
        files(tuple(sorted({rows["histogram"], rows["file"]})), 2 if quick else 9),
        memory(rows["file"]),
    )


def claims(quick: bool) -> tuple[Claim, ...]:
    rows = {name: rows_name(size) for name, size in sizes(quick).items()}
    many, file = rows["histogram"], rows["file"]
    found = []
    for ours in (FLOU, WITHOUT):
        found += [
            Claim(f"{ours}, deciles of {rows['sort']}: time against numpy.sort", (SORTED, rows["sort"], ours),
                  (SORTED, rows["sort"], SORT), at_most=TIMES_SORT),
            Claim(f"{ours}, deciles of {many} in memory: against their histogram", (COUNTED, many, ours),
                  (COUNTED, many, BINCOUNT), at_most=TIMES_HISTOGRAM),
        ]  # fmt: skip
    for ours in (FLOU, WITHOUT, ONE_LOOK):
        what = f"{ours}, deciles of a file of {many}: against its histogram"
        found.append(Claim(what, (QUERIED, many, ours), (QUERIED, many, GROUP_BY), at_most=TIMES_HISTOGRAM))
    kept = f"{FLOU_KEPT}, deciles of a file of {many}: against its histogram, connection kept"
    found.append(Claim(kept, (QUERIED, many, FLOU_KEPT), (QUERIED, many, GROUP_BY_KEPT), at_most=TIMES_HISTOGRAM))
    what = f"flou, deciles of a file of {file}: memory"
    return (*found, Claim(what, (MEMORY, file, FLOU), at_most=MOST_MEMORY))


def paired(claim: Claim, outcomes: list[SectionOutcome]) -> Verdict:
    """The median of the ratios of calls that were made in the same round, side by side, against the limit."""
    assert claim.theirs is not None
    assert claim.at_most is not None
    rows = {
        (s.section.title, m.measure.name, row.entry.label): (s.section.clock, row)
        for s in outcomes
        for m in s.measures
        for row in m.rows
    }
    limit = f"at most {claim.at_most:g}"
    (clock, ours), (_, theirs) = rows[claim.ours], rows[claim.theirs]
    times = [one.wall if clock == "wall" else one.cpu for one in (ours, theirs)]
    if ours.problem or theirs.problem or not all(times):
        return Verdict(claim.text, None, "not measured", limit)
    ratios = [a / b for a, b in zip(*times, strict=True)]
    middle = statistics.median(ratios)
    shown = f"{middle:.2f} times ({min(ratios):.2f} to {max(ratios):.2f})"
    return Verdict(claim.text, middle <= claim.at_most, shown, limit, middle)
