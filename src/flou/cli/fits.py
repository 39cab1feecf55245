"""What several parties see: the plan that they agree to, and the result, on the screen and as JSON."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from flou.cli.command import printable, screen
from flou.release.digits import plain

if TYPE_CHECKING:
    from flou.joint.agreement.plan import Plan
    from flou.joint.agreement.plan_words import Fact
    from flou.joint.estimators.fit import Fit

__all__ = ["as_json", "show_facts", "show_fit"]

MOST = 40  # numbers of a list on the screen
PROVENANCE = ("parties", "rounds", "scalars", "privacy", "transcript")


def show_facts(console: Console, facts: Iterable[Fact]) -> None:
    """Labels on the left, texts on the right: the second line of a long text cannot pass for a label."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for label, text in facts:
        grid.add_row(Text(label), Text(text))
    console.print(grid)


def show_fit(fit: Fit) -> None:
    """Print the summary of a result; if it has none, its numbers."""
    summary = getattr(fit, "summary", None)
    text = _listed(fit) if summary is None else str(summary())
    screen().print(Text(f"\n{printable(text)}\n"), soft_wrap=True)  # other parties chose the names


def as_json(fit: Fit, plan: Plan) -> str:
    """The numbers, who took part, and what was opened."""
    provenance = fit.provenance
    content = {
        "estimator": plan.program.estimator,
        "plan": plan.hash.hex(),
        "result": plain(fit.to_dict() if hasattr(fit, "to_dict") else _fields(fit)),
    }
    if provenance is not None:
        content |= plain({name: getattr(provenance, name) for name in PROVENANCE})
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _fields(fit: Fit) -> dict[str, Any]:
    names = [field.name for field in dataclasses.fields(fit) if field.name != "provenance"]
    return {name: getattr(fit, name) for name in names}


def _listed(fit: Fit) -> str:
    lines = []
    for name, value in plain(_fields(fit)).items():
        short = isinstance(value, list) and len(value) > MOST
        more = f" and {len(value) - MOST} more: --json" if short else ""
        lines.append(f"{name}: {value[:MOST] if short else value}{more}")
    if fit.provenance is not None:
        parties = fit.provenance.parties
        lines.append(f"parties: {len(parties)}, rounds: {fit.provenance.rounds}, numbers: {fit.provenance.scalars}")
        lines.append(f"transcript: {fit.provenance.transcript}")
    return "\n".join(lines)
