"""Tables for people."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table

from harness.outcome import Outcome, SectionOutcome, Verdict

__all__ = ["print_missing", "print_section", "print_verdicts"]

CLOCKS = {"cpu": "processor time, ", "wall": "wall time, ", None: ""}
STATISTICS = {"min": "least", "median": "median", "max": "largest", "root mean square": "root mean square"}
MARKS = {True: "[green]✓[/]", False: "[red]✗[/]", None: "[yellow]?[/]"}


def print_missing(console: Console, missing: dict[str, str]) -> None:
    for name, reason in missing.items():
        console.print(f"[yellow]{name} is missing:[/] {reason}. The run goes on without it.")


def print_section(console: Console, outcome: SectionOutcome) -> None:
    """One table: a row an entry, a column a measure, every cell with its multiple of the first row's."""
    section = outcome.section
    clock, statistic = CLOCKS[section.clock], STATISTICS[section.statistic]
    table = Table(title=f"{section.title} ({section.unit.name})", title_justify="left", box=box.SIMPLE_HEAD)
    said = f"{clock}{statistic} of the rounds; in brackets the multiple of the first row. {section.note}"
    table.caption = said.strip()
    table.caption_justify = "left"
    table.add_column("", no_wrap=True)
    for found in outcome.measures:
        table.add_column(found.measure.name, justify="right", no_wrap=True)
    labels = dict.fromkeys(row.entry.label for found in outcome.measures for row in found.rows)
    for label in labels:
        table.add_row(label, *(_cell(outcome, found.rows, label) for found in outcome.measures))
    console.print(table)
    for line in _problems(outcome):
        console.print(f"  [yellow]{line}[/]")


def _cell(outcome: SectionOutcome, rows: list[Outcome], label: str) -> str:
    row = next((row for row in rows if row.entry.label == label), None)
    if row is None or (value := outcome.value(row)) is None:
        return "–"
    ours, theirs = outcome.reading_a_unit(rows[0]), outcome.reading_a_unit(row)
    return number(value) + (f" ({number(theirs / ours)}×)" if ours and theirs else "")


def number(value: float) -> str:
    """Three significant digits, never in powers of ten."""
    if value >= 100:
        return f"{round(value):,}" if value < 1000 else f"{float(f'{value:.3g}'):,.0f}"
    return f"{value:.3g}" if value >= 10 else f"{value:.2f}"


def _problems(outcome: SectionOutcome) -> list[str]:
    """Every reason once; a missing participant has been announced already."""
    rows = [(found.measure.name, row) for found in outcome.measures for row in found.rows if row.problem]
    return [f"{name}, {row.entry.label}: {row.problem}" for name, row in rows if " is missing: " not in row.problem]


def print_verdicts(console: Console, verdicts: list[Verdict]) -> None:
    table = Table(title="Claims", title_justify="left", box=box.SIMPLE_HEAD)
    for heading in ("", "claim", "limit", "measured"):
        table.add_column(heading, justify="right" if heading == "measured" else "left")
    for verdict in verdicts:
        table.add_row(MARKS[verdict.holds], verdict.text, verdict.limit, verdict.measured)
    console.print(table)
