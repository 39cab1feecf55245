"""What several parties see: the plan that they agree to, and the result, on the screen and as JSON."""

from __future__ import annotations

import dataclasses
import json
import math
import sys
from collections.abc import Iterable
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from flou.joint.agreement.plan import Plan
    from flou.joint.agreement.plan_words import Fact
    from flou.joint.estimators.fit import Fit

__all__ = ["as_json", "show_facts", "show_fit"]

MOST = 40  # numbers of a list on the screen


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
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal that lacks a letter still shows the result
    summary = getattr(fit, "summary", None)
    text = _listed(fit) if summary is None else str(summary())
    # other parties chose the names: nothing but text may reach the terminal
    printed = "".join(letter if letter.isprintable() or letter == "\n" else " " for letter in text)
    Console(highlight=False).print(Text(f"\n{printed}\n"), soft_wrap=True)


def as_json(fit: Fit, plan: Plan) -> str:
    """The numbers, who took part, and what was opened."""
    provenance = fit.provenance
    content = {
        "estimator": plan.program.estimator,
        "plan": plan.hash.hex(),
        "result": _plain(fit.to_dict() if hasattr(fit, "to_dict") else _fields(fit)),
    }
    if provenance is not None:
        content |= {
            "parties": list(provenance.parties),
            "rounds": provenance.rounds,
            "scalars": provenance.scalars,
            "privacy": provenance.privacy,
            "transcript": provenance.transcript,
        }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _fields(fit: Fit) -> dict[str, Any]:
    names = [field.name for field in dataclasses.fields(fit) if field.name != "provenance"]
    return {name: getattr(fit, name) for name in names}


def _listed(fit: Fit) -> str:
    lines = []
    for name, value in _plain(_fields(fit)).items():
        short = isinstance(value, list) and len(value) > MOST
        more = f" and {len(value) - MOST} more: --json" if short else ""
        lines.append(f"{name}: {value[:MOST] if short else value}{more}")
    if fit.provenance is not None:
        parties = fit.provenance.parties
        lines.append(f"parties: {len(parties)}, rounds: {fit.provenance.rounds}, numbers: {fit.provenance.scalars}")
        lines.append(f"transcript: {fit.provenance.transcript}")
    return "\n".join(lines)


def _plain(value: Any) -> Any:
    """Dictionaries, lists, texts and numbers, as JSON knows them."""
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)
