"""What the benchmark of local randomisers claims: ratios to the best peer, and errors as large as theory says."""

from __future__ import annotations

from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from harness.outcome import SectionOutcome, Verdict
from harness.report import number
from workers.local_data import K, theory

__all__ = ["FASTER", "over_theory", "print_over_theory", "verdicts"]

FLOU = "flou"
FASTER = {"GRR": 10, "OUE": 3, "local hashing": 500, "subset selection": 5}
TOLERANCE = 0.05
# the number of values that answers are hashed to: a prime for flou, round(e^epsilon) + 1 for the others
VALUES = {FLOU: 3}
OTHERS = 4


def readings(outcomes: list[SectionOutcome], title: str, measure: str) -> dict[str, float]:
    """Seconds for everybody's million, or errors, by participant; only of those that were measured."""
    section = next(one for one in outcomes if one.section.title == title)
    rows = next(one.rows for one in section.measures if one.measure.name == measure)
    found = {row.entry.participant: section.reading_a_unit(row) for row in rows}
    return {name: value for name, value in found.items() if value is not None}


def faster(outcomes: list[SectionOutcome], measure: str, least: float) -> Verdict:
    """Client and aggregator together, against the peer that is quickest at both together."""
    clients, aggregators = (readings(outcomes, side, measure) for side in ("Client", "Aggregator"))
    totals = {name: clients[name] + aggregators[name] for name in clients.keys() & aggregators.keys()}
    text, limit = f"{measure}: faster than the best peer, client and aggregator together", f"at least {least:g}"
    peers = {name: seconds for name, seconds in totals.items() if name != FLOU}
    if FLOU not in totals or not peers:
        return Verdict(text, None, "not measured", limit)
    best = min(peers, key=peers.__getitem__)
    ratio = peers[best] / totals[FLOU]
    parts = [number(side[best] / side[FLOU]) for side in (clients, aggregators)]
    return Verdict(text, ratio >= least, f"{number(ratio)} times {best} ({' and '.join(parts)})", limit, ratio)


def over_theory(outcomes: list[SectionOutcome]) -> list[dict[str, Any]]:
    """The error of every participant and method as a multiple of the formula's, and its standard error by chance."""
    section = next(one for one in outcomes if one.section.title == "Error, unbiased estimates")
    found = []
    for part in section.measures:
        for row in part.rows:
            value, asked = section.reading(row), row.entry.parameters
            if value is None:
                continue
            expected = theory(asked["method"], VALUES.get(row.entry.participant, OTHERS))
            # errors are nearly normal and nearly independent: the mean of m squares is off by sqrt(2 / m) of itself
            chance = (2 / (K * asked["releases"])) ** 0.5
            facts = {"method": part.measure.name, "participant": row.entry.participant, "theory": expected}
            found.append(facts | {"error": value, "over_theory": value / expected, "standard_error": chance})
    return found


def as_theory_says(outcomes: list[SectionOutcome]) -> Verdict:
    """The worst of flou's methods."""
    ratios = {one["method"]: one["over_theory"] for one in over_theory(outcomes) if one["participant"] == FLOU}
    text, limit = "flou's mean squared error is that of theory, every method", f"within {TOLERANCE:.0%}"
    if not ratios:
        return Verdict(text, None, "not measured", limit)
    worst = max(ratios, key=lambda name: abs(ratios[name] - 1))
    measured = f"{ratios[worst]:.3f} of it at worst ({worst})"
    return Verdict(text, abs(ratios[worst] - 1) <= TOLERANCE, measured, limit, ratios[worst])


def verdicts(outcomes: list[SectionOutcome]) -> list[Verdict]:
    return [*(faster(outcomes, name, least) for name, least in FASTER.items()), as_theory_says(outcomes)]


def print_over_theory(console: Console, outcomes: list[SectionOutcome]) -> None:
    """A row a participant, a column a method."""
    found = over_theory(outcomes)
    methods = list(dict.fromkeys(one["method"] for one in found))
    table = Table(title="Error as a multiple of theory", title_justify="left", box=box.SIMPLE_HEAD)
    table.caption, table.caption_justify = "± is the standard error of chance.", "left"
    table.add_column("", no_wrap=True)
    for method in methods:
        table.add_column(method, justify="right", no_wrap=True)
    for name in dict.fromkeys(one["participant"] for one in found):
        cells = {one["method"]: one for one in found if one["participant"] == name}
        shown = (cells.get(method) for method in methods)
        table.add_row(name, *(f"{c['over_theory']:.3f} ± {c['standard_error']:.3f}" if c else "–" for c in shown))
    console.print(table)
